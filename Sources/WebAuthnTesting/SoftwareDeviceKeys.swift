#if Cryptography
public import AuthRecovery
internal import Crypto
public import HTTPRecovery

/// Keys of a device in software, on P-256, that live as long as it does.
///
/// It is made for tests and demonstrations: a key in memory proves no device. So it binds only where the provider wants no
/// consent of the person (`NONE`), and says `unsupported` elsewhere.
///
/// ```swift
/// let keys = SoftwareDeviceKeys()
/// let forgeRock = try ForgeRock(baseURL: url, client: client, tokens: tokens,
///     configuration: ForgeRockConfiguration(deviceKeys: keys))
/// ```
public final class SoftwareDeviceKeys: Credentials.DeviceKeys {
    private struct Key: Sendable {
        var id: String
        var userID: String
        var key: P256.Signing.PrivateKey
    }

    /// What tells this device from others.
    public let deviceID: String
    private let deviceName: String?
    private let keys = Locked<[Key]>([])
    private let time: TimeSource
    private let random: Runtime.RandomSource

    /// Creates a device without keys.
    ///
    /// - Parameters:
    ///   - deviceName: What it is called; default: nothing.
    ///   - time: What the claims' times are told by.
    ///   - random: Where the ids come from. Keys always come from the system's generator.
    public init(
        deviceName: String? = nil,
        time: TimeSource = .system,
        random: Runtime.RandomSource = Runtime.RandomSource()
    ) {
        self.deviceName = deviceName
        self.time = time
        self.random = random
        deviceID = Base64.encodeForURL(random.bytes(16))
    }

    /// The ids of the accounts that a key is bound to.
    public var userIDs: [String] { keys.withLock { $0.map(\.userID) } }

    /// Makes a key for an account; one that was there is replaced.
    public func bind(_ request: Credentials.DeviceKeyRequest) async throws -> Credentials.DeviceBinding {
        guard request.consent == Credentials.DeviceKeyRequest.Consent.none, let userID = request.userID else {
            throw Credentials.DeviceKeyFailure.unsupported
        }
        let made = Key(id: Base64.encodeForURL(random.bytes(16)), userID: userID, key: P256.Signing.PrivateKey())
        let point = made.key.publicKey.rawRepresentation
        let publicKey: JSONValue = [
            "kty": "EC", "crv": "P-256", "x": .string(Base64.encodeForURL(point.prefix(32))),
            "y": .string(Base64.encodeForURL(point.suffix(32))), "use": "sig", "alg": "ES256", "kid": .string(made.id),
        ]
        let proof = try sign(request.challenge, with: made, header: [.init("jwk", publicKey)])
        keys.withLock { keys in
            keys.removeAll { $0.userID == userID }
            keys.append(made)
        }
        return Credentials.DeviceBinding(proof: proof, deviceID: deviceID, deviceName: deviceName)
    }

    /// Signs with the key of the account, or with the only one there is if none is named.
    public func sign(_ request: Credentials.DeviceKeyRequest) async throws -> Secret {
        let held = keys.withLock { $0 }
        let fitting = request.userID.map { id in held.filter { $0.userID == id } } ?? held
        guard fitting.count == 1 else { throw Credentials.DeviceKeyFailure.notRegistered }
        return try sign(request.challenge, with: fitting[0], header: [])
    }

    private func sign(_ challenge: String, with key: Key, header: [JSONValue.Member]) throws -> Secret {
        let now = Int64(time.wallTime.secondsSinceEpoch)
        let head = JSONValue.object(
            [.init("typ", "JWS"), .init("alg", "ES256"), .init("kid", .string(key.id))] + header
        )
        let claims: JSONValue = [
            "sub": .string(key.userID), "challenge": .string(challenge), "iss": "swift-http-recovery",
            "platform": "Linux", "iat": .number(JSONValue.Number(Int(now))),
            "nbf": .number(JSONValue.Number(Int(now))), "exp": .number(JSONValue.Number(Int(now) + 60)),
        ]
        let content = [head, claims].map { Base64.encodeForURL($0.description.utf8) }.joined(separator: ".")
        let signature = try key.key.signature(for: Array(content.utf8))
        return Secret("\(content).\(Base64.encodeForURL(signature.rawRepresentation))")
    }
}
#endif
