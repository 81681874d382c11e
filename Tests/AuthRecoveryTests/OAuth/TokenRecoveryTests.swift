import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Token requests that fail")
struct TokenRecoveryTests {
    private static let spending: [OAuthClient.Grant] = [
        .refreshToken("r"), .authorizationCode("c", redirectURI: nil, proofKey: nil), .deviceCode("d"),
    ]

    private static var exchange: OAuthClient.Grant {
        .tokenExchange(subject: OAuthClient.ExchangeToken("s", type: .jwt))
    }

    @Test(arguments: spending + [exchange])
    func aLostAnswerIsNeverSentAgain(grant: OAuthClient.Grant) async throws {
        for step in [
            .fail(.connectionLost, .unknown), .fail(.timedOut, .unknown), .status(500),
            .status(502, [:], body: "<html>"),
            .oauth("server_error"), .oauth("server_error", status: 500),
        ] as [OAuthBench.Step] {
            let bench = try OAuthBench([step, .tokens()])
            let error = try await bench.failure { try await bench.oauth.tokens(grant) }
            #expect(bench.sent.count == 1)
            #expect(error.outcome.tokenAction == .keep)
            #expect(error.outcome.processed == .unknown)
            #expect([.transport, .timedOut, .unavailable].contains(error.kind))
        }
    }

    @Test(arguments: spending + [exchange, .clientCredentials()])
    func whatWasCertainlyNotProcessedIsSentAgain(grant: OAuthClient.Grant) async throws {
        for step in [
            .fail(.cannotConnect, .neverSent), .fail(.streamRefused, .notProcessed), .status(429, ["retry-after": "2"]),
            .status(429), .status(503, ["retry-after": "2"]), .oauth("temporarily_unavailable"),
            .oauth("invalid_grant", status: 429, ["retry-after": "2"]),
        ] as [OAuthBench.Step] {
            let bench = try OAuthBench([step, .tokens()])
            let answer = try await bench.skippingWaits { try await bench.oauth.tokens(grant) }
            #expect(answer.accessToken == "A2")
            #expect(bench.sent.count == 2 && Set(bench.sent).count == 1)
        }
    }

    @Test func theClientsOwnCredentialsMayBePresentedTwice() async throws {
        for step in [.fail(.connectionLost, .unknown), .status(500), .oauth("server_error")] as [OAuthBench.Step] {
            let bench = try OAuthBench([step, .tokens()])
            _ = try await bench.skippingWaits { try await bench.oauth.tokens(.clientCredentials()) }
            #expect(bench.sent.count == 2)
        }
    }

    @Test func aThrottleIsWaitedOutForTheStatedTime() async throws {
        let bench = try OAuthBench([.oauth("invalid_grant", status: 429, ["retry-after": "30"]), .tokens()])
        _ = try await bench.skippingWaits { try await bench.oauth.tokens(.refreshToken("r")) }
        let waited = bench.events.events.compactMap { if case .wait(_, let time, _) = $0.kind { time } else { nil } }
        #expect(waited.count == 1 && waited.allSatisfy { $0 >= .seconds(30) && $0 <= .seconds(32) })
        #expect(bench.events.words.contains("failure 1 rate_limited"))
    }

    @Test func aThrottleHoldsForTheClientAndNotForItsTokens() async throws {
        let bench = try OAuthBench([.status(429, ["retry-after": "300"]), .status(200), .tokens()])
        let error = try await bench.failure { try await bench.oauth.tokens(.refreshToken("r")) }
        #expect(error.reason == .waitExceedsLimit && error.retryAfter == .seconds(300))
        // A resource of the same origin.
        _ = try await bench.client.send(HTTPRequest(url: "https://id.example.com/userinfo"))
        let second = try await bench.failure { try await bench.oauth.tokens(.refreshToken("r2")) }
        #expect(second.reason == .waitExceedsLimit)
        #expect(bench.sent.count == 2)
    }

    @Test(arguments: [
        ("invalid_grant", 400, Outcome.Kind.credentialRejected, Outcome.TokenAction.clear),
        ("invalid_client", 401, .misconfigured, .keep), ("unauthorized_client", 400, .misconfigured, .keep),
        ("unsupported_grant_type", 400, .misconfigured, .keep), ("invalid_scope", 400, .invalidRequest, .keep),
        ("invalid_request", 400, .invalidRequest, .keep), ("invalid_grant", 200, .credentialRejected, .clear),
        ("invalid_grant", 503, .unavailable, .keep), ("made_up", 400, .invalidRequest, .keep),
        ("made_up", 401, .unknown, .keep), ("made_up", 200, .unknown, .keep),
    ])
    func aRefusedRefresh(word: String, status: Int, kind: Outcome.Kind, action: Outcome.TokenAction) async throws {
        let bench = try OAuthBench([.oauth(word, status: status)])
        let error = try await bench.failure { try await bench.oauth.tokens(.refreshToken("r")) }
        #expect(error.kind == kind && error.outcome.tokenAction == action && error.outcome.code == word)
        let decided = !(word == "invalid_grant" && status == 503)
        #expect(error.oauth == (decided ? OAuthError(word: .init(rawValue: word), detail: "d") : nil))
        #expect(bench.sent.count == 1)
        #expect(bench.events.words.last == "done failed 1")
    }

