import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

#if Cryptography
import WebAuthnTesting
#endif

/// The examples of the articles, compiled and run.
@Suite struct DocumentationExamples {
    @Test func signingIn() async throws {
        let transport = ScriptedTransport([
            .login, .success(), .status(200, [:], body: #"{"cookieName":"sso"}"#), .information,
            .status(200, [:], body: "{}"), .status(200, [:], body: #"{"result":"Successfully logged out"}"#),
        ])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let store = InMemoryTokenStore()
        let (name, password, prompts) = ("ada", Secret("hunter2"), Person())

        let forgeRock = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: client,
            tokens: store,
            configuration: ForgeRockConfiguration(realm: "alpha", journey: "Login")
        )
        _ = try await forgeRock.signIn(identifier: name, password: password, answering: prompts)

        if let session = try await forgeRock.session() {
            print("signed in until", session.expiresAt?.rfc3339 ?? "further notice")
        }
        let me = try await forgeRock.send(path: "/json/realms/root/realms/alpha/users/ada")
        try await forgeRock.signOut()

        #expect(me.status == .ok)
        #expect(await store.read().credentials == Credentials())
    }

    /// Compiled alone: it would sign in somewhere.
    private func inShort(
        _ client: RecoveringClient,
        path: String,
        _ name: String,
        _ password: Secret,
        _ prompts: Person
    ) async throws -> ForgeRockSession {
        let forgeRock = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: client,
            tokens: FileTokenStore(path: path),
            configuration: ForgeRockConfiguration(realm: "alpha", journey: "Login")
        )
        let session = try await forgeRock.signIn(identifier: name, password: password, answering: prompts)
        return session
    }

    #if Cryptography
    private func inSoftware(_ client: RecoveringClient, _ tokens: any TokenStore, at url: String) throws -> [ForgeRock]
    {
        func withAuthenticator() throws -> ForgeRock {
            let authenticator = SoftwareAuthenticator()
            let forgeRock = try ForgeRock(
                baseURL: url,
                client: client,
                tokens: tokens,
                configuration: ForgeRockConfiguration(authenticator: authenticator)
            )
            return forgeRock
        }
        let keys = SoftwareDeviceKeys()
        let forgeRock = try ForgeRock(
            baseURL: url,
            client: client,
            tokens: tokens,
            configuration: ForgeRockConfiguration(deviceKeys: keys)
        )
        return [try withAuthenticator(), forgeRock]
    }
    #endif

    @Test func oneStepOfAJourney() async throws {
        let bench = try ForgeRockBench([.login, .success()])
        let forgeRock = bench.forgeRock
        func signIn() async throws {
            var journey = forgeRock.journey(.service("Login"))
            guard case .step(var step) = try await journey.begin() else { return }
            step.callbacks[0].setInput("ada")
            step.callbacks[1].setInput("…")
            let result = try await journey.submit(step)
            guard case .success = result else { throw Challenge.NoAnswer(.password) }
        }
        try await signIn()
        #expect(bench.sent.last == #"authenticate a1 "ada" "…""#)
    }

    /// The form that the compiler takes.
    private func filling(
        _ step: inout JourneyStep,
        _ index: Int,
        by fill: (inout JourneyCallback) async throws -> Void
    ) async throws {
        var callback = step.callbacks[index]
        try await fill(&callback)
        step.callbacks[index] = callback
    }

    @Test func answeringAJourney() async throws {
        let bench = try ForgeRockBench([.login, .success()])
        let forgeRock = bench.forgeRock

        var journey = forgeRock.journey(.service("Login"))
        var result = try await journey.begin()
        while case .step(var step) = result {
            for index in step.callbacks.indices {
                switch step.callbacks[index].content {
                case .name: step.callbacks[index].setInput("ada")
                case .password: step.callbacks[index].setInput("hunter2")
                default: break
                }
            }
            result = try await journey.submit(step)
        }

        #expect(bench.sent.last == #"authenticate a1 "ada" "hunter2""#)
    }

    @Test func tokensAndStepUp() async throws {
        let bench = try ForgeRockBench(
            [.tokens("A1", refresh: "R1"), .session(of: "ada"), .success("S2"), .session(of: "ada")],
            credentials: Credentials(refreshToken: "R0", ssoToken: "S1"),
            oauth: ForgeRockBench.oauth
        )
        let transport = ScriptedTransport([
            .status(200, [:], body: #"{"resource":"x","actions":{},"advices":\#(PolicyAdviceTests.json)}"#),
            .status(200),
        ])
        let (forgeRock, prompts, api) = (
            bench.forgeRock, Person(), Origin(scheme: "https", authority: "api.example.com")
        )

        let resources = RecoveringClient(
            transport: transport,
            runtime: Runtime(time: bench.clock.timeSource(), classifier: ForgeRockClassifier())
        ) {
            Recovery {
                RateLimitBackoff()
                SessionRenewal(forgeRock.tokens)
                StepUp(forgeRock, answering: prompts)
                TransientRetry()
            }
            Authorization(forgeRock.tokens, audience: [api])
            SessionCookie(forgeRock, audience: [api])
        }
        let response = try await resources.send(HTTPRequest(url: "https://api.example.com/pay"))

        #expect(response.status == .ok)
        #expect(transport.received.last?.request.path == "/pay?_txid=tx-1")
    }

    /// Compiled alone: on the system's clock.
    private func resources(
        _ forgeRock: ForgeRock,
        _ transport: any HTTPTransport,
        _ prompts: Person,
        _ api: Origin
    ) async throws -> RecoveredResponse {
        let resources = RecoveringClient(transport: transport, runtime: Runtime(classifier: ForgeRockClassifier())) {
            Recovery {
                RateLimitBackoff()
                SessionRenewal(forgeRock.tokens)
                StepUp(forgeRock, answering: prompts)
                TransientRetry()
            }
            Authorization(forgeRock.tokens, audience: [api])
            SessionCookie(forgeRock, audience: [api])
        }
        let response = try await resources.send(HTTPRequest(url: "https://api.example.com/pay"))
        return response
    }

    private func withoutTokens(
        _ forgeRock: ForgeRock,
        _ transport: any HTTPTransport,
        _ prompts: Person
    ) -> RecoveringClient {
        let resources = RecoveringClient(transport: transport) {
            Recovery {
                RateLimitBackoff()
                StepUp(forgeRock, answering: prompts)
                TransientRetry()
            }
            SessionCookie(forgeRock)
        }
        return resources
    }
}
