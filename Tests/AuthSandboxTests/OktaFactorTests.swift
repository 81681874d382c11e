import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Okta: factors")
struct OktaFactorTests {
    // MARK: Push

    @Test func aPushWaitsAsItsScriptSaysAndIsApproved() {
        var client = OktaHarness()
        client.begin("vint@example.com")
        let path = client.factor("push") + "/verify"
        client.step(path)
        #expect(client.state == "MFA_CHALLENGE" && client.result == "WAITING" && client.next == "poll")
        #expect(client.body["_links"]?["resend"]?.array?.count == 1)
        for _ in 0..<2 {
            client.step(path)
            #expect(client.result == "WAITING")
            #expect(client.body["_embedded"]?["factor"]?["_embedded"]?["challenge"]?["correctAnswer"] == "42")
        }
        client.step(path)
        #expect(client.state == "SUCCESS")
        let view = client.base.control("GET", "okta")
        #expect(view["counters"]?["pushes_sent"] == 1)
        let vint = view["users"]?.array?.first { $0["login"] == "vint@example.com" }
        #expect(vint?["pushes_sent"] == 1 && vint?["transactions"] == [])
    }

    @Test(arguments: [("niklaus@example.com", "REJECTED"), ("tim@example.com", "TIMEOUT")])
    func afterANoTheLinkSendsAnotherPush(name: String, result: String) {
        var client = OktaHarness()
        client.begin(name)
        let path = client.factor("push") + "/verify"
        for _ in 0..<3 { client.step(path) }
        #expect(client.state == "MFA_CHALLENGE" && client.result == result && client.next == "verify")
        #expect(client.world.counters.pushes == 1)
        client.step("")
        #expect(client.result == result && client.world.counters.pushes == 1)
        client.step(path)
        #expect(client.result == "WAITING" && client.next == "poll" && client.world.counters.pushes == 2)
        client.step("previous")
        #expect(client.state == "MFA_REQUIRED")
    }

    @Test func aPushThatNobodyScriptsWaitsForThePerson() {
        var client = OktaHarness(.push(), settings: { $0.okta.pushLife = 60_000 })
        client.begin()
        let path = client.factor("push") + "/verify"
        for _ in 0..<3 { client.step(path) }
        #expect(client.result == "WAITING")
        #expect(
            client.base.control("POST", "okta/push", #"{"user": "eva@example.com", "result": "FROM_MARS"}"#)["answered"]
                == 1
        )
        client.step(path)
        #expect(client.state == "MFA_CHALLENGE" && client.result == "FROM_MARS")
        client.step(path + "/resend")
        #expect(client.result == "WAITING" && client.world.counters.pushes == 2)
        client.advance(seconds: 60)
        client.step(path)
        #expect(client.result == "TIMEOUT")
    }

    // MARK: Codes

    @Test(arguments: [("sms", "E0000109", 30.0), ("call", "E0000133", 30), ("email", "E0000118", 5)])
    func aCodeIsSentAndNotAgainInItsWindow(type: String, code: String, window: Double) {
        var client = OktaHarness(.init(type))
        client.begin()
        let path = client.factor(type) + "/verify"
        client.step(path)
        #expect(client.state == "MFA_CHALLENGE" && client.next == "verify")
        #expect(client.body["_links"]?["resend"]?[0]?["name"]?.string == type)
        let first = client.lastCode
        client.advance(seconds: window - 1)
        client.step(path + "/resend")
        #expect(client.status == 429 && client.code == code)
        // The org's own limit and that of the factor.
        #expect(client.lines("x-rate-limit-reset").count == 2)
        #expect(client.lines("x-rate-limit-remaining").count == 1)
        client.advance(seconds: 1)
        client.step(path + "/resend")
        #expect(client.status == 200 && client.lastCode != first)
        client.step(path, ["passCode": .string(client.lastCode)])
        #expect(client.state == "SUCCESS")
        #expect(client.world.counters.codes == 2)
    }

