import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// The examples of the articles, compiled and run.
@Suite struct DocumentationExamples {
    @Test func signingIn() async throws {
        let transport = ScriptedTransport([.success(), .session, .session, .answer("{}"), .status(204)])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let store = InMemoryTokenStore()
        let (email, password, prompts) = ("ada@example.com", Secret("hunter2"), Person())

        let okta = try Okta(org: "https://example.okta.com", client: client, tokens: store)
        let session = try await okta.signIn(identifier: email, password: password, answering: prompts)

        if let session = try await okta.session() {
            print("signed in until", session.expiresAt?.rfc3339 ?? "further notice")
        }
        let me = try await okta.send(path: "/api/v1/users/me")
        try await okta.signOut()

        #expect(session.userID == "00u1")
        #expect(me.status == .ok)
        #expect(await store.read().credentials == Credentials())
    }

    /// Compiled alone: it would sign in at Okta.
    private func inShort(
        _ client: RecoveringClient,
        path: String,
        _ email: String,
        _ password: Secret,
        _ prompts: Person
    ) async throws -> OktaSession {
        let okta = try Okta(org: "https://example.okta.com", client: client, tokens: FileTokenStore(path: path))
        let session = try await okta.signIn(identifier: email, password: password, answering: prompts)
        return session
    }

    @Test func anIssuerBehindADomainOfOnesOwn() async throws {
        let (clientID, redirectURI) = ("0oa1", "com.example:/callback")
        let app = OktaApp(
            clientID: clientID,
            redirectURI: redirectURI,
            authorizationServer: "default",
            issuer: "https://example.okta.com/oauth2/default"
        )
        #expect(app.issuer == "https://example.okta.com/oauth2/default")
        let okta = try Okta(
            org: "https://login.example.com",
            client: RecoveringClient(transport: ScriptedTransport([]), runtime: .manual()),
            tokens: InMemoryTokenStore(),
            configuration: OktaConfiguration(app: app)
        )
        #expect(okta.origin.description == "https://login.example.com")
    }

    @Test func stepByStep() async throws {
        let skip = OktaJSON.link("skip", "/skip")
        let bench = try OktaBench([
            .expired("PASSWORD_WARN", links: [skip]), .required(OktaJSON.factor("token:software:totp")), .success(),
            .session,
        ])
        let (okta, email, password, code) = (bench.okta, "ada@example.com", Secret("hunter2"), Secret("123456"))

        var state = try await okta.authenticate(OktaCredentials(username: email, password: password))
        if case .passwordWarning(let warning) = state, let skip = warning.skip {
            state = try await skip()
        }
        if case .factorRequired(let required) = state, let factor = required.factors.first,
            let verify = required.verify(factor)
        {
            state = try await verify(.passCode(code))
        }
        if case .success(let success) = state, let token = success.sessionToken {
            let session = try await okta.exchange(token)
            print("signed in as", session.userID ?? "somebody")
        }
        #expect(bench.transport.received.count == 4)
    }
}
