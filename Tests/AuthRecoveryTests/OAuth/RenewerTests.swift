import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Renewers")
struct RenewerTests {
    private static let stored = Credentials(
        accessToken: "A1",
        refreshToken: "R1",
        clientToken: "C",
        others: [JSONValue.Member("mine", 1)]
    )

    @Test func aRefreshTokenRenews() async throws {
        let bench = try OAuthBench([.tokens(#","refresh_token":"R2""#), .tokens()])
        let renewer: any TokenRenewer = RefreshTokenGrant(client: bench.oauth, scope: "a")
        #expect(renewer.canRenew(Self.stored) && renewer.reuse == .undeclared)
        let first = try await renewer.renew(Self.stored)
        var expected = Self.stored
        expected.accessToken = "A2"
        expected.refreshToken = "R2"
        expected.expiresAt = OAuthBench.start.advanced(by: .seconds(3600))
        #expect(first == expected)
        #expect(try await renewer.renew(first) == expected, "without a new one the old one stays")
        #expect(
            bench.sent == [
                "POST /token grant_type=refresh_token&refresh_token=R1&scope=a&client_id=app",
                "POST /token grant_type=refresh_token&refresh_token=R2&scope=a&client_id=app",
            ]
        )
    }

    @Test(arguments: [Credentials(), Credentials(accessToken: "A"), Credentials(refreshToken: "")])
    func withoutARefreshTokenItCannot(credentials: Credentials) async throws {
        let bench = try OAuthBench()
        let renewer = RefreshTokenGrant(client: bench.oauth, reuse: .rotating(grace: .seconds(30)))
        #expect(!renewer.canRenew(credentials) && renewer.reuse == .rotating(grace: .seconds(30)))
        let error = try await bench.failure { try await renewer.renew(credentials) }
        #expect(error.kind == .reauthenticationRequired && bench.sent.isEmpty)
    }

    @Test func aDeadRefreshTokenIsToldAsDead() async throws {
        let bench = try OAuthBench([.oauth("invalid_grant")])
        let error = try await bench.failure { try await RefreshTokenGrant(client: bench.oauth).renew(Self.stored) }
        #expect(error.kind == .credentialRejected && error.outcome.credential == .refresh)
        #expect(error.outcome.tokenAction == .clear && error.oauth?.word == .invalidGrant)
    }

    @Test func aServiceRenewsByItself() async throws {
        let bench = try OAuthBench([.tokens()], authentication: .clientSecretBasic("s"))
        let renewer = ClientCredentialsGrant(client: bench.oauth, scope: "a", parameters: ["audience": "b"])
        #expect(renewer.canRenew(Credentials()))
        let renewed = try await renewer.renew(Self.stored)
        #expect(renewed.accessToken == "A2" && renewed.refreshToken == "R1" && renewed.others == Self.stored.others)
        #expect(bench.sent == ["POST /token grant_type=client_credentials&scope=a&audience=b"])
    }
}
