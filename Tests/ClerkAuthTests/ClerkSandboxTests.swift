import AuthRecovery
import AuthSandbox
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// The whole of a sign-in, against a server that keeps its own books.
@Suite("Clerk at the sandbox")
struct ClerkSandboxTests {
    // MARK: Tasks

    @Test func aCompromisedPasswordEndsInASessionThatCanBeUsed() async throws {
        let bench = try ClerkSandboxBench({ $0.passwordState = "compromised" })
        let person = SandboxPerson(bench, [.newPassword: ["correct horse battery"]])
        let session = try await bench.signIn(person)
        #expect(session.status == .active && session.tasks.isEmpty && bench.sessionStatuses == ["active"])
        #expect(person.keys == [.emailCode, .newPassword])
        // The session token is one of a session that counts as signed in.
        let token = try await bench.clerk.sessionToken(skippingCache: true)
        #expect(!token.isPending)
        try await bench.clerk.signOut()
        _ = try await bench.signIn(SandboxPerson(bench), password: "correct horse battery")
    }

    @Test func severalTasksAreDoneOneAfterTheOther() async throws {
        let bench = try ClerkSandboxBench({
            $0.tasks = ["choose-organization", "setup-mfa"]
            $0.organizations = ["Acme"]
            $0.passwordState = "reset_required"
        })
        let person = SandboxPerson(bench, [.newPassword: ["correct horse battery"]], choosing: ["acme", "totp"])
        let session = try await bench.signIn(person)
        #expect(session.status == .active && bench.sessionStatuses == ["active"])
        #expect(person.keys == [.emailCode, .newPassword, .totp])
        #expect(session.lastActiveOrganizationID != nil)
        // The codes are shown, and are good.
        let codes = person.shown.last?.setup?.reveal().split(separator: "\n") ?? []
        #expect(codes.count == 10)
        try await bench.clerk.signOut()
        let again = SandboxPerson(
            bench,
            [.backupCode: codes.prefix(1).map { Secret(String($0)) }],
            choosing: ["backup_code"]
        )
        _ = try await bench.signIn(again, password: "correct horse battery")
        #expect(again.keys == [.backupCode])
    }

