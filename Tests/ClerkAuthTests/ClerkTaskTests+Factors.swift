import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A second factor is set up.
extension ClerkTaskTests {
    @Test func anAuthenticatorIsSetUpAndItsBackupCodesAreShownOnce() async throws {
        let uri = "otpauth://totp/x?secret=ABC"
        let bench = try ClerkBench([
            Self.complete("setup-mfa"), Self.silent, Self.user,
            Self.answer(#"{"object":"totp","secret":"ABC","uri":"\#(uri)"}"#),
            .error("form_code_incorrect", meta: #"{"param_name":"code"}"#),
            Self.answer(#"{"object":"totp","verified":true,"backup_codes":["b1","b2"]}"#), Self.touched(),
        ])
        let person = ShownPerson([.totp: [.text("1"), .text("2")]])
        let session = try await bench.clerk.signIn(
            identifier: ClerkBench.identifier,
            password: "hunter2",
            answering: person
        )
        #expect(session.status == .active)
        #expect(person.setups == [Secret(uri), Secret(uri)] && person.shown == [Secret("b1\nb2")])
        #expect(
            bench.sent.dropFirst() == [
                "GET /environment", "GET /me", "POST /me/totp", "POST /me/totp/attempt_verification code=1",
                "POST /me/totp/attempt_verification code=2", Self.touch,
            ]
        )
    }

    @Test func aNumberIsProvedAndReserved() async throws {
        let phone = Self.answer(#"{"object":"phone_number","id":"idn_9"}"#)
        let bench = try ClerkBench([
            Self.complete("setup-mfa"), .error("brand_new_code", status: 403), Self.user, phone, phone, phone,
            phone,
            Self.touched(),
        ])
        let person = Person([.phoneNumber: "+4930123999", .phoneCode: "424242"], choosing: .phoneNumber)
        #expect(try await bench.signIn("hunter2", person).status == .active)
        #expect(
            bench.sent.dropFirst(3) == [
                "POST /me/phone_numbers phone_number=%2B4930123999",
                "POST /me/phone_numbers/idn_9/prepare_verification strategy=phone_code",
                "POST /me/phone_numbers/idn_9/attempt_verification code=424242",
                "PATCH /me/phone_numbers/idn_9 reserved_for_second_factor=true", Self.touch,
            ]
        )
    }

    /// The code is asked for again, and not sent again, when its message has had time to leave.
    @Test func aMessageThatIsNotSentYetIsWaitedFor() async throws {
        let phone = Self.answer(#"{"object":"phone_number","id":"idn_9"}"#)
        let bench = try ClerkBench([
            Self.complete("setup-mfa"), .error("brand_new_code", status: 403), Self.user, phone, phone,
            .error("sms_verification_not_yet_sent", status: 400), phone, phone, Self.touched(),
        ])
        let person = Person(
            [.phoneNumber: [.text("+4930123999")], .phoneCode: [.text("1"), .text("2")]],
            choosing: .phoneNumber
        )
        #expect(try await bench.signIn("hunter2", person).status == .active)
        #expect(
            bench.sent.dropFirst(4) == [
                "POST /me/phone_numbers/idn_9/prepare_verification strategy=phone_code",
                "POST /me/phone_numbers/idn_9/attempt_verification code=1",
                "POST /me/phone_numbers/idn_9/attempt_verification code=2",
                "PATCH /me/phone_numbers/idn_9 reserved_for_second_factor=true", Self.touch,
            ]
        )
        #expect(bench.clock.requestedDelays.contains(.seconds(3)))
    }

    @Test func aNumberThatIsProvedAlreadyIsReservedAtOnce() async throws {
        let user = Self.answer(
            #"{"id":"user_1","phone_numbers":[{"id":"idn_7","phone_number":"+4930123456","verification":{"status":"verified"}}]}"#
        )
        let bench = try ClerkBench([
            Self.complete("setup-mfa"), Self.silent, user, Self.answer(#"{"id":"idn_7"}"#), Self.touched(),
        ])
        let person = Person([Factor.Key: Secret](), choosing: .phoneNumber)
        #expect(try await bench.signIn("hunter2", person).status == .active)
        #expect(bench.sent.dropFirst(3).first == "PATCH /me/phone_numbers/idn_7 reserved_for_second_factor=true")
    }

    @Test(
        arguments: [
            (["authenticator_app", "backup_code"], ["totp"]), (["phone_number"], ["phone_number"]),
            (["authenticator_app", "phone_number"], ["totp", "phone_number"]), (["backup_code", "email_address"], nil),
        ] as [([String], [String]?)]
    )
    func onlyWhatTheInstanceHasCanBeSetUp(attributes: [String], offered: [String]?) async throws {
        let list = attributes.map {
            #""\#($0)":{"enabled":true,"used_for_second_factor":true,\#(Self.strategies[$0] ?? "")}"#
        }
        let environment = #"{"user_settings":{"attributes":{\#(list.joined(separator: ","))}}}"#
        let bench = try ClerkBench([Self.complete("setup-mfa"), .status(200, [:], body: environment), Self.user])
        var flow = bench.clerk.signInFlow(.identifier(ClerkBench.identifier, password: "hunter2"))
        guard let offered else {
            let error = await #expect(throws: RecoveryError.self) { try await flow.step(.begin) }
            #expect(error?.kind == .userActionRequired && error?.outcome.code == "setup-mfa")
            return
        }
        // A single way is taken at once.
        let step = try? await flow.step(.begin).step
        if offered.count > 1 {
            guard case .choose(let factors) = step else {
                Issue.record("no choice")
                return
            }
            #expect(factors.map(\.providerName) == offered)
        } else {
            #expect(bench.sent.last == (offered == ["totp"] ? "POST /me/totp" : "GET /me"))
        }
    }
}
