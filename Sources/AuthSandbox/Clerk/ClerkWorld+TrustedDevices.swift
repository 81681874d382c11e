import HTTPRecovery

// Keys of devices: what is signed is looked at; the signature has to have the form of one alone, for there is no public-key
// cryptography here.
extension ClerkWorld {
    private static let platforms = ["ios", "android"]

    private mutating func makeDeviceChallenge(for key: String, _ call: ClerkCall) -> ClerkTrustedDevice.Challenge {
        ClerkTrustedDevice.Challenge(
            id: call.context.random.identifier("tdch_"),
            value: Base64.encodeForURL(Array(call.context.random.letters(32).utf8)),
            key: key,
            expiresAt: call.now + 300_000
        )
    }

    static func view(_ challenge: ClerkTrustedDevice.Challenge, device: String? = nil) -> JSONValue {
        .present([
            "object": "trusted_device_challenge", "challenge": .string(challenge.value),
            "challenge_id": .string(challenge.id), "trusted_device_id": device.map { .string($0) },
            "client_data": .string(challenge.clientData), "expires_at": .int(challenge.expiresAt),
            "algorithm": "ES256",
        ])
    }

    private static func view(_ id: String, _ device: ClerkTrustedDevice) -> JSONValue {
        [
            "object": "trusted_device", "id": .string(id), "platform": .string(device.platform),
            "app_identifier": .string(device.app), "name": .optional(device.name), "algorithm": "ES256",
            "status": "active", "created_at": .int(device.createdAt), "updated_at": .int(device.createdAt),
            "last_used_at": .optional(device.lastUsedAt), "revoked_at": .null,
        ]
    }

    // MARK: Enrolling

    mutating func answerTrustedDevices(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        switch call.route {
        case "GET me/trusted_devices":
            let devices = accounts[session.account]?.trustedDevices.sorted { $0.key < $1.key } ?? []
            return wrapped(.array(devices.map { Self.view($0.key, $0.value) }), call.client)
        case "POST me/trusted_devices/prepare":
            let device = try describedDevice(call, session)
            let challenge = makeDeviceChallenge(for: device.key, call)
            accounts[session.account]?.newTrustedDevices.append(challenge)
            return wrapped(Self.view(challenge), call.client)
        case "POST me/trusted_devices/attempt": return try enrollDevice(call, session)
        default:
            guard call.route == "DELETE me/trusted_devices/{id}",
                let device = accounts[session.account]?.trustedDevices.removeValue(forKey: call.id)
            else { throw .notFound("trusted device") }
            return wrapped(Self.view(call.id, device).adding("status", "revoked"), call.client)
        }
    }

    /// The device that a form tells of.
    private func describedDevice(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> ClerkTrustedDevice
    {
        let platform = try call.required("platform")
        guard Self.platforms.contains(platform) else { throw .notAllowed("platform", platform) }
        let app = try call.required("app_identifier")
        guard call.settings.trustedDeviceApps.contains(app) else { throw .deviceAppUnknown }
        let algorithm = try call.required("algorithm")
        guard algorithm == "ES256" else { throw .notAllowed("algorithm", algorithm) }
        let key = try call.required("public_key_jwk")
        let jwk = try? JSONValue(parsing: Array(key.utf8))
        guard jwk?["kty"] == "EC", jwk?["crv"] == "P-256",
            ["x", "y"].allSatisfy({ jwk?[$0]?.string.flatMap { Base64.decode($0.utf8) }?.count == 32 })
        else { throw .deviceKeyInvalid }
        if accounts[session.account]?.trustedDevices.values.contains(where: { $0.key == key }) == true {
            throw .deviceEnrolled
        }
        return ClerkTrustedDevice(
            app: app,
            platform: platform,
            name: call.field("name"),
            key: key,
            createdAt: call.now
        )
    }

    private mutating func enrollDevice(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        let device = try describedDevice(call, session)
        let pending = accounts[session.account]?.newTrustedDevices ?? []
        let data = try call.required("client_data")
        guard let challenge = pending.first(where: { $0.clientData == data }) else {
            throw pending.isEmpty ? .deviceChallengeUnknown : .deviceDataInvalid
        }
        // A challenge is good for one proof.
        accounts[session.account]?.newTrustedDevices.removeAll { $0.id == challenge.id }
        guard challenge.key == device.key else { throw .deviceBindingMismatch }
        try Self.check(challenge, data, call)
        let id = call.context.random.identifier("tdc_")
        accounts[session.account]?.trustedDevices[id] = device
        return wrapped(Self.view(id, device), call.client)
    }

    /// Holds a proof against the challenge that it is for.
    private static func check(
        _ challenge: ClerkTrustedDevice.Challenge,
        _ data: String,
        _ call: ClerkCall
    ) throws(ClerkFailure) {
        if challenge.expiresAt <= call.now { throw .deviceChallengeExpired }
        guard data == challenge.clientData else { throw .deviceDataInvalid }
        let signature = Base64.decode(try call.required("signature").utf8) ?? []
        // A sequence of two numbers (X9.62), of a length that P-256 allows.
        guard (8...72).contains(signature.count), signature[0] == 0x30, Int(signature[1]) == signature.count - 2,
            signature[2] == 0x02
        else { throw .deviceSignatureWrong }
    }

    // MARK: Signing in

    func validateDevice(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let id = try call.required("trusted_device_id")
        return wrapped(["valid": .bool(deviceOwner(id) != nil)], call.client)
    }

    private func deviceOwner(_ id: String) -> ClerkAccount? { accounts.values.first { $0.trustedDevices[id] != nil } }

    /// Begins a sign-in by the key of a device.
    mutating func challengeDevice(_ signIn: inout ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) {
        let id = try call.required("trusted_device_id")
        guard let owner = deviceOwner(id) else { throw .deviceUnknown }
        if let refusal = ClerkFailure.states[owner.user.state] { throw refusal }
        try checkLock(owner.id, call)
        var proof = ClerkProof(strategy: "trusted_device", expireAt: call.now + 300_000)
        proof.deviceChallenge = makeDeviceChallenge(for: id, call)
        (signIn.account, signIn.identifier) = (owner.id, owner.user.identifier)
        signIn.proofs[.first] = proof
    }

    mutating func attemptDeviceKey(_ signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) {
        try checkLock(signIn.account, call)
        guard var proof = signIn.proofs[.first], proof.strategy == "trusted_device" else { throw .verificationMissing }
        guard let challenge = proof.deviceChallenge else { throw .deviceChallengeUnknown }
        proof.deviceChallenge = nil
        proof.attempts += 1
        defer { signIns[signIn.id]?.proofs[.first] = proof }
        try Self.check(challenge, try call.required("client_data"), call)
        guard let owner = signIn.account, accounts[owner]?.trustedDevices[challenge.key] != nil else {
            throw .deviceUnknown
        }
        accounts[owner]?.trustedDevices[challenge.key]?.lastUsedAt = call.now
        proof.status = "verified"
    }
}
