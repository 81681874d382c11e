/// The faults that are set, with how often each has struck.
struct FaultTable: Sendable {
    /// A fault and its history.
    struct Entry: Sendable {
        let number: Int
        var fault: SandboxFault
        var matched: Int64 = 0
        var struck: Int64 = 0

        var isUsedUp: Bool { fault.times > 0 && struck >= fault.times }

        var json: JSONValue {
            var members: [JSONValue.Member] = [.init(key: "id", value: .int(Int64(number)))]
            if case .object(let rest) = fault.json { members += rest }
            members.append(.init(key: "struck", value: .int(struck)))
            return .object(members)
        }
    }

    private(set) var entries: [Entry] = []
    private var lastNumber = 0

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
            entries[index].struck += 1
            return entries[index].fault
        }
        return nil
    }
}
