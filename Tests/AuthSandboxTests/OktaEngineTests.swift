import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Okta's identity engine")
struct OktaEngineTests {
    private static let verifier = String(repeating: "v", count: 43)

    /// A client of the engine, without a socket; it keeps the newest state handle.
    struct Engine {
        var okta: OktaHarness
        var handle = ""
        var body: JSONValue { okta.body }
        var status: Int { okta.status }

        init(
            _ change: (inout SandboxUser) -> Void = { _ in },
            settings: (inout SandboxOktaSettings) -> Void = { _ in }
        ) {
            okta = OktaHarness(user: OktaHarness.person(change)) {
                $0.okta.isIdentityEngine = true
                settings(&$0.okta)
            }
        }

        mutating func post(_ path: String, _ fields: KeyValuePairs<String, JSONValue> = [:], handle: String? = nil) {
            let members = [JSONValue.Member("stateHandle", .string(handle ?? self.handle))]
            let body = JSONValue.object(members + fields.map { .init($0.key, $0.value) })
            okta.call("POST", "/idp/idx/\(path)", body)
            if let fresh = okta.body["stateHandle"]?.string { self.handle = fresh }
        }

        mutating func form(_ path: String, _ form: KeyValuePairs<String, String>) {
            okta.base.send(
                SandboxRequest(
                    method: "POST",
                    target: path,
                    headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                    body: Array(Harness.encode(form).utf8)
                )
            )
            okta.body = okta.base.answer.jsonBody ?? .null
        }

        mutating func interact(server: String = "/oauth2") {
            let challenge = Base64.encodeForURL(SHA256.hash(Array(OktaEngineTests.verifier.utf8)))
            form(
                "\(server)/v1/interact",
                [
                    "client_id": "cli", "scope": "openid offline_access", "redirect_uri": "com.example.cli:/callback",
                    "state": "s", "nonce": "n", "code_challenge": challenge, "code_challenge_method": "S256",
                ]
            )
            introspect(body["interaction_handle"]?.string ?? "")
        }

        mutating func introspect(_ interaction: String) {
            okta.call("POST", "/idp/idx/introspect", ["interactionHandle": .string(interaction)])
            handle = okta.body["stateHandle"]?.string ?? ""
        }

        mutating func password(_ password: String = OktaHarness.password) {
            post("identify", ["identifier": "eva@example.com"])
            post("challenge/answer", ["credentials": ["passcode": .string(password)]])
        }

        var forms: [String] { (body["remediation"]?["value"]?.array ?? []).compactMap { $0["name"]?.string } }
        var key: String? {
            body["messages"]?["value"]?[0]?["i18n"]?["key"]?.string
                ?? body["remediation"]?["value"]?[0]?["value"]?[0]?["form"]?["value"]?[0]?["messages"]?["value"]?[0]?[
                    "i18n"
                ]?["key"]?
                .string
        }
        var code: String? {
            body["successWithInteractionCode"]?["value"]?.array?.first { $0["name"]?.string == "interaction_code" }?[
                "value"
            ]?
            .string
        }
    }

    @Test func theOrgSaysWhatItRunsOn() {
        var engine = Engine()
        engine.okta.call("GET", "/.well-known/okta-organization")
        #expect(engine.body["pipeline"] == "idx")
        var classic = OktaHarness()
        classic.call("GET", "/.well-known/okta-organization")
        #expect(classic.body["pipeline"] == "v1")
        classic.call("POST", "/idp/idx/introspect", ["interactionHandle": "x"])
        #expect(classic.status == 404)
    }

