import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Clerk: captchas, proofs, devices, and what is not configured")
struct ClerkProtectionTests {
    // MARK: Captchas and proofs

    @Test func aCaptchaIsGoodOnce() {
        var client = Harness { $0.captcha = "always" }
        client.signIn("ada@example.com")
        #expect(client.status == 401 && client.code == "requires_captcha")
        client.call("POST", "client/verify", ["captcha_token": "t1"])
        #expect(client.code == "form_param_missing" && client.parameter == "captcha_widget_type")
        client.call("POST", "client/verify", ["captcha_token": "wrong-1", "captcha_widget_type": "smart"])
        #expect(client.status == 400 && client.code == "captcha_invalid")
        client.call("POST", "client/verify", ["captcha_token": "t1", "captcha_widget_type": "smart"])
        #expect(client.call("GET", "client")["response"]?["captcha_bypass"] == true)
        #expect(client.signIn("ada@example.com")["status"] == "complete")
        var other = Harness { $0.captcha = "sign_up" }
        other.world.clerk.captchas = client.world.clerk.captchas
        other.call("POST", "client/sign_ups", ["email_address": "new@example.com"])
        #expect(other.status == 400 && other.code == "captcha_missing_token")
        other.call(
            "POST",
            "client/sign_ups",
            ["email_address": "new@example.com", "captcha_token": "t1", "captcha_widget_type": "smart"]
        )
        #expect(other.code == "captcha_invalid")
    }

    @Test func aProofIsGoodOnceAndForAWhile() {
        var client = Harness { $0.protects = ["sign_in"] }
        func wanted(_ client: inout Harness, _ proof: String? = nil) -> String {
            let form: KeyValuePairs<String, String> =
                proof.map { ["identifier": "ada@example.com", "proof_token": $0] } ?? ["identifier": "ada@example.com"]
            client.call("POST", "client/sign_ins", form)
            return client.errors.first?["meta"]?["protect_check"]?["token"]?.string ?? ""
        }
        let token = wanted(&client)
        #expect(client.status == 403 && client.code == "requires_protect_check" && !token.isEmpty)
        #expect(!wanted(&client, "proof-of-another").isEmpty)
        #expect(wanted(&client, "proof-of-\(token)").isEmpty && client.status == 200)
        #expect(!wanted(&client, "proof-of-\(token)").isEmpty)
        let late = wanted(&client)
        client.advance(seconds: 900)
        #expect(!wanted(&client, "proof-of-\(late)").isEmpty)
    }

    @Test func theEnvironmentSaysHowACaptchaIsShown() {
        var client = Harness { $0.captcha = "sign_up" }
        let shown = client.call("GET", "environment")
        #expect(shown["display_config"]?["captcha_provider"] == "turnstile")
        #expect(shown["display_config"]?["captcha_public_key"] == "sandbox-key")
        #expect(shown["display_config"]?["captcha_widget_type"] == "smart")
        #expect(shown["user_settings"]?["sign_up"]?["captcha_enabled"] == true)
        var other = Harness()
        let none = other.call("GET", "environment")
        #expect(none["display_config"]?["captcha_public_key"]?.isNull == true)
        #expect(none["user_settings"]?["sign_up"]?["captcha_enabled"] == false)
    }

    @Test func aCodeIsNotTakenBeforeItsMessageHasLeft() {
        var client = Harness { $0.smsDelay = 5000 }
        let form: KeyValuePairs<String, String> = ["email_address": "new@example.com", "phone_number": "+4930123999"]
        let id = client.call("POST", "client/sign_ups", form)["response"]?["id"]?.string ?? ""
        let path = "client/sign_ups/\(id)"
        client.call("POST", path + "/prepare_verification", ["strategy": "phone_code"])
        let code = client.lastCode
        for _ in 0..<5 {
            client.call("POST", path + "/attempt_verification", ["strategy": "phone_code", "code": code])
            #expect(client.status == 400 && client.code == "sms_verification_not_yet_sent")
        }
        client.advance(seconds: 5)
        client.call("POST", path + "/attempt_verification", ["strategy": "phone_code", "code": code])
        #expect(client.status == 200)
        // A mail is only late.
        client.call("POST", path + "/prepare_verification", ["strategy": "email_code"])
        let mailed = client.lastCode
        client.call("POST", path + "/attempt_verification", ["strategy": "email_code", "code": mailed])
        #expect(client.status == 200)
    }

    @Test func aConsentThatIsRefusedIsNone() {
        var client = Harness { $0.requiredFields = ["legal_accepted"] }
        client.call("POST", "client/sign_ups", ["email_address": "new@example.com", "legal_accepted": "false"])
        #expect(client.status == 422 && client.code == "legal_not_accepted")
    }

    // MARK: What is not configured

    @Test(arguments: ["oauth_github", "oauth_token_apple", "oauth_custom_acme", "carrier_pigeon"])
    func aProviderThatIsNotConfiguredIsRefused(strategy: String) {
        var client = Harness()
        let form: KeyValuePairs<String, String> = ["strategy": strategy, "redirect_url": "app://back", "token": "t"]
        client.call("POST", "client/sign_ins", form)
        #expect(client.status == 422 && client.code == "form_param_value_invalid" && client.parameter == "strategy")
        #expect(client.errors.first?["long_message"]?.string?.hasPrefix(strategy) == true)
    }

