import AuthCryptography
import AuthRecovery
import AuthSandbox
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Facebook's ID tokens", .timeLimit(.minutes(10)))
struct FacebookIDTokenTests {
    private typealias Line = FacebookSandbox

    /// Says of every signature the same.
    private struct Judge: OAuthClient.SignatureVerifier {
        var says = true
        func isSigned(_ token: Secret, withOneOf keys: JSONValue) -> Bool { says }
    }

    private static let now = Timestamp(secondsSinceEpoch: 1_893_456_000)
    private static let keys = ScriptedTransport.Step.answer(#"{"keys":[]}"#)

    private static func token(_ claims: String) -> Secret {
        let parts = [#"{"alg":"RS256"}"#, "{\(claims)}"].map { Base64.encodeForURL($0.utf8) }
        return Secret("\(parts[0]).\(parts[1]).c2ln")
    }

    private static func bench(_ steps: [ScriptedTransport.Step], says: Bool = true) throws -> FacebookBench {
        var configuration = FacebookConfiguration()
        configuration.signatures = Judge(says: says)
        return try FacebookBench(steps, configuration: configuration)
    }

    private static let good =
        #""iss":"https://www.facebook.com","aud":"77","exp":1893459600,"iat":1893456000,"nonce":"n","sub":"1","name":"Ada","email":"ada@example.com","picture":"https://p.example""#

    /// What an app on a phone has obtained is checked as a whole, with one question for the keys, and is stored nowhere.
    @Test func aTokenOfLimitedLoginTellsWhoItIs() async throws {
        let bench = try Self.bench([Self.keys])
        let before = try await bench.credentials
        let read = try await bench.facebook.verify(idToken: Self.token(Self.good), nonce: "n")
        #expect(read.subject == "1" && read.name == "Ada" && read.email == "ada@example.com")
        #expect(read.picture == "https://p.example" && read.issuedAt == Self.now)
        #expect(read.expiresAt == Timestamp(secondsSinceEpoch: 1_893_459_600) && !"\(read)".contains("Ada"))
        let again = try await bench.facebook.verify(idToken: Self.token(Self.good), nonce: "n")
        #expect(again == read)
        let asked = bench.transport.received.map(\.request)
        #expect(asked.map(\.path) == ["/.well-known/oauth/openid/jwks/"])
        #expect(asked.first?.headerFields[.authorization] == nil && asked.first?.authority == "www.facebook.com")
        #expect(try await bench.credentials == before)
    }

    private static let bad: [(claims: String, code: String)] = [
        (good.replacing("www.facebook.com", with: "www.facebook.example"), "issuer_mismatch"),
        (good.replacing(#""https://www.facebook.com""#, with: "7"), "issuer_mismatch"),
        (good.replacing(#""77""#, with: #""78""#), "audience_mismatch"),
        (good.replacing(#""77""#, with: #"["78"]"#), "audience_mismatch"),
        (good.replacing(#""aud":"77","#, with: ""), "audience_mismatch"),
        (good.replacing("1893459600", with: "1893455900"), "expiry_mismatch"),
        (good.replacing(#""exp":1893459600,"#, with: ""), "expiry_mismatch"),
        (good.replacing("1893459600", with: #""soon""#), "expiry_mismatch"),
        (good.replacing(#""nonce":"n""#, with: #""nonce":"m""#), "nonce_mismatch"),
        (good.replacing(#""nonce":"n","#, with: ""), "nonce_mismatch"),
    ]

    @Test(arguments: bad.indices)
    func aTokenThatIsNotForThisIsRefused(index: Int) async throws {
        let bench = try Self.bench([Self.keys])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.verify(idToken: Self.token(Self.bad[index].claims), nonce: "n")
        }
        #expect(error?.outcome.code == Self.bad[index].code && error?.kind == .invalidRequest)
        #expect(error.flatMap { FacebookLoginError($0) } == .invalidIDToken)
        #expect(FacebookLoginError.invalidIDToken.kind == error?.kind)
        #expect(FacebookLoginError.invalidIDToken.remedies == error?.remedies)
    }

    @Test func aSignatureThatIsNotFacebooksIsRefused() async throws {
        let bench = try Self.bench([Self.keys, Self.keys], says: false)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.verify(idToken: Self.token(Self.good), nonce: "n")
        }
        #expect(error?.outcome.code == "signature_mismatch")
        #expect(error.flatMap { FacebookLoginError($0) } == .invalidIDToken)
        let text = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.verify(idToken: "no token", nonce: "n")
        }
        #expect(text?.outcome.code == "issuer_mismatch")
    }

    /// Where nothing tells a signature from another, a token from elsewhere proves nothing.
    @Test func withoutAVerifierNoTokenFromElsewhereIsBelieved() async throws {
        let bench = try FacebookBench([])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.verify(idToken: Self.token(Self.good), nonce: "n")
        }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "signatures")
        #expect(bench.transport.received.isEmpty)
    }

    /// What Facebook answers in place of its keys is an outage like others, and no verdict.
    @Test func keysThatCannotBeFetchedAreNoVerdict() async throws {
        let bench = try Self.bench([.answer(#"{"keys":7}"#)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.verify(idToken: Self.token(Self.good), nonce: "n")
        }
        #expect(error?.kind == .unreadable)
    }

    // MARK: At the sandbox

    /// The session says who has signed in, and so does the stored one, until it is over.
    @Test func theDialogsTokenIsKept() async throws {
        try await Line.run(holdsToken: false, hasSecret: false) { line in
            let session = try await line.facebook.signIn(answering: line.browser())
            let token = try #require(session.idToken)
            #expect(token.subject == session.user?.id && token.expiresAt != nil)
            #expect(try await line.facebook.session()?.idToken == token)
            try await line.facebook.signOut()
            #expect(await line.tokens.read().credentials.others.isEmpty)
        }
    }

    /// An app with its secret that asks for it gets one too, which is checked alike.
    @Test(arguments: ["none", "other_audience"])
    func anAppWithItsSecretMayAskForIt(fault: String) async throws {
        var settings = SandboxFacebookSettings()
        settings.loginFault = fault
        try await Line.run(holdsToken: false, settings: settings) { line in
            func signIn() async throws -> FacebookSession {
                try await line.facebook.signIn(permissions: ["openid", "public_profile"], answering: line.browser())
            }
            guard fault == "none" else {
                let error = await line.outcome { try await signIn() }
                #expect(error?.outcome.code == "audience_mismatch")
                #expect(await line.tokens.read().credentials.accessToken == nil)
                return
            }
            let session = try await signIn()
            #expect(session.idToken != nil)
        }
    }

    #if Cryptography
    /// Facebook's own keys verify what it has signed, and nothing that another key or the app's secret has.
    @Test(arguments: ["none", "other_key", "secret_key"])
    func signaturesAreVerifiedWithFacebooksKeys(fault: String) async throws {
        var settings = SandboxFacebookSettings()
        settings.loginFault = fault
        var configuration = FacebookConfiguration(webLogin: .init(redirectURI: Line.back))
        configuration.signatures = JSONWebKey.Verifier()
        try await Line.run(
            holdsToken: false,
            hasSecret: false,
            settings: settings,
            configuration: configuration
        ) { line in
            guard fault == "none" else {
                let error = await line.outcome { try await line.facebook.signIn(answering: line.browser()) }
                #expect(error?.outcome.code == "signature_mismatch")
                #expect(await line.tokens.read().credentials.accessToken == nil)
                return
            }
            _ = try await line.facebook.signIn(answering: line.browser())
            let session = try await line.facebook.signIn(answering: line.browser())
            #expect(session.idToken?.subject == line.sandbox.facebookID(of: Line.ada))
            let fetched = line.sandbox.requests().filter { $0.path.hasPrefix("/.well-known/oauth/openid/jwks") }
            #expect(fetched.count == 1)
        }
    }
    #endif
}
