#if Redis
/// Formatted commands on their way into the socket.
struct OutgoingBytes {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }
    var rest: ArraySlice<UInt8> { bytes[start...] }

    /// Adds a command in the protocol's form: how many words it has, then each behind its length.
    mutating func append(_ command: Command) {
        bytes += "*\(command.words.count)\r\n".utf8
        for word in command.words {
            bytes += "$\(word.count)\r\n".utf8
            bytes += word
            bytes += "\r\n".utf8
        }
    }

    /// Drops what the socket has taken.
    mutating func consume(_ count: Int) {
        start += count
        if start >= bytes.count {
            start = 0
            // A large command does not keep its memory.
            bytes.removeAll(keepingCapacity: bytes.count <= 65_536)
        } else if start > 1 << 20 {
            bytes.removeFirst(start)
            start = 0
        }
    }

    mutating func removeAll() {
        self = OutgoingBytes()
    }
}
#endif
