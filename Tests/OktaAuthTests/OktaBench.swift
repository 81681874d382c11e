import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import SignInSupport
import Testing

/// A client of an org on a manual clock and a scripted server.
struct OktaBench {
    typealias Step = ScriptedTransport.Step

    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let tokens: any TokenStore
    let okta: Okta
    let events: EventRecorder
    /// The same once more; nil where something of it can be used only once.
    private let twin: (@Sendable () throws -> OktaBench)?

    static let url = "https://example.okta.com"
    static let identifier = "ada@example.com"

    init(
        _ steps: [Step] = [],
        credentials: Credentials = Credentials(),
        tokens: (any TokenStore)? = nil,
        configuration: OktaConfiguration = OktaConfiguration(),
        url: String = OktaBench.url,
        asksForPipeline: Bool = false,
        @RecoveringClient.PipelineBuilder middlewares: @escaping @Sendable () -> [any ClientLayer] = { [Recovery()] }
    ) throws {
        if tokens == nil, configuration.authenticator == nil {
            twin = {
                try OktaBench(
                    steps,
                    credentials: credentials,
                    configuration: configuration,
                    url: url,
                    asksForPipeline: asksForPipeline,
                    middlewares: middlewares
                )
            }
        } else {
            twin = nil
        }
        // A server that has no more to say has failed: no test goes on by accident.
        transport = ScriptedTransport(steps, then: .status(418))
        // What the org runs on is asked where a test is about it.
        var configuration = configuration
        if configuration.way == .automatic, !asksForPipeline { configuration.way = .authentication }
        let runtime = Runtime.manual(clock)
        client = RecoveringClient(transport: transport, runtime: runtime, middlewares: middlewares)
        self.tokens = tokens ?? InMemoryTokenStore(credentials)
        okta = try Okta(org: url, client: client, tokens: self.tokens, configuration: configuration)
        events = EventRecorder(runtime.events)
    }

