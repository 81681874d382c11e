import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import Auth0Auth

/// Ways in without a password, and factors that are set up, on a scripted server.
@Suite struct Auth0WaysTests {
    private static let name = "ada@example.com"
    private static let back = "https://app.example.com/callback"

    private static func configuration(_ ways: Auth0Configuration.Passwordless...) -> Auth0Configuration {
        Auth0Configuration(clientID: "app", realm: "people", audience: "api", passwordless: ways, redirectURI: back)
    }

    private func bodies(_ bench: Auth0Bench) -> [JSONValue] {
        bench.transport.received.map { (try? JSONValue(parsing: $0.body)) ?? .null }
    }

    private func signIn(
        _ bench: Auth0Bench,
        _ method: Auth0SignInMethod,
        _ person: Answers
    ) async throws -> Auth0Session {
        try await bench.clock.skippingWaits { try await bench.auth0.signIn(method, answering: person) }
    }

    // MARK: Codes

    typealias Way = (
        way: Auth0Configuration.Passwordless, address: String, key: Factor.Key, started: JSONValue, body: JSONValue,
        answer: String
    )

    private static let ways: [Way] = [
        (
            .emailCode, name, .emailCode,
            ["client_id": "app", "connection": "email", "email": .string(name), "send": "code"],
            ["username": .string(name), "realm": "email"], "{}"
        ),
        (
            .phoneCode, "+12015550100", .phoneCode,
            ["client_id": "app", "connection": "sms", "phone_number": "+12015550100", "send": "code"],
            ["username": "+12015550100", "realm": "sms"], "{}"
        ),
        (
            .databaseEmailCode, name, .emailCode,
            ["client_id": "app", "connection": "people", "email": .string(name)], ["auth_session": "AS"],
            #"{"auth_session":"AS"}"#
        ),
        (
            .databasePhoneCode, "+12015550100", .phoneCode,
            ["client_id": "app", "connection": "people", "phone_number": "+12015550100"], ["auth_session": "AS"],
            #"{"auth_session":"AS"}"#
        ),
    ]

