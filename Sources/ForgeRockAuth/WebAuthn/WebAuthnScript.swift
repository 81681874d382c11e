import AuthRecovery
import HTTPRecovery

/// The script that older servers send for browsers, read for the ceremony in it.
///
/// It is read byte by byte: all that is looked for is ASCII, while a character of a `String` may join it to whatever
/// the server puts beside it.
struct WebAuthnScript {
    private typealias Script = ArraySlice<UInt8>

    private let text: Script
    private let isRegistration: Bool

    /// Reads a script; nil if it holds no ceremony.
    init?(_ text: String) {
        let text = Array(text.bounded(to: 262_144).utf8)[...]
        isRegistration = text.range(of: "navigator.credentials.create".utf8) != nil
        guard isRegistration || text.range(of: "navigator.credentials.get".utf8) != nil else { return nil }
        self.text = text
    }

    var ceremony: WebAuthnCeremony {
        guard let challenge = Self.byteArrays(in: Self.rest(of: "challenge", in: text) ?? [], limit: 1).first else {
            return .unreadable
        }
        // Without an id the script leaves the name alone in it.
        let party: Script = Self.rest(of: "rp", in: text).map { $0.prefix { $0 != UInt8(ascii: "}") } } ?? []
        let relyingParty = Self.quoted("rpId", in: text) ?? Self.quoted("id", in: party) ?? ""
        let origin = "https://\(relyingParty)"
        let verification =
            Self.quoted("userVerification", in: text)
            .flatMap { WebAuthn.RegistrationRequest.Requirement(rawValue: $0) } ?? .preferred
        guard isRegistration else {
            return .authentication(
                WebAuthn.SigningRequest(
                    challenge: challenge,
                    relyingPartyID: relyingParty,
                    origin: origin,
                    allowedCredentials: list("allowCredentials") ?? list("acceptableCredentials") ?? [],
                    userVerification: verification,
                    timeout: timeout
                )
            )
        }
        let user = Self.rest(of: "user", in: text) ?? []
        let name = Self.quoted("name", in: user) ?? ""
        let isResident = Self.rest(of: "requireResidentKey", in: text)?.starts(with: "true".utf8) == true
        return .registration(
            WebAuthn.RegistrationRequest(
                challenge: challenge,
                relyingPartyID: relyingParty,
                relyingPartyName: Self.quoted("name", in: party) ?? "",
                origin: origin,
                user: WebAuthn.RegistrationRequest.User(
                    id: Array((Self.quotedArgument(in: Self.rest(of: "id", in: user) ?? []) ?? name).utf8),
                    name: name,
                    displayName: Self.quoted("displayName", in: user) ?? name
                ),
                algorithms: Self.numbers(after: "alg", in: Self.rest(of: "pubKeyCredParams", in: text) ?? []),
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
            if rest[index] == UInt8(ascii: "[") { depth += 1 }
            if rest[index] == UInt8(ascii: "]") {
                depth -= 1
                if depth <= 0 {
                    end = index
                    break
                }
            }
            // A name that is not followed by a list, but by a variable that was filled elsewhere.
            if depth == 0, ",;}".utf8.contains(rest[index]) { return nil }
        }
        return Self.byteArrays(in: rest[..<end])
    }

    // MARK: Pieces of script

    /// The quoted text that follows a name.
    static func quoted(_ name: String, in text: String) -> String? {
        quoted(name, in: Array(text.utf8)[...])
    }

    /// The numbers that follow each occurrence of a name.
    static func numbers(after name: String, in text: String) -> [Int] {
        numbers(after: name, in: Array(text.utf8)[...])
    }

    /// The bytes of each `Int8Array([…])`, or of each list of numbers.
    static func byteArrays(in text: String) -> [[UInt8]] {
        byteArrays(in: Array(text.utf8)[...])
    }

    /// What follows a name and its colon or equals sign, without the space between.
    private static func rest(of name: String, in text: Script) -> Script? {
        var search = text
        while let range = search.range(of: name.utf8) {
            let isWhole = range.lowerBound == text.startIndex || !isWord(text[range.lowerBound - 1])
            let after = text[range.upperBound...].drop { isQuote($0) || $0 == UInt8(ascii: "\\") || $0.isWhitespace }
            if isWhole, let mark = after.first, mark == UInt8(ascii: ":") || mark == UInt8(ascii: "=") {
                return after.dropFirst().drop(while: \.isWhitespace)
            }
            search = text[range.upperBound...]
        }
        return nil
    }

    private static func quoted(_ name: String, in text: Script) -> String? {
        rest(of: name, in: text).flatMap(quotedText)
    }

    private static func quotedText(_ rest: Script) -> String? {
        let rest = rest.drop { $0 == UInt8(ascii: "\\") }
        guard let quote = rest.first, isQuote(quote) else { return nil }
        let value = rest.dropFirst().prefix { $0 != quote && $0 != UInt8(ascii: "\\") }
        return value.isEmpty || value.endIndex == rest.endIndex ? nil : String(decoding: value, as: UTF8.self)
    }

    /// The first quoted text, as in `Uint8Array.from("…", …)`.
    private static func quotedArgument(in text: Script) -> String? {
        let line = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "}") }
        return line.firstIndex(where: isQuote).flatMap { quotedText(line[$0...]) }
    }

    private static func numbers(after name: String, in text: Script) -> [Int] {
        var numbers: [Int] = []
        var search = text
        while numbers.count < 64, let found = rest(of: name, in: search) {
            if let number = leadingNumber(found) { numbers.append(number) }
            search = found
        }
        return numbers
    }

    private static func leadingNumber(_ text: Script) -> Int? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = (isNegative ? text.dropFirst() : text).prefix(while: \.isDigit)
        guard digits.count < 16, let number = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
        return isNegative ? -number : number
    }

    private static func byteArrays(in text: Script, limit: Int = 256) -> [[UInt8]] {
        var arrays: [[UInt8]] = []
        var rest = text
        while arrays.count < limit, let end = rest.firstIndex(of: UInt8(ascii: "]")) {
            if let start = rest[..<end].lastIndex(of: UInt8(ascii: "[")),
                let list = try? JSONValue(parsing: rest[start...end]).array, !list.isEmpty
            {
                let numbers = list.compactMap(\.number)
                if numbers.count == list.count {
                    arrays.append(numbers.map { UInt8(truncatingIfNeeded: $0.saturatedInt) })
                }
            }
            rest = rest[(end + 1)...]
        }
        return arrays
    }

    private static func isQuote(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
    }

    /// Whether a name goes on to the left of the byte.
    private static func isWord(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte == UInt8(ascii: "_")
    }
}
