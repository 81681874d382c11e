import HTTPRecovery

extension RecoveryStoreConformance {
    static let budgetChecks: [Check] = [
        Check("a budget is booked by the rule, exactly") { bench in
            let store = try await bench.makeStore()
            let random = Runtime.RandomSource(seed: 11)
            func amount(_ bound: Double) -> Int { Int(random.unit() * bound) }
            var balance: Int?
            for step in 0..<200 {
                let entry = SharedState.BudgetEntry(
                    key: "https://api.example.com",
                    deposit: step.isMultiple(of: 3) ? 0 : amount(3000),
                    withdrawal: step.isMultiple(of: 5) ? 0 : amount(2500),
                    limit: step.isMultiple(of: 50) ? 0 : 10_000,
                    initial: amount(5000)
                )
                let expected = entry.applied(to: balance)
                try bench.expect(try await store.settle(entry, at: bench.now), is: expected, "step \(step), \(entry)")
                balance = expected.balance
            }
        },
        Check("a budget begins with its initial amount and fills up to its limit") { bench in
            let store = try await bench.makeStore()
            func settle(_ key: String, deposit: Int = 0, withdrawal: Int = 0, initial: Int = 500) async throws
                -> SharedState.BudgetBalance
            {
                try await store.settle(
                    SharedState.BudgetEntry(
                        key: key,
                        deposit: deposit,
                        withdrawal: withdrawal,
                        limit: 1000,
                        initial: initial
                    ),
                    at: bench.now
                )
            }
            let paid = SharedState.BudgetBalance(isGranted: true, balance: 500)
            try bench.expect(try await settle("a"), is: paid, "the initial amount")
            try bench.expect(try await settle("a", initial: 900), is: paid, "initial counts once")
            try bench.expect(
                try await settle("a", deposit: 2000),
                is: SharedState.BudgetBalance(isGranted: true, balance: 1000),
                "the limit"
            )
            try bench.expect(
                try await settle("a", withdrawal: 1000),
                is: SharedState.BudgetBalance(isGranted: true, balance: 0),
                "all of it"
            )
            try bench.expect(
                try await settle("a", withdrawal: 1),
                is: SharedState.BudgetBalance(isGranted: false, balance: 0),
                "nothing left"
            )
            try bench.expect(
                try await settle("a", deposit: 1, withdrawal: 1),
                is: SharedState.BudgetBalance(isGranted: true, balance: 0),
                "a deposit counts before the withdrawal"
            )
            try bench.expect(try await settle("b"), is: paid, "another key")
            try bench.expect(
                try await settle("c", deposit: 10, initial: 3000),
                is: SharedState.BudgetBalance(isGranted: true, balance: 3000),
                "more than the limit is not taken away"
            )
        },
        Check("64 at once never spend more than there is") { bench in
            let store = try await bench.makeStore()
            let answers = try await bench.concurrently { index in
                try await store.settle(
                    SharedState.BudgetEntry(
                        key: "a",
                        deposit: index.isMultiple(of: 4) ? 1000 : 0,
                        withdrawal: 1000,
                        limit: 1_000_000,
                        initial: 10_000
                    ),
                    at: bench.now
                )
            }
            let granted = answers.filter(\.isGranted).count
            try bench.expect(answers.allSatisfy { $0.balance >= 0 }, "a balance must not be negative")
            let end = try await store.settle(
                SharedState.BudgetEntry(key: "a", limit: 1_000_000, initial: 10_000),
                at: bench.now
            )
            try bench.expect(granted * 1000 + end.balance, is: 26_000, "what was granted and what is left")
            try bench.expect(granted >= 10, "what is there must be granted, but only \(granted) were")
        },
        Check("a budget that nobody uses is forgotten after its lifetime", needs: .skipsTime) { bench in
            let store = try await bench.makeStore()
            let all = SharedState.BudgetEntry(key: "a", withdrawal: 500, limit: 1000, initial: 500)
            let nothing = SharedState.BudgetBalance(isGranted: false, balance: 0)
            try bench.expect(try await store.settle(all, at: bench.now).isGranted, is: true, "the first")
            try await bench.advance(by: SharedState.BudgetEntry.lifetime - .seconds(1))
            try bench.expect(try await store.settle(all, at: bench.now), is: nothing, "within the lifetime")
            try await bench.advance(by: SharedState.BudgetEntry.lifetime - .seconds(1))
            try bench.expect(
                try await store.settle(all, at: bench.now),
                is: nothing,
                "the lifetime counts from the use"
            )
            try await bench.advance(by: SharedState.BudgetEntry.lifetime + .seconds(1))
            try bench.expect(try await store.settle(all, at: bench.now).isGranted, is: true, "after the lifetime")
        },
    ]
}
