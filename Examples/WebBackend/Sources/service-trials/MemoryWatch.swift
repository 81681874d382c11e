import Foundation

/// The memory of one process, over its life.
struct MemoryWatch {
    private var samples: [Int] = []

    /// Takes note of what it has now.
    mutating func note(_ bytes: Int?) {
        if let bytes { samples.append(bytes) }
    }

    /// The medians of the second and of the last quarter of its life: after it has warmed up, and in the end.
    var medians: (early: Int, late: Int) {
        let quarter = samples.count / 4
        guard quarter > 0 else { return (0, 0) }
        return (Self.median(samples[quarter..<(2 * quarter)]), Self.median(samples.suffix(quarter)))
    }

    /// Whether it has stayed: a tenth and 4 MiB more are a matter of chance.
    var isSteady: Bool { medians.early > 0 && medians.late <= medians.early / 10 * 11 + (4 << 20) }

    var text: String {
        let megabytes = [medians.early, medians.late].map { String(format: "%.1f", Double($0) / 1_048_576) }
        return megabytes.joined(separator: " -> ") + " MiB"
    }

    private static func median(_ samples: ArraySlice<Int>) -> Int {
        samples.sorted()[samples.count / 2]
    }
}
