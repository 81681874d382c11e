#if Cryptography
import AuthRecovery
import Crypto
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing
import WebAuthnTesting

/// A small reader of CBOR (RFC 8949), written apart from the writer that it checks.
struct CBORReader {
    indirect enum Value: Equatable {
        case integer(Int)
        case bytes([UInt8])
        case text(String)
        case map([(Value, Value)])

        static func == (lhs: Value, rhs: Value) -> Bool {
            switch (lhs, rhs) {
            case (.integer(let a), .integer(let b)): a == b
            case (.bytes(let a), .bytes(let b)): a == b
            case (.text(let a), .text(let b)): a == b
            default: false
            }
        }

        subscript(key: Value) -> Value? {
            if case .map(let pairs) = self { pairs.first { $0.0 == key }?.1 } else { nil }
        }

        var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    }

    struct Broken: Error {}

    var rest: ArraySlice<UInt8>

    mutating func read() throws -> Value {
        guard let first = rest.popFirst() else { throw Broken() }
        var length = Int(first & 31)
        if length >= 24 {
            guard length <= 26 else { throw Broken() }
            let count = 1 << (length - 24)
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        switch first >> 5 {
        case 0: return .integer(length)
        case 1: return .integer(-1 - length)
        case 2: return .bytes(try take(length))
        case 3: return .text(String(decoding: try take(length), as: UTF8.self))
        case 5: return .map(try (0..<length).map { _ in (try read(), try read()) })
        default: throw Broken()
        }
    }

    private mutating func take(_ count: Int) throws -> [UInt8] {
        guard rest.count >= count else { throw Broken() }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}

@Suite struct SoftwareAuthenticatorTests {
    private func registration(_ change: (inout WebAuthn.RegistrationRequest) -> Void = { _ in })
        -> WebAuthn.RegistrationRequest
    {
        var request = WebAuthn.RegistrationRequest(
            challenge: [1, 2, 3],
            relyingPartyID: "example.com",
            origin: "https://login.example.com",
            user: .init(id: Array("ada".utf8), name: "ada")
        )
        change(&request)
        return request
    }

    private func signing(_ ids: [[UInt8]], _ challenge: [UInt8] = [9]) -> WebAuthn.SigningRequest {
        WebAuthn.SigningRequest(
            challenge: challenge,
            relyingPartyID: "example.com",
            origin: "https://login.example.com",
            allowedCredentials: ids
        )
    }

    /// The parts of authenticator data, with the key where there is one.
    private func parse(_ data: [UInt8]) throws -> (
        flags: UInt8, counter: Int, id: [UInt8], key: P256.Signing.PublicKey?
    ) {
        #expect(Array(data.prefix(32)) == Array(Crypto.SHA256.hash(data: Array("example.com".utf8))))
        let flags = data[32]
        let counter = data[33..<37].reduce(0) { $0 << 8 | Int($1) }
        guard flags & 0x40 != 0 else { return (flags, counter, [], nil) }
        let length = Int(data[53]) << 8 | Int(data[54])
        var reader = CBORReader(rest: data[(55 + length)...])
        let key = try reader.read()
        #expect(reader.rest.isEmpty)
        #expect(key[.integer(1)] == .integer(2) && key[.integer(3)] == .integer(-7) && key[.integer(-1)] == .integer(1))
        let point = (key[.integer(-2)]?.bytes ?? []) + (key[.integer(-3)]?.bytes ?? [])
        return (flags, counter, Array(data[55..<(55 + length)]), try P256.Signing.PublicKey(rawRepresentation: point))
    }

    private func verify(_ signature: [UInt8], _ data: [UInt8], _ client: [UInt8], _ key: P256.Signing.PublicKey) throws
        -> Bool
    {
        let parsed = try P256.Signing.ECDSASignature(derRepresentation: signature)
        return key.isValidSignature(parsed, for: data + Array(Crypto.SHA256.hash(data: client)))
    }

    @Test(arguments: ["none", "direct"])
    func whatItRegistersItSigns(attestation: String) async throws {
        let authenticator = SoftwareAuthenticator()
        let made = try await authenticator.register(registration { $0.attestation = attestation })
        let client = try JSONValue(parsing: made.clientDataJSON)
        #expect(client["type"] == "webauthn.create" && client["challenge"] == "AQID")
        #expect(client["origin"] == "https://login.example.com")
        var reader = CBORReader(rest: made.attestationObject[...])
        let object = try reader.read()
        #expect(reader.rest.isEmpty)
        let data = try #require(object[.text("authData")]?.bytes)
        let parsed = try parse(data)
        let key = try #require(parsed.key)
        #expect(parsed.flags == 0x45 && parsed.counter == 0 && parsed.id == made.credentialID)
        if attestation == "direct" {
            #expect(object[.text("fmt")] == .text("packed"))
            let statement = try #require(object[.text("attStmt")])
            #expect(statement[.text("alg")] == .integer(-7))
            #expect(try verify(statement[.text("sig")]?.bytes ?? [], data, made.clientDataJSON, key))
        } else {
            #expect(object[.text("fmt")] == .text("none"))
        }
        for count in 1...2 {
            let proof = try await authenticator.sign(signing([made.credentialID], [UInt8(count)]))
            let parts = try parse(proof.authenticatorData)
            #expect(parts.counter == count && parts.flags == 0x05 && proof.userHandle == Array("ada".utf8))
            #expect(try verify(proof.signature, proof.authenticatorData, proof.clientDataJSON, key))
            #expect(try !verify(proof.signature, proof.authenticatorData, made.clientDataJSON, key))
        }
    }

    @Test func whatItCannotDoItSays() async throws {
        let authenticator = SoftwareAuthenticator()
        let made = try await authenticator.register(registration())
        func error(_ body: () async throws -> Void) async -> String? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? WebAuthn.Failure)?.name
            }
        }
        #expect(
            await error { _ = try await authenticator.register(registration { $0.algorithms = [-257] }) }
                == "unsupported"
        )
        #expect(
            await error {
                _ = try await authenticator.register(registration { $0.excludedCredentials = [made.credentialID] })
            }
                == "invalid_state"
        )
        #expect(
            await error { _ = try await authenticator.register(registration { $0.relyingPartyID = "evil.com" }) }
                == "not_allowed"
        )
        #expect(await error { _ = try await authenticator.sign(signing([[1]])) } == "not_allowed")
        // Not made to be found without its id.
        #expect(await error { _ = try await authenticator.sign(signing([])) } == "not_allowed")
        let blind = SoftwareAuthenticator(verifiesUser: false)
        #expect(
            await error { _ = try await blind.register(registration { $0.userVerification = .required }) }
                == "unsupported"
        )
        let made2 = try await blind.register(registration { $0.residentKey = .required })
        let proof = try await blind.sign(signing([]))
        #expect(proof.credentialID == made2.credentialID)
        #expect(try parse(proof.authenticatorData).flags == 0x01)
    }

    // MARK: Export

    /// An authenticator with a credential that has signed three times, and its public key.
    private func used() async throws -> (SoftwareAuthenticator, id: [UInt8], key: P256.Signing.PublicKey) {
        let authenticator = SoftwareAuthenticator()
        let made = try await authenticator.register(registration { $0.residentKey = .required })
        var reader = CBORReader(rest: made.attestationObject[...])
        let key = try #require(try parse(try reader.read()[.text("authData")]?.bytes ?? []).key)
        for _ in 1...3 { _ = try await authenticator.sign(signing([made.credentialID])) }
        return (authenticator, made.credentialID, key)
    }

    @Test func whatWasExportedSignsOn() async throws {
        let (first, id, key) = try await used()
        _ = try await first.register(registration { $0.residentKey = .discouraged })
        var authenticator = try SoftwareAuthenticator(restoring: first.export())
        #expect(authenticator.credentialIDs == first.credentialIDs && authenticator.credentialIDs.count == 2)
        for (count, ids) in [(4, [id]), (5, [])] {
            let proof = try await authenticator.sign(signing(ids))
            let parts = try parse(proof.authenticatorData)
            #expect(parts.counter == count && proof.credentialID == id && proof.userHandle == Array("ada".utf8))
            #expect(try verify(proof.signature, proof.authenticatorData, proof.clientDataJSON, key))
            // From run to run.
            authenticator = try SoftwareAuthenticator(restoring: authenticator.export())
        }
        // An excluded credential is known again, and the one that is not resident is not found without its id.
        await #expect(throws: WebAuthn.Failure.self) {
            try await authenticator.register(registration { $0.excludedCredentials = [id] })
        }
        let proof = try await authenticator.sign(signing([authenticator.credentialIDs[1]]))
        #expect(try parse(proof.authenticatorData).counter == 1)
        #expect(try SoftwareAuthenticator(restoring: SoftwareAuthenticator().export()).credentialIDs.isEmpty)
    }

    @Test func whatIsNoExportIsRefused() async throws {
        let (authenticator, _, _) = try await used()
        let text = authenticator.export().reveal()
        let deep = String(repeating: "[", count: 100_000)
        var texts = ["", " ", "nonsense", "{}", "null", "[1]", "[{}]", "[null]", deep, text + "x", "[\(text)]"]
        texts += text.indices.dropFirst().map { String(text[..<$0]) }
        texts += ["id", "key", "rp", "user", "resident", "counter"].map { text.replacing("\"\($0)\"", "\"x\"") }
        texts += ["-1", "4294967296", "1e400", "1.5", "\"3\"", "null"].map {
            text.replacing("\"counter\":3", "\"counter\":\($0)")
        }
        let key = try #require(try JSONValue(parsing: text)[0]?["key"]?.string)
        for other in ["", "AA", "????", String(repeating: "A", count: 43), key + "AAAA"] {
            texts.append(text.replacing(key, other))
        }
        for changed in texts {
            #expect(changed != text)
            let error = #expect(throws: WebAuthn.Failure.self, "\(changed.prefix(40))") {
                try SoftwareAuthenticator(restoring: Secret(changed))
            }
            #expect(error?.name == "bad_data")
        }
    }

    @Test func aCounterAtItsEndIsNoTrap() async throws {
        let (authenticator, id, _) = try await used()
        let text = authenticator.export().reveal().replacing("\"counter\":3", "\"counter\":4294967295")
        let restored = try SoftwareAuthenticator(restoring: Secret(text))
        let proof = try await restored.sign(signing([id]))
        #expect(try parse(proof.authenticatorData).counter == 0)
    }

    @Test func theExportedTextStandsInNoDescription() async throws {
        let (authenticator, _, _) = try await used()
        let exported = authenticator.export()
        let entry = try #require(try JSONValue(parsing: exported.reveal())[0])
        let key = try #require(entry["key"]?.string)
        let bytes = try #require(Base64.decode(key.utf8))
        let restored = try SoftwareAuthenticator(restoring: exported)
        let error = #expect(throws: WebAuthn.Failure.self) {
            try SoftwareAuthenticator(restoring: Secret("[" + exported.reveal()))
        }
        var texts = ["\(exported)", String(reflecting: exported), "\(restored)", String(reflecting: restored)]
        texts += ["\(String(describing: error))", String(reflecting: error)]
        for value in [exported, restored, error as Any] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            texts.append(dumped)
        }
        for text in texts {
            #expect(!text.holds(exported.reveal()) && !text.holds(key))
            #expect(!text.holds(bytes.prefix(8).map(String.init).joined(separator: ", ")))
        }
    }

    // MARK: Journeys

    @Test func aJourneyRegistersAndSignsWithIt() async throws {
        let authenticator = SoftwareAuthenticator()
        let register = AM.metadata(
            #"{"_type":"WebAuthn","_action":"webauthn_registration","challenge":"AQID","_relyingPartyId":"example.com","userName":"ada","userId":"QURB","_pubKeyCredParams":[{"type":"public-key","alg":-7}],"_authenticatorSelection":{"requireResidentKey":true},"timeout":"60000","supportsJsonResponse":true}"#
        )
        let bench = try ForgeRockBench(
            [.step(register, AM.hidden), .step(AM.authentication, AM.hidden, id: "a2"), .success()],
            authenticator: authenticator
        )
        _ = try await bench.signIn()
        let answers = try bench.transport.received.dropFirst().map { received in
            try #require(try JSONValue(parsing: received.body)["callbacks"]?[1]?["input"]?[0]?["value"]?.string)
        }
        let legacy = try #require(try JSONValue(parsing: answers[0])["legacyData"]?.string)
        #expect(try JSONValue(parsing: answers[0])["authenticatorAttachment"] == "platform")
        let made = legacy.components("::")
        #expect(made.count == 3 && made[2] == Base64.encodeForURL(authenticator.credentialIDs[0]))
        var reader = CBORReader(
            rest: made[1].split(separator: ",").compactMap { Int8($0) }.map { UInt8(bitPattern: $0) }[...]
        )
        let key = try #require(try parse(try reader.read()[.text("authData")]?.bytes ?? []).key)
        let proof = answers[1].components("::")
        #expect(proof.count == 5 && proof[3] == made[2] && proof[4] == "QURB")
        let numbers = proof[1...2].map {
            $0.split(separator: ",").compactMap { Int8($0) }.map { UInt8(bitPattern: $0) }
        }
        #expect(try verify(numbers[1], numbers[0], Array(proof[0].utf8), key))
    }
}

extension String {
    /// The text with each occurrence of a part replaced.
    func replacing(_ part: String, _ other: String) -> String {
        components(part).joined(separator: other)
    }

    /// Whether a part stands in the text.
    func holds(_ part: String) -> Bool { components(part).count > 1 }

    func components(_ separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
#endif
