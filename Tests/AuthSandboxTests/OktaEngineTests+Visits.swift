import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

/// Another provider, a captcha.
extension OktaEngineTests {
    /// Where the page of the other provider sends a browser.
    private static func visit(_ engine: inout Engine, as name: String? = nil) -> String? {
        let links = engine.body["remediation"]?["value"]?.array ?? []
        let href = links.first { $0["name"]?.string == "redirect-idp" }?["href"]?.string ?? ""
        #expect(href.hasPrefix("http://127.0.0.1:9999/sso/idps/"))
        let path = String(href.dropFirst("http://127.0.0.1:9999".count))
        engine.okta.call("GET", path + (name.map { "&login_hint=\($0)" } ?? ""))
        return engine.okta.base.answer.header("location")
    }

    @Test func anotherProviderSendsTheBrowserBack() throws {
        var engine = Engine(settings: { $0.identityProvider = "beside" })
        engine.interact()
        #expect(engine.forms == ["identify", "unlock-account", "redirect-idp"])
        let page = engine
        let denied = Self.visit(&engine)
        #expect(denied?.hasPrefix("com.example.cli:/callback?error=access_denied&") == true)
        #expect(denied?.hasSuffix("&state=s") == true)
        engine = page
        let back = try #require(Self.visit(&engine, as: "eva@example.com"))
        #expect(back.hasPrefix("com.example.cli:/callback?interaction_code=ic_") && back.hasSuffix("&state=s"))
        // It is over: nobody comes back a second time.
        engine.okta.body = page.body
        #expect(Self.visit(&engine, as: "eva@example.com") == nil && engine.status == 404)
    }

    @Test func anotherProviderMayNotBeEnough() {
        var engine = Engine(
            { $0.okta.factors = [.init("sms")] },
            settings: { ($0.identityProvider, $0.providerUser) = ("only", "eva@example.com") }
        )
        engine.interact()
        #expect(engine.forms == ["redirect-idp"])
        let handle = engine.handle
        #expect(Self.visit(&engine) == "com.example.cli:/callback?error=interaction_required&state=s")
        engine.okta.call("POST", "/idp/idx/introspect", ["stateToken": .string(handle)])
        #expect(engine.forms == ["select-authenticator-authenticate"])
    }

    /// The proof is wanted with the name, and taken once.
    @Test func aCaptchaIsWantedWithTheName() {
        var engine = Engine(settings: { $0.wantsCaptcha = true })
        func identify(_ token: JSONValue?, id: JSONValue = "capsandbox") {
            let proof: JSONValue = .present(["captchaId": id, "captchaToken": token])
            engine.post("identify", ["identifier": "eva@example.com", "captchaVerify": proof])
        }
        engine.interact()
        #expect(engine.body["captcha"]?["value"]?["siteKey"] == "sandbox-key")
        for token: JSONValue? in [nil, "", "wrong one"] {
            identify(token)
            #expect(engine.status == 400 && engine.forms.first == "identify" && engine.body["messages"] == nil)
        }
        identify("a", id: "other")
        #expect(engine.status == 400)
        identify("a")
        #expect(engine.status == 200 && engine.forms.first == "challenge-authenticator")
        engine.post("cancel")
        identify("a")
        #expect(engine.status == 400)
        identify("b")
        #expect(engine.status == 200)
    }
}
