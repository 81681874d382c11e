import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("OAuth: faults and the log")
struct OAuthFaultTests {
    private func struck(_ json: String) throws -> (OAuthHarness, refresh: String) {
        var client = OAuthHarness()
        let first = client.issue()
        client.base.world.faults.add(try SandboxFault(json: json))
        client.refresh(first.refresh)
        return (client, first.refresh)
    }

    @Test(arguments: [
        (#"{"kind": "status"}"#, 503, "temporarily_unavailable"),
        (#"{"kind": "status", "status": 500}"#, 500, "server_error"),
        (#"{"kind": "status", "status": 400, "code": "temporarily_unavailable"}"#, 400, "temporarily_unavailable"),
        (#"{"kind": "status", "status": 429, "code": "invalid_grant"}"#, 429, "invalid_grant"),
        (#"{"kind": "status", "status": 429}"#, 429, "temporarily_unavailable"),
        (#"{"kind": "status", "status": 401}"#, 401, "invalid_client"),
        (#"{"kind": "status", "status": 403, "code": "mfa_required"}"#, 403, "mfa_required"),
        (#"{"kind": "envelope", "code": "invalid_grant"}"#, 400, "invalid_grant"),
        (#"{"kind": "envelope", "envelope": "C", "status": 400}"#, 400, "invalid_grant"),
        (#"{"kind": "status", "status": 500, "processed": true}"#, 500, "server_error"),
    ])
    func errorsLookAsTheyShould(json: String, status: Int, code: String) throws {
        let (client, _) = try struck(json)
        #expect(client.status == status && client.error == code)
        #expect(client.base.answer.jsonBody?["error_description"]?.string != nil)
        #expect(client.base.world.log.records.last?.errorCode == code)
        #expect((client.challenge != nil) == (status == 401))
        #expect(client.counters.refreshes == (json.contains("processed") ? 1 : 0))
    }

    @Test(arguments: [
        ("reset_before", SandboxReply.Delivery.reset, 0), ("reset_after", .reset, 1), ("hang", .hang, 0),
        ("truncate", .truncated(reset: false), 1), ("close_after", .close, 1), ("html", .whole, 0),
        ("empty", .whole, 0),
    ])
    func aLostAnswerMayHaveRotated(kind: String, delivery: SandboxReply.Delivery, refreshes: Int64) throws {
        var (client, refresh) = try struck(#"{"kind": "\#(kind)"}"#)
        #expect(client.base.reply.delivery == delivery && client.counters.refreshes == refreshes)
        if kind == "html" { #expect(client.status == 502 && client.error == nil) }
        if kind == "empty" { #expect(client.status == 500 && client.answer.body.isEmpty) }
        // Inside the grace the old token gets what was lost.
        client.refresh(refresh)
        #expect(client.status == 200 && client.counters.graceReuses == refreshes)
    }

    @Test func afterARotationThatNobodySawTheGraceRunsOut() throws {
        var (client, refresh) = try struck(#"{"kind": "status", "status": 500, "processed": true}"#)
        client.advance(seconds: 30)
        client.refresh(refresh)
        #expect(client.error == "invalid_grant" && client.counters.violations == 1)
    }

    @Test func theOtherEnvelope() throws {
        let (client, _) = try struck(#"{"kind": "envelope", "envelope": "okta", "status": 429, "code": "E0000047"}"#)
        #expect(client.status == 429 && client.base.answer.jsonBody?["errorCode"] == "E0000047")
    }

    @Test(
        arguments: [(401, "invalid_token", "Bearer"), (403, "insufficient_scope", "Bearer"), (503, nil, nil)]
            as [(
                Int, String?, String?
            )]
    )
    func resourcesFailByTheirChallenge(status: Int, code: String?, scheme: String?) throws {
        var client = OAuthHarness()
        let token = client.issue().access
        client.base.world.faults.add(
            try SandboxFault(json: #"{"kind": "status", "status": \#(status), "match": {"path": "/api"}}"#)
        )
        client.get(token: token)
        #expect(client.status == status)
        #expect(client.challenge?.contains("error=\"\(code ?? "")\"") == (code == nil ? nil : true))
        #expect(client.challenge?.hasPrefix(scheme ?? "") == (scheme == nil ? nil : true))
        #expect(client.error == (status == 503 ? "temporarily_unavailable" : nil))
        client.get(token: token)
        #expect(client.status == 200)
    }

    @Test func faultsCanBeMeantForOneGrant() throws {
        var client = OAuthHarness()
        let first = client.issue()
        client.control(
            "POST",
            "faults",
            #"{"kind": "status", "status": 429, "match": {"path": "/oauth/token", "grant": "refresh_token"}}"#
        )
        #expect(client.control("GET", "faults")["faults"]?[0]?["match"]?["grant"] == "refresh_token")
        client.post(
            "/oauth/token",
            ["grant_type": "client_credentials", "client_id": "service", "client_secret": "service-secret"]
        )
        #expect(client.status == 200)
        client.refresh(first.refresh)
        #expect(client.status == 429)
        client.control("POST", "faults", #"{"kind": "status", "match": {"grant": "magic"}}"#)
        #expect(client.status == 400)
    }

    @Test func theLogTellsGrantsApartWithoutTokens() {
        var client = OAuthHarness()
        let first = client.issue()
        let second = client.refresh(first.refresh)
        client.post(
            "/oauth2/v1/token",
            ["grant_type": OAuthGrantType.deviceCode.wireName, "client_id": "cli", "device_code": "dc_secret"]
        )
        client.post("/oauth/token", ["grant_type": "magic", "client_id": "cli", "code": "ac_secret"])
        client.get(token: second["access_token"]?.string)
        client.post("/oauth/revoke", ["client_id": "cli", "token": first.access])
        let view = client.control("GET", "requests")
        let grants = view["requests"]?.array?.map { $0["grant"]?.string }
        #expect(grants == ["refresh_token", "device_code", "unsupported", nil, nil])
        #expect(client.control("GET", "requests?grant=refresh_token")["matching"] == 1)
        for secret in [first.access, first.refresh, second["access_token"]?.string, "dc_secret", "ac_secret"] {
            #expect(!view.text.contains(secret ?? "?"))
        }
        #expect(view.text.contains("grant_type=refresh_token") && view.text.contains("client_id=cli"))
    }

    @Test func theSameSeedMakesTheSameTokensWhateverElseIsAsked() {
        var one = OAuthHarness()
        var other = OAuthHarness()
        other.base.signIn("ada@example.com")
        let tokens = one.issue()
        #expect(other.issue() == tokens)
        one.control("POST", "reset")
        #expect(one.counters == SandboxOAuthCounters())
        #expect(one.issue() == tokens)
        one.control("POST", "oauth/issue", #"{"user": "nobody"}"#)
        #expect(one.status == 404)
        one.control("POST", "oauth/issue", #"{"user": "ada@example.com", "client": "nobody"}"#)
        #expect(one.status == 404)
        one.control("POST", "oauth/revoke", #"{"family": "fam_99"}"#)
        #expect(one.status == 404)
        one.control("POST", "oauth/nothing")
        #expect(one.status == 404)
    }

    @Test func fromInsideATest() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited, providers: [.oauth])
        defer { sandbox.stop() }
        let tokens = try sandbox.issueTokens(for: "ada@example.com", lifetime: .seconds(5))
        let refresh = try #require(tokens.refreshToken)
        let socket = try #require(RawSocket(port: sandbox.port))
        func call() -> Int? {
            socket.request(
                "POST",
                "/oauth/token",
                form: "grant_type=refresh_token&client_id=cli&refresh_token=\(refresh)"
            )
            return socket.readAnswer()?.status
        }
        #expect(call() == 200)
        sandbox.advanceClock(by: .seconds(30))
        #expect(call() == 400)
        #expect(sandbox.oauthCounters().violations == 1 && sandbox.oauthCounters(of: "service").violations == 0)
        #expect(sandbox.requests().map(\.grant) == ["refresh_token", "refresh_token"])
        _ = try sandbox.issueTokens(for: "grace@example.com")
        #expect(try sandbox.revokeTokens(of: "grace@example.com", accessOnly: true) == (0, 1))
        #expect(try sandbox.revokeTokens() == (1, 0))
        socket.request("POST", "/oauth/device", form: "client_id=cli")
        #expect(socket.readAnswer()?.status == 200)
        #expect(throws: SandboxError.self) { try sandbox.approveDevice("XXXX-XXXX", as: "ada@example.com") }
        try sandbox.approveDevice(as: "ada@example.com")
        #expect(throws: SandboxError.self) { try sandbox.denyDevice() }
        #expect(throws: SandboxError.self) { try sandbox.issueTokens(for: "nobody") }
        sandbox.reset()
        #expect(sandbox.oauthCounters() == SandboxOAuthCounters())
    }
}
