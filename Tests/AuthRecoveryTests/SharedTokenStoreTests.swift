import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

@Suite struct SharedTokenStoreTests {
    private let state = SharedState(InMemoryRecoveryStore())

    @Test func whatOneStoresTheOtherReads() async throws {
        let (one, other) = (SharedTokenStore(state, name: "a"), SharedTokenStore(state, name: "a"))
        #expect(try await other.read().credentials == Credentials())
        try await one.update { $0 = Credentials(accessToken: "A", refreshToken: "R", sessionID: "s") }
        #expect(try await other.read().credentials == Credentials(accessToken: "A", refreshToken: "R", sessionID: "s"))
    }

    @Test func namesAreApart() async throws {
        try await SharedTokenStore(state, name: "a").update { $0.accessToken = "A" }
        #expect(try await SharedTokenStore(state, name: "b").read().credentials == Credentials())
    }

    @Test func theSecondOfTwoChangesIsToldOfTheFirst() async throws {
        let store = SharedTokenStore(state, name: "a")
        let before = try await store.read()
        #expect(try await store.replace(version: before.version, with: Credentials(accessToken: "A")) != nil)
        #expect(try await store.replace(version: before.version, with: Credentials(accessToken: "B")) == nil)
        #expect(try await store.read().credentials.accessToken == "A")
    }

    @Test func whatIsNoCredentialsIsNotOverwritten() async throws {
        _ = try await state.replaceRecord("credentials:a", version: nil, with: Array("nonsense".utf8))
        let store = SharedTokenStore(state, name: "a")
        let error = await #expect(throws: Credentials.StoreError.self) {
            try await store.update { $0.accessToken = "A" }
        }
        #expect(error?.description.contains("nonsense") == false)
    }

    /// That nobody answers is an outage and no wrong setting.
    @Test func aStoreThatDoesNotAnswerIsUnavailable() async throws {
        let store = SharedTokenStore(SharedState(SilentStore()), name: "a")
        await #expect(throws: SharedState.StoreError.self) { try await store.read() }
        let client = RecoveringClient(transport: ScriptedTransport([.status(200)])) {
            Authorization(TokenManager(store: store), audience: [Origin(scheme: "https", authority: "example.com")])
        }
        let request = try HTTPRequest(url: "https://example.com/")
        let error = await #expect(throws: RecoveryError.self) { try await client.send(request) }
        #expect(error?.kind == .unavailable && error?.outcome.processed == .no && error?.remedies == [.retry])
    }

    @Test func oneHoldsTheLease() async throws {
        let (one, other) = (SharedTokenStore(state, name: "a"), SharedTokenStore(state, name: "a"))
        let lease = try #require(await one.acquireLease(for: .seconds(60), time: .system))
        #expect(await other.acquireLease(for: .seconds(60), time: .system) == nil)
        #expect(await SharedTokenStore(state, name: "b").acquireLease(for: .seconds(60), time: .system) != nil)
        #expect(await lease.extend(for: .seconds(60)))
        await lease.release()
        let next = try #require(await other.acquireLease(for: .seconds(60), time: .system))
        #expect(next.fence > lease.fence)
        #expect(await lease.extend(for: .seconds(60)) == false)
    }
}

/// A store that is away.
private struct SilentStore: MemoryBackedStore {
    var name: String { "silent" }

    func asked<Value>(_ question: (InMemoryRecoveryStore) async -> Value) async throws -> Value {
        throw SharedState.StoreError("the store is away")
    }
}

@Suite struct TokenStoreWatchTests {
    @Test func changesByAnybodyAreSeenInOrder() async throws {
        let clock = ManualClock()
        let store = InMemoryTokenStore(Credentials(accessToken: "1"))
        var changes = store.changes(every: .seconds(1), time: clock.timeSource()).makeAsyncIterator()
        #expect(try await changes.next()?.credentials.accessToken == "1")
        for token in ["2", "3"] {
            try await store.update { $0.accessToken = Secret(token) }
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            #expect(try await changes.next()?.credentials.accessToken == Secret(token))
        }
    }

    @Test func aChangeOfAnotherProcessIsSeenToo() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        let clock = ManualClock()
        var changes = FileTokenStore(path: path).changes(time: clock.timeSource()).makeAsyncIterator()
        #expect(try await changes.next()?.credentials == Credentials())
        try await FileTokenStore(path: path).update { $0.accessToken = "A" }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await changes.next()?.credentials.accessToken == "A")
    }

    @Test func whoStopsLookingIsNotReadForAnyMore() async throws {
        let clock = ManualClock()
        let store = InMemoryTokenStore()
        do {
            var changes = store.changes(time: clock.timeSource()).makeAsyncIterator()
            _ = try await changes.next()
            await clock.waitForSleepers(1)
        }
        while clock.sleepers > 0 { await Task.yield() }
    }

    @Test func aStoreThatCannotBeReadEndsTheSequenceWithItsError() async throws {
        await #expect(throws: Credentials.StoreError.self) {
            for try await _ in FailingStore().changes() {}
        }
    }
}
