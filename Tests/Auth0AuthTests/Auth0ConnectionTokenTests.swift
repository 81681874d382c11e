import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import Auth0Auth

/// Tokens of other providers that a tenant keeps for its people.
@Suite("Auth0: tokens of other providers", .timeLimit(.minutes(10)))
struct Auth0ConnectionTokenTests {
    private typealias Line = Auth0SandboxTests.Line
    private static let google = "google-oauth2"
    private static let grant = "urn:auth0:params:oauth:grant-type:token-exchange:federated-connection-access-token"

    private static func person(lost: Bool = false) -> SandboxUser {
        var person = Auth0SandboxTests.user()
        person.auth0.connections = [google]
        person.auth0.isConnectionLost = lost
        return person
    }

    private static func run(
        rotates: Bool,
        person: SandboxUser = person(),
        _ body: (Line) async throws -> Void
    ) async throws {
        var settings = SandboxAuth0Settings()
        settings.rotates = rotates
        var configuration = Auth0Configuration(clientID: "cli")
        if !rotates { configuration.rotationLeeway = nil }
        try await Auth0SandboxTests.run(person, settings: settings, configuration: configuration) { line in
            _ = try await line.signIn()
            try await body(line)
        }
    }

    /// Neither way spends anything: the session goes on, and is renewed as before.
    @Test(arguments: [false, true]) func theProvidersTokenIsObtained(rotates: Bool) async throws {
        try await Self.run(rotates: rotates) { line in
            let before = try await line.auth0.tokens.store.read()
            let token = try await line.auth0.connectionToken(for: Self.google, loginHint: "ada@gmail.com")
            #expect(token.connection == Self.google && token.token.reveal().hasPrefix("ya29."))
            #expect(token.scopes == ["openid", "email"] && token.expiresAt != nil && !"\(token)".contains("ya29."))
            #expect(try await line.auth0.tokens.store.read().version == before.version)
            #expect(line.sandbox.auth0Grants[Self.grant] == 1)
            let renewed = try await line.auth0.refresh()
            #expect(renewed.subject != nil)
        }
    }

    /// A rotating refresh token belongs to renewals alone: who asks meanwhile, and however often, ends no session.
    @Test func whatRotatesIsNotShown() async throws {
        try await Self.run(rotates: true) { line in
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 { group.addTask { _ = try await line.auth0.connectionToken(for: Self.google) } }
                for _ in 0..<4 { group.addTask { _ = try await line.auth0.refresh() } }
                try await group.waitForAll()
            }
            let renewed = try await line.auth0.refresh()
            #expect(renewed.subject != nil)
        }
    }

    /// An access token that has ended is renewed first, or once it is refused.
    @Test(arguments: [false, true]) func anAccessTokenThatHasEndedIsRenewed(isTold: Bool) async throws {
        try await Self.run(rotates: true) { line in
            if isTold {
                try await line.auth0.tokens.store.update { $0.expiresAt = Timestamp(secondsSinceEpoch: 1) }
            } else {
                try line.sandbox.endAuth0Tokens(of: Auth0SandboxTests.name, accessOnly: true)
            }
            _ = try await line.auth0.connectionToken(for: Self.google)
            #expect(line.sandbox.auth0Grants[Self.grant] == (isTold ? 1 : 2))
            #expect(line.sandbox.auth0Grants["refresh_token"] == 1)
        }
    }

    /// Who has no account there, or has taken it back, has to connect it: the session here is none the worse for it.
    @Test(arguments: [("github", false), (google, true)]) func whoHasNoAccountThereIsTold(
        connection: String,
        lost: Bool
    ) async throws {
        try await Self.run(rotates: false, person: Self.person(lost: lost)) { line in
            let error = await #expect(throws: RecoveryError.self) {
                try await line.auth0.connectionToken(for: connection)
            }
            #expect(error?.kind == .userActionRequired && error?.remedies == [.reauthenticate, .visitProvider])
            #expect(error?.outcome.tokenAction == .keep)
            let session = try await line.auth0.session()
            #expect(session != nil)
        }
    }

    @Test func withoutASessionNothingIsSent() async throws {
        let bench = try Auth0Bench([])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.auth0.connectionToken(for: Self.google)
        }
        #expect(error?.kind == .reauthenticationRequired && bench.sent.isEmpty)
    }

    /// An answer without a token is none, and an outage is waited out: nothing is spent by asking again.
    @Test func oddAnswers() async throws {
        let held = Credentials(accessToken: "A1", refreshToken: "R1")
        let configuration = Auth0Configuration(clientID: "app", rotationLeeway: nil)
        let bench = try Auth0Bench(
            [.json("<html>", 502), .json("{}", 503), .json(#"{"access_token":"P","expires_in":"60"}"#)],
            credentials: held,
            configuration: configuration
        )
        let token = try await bench.clock.skippingWaits {
            try await bench.auth0.connectionToken(for: Self.google)
        }
        #expect(token.token == "P" && token.scopes.isEmpty && bench.sent.count == 3)
        for answer in [#"{"token":"P"}"#, "[]", #"{"access_token":7}"#] {
            let odd = try Auth0Bench([.json(answer)], credentials: held, configuration: configuration)
            let error = await #expect(throws: RecoveryError.self) {
                try await odd.auth0.connectionToken(for: Self.google)
            }
            #expect(error?.kind == .unreadable && odd.sent.count == 1)
        }
        let left = await bench.tokens.read().credentials
        #expect(left == held)
    }
}