    /// What an interaction is begun with is looked at.
    @Test func anInteractionIsChecked() {
        var engine = Engine()
        let token = engine.okta.base.control("POST", "okta/link", #"{"user":"eva@example.com","for":"activation"}"#)
        let link = token["token"]?.string ?? ""
        func begin(_ more: KeyValuePairs<String, String>) -> (Int, String?) {
            let text = Harness.encode([
                "client_id": "cli", "scope": "openid", "redirect_uri": "com.example.cli:/callback", "state": "s",
                "code_challenge": "c", "code_challenge_method": "S256",
            ])
            engine.okta.base.send(
                SandboxRequest(
                    method: "POST",
                    target: "/oauth2/v1/interact",
                    headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                    body: Array("\(text)&\(Harness.encode(more))".utf8)
                )
            )
            return (engine.okta.base.answer.status, engine.okta.base.answer.jsonBody?["error"]?.string)
        }
        let refused: (Int, String?) = (400, "invalid_request")
        #expect(begin(["max_age": "soon"]) == refused)
        #expect(begin(["recovery_token": "re0"]) == refused)
        // It is another sort of link.
        #expect(begin(["recovery_token": link]) == refused)
        #expect(begin(["activation_token": link, "recovery_token": link]) == refused)
        #expect(begin(["activation_token": link, "max_age": "0", "acr_values": "a b"]) == (200, nil))
        #expect(begin(["activation_token": link]) == (200, nil))
        // Who is active is not activated.
        #expect(engine.okta.begin() != nil)
        #expect(begin(["activation_token": link]) == refused)
    }

    @Test(arguments: ["/oauth2", "/oauth2/default"])
    func aFlowEndsInACodeOfOneUse(server: String) {
        var engine = Engine()
        engine.interact(server: server)
        #expect(engine.forms == ["identify", "unlock-account"] && engine.status == 200)
        engine.password()
        let code = engine.code ?? ""
        #expect(code.hasPrefix("ic_"))
        let form: KeyValuePairs = [
            "grant_type": "interaction_code", "client_id": "cli", "interaction_code": code,
            "redirect_uri": "com.example.cli:/callback", "code_verifier": Self.verifier,
        ]
        engine.form("\(server)/v1/token", form)
        #expect(engine.status == 200 && engine.body["refresh_token"] != nil && engine.body["id_token"] != nil)
        engine.form("\(server)/v1/token", form)
        #expect(engine.body["error"] == "invalid_grant")
    }

    /// Of two phones, addresses or keys the one is used whose enrollment is named; without its name none is.
    @Test(arguments: ["sms", "email", "webauthn"])
    func oneOfTwoIsNamed(type: String) {
        var engine = Engine({ user in
            user.okta.factors = ["one", "two"].map { name in
                var factor = SandboxOktaUser.Factor(type)
                (factor.name, factor.destination) = (
                    name, type == "sms" ? "+4930000\(name.count)" : "\(name)@example.com"
                )
                return factor
            }
        })
        engine.interact()
        engine.password()
        let options = engine.body["remediation"]?["value"]?[0]?["value"]?[0]?["options"]?.array ?? []
        func value(_ name: String, _ option: JSONValue) -> JSONValue? {
            option["value"]?["form"]?["value"]?.array?.first { $0["name"]?.string == name }?["value"]
        }
        let ids = options.compactMap { value("enrollmentId", $0) }
        #expect(ids.count == 2 && Set(ids).count == 2 && Set(options.compactMap { value("id", $0) }).count == 1)
        let id = options.first.flatMap { value("id", $0) } ?? .null
        engine.post("challenge", ["authenticator": ["id": id]])
        #expect(engine.status == 400)
        engine.post("challenge", ["authenticator": ["id": id, "enrollmentId": ids.last ?? .null]])
        #expect(engine.body["currentAuthenticatorEnrollment"]?["value"]?["id"] == ids.last)
    }

    @Test func aCodeLivesAMinute() {
        var engine = Engine()
        engine.interact()
        engine.password()
        let code = engine.code ?? ""
        engine.okta.base.advance(seconds: 61)
        engine.form(
            "/oauth2/v1/token",
            [
                "grant_type": "interaction_code", "client_id": "cli", "interaction_code": code,
                "redirect_uri": "com.example.cli:/callback", "code_verifier": Self.verifier,
            ]
        )
        #expect(engine.body["error"] == "invalid_grant")
    }

    @Test func anInteractionNeedsPKCEAndTheGrant() {
        var engine = Engine()
        engine.form("/oauth2/v1/interact", ["client_id": "cli", "redirect_uri": "x:/", "state": "s"])
        #expect(engine.status == 400 && engine.body["error"] == "invalid_request")
        var off = Engine(settings: { $0.allowsInteractionCode = false })
        off.interact()
        #expect(off.okta.base.answer.status != 200)
    }

    /// A client with a secret names itself where it proves itself.
    @Test func anAppMayNameItselfInItsProof() {
        let request = SandboxRequest(
            method: "POST",
            target: "/oauth2/v1/interact",
            headers: [.init(name: "authorization", value: "Basic " + Base64.encode(Array("a%20b:secret".utf8)))]
        )
        #expect(OktaWorld.clientID(of: request, [:]) == "a b")
        #expect(OktaWorld.clientID(of: request, ["client_id": "form"]) == "form")
        #expect(OktaWorld.clientID(of: SandboxRequest(method: "POST", target: "/"), [:]) == nil)
    }

    /// Reading spends nothing; a step takes the newest handle alone.
    @Test func aHandleOfAnotherAnswerIsRefused() {
        var engine = Engine()
        engine.interact()
        let first = engine.handle
        engine.okta.call("POST", "/idp/idx/introspect", ["stateToken": .string(first)])
        engine.handle = engine.body["stateHandle"]?.string ?? ""
        #expect(engine.handle != first && engine.forms.first == "identify")
        engine.post("identify", ["identifier": "eva@example.com"], handle: first)
        #expect(engine.status == 401 && engine.key == "idx.session.expired")
        #expect(engine.body["stateHandle"] == nil)
    }

    @Test func aWrongPasswordAndALockedAccountLookAlikeUnlessShown() {
        for (shown, key) in [(false, "errors.E0000004"), (true, "errors.E0000119")] {
            var engine = Engine({ $0.initialLock = .indefinite }, settings: { $0.showsLockout = shown })
            engine.interact()
            engine.password()
            #expect(engine.status == 401 && engine.key == key && engine.forms.contains("unlock-account"))
        }
        var engine = Engine()
        engine.interact()
        engine.password("wrong")
        #expect(engine.key == "errors.E0000004" && engine.forms.first == "challenge-authenticator")
        engine.post("challenge/answer", ["credentials": ["passcode": .string(OktaHarness.password)]])
        #expect(engine.code != nil)
    }

    @Test func aFactorIsSuspendedAfterFiveWrongCodes() {
        var engine = Engine({ $0.okta.factors = [.init("sms")] })
        engine.interact()
        engine.password()
        #expect(engine.forms == ["select-authenticator-authenticate"])
        engine.post("challenge", ["authenticator": ["id": "aut_phone_number", "methodType": "sms"]])
        let code = engine.okta.lastCode
        for _ in 0..<4 {
            engine.post("challenge/answer", ["credentials": ["passcode": "1"]])
            #expect(engine.key == "api.authn.error.PASSCODE_INVALID" && engine.status == 401)
        }
        engine.post("challenge/answer", ["credentials": ["passcode": "1"]])
        #expect(engine.key == "authfactor.challenge.suspended_factor")
        engine.post("challenge/answer", ["credentials": ["passcode": .string(code)]])
        #expect(engine.key == "authfactor.challenge.suspended_factor")
    }

    /// Other factors are still good, and so is this one once a lockout would be over.
    @Test func wrongCodesCountAcrossSignIns() {
        var engine = Engine({ $0.okta.factors = [.init("sms"), .init("question")] })
        func answer(_ id: String, _ credentials: (String) -> JSONValue) {
            engine.interact()
            engine.password()
            #expect(engine.forms == ["select-authenticator-authenticate"])
            engine.post("challenge", ["authenticator": ["id": .string(id)]])
            engine.post("challenge/answer", ["credentials": credentials(engine.okta.lastCode)])
            engine.okta.advance(seconds: 60)
        }
        for number in 1...5 {
            answer("aut_phone_number") { _ in ["passcode": "1"] }
            #expect((engine.key == "authfactor.challenge.suspended_factor") == (number == 5))
        }
        answer("aut_phone_number") { ["passcode": .string($0)] }
        #expect(engine.key == "authfactor.challenge.suspended_factor")
        answer("aut_security_question") { _ in ["answer": "Rex"] }
        #expect(engine.code != nil)
        engine.okta.advance(seconds: 86_400)
        answer("aut_phone_number") { ["passcode": .string($0)] }
        #expect(engine.code != nil)
    }

    @Test func aNewCodeEndsTheOneBefore() {
        var engine = Engine({ $0.okta.factors = [.init("email")] })
        engine.interact()
        engine.password()
        engine.post("challenge", ["authenticator": ["id": "aut_okta_email", "methodType": "email"]])
        let first = engine.okta.lastCode
        let handle = engine.handle
        engine.post("challenge/resend")
        // Within the window it is a limit, and nothing has changed.
        #expect(engine.status == 429 && engine.handle == handle)
        engine.okta.base.advance(seconds: 6)
        engine.post("challenge/resend")
        engine.post("challenge/answer", ["credentials": ["passcode": .string(first)]])
        #expect(engine.key == "api.authn.error.PASSCODE_INVALID")
        engine.post("challenge/answer", ["credentials": ["passcode": .string(engine.okta.lastCode)]])
        #expect(engine.code != nil)
    }

    @Test func aPushWaitsForThePhone() {
        var engine = Engine({ $0.okta.factors = [.push("WAITING", number: "42")] })
        engine.interact()
        engine.password()
        engine.post("challenge", ["authenticator": ["id": "aut_okta_verify", "methodType": "push"]])
        #expect(engine.forms.first == "challenge-poll")
        let current = engine.body["currentAuthenticatorEnrollment"]?["value"]
        #expect(current?["contextualData"]?["correctAnswer"] == "42")
        engine.post("challenge/poll")
        #expect(engine.forms.first == "challenge-poll" && engine.okta.world.counters.pushes == 1)
        let id = engine.okta.world.account(named: "eva@example.com")?.id ?? ""
        #expect(engine.okta.base.world.okta.decide(id, as: "REJECTED") == 1)
        engine.post("challenge/poll")
        #expect(engine.key == "api.authn.poll.error.push_rejected" && engine.status == 400)
    }

    @Test func aPasswordIsRecoveredByMail() {
        var engine = Engine()
        engine.interact()
        engine.post("identify", ["identifier": "eva@example.com"])
        engine.post("recover")
        #expect(engine.body["intent"] == "CREDENTIAL_RECOVERY")
        engine.post("challenge", ["authenticator": ["id": "aut_okta_email"]])
        engine.post("challenge/answer", ["credentials": ["passcode": .string(engine.okta.lastCode)]])
        #expect(engine.forms == ["reset-authenticator"])
        engine.post("challenge/answer", ["credentials": ["passcode": "a"]])
        #expect(engine.key == "password.passwordRequirementsNotMet")
        engine.post("challenge/answer", ["credentials": ["passcode": "Better-horse-12"]])
        #expect(engine.code != nil)
    }

    @Test func cancellingBeginsAnew() {
        var engine = Engine()
        engine.interact()
        engine.post("identify", ["identifier": "eva@example.com"])
        engine.post("cancel")
        #expect(engine.status == 200 && engine.forms.first == "identify")
        engine.okta.base.advance(seconds: 301)
        engine.post("identify", ["identifier": "eva@example.com"])
        #expect(engine.key == "idx.session.expired")
    }
}
