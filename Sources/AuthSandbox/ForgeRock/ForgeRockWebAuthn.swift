import HTTPRecovery

/// What came back in the hidden callback of a ceremony, in any of the forms that SDKs send.
enum ForgeRockOutcome: Sendable, Equatable {
    /// The device cannot do it.
    case unsupported
    /// The client has failed.
    case error
    /// The parts of a success, which may be none.
    case success([String])

    init(_ text: String) {
        switch text {
        case "unsupported": self = .unsupported
        case _ where text.hasPrefix("ERROR::"): self = .error
        default:
            let wrapped = text.hasPrefix("{\"authenticatorAttachment\"") || text.hasPrefix("{\"legacyData\"")
            let plain = wrapped ? (try? JSONValue(parsing: text))?["legacyData"]?.string ?? "" : text
            self = .success(Self.parts(plain))
        }
    }

    /// The parts between double colons; an empty last one counts.
    private static func parts(_ text: String) -> [String] {
        var parts: [String] = []
        var rest = text[...]
        while let mark = rest.firstRange(of: "::") {
            parts.append(String(rest[..<mark.lowerBound]))
            rest = rest[mark.upperBound...]
        }
        return parts + [String(rest)]
    }

    /// Bytes that were written as signed numbers with commas; nil for anything else.
    static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        for number in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let value = Int8(number) else { return nil }
            bytes.append(UInt8(bitPattern: value))
        }
        return bytes
    }
}

/// A new credential as a client sends it.
struct ForgeRockAttestation: Sendable {
    let client: JSONValue
    let data: ForgeRockAuthenticatorData
    let credentialID: [UInt8]
    /// What the client calls it; nil if it does not.
    let name: String?

    init?(_ parts: [String]) {
        guard (3...4).contains(parts.count), let client = try? JSONValue(parsing: parts[0]),
            let object = ForgeRockOutcome.bytes(parts[1]), let id = Base64.decode(parts[2].utf8),
            case .map(let members)? = CBORReader.read(object), members["fmt"]?.text != nil,
            case .map(let statement)? = members["attStmt"], let bytes = members["authData"]?.bytes,
            let data = ForgeRockAuthenticatorData(bytes)
        else { return nil }
        // Without an attestation there is nothing in its statement (section 8.7).
        guard members["fmt"]?.text != "none" || statement.isEmpty else { return nil }
        self.client = client
        self.data = data
        credentialID = id
        name = parts.count > 3 ? parts[3] : nil
    }
}

/// The proof of a credential as a client sends it.
struct ForgeRockAssertion: Sendable {
    let client: JSONValue
    let data: ForgeRockAuthenticatorData
    let credentialID: [UInt8]

    init?(_ parts: [String]) {
        guard (4...5).contains(parts.count), let client = try? JSONValue(parsing: parts[0]),
            let bytes = ForgeRockOutcome.bytes(parts[1]), let data = ForgeRockAuthenticatorData(bytes),
            let signature = ForgeRockOutcome.bytes(parts[2]), let id = Base64.decode(parts[3].utf8)
        else { return nil }
        // An ECDSA signature is a sequence of two numbers (section 6.5.6); its content is not verified.
        guard signature.count >= 8, signature.count <= 80, signature[0] == 0x30,
            Int(signature[1]) == signature.count - 2
        else { return nil }
        self.client = client
        self.data = data
        credentialID = id
    }
}

/// What an authenticator says about itself (section 6.1).
struct ForgeRockAuthenticatorData: Sendable {
    let relyingPartyHash: [UInt8]
    let isPresent: Bool
    let isVerified: Bool
    let counter: UInt32
    let credential: (id: [UInt8], publicKey: [UInt8])?

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 37 else { return nil }
        relyingPartyHash = Array(bytes[..<32])
        isPresent = bytes[32] & 0x01 != 0
        isVerified = bytes[32] & 0x04 != 0
        counter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        guard bytes[32] & 0x40 != 0 else {
            credential = nil
            return
        }
        guard bytes.count >= 55 else { return nil }
        let length = Int(bytes[53]) << 8 | Int(bytes[54])
        guard length <= 1023, bytes.count > 55 + length else { return nil }
        let key = Array(bytes[(55 + length)...])
        guard case .map(let members)? = CBORReader.read(key), Self.isKey(members) else { return nil }
        credential = (Array(bytes[55..<55 + length]), key)
    }

    /// A key on P-256 for ES256, in the shape of RFC 9053 section 7.1.1.
    private static func isKey(_ members: [String: CBORReader.Value]) -> Bool {
        members["1"]?.number == 2 && members["3"]?.number == -7 && members["-1"]?.number == 1
            && members["-2"]?.bytes?.count == 32 && members["-3"]?.bytes?.count == 32
    }
}

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
