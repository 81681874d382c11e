import HTTPRecovery

extension RecoveryStoreConformance {
    static let leaseChecks: [Check] = [
        Check("a lease has one holder") { bench in
            let store = try await bench.makeStore()
            let lease = try bench.granted(
                try await store.acquireLease("a", for: StoreBench.long, at: bench.now),
                "the first"
            )
            try bench.expect(lease.name, is: "a", "name")
            try bench.expect(
                try await store.acquireLease("a", for: StoreBench.long, at: bench.now),
                is: nil,
                "while it is held"
            )
            let other = try await store.acquireLease("b", for: StoreBench.long, at: bench.now)
            _ = try bench.granted(other, "another name")
            try await store.releaseLease(lease)
            let next = try await store.acquireLease("a", for: StoreBench.long, at: bench.now)
            _ = try bench.granted(next, "after it was given back")
        },
        Check("a lease runs out") { bench in
            let store = try await bench.makeStore()
            let lost = try bench.granted(
                try await store.acquireLease("a", for: StoreBench.short, at: bench.now),
                "the first"
            )
            try await bench.passShort()
            let extended = try await store.extendLease(lost, for: StoreBench.long, at: bench.now)
            try bench.expect(!extended, "a lease that has run out must not be extended, even if nobody has taken it")
            let next = try bench.granted(
                try await store.acquireLease("a", for: StoreBench.long, at: bench.now),
                "after it ran out"
            )
            try bench.expect(next.fence > lost.fence, "the fence must grow: \(lost.fence), then \(next.fence)")
        },
        Check("a lease is extended from now, while it is held") { bench in
            let store = try await bench.makeStore()
            let shortened = try bench.granted(
                try await store.acquireLease("a", for: StoreBench.long, at: bench.now),
                "the first"
            )
            try bench.expect(
                try await store.extendLease(shortened, for: StoreBench.short, at: bench.now),
                is: true,
                "extended"
            )
            try await bench.passShort()
            let next = try await store.acquireLease("a", for: StoreBench.long, at: bench.now)
            _ = try bench.granted(next, "the time counts from the extension")
            // A machine that is busy may miss the short time; then it is tried again with twice as much.
            var short = Duration.milliseconds(200)
            for attempt in 0..<10 {
                let started = ContinuousClock.now
                let lease = try bench.granted(
                    try await store.acquireLease("b\(attempt)", for: short, at: bench.now),
                    "the next"
                )
                let isExtended = try await store.extendLease(lease, for: StoreBench.long, at: bench.now)
                if !isExtended, ContinuousClock.now - started >= short {
                    short *= 2
                    continue
                }
                try bench.expect(isExtended, "a lease that is held must be extended")
                try await bench.advance(by: short + .milliseconds(50))
                let taken = try await store.acquireLease(lease.name, for: StoreBench.long, at: bench.now)
                try bench.expect(taken, is: nil, "while it is held longer")
                let again = try await store.extendLease(lease, for: StoreBench.long, at: bench.now)
                try bench.expect(again, is: true, "extended again")
                return
            }
            throw ConformanceFailure("a lease could not be extended within its time, ten times: the last had \(short)")
        },
        Check("the fence grows with every grant") { bench in
            let store = try await bench.makeStore()
            var last: UInt64 = 0
            for round in 0..<6 {
                let duration = round.isMultiple(of: 2) ? StoreBench.short : StoreBench.long
                let lease = try bench.granted(
                    try await store.acquireLease("a", for: duration, at: bench.now),
                    "round \(round)"
                )
                try bench.expect(lease.fence > last, "the fence must grow: \(last), then \(lease.fence)")
                last = lease.fence
                if round.isMultiple(of: 2) { try await bench.passShort() } else { try await store.releaseLease(lease) }
            }
        },
        Check("who has lost a lease has no power over the next") { bench in
            let store = try await bench.makeStore()
            let lost = try bench.granted(
                try await store.acquireLease("a", for: StoreBench.short, at: bench.now),
                "the first"
            )
            try await bench.passShort()
            let held = try bench.granted(
                try await store.acquireLease("a", for: StoreBench.long, at: bench.now),
                "the second"
            )
            let isExtended = try await store.extendLease(lost, for: StoreBench.long, at: bench.now)
            try bench.expect(!isExtended, "a lease that another holds must not be extended")
            try await store.releaseLease(lost)
            let third = try await store.acquireLease("a", for: StoreBench.long, at: bench.now)
            try bench.expect(third, is: nil, "after the lost lease was given back")
            try bench.expect(
                try await store.extendLease(held, for: StoreBench.long, at: bench.now),
                is: true,
                "the holder's"
            )
            // Nor has one that was never granted.
            for fence in [held.fence + 1, 0, .max] {
                let forged = SharedState.Lease(name: "a", fence: fence)
                try await store.releaseLease(forged)
                let isExtended = try await store.extendLease(forged, for: StoreBench.long, at: bench.now)
                try bench.expect(!isExtended, "a lease that was never granted must not be extended")
            }
            let unknown = SharedState.Lease(name: "unknown", fence: 1)
            try await store.releaseLease(unknown)
            let isKnown = try await store.extendLease(unknown, for: StoreBench.long, at: bench.now)
            try bench.expect(!isKnown, "a lease that nobody holds must not be extended")
        },
        Check("of 64 that want a lease at once, one gets it") { bench in
            let store = try await bench.makeStore()
            var last: UInt64 = 0
            for round in 0..<3 {
                let granted = try await bench.concurrently { _ in
                    try await store.acquireLease("a", for: StoreBench.long, at: bench.now)
                }
                .compactMap(\.self)
                try bench.expect(granted.count, is: 1, "holders in round \(round)")
                guard let lease = granted.first else { return }
                try bench.expect(lease.fence > last, "the fence must grow: \(last), then \(lease.fence)")
                last = lease.fence
                try await store.releaseLease(lease)
            }
        },
        Check("names and times of leases may be odd") { bench in
            let store = try await bench.makeStore()
            for name in ["", " ", "a:b|c", "ä\u{0}\n", String(repeating: "n", count: 5000)] {
                let lease = try bench.granted(
                    try await store.acquireLease(name, for: .longest, at: bench.now),
                    "a long lease"
                )
                try bench.expect(lease.name, is: name, "name")
                try bench.expect(
                    try await store.acquireLease(name, for: .seconds(1), at: bench.now),
                    is: nil,
                    "while it is held"
                )
                try await store.releaseLease(lease)
                _ = try await store.acquireLease(name, for: .zero, at: bench.now)
                try await bench.advance(by: .milliseconds(5))
                _ = try await store.acquireLease(name, for: .seconds(-5), at: bench.now)
                try await bench.advance(by: .milliseconds(5))
                let next = try await store.acquireLease(name, for: StoreBench.long, at: bench.now)
                _ = try bench.granted(next, "after leases without a time")
            }
        },
    ]
}
