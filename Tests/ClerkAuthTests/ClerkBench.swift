import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// A Clerk client on a manual clock and a scripted server.
struct ClerkBench {
    typealias Step = ScriptedTransport.Step

    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let tokens: any TokenStore
    let clerk: Clerk
    let events: EventRecorder
    /// The same once more; nil where something of it can be used only once.
    private let twin: (@Sendable () throws -> ClerkBench)?

    static let url = "https://clerk.example.com"
    static let identifier = "ada@example.com"

    init(
        _ steps: [Step] = [],
        credentials: Credentials = Credentials(clientToken: "T0"),
        tokens: (any TokenStore)? = nil,
        url: String = ClerkBench.url,
        seed: UInt64 = 1,
        configuration: ClerkConfiguration = ClerkConfiguration(),
        @RecoveringClient.PipelineBuilder middlewares: @escaping @Sendable () -> [any ClientLayer] = { [Recovery()] }
    ) throws {
        // Copies share their pacing, and what was drawn at random differs.
        if tokens == nil, configuration.pacing == nil, configuration.redirectURL == nil {
            twin = {
                try ClerkBench(
                    steps,
                    credentials: credentials,
                    url: url,
                    seed: seed,
                    configuration: configuration,
                    middlewares: middlewares
                )
            }
        } else {
            twin = nil
        }
        // A server that has no more to say has failed: no test goes on by accident.
        transport = ScriptedTransport(steps, then: .status(418))
        let runtime = Runtime(time: clock.timeSource(), random: Runtime.RandomSource(seed: seed))
        client = RecoveringClient(transport: transport, runtime: runtime, middlewares: middlewares)
        self.tokens = tokens ?? InMemoryTokenStore(credentials)
        clerk = try Clerk(frontendAPI: url, client: client, tokens: self.tokens, configuration: configuration)
        events = EventRecorder(runtime.events)
    }

