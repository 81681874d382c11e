import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("PingAM's nodes and what they show")
struct ForgeRockNodeTests {
    @Test func nameAndPasswordMayComeWithTheFirstRequest() {
        for (name, password) in [
            ("ada", Harness.password), ("=?UTF-8?B?YWRh?=", "=?utf-8?b?Y29ycmVjdCA=?= =?UTF-8?B?eA==?="),
        ] {
            let headers = [("x-openam-username", name), ("x-openam-password", password)]
            var client = ForgeRockHarness()
            client.begin("Login", headers: headers)
            #expect(client.status == (password == Harness.password ? 200 : 401))
            #expect((client.token != nil) == (password == Harness.password))
            var off = ForgeRockHarness { $0.hasZeroPageLogin = false }
            off.begin("Login", headers: headers)
            #expect(off.types == ["NameCallback", "PasswordCallback"])
            #expect(off.counters.passwordAttempts == 0)
        }
        var client = ForgeRockHarness { $0.namePrompt = "Customer code" }
        #expect(client.begin("OneTimeCode")["callbacks"]?[0]?["output"]?[0]?["value"]?.string == "Customer code")
        client.begin("OneTimeCode", headers: [("x-openam-username", "ada"), ("x-openam-password", "x")])
        #expect(client.types.contains("PasswordCallback"), "the name is taken, the code is asked for")
    }

    /// As the nodes write them: a piece of script for older clients, nothing where the relying party is left open.
    @Test(arguments: ["example.com", ""])
    func ceremoniesNameTheirRelyingPartyAsNodesDo(party: String) {
        func begun(_ form: String, _ journey: String) -> [JSONValue] {
            var client = ForgeRockHarness {
                $0.webAuthnForm = form
                $0.relyingPartyID = party
            }
            client.begin(journey)
            if journey == "WebAuthn" { client.answer("ada") } else { client.answer("ada", .string(Harness.password)) }
            #expect(client.types.last == "HiddenValueCallback")
            let outputs = client.step["callbacks"]?[0]?["output"]?.array ?? []
            return outputs.compactMap { $0["value"] }
        }
        let (made, signed) = party.isEmpty ? ("", "") : (#"id: "example.com","#, #"rpId: "example.com","#)
        for (journey, fragment) in [("WebAuthnRegistration", made), ("WebAuthn", signed)] {
            let data = begun("metadata", journey).first
            #expect(data?["relyingPartyId"]?.string == fragment && data?["_relyingPartyId"]?.string == party)
            let old = begun("old_metadata", journey).first
            #expect(old?["relyingPartyId"]?.string == fragment && old?["_relyingPartyId"] == nil)
            let script = begun("script", journey).first?.string ?? ""
            let line = journey == "WebAuthn" ? "var options = {\n    \(fragment)\n" : "rp: {\n        \(fragment)\n"
            #expect(script.contains(line), "\(script)")
        }
    }

    @Test func anAuthenticatorIsRegisteredAndRecoveryCodesAreShownOnce() throws {
        var client = ForgeRockHarness()
        client.begin("RegisterAuthenticator")
        client.answer("ada", .string(Harness.password))
        #expect(
            client.types == [
                "TextOutputCallback", "TextOutputCallback", "HiddenValueCallback", "ConfirmationCallback",
            ]
        )
        let uri = client.step["callbacks"]?[2]?["output"]?[0]?["value"]?.string ?? ""
        #expect(uri.hasPrefix("otpauth://totp/Sandbox:ada?"))
        let name = "secret="
        let start = try #require(uri.firstRange(of: name)?.upperBound)
        let secret = try #require(Base32.decode(String(uri[start...].prefix(32))))
        client.answer(nil, 0)
        client.answer(.string(TOTP.code(secret: secret, step: TOTP.step(atMilliseconds: client.base.now))), 0)
        let script = client.step["callbacks"]?[0]?["output"]?[0]?["value"]?.string ?? ""
        let own = client.base.world.forgerock.accounts["ada"]?.user.backupCodes ?? []
        #expect(own.count == 10 && own.allSatisfy { script.contains("\"\($0)\\n\" +\n") })
        client.answer(nil)
        #expect(client.token != nil)
    }

