import HTTPRecovery

extension RecoveryStoreConformance {
    static let sharingChecks: [Check] = [
        Check("a store has a name") { bench in
            try bench.expect(!(try await bench.makeStore().name.isEmpty), "the name must not be empty")
        },
        Check("two stores of one namespace see the same") { bench in
            let (one, other) = (try await bench.makeStore(), try await bench.makeStore())
            let gate = bench.gate("a", opensIn: StoreBench.long)
            try await one.close(gate, at: bench.now)
            try bench.expect(try await other.closedGate(among: [gate.key], at: bench.now)?.key, is: gate.key, "gate")
            try bench.expect(try await one.joinQueue(at: gate.key), is: 0, "queue")
            try bench.expect(try await other.joinQueue(at: gate.key), is: 1, "queue")
            let lease = try bench.granted(
                try await other.acquireLease("a", for: StoreBench.long, at: bench.now),
                "the lease"
            )
            try bench.expect(try await one.acquireLease("a", for: StoreBench.long, at: bench.now), is: nil, "lease")
            try await one.releaseLease(lease)
            let all = SharedState.BudgetEntry(key: "a", withdrawal: 1000, limit: 1000, initial: 1000)
            try bench.expect(try await one.settle(all, at: bench.now).isGranted, is: true, "budget")
            try bench.expect(try await other.settle(all, at: bench.now).isGranted, is: false, "budget")
            let record = try await one.replaceRecord("a", version: nil, with: [1])
            try bench.expect(try await other.record("a"), is: record, "record")
            try bench.expect(try await other.replaceRecord("a", version: nil, with: [2]), is: nil, "record")
        },
        Check("two stores that work at once lose nothing") { bench in
            let stores = [try await bench.makeStore(), try await bench.makeStore()]
            let leases = try await bench.concurrently(32) { index in
                try await stores[index % 2].acquireLease("a", for: StoreBench.long, at: bench.now)
            }
            try bench.expect(leases.compactMap(\.self).count, is: 1, "holders")
            let granted = try await bench.concurrently(32) { index in
                let entry = SharedState.BudgetEntry(key: "a", withdrawal: 1000, limit: 5000, initial: 5000)
                return try await stores[index % 2].settle(entry, at: bench.now).isGranted
            }
            try bench.expect(granted.filter(\.self).count, is: 5, "granted withdrawals")
            _ = try await bench.concurrently(16) { index in
                let store = stores[index % 2]
                while true {
                    let present = try await store.record("list")
                    let bytes = (present?.bytes ?? []) + [UInt8(index)]
                    if try await store.replaceRecord("list", version: present?.version, with: bytes) != nil { return }
                }
            }
            let list = try await stores[0].record("list")?.bytes
            try bench.expect(list?.sorted(), is: (0..<16).map(UInt8.init), "entries")
        },
        Check("namespaces do not see each other") { bench in
            let (one, other) = (try await bench.makeStore("one"), try await bench.makeStore("other"))
            let gate = bench.gate("a", opensIn: StoreBench.long)
            try await one.close(gate, at: bench.now)
            try bench.expect(try await other.closedGate(among: [gate.key], at: bench.now), is: nil, "gate")
            try await other.open(gate.key)
            try bench.expect(try await one.closedGate(among: [gate.key], at: bench.now)?.key, is: gate.key, "gate")
            for store in [one, other] {
                let lease = try await store.acquireLease("a", for: StoreBench.long, at: bench.now)
                _ = try bench.granted(lease, "a lease of each namespace")
                let all = SharedState.BudgetEntry(key: "a", withdrawal: 1000, limit: 1000, initial: 1000)
                try bench.expect(try await store.settle(all, at: bench.now).isGranted, is: true, "budget")
            }
            _ = try await one.replaceRecord("a", version: nil, with: [1])
            try bench.expect(try await other.record("a"), is: nil, "record")
            let own = try await other.replaceRecord("a", version: nil, with: [2])
            try bench.expect(own?.bytes, is: [2], "record")
            try bench.expect(try await one.record("a")?.bytes, is: [1], "record")
        },
        Check("hosts whose clocks differ agree", needs: .keepsItsOwnTime) { bench in
            let (one, other) = (try await bench.makeStore(), try await bench.makeStore())
            for (name, skew) in [("ahead", Duration.seconds(36_000)), ("behind", .seconds(-36_000))] {
                func skewed() -> Timestamp { bench.now.advanced(by: skew) }
                let gate = bench.gate(name, opensIn: StoreBench.long)
                try await one.close(gate, at: bench.now)
                let found = try await other.closedGate(among: [gate.key], at: skewed())
                try bench.expect(
                    found,
                    opensAt: skewed().advanced(by: StoreBench.long),
                    "seen by a host that is ten hours \(name)"
                )
                // A shorter time that is later by the other's clock is still shorter.
                var shorter = gate
                shorter.opensAt = skewed().advanced(by: .seconds(1200))
                try await other.close(shorter, at: skewed())
                let kept = try await one.closedGate(among: [gate.key], at: bench.now)
                try bench.expect(
                    kept,
                    opensAt: gate.opensAt,
                    "after a shorter time of a host that is ten hours \(name)"
                )
                let lease = try bench.granted(
                    try await one.acquireLease(name, for: StoreBench.long, at: bench.now),
                    "the lease"
                )
                let second = try await other.acquireLease(name, for: StoreBench.long, at: skewed())
                try bench.expect(second, is: nil, "a host that is ten hours \(name)")
                let isExtended = try await other.extendLease(lease, for: StoreBench.short, at: skewed())
                try bench.expect(isExtended, "a lease must be extended by a host that is ten hours \(name)")
                try await bench.passShort()
                let next = try await one.acquireLease(name, for: StoreBench.long, at: bench.now)
                _ = try bench.granted(next, "after the time of a host that is ten hours \(name)")
                let all = SharedState.BudgetEntry(key: name, withdrawal: 1000, limit: 1000, initial: 1000)
                try bench.expect(try await one.settle(all, at: bench.now).isGranted, is: true, "budget")
                try bench.expect(try await other.settle(all, at: skewed()).isGranted, is: false, "budget")
            }
        },
        Check("garbage in the back end is an error or nothing, never a trap", needs: .isCorruptible) { bench in
            let store = try await bench.makeStore()
            let sound = try await bench.makeStore("sound")
            let secret = "s3cret-content"
            let gate = bench.gate("a", opensIn: StoreBench.long, code: secret)
            let lease = try await store.acquireLease("a", for: StoreBench.long, at: bench.now)
            let budget = SharedState.BudgetEntry(key: "a", deposit: 10, withdrawal: 1000, limit: 5000, initial: 5000)
            try await store.close(gate, at: bench.now)
            _ = try await store.joinQueue(at: gate.key)
            _ = try await store.settle(budget, at: bench.now)
            let record = try await store.replaceRecord("a", version: nil, with: Array(secret.utf8))
            _ = try await sound.replaceRecord("a", version: nil, with: [1])
            try await bench.corrupt()

            func survives(_ operation: () async throws -> Void) async throws {
                do {
                    try await operation()
                } catch let error as SharedState.StoreError {
                    try bench.expect(!error.description.contains(secret), "an error must not show what was stored")
                    try bench.expect(!error.description.isEmpty, "an error must say what is wrong")
                } catch {
                    throw ConformanceFailure("expected a SharedState.StoreError, found \(type(of: error))")
                }
            }
            try await survives { _ = try await store.closedGate(among: [gate.key], at: bench.now) }
            try await survives { _ = try await store.joinQueue(at: gate.key) }
            try await survives { try await store.close(gate, at: bench.now) }
            try await survives { try await store.open(gate.key) }
            try await survives { _ = try await store.settle(budget, at: bench.now) }
            try await survives { _ = try await store.record("a") }
            try await survives {
                _ = try await store.replaceRecord("a", version: record?.version, with: Array(secret.utf8))
            }
            try await survives { _ = try await store.replaceRecord("a", version: nil, with: Array(secret.utf8)) }
            if let lease {
                try await survives { _ = try await store.extendLease(lease, for: StoreBench.long, at: bench.now) }
                try await survives { try await store.releaseLease(lease) }
            }
            try await survives { _ = try await store.acquireLease("a", for: StoreBench.long, at: bench.now) }
            try bench.expect(try await sound.record("a")?.bytes, is: [1], "another namespace")
        },
        Check("after its shutdown a store throws", needs: .closes) { bench in
            let store = try await bench.makeStore()
            _ = try await store.replaceRecord("a", version: nil, with: [1])
            await store.shutdown()
            await store.shutdown()
            func fails(_ name: String, _ operation: () async throws -> Void) async throws {
                do {
                    try await operation()
                } catch is SharedState.StoreError {
                    return
                } catch {
                    throw ConformanceFailure(
                        "\(name) after the shutdown: expected a SharedState.StoreError, found \(type(of: error))"
                    )
                }
                throw ConformanceFailure("\(name) after the shutdown: expected an error, found none")
            }
            let lease = SharedState.Lease(name: "a", fence: 1)
            try await fails("closedGate") { _ = try await store.closedGate(among: [bench.key("a")], at: bench.now) }
            try await fails("close") { try await store.close(bench.gate("a", opensIn: .seconds(900)), at: bench.now) }
            try await fails("open") { try await store.open(bench.key("a")) }
            try await fails("joinQueue") { _ = try await store.joinQueue(at: bench.key("a")) }
            try await fails("acquireLease") { _ = try await store.acquireLease("a", for: .seconds(900), at: bench.now) }
            try await fails("extendLease") { _ = try await store.extendLease(lease, for: .seconds(900), at: bench.now) }
            try await fails("releaseLease") { try await store.releaseLease(lease) }
            try await fails("settle") {
                _ = try await store.settle(SharedState.BudgetEntry(key: "a", limit: 1, initial: 1), at: bench.now)
            }
            try await fails("record") { _ = try await store.record("a") }
            try await fails("replaceRecord") { _ = try await store.replaceRecord("b", version: nil, with: [1]) }
            // Another one goes on.
            let next = try await bench.makeStore()
            try bench.expect(try await next.record("a")?.bytes, is: [1], "a new store")
        },
    ]
}
