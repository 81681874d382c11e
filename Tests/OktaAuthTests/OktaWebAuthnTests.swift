#if Cryptography
import AuthRecovery
import Crypto
import HTTPRecovery
import HTTPRecoveryTesting
import OktaAuth
import Testing
import WebAuthnTesting

/// A security key that is enrolled and then used, with real keys and signatures.
@Suite struct OktaWebAuthnTests {
    private static let activation = #"""
        {"challenge":"cmVnaXN0ZXI","rp":{"name":"Example"},
         "user":{"id":"00u1","name":"ada@example.com","displayName":"Ada"},
         "pubKeyCredParams":[{"type":"public-key","alg":-7}],"attestation":"direct",
         "authenticatorSelection":{"userVerification":"required"},
         "excludeCredentials":[{"type":"public-key","id":"AQID"}]}
        """#

    private static var activating: ScriptedTransport.Step {
        .answer(
            OktaJSON.state(
                "MFA_ENROLL_ACTIVATE",
                embedded:
                    #","factor":{"id":"f1","factorType":"webauthn","provider":"FIDO","_embedded":{"activation":\#(activation)}}"#,
                links: [OktaJSON.link("next", "/factors/f1/lifecycle/activate", name: "activate")]
            )
        )
    }

    private static var enrolling: ScriptedTransport.Step {
        .answer(OktaJSON.state("MFA_ENROLL", embedded: #","factors":[\#(OktaJSON.open("webauthn"))]"#))
    }

    /// The members of a body, decoded.
    private func fields(_ received: ScriptedTransport.Received) throws -> [String: [UInt8]] {
        var fields: [String: [UInt8]] = [:]
        for member in try JSONValue(parsing: received.body).members ?? [] {
            fields[member.key] = member.value.string.flatMap { Base64.decode($0.utf8) }
        }
        return fields
    }

    @Test func aKeyIsEnrolledAndThenSigns() async throws {
        let authenticator = SoftwareAuthenticator()
        let configuration = OktaConfiguration(authenticator: authenticator)
        let first = try OktaBench(
            [Self.enrolling, Self.activating, .success(), .session],
            configuration: configuration
        )
        _ = try await first.signIn()
        let made = try fields(first.transport.received[2])
        let client = try JSONValue(parsing: made["clientData"] ?? [])
        #expect(client["type"] == "webauthn.create" && client["challenge"] == "cmVnaXN0ZXI")
        #expect(client["origin"] == "https://example.okta.com")
        let attestation = try #require(made["attestation"])
        // An EC2 key of COSE, which stands last in the data of the authenticator, ends with both of its coordinates.
        let ends = Array(attestation.suffix(67))
        let key = try P256.Signing.PublicKey(rawRepresentation: ends.prefix(32) + ends.suffix(32))

        let id = Base64.encodeForURL(authenticator.credentialIDs[0])
        let factor = OktaJSON.factor(
            "webauthn",
            profile: #"{"credentialId":"\#(id)"}"#,
            challenge: #"{"challenge":"c2lnbg","userVerification":"required"}"#
        )
        let second = try OktaBench(
            [.required(factor), .challenge(factor, result: "CHALLENGE"), .success(), .session],
            configuration: configuration
        )
        _ = try await second.signIn()
        let proof = try fields(second.transport.received[2])
        let clientData = try #require(proof["clientData"])
        let data = try #require(proof["authenticatorData"])
        #expect(try JSONValue(parsing: clientData)["challenge"] == "c2lnbg")
        #expect(Array(data.prefix(32)) == Array(Crypto.SHA256.hash(data: Array("example.okta.com".utf8))))
        let signature = try P256.Signing.ECDSASignature(derRepresentation: proof["signatureData"] ?? [])
        #expect(key.isValidSignature(signature, for: data + Array(Crypto.SHA256.hash(data: clientData))))
    }

    @Test func aKeyThatIsNotThereLetsThePersonChooseAnotherFactor() async throws {
        // It was enrolled elsewhere, so nothing here can sign for it.
        let factor = OktaJSON.factor(
            "webauthn",
            profile: #"{"credentialId":"AQID"}"#,
            challenge: #"{"challenge":"c2lnbg"}"#
        )
        let totp = OktaJSON.factor("token:software:totp", id: "f2")
        let bench = try OktaBench(
            [
                .required(factor, totp), .challenge(factor, result: "CHALLENGE"), .required(factor, totp), .success(),
                .session,
            ],
            configuration: OktaConfiguration(authenticator: SoftwareAuthenticator())
        )
        _ = try await bench.signIn("hunter2", Person([.totp: "1"], choosing: "webauthn"))
        #expect(bench.events.words.contains("fallback webauthn totp"))
        #expect(bench.sent[3] == "/authn/factors/f2/verify {passCode:1}")
    }

    /// Okta's own pages read the handle as base64url; who read it otherwise would make a key that they do not find.
    @Test(arguments: [("00u1", [0xD3, 0x4B, 0xB5]), ("a.b", [0x61, 0x2E, 0x62])] as [(String, [UInt8])])
    func theHandleIsWhatTheTextStandsFor(text: String, bytes: [UInt8]) async throws {
        struct Watching: WebAuthn.Authenticator {
            let handle = Locked<[UInt8]?>(nil)

            func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
                handle.withLock { $0 = request.user.id }
                throw WebAuthn.Failure.cancelled()
            }

            func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
                throw WebAuthn.Failure.unsupported()
            }
        }
        let watching = Watching()
        let activating = OktaJSON.state(
            "MFA_ENROLL_ACTIVATE",
            embedded:
                #","factor":{"id":"f1","factorType":"webauthn","provider":"FIDO","_embedded":{"activation":\#(Self.activation.replacing("00u1", with: text))}}"#,
            links: [OktaJSON.link("next", "/factors/f1/lifecycle/activate", name: "activate")]
        )
        let bench = try OktaBench(
            [Self.enrolling, .answer(activating)],
            configuration: OktaConfiguration(authenticator: watching)
        )
        _ = try? await bench.signIn()
        #expect(watching.handle.withLock { $0 } == bytes)
    }

    @Test func aKeyThatCannotBeMadeIsReported() async throws {
        let bench = try OktaBench(
            [Self.enrolling, Self.activating],
            configuration: OktaConfiguration(authenticator: SoftwareAuthenticator(verifiesUser: false))
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .factorUnavailable)
        #expect((error?.cause as? WebAuthn.Failure)?.name == "unsupported")
    }
}
#endif