    @Test func aPushTellsTheNumberToChoose() {
        var client = ForgeRockHarness { $0.pushNumber = "73" }
        client.begin("Push")
        client.answer("ada", .string(Harness.password))
        #expect(client.types == ["PollingWaitCallback", "HiddenValueCallback", "ConfirmationCallback"])
        #expect(client.step["callbacks"]?[1]?["output"]?[0]?["value"]?.string == "73")
        for _ in 1...3 {
            client.advance(seconds: 1)
            client.answer(nil, 100)
        }
        #expect(client.token != nil)
        client.begin("Push")
        client.answer("ada", .string(Harness.password))
        client.answer(nil, 0)
        #expect(client.status == 401)
    }

    /// The outcomes of the node that verifies a push: success, failure, expired and waiting.
    @Test func aPushIsDecidedAboutOrRunsOut() throws {
        func begun(_ journey: String) -> ForgeRockHarness {
            var client = ForgeRockHarness {
                $0.pollCount = 1_000_000
                $0.pushLife = 2500
                $0.pushAttempts = 2
                $0.failureURL = "https://example.com/failed"
            }
            client.begin(journey)
            client.answer("ada", .string(Harness.password))
            client.advance(seconds: 1)
            client.answer(nil, 100)
            #expect(client.types.first == "PollingWaitCallback", "it waits")
            client.advance(seconds: 1)
            return client
        }
        var confirmed = begun("Push")
        #expect(confirmed.base.control("POST", "forgerock/push", #"{"user": "ada"}"#)["answered"]?.int == 1)
        confirmed.answer(nil, 100)
        #expect(confirmed.token != nil)
        for (journey, status) in [("Push", 401), ("PushRetry", 200)] {
            var refused = begun(journey)
            refused.base.control("POST", "forgerock/push", #"{"decision": "deny"}"#)
            refused.answer(nil, 100)
            #expect(refused.status == status && refused.token == nil)
            if status == 200 { #expect(refused.types.contains("PasswordCallback"), "a code by e-mail") }
            let url = refused.body["detail"]?["failureUrl"]?.string
            #expect(url == (status == 401 ? "https://example.com/failed" : nil))
        }
        var expired = begun("PushRetry")
        let number = expired.output(1, "value")
        for isLast in [false, true] {
            for _ in 1...(isLast ? 2 : 3) {
                expired.answer(nil, 100)
                expired.advance(seconds: 1)
            }
            #expect(expired.status == (isLast ? 401 : 200), "another one, then no more")
            if !isLast { #expect(expired.output(1, "value") != number) }
        }
        expired.base.control("POST", "forgerock/push", "{}")
        #expect(expired.base.answer.status == 400, "nothing waits")
        #expect(expired.counters.pushes == 2)
    }

    @Test(arguments: [("Social", "code", "state"), ("SAML", "responsekey", "RelayState")])
    func aVisitToAnIdentityProviderComesBack(journey: String, key: String, state: String) throws {
        var client = ForgeRockHarness { $0.redirectURI = "http://127.0.0.1:1/cb" }
        for (hint, isKnown) in [("", true), ("&login_hint=grace", true), ("&login_hint=nobody", false)] {
            client.cookies = [:]
            client.begin(journey)
            #expect(client.types == ["RedirectCallback"])
            let cookie = try #require(client.base.answer.headers.first { $0.value.hasPrefix("reentry=") }?.value)
            client.cookies["reentry"] = cookie.dropFirst("reentry=".count).prefix { $0 != ";" }.description
            let step = client.step
            let url = step["callbacks"]?[0]?["output"]?[0]?["value"]?.string ?? ""
            client.send("GET", url.replacing("http://127.0.0.1:9999", with: "") + hint)
            #expect(client.status == 302 && client.location.hasPrefix("http://127.0.0.1:1/cb?"))
            let query = client.location.drop { $0 != "?" }
            #expect(query.contains(isKnown ? "\(key)=" : "error=access_denied") && query.contains("\(state)="))
            let path = "\(client.realm)/authenticate\(query)"
            client.send("POST", path, step.text)
            #expect((client.token != nil) == isKnown)
        }
        // Without the cookie the journey is not found.
        client.begin(journey)
        client.cookies = [:]
        client.send("POST", "\(client.realm)/authenticate?code=x", client.step.text)
        #expect(client.status == 400)
    }

    @Test func aDeviceIsAskedForUntilItIsDescribed() {
        var client = ForgeRockHarness()
        client.signIn(journey: "DeviceProfile")
        client.answer("")
        #expect(client.types == ["DeviceProfileCallback"])
        client.answer(#"{"identifier":"d1"}"#)
        #expect(client.token != nil)
        for text in [#"{"identifier":""}"#, "no JSON", "{\"identifier\":\"\(String(repeating: "x", count: 3072))\"}"] {
            client.signIn(journey: "DeviceProfile")
            client.answer(.string(text))
            #expect(client.status == 401)
        }
    }

    @Test func aKeyOfTheDeviceIsBoundAndSigns() throws {
        let (own, other) = (try P256Signer(), try P256Signer(8))
        func proof(
            _ client: ForgeRockHarness,
            key: String = "k1",
            challenge: String? = nil,
            by signer: P256Signer = own
        ) throws -> JSONValue {
            let outputs = client.step["callbacks"]?[0]?["output"]?.array ?? []
            func output(_ name: String) -> JSONValue {
                outputs.first { $0["name"]?.string == name }?["value"] ?? .null
            }
            let header: JSONValue = ["alg": "ES256", "kid": .string(key), "jwk": own.jwk(key)]
            let claims: JSONValue = [
                "sub": output("userId"), "challenge": challenge.map(JSONValue.string) ?? output("challenge"),
                "exp": .int(client.base.now / 1000 + 60),
            ]
            let content = [header.text, claims.text].map { Base64.encodeForURL($0.utf8) }.joined(separator: ".")
            return .string(content + "." + Base64.encodeForURL(try signer.sign(Array(content.utf8))))
        }
        var client = ForgeRockHarness()
        client.signIn(journey: "DeviceBinding")
        #expect(client.types == ["DeviceBindingCallback"])
        client.answer(try proof(client), "laptop", "d1", "")
        #expect(client.types == ["DeviceSigningVerifierCallback"])
        client.answer(try proof(client), "")
        #expect(client.token != nil)
        for (wrong, status) in [("key", 200), ("challenge", 401), ("signer", 401), ("a.b.c", 401), ("", 401)] {
            client.signIn(journey: "DeviceBinding")
            client.answer(try proof(client), "laptop", "d1", "")
            let answer: JSONValue =
                switch wrong {
                case "key": try proof(client, key: "k2")
                case "challenge": try proof(client, challenge: "old")
                case "signer": try proof(client, by: other)
                default: .string(wrong)
                }
            client.answer(answer, "")
            // Whoever has another key goes on with a code.
            #expect(client.status == status && client.token == nil, "\(wrong)")
        }
        // A key that has not signed itself is not bound.
        client.signIn(journey: "DeviceBinding")
        client.answer(try proof(client, by: other), "laptop", "d1", "")
        #expect(client.status == 401)
        for (word, next) in [("Unsupported", "TextOutputCallback"), ("Abort", nil)] as [(JSONValue, String?)] {
            client.signIn(journey: "DeviceBinding")
            client.answer("", "", "", word)
            #expect(client.types.first == next)
        }
    }
}

/// Nodes that want what no person knows by heart.
@Suite("PingAM's nodes that want a proof")
struct ForgeRockProofNodeTests {
    @Test(arguments: [("plain", "ReCaptchaCallback"), ("enterprise", "ReCaptchaEnterpriseCallback")])
    func aCaptchasProofIsCompared(form: String, type: String) {
        var client = ForgeRockHarness { $0.captchaForm = form }
        for proof in ["a-person", "a-robot", ""] {
            client.signIn(journey: "Captcha")
            #expect(client.types == [type])
            client.answer(.string(proof))
            #expect((client.token != nil) == (proof == "a-person"))
        }
    }

    @Test(arguments: [("code", "authorization_code"), ("id_token", "id_token"), ("token", "access_token")])
    func aTokenOfTheProvidersHasToBeOfItsKind(wanted: String, kind: String) {
        for stated in [kind, "other"] {
            var client = ForgeRockHarness()
            client.begin("NativeSocial")
            #expect(client.types == ["SelectIdPCallback", "NameCallback", "PasswordCallback"])
            client.answer("sandbox", nil, nil)
            #expect(client.types == ["IdPCallback"])
            let step = client.step
            client.send("GET", "/idp/authorize?redirect_uri=app://cb&response_type=\(wanted)&state=s")
            #expect(client.location.contains(wanted == "code" ? "?code=" : "#"))
            let token = client.location.split { "=&".contains($0) }.dropFirst().first.map(String.init) ?? ""
            client.step = step
            client.answer(.string(token), .string(stated))
            #expect((client.token != nil) == (stated == kind))
        }
        var client = ForgeRockHarness()
        client.begin("NativeSocial")
        client.answer("localAuthentication", "ada", .string(Harness.password))
        #expect(client.token != nil)
    }

    @Test func aLanguageHasToComeBackAsItWent() {
        for (country, isRight) in [(nil, true), ("DE", false)] as [(JSONValue?, Bool)] {
            var client = ForgeRockHarness()
            client.begin("Language", headers: [("accept-language", "de-AT,en;q=0.5")])
            client.step = client.send(
                "POST",
                "\(client.realm)/authenticate",
                ForgeRockHarness.filled(client.step, ["ada", .string(Harness.password)]).text,
                headers: [("accept-language", "de-AT,en;q=0.5")]
            )
            #expect(client.types == ["LanguageCallback"])
            #expect(client.step["callbacks"]?[0]?["input"]?[1]?["value"] == "AT")
            client.answer(nil, country)
            #expect((client.token != nil) == isRight)
        }
    }

    @Test func aCertificateIsNeverAskedFor() {
        var client = ForgeRockHarness()
        client.begin("Certificate")
        #expect(client.status == 400 && client.message?.contains("X509") == true)
        client.begin("Certificate", headers: [("x-client-cert", "ada")])
        #expect(client.token != nil)
        client.begin("Certificate", headers: [("x-client-cert", "nobody")])
        #expect(client.status == 401)
    }

    @Test func aCredentialOfHTTPComesAlongOrIsPassedOver() {
        let ticket = ("authorization", "Negotiate YWRh")
        var client = ForgeRockHarness()
        client.begin("Negotiate", headers: [ticket])
        #expect(client.token != nil)
        for isPassedOver in [true, false] {
            client.begin("Negotiate")
            #expect(client.status == 401 && client.base.answer.header("WWW-Authenticate") == "Negotiate")
            #expect(client.body["reason"]?.string == "http-auth-failed" && client.body["failure"] == true)
            let proof = client.body["authId"]?.string ?? ""
            let reason = isPassedOver ? #","reason":"http-auth-failed""# : ""
            client.step = client.send(
                "POST",
                "\(client.realm)/authenticate",
                #"{"authId":"\#(proof)"\#(reason)}"#,
                headers: isPassedOver ? [] : [ticket]
            )
            if isPassedOver { client.answer("ada", .string(Harness.password)) }
            #expect(client.token != nil)
        }
    }

    @Test func signalsOrAnErrorAreWanted() {
        for (signals, error, next) in [("", "", "MetadataCallback"), ("s", "", nil), ("", "x", "TextOutputCallback")]
            as [(JSONValue, JSONValue, String?)]
        {
            var client = ForgeRockHarness()
            client.begin("Protect")
            #expect(client.types == ["PingOneProtectInitializeCallback"])
            client.answer("")
            client.answer("ada", .string(Harness.password))
            client.answer(signals, error)
            #expect(client.types.first == next && (client.token != nil) == (next == nil))
        }
        var client = ForgeRockHarness()
        client.signIn(journey: "Integrity")
        client.answer("", "Unsupported")
        #expect(client.types.first == "TextOutputCallback")
    }

    @Test func theButtonBesideAKeyWinsOverTheOutcome() {
        var client = ForgeRockHarness { $0.offersRecoveryCode = true }
        client.begin("WebAuthn")
        client.answer("ada")
        #expect(client.types.last == "ConfirmationCallback")
        client.answer("ERROR::NotAllowedError:", 0)
        #expect(client.types.last == "NameCallback")
        client.begin("WebAuthn")
        client.answer("ada")
        client.answer("ERROR::NotAllowedError:", nil)
        #expect(client.status == 401)
    }

    @Test func aPhoneIsSetUpWhileTheServerPolls() {
        var client = ForgeRockHarness()
        client.signIn(journey: "RegisterPush")
        #expect(client.types.last == "PollingWaitCallback")
        #expect(client.output(2, "value")?.string?.hasPrefix("pushauth://push/Sandbox:ada?") == true)
        for _ in 1...3 {
            client.advance(seconds: 1)
            client.answer(nil)
        }
        #expect(client.token != nil)
    }

    @Test func anAnswerThatIsMissingBesideAQuestionIsAskedForAgain() {
        var client = ForgeRockHarness()
        client.begin("HologramLogin")
        client.answer("ada", .string(Harness.password), nil)
        #expect(client.types == ["NameCallback", "PasswordCallback", "HologramCallback"])
        #expect(client.counters.passwordAttempts == 0)
        client.answer("ada", .string(Harness.password), "seen")
        #expect(client.token != nil)
    }

    @Test func aPortalSendsEverybodyToItsOwnPage() {
        var client = ForgeRockHarness()
        client.keepSession()
        client.send("GET", "/ig/portal")
        #expect(client.status == 302 && client.location == "http://127.0.0.1:9999/portal/login")
    }
}
