import HTTPRecovery

/// Which values of a cassette are kept, by their names.
struct KeptNames {
    private let names: Set<String>
    private let segments: Set<String>

    init(_ redaction: Cassette.Redaction) {
        names = Set(redaction.keptNames.map(\.inLowercase).filter { !Self.isOfCredential($0) })
        segments = Set(redaction.keptSegments.map(\.inLowercase))
    }

    /// Whether the user wants what has the name.
    func hold(_ name: String) -> Bool { names.contains(name.inLowercase) }

    /// Whether the user wants the segment of a path.
    func hold(segment: String) -> Bool { segments.contains(segment.inLowercase) }

    /// Whether a header field of the name holds nothing that would be secret.
    static func isPlainField(_ name: String) -> Bool {
        plainFields.contains(name) || isOfLimit(name)
    }

    /// Whether a header field of the name says how much is left of a limit, and not whose limit it is.
    static func isOfLimit(_ name: String) -> Bool {
        // Models are limited by the tokens of what they read and write: "x-ratelimit-remaining-tokens".
        limitFamilies.contains { name.hasPrefix($0) } && !isOfCredential(name.replacing("-tokens", with: ""))
            && !name.utf8.split(separator: UInt8(ascii: "-")).contains { ownerWords.contains(String(Substring($0))) }
    }

