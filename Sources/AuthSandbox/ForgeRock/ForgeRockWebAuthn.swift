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
    let data: AuthenticatorData
    let credentialID: [UInt8]
    /// What the client calls it; nil if it does not.
    let name: String?

    init?(_ parts: [String]) {
        guard (3...4).contains(parts.count), let client = try? JSONValue(parsing: parts[0]),
            let object = ForgeRockOutcome.bytes(parts[1]), let id = Base64.decode(parts[2].utf8),
            case .map(let members)? = CBORReader.read(object), members["fmt"]?.text != nil,
            case .map(let statement)? = members["attStmt"], let bytes = members["authData"]?.bytes,
            let data = AuthenticatorData(bytes)
        else { return nil }
        switch members["fmt"]?.text {
        // Without an attestation there is nothing in its statement (section 8.7).
        case "none": guard statement.isEmpty else { return nil }
        // One without a certificate is made with the credential's own key (section 8.2).
        case "packed" where statement["x5c"] == nil:
            let signed = bytes + SHA256.hash(Array(parts[0].utf8))
            guard statement["alg"]?.number == -7, let signature = statement["sig"]?.bytes,
                let key = data.credential.flatMap({ P256Key(cose: $0.publicKey) }),
                key.hasSigned(signed, der: signature)
            else { return nil }
        // Certificates are not looked at.
        default: break
        }
        self.client = client
        self.data = data
        credentialID = id
        name = parts.count > 3 ? parts[3] : nil
    }
}

/// The proof of a credential as a client sends it.
struct ForgeRockAssertion: Sendable {
    let client: JSONValue
    let data: AuthenticatorData
    let credentialID: [UInt8]
    /// What was signed, and the signature.
    private let signed: (data: [UInt8], client: [UInt8])
    private let signature: [UInt8]

    init?(_ parts: [String]) {
        guard (4...5).contains(parts.count), let client = try? JSONValue(parsing: parts[0]),
            let bytes = ForgeRockOutcome.bytes(parts[1]), let data = AuthenticatorData(bytes),
            let signature = ForgeRockOutcome.bytes(parts[2]), let id = Base64.decode(parts[3].utf8)
        else { return nil }
        self.client = client
        self.data = data
        self.signature = signature
        credentialID = id
        signed = (bytes, Array(parts[0].utf8))
    }

    /// Whether a credential has made it (section 7.2, step 20).
    func isMade(by credential: ForgeRockCredential) -> Bool {
        P256Key(cose: credential.publicKey)?.hasMade(signature, over: signed.data, signed.client) ?? false
    }
}
