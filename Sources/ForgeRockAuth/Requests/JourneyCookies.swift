import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The cookies that the server sets while a journey lasts; they go back with each step.
///
/// They keep the load balancer at one server, and track a redirect.
struct JourneyCookies: Sendable {
    private static let maximumCount = 32
    private static let maximumLength = 4096

    private var cookies: [(name: String, value: String)] = []

    /// Takes the cookies of an answer; an empty or expired one is dropped.
    mutating func take(from fields: HTTPFields) {
        for line in fields.lines("set-cookie").prefix(64) where line.utf8.count <= Self.maximumLength {
            let parts = line.split(separator: ";", omittingEmptySubsequences: false)
            let pair = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            let name = String(pair[0].trimming(\.isWhitespace))
            let value = String(pair[1].trimming(\.isWhitespace))
            guard !name.isEmpty, (name + value).utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") })
            else { continue }
            cookies.removeAll { $0.name == name }
            let isOver = parts.dropFirst().contains { attribute in
                let words = attribute.split(separator: "=").map { $0.trimming(\.isWhitespace).lowercased() }
                return words.first == "max-age" && words.count == 2 && (words[1] == "0" || words[1].hasPrefix("-"))
            }
            if !value.isEmpty, !isOver, cookies.count < Self.maximumCount { cookies.append((name, value)) }
        }
    }

    /// The name of the cookie that holds the value, if one does.
    func name(of value: String) -> String? {
        cookies.first { $0.value == value }?.name
    }

    /// Forgets the cookie of the name.
    mutating func drop(_ name: String) {
        cookies.removeAll { $0.name == name }
    }

    /// The value of the `Cookie` field; nil without cookies.
    var field: String? {
        cookies.isEmpty ? nil : cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}

extension JourneyCookies: Remembered {
    var memory: JSONValue { .array(cookies.map { [.string($0.name), .string($0.value)] }) }

    init?(memory: JSONValue) {
        self.init()
        for pair in memory.array ?? [] {
            guard let name = pair[0]?.string, let value = pair[1]?.string else { return nil }
            cookies.append((name, value))
        }
    }
}