    @Test func aQuietResendTellsNothing() {
        var client = OktaHarness(.init("email"), settings: { $0.okta.isResendQuiet = true })
        client.begin()
        let path = client.factor("email") + "/verify"
        client.step(path)
        client.advance(seconds: 6)
        client.step(path + "/resend")
        #expect(client.status == 200 && client.state == nil)
        client.step(path, ["passCode": .string(client.lastCode)])
        #expect(client.state == "SUCCESS")
    }

    @Test func theFifthWrongCodeLocks() {
        var client = OktaHarness { $0.showsLockout = true }
        client.begin("grace@example.com")
        let path = client.factor("token:software:totp") + "/verify"
        for number in 1...5 {
            client.step(path, ["passCode": "000000"])
            #expect(client.status == 403 && client.code == (number < 5 ? "E0000068" : "E0000069"))
        }
        client.step("")
        #expect(client.code == "E0000011")
        #expect(client.begin("grace@example.com") == "LOCKED_OUT")
    }

    @Test func anAuthenticatorsCodesBelongToTheirTime() {
        var client = OktaHarness(
            user: OktaHarness.person { $0.totpSecret = "JBSWY3DPEHPK3PXP" },
            settings: { $0.isTOTPSingleUse = true }
        )
        func code(_ seconds: Int64) -> JSONValue {
            let step = TOTP.step(atMilliseconds: client.base.now + seconds * 1000)
            return .string(TOTP.code(secret: Base32.decode("JBSWY3DPEHPK3PXP") ?? [], step: step))
        }
        client.begin()
        let path = client.factor("token:software:totp") + "/verify"
        client.step(path)
        #expect(client.state == "MFA_CHALLENGE")
        client.step(path, ["passCode": code(-120)])
        #expect(client.code == "E0000083")
        client.step(path, ["passCode": code(0)])
        #expect(client.state == "SUCCESS")
        client.begin()
        client.step(path, ["passCode": code(0)])
        #expect(client.code == "E0000082")
    }

    @Test func aQuestionIsAnswered() {
        var client = OktaHarness(.init("question"))
        client.begin()
        let path = client.factor("question") + "/verify"
        client.step(path)
        #expect(client.state == "MFA_CHALLENGE")
        client.step(path, ["answer": "Fido"])
        #expect(client.code == "E0000068")
        client.step(path, ["answer": "rex"])
        #expect(client.state == "SUCCESS")
    }

    // MARK: WebAuthn

    private func signed(_ nonce: JSONValue?, type: String = "webauthn.get") -> JSONValue {
        let data: JSONValue = ["type": .string(type), "challenge": nonce ?? .null, "origin": "http://127.0.0.1"]
        return .string(Base64.encodeForURL(Array(data.text.utf8)))
    }

    @Test(arguments: [false, true]) func aCredentialSignsTheChallenge(isByType: Bool) {
        var client = OktaHarness(.init("webauthn"))
        client.begin()
        let path = (isByType ? "factors/webauthn" : client.factor("webauthn")) + "/verify"
        client.step(path)
        #expect(client.result == "CHALLENGE")
        let embedded = client.body["_embedded"]
        #expect((embedded?["factor"]?.array != nil) == isByType)
        let challenge = isByType ? embedded?["challenge"] : embedded?["factor"]?["_embedded"]?["challenge"]
        let nonce = challenge?["challenge"]
        client.step(path, ["clientData": signed("other"), "authenticatorData": "AA", "signatureData": "AA"])
        #expect(client.code == "E0000068")
        client.step(path, ["clientData": signed(nonce), "authenticatorData": "AA", "signatureData": "AA"])
        #expect(client.state == "SUCCESS")
    }

    // MARK: Enrollment