    @Test(arguments: [
        "", "{}", "null", "[]", "<html>sign in</html>", #"{"access_token":""}"#, #"{"access_token":7}"#,
        #"{"access_token":null}"#, #"{"token_type":"Bearer","expires_in":3600}"#, "hello", "access_token=", "\u{0}",
        #"{"access_token":"A2","error":"made_up"}"#, #"{"access_token":"A2","error":{"code":1}}"#,
    ])
    func aSuccessWithoutATokenIsNone(body: String) async throws {
        let bench = try OAuthBench([.status(200, [:], body: body)])
        let error = try await bench.failure { try await bench.oauth.tokens(.refreshToken("r")) }
        #expect(error.kind == (body.contains("error") ? .unknown : .unreadable))
        #expect(error.outcome.tokenAction == .keep && error.outcome.processed == .yes)
        #expect(bench.events.words.contains("failure 1 \(error.kind.rawValue)"))
    }

    @Test func aRedirectIsNoAnswer() async throws {
        let bench = try OAuthBench([.status(302, ["location": "https://id.example.com/login"])])
        let error = try await bench.failure { try await bench.oauth.tokens(.refreshToken("r")) }
        #expect(error.kind == .unreadable)
    }

    @Test(arguments: [
        "access_token=A2&token_type=bearer&expires_in=3600",
        "\u{FEFF}{\"access_token\":\"A2\",\"expires_in\":\"3600\"}",
        #"  {"access_token":"A2","expires_in":3600.0,"error":null} "#,
    ])
    func unusualAnswersAreRead(body: String) async throws {
        let bench = try OAuthBench([.status(200, ["content-type": "text/html"], body: body)])
        let answer = try await bench.oauth.tokens(.refreshToken("r"))
        #expect(answer.accessToken == "A2")
        #expect(answer.expiresAt == OAuthBench.start.advanced(by: .seconds(3600)))
    }

    @Test func anAnswerWithoutEndIsNotRead() async throws {
        let body = #"{"access_token":"A2","x":""# + String(repeating: "x", count: 2 << 20) + "\"}"
        let bench = try OAuthBench([
            .run { _ in
                let chunk = Array(body.utf8)[...]
                let stream = MessageBody {
                    AsyncStream { continuation in
                        continuation.yield(chunk)
                        continuation.finish()
                    }
                }
                return TransportResponse(head: HTTPResponse(status: .ok), body: stream)
            }
        ])
        let error = try await bench.failure { try await bench.oauth.tokens(.refreshToken("r")) }
        #expect(error.kind == .unreadable)
    }

    @Test func cancellationIsPrompt() async throws {
        let bench = try OAuthBench([.hang])
        let task = Task { try await bench.oauth.tokens(.refreshToken("r")) }
        await bench.transport.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.events.words.last == "done cancelled 1")
    }

    @Test func aDeadTokenCountsAsRevoked() async throws {
        let bench = try OAuthBench([.oauth("invalid_token", status: 401), .oauth("invalid_grant")])
        try await bench.oauth.revoke("t")
        try await bench.oauth.revoke("t")
        let other = try OAuthBench([.oauth("unsupported_token_type")])
        let error = try await other.failure { try await other.oauth.revoke("t", hint: .access) }
        #expect(error.oauth?.word == .unsupportedTokenType && error.kind == .invalidRequest)
    }

    @Test func revokingAndAskingMayBeRepeated() async throws {
        let lost = OAuthBench.Step.fail(.connectionLost, .unknown)
        let bench = try OAuthBench([lost, .status(200), lost, .status(200, [:], body: #"{"active":false}"#)])
        let told = try await bench.skippingWaits {
            try await bench.oauth.revoke("t")
            return try await bench.oauth.introspect("t")
        }
        #expect(!told.isActive && bench.sent.count == 4)
    }

    @Test(arguments: ["", "{}", #"{"active":"yes"}"#, "<html>"])
    func anIntrospectionThatSaysNothingIsNone(body: String) async throws {
        let bench = try OAuthBench([.status(200, [:], body: body)])
        let error = try await bench.failure { try await bench.oauth.introspect("t") }
        #expect(error.kind == .unreadable)
    }
}
