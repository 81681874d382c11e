import AuthRecovery
import HTTPRecovery
import HTTPTypes
public import Hummingbird

extension BrowserSignIns {
    /// The endpoints: `POST /sign-in` begins, `POST /sign-in/answer` goes on, `DELETE /sign-in` gives up;
    /// `POST /sign-in/with/google` sends the browser to another provider, which sends it back to `GET /sign-in/callback`.
    ///
    /// What is no GET is taken from the backend's own pages alone (``OwnPagesAlone``).
    ///
    /// - Parameter isSecure: Whether cookies go over TLS alone; false on a developer's machine.
    public func router(isSecure: Bool) -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: OwnPagesAlone(publicURL: publicURL))
        let cookies = SignInCookies(isSecure: isSecure)
        router.post("sign-in") { request, context in
            let beginning = try await request.decode(as: Beginning.self, context: context)
            return try await answer(request, context, cookies) {
                try await begin(identifier: beginning.identifier, password: beginning.password.map { Secret($0) })
            }
        }
        router.post("sign-in/answer") { request, context in
            let reply = try await request.decode(as: Reply.self, context: context)
            guard let browser = cookies.browser(in: request), let ticket = cookies.ticket(in: request) else {
                throw HTTPError(.gone, message: "There is no sign-in under way.")
            }
            return try await answer(request, context, cookies) {
                try await step(browser, ticket: ticket, reply.input)
            }
        }
        router.post("sign-in/with/{provider}") { request, context in
            let provider = try context.parameters.require("provider")
            return try await answer(request, context, cookies) {
                try await beginRedirect(at: provider)
            }
        }
        router.get(RouterPath(Self.callbackPath)) { request, context in
            guard let browser = cookies.browser(in: request), let ticket = cookies.ticket(in: request) else {
                throw HTTPError(.gone, message: "There is no sign-in under way.")
            }
            // To another question the address would be an answer, and a wrong one.
            guard cookies.isTicketForTheWayBack(in: request) else {
                throw HTTPError(.conflict, message: "This sign-in waits for nobody to come back.")
            }
            // Without one the state of the sign-in tells, such as after a refusal there.
            let nonces = request.uri.queryParameters[values: "rotating_token_nonce"]
            guard nonces.count <= 1, !nonces.contains("") else {
                throw HTTPError(.badRequest, message: "This is no address to come back to.")
            }
            return try await answer(request, context, cookies) {
                try await finishRedirect(browser, ticket: ticket, url: Secret(request.uri.description))
            }
        }
        router.delete("sign-in") { request, context in
            var response = Response(status: .noContent)
            if let browser = cookies.browser(in: request), let ticket = cookies.ticket(in: request) {
                do {
                    try await abandon(browser, ticket: ticket)
                } catch {
                    response = try refusal(for: error, request, context) ?? Response(status: .internalServerError)
                }
            }
            // Whatever has become of it: the browser goes on with it no more.
            response.setCookie(cookies.ticket(nil))
            return response
        }
        return router
    }

    /// Takes a step, and says in HTTP's words what it has led to.
    private func answer(
        _ request: Request,
        _ context: BasicRequestContext,
        _ cookies: SignInCookies,
        _ step: () async throws -> BrowserTurn
    ) async throws -> Response {
        do {
            let led = try await step()
            let turn = led.turn
            var cookies = cookies
            var response = try Page(turn).response(from: request, context: context)
            if case .ask(let challenge) = turn.step, challenge.key == .redirect, let url = challenge.url {
                cookies.isElsewhere = true
                response.status = .seeOther
                response.headers[.location] = url.reveal()
            }
            response.setCookie(cookies.browser(led.browser))
            response.setCookie(cookies.ticket(turn.ticket))
            return response
        } catch {
            guard let refused = try refusal(for: error, request, context) else { throw error }
            return refused
        }
    }

    /// Says in HTTP's words why somebody cannot go on; nil for what is no refusal.
    private func refusal(
        for error: any Error,
        _ request: Request,
        _ context: BasicRequestContext
    ) throws -> Response? {
        if error is SharedState.StoreError || error is Credentials.StoreError {
            let message = "Signing in is not possible at the moment. Please try again in a while."
            let kind = Outcome.Kind.unavailable.rawValue
            var response = try Refusal(error: kind, message: message).response(from: request, context: context)
            response.status = .serviceUnavailable
            return response
        }
        guard let error = error as? RecoveryError else { return nil }
        var response = try Refusal(error: error.kind.rawValue, message: error.userMessage)
            .response(from: request, context: context)
        response.status = error.webStatus
        if let delay = error.retryAfter { response.headers[.retryAfter] = String(delay.components.seconds + 1) }
        return response
    }
}

extension RecoveryError {
    /// The status that tells a browser what kind of refusal it is.
    fileprivate var webStatus: HTTPResponse.Status {
        switch kind {
        case .flowExpired: .gone
        case .stateConflict, .alreadySignedIn, .conflict: .conflict
        case .rateLimited, .quotaExhausted, .accountLocked: .tooManyRequests
        case .unavailable, .transport, .timedOut: .serviceUnavailable
        case .invalidCredentials, .challengeIncorrect, .challengeExpired, .reauthenticationRequired: .unauthorized
        default: .unprocessableContent
        }
    }
}
