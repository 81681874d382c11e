import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Okta's ID tokens, and tokens that are bound to a key")
struct OktaIDTokenTests {
    private static func configuration(
        _ app: OktaApp = OktaApp(clientID: "0oa1", redirectURI: "com.example:/callback")
    ) -> OktaConfiguration {
        OktaConfiguration(app: app)
    }

    private static func jwt(_ claims: String) -> String { "e30.\(Base64.encodeForURL(claims.utf8)).s" }

    /// An authorization endpoint whose code is the nonce, so that the token endpoint knows it.
    private static let redirect = ScriptedTransport.Step.run { received in
        let query = FormFields(parsing: (received.request.path ?? "").utf8.drop { $0 != 0x3F }.dropFirst())
        let (state, nonce) = (query["state"].first?.reveal() ?? "", query["nonce"].first?.reveal() ?? "")
        return .scripted(302, ["location": "com.example:/callback?code=\(nonce)&state=\(state)"])
    }

    private static let good = #""iss":"https://example.okta.com","aud":"0oa1""#
    private static let now = ManualClock().timeSource().wallTime.secondsSinceEpoch

    /// A token endpoint whose ID token claims these beside the nonce of the request, or another one.
    private static func tokens(
        _ claims: String = good,
        type: String = "Bearer",
        nonce other: String? = nil,
        times: String = #""auth_time":7,"iat":8,"exp":4102444800"#
    ) -> ScriptedTransport.Step {
        .run { received in
            let nonce = other ?? FormFields(parsing: received.body)["code"].last?.reveal() ?? ""
            let token = jwt(
                #"{"sub":"00u1","name":"Ada","email":"ada@example.com","preferred_username":"ada","amr":["pwd","mfa"],"acr":"2",\#(times),"nonce":"\#(nonce)",\#(claims)}"#
            )
            return .scripted(
                200,
                body:
                    #"{"access_token":"A1","refresh_token":"R1","expires_in":3600,"token_type":"\#(type)","id_token":"\#(token)"}"#
            )
        }
    }

