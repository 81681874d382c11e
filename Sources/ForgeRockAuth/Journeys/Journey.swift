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
    private var options: JourneyOptions
    private var start: JourneyStart
    private var cookies = JourneyCookies()

    /// The account that the journey is about, so that a lockout holds for it.
    public var account: String?

    /// The longest that the step under way waits for a limit; nil for no bound but the client's own.
    var patience: Duration?

    package var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    init(_ start: JourneyStart, options: JourneyOptions, api: ForgeRockAPI) {
        self.start = start
        self.options = options
        self.api = api
    }

    /// Begins the journey.
    ///
    /// - Throws: `RecoveryError` for what the server refuses; `CancellationError` as soon as the task is cancelled.
    public mutating func begin() async throws -> Result {
        try await opened().result
    }

    /// Sends a step with its answers.
    ///
    /// - Throws: As ``begin()``. A step that comes back because a rule was broken is no error here: its callbacks tell
    ///   the rules.
    public mutating func submit(_ step: JourneyStep) async throws -> Result {
        try await advance(step).result
    }

    /// An accepted answer, and the refusal that stands in it, such as a password against the rules.
    struct Answer {
        var result: Result
        var refusal: RecoveryError?
        var response: RecoveredResponse?
    }

    mutating func opened() async throws -> Answer {
        cookies = JourneyCookies()
        var query = start.query
        if options.forcesAuthentication { query.add("ForceAuth", "true") }
        if options.skipsSession { query.add("noSession", "true") }
        return try await post(.object([]), query: query, action: start.action)
    }

    mutating func advance(_ step: JourneyStep) async throws -> Answer {
        try await post(step.json, query: FormFields(), action: .authenticate)
    }

    /// Goes on with another beginning.
    mutating func replace(_ start: JourneyStart) {
        self.start = start
    }

    private mutating func post(
        _ json: JSONValue,
        query: FormFields,
        action: ForgeRockAction
    ) async throws -> Answer {
        let api = api.waiting(atMost: patience)
        let session = options.upgradesSession ? try await api.tokens.read().credentials.ssoToken : nil
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
            resend: .spending,
            account: account
        )
        do {
            let response = try await api.send(call)
            return try await accept(try await response.json(), response)
        } catch let error as RecoveryError {
            if let response = error.response { cookies.take(from: response.headerFields) }
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
            try await Task { [api, options] in try await api.keep(token, upgrades: options.upgradesSession) }.value
        }
        return Answer(result: .success(success), response: response)
    }
}

extension Journey: RecalledFields {
    package static var fields: [RememberedField<Journey>] {
        [
            .init("forces", \.options.forcesAuthentication), .init("skips", \.options.skipsSession),
            .init("upgrades", \.options.upgradesSession), .init("start", \.start), .init("cookies", \.cookies),
            .init("account", \.account),
        ]
    }

    /// What is written down of the journey.
    var recalledMemory: JSONValue {
        get { recalled }
        set { _ = recall(newValue) }
    }
}

/// How a journey is begun.
public struct JourneyOptions: Sendable, Hashable {
    /// Whether a person who has a session is asked all the same (`ForceAuth`); default: no.
    public var forcesAuthentication: Bool
    /// Whether no session is made (`noSession`), as for confirming something; default: no.
    public var skipsSession: Bool
    /// Whether the stored session goes along and is made stronger, as in a step-up; default: no.
    public var upgradesSession: Bool

    /// Creates options.
    public init(forcesAuthentication: Bool = false, skipsSession: Bool = false, upgradesSession: Bool = false) {
        self.forcesAuthentication = forcesAuthentication
        self.skipsSession = skipsSession
        self.upgradesSession = upgradesSession
    }
}
