/// The records as they were read last, and those that were changed while the store did not answer.
final class RecordOverlay: Sendable {
    /// A change that the store has not seen.
    struct Change: Sendable {
        var key: String
        /// The version of the store that was changed; nil if it held none.
        var base: UInt64?
        /// The content that was changed; nil if it is not known.
        var original: [UInt8]?
        var bytes: [UInt8]
        /// Earlier contents of ours: if the store holds one of them, a write that was given up came through.
        var earlier: [[UInt8]]

        /// Whether the change is newer than what the store holds.
        ///
        /// The content tells, not the version: a store that has lost its records may have been given the old one again by
        /// another process, and may give versions anew.
        func follows(_ present: SharedState.Record) -> Bool {
            if earlier.contains(present.bytes) { return true }
            guard let original else { return present.version == base }
            return present.bytes == original
        }
    }

    private struct Pending {
        var base: UInt64?
        var original: [UInt8]?
        var earlier: [[UInt8]] = []
    }

    /// How far a record may be trusted to be the newest, if the store has lost it.
    struct Standing: Sendable {
        /// Whether this process has stored it, and not somebody else.
        var isOwn: Bool
        /// When the store has confirmed it last.
        var confirmedAt: TimeSource.Instant
    }

    private struct Entry {
        var record: SharedState.Record?
        var standing: Standing?
        /// Set if the record was changed and the store has not seen it.
        var pending: Pending?
        /// When it was noted, and when it was used last.
        var notedAt: UInt64
        var usedAt: UInt64

        var size: Int { record?.bytes.count ?? 0 }
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var size = 0
        /// Counts what happens; it orders answers by when they were asked for.
        var moment: UInt64 = 0

        mutating func tick() -> UInt64 {
            moment += 1
            return moment
        }

        mutating func set(_ key: String, _ entry: Entry) {
            size += entry.size - (entries[key]?.size ?? 0)
            entries[key] = entry
            if entries.count > RecordOverlay.countLimit || size > RecordOverlay.sizeLimit { forgetOldest() }
        }

        /// Forgets a quarter of what is not waiting to be written, the longest unused first.
        private mutating func forgetOldest() {
            let keys = entries.filter { $0.value.pending == nil }.sorted { $0.value.usedAt < $1.value.usedAt }.map(
                \.key
            )
            for key in keys.prefix(keys.count / 4 + 1) { size -= entries.removeValue(forKey: key)?.size ?? 0 }
        }
    }

    /// The most records to remember, and below the most bytes of them; then those not used for longest are forgotten.
    static let countLimit = 4096
    private static let sizeLimit = 32 << 20
    /// A version with this bit was given here, not by the store, and so equals none that it gives.
    private static let localBit: UInt64 = 1 << 63
    /// How many contents of ours are told from those of others.
    private static let earlierLimit = 8

    private let state = Locked(State())

    /// Whether a version was given while the store did not answer; the store does not know it.
    static func isLocal(_ version: UInt64?) -> Bool {
        version.map { $0 & localBit != 0 } ?? false
    }

    /// The present moment, for ``note(_:under:askedAt:)``.
    var moment: UInt64 {
        state.withLock { $0.tick() }
    }

    /// The changes that the store has not seen.
    var changes: [Change] {
        state.withLock { state in
            state.entries.compactMap { key, entry in
                guard let pending = entry.pending, let record = entry.record else { return nil }
                return Change(
                    key: key,
                    base: pending.base,
                    original: pending.original,
                    bytes: record.bytes,
                    earlier: pending.earlier
                )
            }
        }
    }

    /// The records that this process has stored and that were still as the store had them at about the given time, the
    /// one used last first.
    ///
    /// Any other may have been replaced by somebody since, with a token that was used up or a session that was ended: a
    /// store that has lost it must not get that back.
    func unchanged(confirmedSince instant: TimeSource.Instant) -> [(key: String, record: SharedState.Record)] {
        state.withLock { state in
            state.entries.filter { _, entry in
                guard entry.pending == nil, let standing = entry.standing else { return false }
                return standing.isOwn && standing.confirmedAt >= instant
            }
            .sorted { $0.value.usedAt > $1.value.usedAt }
            .compactMap { key, entry in entry.record.map { (key, $0) } }
        }
    }

