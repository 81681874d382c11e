import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// Whatever a server answers in the middle of a sign-in: it ends soon, with an error that says why, and nothing is spent
/// twice.
@Suite("A PingAM that answers anything", .timeLimit(.minutes(30)))
struct ForgeRockHostileTests {
    typealias Step = ScriptedTransport.Step

    struct Way: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [Step]
        var start: JourneyStart?
        var options = JourneyOptions()
        var choice: String?
        var authenticates = false

        init(
            _ name: String,
            _ steps: Step...,
            from start: JourneyStart? = nil,
            with options: JourneyOptions = JourneyOptions(),
            choosing choice: String? = nil,
            authenticates: Bool = false
        ) {
            testDescription = name
            self.steps = steps
            self.start = start
            self.options = options
            self.choice = choice
            self.authenticates = authenticates
        }

        var upgrades: Bool {
            if case .advice? = start { true } else { options.upgradesSession }
        }
    }

    private static let code = Step.step(AM.code, id: "a2")
    private static let wait = "\(AM.poll()),\(AM.confirmation("Exit"))"
    private static let registration = AM.metadata(
        #"{"_type":"WebAuthn","_action":"webauthn_registration","challenge":"AQID","_relyingPartyId":"example.com","_pubKeyCredParams":[{"type":"public-key","alg":-7}],"userName":"ada","userId":"YWRh"}"#
    )
    private static func prompt(_ text: String, index: Int = 1) -> String {
        callback("PasswordCallback", #"{"name":"prompt","value":"\#(text)"}"#, index: index)
    }
    private static let redirect = callback(
        "RedirectCallback",
        #"{"name":"redirectUrl","value":"https://idp.example.com/auth?state=s1"},{"name":"trackingCookie","value":true}"#,
        inputs: 0
    )
    private static let questions = callback(
        "KbaCreateCallback",
        #"{"name":"prompt","value":"Choose"},{"name":"predefinedQuestions","value":["Pet?","Town?"]}"#,
        inputs: 2
    )

    static let ways = [
        Way("password", .login, .success()),
        Way("code", .login, code, .success()),
        Way(
            "text message",
            .login,
            .step(AM.choice("Email", "SMS"), id: "a2"),
            .step(prompt("Code sent to your phone"), id: "a3"),
            .success(),
            choosing: "SMS"
        ),
        Way("push", .login, .step(wait, id: "a2"), .step(wait, id: "a3"), .success()),
        Way("passkey", .login, .step(AM.authentication, AM.hidden, id: "a2"), .success(), authenticates: true),
        Way("no passkey", .login, .step(AM.authentication, AM.hidden, id: "a3"), code, .success()),
        Way("new passkey", .login, .step(registration, AM.hidden, id: "a2"), .success(), authenticates: true),
        Way("device", .login, .step(callback("DeviceProfileCallback"), id: "a2"), .success()),
        Way("visit", .step(redirect), .success()),
        Way("link", code, .success(), from: .suspended(id: "s1")),
        Way(
            "new password",
            .login,
            .step(prompt("New Password"), prompt("Confirm Password", index: 2), id: "a2"),
            .success()
        ),
        Way("at once", code, .success(), with: JourneyOptions(presentsLoginAtOnce: true)),
        Way("without a session", .login, .success(nil), with: JourneyOptions(skipsSession: true)),
        Way(
            "upgrade",
            .session(of: "ada"),
            code,
            .success("S2"),
            .session(of: "ada"),
            with: JourneyOptions(upgradesSession: true)
        ),
        Way(
            "advice",
            .session(of: "ada"),
            code,
            .success("S2"),
            .session(of: "ada"),
            from: .advice(PolicyAdvice([.init(name: "TransactionConditionAdvice", values: ["tx-1"])]))
        ),
        Way(
            "registration",
            .step(callback("ValidatedCreateUsernameCallback"), callback("ValidatedCreatePasswordCallback", index: 2)),
            .step(questions, callback("TermsAndConditionsCallback", index: 3), id: "a2"),
            .success()
        ),
    ]

    @Test(arguments: ways) func itEndsSoonAndSpendsNothingTwice(way: Way) async throws {
        var share = Share(oneIn: 45, for: way.testDescription)
        for index in way.steps.indices {
            for hostile in HostileAnswer.all {
                // Once, with the journey going on or beginning anew after it; or for ever.
                for (mode, rest) in [
                    ("once", [hostile.step] + way.steps[index...]), ("at first", [hostile.step] + way.steps),
                    ("for ever", Array(repeating: hostile.step, count: 60)),
                ] {
                    guard share.takesNext() else { continue }
                    let end = try await signIn(way, way.steps[..<index] + rest)
                    let isAnew = mode == "at first"
                    let wrongs = try await wrongs(end, hostile, way, at: index, isAnew: isAnew)
                    if wrongs.isEmpty { continue }
                    Issue.record(
                        "\(way.testDescription), \(index), \(hostile.name), \(mode): \(wrongs), \(end.result), \(end.bench.sent.map { $0.prefix(160) })"
                    )
                }
            }
        }
    }

    // MARK: What was found by it

    @Test(arguments: [#"{"successUrl":null}"#, #"{"successUrl":7}"#, #"{"tokenId":null,"successUrl":[]}"#])
    func aSuccessThatSaysNothingIsNone(body: String) async throws {
        let bench = try ForgeRockBench([.login, .status(200, [:], body: body)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unreadable && error?.outcome.tokenAction == .keep)
    }

    /// The status is one of refusals, the word is not: nobody knows what became of the step.
    @Test(arguments: [
        Step.status(400, [:], body: #"{"id":"t1","code":"UNEXPECTED_ERROR","message":"m"}"#),
        .status(
            401,
            [:],
            body: #"{"id":"t1","code":"INVALID_DATA","message":"m","details":[{"code":"UNEXPECTED_ERROR"}]}"#
        ),
        .status(400, [:], body: #"{"error":"server_error"}"#),
    ])
    func aFaultOfTheServersIsNoRefusalWhateverTheStatus(step: Step) async throws {
        let bench = try ForgeRockBench([.login, step, .success()])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unavailable && error?.outcome.processed == .unknown)
        #expect(bench.transport.received.count == 2)
    }

    @Test(arguments: [102, 118], [400, 401])
    func aFaultOfTheJourneysAsksForThePasswordAnew(number: Int, status: Int) async throws {
        let bench = try ForgeRockBench([.login, .error(status, "x", number: "\(number)"), .login, .success()])
        let person = Person([.password: "typed"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.password] && bench.sent.last == #"authenticate a1 "ada" "typed""#)
    }

    @Test(arguments: [AM.choice("a"), AM.choice("a", "b"), AM.confirmation("a", "b")])
    func aChoiceThatComesForEverEnds(callback: String) async throws {
        let bench = try ForgeRockBench(Array(repeating: .step(callback), count: 300))
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .stateConflict && error?.reason == .attemptsExhausted)
        #expect(bench.transport.received.count <= 34)
    }

    @Test(arguments: [
        Step.status(403, [:], body: #"{"error":"invalid_grant"}"#), .error(401, "x", number: "102"),
        .status(400, [:], body: #"{"details":[{"rawResponse":{},"code":"INVALID_OTP","attemptsRemaining":0}]}"#),
    ])
    func aPasswordThatWasPresentedAtOnceIsPresentedOnce(step: Step) async throws {
        let bench = try ForgeRockBench([step, .login, .success()])
        _ = try? await bench.skippingWaits {
            try await bench.forgeRock.signIn(
                nil,
                with: JourneyOptions(presentsLoginAtOnce: true),
                identifier: "ada",
                password: "hunter2",
                answering: Person()
            )
        }
        #expect(bench.transport.received.count { $0.request.headerFields[Self.password] != nil } == 1)
        #expect(!bench.sent.contains { $0.contains("hunter2") })
    }

    private struct End {
        var bench: ForgeRockBench
        var result: Result<ForgeRockSession, any Error>
    }

    private static let held = Credentials(accessToken: "A1", refreshToken: "R1", ssoToken: "S1")
    private static let proofs: [Factor.Key] = [
        .password, .newPassword, .totp, .phoneCode, .emailCode, .backupCode, .securityAnswer, .captcha,
    ]

    /// What is not as it was promised.
    ///
    /// - Parameter isAnew: Whether the journey that was begun anew has the proofs of the first.
    private func wrongs(
        _ end: End,
        _ hostile: HostileAnswer,
        _ way: Way,
        at index: Int,
        isAnew: Bool
    ) async throws -> [String] {
        var wrongs: [String] = []
        let (received, stored) = (end.bench.transport.received, try await end.bench.credentials)
        // Whoever is asked if somebody has answered elsewhere is asked every few moments.
        let polls = Int(end.bench.clock.now.offset.components.seconds) * 4
        if received.count > 40 + polls { wrongs.append("\(received.count) requests") }
        switch end.result {
        case .success(let session):
            let isNone = !session.exists && !way.options.skipsSession
            if isNone || (session.exists && stored.ssoToken == nil) { wrongs.append("no session") }
        case .failure(let error):
            if !(error is RecoveryError || error is Challenge.NoAnswer) { wrongs.append("unknown error") }
            if way.upgrades, stored.accessToken != "A1" || stored.refreshToken != "R1" { wrongs.append("cleared") }
        }
        guard hostile.proof != .undone else { return wrongs }
        let texts = received.map { received in
            "\(received.request.path ?? "") \(received.text) \(received.request.headerFields[Self.password] ?? "")"
        }
        var spent = Self.proofs.flatMap { key in (1...9).map { "answer-\(key.rawValue)-\($0)" } }
        spent += (1...9).map { "code=visit-\($0)" } + (isAnew ? [] : (1...4).map { #""authId":"a\#($0)""# })
        // A password that was taken before serves again where a journey has to begin anew.
        if hostile.proof == .nothing, index <= (way.options.presentsLoginAtOnce ? 0 : 1) { spent.append("answer-0") }
        wrongs += spent.filter { proof in texts.count { $0.contains(proof) } > 1 }
        return wrongs
    }

    private static let password = HTTPField.Name("X-OpenAM-Password")!

    private func signIn(_ way: Way, _ steps: [Step]) async throws -> End {
        let bench = try ForgeRockBench(
            steps,
            credentials: way.upgrades ? Self.held : Credentials(),
            authenticator: way.authenticates ? ForgeRockCeremonyTests.Recorder() : nil
        )
        var answers: [Factor.Key: [Challenge.Answer]] = [:]
        for key in Self.proofs + [.text] {
            answers[key] = (1...9).map { .text(Secret("answer-\(key.rawValue)-\($0)")) }
        }
        answers[.redirect] = (1...9).map { .text(Secret("https://app/cb?code=visit-\($0)&state=s1")) }
        let person = Person(answers, choosing: way.choice)
        do {
            let session = try await bench.skippingWaits {
                try await bench.forgeRock.signIn(
                    way.start,
                    with: way.options,
                    identifier: "ada",
                    password: "answer-0",
                    answering: person
                )
            }
            return End(bench: bench, result: .success(session))
        } catch {
            return End(bench: bench, result: .failure(error))
        }
    }
}
