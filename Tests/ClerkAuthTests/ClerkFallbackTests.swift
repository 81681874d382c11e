import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Compromised and expired passwords, second factors, new devices and new passwords.
@Suite struct ClerkFallbackTests {
    private let create = "POST /client/sign_ins identifier=ada%40example.com"
    private let withPassword = "POST /client/sign_ins identifier=ada%40example.com&strategy=password&password=hunter2"
    private let step = "POST /client/sign_ins/sia_1/"

    @Test func aCompromisedPasswordBecomesACodeByEmailAndThenANewPassword() async throws {
        let factors = "\(ClerkJSON.password),\(ClerkJSON.phone),\(ClerkJSON.email)"
        let bench = try ClerkBench([
            .error("form_password_compromised"), .signIn("needs_first_factor", first: factors),
            .signIn("needs_first_factor", first: factors), .signIn("needs_new_password"), .complete(),
        ])
        let person = Person([.emailCode: "424242", .newPassword: "c0rrect horse"])
        #expect(try await bench.signIn("hunter2", person).id == "sess_1")
        #expect(
            bench.sent == [
                withPassword, create, step + "prepare_first_factor strategy=email_code&email_address_id=idn_1",
                step + "attempt_first_factor strategy=email_code&code=424242",
                step + "reset_password password=c0rrect+horse",
            ]
        )
        #expect(person.keys == [.emailCode, .newPassword])
        // Told once, before anything is asked.
        #expect(person.notices == [.passwordCompromised] && person.told == ["notice", "email_code", "new_password"])
        let words = bench.events.words.filter { $0.hasPrefix("fallback") || $0.hasPrefix("challenge") }
        #expect(words == ["fallback password email_code", "challenge email_code", "challenge new_password"])
    }

    @Test func theSignInThatTheRefusalCarriesSavesACreate() async throws {
        let left = ClerkJSON.signIn("needs_first_factor", first: "\(ClerkJSON.password),\(ClerkJSON.email)")
        for top in [
            #","meta":{"client":\#(ClerkJSON.client([], signIn: left))}"#,
            #","client":\#(ClerkJSON.client([], signIn: left))"#,
        ] {
            let bench = try ClerkBench([
                .error("form_password_compromised", top: top), .signIn("needs_first_factor", first: ClerkJSON.email),
                .complete(),
            ])
            _ = try await bench.signIn("hunter2", Person([.emailCode: "424242"]))
            #expect(bench.sent.map { $0.split(separator: " ")[1] }.count == 3)
            #expect(bench.sent.filter { $0.hasPrefix(create) }.count == 1)
        }
    }

    @Test func aPasswordThatProvesCompromisedAtTheAttemptFallsBackWithinTheSameSignIn() async throws {
        let factors = "\(ClerkJSON.password),\(ClerkJSON.email)"
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: factors), .error("form_password_compromised"),
            .signIn("needs_first_factor", first: factors), .complete(),
        ])
        let person = Person([.password: "hunter2", .emailCode: "424242"])
        _ = try await bench.signIn(nil, person)
        #expect(
            bench.sent == [
                create, step + "attempt_first_factor strategy=password&password=hunter2",
                step + "prepare_first_factor strategy=email_code&email_address_id=idn_1",
                step + "attempt_first_factor strategy=email_code&code=424242",
            ]
        )
    }

    @Test func afterARestartACompromisedPasswordIsNotSentAgain() async throws {
        let factors = "\(ClerkJSON.password),\(ClerkJSON.email)"
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: factors)
        let bench = try ClerkBench([
            .error("form_password_compromised"), first, first, .signIn("abandoned"), first, first, .complete(),
        ])
        let person = Person([.emailCode: [.text("1"), .text("2")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.sent.filter { $0.contains("hunter2") }.count == 1)
        #expect(person.keys == [.emailCode, .emailCode], "nor is the person asked for it again")
    }

    @Test func theFallbackCanBeSwitchedOff() async throws {
        let bench = try ClerkBench([.error("form_password_compromised")])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", options: SignInOptions(compromisedPasswordFallback: []))
        }
        #expect(error?.kind == .passwordCompromised)
        #expect(error?.remedies.first == .switchFactor)
        #expect(bench.transport.received.count == 1)
    }

    @Test func whereNoAllowedFactorIsOfferedTheRefusalStands() async throws {
        let bench = try ClerkBench([
            .error("form_password_compromised"), .signIn("needs_first_factor", first: ClerkJSON.password),
        ])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .passwordCompromised)
        #expect(bench.transport.received.count == 2)
    }

    @Test func aPasswordThatHasToBeResetIsResetByCode() async throws {
        let factors = "\(ClerkJSON.password),\(ClerkJSON.email),\(ClerkJSON.resetEmail)"
        let bench = try ClerkBench([
            .error("password_reset_required"), .signIn("needs_first_factor", first: factors),
            .signIn("needs_first_factor", first: factors), .signIn("needs_new_password"), .complete(),
        ])
        let person = Person([.emailCode: "424242", .newPassword: "new"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.notices == [.passwordExpired] && person.told == ["notice", "email_code", "new_password"])
        let strategy = "strategy=reset_password_email_code"
        #expect(
            bench.sent.dropFirst(2) == [
                step + "prepare_first_factor \(strategy)&email_address_id=idn_1",
                step + "attempt_first_factor \(strategy)&code=424242", step + "reset_password password=new",
            ]
        )
    }

    @Test(arguments: [
        (ClerkJSON.totp, Factor.Key.totp, "totp"), (ClerkJSON.backup, .backupCode, "backup_code"),
    ])
    func aSecondFactorIsAttemptedAtOnce(factor: String, key: Factor.Key, strategy: String) async throws {
        let bench = try ClerkBench([.signIn("needs_second_factor", second: factor), .complete()])
        let person = Person([key: "123456"])
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.sent == [withPassword, step + "attempt_second_factor strategy=\(strategy)&code=123456"])
    }

    @Test(
        arguments: [
            (ClerkJSON.email, Factor.Key.emailCode, "email_code", "email_address_id=idn_1"),
            (ClerkJSON.phone, .phoneCode, "phone_code", "phone_number_id=idn_2"),
        ],
        ["needs_second_factor", "needs_client_trust"]
    )
    func aCodeAsSecondFactorOrForANewDeviceIsPreparedFirst(
        factor: (json: String, key: Factor.Key, strategy: String, id: String),
        status: String
    ) async throws {
        let bench = try ClerkBench([
            .signIn(status, second: factor.json), .signIn(status, second: factor.json), .complete(),
        ])
        _ = try await bench.signIn("hunter2", Person([factor.key: "424242"]))
        #expect(
            bench.sent == [
                withPassword, step + "prepare_second_factor strategy=\(factor.strategy)&\(factor.id)",
                step + "attempt_second_factor strategy=\(factor.strategy)&code=424242",
            ]
        )
    }

    @Test func fromATOTPThePersonCanGoToABackupCode() async throws {
        let second = "\(ClerkJSON.totp),\(ClerkJSON.backup)"
        let bench = try ClerkBench([
            .signIn("needs_second_factor", second: second), .error("form_code_incorrect"), .complete(),
        ])
        let person = Person([.totp: [.text("1"), .useAnotherFactor], .backupCode: [.text("b")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.totp, .totp, .backupCode])
        #expect(bench.sent.last == step + "attempt_second_factor strategy=backup_code&code=b")
    }

    @Test func aFactorThatTheUserDoesNotHaveIsReplacedByAnother() async throws {
        let second = "\(ClerkJSON.totp),\(ClerkJSON.backup)"
        let bench = try ClerkBench([
            .signIn("needs_second_factor", second: second), .error("strategy_for_user_invalid", status: 400),
            .complete(),
        ])
        _ = try await bench.signIn("hunter2", Person([.totp: "1", .backupCode: "b"]))
        #expect(bench.events.words.contains("fallback totp backup_code"))
    }

    @Test(arguments: ["form_password_pwned", "form_password_length_too_short", "form_password_not_strong_enough"])
    func aNewPasswordAgainstThePolicyIsAskedForAgain(code: String) async throws {
        let bench = try ClerkBench([
            .signIn("needs_new_password"), .error(code, meta: #"{"param_name":"password"}"#), .complete(),
        ])
        let person = Person([.newPassword: [.text("weak"), .text("str0ng")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(
            bench.sent.dropFirst() == [
                step + "reset_password password=weak", step + "reset_password password=str0ng",
            ]
        )
        // A status without a reason: that the password has to be changed is told before the new one is asked for.
        #expect(person.notices == [.passwordExpired, .passwordRejected])
        #expect(person.told == ["notice", "new_password", "notice", "new_password"])
        #expect(person.questions.map { $0.previousFailure?.kind } == [nil, .passwordRejected])
        #expect(person.questions.last?.previousFailure?.userMessage == "l")
    }

    @Test(arguments: [
        ("a***@example.com", "a***@example.com"), ("ada@example.com", "a•••@example.com"), ("@", "•••@"),
        ("+15551234567", "•••67"), ("55", "•••"), ("", "•••"),
    ])
    func whereACodeGoesIsShownMasked(safe: String, shown: String) async throws {
        let email = #"{"strategy":"email_code","email_address_id":"idn_1","safe_identifier":"\#(safe)"}"#
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: email)
        let bench = try ClerkBench([first, first, .complete()])
        let person = Person([.emailCode: "1"])
        _ = try await bench.signIn(nil, person)
        #expect(person.questions.first?.factor.destination == shown)
    }

    @Test func ofTwoAddressesTheDefaultOneIsTaken() async throws {
        let two = (1...2).map { number in
            #"{"strategy":"email_code","email_address_id":"idn_\#(number)","default":false,"primary":\#(number == 2)}"#
        }
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: two.joined(separator: ","))
        let bench = try ClerkBench([first, first, .complete()])
        _ = try await bench.signIn(nil, Person([.emailCode: "1"]))
        #expect(bench.sent[1].hasSuffix("email_address_id=idn_2"))
    }

    @Test func aSessionThatExistsIsUsed() async throws {
        for code in ["session_exists", "identifier_already_signed_in"] {
            let bench = try ClerkBench([.error(code, status: 400), .client(["sess_5"])])
            #expect(try await bench.signIn().id == "sess_5")
            #expect(bench.sent == [withPassword, "GET /client"])
            #expect(try await bench.credentials.sessionID == "sess_5")
        }
    }

    @Test func theSessionThatTheRefusalNamesIsUsed() async throws {
        let bench = try ClerkBench([
            .error("identifier_already_signed_in", status: 400, meta: #"{"session_id":"sess_4"}"#),
            .client(["sess_4", "sess_5"]),
        ])
        #expect(try await bench.signIn().id == "sess_4")
    }

    @Test func aSessionOfAnotherPersonIsNotPassedOffAsTheirs() async throws {
        let bench = try ClerkBench([.error("session_exists", status: 400), .client(["sess_5"])])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(identifier: "grace@example.com", password: "p", answering: Person())
        }
        #expect(error?.kind == .alreadySignedIn)
        #expect(error?.remedies == [.useExistingSession])
        #expect(try await bench.credentials.sessionID == nil)
    }

    @Test(arguments: ["ended", "expired", "removed", "replaced", "revoked", "abandoned", "", "new_status"])
    func aSessionThatIsOverIsNotUsed(status: String) async throws {
        let bench = try ClerkBench([.error("session_exists", status: 400), .client(["sess_5"], status: status)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .alreadySignedIn)
    }
}
