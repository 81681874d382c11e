import HTTPRecovery

/// Which values of a cassette are kept, by their names.
struct KeptNames {
    private let names: Set<String>

    init(_ redaction: Cassette.Redaction) {
        names = Set(redaction.keptNames.map(\.inLowercase).filter { !Self.isOfCredential($0) })
    }

    /// Whether the user wants what has the name.
    func hold(_ name: String) -> Bool { names.contains(name.inLowercase) }

    /// Whether a header field of the name holds nothing that would be secret.
    static func isPlainField(_ name: String) -> Bool {
        plainFields.contains(name) || limitFamilies.contains { name.hasPrefix($0) }
    }

    private static let plainFields: Set<String> = [
        "accept", "accept-language", "accept-ranges", "age", "allow", "cache-control", "connection",
        "content-encoding", "content-language", "content-range", "content-type", "date", "dpop-nonce", "expires",
        "last-modified", "range", "retry-after",
        "retry-after-ms", "server", "transfer-encoding",
        "user-agent", "vary", "www-authenticate",
    ]
    private static let limitFamilies = [
        "ratelimit", "x-ratelimit", "x-rate-limit", "x-retry-after", "anthropic-ratelimit", "x-amz-retry-after",
    ]

    /// Whether a value is a protocol's own word or number.
    static func isProtocolWord(_ text: String, of name: String) -> Bool {
        guard protocolNames.contains(name.inLowercase), text.loggable == text else { return false }
        return text.utf8.count < 64 && (text.utf8.count < 20 || text.utf8.count(where: \.isDigit) < 4)
    }

    /// Whether the `code` of an answer is an error's, and not one that somebody could enter.
    static func isErrorCode(_ text: String) -> Bool {
        if text.utf8.allSatisfy(\.isDigit) { return text.utf8.count < 4 }
        return text.utf8.allSatisfy { $0.isLowercase || "_-.:".utf8.contains($0) }
            && text.utf8.contains { "_-.:".utf8.contains($0) } && text.utf8.count < 64
    }

    private static let protocolNames: Set<String> = [
        "direction", "error", "error_code", "error_subcode", "error_type", "errorcode", "exp", "expires_in",
        "factorresult", "factortype", "grant_type", "iat", "interval", "is_transient", "limit", "method", "nbf",
        "object",
        "offset", "order", "page", "page_size", "per_page", "prompt", "reason", "response_mode", "response_type",
        "retry_after", "sort", "status", "strategy", "token_type", "type", "version", "_action", "authindextype",
    ]

    /// Whether a name is that of a credential.
    static func isOfCredential(_ name: String) -> Bool {
        let plain = name.inLowercase.filter { $0.isLetter || $0.isNumber }
        return credentialWords.contains { plain.holds($0) } || credentialNames.contains(plain)
    }

    private static let credentialNames: Set<String> = ["pin", "otp", "totp", "pwd", "jwt", "code"]

    private static let credentialWords = [
        "password", "passwd", "passcode", "passphrase", "secret", "token", "cookie", "authorization", "credential",
        "assertion", "apikey", "privatekey", "signature", "otpcode", "onetimecode", "authid", "usercode", "devicecode",
        "codeverifier", "dpop",
    ]

    /// Whether a key reads like a word.
    static func isWord(_ text: some StringProtocol) -> Bool {
        if text.utf8.starts(with: "\(Redactor.mark)-".utf8) { return true }
        return text.utf8.count < 32 && text.utf8.count(where: \.isDigit) < 4
            && text.utf8.allSatisfy { $0.isAlphanumeric || "-_.~:$*()".utf8.contains($0) }
    }

    /// Whether a segment of a path reads like one of a route: letters, with one short number at most, and not in capitals.
    static func isRoute(_ segment: Substring) -> Bool {
        guard isWord(segment) else { return false }
        if segment.utf8.starts(with: "\(Redactor.mark)-".utf8) { return true }
        let numbers = segment.utf8.split { !$0.isDigit }.count
        guard segment.utf8.contains(where: \.isUppercase) else { return numbers <= 1 }
        return numbers == 0 && segment.utf8.contains(where: \.isLowercase)
    }

    /// Whether what follows a cookie is an attribute.
    static func isCookieAttribute(_ text: Substring) -> Bool {
        let name = text.utf8.drop { $0.isOWS }.prefix { $0 != UInt8(ascii: "=") && !$0.isOWS }
        return cookieAttributes.contains(String(decoding: name, as: UTF8.self).inLowercase)
    }

    private static let cookieAttributes: Set<String> = [
        "domain", "expires", "httponly", "max-age", "partitioned", "path", "priority", "samesite", "secure",
    ]
}
