import AuthRecovery
import HTTPRecovery

/// The script that older servers send for browsers, read for the ceremony in it.
struct WebAuthnScript {
    private let text: String
    private let isRegistration: Bool

    /// Reads a script; nil where it holds no ceremony.
    init?(_ text: String) {
        let text = text.bounded(to: 262_144)
        isRegistration = Self.holds("navigator.credentials.create", in: text)
        guard isRegistration || Self.holds("navigator.credentials.get", in: text) else { return nil }
        self.text = text
    }

    var ceremony: WebAuthnCeremony {
        guard let challenge = Self.byteArrays(in: Self.rest(of: "challenge", in: text) ?? "", limit: 1).first else {
            return .unreadable
        }
        let id = Self.quoted("rpId", in: text) ?? Self.rest(of: "rp", in: text).flatMap { Self.quoted("id", in: $0) }
        let relyingParty = id ?? ""
        let origin = "https://\(relyingParty)"
        let verification =
            Self.quoted("userVerification", in: text)
            .flatMap { WebAuthnRegistrationRequest.Requirement(rawValue: $0) } ?? .preferred
        guard isRegistration else {
            return .authentication(
                WebAuthnSigningRequest(
                    challenge: challenge,
                    relyingPartyID: relyingParty,
                    origin: origin,
                    allowedCredentials: list("allowCredentials") ?? list("acceptableCredentials") ?? [],
                    userVerification: verification,
                    timeout: timeout
                )
            )
        }
        let user = Self.rest(of: "user", in: text) ?? ""
        let name = Self.quoted("name", in: user) ?? ""
        let isResident = Self.rest(of: "requireResidentKey", in: text)?.hasPrefix("true") == true
        return .registration(
            WebAuthnRegistrationRequest(
                challenge: challenge,
                relyingPartyID: relyingParty,
                relyingPartyName: Self.rest(of: "rp", in: text).flatMap { Self.quoted("name", in: $0) } ?? "",
                origin: origin,
                user: WebAuthnRegistrationRequest.User(
                    id: Array((Self.quotedArgument(in: Self.rest(of: "id", in: user) ?? "") ?? name).utf8),
                    name: name,
                    displayName: Self.quoted("displayName", in: user) ?? name
                ),
                algorithms: Self.numbers(after: "alg", in: Self.rest(of: "pubKeyCredParams", in: text) ?? ""),
                excludedCredentials: list("excludeCredentials") ?? [],
                userVerification: verification,
                residentKey: isResident ? .required : .discouraged,
                attachment: Self.quoted("authenticatorAttachment", in: text),
                attestation: Self.quoted("attestation", in: text) ?? "none",
                timeout: timeout
            )
        )
    }

    private var timeout: Duration {
        guard let rest = Self.rest(of: "timeout", in: text), let number = Self.leadingNumber(rest), number > 0 else {
            return .seconds(60)
        }
        return min(.milliseconds(Int64(number)), .seconds(3600))
    }

    /// The byte arrays of a list of credentials: those before its closing bracket.
    private func list(_ name: String) -> [[UInt8]]? {
        guard let rest = Self.rest(of: name, in: text) else { return nil }
        var depth = 0
        var end = rest.endIndex
        for index in rest.indices {
            if rest[index] == "[" { depth += 1 }
            if rest[index] == "]" {
                depth -= 1
                if depth <= 0 {
                    end = index
                    break
                }
            }
            // A name that is not followed by a list, but by a variable that was filled elsewhere.
            if depth == 0, rest[index] == "," || rest[index] == ";" || rest[index] == "}" { return nil }
        }
        return Self.byteArrays(in: rest[..<end])
    }

    // MARK: Pieces of script

    /// What follows a name and its colon or equals sign, without the space between.
    static func rest<Text: StringProtocol>(of name: String, in text: Text) -> Text.SubSequence?
    where Text.SubSequence == Substring {
        var search = text[...]
        while let range = find(name, in: search) {
            let before = range.lowerBound == text.startIndex ? nil : text[text.index(before: range.lowerBound)]
            let isWhole = before.map { !$0.isLetter && !$0.isNumber && $0 != "_" } ?? true
            let after = text[range.upperBound...].drop { $0 == "\"" || $0 == "'" || $0 == "\\" || $0.isWhitespace }
            if isWhole, let mark = after.first, mark == ":" || mark == "=" {
                return after.dropFirst().drop { $0.isWhitespace }
            }
            search = text[range.upperBound...]
        }
        return nil
    }

    /// The quoted text that follows a name.
    static func quoted(_ name: String, in text: some StringProtocol) -> String? {
        guard let rest = rest(of: name, in: Substring(text)) else { return nil }
        return quotedText(rest)
    }

    private static func quotedText(_ rest: Substring) -> String? {
        let rest = rest.drop { $0 == "\\" }
        guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
        let value = rest.dropFirst().prefix { $0 != quote && $0 != "\\" }
        return value.isEmpty || value.endIndex == rest.endIndex ? nil : String(value)
    }

    /// The first quoted text, as in `Uint8Array.from("…", …)`.
    private static func quotedArgument(in text: Substring) -> String? {
        let line = text.prefix { $0 != "\n" && $0 != "}" }
        guard let start = line.firstIndex(where: { $0 == "\"" || $0 == "'" }) else { return nil }
        return quotedText(line[start...])
    }

    /// The numbers that follow each occurrence of a name.
    static func numbers(after name: String, in text: some StringProtocol) -> [Int] {
        var numbers: [Int] = []
        var search = Substring(text)
        while numbers.count < 64, let found = rest(of: name, in: search) {
            if let number = leadingNumber(found) { numbers.append(number) }
            search = found
        }
        return numbers
    }

    private static func leadingNumber(_ text: Substring) -> Int? {
        let isNegative = text.first == "-"
        let digits = (isNegative ? text.dropFirst() : text).prefix { $0.isASCII && $0.isNumber }
        guard digits.utf8.count < 16, let number = Int(digits) else { return nil }
        return isNegative ? -number : number
    }

    /// The bytes of each `Int8Array([…])`, or of each list of numbers.
    static func byteArrays(in text: some StringProtocol, limit: Int = 256) -> [[UInt8]] {
        var arrays: [[UInt8]] = []
        var numbers: [UInt8]?
        var number: Int?
        var isNegative = false
        func finish() {
            if let value = number { numbers?.append(UInt8(truncatingIfNeeded: isNegative ? -value : value)) }
            number = nil
            isNegative = false
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "["):
                numbers = []
                number = nil
            case UInt8(ascii: "]"):
                finish()
                if let found = numbers, !found.isEmpty { arrays.append(found) }
                numbers = nil
                if arrays.count >= limit { return arrays }
            case UInt8(ascii: ","): finish()
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                number = min((number ?? 0) * 10 + Int(byte - UInt8(ascii: "0")), 65_536)
            case 0x20, 0x09, 0x0A, 0x0D: break
            // Something else than a list of numbers.
            default: numbers = nil
            }
        }
        return arrays
    }

    private static func holds(_ part: String, in text: String) -> Bool {
        find(part, in: text[...]) != nil
    }

    private static func find(_ part: String, in text: Substring) -> Range<Substring.Index>? {
        let wanted = Array(part.utf8)
        let bytes = text.utf8
        guard let first = wanted.first else { return nil }
        var start = bytes.startIndex
        while let candidate = bytes[start...].firstIndex(of: first) {
            if bytes[candidate...].starts(with: wanted) {
                return candidate..<bytes.index(candidate, offsetBy: wanted.count)
            }
            start = bytes.index(after: candidate)
        }
        return nil
    }
}
