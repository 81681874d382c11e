#if Cryptography
public import AuthRecovery
internal import Crypto
public import HTTPRecovery

/// An authenticator in software: it registers and signs for real, with keys on P-256 that live as long as it does.
///
/// It is made for tests and demonstrations: its keys are in memory, unless they are exported, and it takes the person's
/// presence for granted.
///
/// ```swift
/// let authenticator = SoftwareAuthenticator()
/// let forgeRock = try ForgeRock(baseURL: url, client: client, tokens: tokens,
///     configuration: ForgeRockConfiguration(authenticator: authenticator))
/// ```
public final class SoftwareAuthenticator: WebAuthn.Authenticator {
    /// A credential as it can be stored and taken up again.
    private struct Credential: Sendable {
        var id: [UInt8]
        var key: P256.Signing.PrivateKey
        var relyingPartyID: String
        var userHandle: [UInt8]
        var isResident: Bool
        var counter: UInt32 = 0
    }

    /// The number of ES256 in COSE (RFC 9053 section 2.1).
    private static let es256 = -7

    /// Identifies the model: sixteen bytes.
    public let aaguid: [UInt8]
    /// Whether the person can be verified, as by a PIN.
    public let verifiesUser: Bool

    private let credentials = Locked<[Credential]>([])
    private let random: Runtime.RandomSource

    /// Creates an authenticator without credentials.
    ///
    /// - Parameters:
    ///   - verifiesUser: Whether the person can be verified; default: yes.
    ///   - aaguid: Identifies the model; cut or filled up to sixteen bytes. Default: zeros, as software has no model.
    ///   - random: Where the ids of credentials come from. Keys always come from the system's generator.
    public init(verifiesUser: Bool = true, aaguid: [UInt8] = [], random: Runtime.RandomSource = Runtime.RandomSource())
    {
        self.verifiesUser = verifiesUser
        self.aaguid = Array((aaguid + [UInt8](repeating: 0, count: 16)).prefix(16))
        self.random = random
    }

    /// Takes up the credentials that another one has exported.
    ///
    /// - Parameter exported: What ``export()`` has returned.
    /// - Throws: `WebAuthn.Failure` if it is not such a text.
    public convenience init(restoring exported: Secret) throws {
        self.init()
        guard let list = try? JSONValue(parsing: exported.reveal()).array else {
            throw WebAuthn.Failure.badData(message: "no credentials of a software authenticator")
        }
        let restored = try list.map { entry in
            func bytes(_ name: String) -> [UInt8]? { entry[name]?.string.flatMap { Base64.decode($0.utf8) } }
            guard let id = bytes("id"), let raw = bytes("key"), let user = bytes("user"),
                let relyingPartyID = entry["rp"]?.string, let isResident = entry["resident"]?.bool,
                // Begun anew, it would make the credential look like a copy.
                let counter = entry["counter"]?.number.flatMap({ UInt32($0.text) }),
                let key = try? P256.Signing.PrivateKey(rawRepresentation: raw)
            else { throw WebAuthn.Failure.badData(message: "no credential of a software authenticator") }
            return Credential(
                id: id,
                key: key,
                relyingPartyID: relyingPartyID,
                userHandle: user,
                isResident: isResident,
                counter: counter
            )
        }
        credentials.withLock { $0 = restored }
    }

    /// All credentials with their private keys, as JSON, to be kept where only their owner can read it.
    public func export() -> Secret {
        let entries = credentials.withLock { credentials in
            credentials.map { credential -> JSONValue in
                [
                    "id": .string(Base64.encodeForURL(credential.id)),
                    "key": .string(Base64.encodeForURL(Array(credential.key.rawRepresentation))),
                    "rp": .string(credential.relyingPartyID),
                    "user": .string(Base64.encodeForURL(credential.userHandle)),
                    "resident": .bool(credential.isResident),
                    "counter": .number(JSONValue.Number(Int(credential.counter))),
                ]
            }
        }
        return Secret(JSONValue.array(entries).description)
    }

    /// The ids of the credentials, the oldest first.
    public var credentialIDs: [[UInt8]] {
        credentials.withLock { $0.map(\.id) }
    }

