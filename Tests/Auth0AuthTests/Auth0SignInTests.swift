import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Synchronization
import Testing

@testable import Auth0Auth

@Suite struct Auth0SignInTests {
    @Test func aPasswordIsEnough() async throws {
        let bench = try Auth0Bench([.tokens()])
        let session = try await bench.signIn()
        #expect(bench.sent == ["/oauth/token password-realm hunter2"])
        let held = await bench.tokens.read().credentials
        #expect(held.accessToken == "A1" && held.refreshToken == "R1")
        #expect(session.expiresAt == held.expiresAt && session.expiresAt != nil)
    }

    @Test func aWrongPasswordIsAskedForAgain() async throws {
        let bench = try Auth0Bench([.error("invalid_grant", "Wrong email or password."), .tokens()])
        let person = Answers([.password: ["right"]])
        _ = try await bench.signIn(person)
        #expect(bench.sent.last == "/oauth/token password-realm right" && person.asked == [.password])
    }

    @Test func theSecondFactorIsAskedFor() async throws {
        let bench = try Auth0Bench([
            .wantsMore, .enrolled("totp", "old"), .error("invalid_grant", "Invalid otp_code."), .tokens(),
        ])
        let person = Answers([.totp: ["000000", "123456"]])
        _ = try await bench.signIn(person)
        #expect(
            bench.sent == [
                "/oauth/token password-realm hunter2", "/mfa/authenticators", "/oauth/token mfa-otp 000000",
                "/oauth/token mfa-otp 123456",
            ]
        )
        #expect(bench.transport.received[1].request.headerFields[.authorization] == "Bearer M1")
        #expect(person.asked == [.totp, .totp])
    }

    @Test func aCodeIsSentWhereItIsChosen() async throws {
        let bench = try Auth0Bench([.wantsMore, .enrolled("totp", "sms"), .smsSent, .smsSent, .tokens()])
        _ = try await bench.signIn(Answers([.phoneCode: ["resend", "123456"]], choosing: .phoneCode))
        #expect(
            bench.sent.suffix(3) == [
                "/mfa/challenge sms", "/mfa/challenge sms", "/oauth/token mfa-oob 123456",
            ]
        )
    }

    @Test func aPushIsWaitedFor() async throws {
        let bench = try Auth0Bench([
            .wantsMore, .enrolled("push"), .pushSent, .error("authorization_pending", "", 400),
            .error("slow_down", "", 429), .fail(.connectionLost, .unknown), .tokens(),
        ])
        _ = try await bench.signIn()
        #expect(bench.sent.filter { $0 == "/oauth/token mfa-oob" }.count == 4)
        #expect(bench.clock.requestedDelays.prefix(3) == [.seconds(5), .seconds(5), .seconds(10)])
    }

    /// The word that elsewhere is that of a wrong code is one of the person's here.
    @Test(arguments: [("access_denied", 400), ("invalid_grant", 403), ("access_denied", 200)])
    func aRejectedPushIsTheEnd(code: String, status: Int) async throws {
        let rejected = Auth0Bench.Step.error(code, "MFA Authorization rejected.", status)
        let bench = try Auth0Bench([.wantsMore, .enrolled("push", "totp"), .pushSent, rejected])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(Answers(choosing: .push)) }
        #expect(error?.kind == .declined)
    }

    /// A push that nobody answers while the mfa token lives: another one is for the person to wish for.
    @Test func aPushThatNobodyAnswersIsSentOnce() async throws {
        let begun: [Auth0Bench.Step] = [.wantsMore, .enrolled("push"), .pushSent]
        let pending = [Auth0Bench.Step](repeating: .error("authorization_pending", "", 400), count: 119)
        let alone = try Auth0Bench(begun + pending)
        let error = await #expect(throws: RecoveryError.self) { try await alone.signIn() }
        #expect(error?.kind == .challengeExpired && error?.remedies == [.newChallenge, .restartFlow])
        #expect(alone.sent.filter { $0.hasSuffix("hunter2") || $0 == "/mfa/challenge push" }.count == 2)
        let wished = try Auth0Bench(begun + pending + begun + [.tokens()])
        let person = Answers([.push: ["resend"]])
        _ = try await wished.signIn(person)
        #expect(person.asked == [.push] && wished.sent.filter { $0 == "/mfa/challenge push" }.count == 2)
    }

    @Test func aRecoveryCodeIsReplaced() async throws {
        let bench = try Auth0Bench([
            .wantsMore, .enrolled("recovery"), .tokens(more: #","recovery_code":"NEW""#),
        ])
        let session = try await bench.signIn(Answers([.backupCode: ["OLD"]]))
        #expect(bench.sent.last == "/oauth/token mfa-recovery-code OLD")
        #expect(session.recoveryCode == "NEW")
        #expect(!"\(session)".contains("NEW"), "it cannot be printed")
    }

    /// The old one is used up at the tenant: if the tokens cannot be stored, the error tells the new one.
    @Test func aRecoveryCodeIsNotLostWithItsTokens() async throws {
        let transport = ScriptedTransport(
            [.wantsMore, .enrolled("recovery"), .tokens(more: #","recovery_code":"NEW""#)],
            then: .status(418)
        )
        let auth0 = try Auth0(
            tenant: "https://example.eu.auth0.com",
            client: RecoveringClient(transport: transport, runtime: .manual()),
            tokens: FailingStore(),
            configuration: Auth0Configuration(clientID: "app")
        )
        let error = await #expect(throws: Auth0UnkeptRecoveryCode.self) {
            _ = try await auth0.signIn(
                identifier: "ada@example.com",
                password: "hunter2",
                answering: Answers([.backupCode: ["OLD"]])
            )
        }
        #expect(error?.recoveryCode == "NEW" && error?.cause is Credentials.StoreError)
        #expect(error.map { "\($0)".contains("NEW") || String(reflecting: $0).contains("NEW") } == false)
    }

    /// Nothing is sent for nobody: the name is asked for, and then the password if that was wrong.
    @Test func whoIsNotNamedIsAskedFor() async throws {
        let bench = try Auth0Bench([.error("invalid_grant", "Wrong email or password."), .tokens()])
        var flow = bench.auth0.signInFlow(identifier: nil, password: "hunter2", options: nil)
        for input in [SignInInput.begin, .answer(.useAnotherFactor), .answer(.resend), .answer(.text(""))] {
            guard case .ask(let asked) = try await flow.step(input).step else { return #expect(Bool(false)) }
            #expect(asked.factor == .identifier && asked.prompt?.isEmpty == false && bench.sent.isEmpty)
        }
        guard case .ask(let again) = try await flow.step(.answer(.text("eva"))).step else {
            return #expect(Bool(false))
        }
        #expect(again.factor == .identifier && again.previousFailure?.kind == .invalidCredentials)
        guard case .ask(let question) = try await flow.step(.answer(.text("ada@example.com"))).step else {
            return #expect(Bool(false))
        }
        #expect(question.key == .password && bench.sent.count == 1)
        guard case .finished = try await flow.step(.answer(.text("right"))).step else { return #expect(Bool(false)) }
        let names = bench.transport.received.map { (try? JSONValue(parsing: $0.body))?["username"]?.string }
        #expect(names == ["eva", "ada@example.com"])
    }

    /// What the tenant takes is none of what the person has, or it is of a sort that can be used in a browser alone; who has
    /// something is not asked to set up more.
    @Test(
        arguments: [
            [
                .json(
                    #"{"error":"mfa_required","mfa_token":"M1","mfa_requirements":{"challenge":[{"type":"phone"}]}}"#,
                    403
                ),
                .enrolled("totp"),
            ],
            [.wantsMore, .json(#"[{"id":"k","authenticator_type":"webauthn-roaming","active":true}]"#)],
        ] as [[Auth0Bench.Step]]
    )
    func whatIsEnrolledAndNotTakenIsForTheBrowser(steps: [Auth0Bench.Step]) async throws {
        let bench = try Auth0Bench(steps)
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .userActionRequired && error?.remedies.first == .visitProvider)
    }

    @Test func whatTheTenantWantsIsOffered() async throws {
        let wants = #"{"error":"mfa_required","mfa_token":"M1","mfa_requirements":{"challenge":[{"type":"otp"}]}}"#
        let bench = try Auth0Bench([.json(wants, 403), .enrolled("totp", "sms"), .tokens()])
        let person = Answers([.totp: ["1"]])
        _ = try await bench.signIn(person)
        #expect(person.asked == [.totp])
    }

    /// Ten minutes is what an mfa token lives: a code that would come later is not spent, and the sign-in begins again.
    @Test func aCodeThatWouldComeTooLateIsNotSent() async throws {
        let bench = try Auth0Bench([.wantsMore, .enrolled("totp"), .wantsMore, .enrolled("totp"), .tokens()])
        var flow = bench.auth0.signInFlow(identifier: "ada@example.com", password: "hunter2", options: nil)
        guard case .ask = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        bench.clock.advance(by: .seconds(601))
        guard case .ask(let again) = try await flow.step(.answer(.text("111111"))).step else {
            return #expect(Bool(false))
        }
        #expect(again.key == .totp)
        guard case .finished = try await flow.step(.answer(.text("222222"))).step else { return #expect(Bool(false)) }
        #expect(bench.sent.filter { $0.contains("mfa-otp") } == ["/oauth/token mfa-otp 222222"])
    }

    @Test func aLeakedPasswordSaysSo() async throws {
        let bench = try Auth0Bench(
            [.error("password_leaked", "This password has been leaked.", 401)],
            configuration: Auth0Configuration(clientID: "app")
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits {
                try await bench.auth0.signIn(
                    .identifier("ada@example.com", password: "hunter2"),
                    answering: Answers(),
                    options: SignInOptions(compromisedPasswordFallback: [])
                )
            }
        }
        #expect(error?.kind == .passwordCompromised && error?.remedies.first == .changePassword)
        #expect(error?.outcome.userMessage == "This password has been leaked.")
        #expect(bench.sent.count == 1)
    }

    /// A blocked account is asked nothing more until somebody says that it is unblocked.
    @Test func aLockedAccountIsLeftAlone() async throws {
        let locked = Auth0Bench.Step.error("too_many_attempts", "Your account has been blocked.", 429)
        let bench = try Auth0Bench([locked, .tokens()])
        let first = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        let second = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(first?.kind == .accountLocked && second?.kind == .accountLocked && bench.sent.count == 1)
        // The lock that is remembered is the same: no time was told of it, and what lifts it lifts it still.
        #expect(first?.remedies == [.unlock, .changePassword, .contactAdmin] && second?.remedies == first?.remedies)
        #expect(first?.retryAt == nil && second?.retryAt == nil && second?.retryAfter == nil)
        #expect(second?.outcome.userMessage == first?.outcome.userMessage)
        #expect(await bench.auth0.lockouts.lockout(of: "ada@example.com") == .indefinite)
        await bench.auth0.lockouts.forget("ada@example.com")
        _ = try await bench.signIn()
        #expect(bench.sent.count == 2)
    }

    /// Where each answer of a sign-in is lost in turn, nothing that can be spent is sent twice.
    @Test(arguments: 0..<4)
    func whatMayBeSpentIsSentOnce(lost: Int) async throws {
        var steps: [Auth0Bench.Step] = [.wantsMore, .enrolled("sms"), .smsSent, .tokens()]
        steps.insert(.fail(.connectionLost, .unknown), at: lost)
        let bench = try Auth0Bench(steps)
        let person = Answers([.password: [], .phoneCode: ["123456"]])
        _ = try? await bench.signIn(person)
        let spent = bench.sent.filter { $0 != "/mfa/authenticators" }
        #expect(Set(spent).count == spent.count, "\(spent)")
    }

    /// Of what was spent, perhaps, nothing is offered that would spend it again by itself.
    @Test(
        arguments: [
            ([], [:]), ([.wantsMore, .enrolled("totp")], [.totp: ["1"]]),
            ([.wantsMore, .enrolled("sms")], [.phoneCode: ["1"]]),
        ] as [([Auth0Bench.Step], [Factor.Key: [String]])],
        [Auth0Bench.Step.fail(.connectionLost, .unknown), .fail(.truncated, .answered), .status(502), .status(503)]
    )
    func aLostAnswerOffersNoBlindRepetition(before: ([Auth0Bench.Step], [Factor.Key: [String]]), loss: Auth0Bench.Step)
        async throws
    {
        let bench = try Auth0Bench(before.0 + [loss])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(Answers(before.1)) }
        #expect(error?.outcome.processed != .no && error?.remedies == [.askUser], "\(String(describing: error))")
        #expect(bench.sent.count == before.0.count + 1)
        // What spends nothing may be asked again.
        let reading = try Auth0Bench([.wantsMore] + Array(repeating: .status(502), count: 9))
        let other = await #expect(throws: RecoveryError.self) { try await reading.signIn() }
        #expect(other?.remedies == [.retry])
    }

    /// Of a password that was on its way nobody knows: it is asked for again.
    @Test func aPasswordThatWasBrokenOffIsNotSentAgain() async throws {
        let bench = try Auth0Bench([.hang, .tokens()])
        let flow = bench.auth0.signInFlow(identifier: "ada@example.com", password: "hunter2", options: nil)
        let step = Task {
            var flow = flow
            await #expect(throws: CancellationError.self) { try await flow.step(.begin) }
            return flow
        }
        await bench.transport.waitForRequests(1)
        step.cancel()
        var after = await step.value
        guard case .ask(let question) = try await after.step(.resync).step else { return #expect(Bool(false)) }
        #expect(question.key == .password && bench.sent.count == 1)
    }

    /// A block that is met at the second factor is one: nothing is waited for, and the person may lift it.
    @Test func aBlockAtTheSecondFactor() async throws {
        let blocked = Auth0Bench.Step.error("too_many_attempts", "Your account has been blocked after multiple.", 429)
        let bench = try Auth0Bench([.wantsMore, .enrolled("totp"), blocked, .tokens()])
        var flow = bench.auth0.signInFlow(.identifier("ada@example.com", password: "hunter2"))
        guard case .ask = try await flow.step(.begin).step,
            case .choose(let ways) = try await flow.step(.answer(.text("111111"))).step
        else { return #expect(Bool(false)) }
        #expect(ways.map(\.providerName) == ["blocked_account", "reset_password"])
        #expect(await bench.auth0.lockouts.lockout(of: "ada@example.com") == .indefinite)
        guard case .ask(let question) = try await flow.step(.choose(ways[0])).step,
            case .finished = try await flow.step(.answer(.text("hunter2"))).step
        else { return #expect(Bool(false)) }
        #expect(question.key == .password && bench.sent.last == "/oauth/token password-realm hunter2")
    }

    /// What goes wrong with a factor is not the password's fault.
    @Test func aCodeThatCannotBeSentIsTriedOnce() async throws {
        let bench = try Auth0Bench([.wantsMore, .enrolled("sms"), .error("sms_provider_error", "x", 400)])
        await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(bench.sent.filter { $0.hasPrefix("/mfa/challenge") }.count == 1)
        #expect(bench.sent.filter { $0.contains("hunter2") }.count == 1)
    }

    /// A code that the tenant has taken, and whose tokens no store has, is not presented by the same step again.
    @Test func aStepWhoseTokensAreNotStoredIsNotTakenTwice() async throws {
        let transport = ScriptedTransport(
            [.wantsMore, .enrolled("totp"), .tokens(), .wantsMore, .enrolled("totp"), .tokens()],
            then: .status(418)
        )
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let auth0 = try Auth0(
            tenant: "https://example.eu.auth0.com",
            client: client,
            tokens: FailingStore(),
            configuration: Auth0Configuration(clientID: "app")
        )
        let signIns = SuspendedSignIns(client, sealing: PlainSealing()).held(by: "browser")
        let flow = auth0.signInFlow(identifier: "ada@example.com", password: "hunter2", options: nil)
        let ticket = try #require(try await signIns.begin(flow).ticket)
        await #expect(throws: Credentials.StoreError.self) {
            try await signIns.step(ticket, .answer(.text("123456")), at: auth0)
        }
        _ = try? await signIns.step(ticket, .answer(.text("123456")), at: auth0)
        let codes = transport.received.filter { String(decoding: $0.body, as: UTF8.self).contains("123456") }
        #expect(codes.count == 1)
    }

    @Test func aSignInIsSuspendedBetweenItsSteps() async throws {
        let bench = try Auth0Bench([.wantsMore, .enrolled("totp", "sms"), .smsSent, .tokens()])
        let instances = (0..<2).map { _ in
            SuspendedSignIns(bench.auth0.client, sealing: PlainSealing()).held(by: "browser")
        }
        let flow = bench.auth0.signInFlow(identifier: "ada@example.com", password: "hunter2", options: nil)
        var turn = try await instances[0].begin(flow)
        guard case .choose(let factors) = turn.step, let sms = factors.first(where: { $0.key == .phoneCode }) else {
            return #expect(Bool(false), "\(turn.step)")
        }
        let first = try #require(turn.ticket)
        turn = try await instances[1].step(first, .choose(sms), at: bench.auth0)
        guard case .ask = turn.step else { return #expect(Bool(false), "\(turn.step)") }
        // The same click once more sends nothing.
        let twice = try await instances[0].step(first, .choose(sms), at: bench.auth0)
        #expect(bench.sent.count == 3)
        turn = try await instances[0].step(
            try #require(twice.ticket),
            .answer(.text("123456")),
            at: bench.auth0
        )
        guard case .finished(let session) = turn.step else { return #expect(Bool(false), "\(turn.step)") }
        #expect(session.expiresAt != nil && bench.sent.last == "/oauth/token mfa-oob 123456")
    }
}

/// A sealing for tests, without a cipher.
struct PlainSealing: CredentialSealing {
    func seal(_ plaintext: [UInt8], at place: String) throws -> [UInt8] { plaintext }
    func open(_ sealed: [UInt8], at place: String) throws -> [UInt8] { sealed }
}

/// A store that fails to take what it is given, once.
private final class FailingStore: TokenStore {
    private let base = InMemoryTokenStore()
    private let fails = Mutex(true)

    func read() async throws -> Credentials.Stored { await base.read() }

    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        let fails = fails.withLock { fails in
            defer { fails = false }
            return fails
        }
        if fails { throw Credentials.StoreError("the disk is full") }
        return await base.replace(version: version, with: credentials)
    }

    func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any Credentials.Lease)? {
        await base.acquireLease(for: duration, time: time)
    }
}
