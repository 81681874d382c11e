import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("OAuth's secrets stay secret")
struct OAuthSecrecyTests {
    private static let planted = "pl4nted"

    private static func secret(_ number: Int) -> Secret { Secret("\(planted)-\(number)") }

    private static let scripts: [[OAuthBench.Step]] = [
        [.tokens(#","refresh_token":"pl4nted","id_token":"pl4nted","more":"pl4nted""#)],
        [.oauth("invalid_grant")], [.oauth("invalid_client", status: 401)], [.status(500, [:], body: planted)],
        [.status(429, ["retry-after": "1", "x-secret": planted]), .status(400, [:], body: "<html>\(planted)")],
        [.fail(.connectionLost, .unknown)], [.status(200, [:], body: #"{"token":"pl4nted"}"#)],
        [.status(302, ["location": "https://x/?token=\(planted)"])], [.status(200, [:], body: planted)],
    ]

    private static let grants: [OAuthClient.Grant] = [
        .refreshToken(secret(1), parameters: ["extra": planted]),
        .authorizationCode(
            secret(2),
            redirectURI: nil,
            proofKey: OAuthClient.ProofKey(verifier: Secret(String(repeating: "pl4nted", count: 8)))
        ),
        .deviceCode(secret(3)), .clientCredentials(),
        .tokenExchange(
            subject: OAuthClient.ExchangeToken(secret(4), type: .jwt),
            actor: OAuthClient.ExchangeToken(secret(5), type: .jwt)
        ),
    ]

    private static func traces(of value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value) \(String(describing: value)) \(String(reflecting: value)) \(dumped)"
    }

    @Test(arguments: grants)
    func noneAppearsWhateverHappens(grant: OAuthClient.Grant) async throws {
        #expect(!Self.traces(of: grant).contains(Self.planted))
        for script in Self.scripts {
            for authentication in [
                OAuthClient.ClientSecretBasic(Self.secret(6)), OAuthClient.ClientSecretPost(Self.secret(7)),
            ] as [any ClientAuthentication] {
                let bench = try OAuthBench(
                    script,
                    authentication: authentication,
                    endpoints: [.token: "https://id.example.com/token?key=\(Self.planted)"]
                )
                var text = ""
                do {
                    let answer = try await bench.skippingWaits { try await bench.oauth.tokens(grant) }
                    text += Self.traces(of: answer) + Self.traces(of: answer.merged(into: Credentials()))
                } catch let error as RecoveryError {
                    text += "\(error) \(String(describing: error)) \(String(reflecting: error)) \(error.userMessage)"
                    text += Self.traces(of: error.outcome) + Self.traces(of: error.history)
                    if let oauth = error.oauth { text += Self.traces(of: oauth) }
                }
                for event in bench.events.events { text += Self.traces(of: event) }
                #expect(!text.contains(Self.planted))
                #expect(
                    bench.transport.received.allSatisfy {
                        $0.text.contains(Self.planted) || $0.request.headerFields[.authorization] != nil
                    }
                )
            }
        }
    }

    @Test func norInTheFlowsOfAPerson() async throws {
        let begun =
            #"{"device_code":"pl4nted","user_code":"pl4nted","verification_uri":"https://x","verification_uri_complete":"https://x/pl4nted","interval":1}"#
        let bench = try OAuthBench([
            .status(200, [:], body: begun), .oauth("authorization_pending"), .oauth("access_denied"),
        ])
        let device = try await bench.oauth.authorizeDevice()
        let error = try await bench.failure { try await bench.oauth.tokens(for: device) }
        let request = try bench.oauth.authorizationRequest(redirectURI: "http://127.0.0.1/")
        let redirect = OAuthClient.AuthorizationRedirect(query: "code=pl4nted&state=\(request.state.reveal())")
        let grant = try request.grant(for: redirect)
        var text = [device, request, redirect, grant, error.outcome, request.proofKey].map { Self.traces(of: $0) }
            .joined()
        for event in bench.events.events { text += Self.traces(of: event) }
        for secret in [Secret(Self.planted), request.state, request.proofKey.verifier] {
            #expect(!text.contains(secret.reveal()))
        }
    }

    @Test func norInWhatIsToldAboutATokenOrPrintedOfAClient() async throws {
        let bench = try OAuthBench(
            [.status(200, [:], body: #"{"active":true,"username":"pl4nted"}"#)],
            authentication: .clientSecretBasic(Self.secret(1))
        )
        let told = try await bench.oauth.introspect(Self.secret(2))
        #expect(told.claims["username"] == "pl4nted")
        #expect(!(Self.traces(of: told) + Self.traces(of: bench.oauth)).contains(Self.planted))
    }
}
