import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Okta: transactions")
struct OktaTransactionTests {
    @Test func aPasswordIsEnough() {
        var client = OktaHarness()
        #expect(client.begin("ada@example.com") == "SUCCESS")
        #expect(client.body["sessionToken"]?.string?.hasPrefix("20111") == true)
        #expect(client.body["stateToken"] == nil)
        #expect(client.body["_embedded"]?["user"]?["profile"]?["login"] == "ada@example.com")
        let id = client.body["_embedded"]?["user"]?["id"]?.string ?? ""
        // The subject of tokens is the same person.
        #expect(client.base.world.oauth.person(named: "ada@example.com")?.id == id)
    }

    @Test(arguments: [
        ("ada@example.com", "wrong", 401, "E0000004"), ("nobody@example.com", "x", 401, "E0000004"),
        ("radia@example.com", OktaHarness.password, 401, "E0000004"), ("", "x", 400, "E0000001"),
    ])
    func refusals(name: String, password: String, status: Int, code: String) {
        var client = OktaHarness()
        client.begin(name, password)
        #expect(client.status == status && client.code == code)
        #expect(client.body["errorCauses"]?.array != nil && client.body["errorId"]?.string != nil)
    }

    @Test func everyRequestMovesTheExpiryAndAfterItTheTokenIsDead() {
        var client = OktaHarness()
        client.begin("grace@example.com")
        let first = client.body["expiresAt"]?.string
        for _ in 0..<3 {
            client.advance(seconds: 299)
            client.step("")
            #expect(client.status == 200 && client.state == "MFA_REQUIRED")
        }
        #expect(client.body["expiresAt"]?.string != first)
        #expect(client.body["expiresAt"]?.string?.hasSuffix(".000Z") == true)
        client.advance(seconds: 300)
        client.step("")
        #expect(client.status == 401 && client.code == "E0000011")
    }

    @Test func aCancelledTransactionIsOver() {
        var client = OktaHarness()
        client.begin("grace@example.com")
        client.step("cancel")
        #expect(client.status == 200 && client.state == nil && client.body["relayState"] == "")
        client.step("")
        #expect(client.code == "E0000011")
    }

    @Test(arguments: [
        "credentials/change_password", "credentials/reset_password", "skip", "previous", "factors",
        "recovery/answer", "recovery/factors/sms/verify", "factors/x/lifecycle/activate", "factors/x/verify/resend",
    ])
    func anIllegalStepChangesNothing(step: String) {
        var client = OktaHarness()
        client.begin("grace@example.com")
        client.step(step, ["passCode": "1", "answer": "x", "newPassword": "x", "oldPassword": "x"])
        #expect(client.status == 403 && client.code == "E0000079")
        client.step("")
        #expect(client.state == "MFA_REQUIRED")
    }

    @Test func anExpiredPasswordIsChangedAndThenTheFactorWanted() {
        var client = OktaHarness()
        #expect(client.begin("frances@example.com") == "PASSWORD_EXPIRED")
        #expect(client.next == "changePassword")
        #expect(client.body["_embedded"]?["policy"]?["complexity"]?["minLength"] == 8)
        let change = "credentials/change_password"
        client.step(change, ["oldPassword": "wrong", "newPassword": "correct-horse-7"])
        #expect(client.code == "E0000014")
        client.step(change, ["oldPassword": .string(OktaHarness.password), "newPassword": "short"])
        #expect(client.status == 403 && client.code == "E0000080")
        #expect(client.body["errorCauses"]?.array?.isEmpty == false)
        client.step(change, ["oldPassword": .string(OktaHarness.password), "newPassword": "correct-horse-7"])
        #expect(client.state == "MFA_REQUIRED")
        #expect(client.begin("frances@example.com", "correct-horse-7") == "MFA_REQUIRED")
    }

    @Test func aWarningIsGivenToWhoAsksForIt() {
        var client = OktaHarness()
        #expect(client.begin("whitfield@example.com") == "SUCCESS")
        #expect(client.begin("whitfield@example.com", options: ["warnBeforePasswordExpired": true]) == "PASSWORD_WARN")
        #expect(client.body["_embedded"]?["policy"]?["expiration"]?["passwordExpireDays"] == 5)
        client.step("skip")
        #expect(client.state == "SUCCESS")
    }

