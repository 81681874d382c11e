/// A state of something that several take part in, as a value, and what may happen in it.
package protocol ExploredState {
    /// What tells the state from others, as far as that matters for what may happen.
    associatedtype Code: Hashable

    var code: Code { get }

    /// What has happened last.
    var event: String { get }

    /// What must never be, and is.
    var violations: [String] { get }

    /// Whether all is well, and nobody has anything to do.
    var isSettled: Bool { get }

    /// Every state that may come next.
    var successors: [Self] { get }
}

/// All states that can be reached from a first one, each visited once.
package struct Exploration<State: ExploredState> {
    /// From which states each is reached; the first of them is on the shortest history.
    private var origins: [[Int]] = [[]]
    /// What has happened last, on the shortest history.
    private var events: [String]
    private var isSettled: [Bool]
    /// What must not be, with a shortest history that leads there.
    package private(set) var violations: [String] = []

    /// How many states there are.
    package var count: Int { events.count }

    /// Other tests go on meanwhile.
    package init(from first: State) async {
        (events, isSettled) = ([first.event], [first.isSettled])
        var known = [first.code: 0]
        // Those that were visited are dropped: the longest line of those that wait is all that is held at once.
        var waiting = [first]
        var number = 0
        while !waiting.isEmpty, violations.isEmpty {
            var next: [State] = []
            for state in waiting where violations.isEmpty {
                if number.isMultiple(of: 64) { await Task.yield() }
                for successor in state.successors {
                    violations += successor.violations.map { "\($0): \(history(of: number)), \(successor.event)" }
                    let code = successor.code
                    if let present = known[code] {
                        origins[present].append(number)
                    } else {
                        known[code] = count
                        next.append(successor)
                        origins.append([number])
                        events.append(successor.event)
                        isSettled.append(successor.isSettled)
                    }
                }
                number += 1
            }
            waiting = next
        }
        if violations.isEmpty { findDeadEnds() }
    }

    /// Goes backwards from the states in which all is well; what is not met then leads nowhere.
    private mutating func findDeadEnds() {
        var isMet = isSettled
        var waiting = isMet.indices.filter { isMet[$0] }
        while let state = waiting.popLast() {
            for origin in origins[state] where !isMet[origin] {
                isMet[origin] = true
                waiting.append(origin)
            }
        }
        if let dead = isMet.firstIndex(of: false) { violations.append("it goes on for ever: \(history(of: dead))") }
    }

    private func history(of state: Int) -> String {
        var (past, state) = ([events[state]], state)
        // The first state may be come back to.
        while state != 0, let origin = origins[state].first {
            past.append(events[origin])
            state = origin
        }
        return past.reversed().joined(separator: ", ")
    }
}
