/// The records as they were read last, and those that were changed while the store did not answer.
final class RecordOverlay: Sendable {
    /// A change that the store has not seen.
    struct Change: Sendable {
        var key: String
        /// The version of the store that was changed; nil where it held none.
        var base: UInt64?
        var bytes: [UInt8]
    }

    private struct Entry {
        var record: StoredRecord?
        /// What the store held before the change; nil where nothing was changed.
        var base: UInt64??
    }

    private let entries = Locked<[String: Entry]>([:])

    /// The changes that the store has not seen.
    var changes: [Change] {
        entries.withLock { entries in
            entries.compactMap { key, entry in
                guard let base = entry.base, let record = entry.record else { return nil }
                return Change(key: key, base: base, bytes: record.bytes)
            }
        }
    }

    /// Remembers what the store holds.
    func note(_ record: StoredRecord?, under key: String) {
        entries.withLock { $0[key] = Entry(record: record, base: nil) }
    }

    /// The record as it was read or changed last.
    func record(_ key: String, missing: StoreError) throws(StoreError) -> StoredRecord? {
        guard let entry = entries.withLock({ $0[key] }) else { throw missing }
        return entry.record
    }

    /// Changes a record without the store.
    func replace(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        missing: StoreError
    ) throws(StoreError) -> StoredRecord? {
        let result: StoredRecord?? = entries.withLock { entries in
            guard let entry = entries[key] else { return .none }
            guard entry.record?.version == version else { return .some(nil) }
            let record = StoredRecord(bytes: bytes, version: (version ?? 0) &+ 1)
            entries[key] = Entry(record: record, base: entry.base ?? .some(entry.record?.version))
            return record
        }
        guard let result else { throw missing }
        return result
    }

    /// Takes what the store holds in place of a change, unless there was another change meanwhile.
    func settle(_ change: Change, as record: StoredRecord?) {
        entries.withLock { entries in
            guard entries[change.key]?.record?.bytes == change.bytes else {
                // The later change goes on from what the store holds now.
                entries[change.key]?.base = .some(record?.version)
                return
            }
            entries[change.key] = Entry(record: record, base: nil)
        }
    }
}
