import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

@Suite struct DPoPAuthorizationTests {
    /// A client that presents bound tokens, on a manual clock and a scripted transport.
    struct Bench {
        let clock = ManualClock()
        let transport: ScriptedTransport
        let client: RecoveringClient
        let nonces = DPoPAuthorization.Nonces()
        let clocks = ServerClocks()
        let tokens: InMemoryTokenStore

        static let origin = Origin(scheme: "https", authority: "api.example.com")
        static let get = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/items?q=1#x")
        /// The example of RFC 9449 section 7.1, with its `ath`.
        static let token: Secret = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"

        init(
            _ steps: [ScriptedTransport.Step] = [],
            credentials: Credentials = Credentials(accessToken: token, tokenType: "DPoP"),
            prover: PlainProver = PlainProver(),
            isTokenEndpoint: Bool = false,
            enforcesTimeouts: Bool = true,
            holdUp: (@Sendable (ManualClock, Int) -> Void)? = nil
        ) {
            let tokens = InMemoryTokenStore(credentials)
            self.tokens = tokens
            transport = ScriptedTransport(
                steps,
                enforcesTimeouts: enforcesTimeouts,
                holdUp: { [clock] in holdUp?(clock, $0) }
            )
            let runtime = Runtime.manual(clock)
            let layer =
                isTokenEndpoint
                ? DPoPAuthorization(prover: prover, nonces: nonces, clocks: clocks, audience: [Self.origin])
                : DPoPAuthorization(tokens, prover: prover, nonces: nonces, clocks: clocks, audience: [Self.origin])
            client = RecoveringClient(transport: transport, runtime: runtime) {
                Recovery {
                    DPoPAuthorization.NonceRetry()
                    SessionRenewal(tokens)
                    TransientRetry()
                }
                layer
            }
        }

        @discardableResult
        func send(
            _ request: HTTPRequest = Bench.get,
            body: MessageBody? = nil,
            options: RequestOptions = RequestOptions()
        ) async throws -> RecoveredResponse {
            try await clock.skippingWaits { try await client.send(request, body: body, options: options) }
        }

        var proofs: [JSONValue?] {
            transport.received.map { received in
                received.request.headerFields[.dpop].flatMap { try? JSONValue(parsing: $0) }
            }
        }

        var presented: [String?] { transport.received.map { $0.request.headerFields[.authorization] } }
        var nonceOfEach: [String?] { proofs.map { $0?["nonce"]?.string } }
    }

    static let challenge = "DPoP error=\"use_dpop_nonce\", error_description=\"needs nonce\""

    static func wantsNonce(_ nonce: String?) -> ScriptedTransport.Step {
        var fields = ["www-authenticate": challenge]
        if let nonce { fields["dpop-nonce"] = nonce }
        return .status(401, fields)
    }

    @Test func aProofThatIsHeldUpUntilItIsStaleIsMadeAnew() async throws {
        let bench = Bench(holdUp: { clock, number in if number == 1 { clock.advance(by: .seconds(31)) } })
        let request = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/items")
        try await bench.send(request, options: RequestOptions(resend: .spending))
        #expect(bench.proofs.count == 1, "the stale one never left")
        let issuedAt = try #require(bench.proofs[0]?["iat"]?.number?.seconds)
        #expect(issuedAt >= OAuthBench.start.sinceEpoch + .seconds(31))
    }

    @Test func tokenAndProofGoToTheAudience() async throws {
        let bench = Bench()
        try await bench.send()
        #expect(bench.presented == ["DPoP \(Bench.token.reveal())"])
        let proof = try #require(bench.proofs[0])
        #expect(proof["htm"] == "GET")
        #expect(proof["htu"] == "https://api.example.com/items")
        #expect(proof["iat"]?.number?.text == "1893456000")
        #expect(proof["ath"] == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
        #expect(proof["nonce"] == nil)
        #expect(try #require(proof["jti"]?.string).utf8.count == 22, "128 bits")
        for name in [HTTPField.Name.dpop, .authorization] {
            let field = bench.transport.received[0].request.headerFields[fields: name].first
            #expect(field?.indexingStrategy == .disallow)
        }
    }

    @Test(arguments: [
        "https://other.example.com/", "http://api.example.com/", "https://api.example.com:8443/",
        "https://api.example.com.evil.example/",
    ])
    func anotherOriginGetsNeitherTokenNorProofAndItsNonceDoesNotCount(url: String) async throws {
        let bench = Bench([.status(200, ["dpop-nonce": "evil"])])
        try await bench.send(HTTPRequest(url: url))
        #expect(bench.presented == [nil])
        #expect(bench.proofs == [nil])
        #expect(bench.nonces[Origin(of: try HTTPRequest(url: url))] == nil)
        #expect(bench.nonces[Bench.origin] == nil)
    }

