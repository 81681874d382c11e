import AuthRecovery
import AuthSandbox
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Captchas and proofs against abuse that somebody is asked for.
@Suite("Clerk asks for proofs against abuse") struct ClerkAbuseTests {
    private typealias Step = ScriptedTransport.Step

    private static let newcomer = ClerkSignUpRequest(emailAddress: "new@example.com", password: "correct horse battery")

    /// Solves what the sandbox wants, by what the question says; first answers as told.
    private final class Solver: ChallengeResponder {
        private let bench: ClerkSandboxBench
        private let state: Locked<(answers: [Secret], asked: [Challenge], notices: [Outcome])>

        init(_ bench: ClerkSandboxBench, _ answers: [Secret] = []) {
            self.bench = bench
            state = Locked((answers, [], []))
        }

        var asked: [Challenge] { state.withLock { $0.asked } }
        var notices: [Outcome] { state.withLock { $0.notices } }
        /// What the questions say, as JSON.
        var hints: [JSONValue] { asked.map { ($0.hint.flatMap { try? JSONValue(parsing: $0) }) ?? .null } }

        func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
            let prepared = state.withLock { state -> Secret? in
                guard challenge.key == .captcha else { return nil }
                state.asked.append(challenge)
                return state.answers.isEmpty ? nil : state.answers.removeFirst()
            }
            if let prepared { return .text(prepared) }
            switch challenge.key {
            case .captcha:
                let hint = challenge.hint.flatMap { try? JSONValue(parsing: $0) }
                if challenge.factor.providerName == "protect_check", let token = hint?["token"]?.string {
                    return .text(Secret("proof-of-\(token)"))
                }
                return .text(Secret("solved-\(asked.count)"))
            case .emailCode, .phoneCode: return .text(Secret(bench.code))
            default: throw Challenge.NoAnswer(challenge.key)
            }
        }

