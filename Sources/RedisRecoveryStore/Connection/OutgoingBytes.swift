#if Redis
import CHiredis

/// Formatted commands on their way into the socket.
struct OutgoingBytes {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }
    var rest: ArraySlice<UInt8> { bytes[start...] }

    /// Formats a command; false where there is no memory for it.
    mutating func append(_ command: Command) -> Bool {
        let lengths = command.words.map(\.count)
        let joined = command.words.flatMap(\.self)
        return unsafe joined.withUnsafeBytes { buffer in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            var offset = 0
            let empty = unsafe UnsafeRawPointer(bitPattern: 1)
            for length in lengths {
                // An empty word is not read, but has to be somewhere.
                let base = unsafe buffer.baseAddress.map { unsafe $0 + offset } ?? empty
                unsafe pointers.append(base?.assumingMemoryBound(to: CChar.self))
                offset += length
            }
            var text: UnsafeMutablePointer<CChar>?
            let count = unsafe Int(redisFormatCommandArgv(&text, Int32(lengths.count), &pointers, lengths))
            guard count >= 0, let text = unsafe text else { return false }
            defer { unsafe redisFreeCommand(text) }
            unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: text, count: count))
            return true
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
