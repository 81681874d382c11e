/// All states that can be reached from a first one.
struct FleetExploration {
    /// The states, by the shortest history that leads there.
    private var states: [FleetModel]
    /// From which states each is reached; the first of them is on the shortest history.
    private var origins: [[Int]] = [[]]
    /// What must not be, with a shortest history that leads there.
    private(set) var violations: [String] = []

    var count: Int { states.count }

    /// Other tests go on meanwhile.
    init(from first: FleetModel) async {
        states = [first]
        var known = [first.code: 0]
        var next = 0
        while next < states.count, violations.isEmpty {
            if next.isMultiple(of: 64) { await Task.yield() }
            for successor in states[next].successors {
                violations += successor.violations.map { "\($0): \(history(of: next)), \(successor.event)" }
                let code = successor.code
                if let number = known[code] {
                    origins[number].append(next)
                } else {
                    known[code] = states.count
                    states.append(successor)
                    origins.append([next])
                }
            }
            next += 1
        }
        if violations.isEmpty { findDeadEnds() }
    }

    /// Goes backwards from the states in which all is well; what is not met then leads nowhere.
    private mutating func findDeadEnds() {
        var waiting = states.indices.filter { states[$0].isSettled }
        var isMet = Array(repeating: false, count: states.count)
        for state in waiting { isMet[state] = true }
        while let state = waiting.popLast() {
            for origin in origins[state] where !isMet[origin] {
                isMet[origin] = true
                waiting.append(origin)
            }
        }
        if let dead = isMet.firstIndex(of: false) { violations.append("it goes on for ever: \(history(of: dead))") }
    }

    private func history(of state: Int) -> String {
        var (events, state) = ([states[state].event], state)
        while let origin = origins[state].first {
            events.append(states[origin].event)
            state = origin
        }
        return events.reversed().joined(separator: ", ")
    }
}
