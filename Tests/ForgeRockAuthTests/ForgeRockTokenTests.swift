import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

extension ScriptedTransport.Step {
    /// The redirect with a code that answers the authorization request it gets; the code is the request's nonce.
    static let authorized = ScriptedTransport.Step.run { received in
        let form = FormFields(parsing: received.body)
        let (state, nonce) = (form["state"].last?.reveal() ?? "", form["nonce"].last?.reveal() ?? "")
        return .scripted(302, ["location": "org.app:/cb?code=\(nonce)&iss=x&state=\(state)&client_id=app"])
    }

    /// Tokens; for a code also an ID token with the nonce that the code is.
    static func tokens(_ access: String, refresh: String? = nil) -> ScriptedTransport.Step {
        .run { received in
            var more = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
            if let nonce = FormFields(parsing: received.body)["code"].last?.reveal() {
                more += #","id_token":"e30.\#(Base64.encodeForURL(#"{"nonce":"\#(nonce)"}"#.utf8)).s""#
            }
            let body = #"{"access_token":"\#(access)","token_type":"Bearer","expires_in":3600\#(more)}"#
            return .scripted(200, body: body)
        }
    }

    static func oauth(_ status: Int, _ word: String) -> ScriptedTransport.Step {
        .status(status, [:], body: #"{"error":"\#(word)"}"#)
    }
}

@Suite struct ForgeRockTokenTests {
    private func bench(
        _ steps: [ScriptedTransport.Step],
        _ credentials: Credentials = Credentials(ssoToken: "S1")
    ) throws -> ForgeRockBench {
        try ForgeRockBench(steps, credentials: credentials, oauth: ForgeRockBench.oauth)
    }

    @Test func theSessionIsExchangedForTokens() async throws {
        let bench = try bench([.authorized, .tokens("A1", refresh: "R1")])
        #expect(try await bench.forgeRock.accessToken() == "A1")
        let form = bench.form(0)
        #expect(form["decision"] == "allow" && form["csrf"] == "S1" && form["code_challenge_method"] == "S256")
        #expect(form["response_type"] == "code" && form["client_id"] == "app" && form["redirect_uri"] == "org.app:/cb")
        #expect(bench.transport.received[0].request.headerFields[.cookie] == "sso=S1")
        #expect(bench.form(1)["code"] == form["nonce"] && bench.form(1)["code_verifier"]?.isEmpty == false)
        let stored = try await bench.credentials
        #expect(stored.accessToken == "A1" && stored.refreshToken == "R1" && stored.ssoToken == "S1")
    }

    @Test func theRefreshTokenComesBeforeTheSession() async throws {
        let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S1")
        let kept = try bench([.tokens("A1")], held)
        _ = try await kept.skippingPauses { try await kept.forgeRock.refresh() }
        #expect(kept.form(0)["refresh_token"] == "R0")
        #expect(try await kept.credentials.refreshToken == "R0")
        let dead = try bench([.oauth(400, "invalid_grant"), .authorized, .tokens("A1", refresh: "R1")], held)
        _ = try await dead.skippingPauses { try await dead.forgeRock.refresh() }
        #expect(dead.transport.received.count == 3)
        #expect(try await dead.credentials.refreshToken == "R1")
    }

    @Test(arguments: [
        ScriptedTransport.Step.status(503), .status(500), .status(502, [:], body: "<html>"), .status(429),
        .oauth(400, "server_error"), .oauth(401, "invalid_client"), .oauth(400, "unauthorized_client"),
        .oauth(400, "invalid_scope"), .status(408), .fail(.connectionLost, .unknown), .status(200, [:], body: "<html>"),
        .status(200, [:], body: ""),
    ])
    func nothingThatIsNoDefiniteNoSignsAnybodyOut(step: ScriptedTransport.Step) async throws {
        let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S1")
        for before in [
            [], [ScriptedTransport.Step.oauth(400, "invalid_grant")], [.oauth(400, "invalid_grant"), .authorized],
        ] {
            let bench = try ForgeRockBench(
                before + Array(repeating: step, count: 12),
                credentials: held,
                oauth: ForgeRockBench.oauth
            )
            await #expect(throws: RecoveryError.self) {
                try await bench.skippingPauses { try await bench.forgeRock.refresh() }
            }
            // That an answer was lost is noted beside them.
            var present = try await bench.credentials
            present.renewalBeganAt = nil
            #expect(present == held)
        }
    }

