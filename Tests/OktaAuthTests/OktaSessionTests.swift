import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Okta's sessions and tokens")
struct OktaSessionTests {
    private static let app = OktaConfiguration(app: OktaApp(clientID: "0oa1", redirectURI: "com.example:/callback"))

    /// The token endpoint; for a code also an ID token with the nonce that the code is.
    private static let tokens = ScriptedTransport.Step.run { received in
        var more = ""
        if let nonce = FormFields(parsing: received.body)["code"].last?.reveal() {
            let server = received.request.path?.contains("/default/") == true ? "/oauth2/default" : ""
            let claims =
                #"{"iss":"https://example.okta.com\#(server)","aud":"0oa1","sub":"00u1","amr":["pwd"],"exp":4102444800,"nonce":"\#(nonce)"}"#
            more = #","id_token":"e30.\#(Base64.encodeForURL(claims.utf8)).s""#
        }
        let body = #"{"access_token":"A1","refresh_token":"R1","expires_in":3600,"token_type":"Bearer"\#(more)}"#
        return .scripted(200, body: body)
    }

    /// An authorization endpoint that sends a code, which is the request's nonce, or something else, with its state.
    private static func redirect(_ rest: String? = nil, to uri: String = "com.example:/callback")
        -> ScriptedTransport.Step
    {
        .run { received in
            let query = FormFields(parsing: (received.request.path ?? "").utf8.drop { $0 != 0x3F }.dropFirst())
            let state = query["state"].first?.reveal() ?? ""
            let rest = rest ?? "code=\(query["nonce"].first?.reveal() ?? "")"
            return .scripted(302, ["location": "\(uri)?\(rest)&state=\(state)"])
        }
    }

    /// Who is limited is who presents.
    @Test func oneSessionsLimitHoldsNoOther() async throws {
        let bench = try OktaBench(
            [.status(429, ["retry-after": "30"]), .status(200)],
            credentials: Credentials(sessionID: "one")
        ) { Recovery {} }
        let other = try Okta(
            org: OktaBench.url,
            client: bench.client,
            tokens: InMemoryTokenStore(Credentials(sessionID: "two")),
            configuration: OktaConfiguration()
        )
        for sent in [1, 1] {
            await #expect(throws: RecoveryError.self) { try await bench.okta.send(path: "/api/v1/users/me") }
            #expect(bench.transport.received.count == sent)
        }
        #expect(try await other.send(path: "/api/v1/users/me").status == .ok)
    }

    @Test func aSessionTokenIsExchangedForTokensByPKCE() async throws {
        let bench = try OktaBench([.success(), Self.redirect(), Self.tokens], configuration: Self.app)
        let session = try await bench.signIn()
        #expect(session.id == nil)
        #expect(session.userID == "00u1")
        let held = try await bench.credentials
        #expect(held.accessToken == "A1")
        #expect(held.refreshToken == "R1")
        let path = bench.transport.received[1].request.path ?? ""
        #expect(path.hasPrefix("/oauth2/v1/authorize?response_type=code&client_id=0oa1"))
        for part in [
            "sessionToken=20111st", "prompt=none", "code_challenge_method=S256", "scope=openid+offline_access",
        ] {
            #expect(path.contains(part))
        }
        #expect(bench.transport.received[2].text.contains("code_verifier="))
        #expect(!bench.events.events.map { "\($0)" }.joined().contains("20111st"))
    }

    @Test func aLoginPageInPlaceOfTheRedirectWantsANewToken() async throws {
        for answer in [
            ScriptedTransport.Step.answer("<html>"), Self.redirect("error=login_required"),
            Self.redirect(to: "https://example.okta.com/login"), Self.redirect(to: "com.example:/callback.evil"),
        ] {
            let bench = try OktaBench(
                [.success(), answer, .success("20111new"), Self.redirect(), Self.tokens],
                configuration: Self.app
            )
            _ = try await bench.signIn()
            #expect(bench.transport.received[3].request.path?.contains("sessionToken=20111new") == true)
        }
    }

    /// The app's policy wants more than the password: no other password brings that about.
    @Test func anAppThatWantsMoreThanAPasswordIsToldOfAfterOne() async throws {
        let text = "The+client+specified+not+to+prompt%2C+but+the+client+app+requires+re-authentication+or+MFA."
        let bench = try OktaBench(
            [.success(), Self.redirect("error=login_required&error_description=\(text)")],
            configuration: Self.app
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .stepUpRequired && error?.remedies == [.stepUp])
        #expect(bench.sent.filter { $0.hasPrefix("/authn ") }.count == 1)
    }

