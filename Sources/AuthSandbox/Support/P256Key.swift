import HTTPRecovery

/// A public key on the curve P-256, which verifies signatures of ES256 (ECDSA with SHA-256, FIPS 186-5 section 6.4.2).
///
/// Nothing here is a secret, so nothing is done in constant time.
struct P256Key: Sendable, Equatable {
    private let point: P256Point

    /// A point by its coordinates; nil if it does not lie on the curve.
    init?(x: [UInt8], y: [UInt8]) {
        guard x.count == 32, y.count == 32, let point = P256Point(x: ResidueRing.words(x), y: ResidueRing.words(y))
        else { return nil }
        self.point = point
    }

    /// A key as COSE writes it (RFC 9053 section 7.1.1).
    init?(cose bytes: [UInt8]) {
        guard case .map(let members)? = CBORReader.read(bytes), members["1"]?.number == 2, members["3"]?.number == -7,
            members["-1"]?.number == 1, let x = members["-2"]?.bytes, let y = members["-3"]?.bytes
        else { return nil }
        self.init(x: x, y: y)
    }

    /// A key as JSON writes it (RFC 7518 section 6.2).
    init?(jwk json: JSONValue) {
        guard json["kty"]?.string == "EC", json["crv"]?.string == "P-256",
            let x = json["x"]?.string.flatMap({ Base64.decode($0.utf8) }),
            let y = json["y"]?.string.flatMap({ Base64.decode($0.utf8) })
        else { return nil }
        self.init(x: x, y: y)
    }

    /// Whether the key has signed a message; the two numbers of the signature follow one another (RFC 7518 section 3.4).
    func hasSigned(_ message: [UInt8], raw signature: [UInt8]) -> Bool {
        guard signature.count == 64 else { return false }
        return hasSigned(
            message,
            ResidueRing.words(Array(signature[..<32])),
            ResidueRing.words(Array(signature[32...]))
        )
    }

    /// Whether the key has signed a message; the two numbers of the signature are a sequence in DER, as in certificates.
    func hasSigned(_ message: [UInt8], der signature: [UInt8]) -> Bool {
        var rest = signature[...]
        guard rest.popFirst() == 0x30, let length = rest.popFirst(), Int(length) == rest.count,
            let first = Self.number(&rest), let second = Self.number(&rest), rest.isEmpty
        else { return false }
        return hasSigned(message, first, second)
    }

    private func hasSigned(_ message: [UInt8], _ first: [UInt64], _ second: [UInt64]) -> Bool {
        let scalars = P256Point.scalars
        guard P256Point.isScalar(first), P256Point.isScalar(second) else { return false }
        let inverse = scalars.inverse(scalars.residue(of: second))
        func part(_ number: [UInt64]) -> [UInt64] {
            scalars.value(of: scalars.multiply(scalars.residue(of: number), inverse))
        }
        let sum = P256Point.sum(part(ResidueRing.words(SHA256.hash(message))), .generator, part(first), point)
        guard let x = sum.coordinates?.x else { return false }
        return scalars.value(of: scalars.residue(of: x)) == first
    }

    /// A positive number in DER, of at most 32 bytes and without a byte too many.
    private static func number(_ rest: inout ArraySlice<UInt8>) -> [UInt64]? {
        guard rest.popFirst() == 0x02, let length = rest.popFirst(), (1...33).contains(length), rest.count >= length
        else { return nil }
        var bytes = Array(rest.prefix(Int(length)))
        rest = rest.dropFirst(Int(length))
        guard bytes[0] < 0x80, bytes.count == 1 || bytes[0] != 0 || bytes[1] >= 0x80 else { return nil }
        if bytes[0] == 0, bytes.count > 1 { bytes.removeFirst() }
        guard bytes.count <= 32 else { return nil }
        return ResidueRing.words([UInt8](repeating: 0, count: 32 - bytes.count) + bytes)
    }
}

/// A point of the curve P-256 in Jacobian coordinates: x / z², y / z³; z is zero at infinity.
struct P256Point: Sendable, Equatable {
    private let x: [UInt64]
    private let y: [UInt64]
    private let z: [UInt64]

    private init(_ x: [UInt64], _ y: [UInt64], _ z: [UInt64]) {
        (self.x, self.y, self.z) = (x, y, z)
    }

    /// A point by its coordinates; nil if it does not lie on the curve.
    init?(x: [UInt64], y: [UInt64]) {
        let field = Self.field
        let point = P256Point(field.residue(of: x), field.residue(of: y), field.residue(of: Self.one))
        guard field.value(of: point.x) == x, field.value(of: point.y) == y else { return nil }
        let cube = field.multiply(field.multiply(point.x, point.x), point.x)
        let line = field.subtract(field.residue(of: Self.constant), Self.times(3, point.x))
        guard field.multiply(point.y, point.y) == field.add(cube, line) else { return nil }
        self = point
    }

