import HTTPRecovery
import Testing

@testable import AuthSandbox

/// The ends of a browser's session, as unkind as Auth0's.
@Suite("The sandbox's Auth0: logout")
struct Auth0LogoutTests {
    private static let back = "http://127.0.0.1:8123/callback"
    private static let app = "http%3A%2F%2F127.0.0.1%3A8123%2F"

    /// Signs a browser in.
    ///
    /// - Returns: Its cookie, and the ID token of the app.
    private func logIn(_ client: inout Auth0Harness) -> (cookie: String, token: String) {
        client.form(
            "/u/login",
            [
                "response_type": "code", "client_id": "cli", "redirect_uri": Self.back, "scope": "openid",
                "username": Auth0Harness.name, "password": "right",
            ]
        )
        let cookie = String(client.base.answer.header("set-cookie")?.prefix { $0 != ";" } ?? "")
        let answer = client.exchange(client.redirected("code") ?? "", redirectURI: Self.back)
        return (cookie, answer["id_token"]?.string ?? "")
    }

    private func logOut(_ client: inout Auth0Harness, _ query: String, _ cookie: String = "") -> String? {
        client.send("GET", "/oidc/logout?" + query, headers: [("cookie", cookie)])
        return client.base.answer.header("location")
    }

    private func isSignedIn(_ client: inout Auth0Harness, _ cookie: String) -> Bool {
        client.send(
            "GET",
            "/authorize?response_type=code&client_id=cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A8123%2Fcallback",
            headers: [("cookie", cookie)]
        )
        return client.status == 302
    }

    @Test func theSessionThatIsNamedIsEnded() {
        var client = Auth0Harness()
        let (cookie, token) = logIn(&client)
        // A hint may be old: the session is what counts.
        client.advance(seconds: 100_000)
        let end = "id_token_hint=\(token)&client_id=cli&post_logout_redirect_uri=\(Self.app)&state=S&federated"
        #expect(logOut(&client, end, cookie) == "http://127.0.0.1:8123/?state=S")
        #expect(client.base.answer.header("set-cookie")?.contains("Max-Age=0") == true)
        #expect(!isSignedIn(&client, cookie))
    }

    @Test(arguments: [
        ("&post_logout_redirect_uri=https%3A%2F%2Felsewhere.example", true),
        ("&client_id=other&post_logout_redirect_uri=\(app)", true), ("&logout_hint=another", true),
        ("post_logout_redirect_uri=\(app)", false), ("id_token_hint=nonsense", false),
    ])
    func whatDoesNotFitIsRefused(query: String, isNamed: Bool) {
        var client = Auth0Harness()
        let (cookie, token) = logIn(&client)
        #expect(logOut(&client, isNamed ? "id_token_hint=\(token)\(query)" : query, cookie) == nil)
        #expect(client.status == 400)
        #expect(isSignedIn(&client, cookie))
    }

    /// A token that the tenant has not signed names nobody.
    @Test func aForgedHintIsRefused() {
        var client = Auth0Harness()
        let (cookie, token) = logIn(&client)
        let halves = token.split(separator: ".")
        #expect(halves.count == 3 && logOut(&client, "id_token_hint=\(halves[0]).\(halves[1]).AAAA", cookie) == nil)
        #expect(client.status == 400)
        #expect(isSignedIn(&client, cookie))
    }

    /// Who does not name the session of the browser is asked, and sent on after their word.
    @Test func whoIsNotNamedIsAsked() {
        var client = Auth0Harness()
        let (cookie, _) = logIn(&client)
        let (_, others) = logIn(&client)
        for query in ["client_id=cli", "id_token_hint=\(others)"] {
            #expect(logOut(&client, query, cookie) == nil)
            #expect(client.status == 200 && isSignedIn(&client, cookie))
        }
        client.form("/oidc/logout", ["client_id": "cli", "decision": "confirm"])
        #expect(client.base.answer.header("location") == "https://app.example.com/", "the first that is registered")
    }

    /// Whoever names no app may be sent nowhere.
    @Test func withoutAnAppNothingIsRegistered() {
        var client = Auth0Harness()
        client.send("GET", "/v2/logout?returnTo=\(Self.app)")
        #expect(client.status == 400)
        client.send("GET", "/v2/logout")
        #expect(client.status == 200)
    }

    /// A password alone begins no session in a browser.
    @Test func aPasswordsTokenNamesNoSession() {
        var client = Auth0Harness()
        let claims = client.signIn()["id_token"]?.string.flatMap { OAuthJWT($0) }?.claims
        #expect(claims != nil && claims?["sid"] == nil)
    }
}
