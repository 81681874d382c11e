#if Redis
public import HTTPRecovery

extension RedisStore {
    /// The most bytes of a record: 8 MiB.
    public static var maxRecordBytes: Int { 8 << 20 }

    /// The record under a key; nil if there is none.
    public func record(_ key: String) async throws -> SharedState.Record? {
        let reply = try await router.ask(Command("HMGET", keys.record(key), "v", "b"))
        let elements = try reply.elements(2)
        if elements[0] == .null { return nil }
        return SharedState.Record(bytes: try elements[1].string(), version: try elements[0].number())
    }

    /// Stores a record, if the server still holds the version.
    ///
    /// The version begins with the server's time in microseconds: it grows even when the server has lost its data, as
    /// long as its clock does not go back. A record without a lifetime does not expire. If the answer is lost the record may have been
    /// stored; the next read tells.
    ///
    /// - Throws: `SharedState.StoreError`, also when the record is larger than ``maxRecordBytes``.
    public func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration?,
        at now: Timestamp
    ) async throws -> SharedState.Record? {
        guard bytes.count <= Self.maxRecordBytes else {
            throw SharedState.StoreError("the record is larger than \(Self.maxRecordBytes) bytes; keep less in it")
        }
        let expected = version.map(Digits.text) ?? []
        let span = lifetime.map { Digits.text($0) } ?? []
        let reply = try await run(Scripts.replaceRecord, on: [keys.record(key)], expected, bytes, span)
        if reply == .null { return nil }
        return SharedState.Record(bytes: bytes, version: try reply.number())
    }
}
#endif
