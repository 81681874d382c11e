import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Clerk: clients, sessions and tokens")
struct ClerkSessionTests {
    private func signedIn(_ settings: (inout SandboxSettings) -> Void = { _ in }) -> (Harness, session: String) {
        var client = Harness { settings(&$0) }
        let session = client.signIn("ada@example.com")["created_session_id"]?.string ?? ""
        return (client, session)
    }

    @Test func aClientIsMadeOnceAndDropped() {
        var client = Harness()
        #expect(client.call("GET", "client") == ["response": .null, "client": .null])
        let id = client.call("PUT", "client")["response"]?["id"]
        #expect(id != nil && client.token != nil)
        #expect(client.call("POST", "client")["response"]?["id"] == id)
        #expect(client.answer.header("Authorization") == nil)
        client.call("DELETE", "client")
        #expect(client.status == 200 && client.answer.header("Authorization") == "")
        client.call("DELETE", "client")
        #expect(client.status == 404 && client.code == "resource_not_found")
    }

    @Test func tokensAreBareAndLiveAMinute() {
        var (client, session) = signedIn()
        let token = client.call("POST", "client/sessions/\(session)/tokens")
        #expect(token["object"] == "token" && token["client"] == nil)
        let jwt = token["jwt"]?.string ?? ""
        let claims = client.world.clerk.claims(of: jwt)
        #expect(claims?["sid"]?.string == session && claims?["sub"]?.string?.hasPrefix("user_") == true)
        #expect((claims?["exp"]?.int ?? 0) - (claims?["iat"]?.int ?? 0) == 60)
        #expect(client.world.clerk.claims(of: jwt + "x") == nil)
        #expect(client.call("POST", "client/sessions/\(session)/tokens")["jwt"]?.string != jwt)
        let custom = client.call("POST", "client/sessions/\(session)/tokens/hasura")["jwt"]?.string ?? ""
        #expect(client.world.clerk.claims(of: custom)?["template"] == "hasura")
    }

    @Test func meByClientTokenAndBySessionToken() {
        var (client, session) = signedIn()
        let jwt = client.call("POST", "client/sessions/\(session)/tokens")["jwt"]?.string ?? ""
        #expect(client.call("GET", "me?_clerk_session_id=\(session)")["response"]?["first_name"] == "Ada")
        let clientToken = client.token
        client.token = "Bearer \(jwt)"
        #expect(client.call("GET", "me")["response"]?["first_name"] == "Ada")
        client.advance(seconds: 60)
        client.call("GET", "me")
        #expect(client.status == 401 && client.code == "authentication_invalid")
        client.token = clientToken
        client.call("GET", "me")
        #expect(client.status == 200)
        client.token = nil
        client.call("GET", "me")
        #expect(client.status == 401 && client.code == "signed_out")
    }

    @Test(arguments: [
        ("authentication_invalid", 401, "authentication_invalid"), ("signed_out", 401, "signed_out"),
        ("resource_not_found", 404, "resource_not_found"), ("session_status", 401, "session_revoked"),
    ])
    func aSessionEndedFromAfar(setting: String, status: Int, code: String) {
        var (client, session) = signedIn { $0.endedSessionCode = setting }
        #expect(client.control("POST", "revoke", #"{"user": "ada@example.com"}"#)["ended"]?[0]?.string == session)
        client.call("POST", "client/sessions/\(session)/tokens")
        #expect(client.status == status && client.code == code)
        #expect(client.call("GET", "client")["response"]?["sessions"] == [])
        // The client and its token live on.
        #expect(client.signIn("ada@example.com")["status"] == "complete")
    }

    @Test func anAnswerForOneSession() {
        var (client, session) = signedIn()
        client.control(
            "POST",
            "revoke",
            #"{"session": "\#(session)", "status": "replaced", "answer": "session_status"}"#
        )
        client.call("POST", "client/sessions/\(session)/touch")
        #expect(client.status == 401 && client.code == "session_replaced")
    }

    @Test func sessionsExpire() {
        var (client, session) = signedIn {
            $0.sessionLife = 100_000
            $0.endedSessionCode = "session_status"
        }
        client.advance(seconds: 99)
        client.call("POST", "client/sessions/\(session)/tokens")
        #expect(client.status == 200)
        client.advance(seconds: 1)
        client.call("POST", "client/sessions/\(session)/tokens")
        #expect(client.status == 401 && client.code == "session_expired")
        #expect(client.call("GET", "client")["response"]?["last_active_session_id"] == .null)
    }

    @Test func theLastTokenIsMadeAnewWhenTheClientIsRead() {
        var (client, _) = signedIn()
        func last(_ client: inout Harness) -> JSONValue? {
            client.call("GET", "client")["response"]?["sessions"]?[0]?["last_active_token"]?["jwt"]
        }
        let first = last(&client)
        #expect(last(&client) == first)
        client.advance(seconds: 60)
        #expect(last(&client) != first)
    }

