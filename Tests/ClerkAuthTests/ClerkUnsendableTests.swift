import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// A code that cannot be sent, and a passkey that nobody has, are no end while another factor is there.
@Suite struct ClerkUnsendableTests {
    private static let step = "POST /client/sign_ins/sia_1/"
    private static let passkey = #"{"strategy":"passkey"}"#

    @Test(
        arguments: [
            ("sms_send_error", 400), ("dev_monthly_sms_limit_exceeded", 400), ("unsupported_country_code", 403),
            ("strategy_for_user_invalid", 400),
        ]
    )
    func aTextMessageThatCannotBeSentLeavesTheOtherSecondFactor(code: String, status: Int) async throws {
        let factors = "\(ClerkJSON.phone),\(ClerkJSON.totp)"
        let bench = try ClerkBench([
            .signIn("needs_second_factor", second: factors), .error(code, status: status), .complete(),
        ])
        let person = Person([.totp: "123456"], choosing: .phoneCode)
        _ = try await bench.signIn("hunter2", person)
        #expect(
            bench.sent.dropFirst() == [
                Self.step + "prepare_second_factor strategy=phone_code&phone_number_id=idn_2",
                Self.step + "attempt_second_factor strategy=totp&code=123456",
            ]
        )
        #expect(bench.clock.requestedDelays.isEmpty)
    }

    @Test(arguments: [("dev_monthly_email_limit_exceeded", 400), ("strategy_for_user_invalid", 400)])
    func anEmailThatCannotBeSentLeavesThePassword(code: String, status: Int) async throws {
        let factors = "\(ClerkJSON.email),\(ClerkJSON.password)"
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: factors), .error(code, status: status), .complete(),
        ])
        _ = try await bench.signIn(nil, Person([.password: "hunter2"], choosing: .emailCode))
        #expect(bench.sent.last == Self.step + "attempt_first_factor strategy=password&password=hunter2")
    }

    @Test(arguments: [("no_passkeys_found_for_user", 400), ("passkey_not_registered", 404)])
    func aPasskeyThatNobodyHasLeavesThePassword(code: String, status: Int) async throws {
        let factors = "\(Self.passkey),\(ClerkJSON.password)"
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: factors), .error(code, status: status), .complete(),
        ])
        _ = try await bench.signIn(nil, Person([.password: "hunter2"], choosing: .webauthn))
        #expect(bench.sent.count == 3)
        #expect(bench.sent.last == Self.step + "attempt_first_factor strategy=password&password=hunter2")
    }

    @Test(arguments: [("sms_send_error", 400), ("dev_monthly_sms_limit_exceeded", 400)])
    func withoutAnotherTheRefusalStands(code: String, status: Int) async throws {
        let bench = try ClerkBench([
            .signIn("needs_second_factor", second: ClerkJSON.phone), .error(code, status: status),
        ])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.outcome.code == code && bench.transport.received.count == 2)
    }

    /// What was signed once is not sent again: another challenge is.
    @Test func aSignatureThatIsRefusedIsMadeAnewOnAnotherChallenge() async throws {
        func challenged(_ challenge: String) -> ScriptedTransport.Step {
            let options = #"{\"challenge\":\"\#(challenge)\",\"rpId\":\"example.com\"}"#
            let body = #"""
                {"response":{"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor",\#
                "identifier":"ada@example.com","supported_first_factors":[{"strategy":"passkey"}],\#
                "first_factor_verification":{"status":"unverified","strategy":"passkey","nonce":"\#(options)"}},\#
                "client":null}
                """#
            return .status(200, [:], body: body)
        }
        let authenticator = Authenticator()
        let bench = try ClerkBench(
            [
                .signIn("needs_first_factor", first: Self.passkey), challenged("AQID"),
                .error("passkey_authentication_failure", status: 400), challenged("BAUG"),
                .error("passkey_invalid_verification", status: 400), challenged("BwgJ"), .complete(),
            ],
            configuration: ClerkConfiguration(authenticator: authenticator)
        )
        _ = try await bench.clerk.signIn(identifier: ClerkBench.identifier, answering: Person())
        #expect(authenticator.requests.map(\.challenge) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    }
}
