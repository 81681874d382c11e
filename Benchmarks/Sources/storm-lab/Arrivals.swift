import HTTPRecovery
import HTTPRecoveryTesting
import Synchronization

/// When attempts came to the service, in seconds.
final class Arrivals: Sendable {
    private let all = Mutex<[Double]>([])

    var times: [Double] { all.withLock { $0 } }

    func note(_ arrival: Simulation.Arrival) {
        all.withLock { $0.append(arrival.time.inSeconds) }
    }
}

/// Random numbers that are the same for a seed on each machine.
struct SplitMix {
    var state: UInt64

    /// A number in `0 ..< 1`.
    mutating func unit() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((bits ^ (bits >> 31)) >> 11) * 0x1p-53
    }
}
