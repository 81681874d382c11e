import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Graph as the module calls it.
struct GraphAPI: Sendable, ClientBound {
    let server: GraphServer
    /// Facebook's site, where people sign in.
    let site: GraphServer
    let app: FacebookApp
    var client: RecoveringClient
    let store: FacebookTokenStore
    let configuration: FacebookConfiguration
    let pacing: FacebookPacing
    /// The vendor's table of errors, as it was configured or fetched last.
    let errors: Locked<FacebookErrorConfiguration?>
    /// The keys that Facebook signs ID tokens with, as far as they are known.
    let knownKeys = OAuthClient.IDTokenKeys()
    /// Renews the stored token; nil for the calls that do it.
    var manager: TokenManager?

    /// The hosts of Graph's.
    enum Host: Sendable {
        case graph
        /// Where videos are uploaded.
        case videos
        /// Where files are uploaded whose upload an answer has named.
        case files
    }

    /// What one call is.
    struct Call: Sendable {
        var method = HTTPRequest.Method.get
        var host = Host.graph
        var path: String
        var query = FormFields()
        var headerFields: HTTPFields = [:]
        var body: ProviderRequest.Content?
        /// The whole request, if an answer has named it.
        var request: HTTPRequest?
        var token = FacebookToken.stored
        /// Whether it is about the upload of a file, which wants the token in a form of its own.
        var isOfFile = false
        var resend = RequestOptions.ResendPermission.byMethod
        /// Until when it may leave; nil is no limit.
        var sendBy: RequestOptions.SendBy?
        /// What is presented, if it is not the token.
        var presents: Outcome.CredentialKind?
        var purpose = FacebookCallPurpose.plain
        /// The business or ad account that the call counts for.
        var business: String?
        /// A customer of a business, whose limit holds nobody else.
        var counterpart: String?

        /// Whether it only reads, so that it may be repeated also if it is not known for whom it was made first.
        var isRead: Bool { readsAlone ?? ((request?.method ?? method) == .get || method == .head) }
        /// The same if the method does not tell, as of a batch.
        var readsAlone: Bool?
    }

    var classifier: FacebookClassifier { FacebookClassifier(errors: errors.withLock { $0 }) }

    /// Where a host is.
    func server(_ host: Host) -> GraphServer {
        switch host {
        case .graph: server
        case .videos: server.sibling("graph-video")
        case .files: server.sibling("rupload")
        }
    }

    /// Whether tokens may be sent to an origin: the hosts of Graph's, and no other.
    func trusts(_ origin: Origin) -> Bool {
        origin == server.origin || origin == server(.videos).origin || origin == server(.files).origin
    }

    /// Performs a call; a token that is refused is its caller's affair.
    func send(_ call: Call) async throws -> RecoveredResponse {
        try await send(call, authorization: FacebookAuthorization(self, token: call.token), policies: [])
    }

    /// Performs a call with an authorization that remembers what it has presented; if that is the stored token and it
    /// is refused, that is settled within the call.
    func send(_ call: Call, authorization: FacebookAuthorization) async throws -> RecoveredResponse {
        try await send(
            call,
            authorization: authorization,
            policies: call.token == .stored ? [renewal(ofRead: call.isRead)] : []
        )
    }

    private func send(
        _ call: Call,
        authorization: FacebookAuthorization,
        policies: [any RecoveryPolicy]
    ) async throws -> RecoveredResponse {
        var request = call.request ?? server(call.host).request(call.method, path: call.path, query: call.query)
        for field in call.headerFields { request.headerFields[fields: field.name].append(field) }
        if !call.headerFields.contains(.accept) { request.headerFields[.accept] = "application/json" }
        let body = call.body?.body(typedIn: &request.headerFields)
        let credential = try await credentialID(of: call.token)
        let name = endpointClass(of: request, credential: credential, business: call.business)
        return try await client.send(
            request,
            body: body,
            options: RequestOptions(
                resend: call.resend,
                sendBy: call.sendBy,
                classifier: call.purpose.classifier(classifier, endpointClass: name),
                account: call.counterpart,
                credentialID: credential,
                app: app.id,
                presents: call.presents ?? call.token.presents,
                attemptLayers: [pacing.learning, authorization.layer(ofFile: call.isOfFile)],
                policies: policies + (configuration.recoversFromErrors ? [] : [RecoveryOff()]),
                admissions: [pacing]
            )
        )
    }