    /// Does something while the clock jumps to whatever is slept for.
    func skippingWaits<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await clock.skippingWaits(body)
    }

    func signIn(
        _ password: Secret? = "hunter2",
        _ person: Person = Person(),
        options: SignInOptions = .okta
    ) async throws -> OktaSession {
        // Between two requests of a browser nobody waits, and no bound for waits holds.
        let isFirst = transport.received.isEmpty && options.maxWait == nil && options.deadline == nil
        let other = person.twin()
        do {
            let session = try await skippingWaits {
                try await okta.signIn(
                    identifier: Self.identifier,
                    password: password,
                    answering: person,
                    options: options
                )
            }
            if isFirst { await walk(other, "signed in") { $0.flow(password, options) } }
            return session
        } catch {
            if isFirst { await walk(other, await outcome { throw error }) { $0.flow(password, options) } }
            throw error
        }
    }

    private func flow(_ password: Secret?, _ options: SignInOptions) -> SignInFlow<OktaSession> {
        okta.signInFlow(identifier: Self.identifier, password: password, options: options)
    }

    /// The same sign-in, suspended between its steps, sends the same and comes to the same.
    private func walk(
        _ person: Person,
        _ end: String,
        _ flow: (OktaBench) -> SignInFlow<OktaSession>
    ) async {
        guard let bench = try? twin?(), end != "CancellationError()" else { return }
        let other = await outcome {
            try await SuspendedWalk(bench.okta, bench.clock, bench.transport).signIn(flow(bench), answering: person)
        }
        #expect(other == end, "suspended")
        #expect(bench.sent == sent, "suspended")
    }

    var credentials: Credentials {
        get async throws { try await tokens.read().credentials }
    }

    /// Each request as its path below `/api/v1` and its body without the state token.
    var sent: [String] {
        transport.received.map { received in
            let path = (received.request.path ?? "").replacing("/api/v1", with: "")
            let body = received.text.replacing(#""stateToken":"00st1","#, with: "")
                .replacing(#"{"stateToken":"00st1"}"#, with: "").replacing("\"", with: "")
            return body.isEmpty ? path : "\(path) \(Self.withoutProof(body))"
        }
    }

    /// A form without what is drawn anew for each flow.
    private static func withoutProof(_ body: String) -> String {
        let drawn = ["state=", "nonce=", "code_challenge=", "code_verifier="]
        guard body.contains("&") else { return body }
        return body.split(separator: "&").filter { field in !drawn.contains { field.hasPrefix($0) } }.joined(
            separator: "&"
        )
    }
}

extension String {
    func replacing(_ text: String, with other: String) -> String {
        var result = ""
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(text) {
                result += other
                rest = rest.dropFirst(text.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}

/// A person with prepared answers, who remembers what they were asked and shown.
final class Person: ChallengeResponder {
    private struct State {
        var answers: [Factor.Key: [Challenge.Answer]] = [:]
        var questions: [Challenge] = []
        var shown: [Challenge] = []
        var waits: [String] = []
        var notices: [Outcome.Kind] = []
        var texts: [String?] = []
        var told: [String] = []
        var offers: [[String]] = []
        var destinations: [[String?]] = []
    }

    private let state: Locked<State>
    private let choice: String?

    init(_ answers: [Factor.Key: [Challenge.Answer]] = [:], choosing choice: String? = nil) {
        state = Locked(State(answers: answers))
        self.choice = choice
    }

    /// Somebody with the same answers.
    func twin() -> Person {
        Person(state.withLock { $0.answers }, choosing: choice)
    }

    /// Someone with one text for each key.
    convenience init(_ answers: [Factor.Key: Secret], choosing choice: String? = nil) {
        self.init(answers.mapValues { [.text($0)] }, choosing: choice)
    }

    var questions: [Challenge] { state.withLock { $0.questions } }
    var keys: [Factor.Key] { questions.map(\.key) }
    var shown: [Challenge] { state.withLock { $0.shown } }
    var waits: [String] { state.withLock { $0.waits } }
    var notices: [Outcome.Kind] { state.withLock { $0.notices } }
    /// The sentences of the notices.
    var texts: [String?] { state.withLock { $0.texts } }
    /// What was asked and noticed, in order.
    var told: [String] { state.withLock { $0.told } }
    var offers: [[String]] { state.withLock { $0.offers } }
    /// What each factor that was offered shows beside its name.
    var destinations: [[String?]] { state.withLock { $0.destinations } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        let answer: Challenge.Answer? = state.withLock { state in
            state.questions.append(challenge)
            state.told.append(challenge.key.rawValue)
            guard let answers = state.answers[challenge.key], !answers.isEmpty else { return nil }
            return state.answers[challenge.key]?.removeFirst()
        }
        guard let answer else { throw Challenge.NoAnswer(challenge.key) }
        return answer
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        state.withLock { state in
            state.offers.append(factors.map(\.providerName))
            state.destinations.append(factors.map(\.destination))
        }
        return factors.first { $0.providerName == choice || $0.key.rawValue == choice }
    }

    func show(_ challenge: Challenge) async {
        state.withLock { $0.shown.append(challenge) }
    }

    func waiting(for reason: Outcome.Kind, duration: Duration, until: Timestamp) async {
        state.withLock { $0.waits.append("\(reason.rawValue) \(duration.inSeconds)") }
    }

    func notice(_ outcome: Outcome) async {
        state.withLock { state in
            state.notices.append(outcome.kind)
            state.texts.append(outcome.userMessage)
            state.told.append("notice")
        }
    }
}

/// Okta's answers as text.
enum OktaJSON {
    static let org = OktaBench.url + "/api/v1/authn"

    static func link(_ relation: String, _ path: String, name: String? = nil) -> String {
        let title = name.map { #""name":"\#($0)","# } ?? ""
        return #""\#(relation)":{\#(title)"href":"\#(org)\#(path)","hints":{"allow":["POST"]}}"#
    }

    static let cancel = link("cancel", "/cancel")
    static let previous = link("prev", "/previous")

    static func state(
        _ status: String,
        embedded: String = "",
        links: [String] = [],
        more: String = "",
        token: String? = "00st1"
    ) -> String {
        let proof = token.map { #""stateToken":"\#($0)","# } ?? ""
        return """
            {\(proof)"expiresAt":"2030-01-01T00:05:00.000Z","status":"\(status)"\(more),\
            "_embedded":{"user":{"id":"00u1","profile":{"login":"ada@example.com"}}\(embedded)},\
            "_links":{\((links + (token == nil ? [] : [cancel])).joined(separator: ","))}}
            """
    }

    static func factor(_ type: String, id: String = "f1", profile: String = "{}", challenge: String? = nil) -> String {
        let inner = challenge.map { #","_embedded":{"challenge":\#($0)}"# } ?? ""
        return
            #"{"id":"\#(id)","factorType":"\#(type)","provider":"OKTA","profile":\#(profile)\#(inner),"_links":{\#(link("verify", "/factors/\(id)/verify"))}}"#
    }

    static func open(_ type: String, _ enrollment: String = "REQUIRED", links: String = "") -> String {
        #"{"factorType":"\#(type)","provider":"OKTA","status":"NOT_SETUP","enrollment":"\#(enrollment)","_links":{\#(link("enroll", "/factors"))\#(links)}}"#
    }
}

extension ScriptedTransport.Step {
    static func answer(_ body: String, _ fields: [String: String] = [:]) -> Self { .status(200, fields, body: body) }

    static func success(_ token: String? = "20111st", more: String = "") -> Self {
        let session = token.map { #","sessionToken":"\#($0)""# } ?? ""
        return .answer(OktaJSON.state("SUCCESS", more: session + more, token: nil))
    }

    static var session: Self {
        .answer(
            #"{"id":"sid1","userId":"00u1","login":"ada@example.com","status":"ACTIVE","expiresAt":"2030-01-01T02:00:00.000Z"}"#
        )
    }

    static func required(_ factors: String...) -> Self {
        .answer(OktaJSON.state("MFA_REQUIRED", embedded: #","factors":[\#(factors.joined(separator: ","))]"#))
    }

    static func challenge(_ factor: String, result: String? = nil, next: String = "verify", resend: String = "") -> Self
    {
        let outcome = result.map { #","factorResult":"\#($0)""# } ?? ""
        return .answer(
            OktaJSON.state(
                "MFA_CHALLENGE",
                embedded: #","factor":\#(factor)"#,
                links: [OktaJSON.link("next", "/factors/f1/verify", name: next), OktaJSON.previous]
                    + (resend.isEmpty ? [] : [resend]),
                more: outcome
            )
        )
    }

    static func expired(_ status: String = "PASSWORD_EXPIRED", policy: String = "", links: [String] = []) -> Self {
        let name = status == "PASSWORD_RESET" ? "resetPassword" : "changePassword"
        let path = status == "PASSWORD_RESET" ? "/credentials/reset_password" : "/credentials/change_password"
        return .answer(
            OktaJSON.state(status, embedded: policy, links: [OktaJSON.link("next", path, name: name)] + links)
        )
    }

    static var lockedOut: Self {
        .answer(
            OktaJSON.state("LOCKED_OUT", links: [OktaJSON.link("next", "/recovery/unlock", name: "unlock")], token: nil)
        )
    }

    static func error(_ number: Int, _ status: Int = 403, causes: [String] = [], _ fields: [String: String] = [:])
        -> Self
    {
        let digits = String(number)
        let code = "E" + String(repeating: "0", count: 7 - digits.count) + digits
        return .status(status, fields, body: Recorded.error(code, causes: causes))
    }
}