    @Test func aSecondTokenThatIsRefusedEndsTheSignIn() async throws {
        let refused = Self.redirect("error=login_required")
        let bench = try OktaBench([.success(), refused, .success(), refused], configuration: Self.app)
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .credentialRejected)
        #expect(bench.sent.filter { $0.hasPrefix("/authn ") }.count == 2)
    }

    @Test func anotherAuthorizationServerHasItsOwnEndpoints() async throws {
        var configuration = Self.app
        configuration.app?.authorizationServer = "default"
        let bench = try OktaBench([.success(), Self.redirect(), Self.tokens], configuration: configuration)
        _ = try await bench.signIn()
        #expect(bench.transport.received[2].request.path == "/oauth2/default/v1/token")
    }

    @Test func aRefusedAccessTokenIsRenewedOnceAndTheRequestSentAgain() async throws {
        let refused = ScriptedTransport.Step.status(401, ["www-authenticate": #"Bearer error="invalid_token""#])
        let bench = try OktaBench(
            [refused, .answer(#"{"access_token":"A2","refresh_token":"R2","expires_in":3600}"#), .answer("{}")],
            credentials: Credentials(accessToken: "A1", refreshToken: "R1"),
            configuration: Self.app
        )
        _ = try await bench.okta.send(path: "/api/v1/users/me")
        #expect(
            bench.transport.received.map { $0.request.headerFields[.authorization] } == ["Bearer A1", nil, "Bearer A2"]
        )
        #expect(try await bench.credentials.refreshToken == "R2")
    }

    @Test func aThrottledRefreshSignsNobodyOut() async throws {
        let throttle = ScriptedTransport.Step.status(
            429,
            ["x-rate-limit-limit": "60", "x-rate-limit-remaining": "0", "x-rate-limit-reset": "1893456010"],
            body: #"{"error":"invalid_grant","error_description":"API call exceeded rate limit"}"#
        )
        let bench = try OktaBench(
            [throttle, Self.tokens],
            credentials: Credentials(accessToken: "A0", refreshToken: "R0"),
            configuration: Self.app
        )
        let refresh = Task { try await bench.okta.refresh() }
        while !bench.events.words.contains(where: { $0.hasPrefix("wait rate_limited") }) { await Task.yield() }
        bench.clock.advance(by: .seconds(13))
        _ = try await refresh.value
        #expect(try await bench.credentials.refreshToken == "R1")
        #expect(bench.events.words.contains { $0.hasPrefix("wait rate_limited 11") })
    }

    @Test func aDeadRefreshTokenIsForgotten() async throws {
        let dead = ScriptedTransport.Step.status(
            400,
            [:],
            body: #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#
        )
        let bench = try OktaBench(
            [dead],
            credentials: Credentials(accessToken: "A0", refreshToken: "R0"),
            configuration: Self.app
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.okta.refresh() }
        }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(try await bench.credentials.refreshToken == nil)
    }

    @Test func theAccessTokenIsAskedAbout() async throws {
        let held = Credentials(accessToken: "A1", refreshToken: "R1")
        let bench = try OktaBench(
            [
                .answer(#"{"active":true,"uid":"00u1","username":"ada@example.com","exp":1893459600}"#),
                .answer(#"{"active":false}"#),
                .answer(#"{"access_token":"A2","token_type":"Bearer","expires_in":3600,"refresh_token":"R2"}"#),
                .answer(#"{"active":false}"#),
                .status(
                    400,
                    [:],
                    body: #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#
                ),
            ],
            credentials: held,
            configuration: Self.app
        )
        let session = try await bench.okta.session()
        #expect(session?.userID == "00u1")
        #expect(session?.expiresAt == Timestamp(secondsSinceEpoch: 1_893_459_600))
        // A token that is over says nothing of the one that renews it.
        #expect(try await bench.okta.session() != nil)
        let renewed = try await bench.credentials
        #expect(renewed.accessToken == "A2" && renewed.refreshToken == "R2")
        #expect(try await bench.skippingWaits { try await bench.okta.session() } == nil)
        #expect(try await bench.credentials == Credentials())
    }

    @Test func signingOutRevokesAndForgets() async throws {
        let bench = try OktaBench(
            [.status(200), .status(200)],
            credentials: Credentials(accessToken: "A1", refreshToken: "R1"),
            configuration: Self.app
        )
        try await bench.okta.signOut()
        #expect(bench.transport.received.map { $0.request.path } == ["/oauth2/v1/revoke", "/oauth2/v1/revoke"])
        #expect(try await bench.credentials == Credentials())
        let session = try OktaBench([.status(204)], credentials: Credentials(sessionID: "sid1"))
        try await session.okta.signOut()
        #expect(session.transport.received[0].request.method == .delete)
        #expect(try await session.credentials.sessionID == nil)
    }

    @Test func aSignOutThatTheServerHasNotHeardOfCanBeTriedAgain() async throws {
        let bench = try OktaBench((0..<9).map { _ in .status(500) }, credentials: Credentials(sessionID: "sid1"))
        await #expect(throws: RecoveryError.self) { try await bench.skippingWaits { try await bench.okta.signOut() } }
        #expect(try await bench.credentials.sessionID == "sid1")
    }

    @Test func anOrgsSessionIsReadAndProlonged() async throws {
        let bench = try OktaBench([.session, .session], credentials: Credentials(sessionID: "sid1"))
        #expect(try await bench.okta.session()?.login == "ada@example.com")
        #expect(try await bench.okta.refresh().status == "ACTIVE")
        #expect(bench.transport.received[1].request.path == "/api/v1/sessions/me/lifecycle/refresh")
    }

    @Test func withoutASessionNothingIsSent() async throws {
        let bench = try OktaBench([])
        #expect(try await bench.okta.session() == nil)
        let error = await #expect(throws: RecoveryError.self) { try await bench.okta.send(path: "/api/v1/users/me") }
        #expect(error?.kind == .reauthenticationRequired)
        try await bench.okta.signOut()
        #expect(bench.transport.received.isEmpty)
    }
}
