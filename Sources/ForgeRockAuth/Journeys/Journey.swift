public import AuthRecovery
package import HTTPRecovery
import HTTPTypes

/// One journey under way, for those who answer its steps themselves.
///
/// ```swift
/// var journey = forgeRock.journey(.service("Login"))
/// guard case .step(var step) = try await journey.begin() else { return }
/// step.callbacks[0].setInput("ada")
/// step.callbacks[1].setInput("…")
/// let result = try await journey.submit(step)
/// ```
///
/// A step is good for one answer: it is never sent a second time unless the server certainly has not seen it.
/// ``ForgeRock/signIn(identifier:password:answering:callbacks:options:)`` does all of this by itself.
public struct Journey: Sendable, ClientBound {
    /// What follows an answer.
    public enum Result: Sendable, Hashable {
        /// Another step.
        case step(JourneyStep)
        /// The journey is over; a session that it made is stored already.
        case success(JourneySuccess)
    }

    private var api: ForgeRockAPI
    /// Revokes the tokens that a new session replaces; nil without OAuth settings.
    private let oauth: ForgeRockOAuth?
    private(set) var options: JourneyOptions
    private var start: JourneyStart
    private var cookies = JourneyCookies()
    /// Whose session is to be made stronger; nil if none is.
    private var holder: String?

    /// The account that the journey is about, so that a lockout holds for it.
    public var account: String?

    /// The longest that the step under way waits for a limit; nil for no bound but the client's own.
    var patience: Duration?

    package var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    init(_ start: JourneyStart, options: JourneyOptions, api: ForgeRockAPI, oauth: ForgeRockOAuth?) {
        self.start = start
        self.options = options
        // What a policy advises is about the session that exists.
        if start.isAdvice { self.options.upgradesSession = true }
        self.api = api
        self.oauth = oauth
    }

    /// Begins the journey.
    ///
    /// - Throws: `RecoveryError` for what the server refuses; `CancellationError` as soon as the task is cancelled.
    public mutating func begin() async throws -> Result {
        try await opened().result
    }

    /// Begins the journey with a name and a password, which answer its first callbacks for them at once (zero-page login).
    ///
    /// A server where this is switched off does not look at them, and asks.
    ///
    /// - Throws: As ``begin()``.
    public mutating func begin(presenting name: String, _ password: Secret) async throws -> Result {
        try await opened(presenting: ZeroPageLogin(name: name, password: password)).result
    }

    /// Sends a step with its answers.
    ///
    /// - Throws: As ``begin()``. A step that comes back because a rule was broken is no error here: its callbacks tell
    ///   the rules. A journey that ends while it waits for another device is of the kind `declined`: refused there, or not
    ///   confirmed in time, which the server does not tell apart; while a device is set up it is `challenge_expired`. One that
    ///   ends with a WebAuthn ceremony is `declined` (`NotAllowedError`, `AbortError`), `challenge_expired` (`TimeoutError`) or
    ///   `factor_unavailable`, with the name of the ceremony's error as `factorResult` if it has failed on this side.
    public mutating func submit(_ step: JourneyStep) async throws -> Result {
        try await advance(step).result
    }

    /// Goes on with a step that has sent a browser elsewhere, from which it came back.
    ///
    /// - Parameters:
    ///   - step: The step, untouched.
    ///   - fields: What the browser has brought along: `code` and `state`, `responsekey`, `error` and others.
    /// - Throws: As ``begin()``.
    public mutating func resume(_ step: JourneyStep, with fields: FormFields) async throws -> Result {
        try await advance(step, with: fields).result
    }

    /// An accepted answer, and the refusal that stands in it, such as a password against the rules.
    struct Answer {
        var result: Result
        var refusal: RecoveryError?
        var response: RecoveredResponse?
    }

    mutating func opened(presenting login: ZeroPageLogin? = nil) async throws -> Answer {
        cookies = JourneyCookies()
        var query = start.query
        if options.forcesAuthentication { query.add("ForceAuth", "true") }
        if options.skipsSession { query.add("noSession", "true") }
        // An advice is about the session that comes along anyway.
        if let session = try await upgradedSession {
            // Asked before the journey, since a session that was made stronger ends.
            holder = try await api.waiting(atMost: patience).holder(of: session)
            if !start.isAdvice { query.add("sessionUpgradeSSOTokenId", secret: session) }
        }
        return try await post(.object([]), query: query, action: start.action, login: login)
    }

    /// The session that is to be made stronger.
    private var upgradedSession: Secret? {
        get async throws { options.upgradesSession ? try await api.tokens.read().credentials.ssoToken : nil }
    }

    /// Sends a step, with what a browser has brought along from another site.
    mutating func advance(_ step: JourneyStep, with returned: FormFields = FormFields()) async throws -> Answer {
        var query = FormFields()
        if !returned.names.isEmpty {
            if !start.isSuspended { query.add(start.query) }
            query.add(returned)
        }
        return try await post(step.json, query: query, action: .authenticate, wait: JourneyWait(step, returned))
    }

