/// Splits one line of challenges, in one pass.
///
/// It forgives what servers do against the grammar as long as there is one sensible reading: missing commas and
/// semicolons in their place, single or escaped quotes, sentences without quotes, and parameters that stand before
/// their scheme or have none.
struct ChallengeParser {
    /// The most parameters that a challenge may have.
    private static let maximumParameters = 64

    private var cursor: ByteCursor
    private var challenges: [Exchange.AuthenticationChallenge] = []
    private var current: Exchange.AuthenticationChallenge?
    private var names: Set<String> = []
    private var isUsable = true
    /// Parameters in front of any scheme.
    private var early: [Exchange.AuthenticationChallenge.Parameter] = []
    /// Quotes that nothing closes any more, so that the rest of the line is searched only once.
    private var unclosed: Set<String> = []

    init(_ line: String) {
        cursor = ByteCursor(trimming: line)
    }

    mutating func parse() -> [Exchange.AuthenticationChallenge] {
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
        if cursor.take("=") {
            cursor.skipOWS()
            guard let value = readValue() else { return false }
            if current == nil {
                guard early.count < Self.maximumParameters else { return true }
                early.append(Exchange.AuthenticationChallenge.Parameter(name: word.lowercased(), value: value))
            } else {
                add(word.lowercased(), value)
            }
            return true
        }
        cursor.move(to: afterWord)
        close()
        current = Exchange.AuthenticationChallenge(scheme: word)
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

    /// Reads a parameter's value; nil if a quote is not closed.
    private mutating func readValue() -> String? {
        if cursor.current == UInt8(ascii: "\"") { return readQuoted() }
        for quote in ["\\\"", "'"] {
            if let text = readUnusualQuoted(quote) { return text }
        }
        var value = readUnquoted()
        // A sentence without quotes goes on until the next parameter or scheme.
        while let word = nextWordOfSentence() { value.append(contentsOf: [0x20] + word) }
        return String(decoding: value, as: UTF8.self)
    }

    /// Reads what has characters beyond a token's, such as a URL, and no quotes.
    private mutating func readUnquoted() -> [UInt8] {
        Array(cursor.read { !$0.isOWS && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ";") })
    }

    /// Reads a text in other quotes than the grammar's; nil, with nothing read, if there are none around it.
    private mutating func readUnusualQuoted(_ quote: String) -> String? {
        let start = cursor.position
        guard !unclosed.contains(quote), cursor.take(quote) else { return nil }
        var text: [UInt8] = []
        while let byte = cursor.current {
            if cursor.take(quote) {
                // An apostrophe within a word is none that closes.
                let isEnd =
                    cursor.current.map { $0.isOWS || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") } ?? true
                if isEnd { return String(decoding: text, as: UTF8.self) }
                text += quote.utf8
            } else {
                text.append(byte)
                cursor.advance()
            }
        }
        unclosed.insert(quote)
        cursor.move(to: start)
        return nil
    }

    /// Reads the next word if it goes on with the sentence, rather than beginning a parameter or a challenge.
    private mutating func nextWordOfSentence() -> [UInt8]? {
        let start = cursor.position
        cursor.skipOWS()
        guard cursor.position > start, let first = cursor.current, first != UInt8(ascii: "\"") else { return nil }
        let beginning = cursor.position
        let name = cursor.read { $0.isToken }
        cursor.skipOWS()
        let isParameter = !name.isEmpty && cursor.current == UInt8(ascii: "=")
        let isScheme = Self.schemes.contains(String(decoding: name, as: UTF8.self).lowercased())
        cursor.move(to: beginning)
        let word = isParameter || isScheme ? [] : readUnquoted()
        if word.isEmpty {
            cursor.move(to: start)
            return nil
        }
        return word
    }

    /// The registered schemes and some that are widespread: if no comma stands before a challenge, only its scheme
    /// tells that one begins.
    private static let schemes: Set<String> = [
        "basic", "bearer", "concealed", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate", "ntlm", "oauth",
        "privatetoken", "scram-sha-1", "scram-sha-256", "vapid", "ssoadvice", "aws4-hmac-sha256", "mac", "hawk",
    ]

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
        if isUsable { current?.parameters.append(Exchange.AuthenticationChallenge.Parameter(name: name, value: value)) }
    }

    /// Gives parameters that stood in front to the scheme that follows them, unless it has its own.
    private mutating func takeEarlyParameters() {
        guard current != nil else { return }
        for parameter in early where !names.contains(parameter.name) { add(parameter.name, parameter.value) }
        early = []
    }

    private mutating func close() {
        takeEarlyParameters()
        if isUsable, let current { challenges.append(current) }
        current = nil
        isUsable = true
        names = []
    }

    private mutating func finish(dropsCurrent: Bool) -> [Exchange.AuthenticationChallenge] {
        if dropsCurrent { isUsable = false }
        close()
        if !early.isEmpty, !dropsCurrent {
            current = Exchange.AuthenticationChallenge(scheme: "")
            close()
        }
        return challenges
    }
}

extension UInt8 {
    /// A character of a token68 before its padding (RFC 9110 section 11.2).
    fileprivate var isToken68: Bool { isAlphanumeric || "-._~+/".utf8.contains(self) }
}
