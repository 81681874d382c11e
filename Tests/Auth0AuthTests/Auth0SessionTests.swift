import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import Auth0Auth

@Suite struct Auth0SessionTests {
    private static let held = Credentials(accessToken: "A0", refreshToken: "R0")

    @Test func theSessionIsWhatTheTenantSays() async throws {
        let profile = #"{"sub":"auth0|1","email":"ada@example.com"}"#
        let bench = try Auth0Bench([.json(profile)], credentials: Self.held)
        let session = try await bench.auth0.session()
        #expect(session?.subject == "auth0|1" && session?.summary.name == "auth0|1")
        #expect(bench.transport.received[0].request.headerFields[.authorization] == "Bearer A0")
        let nobody = try Auth0Bench([])
        #expect(try await nobody.auth0.session() == nil && nobody.sent.isEmpty)
    }

    @Test func aRefusedTokenIsRenewedAndTheRequestSentAgain() async throws {
        let refused = Auth0Bench.Step.status(401, ["www-authenticate": #"Bearer error="invalid_token""#])
        let bench = try Auth0Bench([refused, .tokens(), .json("{}")], credentials: Self.held)
        let response = try await bench.auth0.send(.post, path: "/x", body: .json(["a": 1]), resend: .replayable)
        #expect(response.status == .ok)
        let received = bench.transport.received
        #expect(received.map { $0.request.path } == ["/x", "/oauth/token", "/x"])
        #expect(received[2].request.headerFields[.authorization] == "Bearer A1")
        #expect(received[2].request.headerFields[.contentType] == "application/json")
        #expect(FormFields(received[1].text)["refresh_token"] == ["R0"])
        #expect(await bench.tokens.read().credentials.refreshToken == "R1")
    }

    /// Reuse of a rotated token ends the whole family: without a leeway that the tenant grants, none is presented twice.
    @Test(arguments: [(Duration.zero, 1), (.seconds(30), 2), (nil, 2)])
    func aRefreshTokenIsPresentedAgainWithinTheLeewayAlone(leeway: Duration?, sent: Int) async throws {
        let configuration = Auth0Configuration(clientID: "app", rotationLeeway: leeway)
        let bench = try Auth0Bench(
            [.fail(.connectionLost, .unknown), .tokens()],
            credentials: Self.held,
            configuration: configuration
        )
        let renewed = try? await bench.clock.skippingWaits { try await bench.auth0.refresh() }
        #expect(bench.sent.count == sent && (renewed != nil) == (sent == 2))
        let held = await bench.tokens.read().credentials
        #expect(held.refreshToken == (sent == 2 ? "R1" : "R0"), "what may still be good is kept")
    }

    /// After an answer that was lost the next call tries the same token: it may be good still, and if not, nothing is lost.
    @Test(
        arguments: [
            .fail(.connectionLost, .unknown), .status(500), .status(502), .status(503), .json("", 200),
        ] as [Auth0Bench.Step]
    )
    func theNextCallTriesTheTokenAgain(lost: Auth0Bench.Step) async throws {
        let bench = try Auth0Bench([lost, .tokens()], credentials: Self.held)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await bench.auth0.refresh() }
        }
        #expect(error?.kind != .reauthenticationRequired && bench.sent.count == 1)
        _ = try await bench.clock.skippingWaits { try await bench.auth0.refresh() }
        #expect(bench.sent.count == 2)
        #expect(await bench.tokens.read().credentials.refreshToken == "R1")
    }

