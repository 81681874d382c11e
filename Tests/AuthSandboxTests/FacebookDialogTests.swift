import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Facebook: the login dialog")
struct FacebookDialogTests {
    private static let back = "http://127.0.0.1:5000/back?x=1"

    private var client = FacebookHarness()

    private mutating func dialog(_ method: String, _ fields: KeyValuePairs<String, String>, more: String = "") {
        let query = Harness.encode([
            "client_id": client.settings.appID, "redirect_uri": Self.back, "state": "s1", "return_scopes": "true",
            "scope": "public_profile,email,user_posts",
        ])
        client.call(method, "/v25.0/dialog/oauth?\(query)\(more)", fields)
    }

    private var page: String { String(decoding: client.base.answer.body, as: UTF8.self) }

    /// The fields of the redirect.
    private var answer: [String: String] {
        let location = client.base.answer.header("Location") ?? ""
        guard client.status == 302, location.hasPrefix(Self.back + "&"), location.hasSuffix("#_=_") else { return [:] }
        let query = location.dropFirst(Self.back.count + 1).dropLast(4)
        return Dictionary(FormEncoding.fields(Array(query.utf8)).map { ($0.name, $0.value) }) { first, _ in first }
    }

    @Test mutating func itIsAFormThatABrowserCanFillIn() {
        dialog("GET", [:])
        #expect(client.status == 200)
        #expect(client.base.answer.header("Content-Type") == "text/html; charset=utf-8")
        for part in [
            #"<form method="post">"#, #"id="user""#, #"id="password" type="password""#,
            #"id="grant-email" value="email""#,
            #"id="grant-user_posts""#, #"id="continue" value="approve""#, #"id="cancel" value="deny""#,
        ] {
            #expect(page.contains(part), "\(part)")
        }
        #expect(!page.contains("grant-public_profile"))
    }

    @Test mutating func whatIsLeftOutIsDeclined() {
        dialog(
            "POST",
            ["user": FacebookHarness.ada, "password": Harness.password, "grant": "email", "decision": "approve"]
        )
        #expect(answer["state"] == "s1")
        #expect(answer["granted_scopes"] == "public_profile,email")
        #expect(answer["denied_scopes"] == "user_posts")
        client.grant(["code": answer["code"] ?? "", "redirect_uri": Self.back])
        #expect(client.body["data_access_expiration_time"]?.int == client.base.now / 1000 + 7_776_000)
        client.token = client.body["access_token"]?.string
        let list = client.call("GET", "/v25.0/me/permissions")["data"]?.array ?? []
        #expect(list.contains { $0["permission"] == "user_posts" && $0["status"] == "declined" })
        // What was declined is not asked for again, unless the app says so.
        let form: KeyValuePairs = [
            "user": FacebookHarness.ada, "password": Harness.password, "grant": "email", "grant": "user_posts",
        ]
        dialog("POST", form)
        #expect(answer["denied_scopes"] == "user_posts")
        dialog("POST", form, more: "&auth_type=rerequest")
        #expect(answer["denied_scopes"] == "" && answer["granted_scopes"] == "public_profile,email,user_posts")
    }

    @Test mutating func aNoComesBackAsOne() {
        dialog("POST", ["decision": "deny"])
        #expect(answer["error"] == "access_denied" && answer["error_code"] == "200")
        #expect(answer["error_reason"] == "user_denied" && answer["state"] == "s1")
    }

    @Test mutating func aWrongPasswordIsAskedForAgain() {
        for form in [["user": FacebookHarness.ada, "password": "no"], ["user": "nobody", "password": "x"]]
            as [KeyValuePairs<String, String>]
        {
            dialog("POST", form)
            #expect(client.status == 400)
            #expect(page.contains("<form"))
        }
    }

    @Test mutating func anAddressThatIsNotTheAppsIsSentNobody() {
        client = FacebookHarness { $0.redirectURIs = ["https://app.example.com/"] }
        dialog("GET", [:], more: "&user=ada%40example.com")
        #expect(client.status == 400 && client.base.answer.header("Location") == nil)
        #expect(page.contains("URL blocked"))
    }

    @Test mutating func whatIsAskedForCannotLeaveItsPlaceInThePage() {
        let query = Harness.encode([
            "client_id": client.settings.appID, "redirect_uri": Self.back, "scope": #"<b>"x"&"#,
        ])
        client.call("GET", "/v25.0/dialog/oauth?\(query)")
        #expect(page.contains("&lt;b&gt;&quot;x&quot;&amp;") && !page.contains("<b>"))
    }

    private static let verifier = String(repeating: "v", count: 43)

    @Test(arguments: [(verifier, 200), (String(repeating: "w", count: 43), 400)])
    mutating func aVerifierStandsForTheSecret(verifier: String, status: Int) {
        let challenge = Base64.encodeForURL(SHA256.hash(Array(Self.verifier.utf8)))
        let query = Harness.encode([
            "client_id": client.settings.appID, "redirect_uri": Self.back, "scope": "openid", "nonce": "n1",
            "code_challenge": challenge, "code_challenge_method": "S256", "user": FacebookHarness.ada,
        ])
        client.call("GET", "/v25.0/dialog/oauth?\(query)")
        let exchange = Harness.encode([
            "client_id": client.settings.appID, "redirect_uri": Self.back, "code": answer["code"] ?? "",
            "code_verifier": verifier,
        ])
        client.call("GET", "/v25.0/oauth/access_token?\(exchange)")
        #expect(client.status == status)
        guard status == 200 else { return }
        let token = client.body["id_token"]?.string.flatMap { OAuthJWT($0) }
        #expect(token?.claims["nonce"] == "n1")
        #expect(token?.claims["aud"]?.string == client.settings.appID)
    }

    @Test mutating func aPageThatIsLeftOutIsAsIfItDidNotExist() {
        var user = SandboxUser(email: FacebookHarness.ada, password: Harness.password)
        user.facebook.pages = ["500", "600"]
        user.facebook.leavesOut = ["600"]
        user.facebook.permissions = ["public_profile", "pages_show_list"]
        client = FacebookHarness(user: user)
        client.hold()
        let token = client.token ?? ""
        #expect(client.call("GET", "/v25.0/me/accounts")["data"]?.array?.count == 1)
        client.call("GET", "/v25.0/600")
        #expect(client.code == 100 && client.subcode == 33)
        let data = client.call(
            "GET",
            "/v25.0/debug_token?input_token=\(token)&access_token=\(FormEncoding.encode(client.appToken))"
        )["data"]
        #expect(data?["granular_scopes"]?[0] == ["scope": "pages_show_list", "target_ids": ["500"]])
    }
}