    @Test(arguments: ways.indices) func aCodeStandsInForAPassword(index: Int) async throws {
        let row = Self.ways[index]
        let wrong = Auth0Bench.Step.error("invalid_grant", "Wrong email or verification code.")
        let bench = try Auth0Bench([.json(row.answer), wrong, .tokens()], configuration: Self.configuration())
        let person = Answers([row.key: ["111111", "222222"]])
        _ = try await signIn(bench, .passwordless(row.way, to: row.address), person)
        #expect(person.asked == [row.key, row.key] && bench.sent.count == 3)
        let bodies = bodies(bench)
        #expect(bodies[0] == row.started)
        #expect(bodies[2]["otp"] == "222222" && bodies[2]["audience"] == "api" && bodies[2]["scope"] != nil)
        for member in row.body.members ?? [] { #expect(bodies[2][member.key] == member.value) }
    }

    /// Nothing is sent to nobody: the address is asked for.
    @Test func whoIsNotNamedIsAskedFor() async throws {
        let bench = try Auth0Bench([.json("{}"), .tokens()])
        var flow = bench.auth0.signInFlow(.passwordless(.emailCode, to: ""))
        guard case .ask(let question) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        #expect(question.factor == .identifier && bench.sent.isEmpty)
        guard case .ask(let code) = try await flow.step(.answer(.text(Secret(Self.name)))).step else {
            return #expect(Bool(false))
        }
        #expect(code.key == .emailCode && bodies(bench)[0]["email"]?.string == Self.name)
        guard case .finished = try await flow.step(.answer(.text("1"))).step else { return #expect(Bool(false)) }
    }

    /// Three wrong codes are the end of the right one: another one is sent.
    @Test(arguments: [
        "You've reached the maximum number of attempts. Please try to login again.",
        "The verification code has expired. Please try to login again.",
    ])
    func aCodeThatIsOverIsReplaced(text: String) async throws {
        let bench = try Auth0Bench([.json("{}"), .error("invalid_grant", text), .json("{}"), .tokens()])
        let person = Answers([.emailCode: ["1", "2"]])
        _ = try await signIn(bench, .passwordless(.emailCode, to: Self.name), person)
        #expect(bench.sent.filter { $0 == "/passwordless/start" }.count == 2)
        #expect(bench.sent.last == "/oauth/token otp 2")
    }

    @Test func aSecondFactorMayFollowACode() async throws {
        let bench = try Auth0Bench([.json("{}"), .wantsMore, .enrolled("totp"), .tokens()])
        _ = try await signIn(
            bench,
            .passwordless(.emailCode, to: Self.name),
            Answers([.emailCode: ["1"], .totp: ["2"]])
        )
        #expect(bench.sent.last == "/oauth/token mfa-otp 2")
    }

    /// Whoever gives no password chooses among what reaches them.
    @Test(arguments: [
        (name, ["password", "email"]), ("+12015550100", ["password", "sms"]), ("ada", []),
    ])
    func whatReachesThemIsOffered(name: String, ways: [String]) async throws {
        let configuration = Auth0Configuration(clientID: "app", passwordless: [.emailCode, .phoneCode])
        let bench = try Auth0Bench([.json("{}"), .tokens()], configuration: configuration)
        var flow = bench.auth0.signInFlow(.identifier(name))
        let step = try await flow.step(.begin).step
        guard !ways.isEmpty else {
            guard case .ask(let question) = step else { return #expect(Bool(false), "\(step)") }
            return #expect(question.key == .password && bench.sent.isEmpty)
        }
        guard case .choose(let factors) = step else { return #expect(Bool(false), "\(step)") }
        #expect(factors.map(\.providerName) == ways && bench.sent.isEmpty)
        guard case .ask(let question) = try await flow.step(.choose(factors[1])).step else {
            return #expect(Bool(false))
        }
        #expect(question.factor.destination == name)
        guard case .finished = try await flow.step(.answer(.text("1"))).step else { return #expect(Bool(false)) }
    }

    /// Whatever answer is lost: a code and what sends one go out once.
    @Test(arguments: 0..<2) func aCodeIsSentOnce(lost: Int) async throws {
        var steps: [Auth0Bench.Step] = [.json("{}"), .tokens()]
        steps.insert(.fail(.connectionLost, .unknown), at: lost)
        let bench = try Auth0Bench(steps)
        let person = Answers([.emailCode: ["1"]])
        await #expect(throws: RecoveryError.self) {
            try await signIn(bench, .passwordless(.emailCode, to: Self.name), person)
        }
        #expect(Set(bench.sent).count == bench.sent.count, "\(bench.sent)")
    }

    // MARK: Links and browsers

    private func answer(_ url: String, _ fields: String) -> SignInInput {
        let query = url.split(separator: "?", maxSplits: 1).last.map(String.init) ?? ""
        let state = FormFields(parsing: query.utf8)["state"].first?.reveal() ?? ""
        return .answer(.text(Secret("\(Self.back)?\(fields)&state=\(state)")))
    }

    @Test func aLinkComesBackWithACode() async throws {
        let bench = try Auth0Bench([.json("{}"), .tokens()], configuration: Self.configuration())
        var flow = bench.auth0.signInFlow(.passwordless(.emailLink, to: Self.name))
        guard case .ask(let question) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        #expect(question.key == .emailLink)
        let started = bodies(bench)[0]
        #expect(started["send"] == "link" && started["authParams"]?["redirect_uri"] == .string(Self.back))
        #expect(started["authParams"]?["response_type"] == "code")
        let state = started["authParams"]?["state"]?.string ?? ""
        _ = try await flow.step(.answer(.text(Secret("\(Self.back)?code=C&state=\(state)"))))
        let form = FormFields(parsing: bench.transport.received[1].body)
        #expect(form["grant_type"] == ["authorization_code"] && form["code"] == ["C"] && form["code_verifier"].isEmpty)
    }

    /// What comes back with another state was made up by somebody: nothing is sent.
    @Test func whatIsNoAnswerIsNotBelieved() async throws {
        let bench = try Auth0Bench([.tokens()], configuration: Self.configuration())
        var flow = bench.auth0.signInFlow(.browser())
        _ = try await flow.step(.begin)
        let error = await #expect(throws: RecoveryError.self) {
            try await flow.step(.answer(.text(Secret("\(Self.back)?code=C&state=other"))))
        }
        #expect(error?.outcome.code == "state_mismatch" && bench.sent.isEmpty)
    }

    /// No call helps against a page that wants a person: where the app can send a browser, it does.
    @Test func whatIsTakenForARobotGoesToTheBrowser() async throws {
        let robot = Auth0Bench.Step.error("requires_verification", "Suspicious request requires verification", 401)
        let bench = try Auth0Bench([robot, .tokens()], configuration: Self.configuration())
        var flow = bench.auth0.signInFlow(identifier: Self.name, password: "hunter2", options: nil)
        let turn = try await flow.step(.begin)
        guard case .ask(let question) = turn.step, let url = question.url?.reveal() else {
            return #expect(Bool(false), "\(turn.step)")
        }
        #expect(question.key == .redirect && question.occasion.code == "requires_verification")
        #expect(turn.notices.map(\.kind) == [.challengeRequired])
        #expect(url.hasPrefix("https://example.eu.auth0.com/authorize?"))
        let query = FormFields(parsing: url.split(separator: "?")[1].utf8)
        #expect(query["login_hint"] == [Secret(Self.name)] && query["audience"] == ["api"])
        #expect(query["code_challenge_method"] == ["S256"] && query["nonce"].count == 1)
        let poor = try Auth0Bench([robot])
        let error = await #expect(throws: RecoveryError.self) { try await poor.signIn() }
        #expect(error?.kind == .challengeRequired && error?.remedies.first == .solveChallenge)
    }

    /// A refusal that a browser comes back with has the meaning of the same words elsewhere.
    @Test(
        arguments: [
            ("error=access_denied&error_description=User+did+not+authorize+the+request", Outcome.Kind.declined, nil),
            ("error=unauthorized&error_description=user+is+blocked", .accountBlocked, "user is blocked"),
            ("error=access_denied&error_description=Not+on+weekends.", .permissionDenied, "Not on weekends."),
            ("error=invalid_request&error_description=the+connection+was+not+found", .misconfigured, nil),
            ("error=temporarily_unavailable", .unavailable, nil),
        ] as [(String, Outcome.Kind, String?)]
    )
    func aRefusalInTheBrowser(fields: String, kind: Outcome.Kind, text: String?) async throws {
        let bench = try Auth0Bench([], configuration: Self.configuration())
        var flow = bench.auth0.signInFlow(.browser(loginHint: Self.name))
        guard case .ask(let question) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        let answer = answer(question.url?.reveal() ?? "", fields)
        let error = await #expect(throws: RecoveryError.self) { try await flow.step(answer) }
        #expect(error?.kind == kind && error?.outcome.userMessage == text && bench.sent.isEmpty)
    }

    @Test func aBrowserNeedsAnAddressToComeBackTo() async throws {
        let bench = try Auth0Bench([])
        let error = await #expect(throws: RecoveryError.self) { try await signIn(bench, .browser(), Answers()) }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "redirect_uri")
    }

    // MARK: Setting a factor up

    private static let app = Auth0Bench.Step.json(
        #"{"authenticator_type":"otp","secret":"K","barcode_uri":"otpauth://totp/x","recovery_codes":["RC"]}"#
    )
    private static let phone = Auth0Bench.Step.json(
        #"{"authenticator_type":"oob","oob_channel":"sms","oob_code":"O1","binding_method":"prompt"}"#
    )

    /// Keeps the questions, and answers all of them with the same.
    private func steps(
        _ flow: inout SignInFlow<Auth0Session>,
        choosing key: Factor.Key,
        answers: [String]
    ) async throws -> [Challenge] {
        var questions: [Challenge] = []
        var answers = answers
        var turn = try await flow.step(.begin)
        while true {
            switch turn.step {
            case .choose(let factors):
                turn = try await flow.step(.choose(factors.first { $0.key == key }))
            case .ask(let question):
                questions.append(question)
                guard !answers.isEmpty else { return questions }
                turn = try await flow.step(.answer(.text(Secret(answers.removeFirst()))))
            default: return questions
            }
        }
    }

    @Test func anAppIsSetUp() async throws {
        let wrong = Auth0Bench.Step.error("invalid_grant", "Invalid otp_code.")
        let bench = try Auth0Bench([.wantsMore, .enrolled(), Self.app, wrong, .tokens()])
        var flow = bench.auth0.signInFlow(identifier: Self.name, password: "hunter2", options: nil)
        let questions = try await steps(&flow, choosing: .totp, answers: ["noted", "111111", "222222"])
        // The recovery code is shown before anything else can go wrong.
        #expect(questions.map(\.key) == [.text, .totp, .totp])
        #expect(questions.map { $0.setup?.reveal() } == ["RC", "otpauth://totp/x", "otpauth://totp/x"])
        #expect(bodies(bench)[2]["authenticator_types"] == ["otp"])
        #expect(bench.transport.received[2].request.headerFields[.authorization] == "Bearer M1")
        #expect(bench.sent.suffix(2) == ["/oauth/token mfa-otp 111111", "/oauth/token mfa-otp 222222"])
    }

    @Test func aPhoneIsSetUp() async throws {
        let bench = try Auth0Bench([.wantsMore, .enrolled("old"), Self.phone, .tokens()])
        var flow = bench.auth0.signInFlow(identifier: Self.name, password: "hunter2", options: nil)
        let questions = try await steps(&flow, choosing: .phoneCode, answers: ["+12015550199", "123456"])
        #expect(questions.map(\.key) == [.phoneNumber, .phoneCode])
        #expect(bodies(bench)[2]["oob_channels"] == ["sms"] && bodies(bench)[2]["phone_number"] == "+12015550199")
        #expect(bench.sent.last == "/oauth/token mfa-oob 123456")
    }

    @Test func aPushIsSetUp() async throws {
        let push = Auth0Bench.Step.json(#"{"authenticator_type":"oob","oob_code":"O1","barcode_uri":"otpauth://p"}"#)
        let pending = Auth0Bench.Step.error("authorization_pending", "", 400)
        let bench = try Auth0Bench([.wantsMore, .enrolled(), push, pending, .tokens()])
        var flow = bench.auth0.signInFlow(identifier: Self.name, password: "hunter2", options: nil)
        _ = try await flow.step(.begin)
        let chosen = Factor(key: .push, providerName: "auth0", id: "new")
        guard case .pending(let shown, _) = try await flow.step(.choose(chosen)).step else {
            return #expect(Bool(false))
        }
        #expect(shown.setup == "otpauth://p")
        bench.clock.advance(by: .seconds(5))
        guard case .pending(let again, _) = try await flow.step(.poll).step else { return #expect(Bool(false)) }
        bench.clock.advance(by: .seconds(5))
        guard case .finished = try await flow.step(.poll).step else { return #expect(Bool(false)) }
        #expect(again.setup == "otpauth://p")
    }

    /// The tenant says what it wants set up, or refuses what it does not want.
    @Test func whatCanBeSetUpIsOffered() async throws {
        let wants =
            #"{"error":"mfa_required","mfa_token":"M1","mfa_requirements":{"enroll":[{"type":"phone"},{"type":"otp"}]}}"#
        let bench = try Auth0Bench([.json(wants, 403), .enrolled()])
        var flow = bench.auth0.signInFlow(identifier: Self.name, password: "hunter2", options: nil)
        guard case .choose(let factors) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        #expect(factors.map(\.providerName) == ["otp", "sms", "voice"])
        let refused = Auth0Bench.Step.error("unsupported_challenge_type", "x", 400)
        let other = try Auth0Bench([.wantsMore, .enrolled(), refused, Self.app, .tokens()])
        let person = Answers([.text: ["noted"], .totp: ["1"]], choosing: .push)
        _ = try? await other.signIn(person)
        #expect(other.sent.filter { $0 == "/mfa/associate" }.count == 2, "\(other.sent)")
    }

    /// An answer that was lost may have set the factor up: it is not asked for again, nor is a code spent twice.
    @Test(arguments: 0..<4) func whatSetsAFactorUpIsSentOnce(lost: Int) async throws {
        var steps: [Auth0Bench.Step] = [.wantsMore, .enrolled(), Self.app, .tokens()]
        steps.insert(.fail(.connectionLost, .unknown), at: lost)
        let bench = try Auth0Bench(steps)
        _ = try? await bench.signIn(Answers([.text: ["noted"], .totp: ["1"]], choosing: .totp))
        let spent = bench.sent.filter { $0 != "/mfa/authenticators" }
        #expect(Set(spent).count == spent.count, "\(spent)")
    }

    /// A limit of one factor's holds no other one back.
    @Test func tooManyWrongCodesLeadToAnotherFactor() async throws {
        let limit = Auth0Bench.Step.error("too_many_attempts", "Too many failed codes.", 429)
        let bench = try Auth0Bench([.wantsMore, .enrolled("totp", "recovery"), limit, .tokens()])
        let person = Answers([.totp: ["1"], .backupCode: ["RC"]], choosing: .totp)
        _ = try await bench.signIn(person)
        #expect(person.asked == [.totp, .backupCode] && bench.clock.requestedDelays.isEmpty)
    }

    // MARK: Written down between two steps

    /// Each step at another machine: nothing is lost of what was sent out, set up or begun.
    @Test(arguments: 0..<4) func aSignInIsTakenUpElsewhere(index: Int) async throws {
        let device = #"{"device_code":"D","user_code":"U","verification_uri":"https://x/activate","interval":5}"#
        let cases: [(Auth0SignInMethod, [Auth0Bench.Step], [String])] = [
            (.passwordless(.databaseEmailCode, to: Self.name), [.json(#"{"auth_session":"AS"}"#), .tokens()], ["1"]),
            (.identifier(Self.name, password: "p"), [.wantsMore, .enrolled(), Self.app, .tokens()], ["noted", "1"]),
            (.identifier(Self.name, password: "p"), [.wantsMore, .enrolled(), Self.phone, .tokens()], ["+1201", "1"]),
            (.device, [.json(device), .error("authorization_pending"), .tokens()], []),
        ]
        let (method, script, answers) = cases[index]
        let bench = try Auth0Bench(script, configuration: Auth0Configuration(clientID: "app", realm: "people"))
        let signIns = SuspendedSignIns(bench.auth0.client, sealing: PlainSealing()).held(by: "browser")
        var turn = try await signIns.begin(bench.auth0.signInFlow(method))
        var left = answers
        for _ in 0..<10 {
            guard let ticket = turn.ticket else { break }
            switch turn.step {
            case .choose(let factors):
                let key: Factor.Key = index == 1 ? .totp : .phoneCode
                turn = try await signIns.step(ticket, .choose(factors.first { $0.key == key }), at: bench.auth0)
            case .ask:
                turn = try await signIns.step(ticket, .answer(.text(Secret(left.removeFirst()))), at: bench.auth0)
            case .pending(let challenge, _):
                #expect(challenge.number == "U")
                bench.clock.advance(by: .seconds(5))
                turn = try await signIns.step(ticket, .poll, at: bench.auth0)
            case .finished: break
            @unknown default: break
            }
        }
        guard case .finished = turn.step else { return #expect(Bool(false), "\(turn.step)") }
        #expect(left.isEmpty && bench.sent.count == script.count)
    }
}
