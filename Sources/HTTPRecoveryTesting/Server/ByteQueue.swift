/// Bytes that arrive at one end and are taken from the other, each looked at a bounded number of times.
package struct ByteQueue: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0
    /// How far a line's end was looked for in vain.
    private var scanned = 0

    package init() {}

    package var count: Int { bytes.count - start }

    package mutating func append(_ more: some Sequence<UInt8>) {
        bytes.removeFirst(start)
        scanned = max(0, scanned - start)
        start = 0
        bytes.append(contentsOf: more)
    }

    /// Takes the next line, without its end; nil when it is not whole.
    package mutating func line() -> ArraySlice<UInt8>? {
        guard let end = bytes[max(scanned, start)...].firstIndex(of: 0x0A) else {
            scanned = bytes.count
            return nil
        }
        defer { skip(end + 1 - start) }
        return bytes[start..<(end > start && bytes[end - 1] == 0x0D ? end - 1 : end)]
    }

    /// Takes so many bytes, or all that there are.
    package mutating func take(_ most: Int) -> ArraySlice<UInt8> {
        let end = start + min(most, count)
        defer { skip(end - start) }
        return bytes[start..<end]
    }

    /// The first bytes, which stay.
    package func first(_ most: Int) -> ArraySlice<UInt8> { bytes[start...].prefix(most) }

    package mutating func skip(_ length: Int) {
        start += min(length, count)
        scanned = max(scanned, start)
    }
}