    @Test func aTaskThatCannotBeDoneHereIsNamed() async throws {
        let bench = try ClerkSandboxBench({ $0.tasks = ["sign-in-blood"] })
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(SandboxPerson(bench)) }
        #expect(error?.kind == .userActionRequired && error?.outcome.code == "sign-in-blood")
        #expect(bench.sessionStatuses == ["pending"])
    }

    // MARK: Other providers

    private static func redirecting(
        _ settings: (inout SandboxSettings) -> Void = { _ in }
    ) throws -> ClerkSandboxBench {
        try ClerkSandboxBench(settings: settings, configuration: ClerkConfiguration(redirectURL: "app://back"))
    }

    @Test func aVisitToAnotherProviderSignsIn() async throws {
        let bench = try Self.redirecting()
        let session = try await bench.clerk.signIn(at: .oauth("google"), answering: SandboxPerson(bench))
        #expect(session.identifiers.contains(ClerkSandboxBench.name))
        #expect(bench.routes == ["POST client/sign_ins", "GET client/sign_ins/{id}"])
        #expect(try await bench.clerk.session()?.id == session.id)
    }

    @Test func aProofIsHandedOverBothWays() async throws {
        let bench = try Self.redirecting()
        let stranger = SandboxPerson(bench, deciding: "decision=allow&email=new%40example.com")
        let made = try await bench.clerk.signIn(at: .oauth("google"), answering: stranger)
        #expect(made.identifiers.contains("new@example.com"))
        #expect(bench.count("POST client/sign_ups") == 1)
        let other = try Self.redirecting()
        let request = ClerkSignUpRequest(redirect: .oauth("google"))
        let found = try await other.clerk.signUp(request, answering: SandboxPerson(other))
        #expect(found.identifiers.contains(ClerkSandboxBench.name))
        #expect(other.forms("POST client/sign_ins") == ["transfer=true"])
    }

    @Test func somebodyOfAnEnterpriseSignsUp() async throws {
        let bench = try Self.redirecting()
        let person = SandboxPerson(bench, deciding: "decision=allow&email=new%40example.com")
        let request = ClerkSignUpRequest(redirect: .enterprise("new@example.com"))
        let session = try await bench.clerk.signUp(request, answering: person)
        #expect(session.identifiers.contains("new@example.com"))
        let other = try Self.redirecting()
        let nobody = ClerkSignUpRequest(redirect: ClerkRedirect(strategy: "enterprise_sso"))
        let error = await #expect(throws: RecoveryError.self) {
            try await other.clerk.signUp(nobody, answering: SandboxPerson(other))
        }
        #expect(error?.outcome.parameter == "email_address")
    }

    @Test func whoDeclinesIsToldSoInTheServersWords() async throws {
        let bench = try Self.redirecting()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(
                at: .oauth("google"),
                answering: SandboxPerson(bench, deciding: "decision=deny")
            )
        }
        #expect(error?.kind == .declined && error?.outcome.code == "oauth_access_denied")
        #expect(error?.userMessage == "You did not grant access to your account.")
    }

    @Test func aProviderThatTheInstanceDoesNotHaveIsRefused() async throws {
        let bench = try Self.redirecting()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(at: .oauth("github"), answering: SandboxPerson(bench))
        }
        #expect(error?.kind == .invalidRequest && error?.outcome.parameter == "strategy")
        let allowed = try Self.redirecting { $0.socialStrategies = ["oauth_github", "oauth_custom_acme"] }
        #expect(try await allowed.clerk.environment().socialStrategies == ["oauth_github", "oauth_custom_acme"])
        _ = try await allowed.clerk.signIn(at: .oauth("custom_acme"), answering: SandboxPerson(allowed))
    }

    @Test func aWayBackThatIsNotOnTheListIsSaid() async throws {
        let bench = try Self.redirecting { $0.redirectURLs = ["other://back"] }
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(at: .oauth("google"), answering: SandboxPerson(bench))
        }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "redirect_url")
        let listed = try Self.redirecting { $0.redirectURLs = ["app://back"] }
        _ = try await listed.clerk.signIn(at: .oauth("google"), answering: SandboxPerson(listed))
    }

    @Test(arguments: ["oauth_token_google", "google_one_tap"])
    func anIDTokenSignsInAndUp(strategy: String) async throws {
        for email in [ClerkSandboxBench.name, "new@example.com"] {
            let bench = try ClerkSandboxBench()
            let token = bench.control("clerk/identity", #"{"email": "\#(email)"}"#)["token"]?.string ?? ""
            var flow = bench.clerk.signInFlow(.token(Secret(token), strategy: strategy))
            let session = try await flow.run(answering: SandboxPerson(bench))
            #expect(session.identifiers.contains(email))
            let isNew = email != ClerkSandboxBench.name
            #expect(bench.routes == ["POST client/sign_ins"] + (isNew ? ["POST client/sign_ups"] : []))
        }
        let bench = try ClerkSandboxBench()
        var flow = bench.clerk.signInFlow(.token("made-up", strategy: strategy))
        let error = await #expect(throws: RecoveryError.self) { try await flow.run(answering: SandboxPerson(bench)) }
        #expect(error?.kind == .flowExpired && bench.routes.count == 1)
    }

    // MARK: What cannot be sent

    @Test(
        arguments: [
            ("sms_send_error", 400), ("unsupported_country_code", 403), ("dev_monthly_sms_limit_exceeded", 400),
        ]
    )
    func aTextMessageThatCannotBeSentIsNoEnd(code: String, status: Int) async throws {
        let bench = try ClerkSandboxBench({
            $0.phones = ["+4930123456"]
            $0.totpSecret = "JBSWY3DPEHPK3PXP"
            $0.secondFactors = ["phone_code", "totp"]
        })
        var fault = SandboxFault(.envelope, method: "POST", path: "*/prepare_second_factor", times: 0)
        fault.status = status
        fault.errorCode = code
        bench.add(fault)
        let person = SandboxPerson(bench, choosing: ["phone_code"])
        #expect(try await bench.signIn(person).status == .active)
        #expect(person.keys == [.totp] && bench.failures == 0)
        #expect(bench.count("POST client/sign_ins/{id}/prepare_second_factor") == 1)
    }

    @Test func aPasskeyThatNobodyHasIsNoEnd() async throws {
        let bench = try ClerkSandboxBench({ $0.firstFactors = ["passkey", "password"] })
        let credential: Secret = #"{"id":"k","rawId":"k","type":"public-key","response":{}}"#
        let person = SandboxPerson(
            bench,
            [.webauthn: [credential], .password: [ClerkSandboxBench.password]],
            choosing: ["passkey"]
        )
        #expect(try await bench.signIn(person, password: nil).status == .active)
        #expect(person.keys == [.webauthn, .password] && person.notices == [.factorUnavailable])
    }

    // MARK: Lockouts

    private static func locking(_ change: (inout SandboxUser) -> Void = { _ in }) throws -> ClerkSandboxBench {
        try ClerkSandboxBench(
            change,
            settings: {
                $0.lockout.threshold = 3
                $0.lockout.duration = 60_000
            },
            middlewares: {
                Recovery {
                    LockoutWait(atMost: .seconds(90))
                    RateLimitBackoff()
                }
            }
        )
    }

    @Test func thePasswordThatHasTrippedTheLockIsNotSentAgain() async throws {
        let bench = try Self.locking()
        let person = SandboxPerson(bench, [.password: ["second", "third", ClerkSandboxBench.password]])
        #expect(try await bench.signIn(person, password: "first").status == .active)
        let passwords = bench.forms("POST client/sign_ins").map { $0.split(separator: "=").last ?? "" }
        #expect(passwords == ["first", "second", "third", "open-sesame-42"])
        #expect(person.notices == [.invalidCredentials, .invalidCredentials, .accountLocked])
    }

    @Test func thePasswordThatMeetsALockIsSentOnceMore() async throws {
        let bench = try Self.locking()
        _ = bench.control("lock", #"{"user": "eva@example.com", "seconds": 60}"#)
        let person = SandboxPerson(bench)
        #expect(try await bench.signIn(person).status == .active)
        #expect(person.keys.isEmpty && bench.count("POST client/sign_ins") == 2)
        #expect(bench.clock.requestedDelays.contains { $0 >= .seconds(60) })
    }

    @Test func aCodeThatHasGrownStaleInALockIsAskedForAnew() async throws {
        let bench = try Self.locking { $0.totpSecret = "JBSWY3DPEHPK3PXP" }
        let person = SandboxPerson(bench, [.totp: ["000000", "000001", "000002"]])
        #expect(try await bench.signIn(person).status == .active)
        let codes = bench.forms("POST client/sign_ins/{id}/attempt_second_factor").map { $0.suffix(6) }
        #expect(codes.prefix(3) == ["000000", "000001", "000002"] && codes.count == 4 && Set(codes).count == 4)
        #expect(bench.failures == 0)
    }

    @Test func whileTheAccountIsLockedNothingThatSpendsLeaves() async throws {
        let bench = try ClerkSandboxBench(
            settings: {
                $0.lockout.threshold = 1
                $0.lockout.duration = 600_000
            },
            middlewares: { Recovery { LockoutWait(atMost: .seconds(1)) } }
        )
        await #expect(throws: RecoveryError.self) { try await bench.signIn(SandboxPerson(bench), password: "no") }
        let before = bench.routes.count
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(SandboxPerson(bench)) }
        #expect(error?.kind == .accountLocked && bench.routes.count == before)
        // A ticket tells nobody beforehand: it is presented, meets the lock, and is held then.
        let ticket = bench.control("clerk/ticket", #"{"user": "eva@example.com"}"#)["ticket"]?.string ?? ""
        for _ in 0..<2 {
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.clerk.signIn(ticket: Secret(ticket), answering: SandboxPerson(bench))
            }
            #expect(error?.kind == .accountLocked)
        }
        #expect(bench.routes.count == before + 1)
    }
}
