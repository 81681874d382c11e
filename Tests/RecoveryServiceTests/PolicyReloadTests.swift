#if Configuration && ServiceLifecycle
import Configuration
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import RecoveryService
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

/// A configuration that changes under a client.
@Suite struct PolicyReloadTests {
    private static let request = HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/")

    private static func value(_ text: String) -> ConfigValue { ConfigValue(.string(text), isSecret: false) }

    @Test func aChangeIsAppliedAndNothingForgotten() async throws {
        let provider = MutableInMemoryProvider(initialValues: [
            "http.max_attempts": "1", "http.breaker.failures": "1", "http.breaker.open_s": "10s",
        ])
        let config = ConfigReader(provider: provider).scoped(to: "http")
        let recovery = RecoveringClient.ReloadableRecovery(try RecoveringClient.Settings(config: config))
        let transport = ScriptedTransport([.status(500), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual()) { recovery }
        let (changes, told) = AsyncStream.makeStream(of: PolicyReload.Change.self)
        let reload = PolicyReload(recovery, of: client, from: config) { told.yield($0) }
        var next = changes.makeAsyncIterator()

        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await reload.run() }
                _ = try? await client.send(Self.request)

                provider.setValue(Self.value("7s"), forKey: "http.deadline_s")
                guard case .applied(let settings)? = await next.next() else { throw Missing() }
                #expect(settings.deadline == .seconds(7) && recovery.settings == settings)
                let refused = await #expect(throws: RecoveryError.self) { try await client.send(Self.request) }
                #expect(refused?.reason == .breakerOpen && transport.received.count == 1)

                provider.setValue(Self.value("never"), forKey: "http.deadline_s")
                guard case .refused(let problem)? = await next.next() else { throw Missing() }
                #expect(problem.key == "deadline_s" && recovery.settings == settings)

                provider.setValue(nil, forKey: "http.deadline_s")
                guard case .applied(let last)? = await next.next() else { throw Missing() }
                #expect(last.deadline == RecoveringClient.Settings.standard.deadline)
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    private struct Missing: Error {}
}
#endif