    // MARK: The curve (SP 800-186 section 3.2.1.3), the lowest word of each number first

    private static let field = ResidueRing(
        [0xFFFF_FFFF_FFFF_FFFF, 0x0000_0000_FFFF_FFFF, 0x0000_0000_0000_0000, 0xFFFF_FFFF_0000_0001]
    )
    private static let order: [UInt64] = [
        0xF3B9_CAC2_FC63_2551, 0xBCE6_FAAD_A717_9E84, 0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF_0000_0000,
    ]
    private static let constant: [UInt64] = [
        0x3BCE_3C3E_27D2_604B, 0x651D_06B0_CC53_B0F6, 0xB3EB_BD55_7698_86BC, 0x5AC6_35D8_AA3A_93E7,
    ]
    private static let zero: [UInt64] = [0, 0, 0, 0]
    private static let one: [UInt64] = [1, 0, 0, 0]

    /// What points are multiplied with.
    static let scalars = ResidueRing(order)

    static let generator = P256Point(
        field.residue(of: [0xF4A1_3945_D898_C296, 0x7703_7D81_2DEB_33A0, 0xF8BC_E6E5_63A4_40F2, 0x6B17_D1F2_E12C_4247]),
        field.residue(of: [0xCBB6_4068_37BF_51F5, 0x2BCE_3357_6B31_5ECE, 0x8EE7_EB4A_7C0F_9E16, 0x4FE3_42E2_FE1A_7F9B]),
        field.residue(of: one)
    )

    private static let infinity = P256Point(zero, zero, zero)

    /// Whether a number is between zero and the order.
    static func isScalar(_ number: [UInt64]) -> Bool {
        number != zero && scalars.value(of: scalars.residue(of: number)) == number
    }

    // MARK: Arithmetic

    /// The coordinates; nil at infinity.
    var coordinates: (x: [UInt64], y: [UInt64])? {
        guard z != Self.zero else { return nil }
        let field = Self.field
        let inverse = field.inverse(z)
        let square = field.multiply(inverse, inverse)
        return (
            field.value(of: field.multiply(x, square)),
            field.value(of: field.multiply(y, field.multiply(square, inverse)))
        )
    }

    /// The sum of multiples of two points, bit by bit of both at once.
    static func sum(
        _ first: [UInt64],
        _ one: P256Point,
        _ second: [UInt64] = zero,
        _ other: P256Point = infinity
    ) -> P256Point {
        let both = one + other
        var sum = infinity
        for index in (0..<4).reversed() {
            for bit in (0..<64).reversed() {
                sum = sum.doubled
                switch (first[index] >> UInt64(bit) & 1, second[index] >> UInt64(bit) & 1) {
                case (1, 1): sum = sum + both
                case (1, _): sum = sum + one
                case (_, 1): sum = sum + other
                default: break
                }
            }
        }
        return sum
    }

    private static func times(_ count: Int, _ number: [UInt64]) -> [UInt64] {
        (1..<count).reduce(number) { sum, _ in field.add(sum, number) }
    }

    private var doubled: P256Point {
        guard z != Self.zero else { return self }
        let field = Self.field
        let (delta, gamma) = (field.multiply(z, z), field.multiply(y, y))
        let beta = Self.times(4, field.multiply(x, gamma))
        let slope = Self.times(3, field.multiply(field.subtract(x, delta), field.add(x, delta)))
        let newX = field.subtract(field.multiply(slope, slope), field.add(beta, beta))
        let newY = field.subtract(
            field.multiply(slope, field.subtract(beta, newX)),
            Self.times(8, field.multiply(gamma, gamma))
        )
        return P256Point(newX, newY, Self.times(2, field.multiply(y, z)))
    }

    static func + (one: P256Point, other: P256Point) -> P256Point {
        guard one.z != zero else { return other }
        guard other.z != zero else { return one }
        let (oneSquare, otherSquare) = (field.multiply(one.z, one.z), field.multiply(other.z, other.z))
        let (oneX, otherX) = (field.multiply(one.x, otherSquare), field.multiply(other.x, oneSquare))
        let oneY = field.multiply(one.y, field.multiply(otherSquare, other.z))
        let otherY = field.multiply(other.y, field.multiply(oneSquare, one.z))
        let (width, height) = (field.subtract(otherX, oneX), field.subtract(otherY, oneY))
        guard width != zero else { return height == zero ? one.doubled : infinity }
        let square = field.multiply(width, width)
        let (cube, middle) = (field.multiply(square, width), field.multiply(oneX, square))
        let newX = field.subtract(
            field.multiply(height, height),
            field.add(cube, field.add(middle, middle))
        )
        let newY = field.subtract(
            field.multiply(height, field.subtract(middle, newX)),
            field.multiply(oneY, cube)
        )
        return P256Point(newX, newY, field.multiply(width, field.multiply(one.z, other.z)))
    }
}
