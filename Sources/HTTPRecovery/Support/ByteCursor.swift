/// A position in a text that came from the network; every read is checked, so any bytes can be walked over.
struct ByteCursor {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.position = bytes.startIndex
    }

    /// A cursor over the text without the spaces and tabs around it.
    init(trimming text: String) {
        self.init(Array(text.utf8)[...].trimmingOWS)
    }

    var isAtEnd: Bool { position >= bytes.endIndex }

    var current: UInt8? { isAtEnd ? nil : bytes[position] }

    /// What has not been read yet.
    var rest: ArraySlice<UInt8> { bytes[position...] }

    mutating func advance() {
        if !isAtEnd { position += 1 }
    }

    mutating func move(to position: Int) {
        self.position = min(max(position, bytes.startIndex), bytes.endIndex)
    }

    /// Steps over the byte if it comes next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = current, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    /// Steps over the text if it comes next.
    mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    /// Steps over the first of the words that comes next, and tells which it was.
    mutating func take(oneOf words: [String]) -> Int? {
        words.firstIndex { take($0) }
    }

    /// Reads a number of exactly so many digits.
    mutating func number(digits count: Int) -> Int? {
        guard bytes.endIndex - position >= count else { return nil }
        var value = 0
        for byte in bytes[position..<position + count] {
            guard byte.isDigit else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        position += count
        return value
    }

    /// Reads on as long as the bytes satisfy the condition.
    mutating func read(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.endIndex, condition(bytes[position]) { position += 1 }
        return bytes[start..<position]
    }

    mutating func skipOWS() {
        while position < bytes.endIndex, bytes[position].isOWS { position += 1 }
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without the spaces and tabs around them.
    package var trimmingOWS: ArraySlice<UInt8> { trimming(\.isOWS) }
}
