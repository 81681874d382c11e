import AuthRecovery
import AuthSandbox
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Step-ups end to end: at a gateway, at a service without one, and by somebody else.
@Suite("Step-ups at the sandbox")
struct ForgeRockSandboxStepUpTests {
    private static let oauth = OAuthSettings(
        clientID: "cli",
        redirectURI: "http://127.0.0.1/callback",
        scope: "openid profile",
        renewal: TokenManager.RenewalOptions(timeout: .seconds(1_000_000), lease: .seconds(1_000_000))
    )

    private func steppedUp(_ bench: ForgeRockSandboxBench) -> SandboxPerson {
        bench.person([.password: [ForgeRockSandboxBench.password]])
    }

    /// Asks for a resource, with a person who answers a step-up.
    private func send(
        _ path: String,
        _ bench: ForgeRockSandboxBench,
        _ forgeRock: ForgeRock,
        _ person: SandboxPerson
    ) async throws -> RecoveredResponse {
        try await bench.clock.skippingWaits {
            try await forgeRock.send(.post, path: path, answering: person)
        }
    }

    private func requests(_ path: String, _ bench: ForgeRockSandboxBench) -> [HTTPRequest] {
        bench.transport.received.map(\.request).filter { $0.path?.hasPrefix(path) == true }
    }

    // MARK: What is told in the replay

    @Test(arguments: ["redirect", "header", "body"])
    func aGatewayIsToldOfItsTransaction(carrier: String) async throws {
        let bench = ForgeRockSandboxBench()
        _ = try await bench.signIn("Login", bench.person())
        let path = "/ig/txn/\(carrier)"
        #expect(try await send(path, bench, try bench.forgeRock("Login"), steppedUp(bench)).status == .ok)
        #expect(bench.counters.transactionsUsed == 1 && requests(path, bench).count == 2)
    }

    /// A service that asks the policy by itself reads no query: the transaction or the journey stands in a field, and for
    /// whom it was in another.
    @Test(arguments: [("txn", "X-TxID"), ("journey", "X-Tree")])
    func aServiceWithoutAGatewayIsToldInFields(resource: String, name: String) async throws {
        let bench = ForgeRockSandboxBench()
        let forgeRock = try bench.forgeRock("Login") { $0.oauth = Self.oauth }
        _ = try await bench.signIn("Login", bench.person())
        _ = try await bench.clock.skippingWaits { try await forgeRock.accessToken() }
        let path = "/ig/rest/\(resource)"
        let response = try await send(path, bench, forgeRock, steppedUp(bench))
        #expect(try await response.json()["user"] == "ada")
        let sent = requests(path, bench)
        let (told, owner) = (try #require(HTTPField.Name(name)), try #require(HTTPField.Name("X-IdToken")))
        #expect(sent.map { $0.headerFields.contains(told) } == [false, true])
        #expect(sent.map { $0.headerFields.contains(owner) } == [false, true])
        #expect(sent.last?.headerFields[fields: owner].first?.indexingStrategy == .disallow)
        if resource == "journey" { #expect(sent.last?.headerFields[told] == "/alpha:StepUp") }
    }

    /// Without an ID token nothing of the sort is made up, and the advice that comes again is not followed again.
    @Test func withoutAnIDTokenNoneIsSent() async throws {
        let bench = ForgeRockSandboxBench()
        _ = try await bench.signIn("Login", bench.person())
        let error = await #expect(throws: RecoveryError.self) {
            try await send("/ig/rest/txn", bench, try bench.forgeRock("Login"), steppedUp(bench))
        }
        #expect(error?.kind == .stepUpRequired && requests("/ig/rest/txn", bench).count == 2)
        let owner = try #require(HTTPField.Name("X-IdToken"))
        #expect(!bench.transport.received.contains { $0.request.headerFields.contains(owner) })
    }

    /// The policy for a client of one's own tells the same, and the ID token to those alone whom the session belongs to.
    @Test(arguments: [true, false])
    func theIDTokenIsForTheAudienceAlone(isAudience: Bool) async throws {
        let bench = ForgeRockSandboxBench()
        let forgeRock = try bench.forgeRock("Login") { $0.oauth = Self.oauth }
        _ = try await bench.signIn("Login", bench.person())
        _ = try await bench.clock.skippingWaits { try await forgeRock.accessToken() }
        let person = steppedUp(bench)
        let audience: Set<Origin> = isAudience ? [Origin(scheme: "https", authority: "app.example.com")] : []
        let advices = #"{"AuthenticateToServiceConditionAdvice":["/alpha:StepUp"]}"#
        let decision = #"{"resource":"x","actions":{},"advices":\#(advices)}"#
        let transport = ScriptedTransport([.status(200, [:], body: decision), .status(200)], then: .status(418))
        let runtime = Runtime(time: bench.clock.timeSource(), classifier: ForgeRockClassifier())
        let client = RecoveringClient(transport: transport, runtime: runtime) {
            Recovery { StepUp(forgeRock, answering: person) }
            SessionCookie(forgeRock, audience: audience)
        }
        let request = try HTTPRequest(url: "https://app.example.com/pay")
        _ = try await bench.clock.skippingWaits { try await client.send(request) }
        let fields = try #require(transport.received.last?.request.headerFields)
        #expect(fields[try #require(HTTPField.Name("X-Tree"))] == "/alpha:StepUp")
        #expect((fields[try #require(HTTPField.Name("X-IdToken"))] != nil) == isAudience)
        #expect(transport.received.count == 2)
    }

    // MARK: Somebody else

    /// A journey that asks for a name takes anybody's: it is not followed then, and the first person keeps their session.
    @Test(arguments: ["/ig/journey/header", "/ig/txn/header", "/ig/txn/redirect", "/ig/rest/txn"])
    func nobodyElseStepsUp(path: String) async throws {
        let bench = ForgeRockSandboxBench { $0.stepUpJourney = "LoginLoop" }
        let forgeRock = try bench.forgeRock("Login")
        _ = try await bench.signIn("Login", bench.person())
        let held = try #require(await bench.tokens.read().credentials.ssoToken)
        let other = bench.person([.text: ["grace"], .password: [ForgeRockSandboxBench.password]])
        let error = await #expect(throws: RecoveryError.self) { try await send(path, bench, forgeRock, other) }
        #expect(error?.reason == .identityChanged && requests(path, bench).count == 1)
        #expect(bench.counters.sessions == 2 && bench.counters.transactions == 0)
        // Theirs is over, and the first person's is as it was.
        #expect(bench.liveSessions == 1)
        #expect(await bench.tokens.read().credentials.ssoToken == held)
        #expect(try await forgeRock.session()?.username == "ada")
        // The person themselves may do it afterwards.
        let same = bench.person([.text: ["ada"], .password: [ForgeRockSandboxBench.password]])
        if !path.hasPrefix("/ig/rest") { #expect(try await send(path, bench, forgeRock, same).status == .ok) }
    }
}
