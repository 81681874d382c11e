#if Cryptography
import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes

/// An OAuth client on a manual clock and a scripted server.
struct OAuthServerBench {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let oauth: OAuthClient

    static let issuer = "https://id.example.com"
    static let origin = Origin(scheme: "https", authority: "id.example.com")
    static let api = Origin(scheme: "https", authority: "api.example.com")

    init(
        _ steps: [ScriptedTransport.Step],
        authentication: any ClientAuthentication,
        issuer: String? = OAuthServerBench.issuer,
        attemptLayers: [any ClientLayer] = [],
        holdUp: (@Sendable (ManualClock, Int) -> Void)? = nil
    ) throws {
        transport = ScriptedTransport(steps, then: .status(418), holdUp: { [clock] in holdUp?(clock, $0) })
        let runtime = Runtime.manual(clock)
        client = RecoveringClient(transport: transport, runtime: runtime) {
            Recovery {
                DPoPAuthorization.NonceRetry()
                RateLimitBackoff()
                TransientRetry()
            }
        }
        oauth = OAuthClient(
            server: try OAuthServer(
                issuer: issuer,
                endpoints: [.token: "\(Self.issuer)/token", .revocation: "\(Self.issuer)/revoke"]
            ),
            clientID: "app",
            authentication: authentication,
            client: client,
            attemptLayers: attemptLayers
        )
    }

    /// Does something while the clock jumps to whatever is slept for.
    func skippingWaits<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await clock.skippingWaits(body)
    }

    /// The forms of the requests, read back.
    var forms: [[String: String]] {
        transport.received.map { received in
            Dictionary(
                received.text.split(separator: "&").map { pair in
                    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
                },
                uniquingKeysWith: { "\($0) twice: \($1)" }
            )
        }
    }

    /// The assertions of the requests, taken apart.
    var assertions: [ParsedJWT?] { forms.map { $0["client_assertion"].flatMap { ParsedJWT($0) } } }

    /// The proofs of the requests, taken apart.
    var proofs: [ParsedJWT?] {
        transport.received.map { $0.request.headerFields[.dpop].flatMap { ParsedJWT($0) } }
    }

    static let tokens = ScriptedTransport.Step.status(
        200,
        body: #"{"access_token":"A","token_type":"DPoP","refresh_token":"R2","expires_in":3600}"#
    )

    static func wantsNonce(_ nonce: String) -> ScriptedTransport.Step {
        .status(400, ["dpop-nonce": nonce], body: #"{"error":"use_dpop_nonce","error_description":"d"}"#)
    }
}
#endif