    @Test func aSessionThatIsDeadTooMeansSigningIn() async throws {
        let held = Credentials(refreshToken: "R0", ssoToken: "S1")
        let steps: [[ScriptedTransport.Step]] = [
            [.error(401, "Access Denied")],
            [.status(302, ["location": "https://id.example.com/am/?goto=x"]), .error(401, "Access Denied")],
            [
                .status(302, ["location": "org.app:/cb?error=login_required&state=x"]),
                .status(200, [:], body: #"{"valid":false}"#),
            ],
        ]
        for rest in steps {
            let bench = try bench([.oauth(400, "invalid_grant")] + rest, held)
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.skippingPauses { try await bench.forgeRock.refresh() }
            }
            #expect(error?.kind == .reauthenticationRequired)
            #expect(try await bench.credentials.ssoToken == nil)
        }
        // A session that lives and is not enough stays.
        let alive = try bench(
            [.status(302, ["location": "https://id.example.com/am/?goto=x"]), .information],
            Credentials(ssoToken: "S1")
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await alive.skippingPauses { try await alive.forgeRock.refresh() }
        }
        #expect(error?.kind == .userActionRequired)
        #expect(try await alive.credentials.ssoToken == "S1")
    }

    @Test func anAnswerToAnotherRequestIsNotTaken() async throws {
        let bench = try bench([.status(302, ["location": "org.app:/cb?code=evil&state=other"])])
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.accessToken() }
        #expect(error?.outcome.code == "state_mismatch")
        #expect(bench.transport.received.count == 1)
    }

    @Test func anAccessTokenThatIsRefusedIsRenewedOnceAndTheRequestReplayedOnce() async throws {
        let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S1")
        let bench = try bench([.oauth(401, "invalid_token"), .tokens("A1"), .status(200, [:], body: "{}")], held)
        _ = try await bench.forgeRock.send(path: "/json/users/ada")
        let bearers = bench.transport.received.map { $0.request.headerFields[.authorization] }
        #expect(bearers == ["Bearer A0", nil, "Bearer A1"])
        let twice = try ForgeRockBench(
            [.oauth(401, "invalid_token"), .tokens("A1"), .oauth(401, "invalid_token")],
            credentials: held,
            oauth: ForgeRockBench.oauth
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await twice.forgeRock.send(path: "/json/users/ada")
        }
        #expect(error?.kind == .credentialRejected)
        #expect(twice.transport.received.count == 3)
    }

    @Test func aNewSessionTakesTheOldTokensWithIt() async throws {
        let held = Credentials(accessToken: "A0", refreshToken: "R0", ssoToken: "S0")
        let bench = try ForgeRockBench([.login, .success("S1")], credentials: held)
        _ = try await bench.signIn()
        #expect(try await bench.credentials == Credentials(ssoToken: "S1"))
    }

    @Test func theClaimsAreRead() async throws {
        let bench = try bench(
            [.status(200, [:], body: #"{"sub":"ada"}"#)],
            Credentials(accessToken: "A1", ssoToken: "S1")
        )
        #expect(try await bench.forgeRock.userInfo()["sub"] == "ada")
        #expect(bench.transport.received[0].request.path == "/am/oauth2/realms/root/realms/alpha/userinfo")
        #expect(bench.transport.received[0].request.headerFields[.cookie] == nil)
    }
}
