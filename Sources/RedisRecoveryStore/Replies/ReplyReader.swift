#if Redis
import CHiredis
import HTTPRecovery

/// Cuts the server's bytes into replies, in bounded memory.
///
/// It is confined to the connection's thread.
@safe
final class ReplyReader {
    /// The most bytes of a reply that has not ended.
    static let maxBytes = 16 << 20

    private let reader: UnsafeMutablePointer<chiredis_reader>

    init?() {
        guard let reader = unsafe chiredis_reader_create() else { return nil }
        unsafe self.reader = reader
    }

    deinit {
        unsafe chiredis_reader_free(reader)
    }

    /// Takes bytes in.
    func feed(_ bytes: ArraySlice<UInt8>) throws(SharedState.StoreError) {
        let result = unsafe bytes.withUnsafeBytes { buffer in
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe redisReaderFeed(reader.pointee.reader, start, buffer.count)
        }
        guard result == REDIS_OK else { throw .brokenProtocol }
    }

    /// The next reply that is whole; nil if there is none yet.
    ///
    /// - Throws: `SharedState.StoreError` if the bytes are no replies; the connection is of no use then.
    func next() throws(SharedState.StoreError) -> Reply? {
        var reply: UnsafeMutableRawPointer?
        guard unsafe redisReaderGetReply(reader.pointee.reader, &reply) == REDIS_OK else { throw .brokenProtocol }
        guard let reply = unsafe reply else {
            if unsafe chiredis_reader_pending(reader) > Self.maxBytes { throw .brokenProtocol }
            return nil
        }
        defer { unsafe freeReplyObject(reply) }
        guard let copy = unsafe Reply(reply.assumingMemoryBound(to: redisReply.self)) else { throw .brokenProtocol }
        return copy
    }
}

extension SharedState.StoreError {
    /// Bytes that are not the protocol, or a reply beyond every bound.
    static let brokenProtocol = SharedState.StoreError(
        "what answers does not speak the Redis protocol, or its reply is beyond all bounds; check host and port, and "
            + "whether the server expects TLS (rediss://)"
    )
}
#endif
