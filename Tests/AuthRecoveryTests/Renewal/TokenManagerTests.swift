import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct TokenManagerTests {
    // MARK: One renewal

    @Test func aRefusedTokenIsRenewedAndTheCallReplayed() async throws {
        let bench = RenewalBench()
        bench.server.expireAccess()
        #expect(try await bench.send() == .ok)
        #expect(bench.server.presented == ["refresh-1"])
        #expect(bench.transport.received.count == 2)
        #expect(bench.words == ["refresh refreshed"])
        let credentials = try await bench.credentials
        #expect(credentials.accessToken == "access-3")
        #expect(credentials.refreshToken == "refresh-3")
        #expect(credentials.renewalBeganAt == nil)
    }

    @Test func aTokenThatHasExpiredIsRenewedBeforeItIsSent() async throws {
        var credentials = RotatingServer.first
        let clock = ManualClock()
        credentials.expiresAt = clock.timeSource().wallTime
        let bench = RenewalBench(credentials: credentials, clock: clock)
        #expect(try await bench.send() == .ok)
        #expect(bench.transport.received.count == 1, "no attempt is spent on a token that is known to have expired")
        #expect(bench.server.presented == ["refresh-1"])
    }

    @Test func aMissingAccessTokenIsObtained() async throws {
        let bench = RenewalBench(credentials: Credentials(refreshToken: "refresh-1"))
        #expect(try await bench.send() == .ok)
        #expect(bench.transport.received.count == 1)
    }

    @Test func aTokenThatExpiresSoonServesWhileItIsRenewed() async throws {
        let latch = Latch()
        let clock = ManualClock()
        var credentials = RotatingServer.first
        credentials.expiresAt = clock.timeSource().wallTime.advanced(by: .seconds(600))
        let bench = RenewalBench([.held(latch)], credentials: credentials, clock: clock)
        #expect(try await bench.send() == .ok)
        #expect(bench.server.presented.isEmpty)
        clock.advance(by: .seconds(599))
        #expect(try await bench.send() == .ok)
        #expect(bench.transport.received.count == 2, "the old token was used meanwhile")
        await latch.open()
        await bench.tokens.finish()
        #expect(try await bench.credentials.accessToken == "access-2")
        #expect(try await bench.send() == .ok)
        #expect(bench.server.presented.count == 1)
    }

    @Test func aFreshTokenOfAnotherProcessIsNotRenewedForItsShortLife() async throws {
        let clock = ManualClock()
        var credentials = RotatingServer.first
        // Half of the usual leeway is all that it lives.
        credentials.expiresAt = clock.timeSource().wallTime.advanced(by: .seconds(30))
        let bench = RenewalBench(credentials: credentials, clock: clock)
        for _ in 0..<25 {
            #expect(try await bench.send() == .ok)
            clock.advance(by: .seconds(1))
        }
        await bench.tokens.finish()
        #expect(bench.server.presented.isEmpty)
    }

    @Test func theNewTokenIsStoredBeforeAnyoneUsesIt() async throws {
        let store = SlowTokenStore(RotatingServer.first)
        let bench = RenewalBench(store: store)
        bench.server.expireAccess()
        let call = Task { try await bench.send() }
        await store.replacing.wait()
        #expect(bench.transport.received.count == 1, "nothing is sent with a token that is not stored")
        await store.release.open()
        #expect(try await call.value == .ok)
        #expect(bench.transport.received.count == 2)
    }

    @Test func aSignOutDuringARenewalStays() async throws {
        let latch = Latch()
        let bench = RenewalBench([.held(latch)])
        bench.server.expireAccess()
        let call = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        try await bench.store.update { $0 = Credentials() }
        await latch.open()
        let error = await #expect(throws: RecoveryError.self) { try await call.value }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(try await bench.credentials == Credentials())
    }

    @Test func whatOthersChangeMeanwhileIsKept() async throws {
        let latch = Latch()
        let bench = RenewalBench([.held(latch)])
        bench.server.expireAccess()
        let call = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        try await bench.store.update { $0.others = [JSONValue.Member("note", "kept")] }
        await latch.open()
        #expect(try await call.value == .ok)
        #expect(try await bench.credentials.others == [JSONValue.Member("note", "kept")])
        #expect(try await bench.credentials.accessToken == "access-3")
    }

    // MARK: Failures

    @Test func aRejectedRefreshTokenIsClearedAndAPersonIsNeeded() async throws {
        let bench = RenewalBench([.refuse(RotatingServer.invalidGrant)])
        bench.server.expireAccess()
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(error?.remedies == [.reauthenticate])
        #expect(try await bench.credentials == Credentials())
        #expect(bench.words.sorted() == ["clear access", "clear refresh", "refresh rejected"])
        // Nothing is left to renew with: the server is not asked again.
        await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(bench.server.presented.count == 1)
    }

    /// Such as the 401 of a proxy, or a refusal in the clothes of an outage: nobody has said that the token is dead.
    @Test func aRefusalThatIsNotDefiniteClearsNothing() async throws {
        var doubtful = RotatingServer.invalidGrant
        doubtful.tokenAction = .keep
        let bench = RenewalBench([.refuse(doubtful)])
        bench.server.expireAccess()
        let before = try await bench.credentials
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(error?.kind == .credentialRejected)
        #expect(try await bench.credentials.refreshToken == before.refreshToken)
        #expect(bench.words.contains("refresh failed"))
        #expect(!bench.words.contains { $0.hasPrefix("clear") })
    }

    @Test func aSiblingThatRenewedWithoutALeaseIsBelieved() async throws {
        let bench = RenewalBench([.refuse(RotatingServer.invalidGrant)])
        bench.server.expireAccess()
        let call = Task { try await bench.sendSkipping() }
        while bench.server.presented.isEmpty { await Task.yield() }
        // An older program, which knows no lease, has stored its own.
        try await bench.store.update {
            $0.accessToken = "access-2"
            $0.refreshToken = "refresh-2"
        }
        #expect(try await call.value == .ok)
        #expect(try await bench.credentials.refreshToken == "refresh-2")
    }

    /// It may take a moment to store what it was given: the refused credential is looked at four times.
    @Test(arguments: 1...4) func aSiblingThatIsLateIsBelieved(look: Int) async throws {
        let store = HookedTokenStore(RotatingServer.first)
        let bench = RenewalBench([.refuse(RotatingServer.invalidGrant)], store: store)
        bench.server.expireAccess()
        let looks = Locked(0)
        store.beforeEachRead { [server = bench.server] in
            guard !server.presented.isEmpty else { return nil }
            let count = looks.withLock { looks in
                looks += 1
                return looks
            }
            return count == look ? Credentials(accessToken: "access-2", refreshToken: "refresh-2") : nil
        }
        #expect(try await bench.sendSkipping() == .ok)
        #expect(try await bench.credentials.refreshToken == "refresh-2")
    }

    /// What the server has given out is worth another try at a store that fails.
    @Test(arguments: 1...4) func aStoreThatFailsForAMomentLosesNoToken(times: Int) async throws {
        let store = HookedTokenStore(RotatingServer.first)
        let bench = RenewalBench(store: store)
        bench.server.expireAccess()
        let failures = Locked(times)
        store.beforeEachChange { [server = bench.server] in
            let fails = failures.withLock { left in
                guard !server.presented.isEmpty, left > 0 else { return false }
                left -= 1
                return true
            }
            if fails { throw Credentials.StoreError("the disk is full") }
        }
        #expect(try await bench.sendSkipping() == .ok)
        #expect(try await bench.credentials.refreshToken == "refresh-3" && bench.server.presented.count == 1)
        #expect(failures.withLock { $0 } == 0)
    }

    static let passing: [(String, Outcome)] = [
        ("500", Outcome(.unavailable, processed: .unknown, remedies: [.retry], status: 500)),
        ("503", Outcome(.unavailable, processed: .unknown, remedies: [.retry], status: 503)),
        ("html", Outcome(.unreadable, processed: .unknown, status: 200)),
        ("invalid_client", Outcome(.misconfigured, processed: .no, remedies: [.fixRequest], status: 401)),
        ("429", Outcome(.rateLimited, processed: .no, retryAfter: .seconds(3600), remedies: [.wait], status: 429)),
        ("408", Outcome(.unavailable, processed: .no, remedies: [.retry], status: 408)),
        ("network", .transport(TransportError(.cannotConnect, .neverSent, message: ""))),
        ("temporarily_unavailable", Outcome(.unavailable, processed: .no, remedies: [.retry], status: 400)),
        ("403", Outcome(.permissionDenied, processed: .no, status: 403)),
    ]

    @Test func whatRefusesNothingClearsNothingAndDoesNotStick() async throws {
        for (name, outcome) in Self.passing {
            let bench = RenewalBench([.refuse(outcome), .refuse(outcome), .refuse(outcome)])
            bench.server.expireAccess()
            let before = try await bench.credentials
            let error = await #expect(throws: RecoveryError.self, "\(name)") { try await bench.sendSkipping() }
            #expect(error?.kind == outcome.kind, "\(name): the caller is told why the renewal failed")
            #expect(error?.kind != .reauthenticationRequired)
            #expect(try await bench.credentials == before, "\(name)")
            #expect(!bench.words.contains { $0.hasPrefix("clear") }, "\(name)")
            // The trouble passes: so does the failure.
            bench.clock.advance(by: .seconds(60))
            while try await bench.sendSkippingErrors() == nil { bench.clock.advance(by: .seconds(60)) }
            #expect(try await bench.credentials.accessToken != before.accessToken, "\(name)")
        }
    }

    @Test func afterAFailureTheNextRenewalIsPutOffRatherThanRefused() async throws {
        let failure = Outcome(.unavailable, processed: .unknown, remedies: [.retry], status: 500)
        let bench = RenewalBench([.refuse(failure)])
        bench.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await bench.send() }
        let next = Task { try await bench.send() }
        await bench.clock.waitForSleepers(1)
        #expect(bench.server.presented.count == 1, "the server is not asked at once")
        bench.clock.advance(by: .milliseconds(250))
        #expect(try await next.value == .ok)
        #expect(bench.events.words.contains { $0.hasPrefix("wait unavailable") })
    }

    @Test func whoCannotWaitForTheNextRenewalIsToldAtOnce() async throws {
        let failure = Outcome(.unavailable, processed: .unknown, remedies: [.retry], status: 500)
        let bench = RenewalBench(
            [.refuse(failure)],
            options: TokenManager.RenewalOptions(cooldown: .seconds(9)),
            deadline: .seconds(5)
        )
        bench.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await bench.send() }
        let error = await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(error?.reason == .deadlineWouldPass)
        #expect(error?.kind == .unavailable)
        #expect(bench.server.presented.count == 1)
    }

    @Test func aStoreThatFailsLosesNoRenewedToken() async throws {
        let store = FlakyTokenStore(RotatingServer.first)
        let bench = RenewalBench(store: store)
        bench.server.expireAccess()
        store.failsToWrite(true)
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(error?.reason == .repairFailed)
        #expect(try await bench.credentials.refreshToken == "refresh-1")
        // The disk has room again: what the server gave out is stored, and the refresh token is not used again.
        store.failsToWrite(false)
        bench.clock.advance(by: .seconds(30))
        #expect(try await bench.sendSkipping() == .ok)
        #expect(bench.server.presented == ["refresh-1"])
        #expect(try await bench.credentials.refreshToken == "refresh-3")
    }

    @Test func freshTokensThatAreRefusedAreNotAskedForWithoutEnd() async throws {
        let bench = RenewalBench(options: TokenManager.RenewalOptions(limit: 3))
        for _ in 0..<3 {
            bench.server.expireAccess()
            #expect(try await bench.send() == .ok)
        }
        bench.server.expireAccess()
        let error = await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(error?.reason == .renewalLimit)
        #expect(error?.kind == .credentialRejected)
        #expect(bench.server.presented.count == 3)
        #expect(try await bench.credentials.refreshToken != nil, "nothing is cleared")
        bench.clock.advance(by: .seconds(31))
        #expect(try await bench.send() == .ok)
    }

    @Test func tokensThatExpireInTheirTimeCountForNoLimit() async throws {
        let bench = RenewalBench(expiresIn: .seconds(1), options: TokenManager.RenewalOptions(limit: 1))
        try await bench.store.update { $0.expiresAt = bench.time.wallTime }
        for _ in 0..<10 {
            #expect(try await bench.send() == .ok)
            bench.clock.advance(by: .seconds(2))
        }
        #expect(bench.server.presented.count == 10)
    }

    @Test func forbiddenIsNeverAReasonToRenew() async throws {
        let bench = Bench([.status(403, ["www-authenticate": "Bearer error=\"insufficient_scope\""])])
        let tokens = TokenManager(
            store: InMemoryTokenStore(RotatingServer.first),
            renewer: RotatingServer(time: bench.clock.timeSource())
        )
        let outcome = Outcome(.permissionDenied, processed: .no, status: 403)
        guard case .pass = SessionRenewal(tokens).decide(FailureContext(outcome: outcome)) else {
            Issue.record("a 403 is a matter of permissions")
            return
        }
    }
}

extension RenewalBench {
    /// The status, or nil where the call failed.
    func sendSkippingErrors() async throws -> HTTPResponse.Status? {
        do {
            return try await sendSkipping()
        } catch is RecoveryError {
            return nil
        }
    }
}