    private static let ownerWords: Set<String> = [
        "account", "client", "customer", "id", "ip", "key", "login", "name", "org", "organization", "owner", "subject",
        "tenant", "user", "username",
    ]

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
        let name = name.inLowercase
        if numberNames.contains(name) {
            return text.utf8.count < 20 && text.utf8.allSatisfy { $0.isDigit || $0 == 0x2E }
        }
        guard protocolNames.contains(name), text.loggable == text else { return false }
        return text.utf8.count < 64 && (text.utf8.count < 20 || text.utf8.count(where: \.isDigit) < 4)
    }

    private static let numberNames: Set<String> = [
        "error_subcode", "exp", "expires_in", "iat", "interval", "limit", "nbf", "offset", "page", "page_size",
        "per_page", "retry_after",
    ]

    /// Whether the `code` of an answer is an error's, and not one that somebody could enter.
    static func isErrorCode(_ text: String) -> Bool {
        if text.utf8.allSatisfy(\.isDigit) { return text.utf8.count < 4 }
        return text.utf8.allSatisfy { $0.isLowercase || "_-.:".utf8.contains($0) } && !isDrawn(text)
            && text.utf8.contains { "_-.:".utf8.contains($0) } && text.utf8.count < 64
    }

    /// Whether a text is groups of four letters without a vowel, as a person is given to enter (RFC 8628 section 6.1).
    private static func isDrawn(_ text: String) -> Bool {
        text.utf8.split { !$0.isLowercase }.allSatisfy { group in
            group.count == 4 && !group.contains { "aeiouy".utf8.contains($0) }
        }
    }

    private static let protocolNames: Set<String> = [
        "direction", "error", "error_code", "error_type", "errorcode", "factorresult", "factortype", "grant_type",
        "is_transient", "method", "object", "order", "prompt", "reason", "response_mode", "response_type", "sort",
        "status", "strategy", "token_type", "type", "version", "_action", "authindextype",
    ]

    /// Whether a name is that of a credential.
    static func isOfCredential(_ name: String) -> Bool {
        let plain = name.inLowercase.filter { $0.isLetter || $0.isNumber }
        return credentialWords.contains { plain.holds($0) } || credentialNames.contains(plain)
    }

    /// Whether a name is that of a secret that a person enters.
    static func isEntered(_ name: String) -> Bool {
        let plain = name.inLowercase.filter { $0.isLetter || $0.isNumber }
        return ["password", "passwd", "passcode", "passphrase", "pin"].contains { plain.hasSuffix($0) }
    }

    private static let credentialNames: Set<String> = [
        "2fa", "code", "cvc", "cvv", "jwt", "mfa", "otp", "pass", "passwort", "pin", "pincode", "pw", "pwd", "sid",
        "sig", "ssn", "totp",
    ]

    private static let credentialWords = [
        "password", "passwd", "passcode", "passphrase", "secret", "token", "cookie", "authorization", "credential",
        "assertion", "apikey", "privatekey", "signature", "otpcode", "onetimecode", "authid", "usercode", "devicecode",
        "codeverifier", "dpop",
    ]

    /// Whether a key reads like a word.
    static func isWord(_ text: some StringProtocol) -> Bool {
        if StandIn.isName(text) { return true }
        return text.utf8.count < 32 && text.utf8.count(where: \.isDigit) < 4
            && text.utf8.allSatisfy { $0.isAlphanumeric || "-_.~:$*()".utf8.contains($0) }
    }

    /// Whether a key of an object may be kept.
    static func isKey(_ text: String) -> Bool {
        isWord(text) && isPronounceable(text) || linkedDataNames.contains(text)
    }

    private static let linkedDataNames: Set<String> = [
        "@base", "@container", "@context", "@graph", "@id", "@language", "@list", "@set", "@type", "@value", "@vocab",
    ]

    /// Whether the name of an item without a value is one: Base64 ends with such a sign too.
    static func isNameAlone(_ text: String) -> Bool {
        isKey(text) && text.utf8.allSatisfy { $0.isLowercase || "-_".utf8.contains($0) }
    }

    /// Whether a value is an identifier by its name, and no credential: `id`, `order_id`, `orderId`.
    static func isIdentifier(_ name: String) -> Bool {
        if isOfCredential(name) { return false }
        return name.inLowercase == "id" || ["_id", "-id", ".id", "Id", "ID"].contains { name.hasSuffix($0) }
    }

    /// Whether a text has letters and digits in one word, as passwords have and few words of a protocol.
    static func mixesDigits(_ text: String) -> Bool {
        text.utf8.split { !$0.isAlphanumeric }.contains { $0.contains(where: \.isDigit) && !$0.allSatisfy(\.isDigit) }
    }

    /// Whether a text is the scheme of an authorization (RFC 9110 section 11).
    static func isScheme(_ text: String) -> Bool { schemes.contains(text.inLowercase) }

    private static let schemes: Set<String> = [
        "basic", "bearer", "concealed", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate", "ntlm", "oauth",
        "privatetoken", "ssws", "vapid",
    ]

    /// Whether a parameter of a challenge says what is wrong or wanted, and holds nothing that is good for anything.
    static func isOfChallenge(_ name: String) -> Bool { challengeNames.contains(name.inLowercase) }

    private static let challengeNames: Set<String> = [
        "acr_values", "algorithm", "algs", "as_uri", "authorization_uri", "charset", "domain", "error",
        "error_description", "error_uri", "max_age", "qop", "realm", "resource_metadata", "scope", "stale", "userhash",
    ]

    /// Whether a text can be spoken, with a vowel among five letters of each word, and not one in many; few of what is drawn
    /// at random can.
    private static func isPronounceable(_ text: some StringProtocol) -> Bool {
        var (consonants, letters, vowels) = (0, 0, 0)
        for byte in text.utf8 {
            guard byte.isLowercase || byte.isUppercase else {
                consonants = 0
                continue
            }
            letters += 1
            let isVowel = "aeiouyAEIOUY".utf8.contains(byte)
            vowels += isVowel ? 1 : 0
            // A capital begins a word, as in "grantType".
            consonants = isVowel || byte.isUppercase && consonants > 1 ? 0 : consonants + 1
            if consonants > 4 { return false }
        }
        return letters < 8 || vowels * 6 >= letters
    }

    /// Whether a segment of a path reads like one of a route: letters, with one short number at most, and not in capitals.
    static func isRoute(_ segment: String) -> Bool {
        guard isKey(segment), segment.utf8.count < 25 else { return false }
        let numbers = segment.utf8.split { !$0.isDigit }.count
        guard segment.utf8.contains(where: \.isUppercase) else { return numbers <= 1 }
        return numbers == 0 && segment.utf8.contains(where: \.isLowercase)
    }
}