        func choose(among factors: [Factor]) async throws -> Factor? { nil }
        func notice(_ outcome: Outcome) async { state.withLock { $0.notices.append(outcome) } }
    }

    private func signUp(_ bench: ClerkSandboxBench, _ person: some ChallengeResponder) async throws {
        _ = try await bench.clock.skippingWaits { try await bench.clerk.signUp(Self.newcomer, answering: person) }
    }

    // MARK: At the sandbox

    @Test func aSignUpsCaptchaIsAskedForWithWhatItsWidgetNeeds() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.captcha = "sign_up" })
        let person = Solver(bench)
        try await signUp(bench, person)
        let forms = bench.forms("POST client/sign_ups")
        #expect(forms.count == 2 && forms.last == forms[0] + "&captcha_token=solved-1&captcha_widget_type=smart")
        #expect(bench.count("GET environment") == 1 && person.asked.count == 1 && person.notices.isEmpty)
        #expect(person.asked.first?.key == .captcha && person.asked.first?.factor.providerName == "captcha")
        #expect(
            person.hints == [
                [
                    "code": "captcha_missing_token", "captcha_provider": "turnstile", "captcha_widget_type": "smart",
                    "captcha_public_key": "sandbox-key", "captcha_public_key_invisible": "sandbox-invisible-key",
                ]
            ]
        )
        let environment = try await bench.clerk.environment().captcha
        #expect(environment?.provider == "turnstile" && environment?.siteKey == "sandbox-key")
        #expect(environment?.isWantedAtSignUp == true && environment?.widgetType == "smart")
        let none = try ClerkSandboxBench()
        #expect(try await none.clerk.environment().captcha == nil)
    }

    @Test func aWrongOrUsedTokenIsAskedForAgainThreeTimesAtMost() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.captcha = "sign_up" })
        let person = Solver(bench, ["wrong-1"])
        try await signUp(bench, person)
        #expect(person.asked.map(\.round) == [1, 2] && person.asked.last?.previousFailure?.code == "captcha_invalid")
        #expect(bench.forms("POST client/sign_ups").last?.contains("captcha_token=solved-2&") == true)
        // A token that was taken is good for nothing more.
        let other = ClerkSignUpRequest(emailAddress: "other@example.com", password: "correct horse battery")
        _ = try await bench.clerk.signOut()
        let second = Solver(bench, ["solved-2", "fresh"])
        _ = try await bench.clock.skippingWaits { try await bench.clerk.signUp(other, answering: second) }
        #expect(second.asked.count == 2)
        let never = try ClerkSandboxBench(settings: { $0.captcha = "sign_up" })
        let stubborn = Solver(never, ["wrong-1", "wrong-2", "wrong-3", "wrong-4"])
        let error = await #expect(throws: RecoveryError.self) { try await signUp(never, stubborn) }
        #expect(stubborn.asked.count == 3 && never.count("POST client/sign_ups") == 4)
        #expect(error?.kind == .challengeIncorrect && error?.outcome.code == "captcha_invalid")
        #expect(error?.remedies == [.solveChallenge, .contactAdmin])
    }

    @Test func aClientProvesItselfBeforeItSignsIn() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.captcha = "always" })
        let person = Solver(bench, [#"{"token":"mine","widget_type":"invisible"}"#])
        #expect(try await bench.signIn(person).status == .active)
        #expect(
            bench.routes == [
                "POST client/sign_ins", "GET environment", "POST client/verify", "POST client/sign_ins",
            ]
        )
        #expect(bench.forms("POST client/verify") == ["captcha_token=mine&captcha_widget_type=invisible"])
        #expect(person.hints.first?["code"] == "requires_captcha")
        _ = try await bench.clerk.signOut()
        #expect(try await bench.signIn(person).status == .active && person.asked.count == 1)
        // A wrong token is refused there, and the sign-in waits on.
        let other = try ClerkSandboxBench(settings: { $0.captcha = "always" })
        let clumsy = Solver(other, ["wrong"])
        #expect(try await other.signIn(clumsy).status == .active)
        #expect(other.count("POST client/sign_ins") == 2 && other.count("POST client/verify") == 2)
        #expect(clumsy.asked.map(\.round) == [1, 2])
    }

    @Test func aCheckIsAskedForWhereverItStands() async throws {
        let bench = try ClerkSandboxBench(
            { $0.statusAfterFirstFactor = "needs_protect_check" },
            settings: {
                $0.protects = ["sign_in", "sign_up", "sign_up_flow"]
                $0.captcha = "sign_up"
            }
        )
        let person = Solver(bench)
        #expect(try await bench.signIn(person).status == .active)
        #expect(
            bench.routes == [
                "POST client/sign_ins", "POST client/sign_ins", "PATCH client/sign_ins/{id}/protect_check",
            ]
        )
        #expect(bench.forms("POST client/sign_ins").last?.contains("&proof_token=proof-of-") == true)
        #expect(person.asked.map(\.factor.providerName) == ["protect_check", "protect_check"])
        #expect(person.hints.map { $0["code"] } == ["requires_protect_check", "needs_protect_check"])
        #expect(person.hints.allSatisfy { $0["sdk_url"]?.string != nil && $0["expires_at"]?.number != nil })
        _ = try await bench.clerk.signOut()
        // A captcha and a proof to begin with, and another proof within.
        let newcomer = Solver(bench)
        try await signUp(bench, newcomer)
        #expect(newcomer.asked.map(\.factor.providerName) == ["captcha", "protect_check", "protect_check"])
        #expect(bench.count("POST client/sign_ups") == 3)
        let last = bench.forms("POST client/sign_ups").last ?? ""
        #expect(last.contains("captcha_token=solved-1") && last.contains("proof_token=proof-of-"))
    }

    @Test func aWrongProofIsAskedForAgain() async throws {
        let bench = try ClerkSandboxBench({ $0.statusAfterFirstFactor = "needs_protect_check" })
        let person = Solver(bench, ["x"])
        #expect(try await bench.signIn(person).status == .active)
        #expect(person.asked.map(\.round) == [1, 2] && bench.count("POST client/sign_ins") == 1)
        #expect(bench.count("PATCH client/sign_ins/{id}/protect_check") == 2)
        let never = try ClerkSandboxBench({ $0.statusAfterFirstFactor = "needs_protect_check" })
        let error = await #expect(throws: RecoveryError.self) {
            try await never.signIn(Solver(never, ["x", "x", "x", "x"]))
        }
        #expect(error?.kind == .challengeIncorrect && never.count("PATCH client/sign_ins/{id}/protect_check") == 3)
    }

    @Test func whoHasNothingIsToldWhatIsMissing() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.captcha = "sign_up" })
        let error = await #expect(throws: RecoveryError.self) { try await signUp(bench, SandboxPerson(bench)) }
        #expect(error?.kind == .challengeRequired && error?.remedies == [.solveChallenge])
        #expect(error?.outcome.details?["code"] == "captcha_missing_token")
        #expect(error?.outcome.details?["captcha_public_key"] == "sandbox-key")
        #expect(bench.routes == ["POST client/sign_ups", "GET environment"])
        // Who closes the widget gets the server's own word.
        let other = try ClerkSandboxBench(settings: { $0.captcha = "sign_up" })
        let declined = await #expect(throws: RecoveryError.self) { try await signUp(other, Solver(other, [""])) }
        #expect(declined?.kind == .challengeRequired && declined?.outcome.code == "captcha_missing_token")
        #expect(declined?.userMessage == "The token of the captcha is missing.")
    }

    /// A check that is too old is not proved: what was to begin gets another, what has begun begins again.
    @Test(arguments: [true, false]) func aCheckThatIsTooOldIsNotProved(isCreation: Bool) async throws {
        let bench = try ClerkSandboxBench(
            { if !isCreation { $0.statusAfterFirstFactor = "needs_protect_check" } },
            settings: { if isCreation { $0.protects = ["sign_in"] } }
        )
        var flow = bench.clerk.signInFlow(.identifier(ClerkSandboxBench.name, password: ClerkSandboxBench.password))
        var proofs: [Secret] = []
        var turn = try await flow.step(.begin)
        for round in 0..<2 {
            guard case .ask(let question) = turn.step else { break }
            let hint = try JSONValue(parsing: #require(question.hint))
            proofs.append(Secret("proof-of-\(hint["token"]?.string ?? "")"))
            if round == 0 { bench.clock.advance(by: .seconds(1000)) }
            turn = try await flow.step(.answer(.text(proofs[round])))
        }
        guard case .finished = turn.step else { throw CancellationError() }
        #expect(proofs.count == 2 && proofs[0] != proofs[1])
        let presented = bench.transport.received.map(\.text).filter { $0.contains("proof_token=") }
        #expect(presented.count == 1 && presented[0].contains(proofs[1].reveal()))
    }

    // MARK: By a script

    private static let environment = Step.status(
        200,
        [:],
        body: #"{"auth_config":{},"user_settings":{},"display_config":{"captcha_public_key":"k"}}"#
    )
    private static let create = "POST /client/sign_ins identifier=ada%40example.com&strategy=password&password="
    private static let check = #"{"protect_check":{"status":"pending","token":"c","sdk_url":"https://x"}}"#

    /// What is refused behind a captcha is the password, which is asked for again.
    @Test func aWrongPasswordBehindACaptchaIsAskedForAgain() async throws {
        let bench = try ClerkBench([
            .error("requires_captcha", status: 401), Self.environment, .client([]), .error("form_password_incorrect"),
            .complete(),
        ])
        let person = Person([.captcha: "s", .password: "right"])
        _ = try await bench.signIn("wrong", person)
        #expect(person.keys == [.captcha, .password])
        #expect(person.questions.last?.previousFailure?.code == "form_password_incorrect")
        #expect(
            bench.sent == [
                Self.create + "wrong", "GET /environment",
                "POST /client/verify captcha_token=s&captcha_widget_type=smart", Self.create + "wrong",
                Self.create + "right",
            ]
        )
    }

    /// Nobody knows how captchas are shown: it is asked all the same.
    @Test func anEnvironmentThatCannotBeReadIsNoEnd() async throws {
        let bench = try ClerkBench([
            .error("captcha_missing_token", status: 400), .status(404), .complete(),
        ])
        let person = Person([.captcha: "s"])
        _ = try await bench.signIn("p", person)
        #expect(person.questions.first?.hint == #"{"code":"captcha_missing_token"}"#)
        #expect(bench.sent.last == Self.create + "p&captcha_token=s&captcha_widget_type=smart")
    }

    /// An answer that was refused unseen is presented behind the proof; what an authenticator shows is asked for anew.
    @Test(arguments: [true, false]) func anAnswerWaitsForAProof(isTOTP: Bool) async throws {
        let factor = isTOTP ? ClerkJSON.totp : ClerkJSON.backup
        let stands = Step.signIn("needs_second_factor", second: factor)
        let bench = try ClerkBench([
            stands, .error("requires_protect_check", status: 403, meta: Self.check), stands, .complete(),
        ])
        let person = Person([.totp: [.text("1"), .text("2")], .backupCode: [.text("1")], .captcha: [.text("p")]])
        _ = try await bench.signIn("p", person)
        let attempt = "POST /client/sign_ins/sia_1/attempt_second_factor strategy="
        #expect(
            bench.sent.dropFirst() == [
                attempt + (isTOTP ? "totp&code=1" : "backup_code&code=1"),
                "PATCH /client/sign_ins/sia_1/protect_check proof_token=p",
                attempt + (isTOTP ? "totp&code=2" : "backup_code&code=1"),
            ]
        )
        #expect(person.keys == (isTOTP ? [.totp, .captcha, .totp] : [.backupCode, .captcha]))
    }

    /// A proof whose answer is lost has arrived, as far as anybody knows: what has waited for it shows that.
    @Test func aProofWhoseAnswerIsLostIsPresentedOnce() async throws {
        let bench = try ClerkBench([
            .error("requires_captcha", status: 401), Self.environment, .fail(.connectionLost, .unknown), .complete(),
        ])
        _ = try await bench.signIn("p", Person([.captcha: "s"]))
        #expect(bench.sent.count == 4 && bench.sent.last == Self.create + "p")
    }

    /// A server that is content with nothing is not asked for ever.
    @Test func aServerThatIsNeverContentEndsIt() async throws {
        let wanted = Step.error("requires_captcha", status: 401)
        let round = [wanted, Step.client([])]
        let bench = try ClerkBench([wanted, Self.environment, .client([])] + round + round + round + round)
        let person = Person([.captcha: Array(repeating: Challenge.Answer.text("s"), count: 9)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("p", person) }
        #expect(error?.outcome.code == "requires_captcha" && person.keys.count == 3)
        // Each time with another check.
        let checks = (0..<20).map {
            Step.error("requires_protect_check", status: 403, meta: #"{"protect_check":{"token":"\#($0)"}}"#)
        }
        let other = try ClerkBench(checks)
        let prover = Person([.captcha: Array(repeating: Challenge.Answer.text("s"), count: 20)])
        await #expect(throws: RecoveryError.self) { try await other.signIn("p", prover) }
        #expect(prover.keys.count < 10 && other.sent.count < 12)
    }

    /// Whoever steps it, as a web backend does, shows the widget in a page and brings what it has given.
    @Test func aTicketThatWaitedForAProofIsPresentedOnce() async throws {
        let bench = try ClerkBench([
            .error("requires_protect_check", status: 403, meta: Self.check), .complete(),
        ])
        var flow = bench.clerk.signInFlow(.ticket("t"))
        guard case .ask(let question) = try await flow.step(.begin).step else { throw CancellationError() }
        #expect(question.key == .captcha && question.hint?.contains(#""sdk_url":"https://x""#) == true)
        guard case .finished = try await flow.step(.answer(.text("p"))).step else { throw CancellationError() }
        #expect(
            bench.sent.map { $0.contains("ticket=t") } == [true, true] && bench.sent[1].hasSuffix("&proof_token=p")
        )
    }
}
