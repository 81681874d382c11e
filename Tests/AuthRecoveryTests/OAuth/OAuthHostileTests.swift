import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// Whatever an authorization server answers: it ends soon, with an error that says why, and nothing is spent twice.
@Suite("An authorization server that answers anything", .timeLimit(.minutes(30)))
struct OAuthHostileTests {
    typealias Step = OAuthBench.Step

    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case code, device, service, exchange, renewal

        var testDescription: String { rawValue }

        var steps: [Step] {
            switch self {
            case .device: [OAuthHostileTests.device, .oauth("authorization_pending"), .tokens()]
            default: [.tokens()]
            }
        }
    }

    private static let device = Step.status(
        200,
        [:],
        body: #"{"device_code":"D","user_code":"U","verification_uri":"https://x/d","interval":5,"expires_in":900}"#
    )

    private static let bodies = [
        "", "null", "[]", "{}", "7", #""invalid_grant""#, "invalid_grant", "<html></html>", "{", "error=invalid_grant",
        "access_token=", #"{"access_token":7}"#, #"{"access_token":""}"#, #"{"access_token":"A\r\nX: y"}"#,
        #"{"access_token":"Ä"}"#, #"{"access_token":"A2","expires_in":1e400}"#,
        #"{"access_token":"A2","expires_in":-1e30,"refresh_token":7,"token_type":[],"scope":{}}"#,
        #"{"access_token":"A2","error":"invalid_grant"}"#, #"{"access_token":"A2","access_token":7}"#,
        #"{"error":null}"#, #"{"error":7}"#, #"{"error":["invalid_grant"]}"#, #"{"error":{"code":"invalid_grant"}}"#,
        #"{"error":"INVALID_GRANT "}"#, #"{"error":"invalid_grant"}"#, #"{"error":"invalid_client"}"#,
        #"{"error":"invalid_token"}"#, #"{"error":"server_error"}"#, #"{"error":"temporarily_unavailable"}"#,
        #"{"error":"authorization_pending"}"#, #"{"error":"authorization_pending","interval":1e30}"#,
        #"{"error":"slow_down"}"#, #"{"error":"expired_token"}"#, #"{"error":"access_denied"}"#,
        #"{"error":"use_dpop_nonce"}"#, #"{"error":"of_tomorrow"}"#, #"{"device_code":7}"#,
        #"{"device_code":"D","user_code":"U","verification_uri":"u","interval":-7,"expires_in":1e400}"#,
        #"{"device_code":"D","user_code":"U","verification_uri":"u","interval":"x","expires_in":0}"#,
        String(repeating: "[", count: 3000),
    ]

    private static let hostile: [(name: String, step: Step, provesNothingDone: Bool)] =
        [200, 400, 401, 403, 429, 500].flatMap { status in
            bodies.map { body in
                // That is also the word for "not begun".
                let isBusy = status < 500 && body.contains("temporarily_unavailable")
                return ("\(status) \(body.prefix(80))", .status(status, [:], body: body), status == 429 || isBusy)
            }
        } + [
            ("302", .status(302, ["location": "https://example.com/?error=access_denied"]), false),
            ("302 nowhere", .status(302), false), ("204", .status(204), false), ("408", .status(408), false),
            ("421", .status(421), true), ("425", .status(425), true), ("999", .status(999), false),
            ("401 bearer", .status(401, ["www-authenticate": #"Bearer error="invalid_token""#]), false),
            ("401 nonce", .status(401, ["www-authenticate": "DPoP error=use_dpop_nonce", "dpop-nonce": "n"]), false),
            ("429 for ages", .status(429, ["retry-after": "99999999999999999999"]), true),
            ("429 nan", .status(429, ["retry-after": "nan"]), true), ("503", .status(503, ["retry-after": "2"]), true),
            ("503 -1", .status(503, ["retry-after": "-1"]), false), ("lost", .fail(.connectionLost, .unknown), false),
            ("cut", .fail(.truncated, .answered), false), ("unsent", .fail(.cannotConnect, .neverSent), true),
        ]

    @Test(arguments: Way.allCases) func itEndsSoonAndSpendsNothingTwice(way: Way) async throws {
        var share = Share(oneIn: 4, for: way.rawValue)
        for index in way.steps.indices {
            for (name, step, provesNothingDone) in Self.hostile {
                for isOnce in [true, false] {
                    guard share.takesNext() else { continue }
                    let rest = isOnce ? [step] + way.steps[index...] : Array(repeating: step, count: 60)
                    let bench = try OAuthBench(way.steps[..<index] + rest)
                    let isKnown = try await obtains(way, bench)
                    let texts = bench.sent
                    let isSpentTwice = ["code=C", "refresh_token=R1"].contains { proof in
                        texts.count { $0.contains(proof) } > 1
                    }
                    // Whoever is asked if somebody has answered elsewhere is asked every few seconds.
                    let polls = Int(bench.clock.now.offset.components.seconds / 4)
                    if isKnown, texts.count <= 20 + polls, provesNothingDone || !isSpentTwice { continue }
                    Issue.record("\(way), \(index), \(name), \(isOnce ? "once" : "for ever"): \(isKnown), \(texts)")
                }
            }
        }
    }

    /// Whether it ends in tokens, or in an error that says why.
    private func obtains(_ way: Way, _ bench: OAuthBench) async throws -> Bool {
        let oauth = bench.oauth
        let store = InMemoryTokenStore(Credentials(accessToken: "A1", refreshToken: "R1"))
        do {
            _ = try await bench.clock.skippingWaits(upTo: .seconds(600)) {
                switch way {
                case .code:
                    let request = try oauth.authorizationRequest(redirectURI: "http://127.0.0.1/")
                    return try await oauth.tokens(
                        for: request,
                        redirectedTo: "/?code=C&state=\(request.state.reveal())"
                    )
                case .device: return try await oauth.tokens(for: try await oauth.authorizeDevice())
                case .service: return try await oauth.tokens(.clientCredentials())
                case .exchange:
                    let token = OAuthClient.ExchangeToken("T1", type: .accessToken)
                    return try await oauth.tokens(.tokenExchange(subject: token))
                case .renewal:
                    let tokens = TokenManager(store: store, renewer: RefreshTokenGrant(client: oauth))
                    _ = try await tokens.renew(CallContext(runtime: bench.client.runtime))
                    return try #require(OAuthClient.TokenAnswer(["access_token": "A"], date: OAuthBench.start))
                }
            }
            return true
        } catch {
            return error is RecoveryError
        }
    }
}
