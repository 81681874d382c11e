/// Splits one line of challenges, in one pass.
struct ChallengeParser {
    /// The most parameters that a challenge may have.
    private static let maximumParameters = 64

    private var cursor: ByteCursor
    private var challenges: [AuthenticationChallenge] = []
    private var current: AuthenticationChallenge?
    private var names: Set<String> = []
    private var isUsable = true

    init(_ line: String) {
        cursor = ByteCursor(trimming: line)
    }

    mutating func parse() -> [AuthenticationChallenge] {
        while true {
            // Commas separate challenges and parameters alike, and empty elements are skipped; some servers leave the
            // comma between parameters out, or write a semicolon.
            _ = cursor.read { $0.isOWS || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
            guard let byte = cursor.current else { break }
            if byte == UInt8(ascii: "\"") {
                guard let text = readQuoted() else { return finish(dropsCurrent: true) }
                if (current?.unnamedTexts.count ?? .max) < Self.maximumParameters { current?.unnamedTexts.append(text) }
            } else if byte.isToken {
                guard readTokenAndMore() else { return finish(dropsCurrent: true) }
            } else {
                cursor.advance()
            }
        }
        return finish(dropsCurrent: false)
    }

    /// Reads a parameter, or a scheme with the token68 that may follow it.
    ///
    /// - Returns: Whether the line can be read on.
    private mutating func readTokenAndMore() -> Bool {
        let word = String(decoding: cursor.read { $0.isToken }, as: UTF8.self)
        let afterWord = cursor.position
        cursor.skipOWS()
        if current != nil, cursor.take("=") {
            cursor.skipOWS()
            guard let value = readValue() else { return false }
            add(word.lowercased(), value)
            return true
        }
        cursor.move(to: afterWord)
        close()
        current = AuthenticationChallenge(scheme: word)
        guard cursor.current?.isOWS == true else { return true }
        cursor.skipOWS()
        readToken68()
        return true
    }

    /// Reads what follows a scheme if it is a token68: nothing but an end or a comma may come after it.
    private mutating func readToken68() {
        let start = cursor.position
        let text = cursor.read { $0.isToken68 }
        let padding = cursor.read { $0 == UInt8(ascii: "=") }
        cursor.skipOWS()
        if !text.isEmpty, cursor.isAtEnd || cursor.current == UInt8(ascii: ",") {
            current?.token68 = String(decoding: text + padding, as: UTF8.self)
        } else {
            cursor.move(to: start)
        }
    }

    /// Reads a parameter's value; nil where a quote is not closed.
    private mutating func readValue() -> String? {
        if cursor.current == UInt8(ascii: "\"") { return readQuoted() }
        // Unquoted values with characters beyond a token's, such as URLs, are common enough.
        let value = cursor.read { !$0.isOWS && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ";") }
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func readQuoted() -> String? {
        cursor.advance()
        var text: [UInt8] = []
        while let byte = cursor.current {
            cursor.advance()
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = cursor.current else { return nil }
                cursor.advance()
                text.append(escaped)
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func add(_ name: String, _ value: String) {
        let isNew = names.insert(name).inserted
        if !isNew || names.count > Self.maximumParameters { isUsable = false }
        if isUsable { current?.parameters.append(AuthenticationChallenge.Parameter(name: name, value: value)) }
    }

    private mutating func close() {
        if isUsable, let current { challenges.append(current) }
        current = nil
        isUsable = true
        names = []
    }

    private mutating func finish(dropsCurrent: Bool) -> [AuthenticationChallenge] {
        if dropsCurrent { isUsable = false }
        close()
        return challenges
    }
}

extension UInt8 {
    /// A character of a token68 before its padding (RFC 9110 section 11.2).
    fileprivate var isToken68: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