    @Test func theNonceOfARefusalIsTakenAndTheCallRepeatedOnce() async throws {
        let bench = Bench([Self.wantsNonce("n1"), .status(200, ["dpop-nonce": "n2"])])
        let response = try await bench.send()
        #expect(response.status == .ok)
        #expect(bench.nonceOfEach == [nil, "n1"])
        #expect(bench.nonces[Bench.origin] == "n2", "the nonce of a success counts too")
        #expect(bench.clock.requestedDelays.isEmpty, "it is repeated at once")
        try await bench.send()
        #expect(bench.nonceOfEach == [nil, "n1", "n2"])
        let ids = bench.proofs.map { $0?["jti"]?.string }
        #expect(Set(ids).count == 3)
    }

    @Test func itIsRepeatedOnceOnly() async throws {
        let bench = Bench([Self.wantsNonce("n1"), Self.wantsNonce("n2"), Self.wantsNonce("n3")])
        let error = await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(error?.kind == .nonceRequired)
        #expect(error?.reason == .alreadyRepaired)
        #expect(bench.transport.received.count == 2)
        #expect(await bench.tokens.read().credentials.accessToken == Bench.token, "a nonce refuses no token")
        #expect(bench.nonces[Bench.origin] == "n2", "the next call has it")
    }

    @Test(arguments: [nil, "n0", "with space", "qu\"ote", ""])
    func withoutANewerNonceNothingIsRepeated(nonce: String?) async throws {
        let bench = Bench([.status(200, ["dpop-nonce": "n0"]), Self.wantsNonce(nonce)])
        try await bench.send()
        let error = await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(error?.kind == .nonceRequired)
        #expect(error?.reason == .notRecoverable)
        #expect(bench.nonceOfEach == [nil, "n0"])
    }

    @Test(arguments: [503, 429, 401, 403, 500]) func everyAnswersNonceIsKept(status: Int) async throws {
        let bench = Bench([.status(status, ["dpop-nonce": "n1"])], credentials: Credentials(accessToken: "A"))
        _ = try? await bench.send(HTTPRequest(method: .post, url: "https://api.example.com/items"))
        #expect(bench.nonces[Bench.origin] == "n1")
    }