    @Test func touchingWithIntents() {
        var (client, session) = signedIn()
        #expect(client.call("POST", "client/sessions/\(session)/touch", ["intent": "focus"])["client"] == .null)
        #expect(
            client.call("POST", "client/sessions/\(session)/touch", ["active_organization_id": ""])["client"]?["id"]
                != nil
        )
        client.call("POST", "client/sessions/\(session)/touch", ["intent": "dance"])
        #expect(client.status == 422 && client.parameter == "intent")
        client.call("POST", "client/sessions/\(session)/touch", ["active_organization_id": "org_x"])
        #expect(client.status == 404)
    }

    @Test(arguments: [("end", "ended"), ("remove", "removed")])
    func endingOne(verb: String, status: String) {
        var (client, session) = signedIn()
        let body = client.call("POST", "client/sessions/\(session)/\(verb)")
        #expect(body["response"]?["status"]?.string == status && body["client"]?["sessions"] == [])
        #expect(client.token != nil)
        client.call("POST", "client/sessions/\(session)/\(verb)")
        #expect(client.status == 401)
    }

    @Test func endingAllKeepsTheClientToken() {
        var (client, _) = signedIn()
        let token = client.token
        let body = client.call("DELETE", "client/sessions")
        #expect(body["response"]?["sessions"] == [] && client.answer.header("Authorization") == nil)
        #expect(client.token == token)
        client.token = nil
        client.call("DELETE", "client/sessions")
        #expect(client.status == 401 && client.code == "signed_out")
    }

    @Test func revokingOnesOwnSessionOnAnotherClient() {
        var (client, session) = signedIn()
        let token = client.token
        client.token = nil
        let other = client.signIn("ada@example.com")["created_session_id"]?.string ?? ""
        let otherToken = client.token
        client.token = token
        let path = "me/sessions/\(other)/revoke?_clerk_session_id=\(session)"
        #expect(client.call("POST", path)["response"]?["status"] == "revoked")
        client.token = otherToken
        client.call("POST", "client/sessions/\(other)/tokens")
        #expect(client.status == 401)
        client.call("POST", "me/sessions/\(session)/revoke")
        #expect(client.status == 401 && client.code == "authentication_invalid")
        client.token = token
        client.call("POST", "me/sessions/sess_none/revoke")
        #expect(client.status == 404)
    }

    @Test func whoeverHasNoTokenIsSignedOut() {
        var (client, session) = signedIn()
        for token in [nil, "", "Bearer", "Bearer ", "nonsense"] as [String?] {
            client.token = token
            client.call("POST", "client/sessions/\(session)/tokens")
            #expect(client.status == 401 && client.code == "signed_out", "\(token ?? "nil")")
        }
    }

    @Test func aForeignSessionIsNotFound() {
        var (client, session) = signedIn()
        client.token = nil
        client.call("POST", "client")
        client.call("POST", "client/sessions/\(session)/tokens")
        #expect(client.status == 404 && client.code == "resource_not_found")
    }

    @Test func theSeedOfATokenWhereItIsDemanded() {
        var (client, session) = signedIn { $0.requiresTokenSeed = true }
        client.call("POST", "client/sessions/\(session)/tokens")
        #expect(client.status == 422 && client.code == "missing_expired_token")
        let sessions = client.call("GET", "client")["response"]?["sessions"]
        let jwt = sessions?[0]?["last_active_token"]?["jwt"]?.string ?? ""
        client.advance(seconds: 3600)
        #expect(client.call("POST", "client/sessions/\(session)/tokens?expired_token=\(jwt)")["jwt"] != nil)
        #expect(client.call("POST", "client/sessions/\(session)/tokens", ["token": jwt])["jwt"] != nil)
    }

    @Test func pendingSessionsHaveTasks() {
        var user = SandboxUser(email: "eva@example.com", password: "open")
        user.tasks = ["setup-mfa"]
        var client = Harness(user: user)
        client.signIn("eva@example.com", "open")
        let session = client.answer.jsonBody?["client"]?["sessions"]?[0]
        #expect(session?["status"] == "pending" && session?["tasks"] == [["key": "setup-mfa"]])
    }

    @Test func newPasswordsCanSignOutOthers() {
        var (client, session) = signedIn()
        let token = client.token
        client.token = nil
        let id = client.begin("ada@example.com")
        client.call("POST", "client/sign_ins/\(id)/prepare_first_factor", ["strategy": "reset_password_email_code"])
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "reset_password_email_code", "code": client.lastCode]
        )
        client.call(
            "POST",
            "client/sign_ins/\(id)/reset_password",
            ["password": "a-better-one-77", "sign_out_of_other_sessions": "true"]
        )
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")
        client.token = token
        client.call("POST", "client/sessions/\(session)/tokens")
        #expect(client.status == 401)
    }
}
