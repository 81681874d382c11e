import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing
import WebAuthnTesting

#if Cryptography
import Crypto
#endif

@Suite("Keys of the device that PingAM binds and has sign")
struct ForgeRockDeviceKeyTests {
    private static func binding(_ consent: String = "NONE", timeout: String = "60") -> String {
        let output =
            #"{"name":"userId","value":"id=ada"},{"name":"username","value":"ada"},{"name":"challenge","value":"c1"},"#
            + #"{"name":"authenticationType","value":"\#(consent)"},{"name":"title","value":"T"},"#
            + #"{"name":"subtitle","value":"S"},{"name":"description","value":"D"},{"name":"timeout","value":\#(timeout)}"#
        let inputs = ["jws", "deviceName", "deviceId", "clientError"]
        return callback("DeviceBindingCallback", output, inputs)
    }

    private static func signing(_ user: String = "id=ada") -> String {
        callback(
            "DeviceSigningVerifierCallback",
            #"{"name":"userId","value":"\#(user)"},{"name":"challenge","value":"c2"},{"name":"timeout","value":60}"#,
            ["jws", "clientError"]
        )
    }

    private static func callback(_ type: String, _ output: String, _ inputs: [String]) -> String {
        let list = inputs.map { #"{"name":"IDToken1\#($0)","value":""}"# }.joined(separator: ",")
        return #"{"type":"\#(type)","output":[\#(output)],"input":[\#(list)]}"#
    }

    private func signIn(
        _ steps: [ScriptedTransport.Step],
        _ keys: (any Credentials.DeviceKeys)?
    ) async throws -> ForgeRockBench {
        let bench = try ForgeRockBench(steps)
        let forgeRock = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: bench.client,
            tokens: bench.tokens,
            configuration: ForgeRockConfiguration(realm: "alpha", deviceKeys: keys, cookieName: "sso")
        )
        _ = try await bench.skippingWaits { try await forgeRock.signIn(nil, answering: Person()) }
        return bench
    }

    /// Keys that answer as they are told to, and remember what they were asked for.
    private final class Keys: Credentials.DeviceKeys {
        let asked = Locked<[Credentials.DeviceKeyRequest]>([])
        let error: (any Error)?

        init(_ error: (any Error)? = nil) {
            self.error = error
        }

        func bind(_ request: Credentials.DeviceKeyRequest) async throws -> Credentials.DeviceBinding {
            asked.withLock { $0.append(request) }
            if let error { throw error }
            return Credentials.DeviceBinding(proof: "h.p.s", deviceID: "d1", deviceName: "build-7")
        }

        func sign(_ request: Credentials.DeviceKeyRequest) async throws -> Secret {
            asked.withLock { $0.append(request) }
            if let error { throw error }
            return "h.q.s"
        }
    }

