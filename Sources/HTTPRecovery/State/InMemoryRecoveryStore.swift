import Synchronization

/// State within one process.
public final class InMemoryRecoveryStore: RecoveryStore {
    private struct Entry {
        var gate: Gate
        var queued = 0
    }

    private let entries = Locked<[Gate.Key: Entry]>([:])
    private let count = Atomic(0)
    private let limit: Int

    /// Creates an empty store.
    ///
    /// - Parameter limit: The most gates to remember, at least 1; beyond it those that open first are forgotten. It
    ///   bounds memory against a client that talks to endless hosts.
    public init(limit: Int = 65_536) {
        self.limit = max(1, limit)
    }

    /// Whether any gate is remembered.
    public var mayHoldGates: Bool {
        count.load(ordering: .relaxed) > 0
    }

    /// Of the closed gates among the keys, the one that opens last.
    public func closedGate(among keys: [Gate.Key], at now: Timestamp) async -> Gate? {
        entries.withLock { entries in
            var latest: Gate?
            for key in keys {
                guard let gate = entries[key]?.gate else { continue }
                guard gate.isClosed(at: now) else {
                    entries[key] = nil
                    continue
                }
                if latest.map(gate.opensLater) ?? true { latest = gate }
            }
            count.store(entries.count, ordering: .relaxed)
            return latest
        }
    }

    /// Closes a gate until the later of its old and its new time.
    public func close(_ gate: Gate) async {
        entries.withLock { entries in
            if let present = entries[gate.key]?.gate, !gate.opensLater(than: present) { return }
            if entries.count >= limit, entries[gate.key] == nil, let first = Self.firstToOpen(in: entries) {
                entries[first] = nil
            }
            entries[gate.key] = Entry(gate: gate)
            count.store(entries.count, ordering: .relaxed)
        }
    }

    /// Opens a gate.
    public func open(_ key: Gate.Key) async {
        entries.withLock { entries in
            entries[key] = nil
            count.store(entries.count, ordering: .relaxed)
        }
    }

    /// Counts one more caller at the gate.
    public func joinQueue(at key: Gate.Key) async -> Int {
        entries.withLock { entries in
            guard let entry = entries[key] else { return 0 }
            entries[key]?.queued += 1
            return entry.queued
        }
    }

    private static func firstToOpen(in entries: [Gate.Key: Entry]) -> Gate.Key? {
        entries.values.min { $1.gate.opensLater(than: $0.gate) }?.gate.key
    }
}
