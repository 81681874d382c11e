import HTTPTypes

/// The directives of `Cache-Control` (RFC 9111 section 5.2) that say whether an answer may be kept, and for how long.
struct CacheControl: Sendable, Hashable {
    /// Whether nothing of it may be kept.
    var forbidsStoring = false
    /// Whether it may not be used without asking the server again.
    var forbidsStaleness = false
    /// For how long it is fresh; nil if that is not said, zero if it cannot be read.
    var maxAge: Duration?
    /// For how long after that it may stand in for an error (RFC 5861 section 4); nil if that is not said, zero if it cannot
    /// be read.
    var staleIfError: Duration?

    /// Reads the field's lines; what is said twice holds by the less that it allows.
    init(_ fields: HTTPFields) {
        for item in fields.lines("cache-control").flatMap({ Self.items($0) }) {
            let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            var value = item[equals...].dropFirst().trimmingOWS
            if value.count >= 2, value.first == Self.quote, value.last == Self.quote {
                value = value.dropFirst().dropLast()
            }
            let time = DelayText.seconds(String(decoding: value, as: UTF8.self), allowsFraction: false) ?? .zero
            switch String(decoding: item[..<equals].trimmingOWS, as: UTF8.self).inLowercase {
            case "no-store": forbidsStoring = true
            case "no-cache", "must-revalidate": forbidsStaleness = true
            case "max-age": maxAge = min(maxAge ?? .longest, time)
            case "stale-if-error": staleIfError = min(staleIfError ?? .longest, time)
            default: continue
            }
        }
    }

    private static let quote = UInt8(ascii: "\"")

    /// The members of a list, in which commas within quotes end none.
    private static func items(_ line: String) -> [ArraySlice<UInt8>] {
        var (isQuoted, isEscaped) = (false, false)
        return Array(line.utf8).split { byte in
            let wasEscaped = isEscaped
            isEscaped = isQuoted && !wasEscaped && byte == UInt8(ascii: "\\")
            if byte == quote, !wasEscaped { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
    }
}
