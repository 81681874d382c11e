/// Reads the CBOR that authenticators write: numbers, texts, bytes, lists and maps of a known length.
struct CBORReader {
    /// A value; the keys of a map are texts or numbers, both as text.
    enum Value: Sendable {
        case number(Int64)
        case bytes([UInt8])
        case text(String)
        case list([Value])
        case map([String: Value])

        var number: Int64? { if case .number(let number) = self { number } else { nil } }
        var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
        var text: String? { if case .text(let text) = self { text } else { nil } }
    }

    private var rest: ArraySlice<UInt8>

    /// One value that takes up all the bytes; nil for anything else.
    static func read(_ bytes: [UInt8]) -> Value? {
        var reader = CBORReader(rest: bytes[...])
        guard bytes.count <= 65_536, let value = reader.value(depth: 0), reader.rest.isEmpty else { return nil }
        return value
    }

    private mutating func value(depth: Int) -> Value? {
        guard depth < 8, let (major, argument) = head() else { return nil }
        switch major {
        case 0: return .number(argument)
        case 1: return .number(-1 - argument)
        case 2: return take(argument).map { .bytes($0) }
        case 3: return take(argument).flatMap { String(validating: $0, as: UTF8.self) }.map { .text($0) }
        case 4:
            guard argument <= 1024 else { return nil }
            var list: [Value] = []
            for _ in 0..<argument {
                guard let element = value(depth: depth + 1) else { return nil }
                list.append(element)
            }
            return .list(list)
        case 5:
            guard argument <= 64 else { return nil }
            var map: [String: Value] = [:]
            for _ in 0..<argument {
                guard let key = value(depth: depth + 1), let value = value(depth: depth + 1),
                    let name = key.text ?? key.number.map(String.init), map.updateValue(value, forKey: name) == nil
                else { return nil }
            }
            return .map(map)
        default: return nil
        }
    }

    private mutating func head() -> (major: UInt8, argument: Int64)? {
        guard let first = rest.popFirst() else { return nil }
        let low = first & 0x1F
        if low < 24 { return (first >> 5, Int64(low)) }
        guard low <= 27, let bytes = take(1 << Int64(low - 24)) else { return nil }
        let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return number > UInt64(Int64.max / 2) ? nil : (first >> 5, Int64(number))
    }

    private mutating func take(_ count: Int64) -> [UInt8]? {
        guard count >= 0, count <= rest.count else { return nil }
        let bytes = Array(rest.prefix(Int(count)))
        rest = rest.dropFirst(Int(count))
        return bytes
    }
}
