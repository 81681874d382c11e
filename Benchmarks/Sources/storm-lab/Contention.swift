import HTTPRecovery

/// Clients that all want to change one record, each on the condition that nobody else has since it was read.
///
/// Of those whose write comes while another's is new, one succeeds; the others wait by their backoff, read and try again.
struct Contention {
    struct Result {
        /// The writes, refused ones too.
        let calls: Int
        /// When the last client was done, in seconds.
        let time: Double
    }

    static let backoffs: [(name: String, backoff: Backoff)] = {
        let (base, cap) = (Duration.milliseconds(5), Duration.seconds(2))
        let jitters: [(String, Backoff.Jitter)] = [
            ("exponential", .none), ("equal", .equal), ("full", .full), ("decorrelated", .decorrelated),
        ]
        return [("none", Backoff.constant(.zero))]
            + jitters.map { ($0, Backoff.exponential(base: base, cap: cap, jitter: $1)) }
    }()

    /// Lives through it once.
    static func run(clients: Int, _ backoff: Backoff, _ random: inout SplitMix) -> Result {
        struct Client {
            /// When its next message arrives at the record, and whether that is a write.
            var arrival: Double
            var isWrite = false
            var version = 0
            var progress = Backoff.Progress()
        }
        // A message takes about 10 ms, give or take 2.
        func trip() -> Double { 0.01 + (random.unit() + random.unit() + random.unit() - 1.5) * 0.0026 }
        var waiting = (0..<clients).map { _ in Client(arrival: trip()) }
        var (version, calls, time) = (0, 0, 0.0)
        while let index = waiting.indices.min(by: { waiting[$0].arrival < waiting[$1].arrival }) {
            var client = waiting[index]
            time = client.arrival
            if !client.isWrite {
                client.version = version
                client.isWrite = true
                client.arrival += trip() + trip()
            } else {
                calls += 1
                if client.version == version {
                    version += 1
                    waiting.remove(at: index)
                    continue
                }
                let delay = backoff.delay(&client.progress, random: random.unit()).inSeconds
                client.progress.step += 1
                client.isWrite = false
                client.arrival += trip() + delay + trip()
            }
            waiting[index] = client
        }
        return Result(calls: calls, time: time)
    }

    /// The average of several runs, for each number of clients.
    static func table(_ counts: [Int], rounds: Int, seed: UInt64) -> [(name: String, results: [Result])] {
        backoffs.map { name, backoff in
            var random = SplitMix(state: seed)
            let results = counts.map { count in
                let runs = (0..<rounds).map { _ in run(clients: count, backoff, &random) }
                return Result(
                    calls: runs.map(\.calls).reduce(0, +) / rounds,
                    time: runs.map(\.time).reduce(0, +) / Double(rounds)
                )
            }
            return (name, results)
        }
    }
}
