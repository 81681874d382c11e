import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("OAuth: refreshing, rotation and reuse")
struct OAuthRefreshTests {
    @Test func theAnswerIsWhole() {
        var client = OAuthHarness()
        let first = client.issue()
        let body = client.refresh(first.refresh)
        #expect(client.status == 200 && client.answer.header("Cache-Control") == "no-store")
        #expect(body["token_type"] == "Bearer" && body["expires_in"] == 3600)
        #expect(body["scope"] == "openid profile email offline_access")
        #expect(body["access_token"]?.string != first.access && body["refresh_token"]?.string != first.refresh)
        let id = OAuthJWT(body["id_token"]?.string ?? "")
        #expect(id?.claims["iss"] == "http://127.0.0.1:9999" && id?.claims["aud"] == "cli")
        #expect(client.get(token: body["access_token"]?.string)["username"] == "ada@example.com")
        // The access token before it is good as long as it was promised to be.
        #expect(client.get(token: first.access)["request"] == 2)
    }

    @Test(arguments: [(0.0, true), (29.999, true), (30.0, false), (31.0, false)])
    func insideTheGraceAReplacedTokenIsTaken(seconds: Double, isTaken: Bool) {
        var client = OAuthHarness()
        let first = client.issue()
        let second = client.refresh(first.refresh)
        client.advance(seconds: seconds)
        let again = client.refresh(first.refresh)
        let newest = second["refresh_token"]?.string ?? ""
        if isTaken {
            #expect(again["refresh_token"]?.string == newest)
            #expect(again["access_token"] != nil && again["access_token"] != second["access_token"])
            #expect(client.counters.graceReuses == 1 && client.counters.violations == 0)
            #expect(client.counters.refreshes == 1)
            client.refresh(newest)
            #expect(client.status == 200)
        } else {
            #expect(client.status == 400 && client.error == "invalid_grant")
            #expect(client.counters.violations == 1 && client.counters.familiesRevoked == 1)
            #expect(client.counters.graceReuses == 0)
            // The newest refresh token and every access token since the sign-in are dead.
            client.refresh(newest)
            #expect(client.error == "invalid_grant")
            for token in [first.access, second["access_token"]?.string] {
                client.get(token: token)
                #expect(client.status == 401 && client.challenge?.contains(#"error="invalid_token""#) == true)
            }
        }
    }

    @Test func noGraceAtAll() {
        var client = OAuthHarness { $0.grace = 0 }
        let first = client.issue()
        client.refresh(first.refresh)
        client.refresh(first.refresh)
        #expect(client.error == "invalid_grant" && client.counters.violations == 1)
    }

    @Test func insideTheGraceTheNewestIsTold() {
        var client = OAuthHarness()
        let first = client.issue()
        let second = client.refresh(first.refresh)["refresh_token"]?.string ?? ""
        let third = client.refresh(second)["refresh_token"]?.string ?? ""
        #expect(client.refresh(first.refresh)["refresh_token"]?.string == third)
        #expect(client.counters.refreshes == 2 && client.counters.graceReuses == 1)
    }

    @Test func insideTheGraceANewOneMayBeMade() {
        var client = OAuthHarness { $0.graceAnswer = "new" }
        let first = client.issue()
        let second = client.refresh(first.refresh)["refresh_token"]?.string ?? ""
        client.advance(seconds: 10)
        let third = client.refresh(first.refresh)["refresh_token"]?.string ?? ""
        #expect(third != second)
        // The former successor has a grace of its own.
        client.advance(seconds: 29)
        client.refresh(second)
        #expect(client.status == 200)
        client.advance(seconds: 1)
        client.refresh(second)
        #expect(client.error == "invalid_grant" && client.counters.violations == 1)
    }

    @Test(
        arguments: [
            ("rotating", nil, "another"), ("rotating", true, "another"), ("rotating", false, "none"),
            ("persistent", nil, "none"), ("persistent", true, "same"), ("persistent", false, "none"),
        ] as [(String, Bool?, String)]
    )
    func whatARefreshCarries(rotation: String, returns: Bool?, carries: String) {
        var client = OAuthHarness {
            $0.rotation = rotation
            $0.returnsRefreshToken = returns
        }
        let first = client.issue()
        let body = client.refresh(first.refresh)
        switch carries {
        case "none": #expect(body["refresh_token"] == nil)
        case "same": #expect(body["refresh_token"]?.string == first.refresh)
        default: #expect(body["refresh_token"] != nil && body["refresh_token"]?.string != first.refresh)
        }
        client.advance(seconds: 100)
        client.refresh(first.refresh)
        #expect(client.status == (carries == "another" ? 400 : 200))
        #expect(client.counters.violations == (carries == "another" ? 1 : 0))
    }

    @Test func lifetimes() {
        var client = OAuthHarness {
            $0.accessLifetime = 1500
            $0.refreshLifetime = 100_000
            $0.refreshIdle = 40_000
        }
        let first = client.issue()
        client.advance(seconds: 1.4)
        client.get(token: first.access)
        #expect(client.status == 200)
        client.advance(seconds: 0.1)
        client.get(token: first.access)
        #expect(client.status == 401)
        // Each use counts from anew, but never past the end that the sign-in set.
        var token = first.refresh
        for _ in 0..<2 {
            client.advance(seconds: 38)
            let body = client.refresh(token)
            #expect(body["expires_in"] == 1)
            token = body["refresh_token"]?.string ?? ""
        }
        client.advance(seconds: 22.5)
        client.refresh(token)
        #expect(client.error == "invalid_grant" && client.counters.violations == 0)
        let idle = client.issue()
        client.advance(seconds: 40)
        client.refresh(idle.refresh)
        #expect(client.error == "invalid_grant")
    }

