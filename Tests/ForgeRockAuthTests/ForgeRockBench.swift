import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// A ForgeRock client on a manual clock and a scripted server.
struct ForgeRockBench {
    typealias Step = ScriptedTransport.Step

    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let tokens: any TokenStore
    let forgeRock: ForgeRock
    let events: EventRecorder
    /// The same once more; nil where something of it can be used only once.
    private let twin: (@Sendable () throws -> ForgeRockBench)?

    init(
        _ steps: [Step] = [],
        credentials: Credentials = Credentials(),
        tokens: (any TokenStore)? = nil,
        journey: String? = "Login",
        oauth: OAuthSettings? = nil,
        authenticator: (any WebAuthn.Authenticator)? = nil,
        cookieName: String? = "sso",
        baseURL: String = "https://id.example.com/am",
        interceptors: [any ForgeRockInterceptor] = [],
        @RecoveringClient.PipelineBuilder middlewares: @escaping @Sendable () -> [any ClientLayer] = { [Recovery()] }
    ) throws {
        if tokens == nil && authenticator == nil && interceptors.isEmpty {
            twin = {
                try ForgeRockBench(
                    steps,
                    credentials: credentials,
                    journey: journey,
                    oauth: oauth,
                    cookieName: cookieName,
                    baseURL: baseURL,
                    middlewares: middlewares
                )
            }
        } else {
            twin = nil
        }
        // A server that has no more to say has failed: no test goes on by accident.
        transport = ScriptedTransport(steps, then: .status(418))
        let runtime = Runtime.manual(clock)
        client = RecoveringClient(transport: transport, runtime: runtime, middlewares: middlewares)
        self.tokens = tokens ?? InMemoryTokenStore(credentials)
        forgeRock = try ForgeRock(
            baseURL: baseURL,
            client: client,
            tokens: self.tokens,
            configuration: ForgeRockConfiguration(
                realm: "alpha",
                journey: journey,
                oauth: oauth,
                authenticator: authenticator,
                cookieName: cookieName,
                interceptors: interceptors
            )
        )
        events = EventRecorder(runtime.events)
    }

    /// Settings whose guards lie far beyond every pause, so that skipping pauses does not set them off.
    static let oauth = OAuthSettings(
        clientID: "app",
        redirectURI: "org.app:/cb",
        scope: "openid",
        renewal: TokenManager.RenewalOptions(timeout: .seconds(1_000_000), lease: .seconds(1_000_000))
    )

