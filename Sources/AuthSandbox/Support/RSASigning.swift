import HTTPRecovery

/// Signs tokens as servers do whose keys everybody can fetch: RS256 (RFC 7518 section 3.3), with a key that is no secret,
/// since it stands here.
///
/// The modulus has eight prime factors (RFC 8017 section 3.2), which makes signing fast where nothing is optimized.
enum RSASigning {
    /// The key's name.
    static let keyID = "sandbox"

    /// The public part of the key (RFC 7517).
    static let publicKey: JSONValue = [
        "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(keyID),
        "n": .string(Base64.encodeForURL(bytes(modulus))), "e": "AQAB",
    ]

    /// The keys that a server publishes.
    ///
    /// - Parameter isHidden: Whether it is another one in place of the key, so that no signature can be verified.
    static func publicKeys(isHidden: Bool) -> JSONValue {
        guard isHidden, case .object(let members) = publicKey else { return [publicKey] }
        return [.object(members.map { $0.key == "kid" ? .init("kid", "another") : $0 })]
    }

    /// A token, signed with the key.
    static func token(type: String, claims: JSONValue) -> String {
        let header: JSONValue = ["alg": "RS256", "kid": .string(keyID), "typ": .string(type)]
        let content = [header, claims].map { Base64.encodeForURL($0.text.utf8) }.joined(separator: ".")
        return content + "." + Base64.encodeForURL(signature(of: Array(content.utf8)))
    }

    /// The signature of a message (RFC 8017 section 8.2.1).
    static func signature(of message: [UInt8]) -> [UInt8] {
        // What says that the hash is one of SHA-256 (RFC 8017 section 9.2, note 1).
        let prefix: [UInt8] = [
            0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
            0x20,
        ]
        let end = [0] + prefix + SHA256.hash(message)
        let padded = [0, 1] + [UInt8](repeating: 0xFF, count: 256 - 2 - end.count) + end
        return bytes(root(of: ResidueRing.words(padded)))
    }

    // MARK: The key

    /// The prime factors, each with the exponent that undoes that of the public key; the lowest word first.
    private static let factors: [(prime: [UInt64], exponent: [UInt64])] = [
        (
            [0x9D13_7AE9_21C0_74B3, 0x3BC7_6B29_38FC_50C1, 0xF9D8_8F82_F4FF_FFBE, 0xF124_36D0_C669_5F3C],
            [0x6B7C_E149_3DF4_A90D, 0x4259_FFC3_C83A_3508, 0xD833_4ADA_88B3_E52C, 0x74C3_AA5F_5193_F86F]
        ),
        (
            [0xF630_04F1_A531_4887, 0x07BE_91D4_7934_996C, 0x16EB_2E79_1A21_D81A, 0xF1B0_0E15_8A46_B4EF],
            [0xA96C_DE8E_5B41_4D7F, 0xDC5B_BF03_BC7B_AF35, 0x3294_5529_0151_9E79, 0x63E9_E958_A44A_68C0]
        ),
        (
            [0x4B5A_FB50_770B_FECF, 0x84F4_27D9_DEF3_B2AA, 0xFBE0_6156_8F42_2E5E, 0xF349_A20A_D4ED_1ED9],
            [0x1DD5_58B1_6418_3D7F, 0x6BBF_595E_7EE4_0FC4, 0x3229_67AC_DB47_A0A2, 0x4363_4CF0_2524_7D1C]
        ),
        (
            [0xE087_B477_A278_7C2B, 0xF878_FBA4_7003_3885, 0x2E15_23F8_BB31_9A28, 0xF6FC_45B7_C62E_0005],
            [0x42B7_17C7_D35E_5CE5, 0x46B9_26FC_2B4F_0D03, 0x0C8A_0B57_F474_BD07, 0x40CC_4AD6_3E2E_4F5F]
        ),
        (
            [0x10C7_6C0D_7030_A25D, 0xBDA2_6BB7_BF0C_7D42, 0xF524_AECE_3F64_C731, 0xF275_0083_D33A_7BB1],
            [0xA1A7_95F4_A8A7_7565, 0x0C37_C6A6_DF08_87DA, 0x03FF_CD0C_27C7_E84F, 0x349E_5DD9_3E2B_5013]
        ),
        (
            [0x3829_BAA2_7066_615B, 0x52EC_F880_381D_A9D4, 0x0F03_5D5B_8BCF_A5B0, 0xF717_7BFC_DE2D_4E1C],
            [0x4F03_46B4_56B2_4197, 0x21EC_A142_DC65_8A33, 0x7F20_35CA_F770_DBE6, 0x2CBA_0488_8E53_171B]
        ),
        (
            [0x91C8_1FA8_75D0_CA45, 0x9AA4_3FD2_E706_E86A, 0x28E8_5F9D_3017_EFEC, 0xF7F0_4B81_20EC_8DFB],
            [0xCAB3_3DFF_2965_8F2D, 0x0FDE_12F7_5389_085A, 0xA4BD_CDF4_0367_A0AA, 0xA15B_4E18_2470_2EDA]
        ),
        (
            [0xC161_D278_4C4B_B529, 0x54D0_E491_ABFF_1737, 0xB686_D7F8_606E_9FE9, 0xFD9F_3217_C0B7_FF2A],
            [0xE903_6417_4038_D801, 0x57DC_2CF5_E1DD_C7BF, 0xAD16_5D0E_CEBA_3E9D, 0x5E1D_B579_1B0B_2CA5]
        ),
    ]

    private static let modulus = factors.reduce([1]) { ResidueRing.multiply($0, $1.prime) }

    /// The number whose power with the public exponent is the given one: its residues one by one, put together by Garner's way.
    private static func root(of number: [UInt64]) -> [UInt64] {
        var (root, product): ([UInt64], [UInt64]) = ([0], [1])
        for (prime, exponent) in factors {
            let ring = ResidueRing(prime)
            let residue = ring.power(ring.residue(of: number), exponent)
            let missing = ring.subtract(residue, ring.residue(of: root))
            let step = ring.value(of: ring.multiply(missing, ring.inverse(ring.residue(of: product))))
            root = ResidueRing.add(root, ResidueRing.multiply(product, step))
            product = ResidueRing.multiply(product, prime)
        }
        return root
    }

    // MARK: Bytes

    /// The 256 bytes of a number.
    private static func bytes(_ words: [UInt64]) -> [UInt8] {
        (0..<32).reversed().flatMap { index in
            let word = index < words.count ? words[index] : 0
            return stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }
}
