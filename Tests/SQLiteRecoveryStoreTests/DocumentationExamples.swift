#if SQLite
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import SQLiteRecoveryStore
import Testing

/// The examples of the article, compiled and run.
@Suite struct DocumentationExamples {
    @Test func aClientThatRemembersALockout() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("recovery.db")
        let origin = Origin(scheme: "https", authority: "api.example.com")
        let key = SharedState.Gate.Key(scope: .account, origin: origin, name: "ada@example.com")
        var options = RequestOptions()
        options.account = "ada@example.com"

        let first = SQLiteStore(path: path, namespace: "billing")
        let opensAt = Timestamp.system().advanced(by: .seconds(600))
        try await first.close(SharedState.Gate(key: key, reason: .accountLocked, opensAt: opensAt), at: .system())
        await first.shutdown()

        // Another run of the program.
        let transport = ScriptedTransport()
        let store = SQLiteStore(path: path, namespace: "billing")
        let runtime = Runtime(store: store, storeTimeout: .seconds(600))
        let client = RecoveringClient(transport: transport, runtime: runtime)
        let error = await #expect(throws: RecoveryError.self) {
            _ = try await client.send(HTTPRequest(url: "https://api.example.com/items"), options: options)
        }
        #expect(error?.outcome.kind == .accountLocked)
        #expect(transport.received.isEmpty)
        await store.shutdown()
    }

    @Test func aClientThatSaysThatItsStoreIsGone() async throws {
        let store = SQLiteStore(path: "/dev/null/recovery.db")
        let events = RecoveryEvent.Hub()
        let said = Locked<[String]>([])
        @Sendable func print(_ line: String) { said.withLock { $0.append(line) } }
        let runtime = Runtime(store: store, storeTimeout: .milliseconds(250), events: events)
        events.observe { event in
            if case .store(.degraded(let name, let reason)) = event.kind {
                print("\(name): \(reason)")
            }
        }
        let client = RecoveringClient(transport: ScriptedTransport(), runtime: runtime)
        _ = try await client.send(HTTPRequest(url: "https://api.example.com/items"))
        #expect(said.withLock { $0.count } == 1)
        // The file's path follows, unless the machine was too busy to look within the time.
        #expect(said.withLock { $0.first?.hasPrefix("sqlite: ") } == true)
    }

    /// Compiled alone: the file is none of a test's.
    private func inShort(_ transport: any HTTPTransport) -> RecoveringClient {
        let store = SQLiteStore(path: "/var/lib/billing/recovery.db", namespace: "billing")
        let runtime = Runtime(store: store)
        let client = RecoveringClient(transport: transport, runtime: runtime)
        return client
    }
}
#endif