    /// Goes on with another beginning.
    mutating func replace(_ start: JourneyStart) {
        self.start = start
    }

    private mutating func post(
        _ json: JSONValue,
        query: FormFields,
        action: ForgeRockAction,
        login: ZeroPageLogin? = nil,
        wait: JourneyWait? = nil
    ) async throws -> Answer {
        let api = api.waiting(atMost: patience)
        let session = try await upgradedSession
        let path = api.server.json("authenticate")
        let call = ForgeRockAPI.Call(
            path: query.names.isEmpty ? path : "\(path)?\(query.encoded)",
            version: "2.1",
            json: json,
            cookies: cookies.field,
            action: action,
            journey: start.name,
            presents: action == .authenticate || session == nil ? .state : .session,
            session: session,
            layers: login.map { [ZeroPageLoginLayer(origin: api.server.origin, login: $0)] } ?? [],
            resend: .spending,
            account: account,
            wait: wait
        )
        do {
            let response = try await api.send(call)
            return try await accept(try await response.json(), response)
        } catch let error as RecoveryError {
            if let response = error.response { cookies.take(from: response.headerFields) }
            if let proof = error.unansweredHTTPCallback, json["reason"] == nil {
                // No credential came with the request: whatever stands in for that way is told to take over.
                let body: JSONValue = ["reason": .string(Self.httpFailure), "authId": .string(proof)]
                return try await post(body, query: FormFields(), action: .authenticate)
            }
            // A step that tells which rules were broken is a step all the same.
            guard Self.kindsOfSteps.contains(error.kind), let response = error.response,
                response.status.kind == .successful,
                let json = response.body.bytesInMemory.flatMap({ try? JSONValue(parsing: $0) }),
                let step = JourneyStep(json), step.authID != nil
            else { throw error }
            let refusal = error.kind == .challengeRequired ? nil : error
            return Answer(result: .step(step), refusal: refusal, response: response)
        }
    }

    /// The word for an HTTP authentication that has not taken place.
    fileprivate static let httpFailure = "http-auth-failed"

    /// What a step amounts to that can be answered all the same.
    private static let kindsOfSteps: Set<Outcome.Kind> = [.passwordRejected, .invalidRequest, .challengeRequired]

    private mutating func accept(_ json: JSONValue, _ response: RecoveredResponse) async throws -> Answer {
        cookies.take(from: response.headerFields)
        if let step = JourneyStep(json) { return Answer(result: .step(step), response: response) }
        guard let success = JourneySuccess(json) else { throw RecoveryError(.unreadable, in: response) }
        if let token = success.token {
            if let name = cookies.name(of: token.reveal()) {
                api.cookieName.withLock { $0 = $0 ?? name }
                cookies.drop(name)
            }
            // Not the caller's to cancel: a session that exists and is not kept could never be ended.
            let replaced = try await Task { [api, options, holder] in
                if options.upgradesSession { try await api.check(token, isOf: holder) }
                return try await api.keep(token, upgrades: options.upgradesSession)
            }.value
            if let replaced { try await end(replaced) }
        }
        return Answer(result: .success(success), response: response)
    }
}

extension Journey {
    /// Ends at the server what a new session has replaced, so that nobody else can go on with it.
    ///
    /// It is told once: nothing waits for that, and a sign-in that has succeeded does not fail by it.
    private func end(_ replaced: Credentials) async throws {
        let api = api.waiting(atMost: .zero)
        if var oauth, let token = replaced.refreshToken ?? replaced.accessToken {
            oauth.client = api.client
            try await attempt { try await oauth.revoke(token, kind: replaced.refreshToken == nil ? .access : .refresh) }
        }
        if let token = replaced.ssoToken {
            try await attempt { _ = try await api.session("logout", version: "3.1", token: token) }
        }
    }

    private func attempt(_ call: () async throws -> Void) async throws {
        do {
            try await call()
        } catch is RecoveryError {
            try Task.checkCancellation()
        }
    }
}

extension RecoveryError {
    /// The proof to go on with after an HTTP authentication that has not taken place; nil for anything else.
    fileprivate var unansweredHTTPCallback: String? {
        guard kind == .factorUnavailable, let bytes = response?.body.bytesInMemory,
            let json = try? JSONValue(parsing: bytes), json["failure"]?.bool == true,
            json["reason"]?.string == Journey.httpFailure
        else { return nil }
        return json["authId"]?.string?.nonEmpty
    }
}

extension Journey: RecalledFields {
    package static var fields: [RememberedField<Journey>] {
        [
            .init("forces", \.options.forcesAuthentication), .init("skips", \.options.skipsSession),
            .init("upgrades", \.options.upgradesSession), .init("at_once", \.options.presentsLoginAtOnce),
            .init("start", \.start), .init("cookies", \.cookies),
            .init("account", \.account), .init("holder", \.holder),
        ]
    }

    /// What is written down of the journey.
    var recalledMemory: JSONValue {
        get { recalled }
        set { _ = recall(newValue) }
    }
}
