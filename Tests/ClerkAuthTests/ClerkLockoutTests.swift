import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What happens to an answer that has met a lockout, once that was waited out.
@Suite struct ClerkLockoutTests {
    private static let create = "POST /client/sign_ins identifier=ada%40example.com"
    private static let step = "POST /client/sign_ins/sia_1/"
    private static let locked = ScriptedTransport.Step.error(
        "user_locked",
        status: 403,
        meta: #"{"lockout_expires_in_seconds":60}"#
    )

    @Test func aPasswordThatMeetsALockIsSentOnceMore() async throws {
        let bench = try ClerkBench([Self.locked, .complete()])
        let person = Person()
        _ = try await bench.signIn("hunter2", person)
        let sent = Self.create + "&strategy=password&password=hunter2"
        #expect(bench.sent == [sent, sent] && person.keys.isEmpty)
        #expect(person.waits.count == 1)
    }

    @Test func aPasswordThatMayHaveTrippedTheLockIsAskedForAnew() async throws {
        let wrong = ScriptedTransport.Step.error("form_password_incorrect")
        let bench = try ClerkBench([wrong, wrong, Self.locked, .complete()])
        let person = Person([.password: [.text("second"), .text("third"), .text("right")]])
        _ = try await bench.signIn("first", person)
        #expect(
            bench.sent
                == ["first", "second", "third", "right"].map { Self.create + "&strategy=password&password=\($0)" }
        )
        #expect(person.notices == [.invalidCredentials, .invalidCredentials, .accountLocked])
        #expect(person.waits.count == 1 && bench.clock.requestedDelays.first.map { $0 >= .seconds(60) } == true)
        #expect(person.questions.last?.occasion.lockout == .remaining(.zero))
    }

    @Test(
        arguments: [
            (Factor.Key.totp, ClerkJSON.totp, "totp"), (.backupCode, ClerkJSON.backup, "backup_code"),
        ]
    )
    func aCodeIsNeverSentTwice(key: Factor.Key, factor: String, strategy: String) async throws {
        let bench = try ClerkBench([.signIn("needs_second_factor", second: factor), Self.locked, .complete()])
        let person = Person([key: [.text("1"), .text("2")]])
        _ = try await bench.signIn("hunter2", person)
        let attempt = Self.step + "attempt_second_factor strategy=\(strategy)&code="
        #expect(bench.sent.dropFirst() == [attempt + "1", attempt + "2"])
        #expect(person.questions.map(\.round) == [1, 2])
        #expect(bench.transport.received.count == 3)
    }

    @Test func aCodeByMailIsNeitherSentTwiceNorAskedForByAnother() async throws {
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: ClerkJSON.email)
        let bench = try ClerkBench([first, first, Self.locked, .complete()])
        let person = Person([.emailCode: [.text("1"), .text("2")]])
        _ = try await bench.signIn(nil, person)
        let attempt = Self.step + "attempt_first_factor strategy=email_code&code="
        #expect(bench.sent.dropFirst(2) == [attempt + "1", attempt + "2"])
    }

    /// The lock was known before the code was typed: it does not even leave, and is too old by the end of the wait.
    @Test func aCodeThatIsHeldBackIsAskedForAnew() async throws {
        let second = ScriptedTransport.Step.signIn("needs_second_factor", second: ClerkJSON.totp)
        let bench = try ClerkBench([second, Self.locked, .complete()]) {
            Recovery { LockoutWait(atMost: .seconds(90)) }
        }
        var flow = bench.clerk.signInFlow(.identifier(ClerkBench.identifier, password: "hunter2"))
        _ = try await flow.step(.begin)
        // Somebody else learns of the lock.
        let other = Task { try await bench.clerk.signIn(identifier: "Ada@example.com", answering: Person()) }
        await bench.clock.waitForSleepers(1)
        other.cancel()
        _ = try? await other.value
        bench.clock.advance(by: .seconds(40))
        let turn = try await bench.skippingWaits { try await flow.step(.answer(.text("1"))) }
        guard case .ask(let question) = turn.step else {
            Issue.record("not asked")
            return
        }
        #expect(question.key == .totp && question.round == 2 && turn.notices.map(\.kind) == [.accountLocked])
        #expect(bench.transport.received.count == 2)
        _ = try await flow.step(.answer(.text("2")))
        #expect(bench.sent.last == Self.step + "attempt_second_factor strategy=totp&code=2")
    }

    @Test func aLockWithoutAnEndInSightEndsTheSignIn() async throws {
        let wrong = ScriptedTransport.Step.error("form_password_incorrect")
        let bench = try ClerkBench([wrong, .error("user_locked", status: 403)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("first", Person([.password: [.text("second"), .text("third")]]))
        }
        #expect(error?.kind == .accountLocked && bench.transport.received.count == 2)
    }

    @Test func locksWithoutEndAreNotWaitedOutForEver() async throws {
        let bench = try ClerkBench(
            [.signIn("needs_second_factor", second: ClerkJSON.totp)] + Array(repeating: Self.locked, count: 20)
        )
        let person = Person([.totp: Array(repeating: .text("1"), count: 20)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("hunter2", person) }
        #expect(error?.kind == .accountLocked)
        #expect(bench.transport.received.count == 1 + 4)
    }

    /// What a device has signed is too old by the end of the wait.
    @Test func aSignatureIsNeverSentTwice() async throws {
        let key = ClerkConfiguration.TrustedDeviceKey(platform: "ios", appIdentifier: "app", publicKey: .null) { _ in
            [1]
        }
        let begun = ScriptedTransport.Step.status(
            200,
            [:],
            body: """
                {"response":{"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor","identifier":null,\
                "first_factor_verification":{"status":"unverified","strategy":"trusted_device",\
                "trusted_device_challenge":{"client_data":"YQ"}}},\
                "client":null}
                """
        )
        let configuration = ClerkConfiguration(trustedDevice: key)
        let bench = try ClerkBench([begun, Self.locked, .complete()], configuration: configuration)
        var flow = bench.clerk.signInFlow(.trustedDevice(id: "t1"))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await flow.run(answering: Person()) }
        }
        #expect(error?.kind == .accountLocked && error?.reason == .lockoutOver)
        #expect(bench.transport.received.count == 2)
    }

    // MARK: Requests of the caller's own

    /// Nobody can be asked for another code, so the caller is told to.
    @Test func aCodeByHandIsNeverSentTwice() async throws {
        let bench = try ClerkBench([.complete(), Self.locked, Self.locked, .status(200, [:], body: "{}")])
        _ = try await bench.clerk.signIn(identifier: "ada@example.com", password: "p", answering: Person())
        let calls: [() async throws -> Void] = [
            { try await bench.clerk.verifyTOTP(code: "1") },
            {
                let form: FormFields = ["strategy": "totp", "code": "1"]
                let path = "/v1/client/sign_ins/sia_1/attempt_second_factor"
                _ = try await bench.clerk.send(.post, path: path, body: .form(form))
            },
        ]
        for (index, call) in calls.enumerated() {
            let error = await #expect(throws: RecoveryError.self) { try await bench.skippingWaits(call) }
            #expect(error?.kind == .accountLocked && error?.reason == .lockoutOver)
            #expect(error?.outcome.lockout == .remaining(.zero))
            #expect(bench.transport.received.count == 2 + index)
        }
        try await bench.clerk.verifyTOTP(code: "2")
        #expect(bench.transport.received.count == 4, "another one is sent")
    }

    private static let forever = ScriptedTransport.Step.error("user_locked", status: 403)

    /// A sign-up by somebody who has an account.
    private static let proved = ScriptedTransport.Step.status(
        200,
        [:],
        body: """
            {"response":{"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements",\
            "email_address":"ada@example.com","verifications":{"external_account":{"status":"transferable",\
            "strategy":"oauth_google"}}},"client":{"object":"client","id":"client_1","sessions":[],"sign_in":null,\
            "sign_up":{"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements",\
            "email_address":"ada@example.com"}}}
            """
    )

    /// A sign-in by whoever's passkey it is.
    private static let passkey = ScriptedTransport.Step.status(
        200,
        [:],
        body: """
            {"response":{"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor","identifier":null,\
            "first_factor_verification":{"status":"unverified","strategy":"passkey",\
            "nonce":"{\\"challenge\\":\\"YQ\\"}"}},"client":null}
            """
    )

    /// Another process: it shares the stores, and has seen no answer.
    private func other(_ bench: ClerkBench) throws -> Clerk {
        try Clerk(frontendAPI: ClerkBench.url, client: bench.client, tokens: bench.tokens)
    }

    private func isHeld(_ bench: ClerkBench, _ body: () async throws -> Void) async {
        let before = bench.transport.received.count
        let error = await #expect(throws: RecoveryError.self) { try await body() }
        #expect(error?.kind == .accountLocked && bench.transport.received.count == before)
    }

    @Test func aNameThatIsLockedIsNotPresentedByHand() async throws {
        let bench = try ClerkBench([Self.forever, .signIn("needs_first_factor", first: ClerkJSON.password)])
        _ = try? await bench.clerk.signIn(identifier: "ada@example.com", answering: Person())
        await isHeld(bench) {
            let form: FormFields = ["identifier": "ADA@example.com", "password": "x"]
            _ = try await bench.clerk.send(.post, path: "/v1/client/sign_ins", body: .form(form))
        }
        let form: FormFields = ["identifier": "eva@example.com", "password": "x"]
        _ = try await bench.clerk.send(.post, path: "/client/sign_ins", body: .form(form))
        #expect(bench.transport.received.count == 2, "somebody else's is")
    }

    @Test(arguments: [
        (ClerkSignInMethod.ticket("t1"), ("ticket", "t1")), (.token("t1", strategy: "google_one_tap"), ("token", "t1")),
        (.trustedDevice(id: "t1"), ("trusted_device_id", "t1")), (.transfer, ("transfer", "true")),
    ])
    func whatNamesNobodyIsHeldByHandToo(method: ClerkSignInMethod, field: (String, String)) async throws {
        let key = ClerkConfiguration.TrustedDeviceKey(platform: "ios", appIdentifier: "app", publicKey: .null) { _ in
            [1]
        }
        let configuration = ClerkConfiguration(trustedDevice: key)
        let steps = [Self.proved, Self.forever, .signIn("needs_first_factor", first: ClerkJSON.password)]
        let bench = try ClerkBench(steps, configuration: configuration)
        let signUp: FormFields = ["strategy": "oauth_google"]
        _ = try await bench.clerk.send(.post, path: "/client/sign_ups", body: .form(signUp))
        var flow = bench.clerk.signInFlow(method)
        _ = try? await flow.run(answering: Person())
        #expect(bench.transport.received.count == 2)
        await isHeld(bench) {
            let form = FormFields(dictionaryLiteral: field)
            _ = try await bench.clerk.send(.post, path: "/client/sign_ins", body: .form(form))
        }
    }

    /// And a flow meets what was told by hand.
    @Test func aTicketThatIsLockedByHandIsHeldInAFlow() async throws {
        let bench = try ClerkBench([Self.forever])
        let form: FormFields = ["strategy": "ticket", "ticket": "t1"]
        _ = try? await bench.clerk.send(.post, path: "/client/sign_ins", body: .form(form))
        #expect(bench.transport.received.count == 1)
        await isHeld(bench) { _ = try await bench.clerk.signIn(ticket: "t1", answering: Person()) }
    }

    @Test func aPasskeyIsHeldByHandToo() async throws {
        let bench = try ClerkBench([Self.passkey, Self.forever])
        let credential = #"{"id":"cred-1","type":"public-key","response":{}}"#
        let person = Person([.webauthn: Secret(credential)])
        _ = try? await bench.clerk.signInWithPasskey(answering: person)
        #expect(bench.transport.received.count == 2)
        await isHeld(bench) {
            let form: FormFields = ["strategy": "passkey", "public_key_credential": credential]
            let path = "/client/sign_ins/sia_1/attempt_first_factor"
            _ = try await bench.clerk.send(.post, path: path, body: .form(form))
        }
    }

    @Test(arguments: ["attempt_first_factor", "attempt_second_factor", "reset_password"])
    func aSignInByHandIsItsAccounts(step: String) async throws {
        let begun = ScriptedTransport.Step.signIn("needs_first_factor", first: ClerkJSON.email)
        let bench = try ClerkBench([begun, Self.forever, begun])
        let create: FormFields = ["identifier": "ada@example.com"]
        _ = try await other(bench).send(.post, path: "/v1/client/sign_ins", body: .form(create))
        _ = try? await other(bench).signIn(identifier: "ada@example.com", answering: Person())
        await isHeld(bench) {
            let form: FormFields = ["strategy": "email_code", "code": "1"]
            _ = try await other(bench).send(.post, path: "/v1/client/sign_ins/sia_1/\(step)", body: .form(form))
        }
    }

    @Test func whatASessionSpendsIsItsAccounts() async throws {
        let ok = ScriptedTransport.Step.status(200, [:], body: "{}")
        let bench = try ClerkBench([.complete(), Self.forever] + Array(repeating: ok, count: 5))
        _ = try await bench.clerk.signIn(identifier: "ada@example.com", password: "p", answering: Person())
        _ = try? await bench.clerk.signIn(identifier: "ada@example.com", password: "p", answering: Person())
        await isHeld(bench) { try await other(bench).verifyTOTP(code: "1") }
        await isHeld(bench) { _ = try await other(bench).createBackupCodes() }
        await isHeld(bench) {
            let form: FormFields = ["new_password": "x"]
            _ = try await other(bench).send(.post, path: "/v1/me/change_password", body: .form(form))
        }
        await isHeld(bench) {
            let form: FormFields = ["strategy": "totp", "code": "1"]
            let path = "/v1/client/sessions/sess_1/verify/attempt_second_factor"
            _ = try await other(bench).send(.post, path: path, body: .form(form))
        }
        _ = try await other(bench).send(path: "/v1/me")
        #expect(bench.transport.received.count == 3, "reading spends nothing")
    }
}