    /// What tells whose limits a call counts for: the person if they are known, else the token.
    func credentialID(of token: FacebookToken) async throws -> String {
        switch token {
        case .stored:
            let held = try await store.read().credentials
            if let id = held.facebookUserID { return "user \(id)" }
            return held.accessToken.map { "token \(Fingerprint.text(of: $0.reveal()))" } ?? ""
        case .user(let token), .page(let token), .system(let token):
            return "token \(Fingerprint.text(of: token.reveal()))"
        case .app, .client: return "app \(app.id)"
        case .none: return "app \(app.id)"
        }
    }

    /// The class of endpoints that a request counts for: its use of an object, for the app.
    ///
    /// - Parameters:
    ///   - request: The request; the object may be named in its path or, at the root, in its query, and there several may be.
    ///   - credential: Whose `me` is.
    ///   - business: The business or ad account that it counts for, if its path does not tell.
    func endpointClass(of request: HTTPRequest, credential: String, business: String? = nil) -> String {
        let ids = request.method == .get ? request.queryFields["ids"].first?.reveal() : nil
        let named = (ids ?? "").split(separator: FacebookScopes.Subject.separator).prefix(50).map(String.init)
        let endpoint = FacebookEndpoint(method: request.method, path: request.pathWithoutQuery, of: named)
        var objects =
            named.isEmpty ? [endpoint.object].compactMap(\.self) : named.map { FacebookEndpoint.object($0[...]) }
        if objects.isEmpty, request.method == .get, let id = request.queryFields["id"].first?.reveal() {
            objects = [id[...]]
        }
        let whose = Set(objects.map { $0 == "me" ? "me of \(credential)" : String($0) })
        var object = whose.isEmpty ? nil : whose.sorted().joined(separator: String(FacebookScopes.Subject.separator))
        if let business { object = business.hasPrefix("act_") ? String(business.dropFirst(4)) : business }
        return FacebookScopes.Subject(object: object ?? "batch", app: app.id).name(use: endpoint.use.rawValue)
    }

    /// The field with the proof of the app's secret; none if the app proves nothing.
    func proof(of token: Secret) throws(RecoveryError) -> FormFields {
        var fields = FormFields()
        guard let prover = app.prover else { return fields }
        do {
            fields.add("appsecret_proof", secret: try prover.proof(of: token))
        } catch {
            var outcome = Outcome(.misconfigured, scope: .app, processed: .no, remedies: [.fixRequest])
            outcome.parameter = "appsecret_proof"
            throw RecoveryError(outcome: outcome, reason: .notRecoverable, cause: error)
        }
        return fields
    }

    /// Performs a call and reads its JSON.
    func json(_ call: Call) async throws -> JSONValue {
        try json(in: await send(call))
    }

    /// The JSON of an answer.
    func json(in response: RecoveredResponse) throws(RecoveryError) -> JSONValue {
        guard let bytes = response.body.bytesInMemory,
            let value = FacebookBody(ResponseContent(Array(bytes)), Array(bytes)).json
        else { throw RecoveryError(.unreadable, in: response) }
        return value
    }

    /// Performs a call that issues tokens.
    func tokens(_ call: Call) async throws -> OAuthClient.TokenAnswer {
        try await datedTokens(call).answer
    }

    /// The same with the server's time.
    func datedTokens(_ call: Call) async throws -> (answer: OAuthClient.TokenAnswer, date: Timestamp) {
        let response = try await send(call)
        let clock = ServerClock(response.headerFields, receivedAt: client.runtime.time.wallTime)
        guard let answer = OAuthClient.TokenAnswer(try json(in: response), date: clock.now) else {
            throw RecoveryError(.unreadable, in: response)
        }
        return (answer, clock.now)
    }
}
