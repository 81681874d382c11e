import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What somebody does about their account, their device and the instance.
@Suite struct ClerkAccountTests {
    private typealias Step = ScriptedTransport.Step

    private static let held = Credentials(clientToken: "T0", sessionID: "sess_1")

    private func answer(_ response: String) -> Step {
        .status(200, [:], body: #"{"response":\#(response),"client":null}"#)
    }

    // MARK: The device

    @Test func aDeviceIsForgotten() async throws {
        let gone = Step.status(200, ["authorization": ""], body: #"{"response":null,"client":null}"#)
        let bench = try ClerkBench([gone], credentials: Self.held)
        try await bench.clerk.forgetDevice()
        #expect(bench.sent == ["DELETE /client"])
        #expect(try await bench.credentials == Credentials())
        // Without a token there is nobody to tell.
        try await bench.clerk.forgetDevice()
        #expect(bench.sent.count == 1)
    }

    @Test(arguments: [("signed_out", 401), ("client_not_found", 400), ("resource_not_found", 404), ("brand_new", 401)])
    func aTokenThatIsRefusedIsGivenUp(code: String, status: Int) async throws {
        let bench = try ClerkBench([.error(code, status: status)], credentials: Self.held)
        try await bench.clerk.forgetDevice()
        #expect(try await bench.credentials == Credentials())
    }

    @Test func withoutAnAnswerEverythingIsKept() async throws {
        for failure in [Step.status(500), .fail(.cannotConnect, .neverSent)] {
            let bench = try ClerkBench(Array(repeating: failure, count: 5), credentials: Self.held)
            await #expect(throws: RecoveryError.self) {
                try await bench.skippingWaits { try await bench.clerk.forgetDevice() }
            }
            #expect(try await bench.credentials == Self.held)
        }
    }

    // MARK: Factors

    @Test func anAuthenticatorIsSetUpAndTakenAway() async throws {
        let bench = try ClerkBench(
            [
                answer(#"{"object":"totp","secret":"ABC","uri":"otpauth://x"}"#),
                answer(#"{"object":"totp","verified":true,"backup_codes":["b1","b2"]}"#),
                answer(#"{"object":"backup_code","codes":["c1"]}"#), answer(#"{"object":"totp","deleted":true}"#),
            ],
            credentials: Self.held
        )
        let totp = try await bench.clerk.createTOTP()
        #expect(totp.secret == "ABC" && totp.uri == "otpauth://x")
        #expect(try await bench.clerk.verifyTOTP(code: "123456") == ["b1", "b2"])
        #expect(try await bench.clerk.createBackupCodes() == ["c1"])
        try await bench.clerk.removeTOTP()
        #expect(
            bench.sent == [
                "POST /me/totp", "POST /me/totp/attempt_verification code=123456", "POST /me/backup_codes",
                "DELETE /me/totp",
            ]
        )
        let paths = bench.transport.received.compactMap(\.request.path)
        #expect(paths.allSatisfy { $0.contains("_clerk_session_id=sess_1") })
    }

    @Test func aNumberIsAddedProvedReservedAndTakenAway() async throws {
        let phone = answer(#"{"object":"phone_number","id":"idn_9"}"#)
        let bench = try ClerkBench(Array(repeating: phone, count: 5), credentials: Self.held)
        let id = try await bench.clerk.addPhoneNumber("+4930123999")
        #expect(id == "idn_9")
        #expect(try await bench.clerk.verifyPhoneNumber(id, code: "1", forSecondFactor: true) == [])
        try await bench.clerk.removePhoneNumber(id)
        #expect(
            bench.sent == [
                "POST /me/phone_numbers phone_number=%2B4930123999",
                "POST /me/phone_numbers/idn_9/prepare_verification strategy=phone_code",
                "POST /me/phone_numbers/idn_9/attempt_verification code=1",
                "PATCH /me/phone_numbers/idn_9 reserved_for_second_factor=true", "DELETE /me/phone_numbers/idn_9",
            ]
        )
    }

    @Test func anAddressIsAddedProvedMadePrimaryAndTakenAway() async throws {
        let address = answer(#"{"object":"email_address","id":"idn/9"}"#)
        let bench = try ClerkBench(Array(repeating: address, count: 5), credentials: Self.held)
        let id = try await bench.clerk.addEmailAddress("ada+1@example.org")
        #expect(id == "idn/9")
        try await bench.clerk.verifyEmailAddress(id, code: "1")
        try await bench.clerk.makePrimary(emailAddress: id)
        try await bench.clerk.removeEmailAddress(id)
        #expect(
            bench.sent == [
                "POST /me/email_addresses email_address=ada%2B1%40example.org",
                "POST /me/email_addresses/idn%2F9/prepare_verification strategy=email_code",
                "POST /me/email_addresses/idn%2F9/attempt_verification code=1",
                "PATCH /me primary_email_address_id=idn%2F9", "DELETE /me/email_addresses/idn%2F9",
            ]
        )
    }

    /// What a server may leave out: without an id it cannot be named, without a verification it is not proved.
    @Test(arguments: [
        (#"{"email_addresses":[{"id":"i","email_address":"a@b"}],"primary_email_address_id":"i"}"#, ["a@b false true"]),
        (
            #"{"email_addresses":[{"email_address":"a@b"},7,{"id":"i","verification":{"status":"verified"}}]}"#,
            [" true false"]
        ),
        (#"{"email_addresses":"x"}"#, []), ("{}", []), ("[]", []),
    ])
    func whatThereIsIsRead(user: String, listed: [String]) async throws {
        let bench = try ClerkBench([answer(user)], credentials: Self.held)
        let contacts = try await bench.clerk.emailAddresses()
        #expect(contacts.map { "\($0.address) \($0.isVerified) \($0.isPrimary)" } == listed)
    }

    @Test func aPasskeyIsMadeAndTakenAway() async throws {
        let options = #"{\"challenge\":\"AQID\",\"rp\":{\"id\":\"example.com\"},\"user\":{\"id\":\"AQ\"}}"#
        let made = answer(
            #"{"object":"passkey","id":"psk_1","verification":{"status":"unverified","nonce":"\#(options)"}}"#
        )
        let bench = try ClerkBench(
            [made, answer(#"{"object":"passkey","id":"psk_1"}"#), answer(#"{"deleted":true}"#)],
            credentials: Self.held,
            configuration: ClerkConfiguration(authenticator: Authenticator())
        )
        #expect(try await bench.clerk.createPasskey() == "psk_1")
        let form = FormFields(parsing: bench.transport.received[1].body)
        let credential = try JSONValue(parsing: try #require(form["public_key_credential"].first).reveal())
        #expect(credential["id"] == "BAU" && credential["response"]?["attestationObject"] == "AQI")
        try await bench.clerk.removePasskey("psk_1")
        let paths = bench.sent.map {
            $0.prefix { $0 != " " } + " " + ($0.split(separator: " ").dropFirst().first ?? "")
        }
        #expect(
            paths == ["POST /me/passkeys", "POST /me/passkeys/psk_1/attempt_verification", "DELETE /me/passkeys/psk_1"]
        )
        for authenticator in [nil, Authenticator(.unsupported())] {
            let without = try ClerkBench(
                [made],
                credentials: Self.held,
                configuration: ClerkConfiguration(authenticator: authenticator)
            )
            let error = await #expect(throws: RecoveryError.self) { try await without.clerk.createPasskey() }
            #expect(error?.kind == .factorUnavailable && without.sent.count == (authenticator == nil ? 0 : 1))
        }
    }

    @Test func whatIsSpentInASessionIsNotSentAgainOnDoubt() async throws {
        let bench = try ClerkBench([.fail(.connectionLost, .unknown)], credentials: Self.held)
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.verifyTOTP(code: "1") }
        #expect(error?.reason == .processedUnknown && bench.sent.count == 1)
    }

    /// Whoever's session it is, as Clerk has told: their lockout holds for what is spent in it, and for nothing else.
    @Test func aLockoutHoldsForWhatIsSpent() async throws {
        let locked = Step.error("user_locked", status: 403, meta: #"{"lockout_expires_in_seconds":600}"#)
        let bench = try ClerkBench([.client(["sess_1"]), locked, answer("{}")], credentials: Self.held)
        _ = try await bench.clerk.currentClient()
        for _ in 0..<2 {
            let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.verifyTOTP(code: "1") }
            #expect(error?.kind == .accountLocked)
        }
        #expect(bench.sent == ["GET /client", "POST /me/totp/attempt_verification code=1"])
        #expect(await bench.clerk.lockouts.lockout(of: ClerkBench.identifier) == .remaining(.seconds(600)))
        _ = try await bench.clerk.send(path: "/v1/me")
        #expect(bench.sent.count == 3)
    }

    @Test func aLockoutHoldsForATicketAndAPasskey() async throws {
        let locked = Step.error("user_locked", status: 403, meta: #"{"lockout_expires_in_seconds":600}"#)
        let bench = try ClerkBench([locked])
        for _ in 0..<2 {
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.clerk.signIn(ticket: "t", answering: Person())
            }
            #expect(error?.kind == .accountLocked)
        }
        #expect(bench.sent.count == 1)
    }

    // MARK: Forms

    @Test func severalFieldErrorsAreAMap() {
        let entry = { (code: String, field: String, text: String) in
            #"{"code":"\#(code)","message":"m","long_message":"\#(text)","meta":{"param_name":"\#(field)"}}"#
        }
        let errors = [
            entry("form_password_length_too_short", "password", "Too short."),
            entry("form_password_no_number", "password", "No number."),
            entry("form_param_format_invalid", "email_address", "No address."),
        ]
        let body = #"{"errors":[\#(errors.joined(separator: ","))]}"#
        let outcome = Clerked(body: body, path: "/v1/client/sign_ups").outcome
        #expect(outcome.code == "form_password_length_too_short" && outcome.parameter == "password")
        #expect(
            outcome.clerkFieldMessages == ["password": "Too short. No number.", "email_address": "No address."]
        )
        let single = Clerked(body: #"{"errors":[\#(errors[2])]}"#).outcome
        #expect(single.clerkFieldMessages == ["email_address": "No address."])
        #expect(Clerked(body: Clerked.error("internal_clerk_error")).outcome.clerkFieldMessages.isEmpty)
    }

    @Test func theConsentIsAskedForWhereItIsMissing() async throws {
        let done = #"{"object":"sign_up_attempt","id":"sua_1","status":"complete","created_session_id":"sess_1"}"#
        let bench = try ClerkBench([
            .error("legal_not_accepted"),
            .status(200, [:], body: #"{"response":\#(done),"client":\#(ClerkJSON.client(["sess_1"]))}"#),
        ])
        let person = Person([.text: "yes"])
        _ = try await bench.clerk.signUp(ClerkSignUpRequest(emailAddress: "a@b"), answering: person)
        #expect(person.questions.map(\.prompt) == ["Do you accept the terms of service (yes or no)?"])
        #expect(
            bench.sent == [
                "POST /client/sign_ups email_address=a%40b",
                "POST /client/sign_ups email_address=a%40b&legal_accepted=true",
            ]
        )
    }

    // MARK: The instance

    @Test func theEnvironmentIsReadOnce() async throws {
        let body = """
            {"auth_config":{"single_session_mode":true,"native_settings":{"api_enabled":true}},\
            "user_settings":{"sign_up":{"mode":"waitlist","legal_consent_enabled":true},"social":{"oauth_google":\
            {"enabled":true,"strategy":"oauth_google"},"oauth_x":{"enabled":false}},"attack_protection":\
            {"user_lockout":{"enabled":true,"max_attempts":10,"duration_in_minutes":60}}},"maintenance_mode":false}
            """
        let bench = try ClerkBench([.status(200, [:], body: "{}"), .status(200, [:], body: body)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.environment() }
        #expect(error?.kind == .unreadable)
        let environment = try await bench.clerk.environment()
        #expect(environment.signUpMode == "waitlist" && environment.wantsLegalConsent && environment.isSingleSession)
        #expect(environment.socialStrategies == ["oauth_google"] && environment.servesNativeClients)
        #expect(environment.lockoutThreshold == 10 && environment.lockoutDuration == .seconds(3600))
        #expect(try await bench.clerk.environment() == environment)
        #expect(bench.sent == ["GET /environment", "GET /environment"])
    }

    @Test(arguments: ["-9223372036854775808", "-1", "-1e99", "1e99"])
    func aLockoutOfAnyLengthIsRead(minutes: String) async throws {
        let body = """
            {"user_settings":{"attack_protection":{"user_lockout":\
            {"enabled":true,"max_attempts":\(minutes),"duration_in_minutes":\(minutes)}}}}
            """
        let bench = try ClerkBench([.status(200, [:], body: body)])
        let duration = try #require(try await bench.clerk.environment().lockoutDuration)
        #expect(duration >= .zero && duration <= .longest)
    }

    @Test func somebodyJoinsTheWaitlist() async throws {
        let bench = try ClerkBench([
            .status(200, [:], body: #"{"object":"waitlist_entry","id":"wle_1"}"#),
            .error("waitlist_not_accepting_entries", status: 403),
        ])
        #expect(try await bench.clerk.joinWaitlist(emailAddress: "a@b") == "wle_1")
        #expect(bench.sent == ["POST /waitlist email_address=a%40b"])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.joinWaitlist(emailAddress: "a@b")
        }
        #expect(error?.kind == .permissionDenied && error?.userMessage == "l")
    }

    // MARK: Proofs against abuse

    private struct Prover: ClerkConfiguration.Proving {
        var captchaToken: Secret?
        var proofToken: Secret?

        func captcha() async throws -> ClerkConfiguration.Captcha? {
            captchaToken.map { ClerkConfiguration.Captcha(token: $0) }
        }

        func proof(for check: JSONValue) async throws -> Secret? { check["token"] == "c" ? proofToken : nil }
    }

    @Test func aCaptchaIsSolvedAndTheCallGoesOutAgainOnce() async throws {
        let wanted = Step.error("requires_captcha", status: 401)
        let configuration = ClerkConfiguration(proofs: Prover(captchaToken: "solved"))
        let bench = try ClerkBench([wanted, .client([]), .complete()], configuration: configuration)
        _ = try await bench.signIn()
        #expect(bench.sent[1] == "POST /client/verify captcha_token=solved&captcha_widget_type=smart")
        #expect(bench.sent.count == 3 && bench.sent[0] == bench.sent[2])
        let endless = try ClerkBench([wanted, .client([]), wanted], configuration: configuration)
        let error = await #expect(throws: RecoveryError.self) { try await endless.signIn() }
        #expect(error?.kind == .challengeRequired && endless.sent.dropFirst(3) == ["GET /environment"])
        let unsolved = try ClerkBench([wanted], configuration: ClerkConfiguration(proofs: Prover()))
        let second = await #expect(throws: RecoveryError.self) { try await unsolved.signIn() }
        #expect(second?.kind == .challengeRequired && unsolved.sent.dropFirst() == ["GET /environment"])
    }

    /// Nothing says which of the two Clerk looks at first: a creation brings both in the end, whichever is missed first.
    @Test(arguments: [true, false]) func aCaptchaAndAProofComeInEitherOrder(captchaIsFirst: Bool) async throws {
        let check = #"{"protect_check":{"status":"pending","token":"c","sdk_url":"https://x"}}"#
        let captcha = Step.error("captcha_missing_token", status: 400)
        let proof = Step.error("requires_protect_check", status: 403, meta: check)
        let bench = try ClerkBench(
            (captchaIsFirst ? [captcha, proof] : [proof, captcha]) + [.complete()],
            configuration: ClerkConfiguration(proofs: Prover(captchaToken: "solved", proofToken: "p"))
        )
        _ = try await bench.signIn()
        let (solved, proved) = ("&captcha_token=solved&captcha_widget_type=smart", "&proof_token=p")
        #expect(bench.sent.count == 3)
        #expect(bench.sent.allSatisfy { $0.hasPrefix(bench.sent[0]) })
        #expect(bench.sent[1] == bench.sent[0] + (captchaIsFirst ? solved : proved))
        #expect(bench.sent[2] == bench.sent[0] + (captchaIsFirst ? solved + proved : proved + solved))
    }

    @Test func aProtectionsProofIsPresented() async throws {
        let check = #"{"status":"pending","token":"c","sdk_url":"https://x"}"#
        let signIn =
            #"{"object":"sign_in_attempt","id":"sia_1","status":"needs_protect_check","protect_check":\#(check)}"#
        let configuration = ClerkConfiguration(proofs: Prover(proofToken: "p"))
        let bench = try ClerkBench([answer(signIn), .complete()], configuration: configuration)
        _ = try await bench.signIn()
        #expect(bench.sent.last == "PATCH /client/sign_ins/sia_1/protect_check proof_token=p")
        let endless = try ClerkBench([answer(signIn), answer(signIn)], configuration: configuration)
        let error = await #expect(throws: RecoveryError.self) { try await endless.signIn() }
        #expect(error?.kind == .challengeRequired && endless.sent.count == 2)
        // Whatever its status says.
        let beside =
            #"{"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor","protect_check":\#(check)}"#
        let other = try ClerkBench([answer(beside), .complete()], configuration: configuration)
        _ = try await other.signIn()
        #expect(other.sent.last == "PATCH /client/sign_ins/sia_1/protect_check proof_token=p")
        let byError = try ClerkBench(
            [
                .signIn("needs_second_factor", second: ClerkJSON.totp),
                .error("requires_protect_check", status: 403, meta: #"{"protect_check":\#(check)}"#),
                .signIn("needs_second_factor", second: ClerkJSON.totp), .complete(),
            ],
            configuration: configuration
        )
        _ = try await byError.signIn("hunter2", Person([.totp: "1"]))
        #expect(
            byError.sent.suffix(3) == [
                "POST /client/sign_ins/sia_1/attempt_second_factor strategy=totp&code=1",
                "PATCH /client/sign_ins/sia_1/protect_check proof_token=p",
                "POST /client/sign_ins/sia_1/attempt_second_factor strategy=totp&code=1",
            ]
        )
    }
}
