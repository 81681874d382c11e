import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Token requests, byte for byte")
struct TokenRequestTests {
    private static let key = OAuthClient.ProofKey(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")

    private static let cases: [(OAuthClient.Grant, String)] = [
        (
            OAuthClient.Grant.refreshToken("r+1/2=%"),
            "grant_type=refresh_token&refresh_token=r%2B1%2F2%3D%25&client_id=app"
        ),
        (
            .refreshToken("r", scope: "a b", parameters: ["audience": "x", "resource": "https://y/?z"]),
            "grant_type=refresh_token&refresh_token=r&scope=a+b&audience=x&resource=https%3A%2F%2Fy%2F%3Fz&client_id=app"
        ),
        (.clientCredentials(), "grant_type=client_credentials&client_id=app"),
        (
            .clientCredentials(scope: "a", parameters: ["audience": "é"]),
            "grant_type=client_credentials&scope=a&audience=%C3%A9&client_id=app"
        ),
        (
            .authorizationCode("c:1", redirectURI: "http://127.0.0.1:8/cb", proofKey: key),
            "grant_type=authorization_code&code=c%3A1&redirect_uri=http%3A%2F%2F127.0.0.1%3A8%2Fcb"
                + "&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&client_id=app"
        ),
        (
            .authorizationCode("c", redirectURI: nil, proofKey: nil),
            "grant_type=authorization_code&code=c&client_id=app"
        ),
        (
            .deviceCode("d"),
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=d&client_id=app"
        ),
        (
            .tokenExchange(
                subject: OAuthClient.ExchangeToken("s", type: .accessToken),
                actor: OAuthClient.ExchangeToken("t", type: .jwt),
                requestedType: .accessToken,
                audience: ["one", "two"],
                resource: ["https://r"],
                scope: "x"
            ),
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&resource=https%3A%2F%2Fr"
                + "&audience=one&audience=two&scope=x"
                + "&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
                + "&subject_token=s&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
                + "&actor_token=t&actor_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt&client_id=app"
        ),
        (
            OAuthClient.Grant(
                type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
                parameters: ["assertion": "h.c.s"]
            ),
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=h.c.s&client_id=app"
        ),
    ]

    @Test(arguments: cases)
    func body(grant: OAuthClient.Grant, text: String) async throws {
        let bench = try OAuthBench([.tokens()])
        let answer = try await bench.oauth.tokens(grant)
        #expect(answer.accessToken == "A2")
        #expect(bench.sent == ["POST /token \(text)"])
        let fields = bench.transport.received.first?.request.headerFields
        #expect(fields?[.accept] == "application/json")
        #expect(fields?[.contentType] == "application/x-www-form-urlencoded")
        #expect(fields?[.authorization] == nil)
        #expect(fields?.count == 2)
    }

    @Test(arguments: [
        ("s6BhdRkqt3", "gX1fBat3bV", "czZCaGRSa3F0MzpnWDFmQmF0M2JW"),
        // `a%3Ab:p%2Bq%25%3D+%C3%A9%2F`
        ("a:b", "p+q%= é/", "YSUzQWI6cCUyQnElMjUlM0QrJUMzJUE5JTJG"),
    ])
    func aSecretInTheField(id: String, secret: String, encoded: String) async throws {
        let bench = try OAuthBench([.tokens()], authentication: .clientSecretBasic(Secret(secret)), clientID: id)
        _ = try await bench.oauth.tokens(.clientCredentials())
        #expect(bench.sent == ["POST /token grant_type=client_credentials"])
        let field = bench.transport.received.first?.request.headerFields[fields: .authorization].first
        #expect(field?.value == "Basic \(encoded)")
        #expect(field?.indexingStrategy == .disallow, "kept out of the compression tables")
    }

    @Test func aSecretInTheBody() async throws {
        let bench = try OAuthBench([.tokens()], authentication: .clientSecretPost("p+q%=: é&"), clientID: "a b")
        _ = try await bench.oauth.tokens(.clientCredentials())
        #expect(
            bench.sent == [
                "POST /token grant_type=client_credentials&client_id=a+b&client_secret=p%2Bq%25%3D%3A+%C3%A9%26"
            ]
        )
        #expect(bench.transport.received.first?.request.headerFields[.authorization] == nil)
    }