    @Test func persistentTokensStayGoodByUse() {
        var client = OAuthHarness {
            $0.rotation = "persistent"
            $0.refreshIdle = 40_000
        }
        let first = client.issue()
        for _ in 0..<4 {
            client.advance(seconds: 39)
            client.refresh(first.refresh)
            #expect(client.status == 200)
        }
        client.advance(seconds: 40)
        client.refresh(first.refresh)
        #expect(client.error == "invalid_grant")
    }

    @Test func anotherClientsTokenIsNone() {
        var client = OAuthHarness()
        let first = client.issue(#", "client": "service""#)
        client.refresh(first.refresh)
        #expect(client.error == "invalid_grant")
        client.refresh("rt_unknown")
        #expect(client.error == "invalid_grant" && client.counters.violations == 0)
        let body = client.base.answer.jsonBody
        #expect(body?["error_description"] == "The refresh token is invalid or expired.")
    }

    @Test func theScopeCanBeNarrowedButNotWidened() {
        var client = OAuthHarness()
        let first = client.issue(#", "scope": "a b""#)
        let form: KeyValuePairs = [
            "grant_type": "refresh_token", "client_id": "cli", "refresh_token": first.refresh, "scope": "b",
        ]
        let body = client.post("/oauth/token", form)
        #expect(body["scope"] == "b" && body["id_token"] == nil)
        client.post(
            "/oauth/token",
            [
                "grant_type": "refresh_token", "client_id": "cli",
                "refresh_token": body["refresh_token"]?.string ?? "", "scope": "a b c",
            ]
        )
        #expect(client.error == "invalid_scope" && client.counters.refreshes == 1)
    }

    @Test func accessTokensCanBeEndedAlone() {
        var client = OAuthHarness()
        let first = client.issue()
        let ended = client.control("POST", "oauth/revoke", #"{"what": "access", "user": "ada@example.com"}"#)
        #expect(ended["access_tokens_revoked"] == 1 && ended["families_revoked"] == 0)
        client.get(token: first.access)
        #expect(client.status == 401)
        let body = client.refresh(first.refresh)
        client.get(token: body["access_token"]?.string)
        #expect(client.status == 200)
        client.control("POST", "oauth/revoke", #"{"family": "\#(first.family)"}"#)
        client.refresh(body["refresh_token"]?.string ?? "")
        #expect(client.error == "invalid_grant" && client.counters.familiesRevoked == 1)
        #expect(client.counters.violations == 0)
    }

    @Test func somebodyWhoIsBannedCannotRefresh() {
        var client = OAuthHarness()
        let first = client.issue()
        client.control("POST", "users", #"{"emails": "ada@example.com", "state": "banned"}"#)
        client.refresh(first.refresh)
        #expect(client.error == "invalid_grant")
        client.control("POST", "oauth/issue", #"{"user": "ada@example.com"}"#)
        #expect(client.status == 400)
    }

    @Test func theViewTellsOfFamiliesWithoutTokens() {
        var client = OAuthHarness()
        let first = client.issue()
        _ = client.issue(#", "client": "service""#)
        let second = client.refresh(first.refresh)
        client.refresh(first.refresh)
        client.advance(seconds: 31)
        client.refresh(first.refresh)
        let view = client.control("GET", "oauth")
        let family = view["families"]?[0]
        #expect(family?["family"]?.string == first.family && family?["revoked_by"] == "reuse")
        #expect(family?["generation"] == 2 && family?["live_access_tokens"] == 0)
        #expect(
            family?["counters"]
                == ["sign_ins": 1, "refreshes": 1, "grace_reuses": 1, "violations": 1, "families_revoked": 1]
        )
        #expect(view["families"]?[1]?["live_access_tokens"] == 1)
        #expect(view["counters"]?["sign_ins"] == 2 && view["clients"]?[0]?["counters"]?["violations"] == 1)
        let newest = second["refresh_token"]?.string ?? ""
        #expect(family?["refresh_token"]?.string == Masking.fingerprint(newest))
        #expect(!view.text.contains(newest) && !view.text.contains(first.access))
    }

    @Test func rememberingIsBounded() throws {
        var client = OAuthHarness { $0.accessLifetime = 0 }
        var token = client.issue().refresh
        var answers: [String] = []
        let now = client.base.now
        try client.base.world.with(OAuthWorld.self) { world, context throws(SandboxError) in
            for number in 0..<(OAuthWorld.capacity + 50) {
                context.now = now + Int64(number)
                let route = OAuthRoute(endpoint: .token, base: "")
                let exchange = OAuthExchange(
                    SandboxRequest(method: "POST", target: "/"),
                    route: route,
                    context: context
                )
                token = world.issueRefreshToken(family: 1, exchange) ?? ""
                if number % 5000 == 0 { answers.append(token) }
            }
        }
        client.advance(seconds: 25)
        client.get(token: nil)
        #expect(client.base.world.oauth.refreshTokens.count <= OAuthWorld.capacity)
        // The newest is still good, and the oldest forgotten.
        client.refresh(answers[0])
        #expect(client.error == "invalid_grant" && client.counters.violations == 0)
        client.refresh(token)
        #expect(client.status == 200)
    }
}
