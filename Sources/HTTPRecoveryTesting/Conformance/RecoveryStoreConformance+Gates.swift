import HTTPRecovery

extension RecoveryStoreConformance {
    static let gateChecks: [Check] = [
        Check("a gate that nobody has closed is open") { bench in
            let store = try await bench.makeStore()
            try bench.expect(try await store.closedGate(among: [], at: bench.now), is: nil, "no keys")
            try bench.expect(try await store.closedGate(among: [bench.key("a")], at: bench.now), is: nil, "a new key")
            try await store.open(bench.key("a"))
        },
        Check("of several closed gates the one that opens last counts") { bench in
            let store = try await bench.makeStore()
            let gates = [1200, 2400, 1800].map { bench.gate("\($0)", opensIn: .seconds($0)) }
            for gate in gates { try await store.close(gate, at: bench.now) }
            let keys = gates.map(\.key)
            let found = try await store.closedGate(among: keys, at: bench.now)
            try bench.expect(found?.key, is: keys[1], "the latest")
            try bench.expect(found, opensAt: gates[1].opensAt, "the latest")
            try bench.expect(
                try await store.closedGate(among: [keys[2], keys[0]], at: bench.now)?.key,
                is: keys[2],
                "the latest of two"
            )
            try bench.expect(
                try await store.closedGate(among: [bench.key("other"), keys[0]], at: bench.now)?.key,
                is: keys[0],
                "beside an open one"
            )
        },
        Check("a gate is only ever closed for longer") { bench in
            let store = try await bench.makeStore()
            let first = bench.gate("a", opensIn: .seconds(3600), code: "first")
            try await store.close(first, at: bench.now)
            try await store.close(bench.gate("a", opensIn: .seconds(1800), code: "shorter"), at: bench.now)
            var found = try await store.closedGate(among: [first.key], at: bench.now)
            try bench.expect(found, opensAt: first.opensAt, "after a shorter time")
            try bench.expect(found?.code, is: "first", "the code of the longer time")
            try await store.close(bench.gate("a", opensIn: .seconds(-1800), code: "past"), at: bench.now)
            found = try await store.closedGate(among: [first.key], at: bench.now)
            try bench.expect(found, opensAt: first.opensAt, "after a time in the past")
            let longer = bench.gate("a", opensIn: .seconds(7200), code: "longer")
            try await store.close(longer, at: bench.now)
            found = try await store.closedGate(among: [first.key], at: bench.now)
            try bench.expect(found, opensAt: longer.opensAt, "after a longer time")
            try bench.expect(found?.code, is: "longer", "the code of the longer time")
        },
        Check("a gate that no time opens outlasts every other") { bench in
            let store = try await bench.makeStore()
            let key = bench.key("a")
            try await store.close(bench.gate("a", opensIn: .seconds(3600)), at: bench.now)
            try await store.close(bench.gate("a", opensIn: nil, code: "indefinite"), at: bench.now)
            var found = try await store.closedGate(among: [key], at: bench.now)
            try bench.expect(found, opensAt: nil, "closed without an end")
            try await store.close(bench.gate("a", opensIn: .seconds(3000)), at: bench.now)
            try await store.close(bench.gate("b", opensIn: .seconds(3000)), at: bench.now)
            found = try await store.closedGate(among: [bench.key("b"), key], at: bench.now)
            try bench.expect(found, opensAt: nil, "after a time")
            try bench.expect(found?.code, is: "indefinite", "after a time")
            try await store.open(key)
            try bench.expect(try await store.closedGate(among: [key], at: bench.now), is: nil, "opened by a person")
        },
        Check("a gate that no time opens says when it is forgotten, within an hour") { bench in
            let store = try await bench.makeStore()
            let key = bench.key("a")
            try await store.close(bench.gate("a", opensIn: nil), at: bench.now)
            let found = try await store.closedGate(among: [key], at: bench.now)
            let left = found?.forgottenAt?.elapsed(since: bench.now)
            let hour = SharedState.Gate.indefiniteLifetime
            try bench.expect(
                left.map { $0 <= hour + .seconds(1) && $0 > hour - .seconds(600) } == true,
                "it is forgotten after \(hour), not \(String(describing: left))"
            )
            try await store.close(bench.gate("b", opensIn: .seconds(3600)), at: bench.now)
            let other = try await store.closedGate(among: [bench.key("b")], at: bench.now)
            try bench.expect(other?.forgottenAt == nil, "a gate that a time opens is forgotten by nobody")
        },
        Check("a gate is opened before its time, and it alone") { bench in
            let store = try await bench.makeStore()
            for name in ["a", "b"] { try await store.close(bench.gate(name, opensIn: StoreBench.long), at: bench.now) }
            try await store.open(bench.key("a"))
            try bench.expect(try await store.closedGate(among: [bench.key("a")], at: bench.now), is: nil, "opened")
            let other = try await store.closedGate(among: [bench.key("b")], at: bench.now)
            try bench.expect(other != nil, "another gate must stay closed")
            // What was opened can be closed for less than before.
            try await store.close(bench.gate("a", opensIn: .seconds(1200)), at: bench.now)
            try bench.expect(
                try await store.closedGate(among: [bench.key("a")], at: bench.now),
                opensAt: bench.now.advanced(by: .seconds(1200)),
                "closed anew"
            )
        },
        Check("a gate opens when its time has come") { bench in
            let store = try await bench.makeStore()
            try await store.close(bench.gate("short", opensIn: StoreBench.short), at: bench.now)
            try await store.close(bench.gate("long", opensIn: StoreBench.long), at: bench.now)
            try await store.close(bench.gate("past", opensIn: .zero), at: bench.now)
            try bench.expect(try await store.closedGate(among: [bench.key("past")], at: bench.now), is: nil, "no time")
            try await bench.passShort()
            try bench.expect(try await store.closedGate(among: [bench.key("short")], at: bench.now), is: nil, "run out")
            let keys = [bench.key("short"), bench.key("long")]
            try bench.expect(try await store.closedGate(among: keys, at: bench.now)?.key, is: keys[1], "the longer one")
            // Closed anew: what it was before counts no more.
            try await store.close(bench.gate("short", opensIn: .seconds(300), code: "new"), at: bench.now)
            try bench.expect(
                try await store.closedGate(among: [keys[0]], at: bench.now)?.code,
                is: "new",
                "closed anew"
            )
        },
        Check("gates of different scopes, origins and names are apart") { bench in
            let store = try await bench.makeStore()
            let names = ["", "a", "b", "a|b", "a:b", "A", "ä", "a\nb", " ", String(repeating: "n", count: 5000)]
            let origins = [("https", "one.example"), ("https", "one.example:8443"), ("http", "one.example")]
            var keys: [SharedState.Gate.Key] = []
            for scope in Outcome.Scope.allCases {
                for (scheme, authority) in origins {
                    let origin = Origin(scheme: scheme, authority: authority)
                    keys += names.map { SharedState.Gate.Key(scope: scope, origin: origin, name: $0) }
                }
            }
            for (index, key) in keys.enumerated() where index.isMultiple(of: 2) {
                let gate = SharedState.Gate(
                    key: key,
                    reason: .rateLimited,
                    opensAt: bench.now.advanced(by: StoreBench.long),
                    code: "\(index)"
                )
                try await store.close(gate, at: bench.now)
            }
            for (index, key) in keys.enumerated() {
                let found = try await store.closedGate(among: [key], at: bench.now)
                let expected: String? = index.isMultiple(of: 2) ? "\(index)" : nil
                try bench.expect(found?.code, is: expected, "the gate of \(key)")
                try bench.expect(found == nil || found?.key == key, "the gate must come back with its key, \(key)")
            }
        },
        Check("many gates are asked about at once") { bench in
            let store = try await bench.makeStore()
            let keys = (0..<200).map { bench.key("\($0)") }
            _ = try await bench.concurrently(200) { index in
                let time = Duration.seconds(60 * (60 + (index * 37) % 200))
                try await store.close(bench.gate("\(index)", opensIn: time), at: bench.now)
            }
            let found = try await store.closedGate(among: keys, at: bench.now)
            let expected = (0..<200).max { ($0 * 37) % 200 < ($1 * 37) % 200 } ?? 0
            try bench.expect(found?.key, is: keys[expected], "the latest of 200")
        },
        Check("a gate comes back with its reason, its code, its text and its remedies") { bench in
            let store = try await bench.makeStore()
            let texts: [String?] = [nil, "", "too_many_requests", "Bitte “später” erneut.\n\u{0} \\ \" 🕰️", "%s'; --"]
            for (index, text) in texts.enumerated() {
                for (reason, other) in [(Outcome.Kind.accountLocked, nil), (.quotaExhausted, text)] {
                    var gate = bench.gate("\(index) \(reason.rawValue)", scope: .account, opensIn: StoreBench.long)
                    gate.reason = reason
                    gate.code = text
                    gate.userMessage = other
                    gate.remedies = other == nil ? [.unlock, .contactAdmin] : []
                    try await store.close(gate, at: bench.now)
                    let found = try await store.closedGate(among: [gate.key], at: bench.now)
                    try bench.expect(found?.key, is: gate.key, "key")
                    try bench.expect(found?.reason, is: reason, "reason")
                    try bench.expect(found?.code, is: text, "code")
                    try bench.expect(found?.userMessage, is: other, "text for the user")
                    try bench.expect(found?.remedies, is: gate.remedies, "remedies")
                }
            }
        },
        Check("a gate that another has closed is soon known of without asking") { bench in
            let (one, other) = (try await bench.makeStore(), try await bench.makeStore())
            let stores = one.isLocal ? [one] : [one, other]
            // Who knows nothing yet says that it may be closed.
            for _ in 0..<20 {
                for store in stores { _ = store.mayHoldGates(among: [bench.key("a")]) }
                try await Task.sleep(for: .milliseconds(5))
            }
            try await one.close(bench.gate("a", opensIn: StoreBench.long), at: bench.now)
            let start = ContinuousClock.now
            for store in stores {
                // A store that says that nothing is closed tells what is some time before the next minute is over.
                while !store.mayHoldGates(among: [bench.key("b"), bench.key("a")]) || !store.mayHoldGates {
                    let isLate = ContinuousClock.now - start > .seconds(60)
                    try bench.expect(isLate, is: false, "a store does not know of a closed gate after a minute")
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
        },
        Check("a gate that opens in the far future is closed") { bench in
            let store = try await bench.makeStore()
            for time in [Duration.seconds(400_000_000), .seconds(100_000_000_000), .longest] {
                let gate = bench.gate("\(time)", opensIn: time)
                try await store.close(gate, at: bench.now)
                let found = try await store.closedGate(among: [gate.key], at: bench.now)
                let left = found.map { $0.opensAt?.elapsed(since: bench.now) ?? .longest }
                try bench.expect(
                    (left ?? .zero) > .seconds(300_000_000),
                    "\(time): only \(String(describing: left)) left"
                )
            }
        },
    ]

    static let queueChecks: [Check] = [
        Check("callers at a gate are counted from its closing") { bench in
            let store = try await bench.makeStore()
            let key = bench.key("a")
            try await store.close(bench.gate("a", opensIn: StoreBench.long), at: bench.now)
            for count in 0..<3 { try bench.expect(try await store.joinQueue(at: key), is: count, "waiting before") }
            // A gate that stays as it is keeps its count.
            try await store.close(bench.gate("a", opensIn: .seconds(300)), at: bench.now)
            try bench.expect(try await store.joinQueue(at: key), is: 3, "after a shorter time")
            try await store.close(bench.gate("a", opensIn: .seconds(7200)), at: bench.now)
            try bench.expect(try await store.joinQueue(at: key), is: 0, "after a longer time")
            try await store.open(key)
            try await store.close(bench.gate("a", opensIn: StoreBench.long), at: bench.now)
            try bench.expect(try await store.joinQueue(at: key), is: 0, "closed anew")
        },
        Check("callers at a gate that has opened meanwhile are counted anew") { bench in
            let store = try await bench.makeStore()
            let key = bench.key("a")
            try bench.expect(try await store.joinQueue(at: key), is: 0, "at an open gate")
            try await store.close(bench.gate("a", opensIn: StoreBench.short), at: bench.now)
            _ = try await store.joinQueue(at: key)
            try await bench.passShort()
            try await store.close(bench.gate("a", opensIn: StoreBench.long), at: bench.now)
            try bench.expect(try await store.joinQueue(at: key), is: 0, "closed anew")
        },
        Check("64 callers at once get 64 places") { bench in
            let store = try await bench.makeStore()
            let key = bench.key("a")
            try await store.close(bench.gate("a", opensIn: StoreBench.long), at: bench.now)
            let places = try await bench.concurrently { _ in try await store.joinQueue(at: key) }
            try bench.expect(places.sorted(), is: Array(0..<64), "places")
        },
    ]
}
