import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// Several processes with the same credentials, and processes that are killed in the middle: of tests with many at a time, one
/// case after another.
@Suite(.bounded) struct RenewalProcessTests {
    @Test(.serialized, arguments: SharedPlace.allCases)
    func fourProcessesRenewOnceAnExpiry(place: SharedPlace) async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        try await place.run { store in
            try await store.seed(try sandbox.issueTokens(for: "ada@example.com"))
            for expiry in 1...5 {
                try sandbox.revokeTokens(accessOnly: true)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await withTemporaryDirectory { directory in
                                let worker = try store.worker(sandbox, "--requests", "50", in: directory)
                                let end = await worker.end()
                                #expect(end.status == 0, "\(end.output) \(end.errors)")
                                #expect(end.output == "ok 50 of 50\n")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(sandbox.oauthCounters().refreshes == Int64(expiry), "one renewal for all processes")
            }
            #expect(sandbox.oauthCounters().graceReuses == 0)
            #expect(sandbox.oauthCounters().violations == 0)
        }
    }

    /// A moment at which a process dies.
    struct Death: Sendable, CustomTestStringConvertible {
        var place: SharedPlace
        var moment: String
        var testDescription: String { "\(place.rawValue), \(moment)" }

        static let all = SharedPlace.allCases.flatMap { place in
            ["leased", "answered"].map { Death(place: place, moment: $0) }
        }
    }

    /// 6 places and moments, 17 times each: more than a hundred processes die.
    @Test(arguments: Death.all)
    func aProcessThatIsKilledLeavesTheOldOrTheNewAndTheNextRecovers(death: Death) async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        try await death.place.run { store in
            let tokens = try sandbox.issueTokens(for: "ada@example.com")
            try await store.seed(tokens)
            var known: Set<String> = [try #require(tokens.refreshToken)]
            for round in 1...17 {
                try sandbox.revokeTokens(accessOnly: true)
                let worker = try store.worker(
                    sandbox,
                    "--stop-at",
                    death.moment,
                    "--lease-ms",
                    "1000",
                    "--grace",
                    "30",
                    in: store.directory
                )
                while !worker.output.contains("stopped") {
                    if round > 0, worker.output.contains("ok") { break }
                    try await Task.sleep(for: .milliseconds(2))
                }
                worker.signal(SIGKILL)
                #expect(await worker.exitStatus() == -SIGKILL, "\(worker.output)")

                // The old one, whole.
                let held = try await store.credentials()
                let refresh = try #require(held["refresh_token"]?.string)
                #expect(known.contains(refresh))
                #expect(held["access_token"]?.string != nil)
                #expect(held["mark"]?.string == "kept")

                let end = try await store.worker(
                    sandbox,
                    "--lease-ms",
                    "1000",
                    "--grace",
                    "30",
                    in: store.directory
                ).end()
                #expect(end.output == "ok 1 of 1\n", "\(end.errors)")
                let renewed = try await store.credentials()
                known.insert(try #require(renewed["refresh_token"]?.string))
                #expect(renewed["mark"]?.string == "kept")
                #expect(renewed["renewal_began_at"] == nil)
            }
            let counters = sandbox.oauthCounters()
            #expect(counters.violations == 0)
            #expect(counters.familiesRevoked == 0)
            #expect(counters.graceReuses == (death.moment == "answered" ? 17 : 0))
        }
    }

    @Test(.serialized, arguments: SharedPlace.allCases)
    func processesThatAreKilledAtAnyMomentLeaveCredentialsThatWork(place: SharedPlace) async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        try await place.run { store in
            try await store.seed(try sandbox.issueTokens(for: "ada@example.com"))
            for round in 0..<8 {
                try sandbox.revokeTokens(accessOnly: true)
                let before = sandbox.requests().count
                let worker = try store.worker(
                    sandbox,
                    "--requests",
                    "20",
                    "--lease-ms",
                    "300",
                    "--grace",
                    "30",
                    in: store.directory
                )
                // At another moment each time: when so many requests have arrived.
                while sandbox.requests().count < before + 1 + round * 3, !worker.output.contains("ok") {
                    try await Task.sleep(for: .milliseconds(1))
                }
                worker.signal(SIGKILL)
                _ = await worker.exitStatus()
                #expect(try await store.credentials()["refresh_token"]?.string != nil)
                let end = try await store.worker(
                    sandbox,
                    "--requests",
                    "5",
                    "--lease-ms",
                    "300",
                    "--grace",
                    "30",
                    in: store.directory
                ).end()
                #expect(end.output == "ok 5 of 5\n", "\(end.errors)")
            }
            #expect(sandbox.oauthCounters().violations == 0)
            #expect(sandbox.oauthCounters().familiesRevoked == 0)
        }
    }
}