    /// One that does not rotate is good until it is refused, however long the tenant was away.
    @Test func aTokenThatDoesNotRotateOutlastsAnOutage() async throws {
        let configuration = Auth0Configuration(clientID: "app", rotationLeeway: nil)
        let outage = Array(repeating: Auth0Bench.Step.status(502), count: 3)
        let bench = try Auth0Bench(outage + [.tokens()], credentials: Self.held, configuration: configuration)
        await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await bench.auth0.refresh() }
        }
        bench.clock.advance(by: .seconds(3600))
        _ = try await bench.clock.skippingWaits { try await bench.auth0.refresh() }
        #expect(await bench.tokens.read().credentials.refreshToken == "R1")
    }

    @Test func aDeadRefreshTokenIsForgotten() async throws {
        let dead = Auth0Bench.Step.error("invalid_grant", "Unknown or invalid refresh token.")
        let bench = try Auth0Bench([dead], credentials: Self.held)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await bench.auth0.refresh() }
        }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(await bench.tokens.read().credentials.refreshToken == nil)
    }

    @Test func aRenewalThatWantsASecondFactorKeepsTheToken() async throws {
        let bench = try Auth0Bench([.wantsMore], credentials: Self.held)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await bench.auth0.refresh() }
        }
        #expect(error?.kind == .stepUpRequired)
        #expect(await bench.tokens.read().credentials.refreshToken == "R0")
    }

    @Test func manyCallsRenewOnce() async throws {
        let refused = Auth0Bench.Step.status(401)
        let steps = Array(repeating: refused, count: 8) + [.tokens()] + Array(repeating: .json("{}"), count: 8)
        let bench = try Auth0Bench(steps, credentials: Self.held)
        try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<8 { group.addTask { try await bench.auth0.send(path: "/x").status } }
            for try await status in group { #expect(status == .ok) }
        }
        #expect(bench.sent.filter { $0 == "/oauth/token" }.count == 1)
    }

    @Test func signingOutRevokesAndForgets() async throws {
        let bench = try Auth0Bench([.status(200)], credentials: Self.held)
        try await bench.auth0.signOut()
        #expect(bench.transport.received.map { $0.request.path } == ["/oauth/revoke"])
        #expect(await bench.tokens.read().credentials.refreshToken == nil)
        try await bench.auth0.signOut()
        #expect(bench.transport.received.count == 1, "there is nothing to tell")
        let down = try Auth0Bench([.status(400)], credentials: Self.held)
        await #expect(throws: RecoveryError.self) { try await down.auth0.signOut() }
        #expect(await down.tokens.read().credentials == Self.held)
    }

    /// A renewal that brings another token while the first is revoked is of the same session; a sign-in is not.
    @Test(arguments: [false, true]) func whatARenewalBringsMeanwhileIsRevokedToo(isSignIn: Bool) async throws {
        let bench = try Auth0Bench([.tokens("A0", refresh: "R0")])
        _ = try await bench.signIn()
        let store = bench.tokens
        bench.transport.append([
            .run { _ in
                try await store.update { stored in
                    stored.refreshToken = "R1"
                    if isSignIn { stored.auth0Mark = "another" }
                }
                return TransportResponse(head: HTTPResponse(status: .ok), body: .empty)
            }, .status(200),
        ])
        try await bench.auth0.signOut()
        #expect(bench.sent.filter { $0.hasPrefix("/oauth/revoke") }.count == (isSignIn ? 1 : 2))
        #expect(await store.read().credentials.refreshToken == (isSignIn ? "R1" : nil))
    }

    @Test func aResetIsSentOnce() async throws {
        let bench = try Auth0Bench([.status(200, ["content-type": "text/html"], body: "We've just sent you an email.")])
        try await bench.auth0.sendPasswordReset(email: "ada@example.com")
        #expect(bench.sent == ["/dbconnections/change_password"])
        #expect(bench.transport.received[0].text.contains(#""connection":"people""#))
        let lost = try Auth0Bench([.fail(.connectionLost, .unknown), .status(200)])
        await #expect(throws: RecoveryError.self) {
            try await lost.clock.skippingWaits { try await lost.auth0.sendPasswordReset(email: "a@example.com") }
        }
        #expect(lost.sent.count == 1)
    }

    /// A tenant has no default for it: without one nothing is sent.
    @Test func aResetNamesItsConnection() async throws {
        let bench = try Auth0Bench([], configuration: Auth0Configuration(clientID: "app"))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.auth0.sendPasswordReset(email: "ada@example.com")
        }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "connection" && bench.sent.isEmpty)
    }
}

extension FormFields {
    /// Reads a form.
    fileprivate init(_ text: String) {
        self.init()
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { add(String(pair[0]), String(pair[1])) }
        }
    }
}