    /// Remembers what the store holds, unless something newer is known.
    ///
    /// - Parameter standing: Whether this process has stored it, and when the store said so; one that it has stored
    ///   stays its own when it is read again.
    func note(_ record: SharedState.Record?, under key: String, askedAt moment: UInt64, standing: Standing) {
        state.withLock { state in
            let present = state.entries[key]
            if present?.pending != nil { return }
            // Two questions may be answered in the other order.
            if let present, present.notedAt > moment, (record?.version ?? 0) <= (present.record?.version ?? 0) {
                return
            }
            let now = state.tick()
            var standing = standing
            if let present, present.record == record, present.standing?.isOwn == true { standing.isOwn = true }
            state.set(key, Entry(record: record, standing: standing, notedAt: now, usedAt: now))
        }
    }

    /// The record as it was read or changed last.
    func record(_ key: String, missing: SharedState.StoreError) throws(SharedState.StoreError) -> SharedState.Record? {
        let entry = state.withLock { state in
            let now = state.tick()
            state.entries[key]?.usedAt = now
            return state.entries[key]
        }
        guard let entry else { throw missing }
        return entry.record
    }

    /// Changes a record without the store.
    func replace(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        missing: SharedState.StoreError
    ) throws(SharedState.StoreError) -> SharedState.Record? {
        let result: SharedState.Record?? = state.withLock { state in
            let now = state.tick()
            var entry: Entry
            if let present = state.entries[key] {
                guard present.record?.version == version else { return .some(nil) }
                entry = present
            } else if version != nil, !Self.isLocal(version) {
                // Read once, and forgotten since.
                entry = Entry(record: nil, notedAt: now, usedAt: now)
            } else {
                return .none
            }
            var pending = entry.pending ?? Pending(base: version, original: entry.record?.bytes)
            if entry.pending != nil, let earlier = entry.record?.bytes { pending.earlier.append(earlier) }
            if pending.earlier.count > Self.earlierLimit { pending.earlier.removeFirst() }
            let record = SharedState.Record(bytes: bytes, version: now | Self.localBit)
            entry = Entry(record: record, pending: pending, notedAt: now, usedAt: now)
            state.set(key, entry)
            return record
        }
        guard let result else { throw missing }
        return result
    }

    /// Takes what somebody else has stored in place of all changes.
    func yield(_ key: String, to record: SharedState.Record) {
        state.withLock { state in
            let now = state.tick()
            state.set(key, Entry(record: record, notedAt: now, usedAt: now))
        }
    }

    /// Takes what the store holds now that it has the change; another change meanwhile is left to be written over it.
    func settle(_ change: Change, as record: SharedState.Record, standing: Standing) {
        state.withLock { state in
            guard var entry = state.entries[change.key] else { return }
            if entry.record?.bytes == change.bytes {
                entry.record = record
                entry.standing = standing
                entry.pending = nil
            } else {
                let earlier = entry.pending?.earlier ?? []
                entry.pending = Pending(base: record.version, original: record.bytes, earlier: earlier)
            }
            entry.notedAt = state.tick()
            state.set(change.key, entry)
        }
    }

    /// Takes the version under which the store has got a record again; if somebody else was faster it is read anew.
    func restore(_ key: String, _ record: SharedState.Record, as stored: SharedState.Record?, standing: Standing) {
        state.withLock { state in
            guard var entry = state.entries[key], entry.pending == nil, entry.record == record else {
                // Changed meanwhile: over what the store holds now.
                if let stored {
                    state.entries[key]?.pending?.base = stored.version
                    state.entries[key]?.pending?.original = stored.bytes
                }
                return
            }
            if let stored {
                entry.record = stored
                entry.standing = standing
                entry.notedAt = state.tick()
                state.set(key, entry)
            } else {
                state.size -= entry.size
                state.entries[key] = nil
            }
        }
    }
}