    @Test func revocationAndIntrospection() async throws {
        let bench = try OAuthBench(
            [
                .status(200), .status(200), .status(200, [:], body: #"{"active":true,"scope":"a","exp":"1893456060"}"#),
            ],
            authentication: .clientSecretBasic("s")
        )
        try await bench.oauth.revoke("t/1", hint: .refresh)
        try await bench.oauth.revoke("t")
        let told = try await bench.oauth.introspect("t", hint: .access)
        #expect(
            bench.sent == [
                "POST /revoke token=t%2F1&token_type_hint=refresh_token", "POST /revoke token=t",
                "POST /introspect token=t&token_type_hint=access_token",
            ]
        )
        #expect(told.isActive && told.scope == "a" && told.clientID == nil)
        #expect(told.expiresAt == Timestamp(secondsSinceEpoch: 1_893_456_060))
        #expect(bench.transport.received.allSatisfy { $0.request.headerFields[.authorization] == "Basic YXBwOnM=" })
    }

    @Test func anEndpointsOwnQueryStays() async throws {
        let bench = try OAuthBench([.tokens()], endpoints: [.token: "https://id.example.com/t?tenant=a%2Fb"])
        _ = try await bench.oauth.tokens(.clientCredentials())
        #expect(bench.sent == ["POST /t?tenant=a%2Fb grant_type=client_credentials&client_id=app"])
    }

    @Test func anUnknownEndpointIsConfiguration() async throws {
        let bench = try OAuthBench(endpoints: [:])
        for call in [
            { try await bench.oauth.revoke("t") }, { _ = try await bench.oauth.introspect("t") },
            { _ = try await bench.oauth.tokens(.clientCredentials()) }, { _ = try await bench.oauth.authorizeDevice() },
        ] as [() async throws -> Void] {
            let error = try await bench.failure { try await call() }
            #expect(error.kind == .misconfigured && error.outcome.processed == .no)
            #expect(error.outcome.parameter?.hasSuffix("_endpoint") == true)
        }
        #expect(bench.sent.isEmpty)
    }

    @Test func noAccessTokenTouchesThem() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A1", refreshToken: "R1"))
        let bench = try OAuthBench([.oauth("invalid_grant", status: 401)]) {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "id.example.com")])
        }
        let error = try await bench.failure { try await bench.oauth.tokens(.refreshToken("R1")) }
        #expect(bench.transport.received.map { $0.request.headerFields[.authorization] } == [nil])
        #expect(error.outcome.credential == .refresh)
        #expect(await tokens.read().credentials == Credentials(accessToken: "A1", refreshToken: "R1"))
    }
}

@Suite("Client authentication")
struct ClientAuthenticationTests {
    /// An assertion that tells which attempt it was made for.
    private struct Assertion: ClientAuthentication {
        let counter = Locked(0)

        func authenticate(_ attempt: inout OAuthClient.Attempt) async throws {
            let number = counter.withLock { count in
                count += 1
                return count
            }
            let audience = attempt.server.issuer ?? attempt.url
            let time = attempt.wallTime.secondsSinceEpoch - OAuthBench.start.secondsSinceEpoch
            attempt.form.add("client_assertion", "\(number).\(attempt.clientID).\(audience).\(attempt.url).\(time)")
            attempt.headerFields[try #require(HTTPField.Name("DPoP"))] = "proof-\(number)"
        }
    }

    private struct Broken: ClientAuthentication {
        struct NoKey: Error {}
        func authenticate(_ attempt: inout OAuthClient.Attempt) throws { throw NoKey() }
    }