    @Test func itIsKeptAndSaysWhoHasSignedIn() async throws {
        let bench = try OktaBench([.success(), Self.redirect, Self.tokens()], configuration: Self.configuration())
        let session = try await bench.signIn()
        let token = try #require(session.idToken)
        #expect(token.subject == "00u1" && token.name == "Ada" && token.email == "ada@example.com")
        #expect(token.login == "ada" && token.methods == ["pwd", "mfa"] && token.level == "2")
        #expect(token.authenticatedAt == Timestamp(secondsSinceEpoch: 7))
        #expect(token.issuedAt == Timestamp(secondsSinceEpoch: 8))
        #expect(token.expiresAt == Timestamp(secondsSinceEpoch: 4_102_444_800))
        #expect(token.claims["acr"] == "2" && !"\(token)".contains("Ada"))
        let held = try await bench.credentials
        #expect(held.others == [JSONValue.Member("id_token", .string(token.token.reveal()))])
        let again = try OktaBench(
            [.answer(#"{"active":true,"sub":"ada","uid":"00u1"}"#)],
            credentials: held,
            configuration: Self.configuration()
        )
        #expect(try await again.okta.session()?.idToken == token)
    }

    /// Somebody else's token, or one for another app, signs nobody in, and nothing is stored.
    @Test(arguments: [
        (#""iss":"https://evil.example","aud":"0oa1""#, "issuer_mismatch"), (#""aud":"0oa1""#, "issuer_mismatch"),
        (#""iss":"https://example.okta.com","aud":"other""#, "audience_mismatch"),
        (#""iss":"https://example.okta.com","aud":["other"]"#, "audience_mismatch"),
        (#""iss":"https://example.okta.com""#, "audience_mismatch"),
    ])
    func anotherTokenIsRefused(claims: String, code: String) async throws {
        let bench = try OktaBench(
            [.success(), Self.redirect, Self.tokens(claims)],
            configuration: Self.configuration()
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .invalidRequest && error?.outcome.code == code)
        #expect(try await bench.credentials == Credentials())
        #expect(bench.sent.filter { $0.hasPrefix("/authn ") }.count == 1)
    }

    /// One that was issued for another request signs nobody in.
    @Test(arguments: ["", "n-of-another-request"])
    func aTokenForAnotherRequestIsRefused(nonce: String) async throws {
        let bench = try OktaBench(
            [.success(), Self.redirect, Self.tokens(nonce: nonce)],
            configuration: Self.configuration()
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .invalidRequest && error?.outcome.code == "nonce_mismatch")
        #expect(try await bench.credentials == Credentials())
    }

    /// One that has ended, or that proves somebody of too long ago where that was asked, signs nobody in; a minute is left to
    /// clocks.
    @Test(
        arguments: [
            (#""auth_time":\#(now - 400),"exp":\#(now + 1)"#, nil, nil),
            (#""exp":\#(now - 59)"#, nil, nil), (#""exp":\#(now - 60)"#, nil, "expiry_mismatch"),
            (#""iat":8"#, nil, "expiry_mismatch"), (#""exp":{}"#, nil, "expiry_mismatch"),
            (#""auth_time":\#(now - 360),"exp":\#(now + 1)"#, 300, nil),
            (#""auth_time":\#(now - 361),"exp":\#(now + 1)"#, 300, "auth_time_mismatch"),
            (#""exp":\#(now + 1)"#, 300, "auth_time_mismatch"),
            (#""auth_time":\#(now + 1),"exp":\#(now + 1),"azp":"0oa2""#, 0, "audience_mismatch"),
        ] as [(String, Int64?, String?)]
    )
    func aTokenOfAnotherTimeIsRefused(times: String, maxAge: Int64?, code: String?) async throws {
        var app = OktaApp(clientID: "0oa1", redirectURI: "com.example:/callback")
        app.assurance.maxAge = maxAge.map { .seconds($0) }
        let bench = try OktaBench(
            [.success(), Self.redirect, Self.tokens(times: times)],
            configuration: Self.configuration(app)
        )
        guard let code else {
            #expect(try await bench.signIn().idToken != nil)
            return
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .invalidRequest && error?.outcome.code == code)
        #expect(try await bench.credentials == Credentials())
    }

    @Test func anIssuerBehindAnotherDomainIsNamed() async throws {
        var app = OktaApp(clientID: "0oa1", redirectURI: "com.example:/callback")
        app.issuer = "https://org.okta.com/oauth2/x"
        let claims = #""iss":"https://org.okta.com/oauth2/x","aud":["0oa1","api"]"#
        let bench = try OktaBench(
            [.success(), Self.redirect, Self.tokens(claims)],
            configuration: Self.configuration(app)
        )
        #expect(try await bench.signIn().idToken != nil)
    }

    /// The keys are fetched once, and again for a token that none of them has signed.
    @Test func itsSignatureIsVerifiedWithTheServersKeys() async throws {
        struct Verifier: OAuthClient.SignatureVerifier {
            let key: String

            func isSigned(_ token: Secret, withOneOf keys: JSONValue) -> Bool {
                keys["keys"]?.array?.contains { $0["kid"]?.string == key } == true
            }
        }
        let keys = ScriptedTransport.Step.answer(#"{"keys":[{"kid":"k1"}]}"#)
        func app(_ key: String) -> OktaConfiguration {
            Self.configuration(
                OktaApp(clientID: "0oa1", redirectURI: "com.example:/callback", signatures: Verifier(key: key))
            )
        }
        let bench = try OktaBench(
            [.success(), Self.redirect, Self.tokens(), keys, .success("20111b"), Self.redirect, Self.tokens()],
            configuration: app("k1")
        )
        _ = try await bench.skippingWaits {
            try await bench.okta.signIn(identifier: "ada", password: "hunter2", answering: Person())
        }
        _ = try await bench.skippingWaits {
            try await bench.okta.signIn(identifier: "ada", password: "hunter2", answering: Person())
        }
        let paths = bench.transport.received.compactMap(\.request.path)
        #expect(paths.filter { $0 == "/oauth2/v1/keys" }.count == 1)
        let refused = try OktaBench([.success(), Self.redirect, Self.tokens(), keys], configuration: app("k2"))
        let error = await #expect(throws: RecoveryError.self) { try await refused.signIn() }
        #expect(error?.outcome.code == "signature_mismatch")
        #expect(try await refused.credentials == Credentials())
    }

    @Test(arguments: [ScriptedTransport.Step.status(302, ["location": "/"]), .status(400), .status(502)])
    func itIsTheHintAtSigningOut(answer: ScriptedTransport.Step) async throws {
        let token = Self.jwt(#"{"sub":"00u1"}"#)
        let held = Credentials(
            accessToken: "A1",
            refreshToken: "R1",
            others: [.init("id_token", .string(token)), .init("kept", true)]
        )
        let bench = try OktaBench(
            [.status(200), .status(200), answer],
            credentials: held,
            configuration: Self.configuration()
        )
        let url = try await bench.okta.endSessionURL(redirectURI: "https://app.test/bye", state: "s")
        #expect(
            url?.reveal()
                == "https://example.okta.com/oauth2/v1/logout?id_token_hint=\(token)&post_logout_redirect_uri=https%3A%2F%2Fapp.test%2Fbye&state=s"
        )
        try await bench.skippingWaits { _ = try await bench.okta.signOut() }
        #expect(bench.transport.received[2].request.path == "/oauth2/v1/logout?id_token_hint=\(token)")
        #expect(try await bench.credentials.others == [.init("kept", true)])
        #expect(try await bench.okta.endSessionURL() == nil)
    }

    /// What the browser would show there is no answer of an API's: nobody who watches is told of a failure.
    @Test(
        arguments: [
            ("<!DOCTYPE html><html></html>", 200, [:]), ("", 200, [:]), ("", 204, [:]),
            ("", 302, ["location": "https://example.okta.com/login/login.htm"]),
        ] as [(String, Int, [String: String])]
    )
    func aPageAtTheEndIsNoFailure(body: String, status: Int, fields: [String: String]) async throws {
        let token = Self.jwt(#"{"sub":"00u1"}"#)
        let held = Credentials(accessToken: "A1", others: [.init("id_token", .string(token))])
        let bench = try OktaBench(
            [.status(200), .status(status, fields, body: body)],
            credentials: held,
            configuration: Self.configuration()
        )
        try await bench.skippingWaits { _ = try await bench.okta.signOut() }
        #expect(
            bench.transport.received.count == 2 && bench.transport.received[1].request.path?.contains("logout") == true
        )
        #expect(
            !bench.events.words.contains { $0.contains("unreadable") || $0.contains("giving") },
            "\(bench.events.words)"
        )
        #expect(try await bench.credentials == Credentials())
    }

    // MARK: Proofs of possession

    private struct Prover: DPoPAuthorization.Prover {
        let thumbprint = "t"

        func proof(_ claims: DPoPAuthorization.Claims) async throws -> Secret {
            Secret("\(claims.method) \(claims.url) \(claims.nonce ?? "-")")
        }
    }

    @Test func tokensAreBoundToAKeyFromTheTokenEndpointOn() async throws {
        let app = OktaApp(
            clientID: "0oa1",
            redirectURI: "com.example:/callback",
            dpop: DPoPAuthorization.Binding(Prover())
        )
        let wantsNonce = ScriptedTransport.Step.status(
            400,
            ["dpop-nonce": "n1"],
            body:
                #"{"error":"use_dpop_nonce","error_description":"Authorization server requires nonce in DPoP proof."}"#
        )
        let bench = try OktaBench(
            [.success(), Self.redirect, wantsNonce, Self.tokens(type: "DPoP"), .answer("{}")],
            configuration: Self.configuration(app)
        )
        _ = try await bench.skippingWaits {
            try await bench.okta.signIn(identifier: "ada", password: "hunter2", answering: Person())
        }
        _ = try await bench.okta.send(path: "/api/v1/users/me", headerFields: [.acceptLanguage: "de"], body: nil)
        let name = try #require(HTTPField.Name("DPoP"))
        let proofs = bench.transport.received.map { $0.request.headerFields[name] }
        #expect(
            proofs == [
                nil, nil, "POST https://example.okta.com/oauth2/v1/token -",
                "POST https://example.okta.com/oauth2/v1/token n1", "GET https://example.okta.com/api/v1/users/me n1",
            ]
        )
        #expect(bench.transport.received[4].request.headerFields[.authorization] == "DPoP A1")
    }

    @Test func aRequestCarriesABodyAndFieldsOfItsOwn() async throws {
        let bench = try OktaBench(
            [.answer("{}")],
            credentials: Credentials(accessToken: "A1"),
            configuration: Self.configuration()
        )
        _ = try await bench.okta.send(
            .put,
            path: "/idp/myaccount/profile",
            headerFields: [.ifMatch: "1"],
            body: .json(["nickName": "Ada"])
        )
        let request = try #require(bench.transport.received.first)
        #expect(request.text == #"{"nickName":"Ada"}"# && request.request.headerFields[.ifMatch] == "1")
        #expect(request.request.headerFields[.contentType] == "application/json")
    }

    /// The device is remembered with the factor that was verified, if the app wants that.
    @Test(arguments: [(Bool?.none, ""), (true, "?rememberDevice=true"), (false, "?rememberDevice=false")])
    func aDeviceIsRemembered(remembers: Bool?, query: String) async throws {
        let bench = try OktaBench(
            [.required(OktaJSON.factor("token:software:totp")), .success(), .session],
            configuration: OktaConfiguration(remembersDevice: remembers, deviceToken: "dt")
        )
        _ = try await bench.signIn("hunter2", Person([.totp: "1"]))
        #expect(bench.sent[1] == "/authn/factors/f1/verify\(query) {passCode:1}")
    }
}
