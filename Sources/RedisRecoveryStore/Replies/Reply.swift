#if Redis
import CHiredis
import HTTPRecovery

/// What the server answers.
enum Reply: Sendable, Hashable {
    case null
    case integer(Int64)
    /// A string, or a status such as `OK`.
    case bytes([UInt8])
    case array([Reply])
    case error(ServerError)

    /// Copies hiredis's reply; one of a type that was not asked for is nil.
    init?(_ reply: UnsafeMutablePointer<redisReply>) {
        switch unsafe reply.pointee.type {
        case REDIS_REPLY_NIL: self = .null
        case REDIS_REPLY_INTEGER: self = unsafe .integer(Int64(reply.pointee.integer))
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = unsafe .bytes(Self.bytes(of: reply))
        case REDIS_REPLY_ERROR: self = unsafe .error(ServerError(Self.bytes(of: reply)))
        case REDIS_REPLY_ARRAY:
            var elements: [Reply] = []
            guard let count = unsafe Int(exactly: reply.pointee.elements), count <= CHIREDIS_MAX_ELEMENTS else {
                return nil
            }
            for index in 0..<count {
                // hiredis bounds how deep arrays are nested.
                guard let element = unsafe reply.pointee.element[index], let copy = unsafe Reply(element) else {
                    return nil
                }
                elements.append(copy)
            }
            self = .array(elements)
        default: return nil
        }
    }

    private static func bytes(of reply: UnsafeMutablePointer<redisReply>) -> [UInt8] {
        guard let text = unsafe reply.pointee.str else { return [] }
        let buffer = unsafe UnsafeRawBufferPointer(start: text, count: Int(reply.pointee.len))
        return unsafe Array(buffer)
    }
}

// MARK: What the store expects

extension Reply {
    /// The integer.
    func integer() throws(SharedState.StoreError) -> Int {
        guard case .integer(let value) = self, let result = Int(exactly: value) else { throw .unexpectedReply }
        return result
    }

    /// The string.
    func string() throws(SharedState.StoreError) -> [UInt8] {
        guard case .bytes(let bytes) = self else { throw .unexpectedReply }
        return bytes
    }

    /// The string's digits as a number.
    func number() throws(SharedState.StoreError) -> UInt64 {
        guard let number = UInt64(String(decoding: try string(), as: UTF8.self)) else { throw .unexpectedReply }
        return number
    }

    /// The elements of an array of so many.
    func elements(_ count: Int) throws(SharedState.StoreError) -> [Reply] {
        guard case .array(let elements) = self, elements.count == count else { throw .unexpectedReply }
        return elements
    }
}

extension SharedState.StoreError {
    /// A reply of a type or content that no command of the store has.
    static let unexpectedReply = SharedState.StoreError(
        "the Redis server's reply is not what the command returns; check that it is Redis 5 or later, or Valkey, and "
            + "that no other application writes to the store's namespace"
    )
}
#endif
