import HTTPRecovery

/// What was measured: a line `ROUND PART POINT CONTESTANT METRIC NUMBER` for each number, and `# KEY TEXT` for what is
/// true of all of them.
struct Results {
    /// What a number is of.
    struct Key: Hashable {
        var part: String
        var point: String
        var contestant: String
        var metric: String
    }

    private(set) var facts: [(key: String, text: String)] = []
    /// Each by its round.
    private(set) var rounds: [Key: [Int: Double]] = [:]

    init(lines: some Sequence<Substring>) {
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 5)
            if words.first == "#", words.count > 2 {
                facts.append((String(words[1]), words[2...].joined(separator: " ")))
            } else if words.count == 6, let round = Int(words[0]), let value = Double(words[5]) {
                let names = words[1..<5].map(String.init)
                let key = Key(part: names[0], point: names[1], contestant: names[2], metric: names[3])
                rounds[key, default: [:]][round] = value
            }
        }
    }

    func fact(_ key: String) -> String? { facts.first { $0.key == key }?.text }

    /// What must not happen once: of these the worst round counts.
    private static let worstCases: Set<String> = ["cancel_worst_us", "next_worst_us", "connections", "seen"]

    /// The median of all rounds, or of a worst case the most; nil if it was not measured.
    func value(_ key: Key) -> Double? {
        Self.worstCases.contains(key.metric) ? rounds[key]?.values.max() : median(key)
    }

    /// The median of all rounds; nil if it was not measured.
    func median(_ key: Key) -> Double? { Self.median(rounds[key].map { Array($0.values) } ?? []) }

    /// The median of what a function makes of two numbers of the same round.
    func median(_ first: Key, _ second: Key, _ combine: (Double, Double) -> Double) -> Double? {
        guard let left = rounds[first], let right = rounds[second] else { return nil }
        return Self.median(left.compactMap { round, value in right[round].map { combine(value, $0) } })
    }

    private static func median(_ values: [Double]) -> Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
