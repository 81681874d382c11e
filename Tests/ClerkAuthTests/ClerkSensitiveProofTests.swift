import AuthRecovery
import AuthSandbox
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Proofs against abuse that are wanted where nobody signs in: behind a request, and in a reverification.
@Suite("Clerk asks for proofs against abuse behind requests")
struct ClerkSensitiveProofTests {
    private typealias Step = ScriptedTransport.Step

    private static let signedIn = Credentials(clientToken: "T0", sessionID: "sess_1")
    private static let environment = Step.status(
        200,
        [:],
        body: #"{"auth_config":{},"user_settings":{},"display_config":{"captcha_public_key":"k"}}"#
    )
    private static let captcha = Step.error("requires_captcha", status: 401)
    private static let solved = "POST /client/verify captcha_token=s&captcha_widget_type=smart"
    private static let done = Step.status(200, [:], body: #"{"response":{"id":"idn_9"},"client":null}"#)
    private static let stepUp = Step.error(
        "session_reverification_required",
        status: 403,
        meta: #"{"reverification":{"level":"first_factor"}}"#
    )

    private static func verification(_ status: String) -> Step {
        let factors = #","supported_first_factors":[\#(ClerkJSON.password)]"#
        return .status(
            200,
            [:],
            body: #"{"response":{"object":"session_verification","status":"\#(status)"\#(factors)},"client":null}"#
        )
    }

    private func bench(_ steps: Step...) throws -> ClerkBench {
        try ClerkBench(steps, credentials: Self.signedIn)
    }

    // MARK: At the sandbox

    /// Whoever has signed in without a captcha is asked for one when a request wants it.
    @Test func aRequestWaitsForACaptcha() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.captcha = "account" })
        _ = try await bench.signIn(SandboxPerson(bench))
        let person = SandboxPerson(bench, [.captcha: ["wrong", "solved"]])
        _ = try await bench.clock.skippingWaits {
            try await bench.clerk.addPhoneNumber("+4930123999", answering: person)
        }
        #expect(person.keys == [.captcha, .captcha] && bench.count("POST client/verify") == 2)
        #expect(bench.count("POST me/phone_numbers") == 2)
        // Nobody to ask: the refusal stands.
        let other = try ClerkSandboxBench(settings: { $0.captcha = "account" })
        _ = try await other.signIn(SandboxPerson(other))
        let error = await #expect(throws: RecoveryError.self) { try await other.clerk.addPhoneNumber("+4930123999") }
        #expect(error?.kind == .challengeRequired && error?.outcome.code == "requires_captcha")
    }

    @Test func aReverificationWaitsForACaptcha() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.captcha = "account" })
        _ = try await bench.signIn(SandboxPerson(bench))
        bench.clock.advance(by: .seconds(700))
        let answers: [Factor.Key: [Secret]] = [.captcha: ["solved"], .password: [ClerkSandboxBench.password]]
        let person = SandboxPerson(bench, answers, choosing: ["password"])
        _ = try await bench.clock.skippingWaits { try await bench.clerk.reverify(.firstFactor, answering: person) }
        #expect(person.keys == [.captcha, .password])
    }

    // MARK: By a script

    /// What a request waits for may be both, and more than once: each is asked for, and nothing else is.
    @Test func aRequestWaitsForACaptchaAndForTheSamePerson() async throws {
        let bench = try bench(
            Self.captcha,
            Self.environment,
            .client(["sess_1"]),
            Self.stepUp,
            .client(["sess_1"]),
            Self.captcha,
            .client(["sess_1"]),
            Self.verification("needs_first_factor"),
            Self.verification("complete"),
            Self.done
        )
        let person = Person([.captcha: [.text("s"), .text("s")], .password: [.text("p")]])
        let response = try await bench.clerk.send(.post, path: "/v1/me/x", answering: person)
        #expect(response.status == .ok && person.keys == [.captcha, .captcha, .password])
        #expect(bench.sent.count { $0 == "POST /me/x" } == 3 && bench.sent.count { $0 == Self.solved } == 2)
        #expect(Set(bench.events.events.map(\.call)).count == 1, "one operation")
    }

    /// A proof goes where the request's sign-in is, or along with the form that begins one.
    @Test func aRequestOfASignInTakesItsProofsWhereItStands() async throws {
        let check = #"{"protect_check":{"status":"pending","token":"c","sdk_url":"https://x"}}"#
        let wanted = Step.error("requires_protect_check", status: 403, meta: check)
        let stands = Step.signIn("needs_second_factor", second: ClerkJSON.totp)
        let within = try bench(wanted, stands, stands)
        let path = "/v1/client/sign_ins/sia_1/prepare_first_factor"
        _ = try await within.clerk.send(.post, path: path, answering: Person([.captcha: "p"]))
        #expect(
            within.sent == [
                "POST /client/sign_ins/sia_1/prepare_first_factor",
                "PATCH /client/sign_ins/sia_1/protect_check proof_token=p",
                "POST /client/sign_ins/sia_1/prepare_first_factor",
            ]
        )
        let creating = try bench(wanted, stands)
        let form: FormFields = ["identifier": "ada"]
        _ = try await creating.clerk.send(
            .post,
            path: "/v1/client/sign_ins",
            body: .form(form),
            answering: Person([.captcha: "p"])
        )
        #expect(creating.sent.last == "POST /client/sign_ins identifier=ada&proof_token=p")
        // Elsewhere there is no place for a proof: the refusal stands, and nobody is asked.
        let elsewhere = try bench(wanted)
        let person = Person([.captcha: "p"])
        let error = await #expect(throws: RecoveryError.self) {
            try await elsewhere.clerk.send(.post, path: "/v1/me/x", answering: person)
        }
        #expect(error?.kind == .challengeRequired && person.keys.isEmpty && elsewhere.sent.count == 1)
    }

    /// What a program proves by itself is asked of nobody.
    @Test func whatTheProgramProvesIsAskedOfNobody() async throws {
        struct Solver: ClerkConfiguration.Proving {
            func captcha() async throws -> ClerkConfiguration.Captcha? { .init(token: "s") }
            func proof(for check: JSONValue) async throws -> Secret? { nil }
        }
        let bench = try ClerkBench(
            [Self.captcha, .client(["sess_1"]), Self.done],
            credentials: Self.signedIn,
            configuration: ClerkConfiguration(proofs: Solver())
        )
        let person = Person()
        _ = try await bench.clerk.send(.post, path: "/v1/me/x", answering: person)
        #expect(bench.sent == ["POST /me/x", Self.solved, "POST /me/x"] && person.keys.isEmpty)
    }

    /// Whatever else is refused is the app's to deal with: nobody is asked for a password because of a request.
    @Test(arguments: [
        ("form_password_incorrect", 422, Outcome.Kind.invalidCredentials),
        ("form_code_incorrect", 422, .challengeIncorrect), ("verification_expired", 400, .challengeExpired),
        ("form_param_format_invalid", 422, .invalidRequest), ("ticket_expired_code", 400, .flowExpired),
    ])
    func otherRefusalsAreTheApps(code: String, status: Int, kind: Outcome.Kind) async throws {
        let bench = try bench(.error(code, status: status, meta: #"{"param_name":"code"}"#))
        let person = Person([.password: "p", .totp: "1"])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.send(.post, path: "/v1/me/x", answering: person)
        }
        #expect(error?.kind == kind && person.keys.isEmpty && bench.sent.count == 1)
    }

    /// What was proved is not wanted again, though something else stands between.
    @Test func aCaptchaBehindAnotherProofDoesNotAskForThatAgain() async throws {
        let bench = try bench(
            Self.stepUp,
            .client(["sess_1"]),
            Self.verification("needs_first_factor"),
            Self.verification("complete"),
            Self.captcha,
            Self.environment,
            .client(["sess_1"]),
            Self.stepUp
        )
        let person = Person([.captcha: [.text("s")], .password: [.text("p"), .text("p")]])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.send(.post, path: "/v1/me/x", answering: person)
        }
        #expect(error?.kind == .stepUpRequired && person.keys == [.password, .captcha])
        #expect(bench.sent.count == 8)
    }

    /// A server that is content with nothing is not asked for ever.
    @Test func aServerThatIsNeverContentEndsIt() async throws {
        let round = [Self.captcha, .client(["sess_1"])]
        let bench = try ClerkBench(
            [Self.captcha, Self.environment, .client(["sess_1"])] + round + round + round + round,
            credentials: Self.signedIn
        )
        let person = Person([.captcha: Array(repeating: Challenge.Answer.text("s"), count: 9)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.send(.post, path: "/v1/me/x", answering: person)
        }
        #expect(error?.outcome.code == "requires_captcha" && person.keys.count == 3)
    }
}