    @Test(arguments: [200, 502]) func theNonceIsKeptWhereTheBodyBreaksOff(status: Int) async throws {
        let breaking = ScriptedTransport.Step.run { _ in
            let stream = AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
                continuation.yield([1])
                continuation.finish(throwing: TransportError(.connectionLost, .answered))
            }
            var response = TransportResponse.scripted(status, ["dpop-nonce": "n1"])
            response.body = MessageBody(once: stream)
            return response
        }
        let bench = Bench([breaking])
        try await bench.send()
        #expect(bench.nonceOfEach == [nil, "n1"])
    }

    @Test func anAttemptWithoutAnAnswerBringsNoOldNonceBack() async throws {
        let bench = Bench([.status(503, ["dpop-nonce": "n1"]), .fail(.connectionLost, .unknown)])
        let nonces = bench.nonces
        bench.transport.append([
            .run { _ in
                #expect(nonces[Bench.origin] == "newer")
                return .scripted(200)
            }
        ])
        let observer: @Sendable (RecoveryEvent) -> Void = { event in
            // Another call learns a newer one before the second attempt.
            if case .attempt(let number, _, _, _) = event.kind, number == 2 {
                nonces.keep([.init("dpop-nonce")!: "newer"], from: Bench.origin)
            }
        }
        try await bench.send(options: RequestOptions(observer: observer))
        #expect(bench.transport.received.count == 3)
    }

    @Test func aPostIsRepeatedWithItsBody() async throws {
        let bench = Bench([Self.wantsNonce("n1")])
        let request = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/items")
        try await bench.send(request, body: MessageBody("order"), options: RequestOptions(resend: .spending))
        #expect(bench.transport.received.map(\.text) == ["order", "order"])
        #expect(bench.proofs.map { $0?["htm"] } == ["POST", "POST"])
    }

    @Test func aBodyThatCannotBeReadAgainIsNotRepeated() async throws {
        let bench = Bench([Self.wantsNonce("n1")])
        let stream = AsyncStream<ArraySlice<UInt8>> { continuation in
            continuation.yield([1])
            continuation.finish()
        }
        let request = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/items")
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.send(request, body: MessageBody(once: stream))
        }
        #expect(error?.reason == .bodyNotReplayable)
        #expect(bench.transport.received.count == 1)
    }

    @Test func atTheTokenEndpointTheProofGoesAlone() async throws {
        let refusal = ScriptedTransport.Step.status(
            400,
            ["dpop-nonce": "n1", "content-type": "application/json"],
            body: "{\"error\":\"use_dpop_nonce\",\"error_description\":\"x\"}"
        )
        let bench = Bench([refusal], isTokenEndpoint: true)
        var request = try HTTPRequest(method: .post, url: "https://api.example.com/token")
        request.headerFields[.authorization] = "Basic eDp5"
        let options = RequestOptions(resend: .spending, classifier: TokenEndpoint(), presents: .refresh)
        try await bench.send(request, body: MessageBody("grant_type=refresh_token"), options: options)
        #expect(bench.presented == ["Basic eDp5", "Basic eDp5"], "the client's own proof is left alone")
        #expect(bench.nonceOfEach == [nil, "n1"])
        for proof in bench.proofs {
            #expect(proof?["ath"] == nil)
            #expect(proof?["htu"] == "https://api.example.com/token")
        }
    }

    /// Reads the words of a token endpoint.
    private struct TokenEndpoint: OutcomeClassifier {
        func classify(_ exchange: Exchange) -> Outcome {
            guard case .response(let response, let body) = exchange.result, response.status.code == 400,
                let json = try? JSONValue(parsing: body),
                var outcome = OAuthError(json)?.outcome(presented: exchange.presented)
            else { return HTTPClassifier().classify(exchange) }
            outcome.processed = .no
            return outcome
        }
    }

    @Test func aRequestWithItsOwnAuthorizationIsLeftAlone() async throws {
        let bench = Bench()
        var request = Bench.get
        request.headerFields[.authorization] = "Basic eDp5"
        try await bench.send(request)
        #expect(bench.presented == ["Basic eDp5"])
        #expect(bench.proofs == [nil])
    }

    @Test func withoutATokenNothingIsSentWithTheRequest() async throws {
        let bench = Bench([.status(200, ["dpop-nonce": "n1"])], credentials: Credentials(refreshToken: "R"))
        try await bench.send()
        #expect(bench.presented == [nil])
        #expect(bench.proofs == [nil])
        #expect(bench.nonces[Bench.origin] == "n1")
    }

    @Test(arguments: ["Bearer", "bearer", "MAC"]) func aTokenThatIsNotBoundIsNotPassedOffAsOne(type: String)
        async throws
    {
        let bench = Bench(credentials: Credentials(accessToken: "A", tokenType: type))
        let error = await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(error?.kind == .misconfigured)
        #expect(error?.cause as? DPoPAuthorization.BindingError == .notBound)
        #expect(bench.transport.received.isEmpty)
    }

    @Test(arguments: ["DPoP", "dpop", "DPOP"]) func aBoundTokenIsNeverSentAsABearerToken(type: String) async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A", tokenType: type))
        let transport = ScriptedTransport()
        let client = RecoveringClient(transport: transport, runtime: .manual()) {
            Authorization(tokens, audience: [Bench.origin])
        }
        let error = await #expect(throws: RecoveryError.self) { try await client.send(Bench.get) }
        #expect(error?.kind == .misconfigured)
        #expect(error?.cause as? DPoPAuthorization.BindingError == .bound)
        #expect(transport.received.isEmpty)
        _ = try await client.send(HTTPRequest(url: "https://other.example.com/"))
        #expect(transport.received.map { $0.request.headerFields[.authorization] } == [nil])
    }

    @Test func aProofThatCannotBeSignedSendsNothing() async throws {
        let bench = Bench(prover: PlainProver(failure: TalkativeError()))
        let error = await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(error?.kind == .misconfigured)
        #expect(error?.cause is TalkativeError)
        #expect(error?.description.contains("s3cret") == false)
        #expect(bench.transport.received.isEmpty)
    }

    @Test func aRefusedTokenIsClearedAndANewerOneIsSentWithItsOwnProof() async throws {
        let tokens = Locked<InMemoryTokenStore?>(nil)
        let bench = Bench([
            .run { _ in
                try await tokens.withLock { $0 }?.update { $0.accessToken = "B" }
                return .scripted(401, ["www-authenticate": "DPoP error=\"invalid_token\""])
            }
        ])
        tokens.withLock { $0 = bench.tokens }
        try await bench.send()
        #expect(bench.presented == ["DPoP \(Bench.token.reveal())", "DPoP B"])
        let hashes = bench.proofs.map { $0?["ath"]?.string }
        #expect(hashes == ["fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo", Base64.encodeForURL(SHA256.hash("B".utf8))])
    }

    @Test func theProofCarriesTheServersTimeWhereTheLocalClockIsWrong() async throws {
        let bench = Bench([.status(503, ["date": "Tue, 01 Jan 2030 01:00:00 GMT"])])
        try await bench.send()
        let times = bench.proofs.map { $0?["iat"]?.number?.saturatedInt ?? 0 }
        #expect(times[0] == 1_893_456_000)
        #expect((3600...3610).contains(times[1] - times[0]))
    }
}
