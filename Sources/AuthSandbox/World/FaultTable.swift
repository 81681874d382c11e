import HTTPRecovery

/// The faults that are set, with how often each has struck.
struct FaultTable: Sendable {
    /// A fault and its history.
    struct Entry: Encodable, Sendable {
        let number: Int
        var fault: SandboxFault
        var matched: Int64 = 0
        var struck: Int64 = 0

        var isUsedUp: Bool { fault.times > 0 && struck >= fault.times }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: NamedKey.self)
            try container.encode(number, forKey: NamedKey("id"))
            try fault.encode(to: encoder)
            try container.encode(struck, forKey: NamedKey("struck"))
        }
    }

    private(set) var entries: [Entry] = []
    private var lastNumber = 0
    /// For faults that strike some requests alone: what is drawn for them changes no id and no code.
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    @discardableResult
    mutating func add(_ fault: SandboxFault) -> Entry {
        lastNumber += 1
        let entry = Entry(number: lastNumber, fault: fault)
        entries.append(entry)
        return entry
    }

    /// Removes one fault, or all; tells how many went.
    mutating func clear(number: Int? = nil) -> Int {
        let before = entries.count
        entries.removeAll { number == nil || $0.number == number }
        return before - entries.count
    }

    /// The fault that strikes this request, counted.
    mutating func take(for request: SandboxRequest) -> SandboxFault? {
        for index in entries.indices where !entries[index].isUsedUp && entries[index].fault.matches(request) {
            entries[index].matched += 1
            if entries[index].matched <= entries[index].fault.skip { continue }
            let percent = entries[index].fault.percent
            if percent < 100, Int64.random(in: 0..<100, using: &random) >= percent { continue }
            entries[index].struck += 1
            return entries[index].fault
        }
        return nil
    }
}