    @Test func aTokenIsOfItsProvider() {
        var client = Harness { $0.socialStrategies = ["oauth_google", "oauth_apple"] }
        let made = client.control("POST", "clerk/identity", #"{"email": "ada@example.com", "provider": "apple"}"#)
        let token = made["token"]?.string ?? ""
        client.call("POST", "client/sign_ins", ["strategy": "oauth_token_google", "token": token])
        #expect(client.status == 400 && client.code == "oauth_token_exchange_error")
        client.call("POST", "client/sign_ins", ["strategy": "google_one_tap", "token": token])
        #expect(client.code == "google_one_tap_token_invalid")
        client.call("POST", "client/sign_ins", ["strategy": "oauth_token_apple", "token": token])
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")
    }

    @Test func whatIsSwitchedOffIsNotSetUp() {
        var client = Harness { $0.secondFactorAttributes = ["backup_code"] }
        client.signIn("ada@example.com")
        client.call("POST", "me/totp")
        #expect(client.status == 403 && client.code == "feature_not_enabled")
        let attributes = client.call("GET", "environment")["user_settings"]?["attributes"]
        #expect(attributes?["authenticator_app"]?["enabled"] == false)
        #expect(attributes?["phone_number"]?["enabled"] == true)
        #expect(attributes?["phone_number"]?["used_for_second_factor"] == false)
        #expect(attributes?["backup_code"]?["second_factors"] == ["backup_code"])
    }

    @Test func theSessionsOfAllDevicesAreListed() {
        var client = Harness()
        client.signIn("ada@example.com")
        var other = Harness()
        other.world = client.world
        other.signIn("ada@example.com")
        let list = other.call("GET", "me/sessions/active").array ?? []
        #expect(list.count == 2 && list.allSatisfy { $0["latest_activity"]?["object"] == "session_activity" })
    }

    // MARK: Keys of devices

    private static let point = Base64.encodeForURL([UInt8](repeating: 7, count: 32))
    private static let key = #"{"kty":"EC","crv":"P-256","x":"\#(point)","y":"\#(point)"}"#
    private static let signature = Base64.encodeForURL([0x30, 6, 2, 1, 1, 2, 1, 1])

    private func form(_ key: String = key, _ more: KeyValuePairs<String, String> = [:]) -> KeyValuePairs<String, String>
    {
        let data = more.first { $0.key == "client_data" }?.value ?? ""
        let signature = more.first { $0.key == "signature" }?.value ?? ""
        return [
            "platform": "android", "app_identifier": "com.example.cli", "algorithm": "ES256", "public_key_jwk": key,
            "client_data": data, "signature": signature,
        ]
    }

    private func challenge(_ client: inout Harness) -> String {
        client.call("POST", "me/trusted_devices/prepare", form())["response"]?["client_data"]?.string ?? ""
    }

    @Test func whatIsNoKeyIsNotEnrolled() {
        var client = Harness()
        client.signIn("ada@example.com")
        client.call("POST", "me/trusted_devices/prepare", form(#"{"kty":"EC","crv":"P-384"}"#))
        #expect(client.status == 422 && client.code == "trusted_device_invalid_public_key")
        client.call("POST", "me/trusted_devices/attempt", form(Self.key, ["client_data": "x", "signature": "x"]))
        #expect(client.status == 400 && client.code == "trusted_device_challenge_not_found")
        _ = challenge(&client)
        client.call("POST", "me/trusted_devices/attempt", form(Self.key, ["client_data": "x", "signature": "x"]))
        #expect(client.status == 422 && client.code == "trusted_device_invalid_client_data")
        let data = challenge(&client)
        client.call("POST", "me/trusted_devices/attempt", form(Self.key, ["client_data": data, "signature": "AAAA"]))
        #expect(client.status == 400 && client.code == "trusted_device_signature_verification_failed")
        // It was good for one proof.
        let proof: KeyValuePairs = ["client_data": data, "signature": Self.signature]
        client.call("POST", "me/trusted_devices/attempt", form(Self.key, proof))
        #expect(client.code == "trusted_device_invalid_client_data")
        let late = challenge(&client)
        client.advance(seconds: 300)
        client.call(
            "POST",
            "me/trusted_devices/attempt",
            form(Self.key, ["client_data": late, "signature": Self.signature])
        )
        #expect(client.code == "trusted_device_challenge_expired")
        var strict = Harness { $0.trustedDeviceApps = [] }
        strict.signIn("ada@example.com")
        strict.call("POST", "me/trusted_devices/prepare", form())
        #expect(strict.status == 400 && strict.code == "trusted_device_app_identifier_not_configured")
    }

    @Test func aKeyThatIsEnrolledSignsIn() {
        var client = Harness()
        client.signIn("ada@example.com")
        let data = challenge(&client)
        let proof: KeyValuePairs = ["client_data": data, "signature": Self.signature]
        let id =
            client.call("POST", "me/trusted_devices/attempt", form(Self.key, proof))["response"]?["id"]?.string ?? ""
        #expect(!id.isEmpty)
        client.call("POST", "me/trusted_devices/prepare", form())
        #expect(client.status == 409 && client.code == "trusted_device_already_enrolled")
        client.call("DELETE", "client/sessions")
        client.call("POST", "client/sign_ins", ["strategy": "trusted_device", "trusted_device_id": "tdc_nobodys"])
        #expect(client.status == 422 && client.code == "trusted_device_not_registered")
        let signIn = client.call(
            "POST",
            "client/sign_ins",
            ["strategy": "trusted_device", "trusted_device_id": id]
        )["response"]
        let wanted = signIn?["first_factor_verification"]?["trusted_device_challenge"]?["client_data"]?.string ?? ""
        let path = "client/sign_ins/\(signIn?["id"]?.string ?? "")/attempt_first_factor"
        let answer: KeyValuePairs = [
            "strategy": "trusted_device", "client_data": wanted, "signature": Self.signature, "algorithm": "ES256",
        ]
        #expect(client.call("POST", path, answer)["response"]?["status"] == "complete")
    }
}