    @Test func aKeyIsBoundAndSigns() async throws {
        let keys = Keys()
        let bench = try await signIn(
            [.step(Self.binding("APPLICATION_PIN", timeout: "\"30\"")), .step(Self.signing(), id: "a2"), .success()],
            keys
        )
        #expect(
            bench.sent.suffix(2) == [
                #"authenticate a1 "h.p.s" "build-7" "d1" """#, #"authenticate a2 "h.q.s" """#,
            ]
        )
        let wanted = Credentials.DeviceKeyRequest(
            challenge: "c1",
            userID: "id=ada",
            userName: "ada",
            consent: .pin,
            title: "T",
            subtitle: "S",
            text: "D",
            timeout: .seconds(30)
        )
        let signed = Credentials.DeviceKeyRequest(challenge: "c2", userID: "id=ada")
        #expect(keys.asked.withLock { $0 } == [wanted, signed])
    }

    struct Broken: Error {}

    @Test(
        arguments: [
            (Credentials.DeviceKeyFailure.timeout, "Timeout"), (Credentials.DeviceKeyFailure.abort, "Abort"),
            (Credentials.DeviceKeyFailure.unsupported, "Unsupported"),
            (Credentials.DeviceKeyFailure.notRegistered, "ClientNotRegistered"), (Broken(), "Abort"),
        ] as [(any Error & Sendable, String)]
    )
    func theNodeIsToldWhyNothingCameOfIt(error: any Error & Sendable, word: String) async throws {
        let bench = try await signIn(
            [.step(Self.binding()), .step(Self.signing(), id: "a2"), .success()],
            Keys(error)
        )
        #expect(
            bench.sent.suffix(2) == [#"authenticate a1 "" "" "" "\#(word)""#, #"authenticate a2 "" "\#(word)""#]
        )
    }

    @Test func withoutKeysTheNodeTakesItsFallbackAtOnce() async throws {
        let bench = try await signIn([.step(Self.binding()), .step(Self.signing(), id: "a2"), .success()], nil)
        #expect(
            bench.sent.suffix(2) == [
                #"authenticate a1 "" "" "" "Unsupported""#, #"authenticate a2 "" "ClientNotRegistered""#,
            ]
        )
    }

    /// Somebody who never puts a finger on it.
    private struct Sleepy: Credentials.DeviceKeys {
        func bind(_ request: Credentials.DeviceKeyRequest) async throws -> Credentials.DeviceBinding {
            try await Task.sleep(for: .seconds(86_400))
            throw Credentials.DeviceKeyFailure.abort
        }

        func sign(_ request: Credentials.DeviceKeyRequest) async throws -> Secret {
            try await Task.sleep(for: .seconds(86_400))
            throw Credentials.DeviceKeyFailure.abort
        }
    }

    @Test func theTimeoutIsTheServers() async throws {
        let bench = try await signIn([.step(Self.binding(timeout: "45")), .success()], Sleepy())
        #expect(bench.clock.requestedDelays == [.seconds(45)])
        #expect(bench.sent.last == #"authenticate a1 "" "" "" "Timeout""#)
    }

    #if Cryptography
    private func parts(_ proof: String) throws -> (
        header: JSONValue, claims: JSONValue, content: String, signature: [UInt8]
    ) {
        let parts = proof.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let decoded = try parts.map { try #require(Base64.decode($0.utf8)) }
        return (
            try JSONValue(parsing: decoded[0]), try JSONValue(parsing: decoded[1]), "\(parts[0]).\(parts[1])",
            decoded[2]
        )
    }

    @Test func theSoftwareSignsWithTheKeyThatItHasBound() async throws {
        let keys = SoftwareDeviceKeys(
            deviceName: "build-7",
            time: TimeSource(clock: ManualClock(), wallTime: Timestamp(secondsSinceEpoch: 1_800_000_000))
        )
        let request = Credentials.DeviceKeyRequest(
            challenge: "c1",
            userID: "id=ada",
            consent: Credentials.DeviceKeyRequest.Consent.none
        )
        let bound = try await keys.bind(request)
        let made = try parts(bound.proof.reveal())
        #expect(bound.deviceID == keys.deviceID && bound.deviceName == "build-7" && keys.userIDs == ["id=ada"])
        #expect(made.header["alg"] == "ES256" && made.header["typ"] == "JWS")
        #expect(made.claims["sub"] == "id=ada" && made.claims["challenge"] == "c1")
        let key = try #require(made.header["jwk"])
        #expect(key["kty"] == "EC" && key["crv"] == "P-256" && key["kid"] == made.header["kid"])
        let point = try [key["x"], key["y"]].flatMap { try #require(Base64.decode(($0?.string ?? "").utf8)) }
        let publicKey = try P256.Signing.PublicKey(rawRepresentation: point)
        let signed = try parts(try await keys.sign(.init(challenge: "c2", userID: "id=ada")).reveal())
        #expect(signed.claims["challenge"] == "c2" && signed.header["kid"] == made.header["kid"])
        #expect(signed.header["jwk"] == nil)
        for part in [made, signed] {
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: part.signature)
            #expect(publicKey.isValidSignature(signature, for: Array(part.content.utf8)))
            #expect(!publicKey.isValidSignature(signature, for: Array("\(part.content)x".utf8)))
        }
        #expect(!"\(bound)".contains(bound.proof.reveal()))
    }

    @Test func theSoftwareSaysWhatItCannotDo() async throws {
        let keys = SoftwareDeviceKeys()
        for consent in [Credentials.DeviceKeyRequest.Consent.biometric, .biometricOrPasscode, .pin, nil] {
            await #expect(throws: Credentials.DeviceKeyFailure.unsupported) {
                try await keys.bind(.init(challenge: "c", userID: "u", consent: consent))
            }
        }
        await #expect(throws: Credentials.DeviceKeyFailure.notRegistered) {
            try await keys.sign(.init(challenge: "c", userID: "u"))
        }
        _ = try await keys.bind(.init(challenge: "c", userID: "u", consent: Credentials.DeviceKeyRequest.Consent.none))
        await #expect(throws: Credentials.DeviceKeyFailure.notRegistered) {
            try await keys.sign(.init(challenge: "c", userID: "other"))
        }
        _ = try await keys.sign(.init(challenge: "c"))
    }

    @Test func aJourneyBindsTheSoftwareAndHasItSign() async throws {
        let keys = SoftwareDeviceKeys()
        let bench = try await signIn([.step(Self.binding()), .step(Self.signing(), id: "a2"), .success()], keys)
        let words = bench.sent.suffix(2).map { $0.split(separator: "\"").count }
        #expect(keys.userIDs == ["id=ada"] && words.allSatisfy { $0 > 1 })
        #expect(bench.sent.suffix(2).allSatisfy { !$0.contains("Unsupported") && !$0.contains("NotRegistered") })
    }
    #endif
}
