import HTTPRecovery

/// What an authenticator says about itself (Web Authentication section 6.1).
struct AuthenticatorData: Sendable {
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

extension AuthenticatorData {
    /// What stands in the attestation of a new credential (Web Authentication section 6.5); nil if it cannot be read.
    init?(attestation bytes: [UInt8]) {
        guard case .map(let members)? = CBORReader.read(bytes), members["fmt"]?.text != nil,
            case .map? = members["attStmt"], let data = members["authData"]?.bytes
        else { return nil }
        self.init(data)
    }
}

extension P256Key {
    /// Whether the key has made an assertion (Web Authentication section 7.2, step 20).
    ///
    /// - Parameters:
    ///   - signature: The signature, in DER.
    ///   - data: The authenticator data.
    ///   - client: The client data, as it was signed.
    func hasMade(_ signature: [UInt8], over data: [UInt8], _ client: [UInt8]) -> Bool {
        hasSigned(data + SHA256.hash(client), der: signature)
    }
}
