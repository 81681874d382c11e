import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing
import WebAuthnTesting

@Suite struct WebAuthnTests {
    private struct Platform: WebAuthnPlatformError {
        var debugText: String?
        var localizedText: String
    }

    typealias Row = (error: WebAuthn.Failure, code: Int, outcome: String)

    static let rows: [Row] = [
        (.badData(), 1_600_001, "ERROR::DataError:"), (.badOperation(), 1_600_002, "ERROR::UnknownError:"),
        (.invalidState(), 1_600_003, "ERROR::InvalidStateError:"),
        (.constraint(), 1_600_004, "ERROR::ConstraintError:"), (.cancelled(), 1_600_005, "ERROR::UnknownError:"),
        (.timeout(), 1_600_006, "ERROR::TimeoutError:"), (.notAllowed(), 1_600_007, "ERROR::NotAllowedError:"),
        (.unsupported(), 1_600_008, "unsupported"), (.unknown(), 1_600_099, "ERROR::UnknownError:"),
    ]

    @Test(arguments: rows.indices)
    func outcomeOfAnError(_ index: Int) {
        let row = Self.rows[index]
        #expect(row.error.webAuthnOutcome == row.outcome)
        #expect(row.error.forgeRockCode == row.code)
    }

    @Test func theTextIsThePlatformsElseTheMessage() {
        let both = Platform(debugText: "debug::x", localizedText: "local")
        #expect(
            WebAuthn.Failure.notAllowed(platformError: both, message: "m").webAuthnOutcome
                == "ERROR::NotAllowedError:debug::x"
        )
        let local = Platform(debugText: nil, localizedText: "local")
        #expect(WebAuthn.Failure.unknown(platformError: local).webAuthnOutcome == "ERROR::UnknownError:local")
        #expect(WebAuthn.Failure.timeout(message: "m").webAuthnOutcome == "ERROR::TimeoutError:m")
        #expect(WebAuthn.Failure.unsupported(platformError: both, message: "m").webAuthnOutcome == "unsupported")
        #expect(!"\(WebAuthn.Failure.unknown(platformError: both, message: "pl4nted"))".contains("pl4nted"))
    }

    @Test func withoutAnAuthenticatorTheJourneyTakesItsFallbackAtOnce() async throws {
        let bench = try ForgeRockBench([
            .step(AM.authentication, AM.hidden), .step(AM.code, id: "a2"), .success(),
        ])
        let person = Person([.totp: "1"])
        _ = try await bench.signIn(nil, person)
        #expect(bench.sent[1] == #"authenticate a1 "unsupported""#)
        #expect(bench.events.words.contains("fallback webauthn totp"))
        #expect(bench.events.words.contains("challenge webauthn"))
        #expect(bench.clock.requestedDelays.isEmpty)
        #expect(person.notices.first?.factorResult == "unsupported")
    }

    @Test(arguments: rows.indices)
    func theHiddenCallbackIsAnsweredOnEveryFailure(_ index: Int) async throws {
        let row = Self.rows[index]
        let bench = try ForgeRockBench(
            [.step(AM.authentication, AM.hidden), .success()],
            authenticator: FailingAuthenticator(row.error)
        )
        _ = try await bench.signIn()
        #expect(bench.sent[1] == "authenticate a1 \(JSONValue.string(row.outcome))")
    }

    @Test func anAnswerOfTheAppsOwnComesFirst() async throws {
        struct Raw: JourneyCallbackResponder {
            func answer(_ callback: inout JourneyCallback, in step: JourneyStep) -> Bool {
                guard callback.isWebAuthnOutcome else { return false }
                callback.setInput("raw::outcome")
                return true
            }
        }
        let bench = try ForgeRockBench([.step(AM.authentication, AM.hidden), .success()])
        _ = try await bench.signIn(callbacks: Raw())
        #expect(bench.sent[1] == #"authenticate a1 "raw::outcome""#)
    }

    /// An authenticator that takes longer than anybody waits.
    private struct Sleepy: WebAuthn.Authenticator {
        func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
            try await Task.sleep(for: .seconds(86_400))
            throw WebAuthn.Failure.unknown()
        }

        func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
            try await Task.sleep(for: .seconds(86_400))
            throw WebAuthn.Failure.unknown()
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func theTimeoutIsTheServers() async throws {
        let bench = try ForgeRockBench(
            [.step(AM.authentication, AM.hidden), .success()],
            authenticator: Sleepy()
        )
        _ = try await bench.signIn()
        #expect(bench.clock.requestedDelays == [.seconds(60)])
        #expect(bench.sent[1] == #"authenticate a1 "ERROR::TimeoutError:""#)
    }

    private func ceremony(_ callback: String) throws -> WebAuthnCeremony? {
        JourneyCallback(try JSONValue(parsing: callback)).webAuthn
    }

    @Test func theDataOfNewerAndOlderServersIsRead() throws {
        let newer = AM.metadata(
            #"{"_type":"WebAuthn","_action":"webauthn_registration","challenge":"AQL/","_relyingPartyId":"example.com","relyingPartyName":"Ex","userName":"ada","userId":"QURB","displayName":"Ada","_pubKeyCredParams":[{"type":"public-key","alg":-7},{"type":"public-key","alg":-257}],"_excludeCredentials":[{"type":"public-key","id":[1,-1]}],"_authenticatorSelection":{"userVerification":"required","authenticatorAttachment":"platform","requireResidentKey":true},"attestationPreference":"direct","timeout":"30000"}"#
        )
        let expected = WebAuthn.RegistrationRequest(
            challenge: [1, 2, 255],
            relyingPartyID: "example.com",
            relyingPartyName: "Ex",
            origin: "https://example.com",
            user: .init(id: Array("QURB".utf8), name: "ada", displayName: "Ada"),
            algorithms: [-7, -257],
            excludedCredentials: [[1, 255]],
            userVerification: .required,
            residentKey: .required,
            attachment: "platform",
            attestation: "direct",
            timeout: .seconds(30)
        )
        #expect(try ceremony(newer) == .registration(expected))
        let older = AM.metadata(
            #"{"challenge":"AQL/","relyingPartyId":"rpId: \"example.com\",","allowCredentials":"allowCredentials: [{ \"type\": \"public-key\", \"id\": new Int8Array([1, -1]).buffer }]","userVerification":"discouraged","timeout":"60000"}"#
        )
        let signing = WebAuthn.SigningRequest(
            challenge: [1, 2, 255],
            relyingPartyID: "example.com",
            origin: "https://example.com",
            allowedCredentials: [[1, 255]],
            userVerification: .discouraged
        )
        #expect(try ceremony(older) == .authentication(signing))
        let olderRegistration = AM.metadata(
            #"{"challenge":"AQL/","relyingPartyId":"id: \"x\"","pubKeyCredParams":"[ { \"type\": \"public-key\", \"alg\": -257 }, { \"alg\": -7 } ]","authenticatorSelection":"{\"userVerification\":\"preferred\"}"}"#
        )
        guard case .registration(let request)? = try ceremony(olderRegistration) else {
            Issue.record("no registration")
            return
        }
        #expect(request.algorithms == [-257, -7])
        #expect(try ceremony(AM.metadata(#"{"_type":"WebAuthn","challenge":""}"#)) == .unreadable)
        #expect(try ceremony(AM.metadata(#"{"other":1}"#)) == nil)
    }

    @Test func theScriptsOfOlderServersAreRead() throws {
        let get = """
            var acceptableCredentials = [
              { "type": "public-key", "id": new Int8Array([5, -6]).buffer }
            ];
            var options = {
              rpId: "example.com",
              challenge: new Int8Array([1, 2, -1]).buffer,
              timeout: 45000,
              userVerification: "required",
              allowCredentials: acceptableCredentials
            };
            navigator.credentials.get({ "publicKey" : options })
            """
        let signing = WebAuthn.SigningRequest(
            challenge: [1, 2, 255],
            relyingPartyID: "example.com",
            origin: "https://example.com",
            allowedCredentials: [[5, 250]],
            userVerification: .required,
            timeout: .seconds(45)
        )
        #expect(try ceremony(AM.text(get, kind: "4")) == .authentication(signing))
        let create = """
            var publicKey = {
              challenge: new Int8Array([9]).buffer,
              rp: { id: "example.com", name: "Ex" },
              user: { id: Uint8Array.from("QURB", function (c) { return c.charCodeAt(0) }), name: "ada", displayName: "Ada" },
              pubKeyCredParams: [ { "type": "public-key", "alg": -7 }, { "type": "public-key", "alg": -257 } ],
              attestation: "none",
              timeout: 60000,
              excludeCredentials: [{ "type": "public-key", "id": new Int8Array([3]).buffer }],
              authenticatorSelection: {"userVerification":"preferred","authenticatorAttachment":"platform"}
            };
            navigator.credentials.create({publicKey: publicKey})
            """
        guard case .registration(let request)? = try ceremony(AM.text(create, kind: "4")) else {
            Issue.record("no registration")
            return
        }
        #expect(
            request.challenge == [9] && request.relyingPartyID == "example.com" && request.algorithms == [-7, -257]
        )
        #expect(request.user.id == Array("QURB".utf8) && request.user.name == "ada")
        #expect(request.excludedCredentials == [[3]] && request.attachment == "platform")
        #expect(try ceremony(AM.text("alert(1)", kind: "4")) == nil)
        #expect(try ceremony(AM.text(get)) == nil)
    }

    @Test func damagedCeremoniesNeverTrap() {
        let mutator = ByteMutator(seed: 7)
        let seeds = [
            AM.authentication,
            AM.text("navigator.credentials.get challenge: new Int8Array([1,-2]) rpId: \"x", kind: "4"),
            AM.metadata(#"{"challenge":"AQ","pubKeyCredParams":"[{\"alg\":-7}]","timeout":"1e400"}"#),
        ]
        for _ in 0..<3000 {
            let bytes = mutator.mutate(mutator.pick(seeds).utf8)
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            let callback = JourneyCallback(value)
            _ = callback.webAuthn
            if let ceremony = callback.webAuthn { #expect(ceremony.timeout <= .seconds(3600)) }
        }
    }
}