    private struct Slow: ClientAuthentication {
        let time: TimeSource
        func authenticate(_ attempt: inout OAuthClient.Attempt) async throws {
            try await time.sleep(for: .seconds(1000))
        }
    }

    @Test func eachAttemptHasAProofOfItsOwn() async throws {
        let bench = try OAuthBench([.status(429, ["retry-after": "7"]), .tokens()], authentication: Assertion())
        _ = try await bench.skippingWaits { try await bench.oauth.tokens(.refreshToken("r")) }
        let bodies = bench.transport.received.map(\.text)
        #expect(bodies.count == 2)
        let beginning = "grant_type=refresh_token&refresh_token=r&client_assertion="
        let audience = "app.https%3A%2F%2Fid.example.com.https%3A%2F%2Fid.example.com%2Ftoken"
        #expect(bodies.first == "\(beginning)1.\(audience).0")
        #expect(bodies.last?.hasPrefix("\(beginning)2.\(audience).7") == true)
        let name = try #require(HTTPField.Name("DPoP"))
        #expect(bench.transport.received.map { $0.request.headerFields[name] } == ["proof-1", "proof-2"])
    }

    @Test func aProofThatCannotBeMadeSendsNothing() async throws {
        let bench = try OAuthBench(authentication: Broken())
        let error = try await bench.failure { try await bench.oauth.tokens(.refreshToken("r")) }
        #expect(error.kind == .misconfigured && error.outcome.tokenAction == .keep && error.cause is Broken.NoKey)
        #expect(bench.sent.isEmpty)
    }

    @Test func aProofThatIsBeingMadeCanBeCancelled() async throws {
        let clock = ManualClock()
        let bench = try OAuthBench(authentication: Slow(time: clock.timeSource()))
        let task = Task { try await bench.oauth.tokens(.refreshToken("r")) }
        await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func layersSeeEachAttemptAndItsAnswer() async throws {
        struct Nonce: ClientLayer {
            let seen = Locked<[String]>([])
            func intercept(
                _ request: HTTPRequest,
                body: MessageBody?,
                context: CallContext,
                next: Next
            ) async throws -> RecoveredResponse {
                let response = try await next(request, body: body, context: context)
                let code = response.outcome.code ?? "ok"
                let proof = request.headerFields[.authorization] ?? ""
                seen.withLock { $0.append("\(proof) \(code)") }
                // What a layer for DPoP does: one more attempt with the nonce of the answer.
                guard response.outcome.kind == .nonceRequired else { return response }
                return try await next(request, body: body, context: context)
            }
        }
        let layer = Nonce()
        let bench = try OAuthBench(
            [.oauth("use_dpop_nonce", ["dpop-nonce": "n"]), .tokens()],
            authentication: .clientSecretBasic("s"),
            attemptLayers: [layer]
        )
        _ = try await bench.oauth.tokens(.refreshToken("r"))
        #expect(layer.seen.withLock { $0 } == ["Basic YXBwOnM= use_dpop_nonce"])
        #expect(bench.sent.count == 2)
    }

    @Test func anAttemptPrintsNothingOfTheProof() throws {
        var attempt = OAuthClient.Attempt(
            server: try OAuthServer(endpoints: [:]),
            url: "https://id.example.com/token?x=pl4nted",
            clientID: "app",
            wallTime: OAuthBench.start
        )
        OAuthClient.ClientSecretBasic("pl4nted").authenticate(&attempt)
        OAuthClient.ClientSecretPost("pl4nted").authenticate(&attempt)
        var dumped = ""
        dump(attempt, to: &dumped)
        dump(attempt.form, to: &dumped)
        #expect(!"\(attempt) \(String(reflecting: attempt)) \(attempt.form) \(dumped)".contains("pl4nted"))
        #expect(attempt.form["client_secret"] == ["pl4nted"] && attempt.form.names == ["client_id", "client_secret"])
    }
}