    /// Does something while the clock jumps to whatever is slept for, but not to the timeouts that guard the work.
    func skippingPauses<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await clock.skippingWaits(upTo: .seconds(600), body)
    }

    /// Does something while the clock jumps to whatever is slept for.
    func skippingWaits<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await clock.skippingWaits(body)
    }

    func signIn(
        _ password: Secret? = "hunter2",
        _ person: Person = Person(),
        callbacks: any JourneyCallbackResponder = NoJourneyCallbackResponder(),
        options: SignInOptions = SignInOptions()
    ) async throws -> ForgeRockSession {
        let (other, isFirst) = (person.twin(), transport.received.isEmpty && callbacks is NoJourneyCallbackResponder)
        do {
            let session = try await skippingWaits {
                try await forgeRock.signIn(
                    identifier: "ada",
                    password: password,
                    answering: person,
                    callbacks: callbacks,
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

    private func flow(_ password: Secret?, _ options: SignInOptions) -> SignInFlow<ForgeRockSession> {
        forgeRock.signInFlow(identifier: "ada", password: password, options: options)
    }

    /// The same sign-in, suspended between its steps, sends the same and comes to the same.
    private func walk(
        _ person: Person,
        _ end: String,
        _ flow: (ForgeRockBench) -> SignInFlow<ForgeRockSession>
    ) async {
        guard let bench = try? twin?(), end != "CancellationError()" else { return }
        let other = await outcome {
            try await SuspendedWalk(bench.forgeRock, bench.clock, bench.transport)
                .signIn(flow(bench), answering: person)
        }
        #expect(other == end, "suspended")
        #expect(bench.sent == sent, "suspended")
    }

    var credentials: Credentials {
        get async throws { try await tokens.read().credentials }
    }

    /// Each request as method, path without the realm, query, and the values of its inputs.
    var sent: [String] {
        transport.received.map { received in
            let path = (received.request.path ?? "").replacing("/am/json/realms/root/realms/alpha/", with: "")
            let json = try? JSONValue(parsing: received.body)
            let inputs = (json?["callbacks"]?.array ?? []).flatMap { callback in
                (callback["input"]?.array ?? []).map { $0["value"].map(\.description) ?? "-" }
            }
            let proof = json?["authId"]?.string.map { " \($0)" } ?? ""
            return path + proof + (inputs.isEmpty ? "" : " " + inputs.joined(separator: " "))
        }
    }

    /// The forms that were sent, decoded.
    func form(_ index: Int) -> [String: String] {
        let received = transport.received
        guard received.indices.contains(index) else { return [:] }
        let fields = FormFields(parsing: received[index].body)
        return Dictionary(
            fields.names.map { ($0, fields[$0].last?.reveal() ?? "") },
            uniquingKeysWith: { first, _ in first }
        )
    }
}

/// A person with prepared answers, who remembers what they were asked.
final class Person: ChallengeResponder {
    private struct State {
        var answers: [Factor.Key: [Challenge.Answer]] = [:]
        var questions: [Challenge] = []
        var choices: [[Factor]] = []
        var waits: [String] = []
        var notices: [Outcome] = []
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
    var offered: [[Factor]] { state.withLock { $0.choices } }
    var choices: [[String]] { offered.map { $0.map(\.providerName) } }
    var waits: [String] { state.withLock { $0.waits } }
    var notices: [Outcome] { state.withLock { $0.notices } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        let answer: Challenge.Answer? = state.withLock { state in
            state.questions.append(challenge)
            guard let answers = state.answers[challenge.key], !answers.isEmpty else { return nil }
            return state.answers[challenge.key]?.removeFirst()
        }
        guard let answer else { throw Challenge.NoAnswer(challenge.key) }
        return answer
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        state.withLock { $0.choices.append(factors) }
        return factors.first { $0.providerName == choice }
    }

    func waiting(for reason: Outcome.Kind, duration: Duration, until: Timestamp) async {
        state.withLock { $0.waits.append("\(reason.rawValue) \(duration.inSeconds)") }
    }

    func notice(_ outcome: Outcome) async {
        state.withLock { $0.notices.append(outcome) }
    }
}

/// Callbacks as the server writes them.
enum AM {
    static let name = callback("NameCallback", #"{"name":"prompt","value":"User Name"}"#)
    static let password = callback("PasswordCallback", #"{"name":"prompt","value":"Password"}"#, index: 2)
    static let code = callback("PasswordCallback", #"{"name":"prompt","value":"One Time Password"}"#)
    static let hidden = callback("HiddenValueCallback", #"{"name":"id","value":"webAuthnOutcome"}"#, index: 2)

    static func text(_ message: String, kind: String = "0") -> String {
        callback(
            "TextOutputCallback",
            #"{"name":"message","value":\#(JSONValue.string(message))},{"name":"messageType","value":"\#(kind)"}"#,
            inputs: 0
        )
    }

    static func poll(_ wait: String = "1000", _ message: String? = nil) -> String {
        let text = message.map { #",{"name":"message","value":"\#($0)"}"# } ?? ""
        return callback("PollingWaitCallback", #"{"name":"waitTime","value":"\#(wait)"}\#(text)"#, inputs: 0)
    }

    static func choice(_ choices: String..., index: Int = 1) -> String {
        let list = choices.map { "\"\($0)\"" }.joined(separator: ",")
        return callback(
            "ChoiceCallback",
            #"{"name":"prompt","value":"How?"},{"name":"choices","value":[\#(list)]},{"name":"defaultChoice","value":0}"#,
            index: index
        )
    }

    static func confirmation(_ options: String..., index: Int = 2) -> String {
        let list = options.map { "\"\($0)\"" }.joined(separator: ",")
        return callback(
            "ConfirmationCallback",
            #"{"name":"options","value":[\#(list)]},{"name":"optionType","value":-1},{"name":"defaultOption","value":0}"#,
            index: index
        )
    }

    static func metadata(_ data: String) -> String {
        callback("MetadataCallback", #"{"name":"data","value":\#(data)}"#, inputs: 0)
    }

    static let authentication = metadata(
        #"{"_type":"WebAuthn","_action":"webauthn_authentication","challenge":"AQID","_relyingPartyId":"example.com","_allowCredentials":[],"timeout":"60000"}"#
    )
}

extension ScriptedTransport.Step {
    /// A step of a journey.
    static func step(
        _ callbacks: String...,
        id: String = "a1",
        stage: String? = nil,
        fields: [String: String] = [:]
    ) -> ScriptedTransport.Step {
        let proof = #""authId":"\#(id)","#
        let name = stage.map { #""stage":"\#($0)","# } ?? ""
        return .status(
            200,
            fields,
            body: #"{\#(proof)\#(name)"x":[1,{"y":null}],"callbacks":[\#(callbacks.joined(separator: ","))]}"#
        )
    }

    /// The end of a journey.
    static func success(_ token: String? = "S1", _ fields: [String: String] = [:]) -> ScriptedTransport.Step {
        let part = token.map { #""tokenId":"\#($0)","# } ?? ""
        return .status(200, fields, body: #"{\#(part)"successUrl":"/am/console","realm":"/alpha"}"#)
    }

    /// What the server says of a session.
    static func session(of name: String) -> ScriptedTransport.Step {
        .status(200, [:], body: #"{"username":"\#(name)","universalId":"id=\#(name),ou=user","realm":"/alpha"}"#)
    }

    /// An error.
    static func error(
        _ status: Int,
        _ message: String,
        number: String? = nil,
        _ fields: [String: String] = [:]
    ) -> ScriptedTransport.Step {
        .status(status, fields, body: Exchanged.error(status, message, number: number))
    }

    /// Answers in the order in which they come.
    static let login = ScriptedTransport.Step.step(AM.name, AM.password)
}