    /// Makes a credential.
    ///
    /// The attestation is `none`, or a self attestation in the `packed` format if a direct one is asked for (Web
    /// Authentication section 8.2).
    public func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        try Task.checkCancellation()
        guard request.algorithms.isEmpty || request.algorithms.contains(Self.es256) else {
            throw WebAuthn.Failure.unsupported(message: "no common algorithm")
        }
        let isVerified = try verification(request.userVerification)
        try check(request.relyingPartyID, request.origin)
        let isResident = request.residentKey != .discouraged
        let credential = Credential(
            id: random.bytes(32),
            key: P256.Signing.PrivateKey(),
            relyingPartyID: request.relyingPartyID,
            userHandle: request.user.id,
            isResident: isResident
        )
        let isExcluded = credentials.withLock { credentials in
            let holds = credentials.contains {
                $0.relyingPartyID == request.relyingPartyID && request.excludedCredentials.contains($0.id)
            }
            if !holds { credentials.append(credential) }
            return holds
        }
        if isExcluded { throw WebAuthn.Failure.invalidState(message: "a credential exists already") }
        let client = WebAuthn.ClientData(.create, challenge: request.challenge, origin: request.origin)
        let data = authenticatorData(credential, isVerified: isVerified, isNew: true)
        let isDirect = request.attestation == "direct" || request.attestation == "enterprise"
        return WebAuthn.Attestation(
            credentialID: credential.id,
            clientDataJSON: client.json,
            attestationObject: try attestation(
                data,
                signature: isDirect ? try sign(data + client.hash, with: credential.key) : nil
            ),
            attachment: "platform"
        )
    }

    /// Signs with a credential of the relying party: an allowed one, or one that can be found without its id.
    public func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        try Task.checkCancellation()
        let isVerified = try verification(request.userVerification)
        try check(request.relyingPartyID, request.origin)
        let credential = credentials.withLock { credentials -> Credential? in
            let index = credentials.lastIndex { credential in
                credential.relyingPartyID == request.relyingPartyID
                    && (request.allowedCredentials.isEmpty
                        ? credential.isResident : request.allowedCredentials.contains(credential.id))
            }
            guard let index else { return nil }
            credentials[index].counter &+= 1
            return credentials[index]
        }
        guard let credential else { throw WebAuthn.Failure.notAllowed(message: "no credential fits") }
        let client = WebAuthn.ClientData(.get, challenge: request.challenge, origin: request.origin)
        let data = authenticatorData(credential, isVerified: isVerified, isNew: false)
        return WebAuthn.Assertion(
            credentialID: credential.id,
            clientDataJSON: client.json,
            authenticatorData: data,
            signature: try sign(data + client.hash, with: credential.key),
            userHandle: credential.userHandle,
            attachment: "platform"
        )
    }

    // MARK: Parts

    private func verification(_ requirement: WebAuthn.RegistrationRequest.Requirement) throws -> Bool {
        if requirement == .required, !verifiesUser {
            throw WebAuthn.Failure.unsupported(message: "no user verification")
        }
        return verifiesUser && requirement != .discouraged
    }

    /// The relying party's id has to be the origin's domain or one above it (Web Authentication section 5.1.3, step 8).
    private func check(_ relyingPartyID: String, _ origin: String) throws {
        let authority = origin.split(separator: "/").dropFirst().first ?? ""
        let host = authority.prefix { $0 != ":" }
        guard !relyingPartyID.isEmpty, host == relyingPartyID || host.hasSuffix("." + relyingPartyID) else {
            throw WebAuthn.Failure.notAllowed(message: "the relying party's id does not belong to the origin")
        }
    }

    /// Section 6.1: the hash of the relying party's id, flags, counter, and the new credential.
    private func authenticatorData(_ credential: Credential, isVerified: Bool, isNew: Bool) -> [UInt8] {
        var data = HTTPRecovery.SHA256.hash(credential.relyingPartyID.utf8)
        data.append(0x01 | (isVerified ? 0x04 : 0) | (isNew ? 0x40 : 0))
        for shift in stride(from: 24, through: 0, by: -8) {
            data.append(UInt8(truncatingIfNeeded: credential.counter >> UInt32(shift)))
        }
        guard isNew else { return data }
        data += aaguid
        data += [UInt8(credential.id.count >> 8), UInt8(truncatingIfNeeded: credential.id.count)] + credential.id
        return data + Self.publicKey(credential.key)
    }

    /// The public key as COSE writes it (RFC 9053 section 7.1.1).
    private static func publicKey(_ key: P256.Signing.PrivateKey) -> [UInt8] {
        let point = Array(key.publicKey.rawRepresentation)
        var writer = CBORWriter()
        writer.map(5)
        writer.integer(1)
        writer.integer(2)
        writer.integer(3)
        writer.integer(es256)
        writer.integer(-1)
        writer.integer(1)
        writer.integer(-2)
        writer.byteString(Array(point.prefix(32)))
        writer.integer(-3)
        writer.byteString(Array(point.dropFirst(32)))
        return writer.bytes
    }

    /// Section 6.5.4; the names are in the canonical order of CTAP.
    private func attestation(_ data: [UInt8], signature: [UInt8]?) throws -> [UInt8] {
        var writer = CBORWriter()
        writer.map(3)
        writer.text("fmt")
        writer.text(signature == nil ? "none" : "packed")
        writer.text("attStmt")
        if let signature {
            writer.map(2)
            writer.text("alg")
            writer.integer(Self.es256)
            writer.text("sig")
            writer.byteString(signature)
        } else {
            writer.map(0)
        }
        writer.text("authData")
        writer.byteString(data)
        return writer.bytes
    }

    private func sign(_ bytes: [UInt8], with key: P256.Signing.PrivateKey) throws -> [UInt8] {
        do {
            return Array(try key.signature(for: bytes).derRepresentation)
        } catch {
            throw WebAuthn.Failure.unknown(platformError: error)
        }
    }
}
#endif