    @Test func aStateOfTomorrow() {
        var client = OktaHarness(user: OktaHarness.person { $0.statusAfterFirstFactor = "OF_TOMORROW" })
        #expect(client.begin() == "OF_TOMORROW")
        #expect(client.body["_links"]?["cancel"]?["href"] == "http://127.0.0.1:9999/api/v1/authn/cancel")
    }

    @Test(arguments: [
        ("GET", "/api/v1/authn", "", 405, "E0000022"), ("POST", "/api/v1/authn/nothing", "{}", 404, "E0000008"),
        ("POST", "/api/v1/authn", "{", 400, "E0000003"), ("POST", "/api/v1/authn", "[]", 400, "E0000003"),
        ("POST", "/api/v1/authn/cancel", "{}", 400, "E0000001"),
        ("POST", "/api/v1/authn", #"{"stateToken": "x"}"#, 401, "E0000011"),
        ("POST", "/api/v1/authn", #"{"token": "x"}"#, 401, "E0000004"),
        ("DELETE", "/api/v1/sessions", "", 405, "E0000022"), ("GET", "/api/v1/sessions/x", "", 404, "E0000008"),
        ("GET", "/api/v1/users/me", "", 403, "E0000005"), ("GET", "/api/v1/sessions/me", "", 404, "E0000007"),
    ])
    func whatIsNotRight(method: String, path: String, body: String, status: Int, code: String) {
        var client = OktaHarness()
        client.base.send(
            SandboxRequest(
                method: method,
                target: path,
                headers: [.init(name: "content-type", value: "application/json")],
                body: Array(body.utf8)
            )
        )
        #expect(client.base.answer.status == status)
        #expect(client.base.answer.jsonBody?["errorCode"]?.string == code)
    }

    @Test func aBodyThatIsNoJSONIsRefused() {
        var client = OktaHarness()
        client.base.send(SandboxRequest(method: "POST", target: "/api/v1/authn", body: Array("a=b".utf8)))
        #expect(client.base.answer.jsonBody?["errorCode"] == "E0000021")
    }

    // MARK: Lockouts

    @Test func aLockoutLooksLikeAWrongPassword() {
        var client = OktaHarness()
        for _ in 0..<3 {
            client.begin("margaret@example.com", "wrong")
            #expect(client.code == "E0000004")
        }
        client.begin("margaret@example.com")
        #expect(client.code == "E0000004")
        client.advance(seconds: 5)
        #expect(client.begin("margaret@example.com") == "SUCCESS")
    }

    @Test func aLockoutIsToldWhereThePolicySaysSo() {
        var client = OktaHarness { $0.showsLockout = true }
        client.begin("margaret@example.com", "wrong")
        client.begin("margaret@example.com", "wrong")
        client.begin("margaret@example.com", "wrong")
        #expect(client.status == 200 && client.state == "LOCKED_OUT")
        #expect(client.body["stateToken"] == nil && client.next == "unlock")
        #expect(client.begin("margaret@example.com") == "LOCKED_OUT")
    }

    @Test func anAdministratorLocksAndUnlocks() {
        var client = OktaHarness { $0.showsLockout = true }
        client.base.control("POST", "lock", #"{"user": "ada@example.com", "seconds": null}"#)
        #expect(client.begin("ada@example.com") == "LOCKED_OUT")
        client.base.control("POST", "unlock", #"{"user": "ada@example.com"}"#)
        #expect(client.begin("ada@example.com") == "SUCCESS")
    }

    // MARK: Recovery

    @Test func aLockedAccountIsUnlockedByTextMessageAndQuestion() {
        var client = OktaHarness()
        client.begin("donald@example.com")
        #expect(client.state == "LOCKED_OUT")
        client.step("recovery/unlock", ["username": "donald@example.com", "factorType": "SMS"])
        #expect(client.state == "RECOVERY_CHALLENGE" && client.body["recoveryType"] == "UNLOCK")
        // In a recovery the resend is a single object.
        #expect(client.body["_links"]?["resend"]?["href"]?.string?.hasSuffix("recovery/factors/SMS/resend") == true)
        client.step("recovery/factors/SMS/resend")
        #expect(client.status == 429 && client.code == "E0000109")
        client.step("recovery/factors/SMS/verify", ["passCode": "000000"])
        #expect(client.code == "E0000068")
        client.step("recovery/factors/sms/verify", ["passCode": "424242"])
        #expect(client.state == "RECOVERY" && client.next == "answer")
        #expect(client.body["_embedded"]?["user"]?["recovery_question"]?["question"] == "Which volume is next?")
        client.step("recovery/answer", ["answer": "eight"])
        #expect(client.code == "E0000087")
        client.step("recovery/answer", ["answer": "Seven"])
        #expect(client.state == "SUCCESS" && client.body["sessionToken"] == nil)
        #expect(client.begin("donald@example.com") == "SUCCESS")
    }

    @Test func anEMailLeadsOutOfTheTransaction() {
        var client = OktaHarness()
        client.step("recovery/password", ["username": "ada@example.com", "factorType": "EMAIL"])
        #expect(client.state == "RECOVERY_CHALLENGE" && client.result == "WAITING")
        #expect(client.body["stateToken"] == nil && client.body["_links"] == nil)
        let mail = client.lastCode
        client.step("recovery/password", ["username": "ada@example.com", "factorType": "EMAIL"])
        #expect(client.code == "E0000118")
        client.step("recovery/token", ["recoveryToken": .string(mail)])
        #expect(client.state == "PASSWORD_RESET" && client.next == "resetPassword")
        client.step("credentials/reset_password", ["newPassword": "correct-horse-7"])
        #expect(client.state == "SUCCESS" && client.body["sessionToken"] != nil)
        client.token = nil
        client.step("recovery/token", ["recoveryToken": .string(mail)])
        #expect(client.code == "E0000105")
        client.step("recovery/token", ["recoveryToken": "x"])
        #expect(client.code == "E0000011")
    }

    /// A link to activate an account is good until the account is active, however that came to be.
    @Test(arguments: [true, false]) func nobodyIsActivatedTwice(byLink: Bool) {
        var client = OktaHarness()
        func link(for purpose: String) -> String {
            let order = #"{"user": "ada@example.com", "for": "\#(purpose)"}"#
            return client.base.control("POST", "okta/link", order)["token"]?.string ?? ""
        }
        let links = [link(for: "activation"), link(for: "activation")]
        if byLink {
            client.step("", ["token": .string(links[0])])
            client.step("credentials/reset_password", ["newPassword": "correct-horse-7"])
            #expect(client.state == "SUCCESS")
        } else {
            #expect(client.begin("ada@example.com") == "SUCCESS")
        }
        for _ in 0..<2 {
            client.token = nil
            client.step("", ["token": .string(links[1])])
            #expect(client.status == 403 && client.code == "E0000016")
        }
        client.step("recovery/token", ["recoveryToken": .string(link(for: "recovery"))])
        #expect(client.state == "PASSWORD_RESET")
        client.token = nil
        client.step("", ["token": .string(link(for: "activation"))])
        #expect(client.state == "PASSWORD_RESET", "whoever is sent a link again is to follow it")
    }

    @Test func whoIsNotKnownLooksLikeAnybody() {
        var client = OktaHarness()
        client.step("recovery/password", ["username": "nobody@example.com", "factorType": "SMS"])
        #expect(client.state == "RECOVERY_CHALLENGE" && client.token != nil)
        #expect(client.base.world.outbox.messages.isEmpty)
        client.step("recovery/factors/sms/verify", ["passCode": "000000"])
        #expect(client.code == "E0000068")
    }

    @Test func somebodyMayNotRecover() {
        var client = OktaHarness(
            user: OktaHarness.person {
                $0.okta.mayUnlock = false
                $0.okta.mayRecover = false
            }
        )
        client.step("recovery/unlock", ["username": "eva@example.com", "factorType": "EMAIL"])
        #expect(client.code == "E0000032")
        client.step("recovery/password", ["username": "eva@example.com", "factorType": "EMAIL"])
        #expect(client.code == "E0000034")
    }
}