    /// Does something while the clock jumps to whatever is slept for.
    func skippingWaits<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await clock.skippingWaits(body)
    }

    func signIn(
        _ password: Secret? = "hunter2",
        _ person: Person = Person(),
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        let (other, isFirst) = (person.twin(), transport.received.isEmpty)
        do {
            let session = try await skippingWaits {
                try await clerk.signIn(
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

    private func flow(_ password: Secret?, _ options: SignInOptions) -> SignInFlow<ClerkSession> {
        clerk.signInFlow(.identifier(Self.identifier, password: password), options: options)
    }

    /// The same sign-in, suspended between its steps, sends the same and comes to the same.
    private func walk(
        _ person: Person,
        _ end: String,
        _ flow: (ClerkBench) -> SignInFlow<ClerkSession>
    ) async {
        guard let bench = try? twin?(), end != "CancellationError()" else { return }
        let other = await outcome {
            try await SuspendedWalk(bench.clerk, bench.clock, bench.transport).signIn(flow(bench), answering: person)
        }
        #expect(other == end, "suspended")
        #expect(bench.sent == sent, "suspended")
    }

    /// What is held, without whose it is, which tests of lockouts look at.
    var credentials: Credentials {
        get async throws {
            var credentials = try await tokens.read().credentials
            credentials.others.removeAll { $0.key == "accounts" }
            return credentials
        }
    }

    /// Each request as method, path below `/v1` and form.
    var sent: [String] {
        transport.received.map { received in
            let path = received.request.pathWithoutQuery.dropFirst(3)
            return "\(received.request.method.rawValue) \(path)\(received.text.isEmpty ? "" : " \(received.text)")"
        }
    }

    var sentTokens: [String?] {
        transport.received.map { $0.request.headerFields[.authorization] }
    }
}

/// A person with prepared answers, who remembers what they were asked.
final class Person: ChallengeResponder {
    private struct State {
        var answers: [Factor.Key: [Challenge.Answer]] = [:]
        var questions: [Challenge] = []
        var waits: [String] = []
        var notices: [Outcome.Kind] = []
        var told: [String] = []
    }

    private let state: Locked<State>
    private let choice: Factor.Key?

    init(_ answers: [Factor.Key: [Challenge.Answer]] = [:], choosing choice: Factor.Key? = nil) {
        state = Locked(State(answers: answers))
        self.choice = choice
    }

    /// Somebody with the same answers.
    func twin() -> Person {
        Person(state.withLock { $0.answers }, choosing: choice)
    }

    /// Someone with one text for each key.
    convenience init(_ answers: [Factor.Key: Secret], choosing choice: Factor.Key? = nil) {
        self.init(answers.mapValues { [.text($0)] }, choosing: choice)
    }

    var questions: [Challenge] { state.withLock { $0.questions } }
    var keys: [Factor.Key] { questions.map(\.key) }
    var waits: [String] { state.withLock { $0.waits } }
    var notices: [Outcome.Kind] { state.withLock { $0.notices } }
    /// What was asked and noticed, in order.
    var told: [String] { state.withLock { $0.told } }

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
        factors.first { $0.key == choice }
    }

    func waiting(for reason: Outcome.Kind, duration: Duration, until: Timestamp) async {
        state.withLock { $0.waits.append("\(reason.rawValue) \(duration.inSeconds)") }
    }

    func notice(_ outcome: Outcome) async {
        state.withLock { state in
            state.notices.append(outcome.kind)
            state.told.append("notice")
        }
    }
}

extension ScriptedTransport.Step {
    /// A sign-in, as Clerk wraps it.
    static func signIn(
        _ status: String,
        first: String? = nil,
        second: String? = nil,
        token: String? = nil,
        id: String = "sia_1"
    ) -> ScriptedTransport.Step {
        let body = """
            {"response":\(ClerkJSON.signIn(status, first: first, second: second, id: id)),"client":{"object":"client",\
            "id":"client_1","sessions":[],"sign_in":null}}
            """
        return .status(200, token.map { ["authorization": $0] } ?? [:], body: body)
    }

    /// A sign-in that is complete.
    static func complete(_ session: String = "sess_1", token: String? = "T1") -> ScriptedTransport.Step {
        let body = """
            {"response":{"object":"sign_in_attempt","id":"sia_1","status":"complete","created_session_id":"\(session)",\
            "supported_first_factors":null,"supported_second_factors":null},"client":\(ClerkJSON.client([session]))}
            """
        return .status(200, token.map { ["authorization": $0] } ?? [:], body: body)
    }

    /// The client.
    static func client(_ sessions: [String], status: String = "active") -> ScriptedTransport.Step {
        .status(200, [:], body: "{\"response\":\(ClerkJSON.client(sessions, status: status)),\"client\":null}")
    }

    /// An error by code.
    static func error(
        _ code: String,
        status: Int = 422,
        meta: String = "{}",
        top: String = "",
        _ fields: [String: String] = [:]
    ) -> ScriptedTransport.Step {
        .status(
            status,
            fields,
            body: #"{"errors":[{"code":"\#(code)","message":"m","long_message":"l","meta":\#(meta)}]\#(top)}"#
        )
    }
}

/// Clerk's resources as text.
enum ClerkJSON {
    static let email = #"{"strategy":"email_code","email_address_id":"idn_1","safe_identifier":"a***@example.com"}"#
    static let phone = #"{"strategy":"phone_code","phone_number_id":"idn_2","safe_identifier":"+1 *** 55"}"#
    static let password = #"{"strategy":"password"}"#
    static let totp = #"{"strategy":"totp"}"#
    static let backup = #"{"strategy":"backup_code"}"#
    static let resetEmail = #"{"strategy":"reset_password_email_code","email_address_id":"idn_1"}"#

    static func signIn(_ status: String, first: String? = nil, second: String? = nil, id: String = "sia_1") -> String {
        """
        {"object":"sign_in_attempt","id":"\(id)","status":"\(status)","identifier":"ada@example.com",\
        "supported_first_factors":\(first.map { "[\($0)]" } ?? "null"),\
        "supported_second_factors":\(second.map { "[\($0)]" } ?? "null"),"created_session_id":null}
        """
    }

    static func client(_ sessions: [String], status: String = "active", signIn: String = "null") -> String {
        let list = sessions.map { id in
            """
            {"object":"session","id":"\(id)","status":"\(status)","expire_at":1893456060000,"user":{"id":"user_1",\
            "email_addresses":[{"email_address":"ada@example.com"}]},"tasks":[]}
            """
        }
        return """
            {"object":"client","id":"client_1","sessions":[\(list.joined(separator: ","))],"sign_in":\(signIn),\
            "last_active_session_id":\(sessions.last.map { "\"\($0)\"" } ?? "null")}
            """
    }
}
