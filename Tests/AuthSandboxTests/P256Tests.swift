import HTTPRecovery
import Testing

@testable import AuthSandbox

/// A private key for tests, on P-256.
struct P256Signer {
    let key: P256Key
    let x: [UInt8]
    let y: [UInt8]
    private let secret: [UInt64]

    /// - Parameter secret: A number below 2^248.
    init(_ secret: UInt64 = 7) throws {
        self.secret = [secret, 5, 3, 1]
        let point = try #require(P256Point.sum(self.secret, .generator).coordinates)
        (x, y) = (Self.bytes(point.x), Self.bytes(point.y))
        key = try #require(P256Key(x: x, y: y))
    }

    /// The key as JSON writes it.
    func jwk(_ id: String) -> JSONValue {
        [
            "kty": "EC", "crv": "P-256", "kid": .string(id), "x": .string(Base64.encodeForURL(x)),
            "y": .string(Base64.encodeForURL(y)),
        ]
    }

    /// The signature of a message, its numbers behind one another.
    func sign(_ message: [UInt8], nonce: UInt64 = 11) throws -> [UInt8] {
        let scalars = P256Point.scalars
        let number: [UInt64] = [nonce, 1, 0, 1]
        let x = try #require(P256Point.sum(number, .generator).coordinates?.x)
        let first = scalars.residue(of: x)
        let hash = scalars.residue(of: ResidueRing.words(SHA256.hash(message)))
        let sum = scalars.add(hash, scalars.multiply(first, scalars.residue(of: secret)))
        let second = scalars.multiply(sum, scalars.inverse(scalars.residue(of: number)))
        return Self.bytes(scalars.value(of: first)) + Self.bytes(scalars.value(of: second))
    }

    private static func bytes(_ words: [UInt64]) -> [UInt8] {
        words.reversed().flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }
}

@Suite("Signatures on P-256")
struct P256Tests {
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue).map { UInt8($0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The key and the signatures of RFC 6979, section A.2.5.
    private static let key = P256Key(
        x: bytes("60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"),
        y: bytes("7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
    )
    private static let samples: [(message: String, first: String, second: String)] = [
        (
            "sample", "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
            "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
        ),
        (
            "test", "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
            "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
        ),
    ]

    @Test(arguments: samples)
    func knownSignaturesAreTaken(message: String, first: String, second: String) throws {
        let key = try #require(Self.key)
        let (raw, text) = (Self.bytes(first + second), Array(message.utf8))
        #expect(key.hasSigned(text, raw: raw))
        #expect(!key.hasSigned(text + [0], raw: raw) && !key.hasSigned(text, raw: Array(raw.dropLast())))
        for index in [0, 31, 32, 63] {
            var other = raw
            other[index] ^= 1
            #expect(!key.hasSigned(text, raw: other), "\(index)")
        }
        // Numbers whose highest bit is set have a zero before them.
        func number(_ hex: String) -> [UInt8] {
            let bytes = Self.bytes(hex)
            let whole = bytes[0] >= 0x80 ? [0] + bytes : bytes
            return [0x02, UInt8(whole.count)] + whole
        }
        let numbers = number(first) + number(second)
        let der = [0x30, UInt8(numbers.count)] + numbers
        #expect(key.hasSigned(text, der: der))
        #expect(!key.hasSigned(text, der: der + [0]) && !key.hasSigned(text, der: Array(der.dropLast())))
        #expect(!key.hasSigned(text, der: []) && !key.hasSigned(text, der: [0x30, 6, 2, 1, 1, 2, 1, 1]))
        #expect(!key.hasSigned(text, der: [0x30, 6, 2, 1, 0, 2, 1, 0]), "zeros are no numbers of a signature")
    }

    @Test func whatWasSignedHereIsVerified() throws {
        let (one, other) = (try P256Signer(), try P256Signer(8))
        let message = Array("hello".utf8)
        let signature = try one.sign(message)
        #expect(one.key.hasSigned(message, raw: signature) && !other.key.hasSigned(message, raw: signature))
        #expect(P256Key(jwk: one.jwk("k")) == one.key)
        // The order itself, and what is more, is no number of a signature.
        let order = Self.bytes("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
        #expect(!one.key.hasSigned(message, raw: order + order))
        #expect(!one.key.hasSigned(message, raw: [UInt8](repeating: 0xFF, count: 64)))
    }

    @Test func aPointBesideTheCurveIsNoKey() throws {
        let signer = try P256Signer()
        var y = signer.y
        y[31] ^= 1
        #expect(P256Key(x: signer.x, y: y) == nil && P256Key(x: signer.y, y: signer.x) == nil)
        #expect(P256Key(x: [UInt8](repeating: 0xFF, count: 32), y: signer.y) == nil)
        #expect(P256Key(x: [], y: []) == nil && P256Key(jwk: [:]) == nil && P256Key(cose: [0xA0]) == nil)
    }
}