    @Test func aPhoneIsSetUpAndTheRestSkipped() {
        var client = OktaHarness()
        client.begin("leslie@example.com", options: ["multiOptionalFactorEnroll": true])
        #expect(client.state == "MFA_ENROLL")
        #expect(client.body["_links"]?["skip"] == nil)
        client.step("factors", ["factorType": "sms", "provider": "OKTA", "profile": ["phoneNumber": "123"]])
        #expect(client.code == "E0000098")
        client.step("factors", ["factorType": "sms", "provider": "OKTA", "profile": ["phoneNumber": "+12015550103"]])
        #expect(client.state == "MFA_ENROLL_ACTIVATE" && client.next == "activate")
        let id = client.body["_embedded"]?["factor"]?["id"]?.string ?? ""
        client.step("factors/\(id)/lifecycle/resend")
        #expect(client.code == "E0000109")
        client.step("factors/\(id)/lifecycle/activate", ["passCode": "000000"])
        #expect(client.code == "E0000068")
        client.step("factors/\(id)/lifecycle/activate", ["passCode": "424242"])
        #expect(client.state == "MFA_ENROLL")
        client.step("skip")
        #expect(client.state == "SUCCESS")
        #expect(client.begin("leslie@example.com") == "MFA_REQUIRED")
    }

    @Test func theSixthTryAtAnActivationIsTooMany() {
        var client = OktaHarness(user: OktaHarness.person { $0.okta.enrollments = [.init("token:software:totp")] })
        client.begin()
        client.step("factors", ["factorType": "token:software:totp", "provider": "OKTA"])
        let factor = client.body["_embedded"]?["factor"]
        #expect(factor?["_embedded"]?["activation"]?["sharedSecret"]?.string?.count == 16)
        let path = "factors/\(factor?["id"]?.string ?? "")/lifecycle/activate"
        for number in 1...6 {
            client.step(path, ["passCode": "000000"])
            #expect(client.code == (number < 6 ? "E0000068" : "E0000047"))
        }
    }

    @Test func anAuthenticatorIsSetUp() {
        var client = OktaHarness(user: OktaHarness.person { $0.okta.enrollments = [.init("token:software:totp")] })
        client.begin()
        client.step("factors", ["factorType": "token:software:totp", "provider": "OKTA"])
        let id = client.body["_embedded"]?["factor"]?["id"]?.string ?? ""
        let account = client.world.account(named: "eva@example.com")
        let shown = account.flatMap {
            client.world.currentTOTP($0, settings: client.base.world.settings, now: client.base.now)
        }
        client.step("factors/\(id)/lifecycle/activate", ["passCode": .string(shown ?? "")])
        #expect(client.state == "SUCCESS")
    }

    @Test func aQuestionIsChosenFromTheList() {
        var client = OktaHarness(user: OktaHarness.person { $0.okta.enrollments = [.init("question")] })
        client.begin()
        let link = client.body["_embedded"]?["factors"]?[0]?["_links"]?["questions"]?["href"]?.string ?? ""
        let token = client.token
        let list = client.call("GET", String(link.dropFirst("http://127.0.0.1:9999".count)))
        #expect(client.status == 200 && list.array?.count == 3)
        client.token = token
        client.step(
            "factors",
            ["factorType": "question", "provider": "OKTA", "profile": ["question": "disliked_food", "answer": "kale"]]
        )
        #expect(client.state == "SUCCESS")
    }

    @Test func aPushAndAKeyAreSetUp() {
        var client = OktaHarness(
            user: OktaHarness.person { $0.okta.enrollments = [.init("push"), .init("webauthn")] }
        )
        client.begin()
        client.step("factors", ["factorType": "push", "provider": "OKTA"])
        #expect(client.next == "poll")
        var factor = client.body["_embedded"]?["factor"]
        let path = "factors/\(factor?["id"]?.string ?? "")/lifecycle/activate"
        client.step(path + "/email")
        #expect(client.base.world.outbox.messages.last?.strategy == "okta_push_activation")
        client.step(path + "/poll")
        client.step(path + "/poll")
        #expect(client.state == "MFA_ENROLL")
        client.step("factors", ["factorType": "webauthn", "provider": "FIDO"])
        factor = client.body["_embedded"]?["factor"]
        let nonce = factor?["_embedded"]?["activation"]?["challenge"]
        client.step(
            "factors/\(factor?["id"]?.string ?? "")/lifecycle/activate",
            ["clientData": signed(nonce, type: "webauthn.create"), "attestation": "AA"]
        )
        #expect(client.state == "SUCCESS")
    }
}
