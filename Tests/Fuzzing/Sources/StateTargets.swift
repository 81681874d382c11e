import Glibc
import HTTPRecovery
import HTTPRecoveryTesting

/// What a client has learned, as a file holds it that somebody may have changed.
enum StateTargets {
    static func readLiveState(_ bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let state = RecoveringClient.LiveState(json: json) else {
            return
        }
        finish {
            let first = client()
            _ = await first.restore(state)
            let known = first.liveState()
            let text = known.json.description
            guard let read = (try? JSONValue(parsing: text)).flatMap({ RecoveringClient.LiveState(json: $0) }) else {
                fatalError("Not so: a state can be read: \(text)")
            }
            require(await client().restore(read).isEmpty, "what a client has taken over another one does: \(text)")
        }
    }

    /// With all that can know something.
    private static func client() -> RecoveringClient {
        RecoveringClient(transport: ScriptedTransport(), runtime: .manual()) {
            Recovery(
                admissions: [
                    Recovery.CircuitBreaker(.init(window: .count(10), failureRatio: 0.5, minimumCalls: 4)),
                    Recovery.CircuitBreaker(.init(window: .time(.seconds(60)))),
                    Recovery.Pacing(perSecond: 0.1, burst: 4), Recovery.AdaptiveRate(),
                    Recovery.ConcurrencyLimit(.aimd(initial: 20, min: 5, max: 200)), Recovery.AnnouncedLimits(),
                    Recovery.PublishedLimits { _, _ in ("all", .init(6, per: .seconds(600))) },
                ]
            )
        }
    }

    /// Runs a task to its end; a fuzzer's functions wait for nothing.
    private static func finish(_ work: @escaping @Sendable () async -> Void) {
        // The gate outlives the task, which opens it last.
        let gate = FaultServer.Gate()
        Task {
            await work()
            gate.open()
        }
        gate.wait()
    }
}
