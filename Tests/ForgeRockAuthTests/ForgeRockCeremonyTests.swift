import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@Suite("WebAuthn ceremonies as PingAM's nodes want them")
struct ForgeRockCeremonyTests {
    /// An authenticator that signs whatever it is asked for, and remembers that.
    final class Recorder: WebAuthn.Authenticator {
        let asked = Locked<[WebAuthnCeremony]>([])
        let handle: [UInt8]?

        init(handle: [UInt8]? = nil) {
            self.handle = handle
        }

        func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
            asked.withLock { $0.append(.registration(request)) }
            return ForgeRockCeremonyTests.attestation
        }

        func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
            asked.withLock { $0.append(.authentication(request)) }
            return ForgeRockCeremonyTests.assertion(handle)
        }

        var party: [String] {
            asked.withLock { asked in
                asked.map { ceremony in
                    switch ceremony {
                    case .registration(let request): "\(request.relyingPartyID) \(request.origin)"
                    case .authentication(let request): "\(request.relyingPartyID) \(request.origin)"
                    default: "?"
                    }
                }
            }
        }
    }

    private static let attestation = WebAuthn.Attestation(
        credentialID: [1, 2],
        clientDataJSON: Array("{}".utf8),
        attestationObject: [1, 255]
    )

    private static func assertion(_ handle: [UInt8]?) -> WebAuthn.Assertion {
        WebAuthn.Assertion(
            credentialID: [1, 2],
            clientDataJSON: Array("{}".utf8),
            authenticatorData: [3, 128],
            signature: [48],
            userHandle: handle
        )
    }

    // MARK: Whom a credential is for

    private static func data(_ action: String, _ members: String) -> String {
        AM.metadata(#"{"_type":"WebAuthn","_action":"webauthn_\#(action)","challenge":"AQID",\#(members)}"#)
    }

    /// As AM 6.5 and 7.0 write it for browsers; the line of the id is blank where none is set up.
    private static func script(registration id: String) -> String {
        AM.text(
            """
            if (!window.PublicKeyCredential) {
                document.getElementById('webAuthnOutcome').value = "unsupported";
            }

            var publicKey = {
                challenge: new Int8Array([63, -71]).buffer,
                // Relying Party:
                rp: {
                    \(id)
                    name: "ForgeRock"
                },
                // User:
                user: {
                    id: Uint8Array.from("sgsP5DNBy2TvEhwnWHu1BFRw2_LQepAdjkOfC1z6nxU", function (c) { return c.charCodeAt(0) }),
                    name: "57a5b4e4-6999-4b45-bf86-a4f2e5d4b629",
                    displayName: "57a5b4e4-6999-4b45-bf86-a4f2e5d4b629"
                },
                pubKeyCredParams: [ { "type": "public-key", "alg": -7 }, { "type": "public-key", "alg": -257 } ],
                attestation: "none",
                timeout: 60000,
                excludeCredentials: [],
                authenticatorSelection: {"userVerification":"discouraged"}
            };

            navigator.credentials.create({publicKey: publicKey})
                .then(function (newCredentialInfo) { var rawId = newCredentialInfo.id; });
            """,
            kind: "4"
        )
    }

    static func script(authentication id: String) -> String {
        AM.text(
            """
            var options = {
                \(id)
                challenge: new Int8Array([-2, 85]).buffer,
                timeout: 60000,
                allowCredentials: [{ "type": "public-key", "id": new Int8Array([-107]).buffer }]
            };

            navigator.credentials.get({ "publicKey" : options })
                .then(function (assertion) { var rawId = assertion.id; });
            """,
            kind: "4"
        )
    }

    @Test(
        arguments: [
            (data("registration", #""relyingPartyId":"id: \"example.com\",","_relyingPartyId":"example.com""#), true),
            (data("registration", #""relyingPartyId":"id: \"example.com\",","pubKeyCredParams":"[]""#), true),
            (data("registration", #""relyingPartyId":"","_relyingPartyId":"""#), false),
            (
                data("authentication", #""relyingPartyId":"rpId: \"example.com\",","_relyingPartyId":"example.com""#),
                true
            ),
            (data("authentication", #""relyingPartyId":"rpId: \"example.com\",""#), true),
            (data("authentication", #""relyingPartyId":"","_relyingPartyId":"""#), false),
            (data("authentication", #""timeout":"60000""#), false),
            // Without a type, as servers before 7.1 have it.
            (
                AM.metadata(
                    #"{"challenge":"AQID","relyingPartyId":"id: \"example.com\",","pubKeyCredParams":"[{\"alg\":-7}]"}"#
                ),
                true
            ),
            (AM.metadata(#"{"challenge":"AQID","relyingPartyId":"","pubKeyCredParams":"[{\"alg\":-7}]"}"#), false),
            (script(registration: #"id: "example.com","#), true), (script(registration: ""), false),
            (script(authentication: #"rpId: "example.com","#), true), (script(authentication: ""), false),
        ] as [(String, Bool)]
    )
    func theRelyingPartyIsTheServersElseTheHost(callback: String, isConfigured: Bool) async throws {
        for (baseURL, host, origin) in [
            ("https://id.example.com/am", "id.example.com", "https://id.example.com"),
            ("https://ID.example.com:8443/am", "id.example.com", "https://id.example.com:8443"),
            ("https://am.other.org/am", "am.other.org", isConfigured ? "https://example.com" : "https://am.other.org"),
            ("http://localhost:8080/am", "localhost", isConfigured ? "https://example.com" : "http://localhost:8080"),
        ] {
            let recorder = Recorder()
            let bench = try ForgeRockBench(
                [.step(callback, AM.text("wrapper.innerHTML += x", kind: "4"), AM.hidden), .success()],
                authenticator: recorder,
                baseURL: baseURL
            )
            _ = try await bench.signIn()
            #expect(recorder.party == ["\(isConfigured ? "example.com" : host) \(origin)"])
        }
    }

    @Test func anOriginOfTheProgramsOwnCounts() async throws {
        let recorder = Recorder()
        let bench = try ForgeRockBench([
            .step(Self.data("authentication", #""_relyingPartyId":"""#), AM.hidden), .success(),
        ])
        func forgeRock(_ origin: String) throws -> ForgeRock {
            try ForgeRock(
                baseURL: "https://id.example.com/am",
                client: bench.client,
                tokens: bench.tokens,
                configuration: ForgeRockConfiguration(
                    authenticator: recorder,
                    origin: origin,
                    cookieName: "sso"
                )
            )
        }
        _ = try await forgeRock("https://login.example.com:8443").signIn(nil, answering: Person())
        #expect(recorder.party == ["login.example.com https://login.example.com:8443"])
        #expect(throws: Origin.InvalidURL.self) { try forgeRock("login.example.com") }
    }

    // MARK: What goes back

    private func outcome(
        _ action: String,
        _ members: String = "",
        name: String? = nil,
        handle: [UInt8]? = nil
    ) async throws -> String? {
        let bench = try ForgeRockBench([
            .step(Self.data(action, #""_relyingPartyId":"example.com"\#(members)"#), AM.hidden), .success(),
        ])
        let forgeRock = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: bench.client,
            tokens: bench.tokens,
            configuration: ForgeRockConfiguration(
                authenticator: Recorder(handle: handle),
                deviceName: name,
                cookieName: "sso"
            )
        )
        _ = try await forgeRock.signIn(nil, answering: Person())
        let json = try JSONValue(parsing: bench.transport.received[1].body)
        return json["callbacks"]?[1]?["input"]?[0]?["value"]?.string
    }

    @Test func theOutcomeHasAHandleAndANameOnlyIfThereIsOne() async throws {
        #expect(try await outcome("authentication") == "{}::3,-128::48::AQI")
        #expect(try await outcome("authentication", handle: Array("ada".utf8)) == "{}::3,-128::48::AQI::ada")
        #expect(try await outcome("registration") == "{}::1,-1::AQI")
        #expect(try await outcome("registration", name: "My key") == "{}::1,-1::AQI::My key")
        #expect(try await outcome("registration", name: "::a::b:::c") == "{}::1,-1::AQI::a:b:c")
        #expect(try await outcome("registration", name: ":::") == "{}::1,-1::AQI")
        #expect(
            try await outcome("registration", #","supportsJsonResponse":true"#, name: "k")
                == #"{"authenticatorAttachment":"platform","legacyData":"{}::1,-1::AQI::k"}"#
        )
        // A name is of a new credential alone.
        #expect(try await outcome("authentication", name: "My key") == "{}::3,-128::48::AQI")
    }

    private static let credential =
        #"{"id":"AQI","rawId":"AQI","type":"public-key","authenticatorAttachment":"cross-platform","#
        + #""response":{"clientDataJSON":"e30","authenticatorData":"A4A","signature":"MA","userHandle":"YWRh"}}"#

    @Test func aBrowsersCredentialIsHandedIn() async throws {
        let success = try #require(WebAuthnSuccess(credential: try JSONValue(parsing: Self.credential)))
        let bench = try ForgeRockBench([
            .step(Self.data("authentication", ##""supportsJsonResponse":true"##), AM.hidden), .step(AM.name, id: "a2"),
        ])
        var journey = bench.forgeRock.journey()
        guard case .step(var step) = try await journey.begin() else { throw Broken() }
        #expect(step.webAuthn?.completed(for: bench.forgeRock.origin).options?["rpId"]?.string == "id.example.com")
        let isTaken = step.answerWebAuthn(with: success)
        #expect(isTaken)
        guard case .step(var next) = try await journey.submit(step) else { throw Broken() }
        let text = #"{"authenticatorAttachment":"cross-platform","legacyData":"{}::3,-128::48::AQI::ada"}"#
        #expect(bench.sent.last == "authenticate a1 \(JSONValue.string(text))")
        let isTakenToo = next.answerWebAuthn(with: WebAuthn.Failure.notAllowed())
        #expect(!isTakenToo, "the step takes none")
        #expect(!"\(success)".contains("AQI"))
        let made = #"{"rawId":"AQI","response":{"clientDataJSON":"e30","attestationObject":"Af8"}}"#
        #expect(
            WebAuthnSuccess(credential: try JSONValue(parsing: made), deviceName: "k")
                == WebAuthnSuccess(Self.attestation, deviceName: "k")
        )
        for broken in ["{}", #"{"id":"AQI","response":{}}"#, #"{"id":"!","response":{"clientDataJSON":"e30"}}"#, "[]"] {
            #expect(WebAuthnSuccess(credential: try JSONValue(parsing: broken)) == nil)
        }
    }

    struct Broken: Error {}

    @Test(arguments: [
        (credential, #"{}::3,-128::48::AQI::ada"#), ("unsupported", "unsupported"), ("raw::outcome", "raw::outcome"),
        (#"{"some":"json"}"#, #"{"some":"json"}"#),
    ])
    func aWebBackendAsksItsBrowser(answer: String, outcome: String) async throws {
        let bench = try ForgeRockBench([
            .step(Self.data("authentication", #""_allowCredentials":[{"id":[1,-1]}],"timeout":"5000""#), AM.hidden),
            .success(),
        ])
        let forgeRock = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: bench.client,
            tokens: bench.tokens,
            configuration: ForgeRockConfiguration(realm: "alpha", asksForWebAuthn: true, cookieName: "sso")
        )
        var flow = forgeRock.signInFlow(identifier: "ada", password: nil, options: nil)
        guard case .ask(let question) = try await flow.step(.begin).step else { throw Broken() }
        #expect(question.key == .webauthn)
        let options = try JSONValue(parsing: question.hint ?? "")
        #expect(
            options == [
                "challenge": "AQID", "rpId": "id.example.com",
                "allowCredentials": [["type": "public-key", "id": "Af8"]], "userVerification": "preferred",
                "timeout": 5000,
            ]
        )
        var resumed = try #require(
            SignInFlow(memory: flow.memory, client: bench.client, options: SignInOptions()) {
                forgeRock.signInMachine(from: $0)
            }
        )
        _ = try await resumed.step(.answer(.text(Secret(answer))))
        #expect(bench.sent.last == "authenticate a1 \(JSONValue.string(outcome))")
    }

    @Test func whoHasNoAuthenticatorSaysSo() async throws {
        let bench = try ForgeRockBench([.step(AM.authentication, AM.hidden), .success()])
        let forgeRock = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: bench.client,
            tokens: bench.tokens,
            configuration: ForgeRockConfiguration(realm: "alpha", asksForWebAuthn: true, cookieName: "sso")
        )
        _ = try await forgeRock.signIn(nil, answering: Person([.webauthn: [.useAnotherFactor]]))
        #expect(bench.sent.last == #"authenticate a1 "unsupported""#)
    }
}
