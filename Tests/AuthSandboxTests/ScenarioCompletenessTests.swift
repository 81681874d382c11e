import HTTPRecovery
import Testing

@testable import AuthSandbox

/// Whatever can be said in Swift can be said in a scenario file.
///
/// Each property differs from its default when the file says so: a new one without a key makes these tests fail.
@Suite("Scenario files can say everything")
struct ScenarioCompletenessTests {
    /// The properties that are the same in both, with those of the structures within.
    private func unchanged(_ value: Any, _ standard: Any, path: String = "") -> [String] {
        let (mirror, other) = (Mirror(reflecting: value), Mirror(reflecting: standard))
        guard mirror.displayStyle == .struct, mirror.subjectType == other.subjectType, !mirror.children.isEmpty else {
            return String(describing: value) == String(describing: standard) ? [path] : []
        }
        return zip(mirror.children, other.children).flatMap { child, otherChild in
            unchanged(child.value, otherChild.value, path: "\(path).\(child.label ?? "?")")
        }
    }

    @Test func findsWhatIsUnchanged() {
        var settings = SandboxSettings()
        settings.okta.resets = [1]
        let found = unchanged(settings, SandboxSettings())
        #expect(found.contains(".parts.okta.remaining") && !found.contains(".parts.okta.resets") && found.count > 100)
    }

    @Test func everySetting() throws {
        let scenario = try SandboxScenario(
            json: """
                {"settings": {
                  "single_session": false, "enumeration_protection": true, "native_api": false,
                  "lockout": {"threshold": 3, "duration_s": null, "format": "string", "warnings": true},
                  "rate_limits": {"create_sign_in": {"count": 9, "per_s": 1}, "attempt_sign_in": {"count": 8, "per_s": 2},
                    "create_sign_up": {"count": 7, "per_s": 3}, "attempt_sign_up": false},
                  "session_token_life_s": 5, "session_life_s": 60, "sign_in_life_s": 61, "code_life_s": 62,
                  "code_attempts": 5, "resend_window_s": 1, "sms_delay_s": 1, "totp_single_use": true, "ended_session": "signed_out",
                  "require_token_seed": true, "client_in_errors": true, "fresh_for_s": 1,
                  "required_fields": ["password", "username"], "sign_up_mode": "waitlist", "client_token_grace_s": 1,
                  "social_strategies": "oauth_github", "redirect_urls": "a://b", "second_factor_attributes": "phone_number",
                  "captcha": "always", "protects": "sign_in", "trusted_device_apps": "com.example.app",
                  "password_policy": {"min_length": 9, "require_number": true, "require_uppercase": true,
                    "require_special": true, "breached": "x"},
                  "oauth": {"rotation": "persistent", "grace_s": 1, "grace_answer": "new", "returns_refresh_token": true,
                    "access_lifetime_s": 2, "refresh_lifetime_s": 3, "refresh_idle_s": 4, "code_lifetime_s": 5,
                    "device_lifetime_s": 6, "device_interval_s": 7, "jwt": true, "expires_in": "string",
                    "dpop": "optional", "dpop_nonce": false, "dpop_nonce_lifetime_s": 8, "id_token_algorithm": "HS256",
                    "id_token_fault": "other_nonce", "key_rotated": true,
                    "offline_access_required": true, "default_scope": "x", "pkce_required": false,
                    "auth_required": false, "resource_scope": "y",
                    "step_up": {"acr_values": "a", "max_age_s": 9, "form": "okta"}, "signed_in_user": "z",
                    "authorize": "deny"},
                  "okta": {"rate_limit": {"count": 1, "per_s": 2}, "remaining": 3, "resets_s": [4], "concurrency": true,
                    "rate_headers": false, "header_case": "upper", "clock_skew_s": -5, "transaction_life_s": 6,
                    "session_token_life_s": 7, "session_life_s": 8, "code_life_s": 9, "factor_attempts": 10,
                    "sms_window_s": 11, "email_window_s": 12, "push_life_s": 13, "lockout_shown": true,
                    "quiet_resend": true, "policy_as_text": true, "authorize_failure": "page",
                    "app_requires_mfa": true, "identity_engine": true, "interaction_code": false, "app_grants": ["password"],
                    "identify_with_password": true, "device_probe": true, "consent": true, "passwordless": true,
                    "identity_provider": "only", "provider_type": "X509", "provider_user": "x", "captcha": true,
                    "granular_consent": true, "verify_channels": ["email"], "registration": true,
                    "email_link": "own", "email_poll": false, "name_limit": {"count": 5, "per_s": 6}},
                  "forgerock": {"realms": ["one"], "default_journey": "MFA", "step_up_journey": "Login",
                    "cookie_name": "c", "api_version_required": false, "unknown_version_status": 406,
                    "error_numbers": true, "step_lifetime_s": 1, "expired_form": "text_400", "suspended_lifetime_s": 2,
                    "sticky": true, "lockout": {"threshold": 1, "warn_at": 1, "duration_s": 1, "states_time": true},
                    "zero_page_login": false, "name_prompt": "x", "push_number": "1", "push_life_s": 15, "push_attempts": 5, "failure_url": "x",
                    "redirect_uri": "x", "provider_user": "grace",
                    "login_attempts": 4, "session_dialect": "openam", "session_idle_s": 5, "session_life_s": 6,
                    "session_quota": 7, "poll_count": 8, "poll_wait_s": 9, "code_lifetime_s": 10, "code_attempts": 11,
                    "fixed_code": "123456", "relying_party_id": "a.example", "origins": "https://a.example",
                    "webauthn_form": "script", "json_outcome": true, "user_verification": "required",
                    "webauthn_recovery": true, "captcha_form": "enterprise", "captcha_proof": "x",
                    "captcha_action": "login", "provider_wants_user": true, "redirect_method": "POST",
                    "own_questions": true, "webauthn_timeout_s": 12, "advice_carrier": "header", "advice_encoding": "base64",
                    "transaction_lifetime_s": 13, "refresh_grace_s": 14},
                  "facebook": {"app_id": "1", "app_secret": "s", "client_token": "t", "require_proof": true,
                    "token_life_s": 1, "long_token_life_s": 2, "code_life_s": 3, "redirect_uris": "u", "video_chunk": 5, "device_life_s": 4,
                    "device_interval_s": 6, "device": {"polls": 1, "decision": "deny", "user": "x"},
                    "hide_subcodes": true, "string_codes": true, "errors_in_200": true, "challenge": false,
                    "app_limit": {"count": 1, "per_s": 2}, "limit_transient": null, "limit_retry_after": true,
                    "early_call_s": 7, "app_usage": 8, "media_s": 9, "media_per_day": 10,
                    "pair_limit": {"count": 1, "per_s": 2}, "login_fault": "other_state",
                    "business_usage": {"type": "x", "percent": 9, "regain_min": 10}},
                  "auth0": {"client_id": "a", "client_secret": "s", "threshold": 1, "rotation": false, "leeway_s": 2,
                    "access_lifetime_s": 3, "mfa_on_refresh": true, "requirements": true, "userinfo_limit": 4,
                    "connections": "b", "audiences": "c", "permissions": "d", "offline_access": false,
                    "ip_threshold": 5, "bot_detection": true, "grants": "e", "passwordless": "sms", "callbacks": "f",
                    "device_life_s": 6, "device_interval_s": 7, "token_limit": 8,
                    "signup": false, "password_length": 9, "id_token_algorithm": "HS256", "key_rotated": true,
                    "session_life_s": 10, "dpop": "optional", "dpop_nonce": false,
                    "client_authentication": "private_key_jwt", "refresh_lifetime_s": 11, "refresh_idle_s": 12,
                    "request_limit": 13, "send_limits": false, "push_rejection_status": 200, "password_types": 3,
                    "password_history": 5, "logout_urls": "g"}
                }}
                """
        )
        #expect(unchanged(scenario.settings, SandboxSettings()) == [])
        // What is shown can be read again, and is all there is.
        var again = SandboxSettings()
        try again.update(from: JSONValue(of: scenario.settings), path: "settings")
        #expect(again == scenario.settings)
        #expect(scenario.settings.oauth.stepUp == with(.init(acrValues: "a", maximumAge: 9000)) { $0.form = "okta" })
        #expect(scenario.settings.facebook.device == .init(polls: 1, decision: "deny", user: "x"))
        #expect(scenario.settings.facebook.businessUsage == .init(type: "x", percent: 9, regain: 10))
    }

    private func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
        var value = value
        change(&value)
        return value
    }

    @Test func everythingAboutAPersonAndAClient() throws {
        let scenario = try SandboxScenario(
            json: """
                {"default_users": false,
                 "users": [{
                   "emails": ["e@example.com"], "phones": "+12015550100", "username": "eva", "first_name": "E",
                   "last_name": "X", "password": "p", "password_state": "pwned", "first_factors": "password",
                   "second_factors": "totp", "totp_secret": "JBSWY3DPEHPK3PXP", "backup_codes": "b", "passkeys": "k",
                   "device_trust": true, "lockout": {"threshold": 1, "duration_s": 2, "format": "absent", "warnings": true},
                   "locked_s": 1, "state": "banned", "tasks": "setup-mfa",
                   "organizations": "o", "organization_invitations": "i", "status_after_first_factor": "s",
                   "okta": {"password": "warn", "enroll": [{"type": "sms", "enrollment": "OPTIONAL"}],
                     "factors": [{"type": "push", "provider": "X", "name": "n", "destination": "d", "question": "q", "answer": "a",
                       "script": ["SUCCESS"], "number": "1"}],
                     "recovery_question": "q", "recovery_answer": "a", "lockout_shown": true, "unlock": false,
                     "forgot": false, "profile": "optional"},
                   "forgerock": {"name": "n", "realms": "/alpha", "state": "inactive"},
                    "facebook": {"id": "7", "behaviour": "expired", "permissions": "p", "declines": "d", "pages": "8",
                      "leaves_out": "9", "instagram": "10", "whatsapp": "11"},
                    "auth0": {"factors": "push", "enroll": "sms", "refusal": "r", "connections": "c",
                      "connection_lost": true}
                 }],
                 "oauth": {"default_clients": false, "clients": [{
                   "client_id": "app", "client_secret": "s", "auth_methods": "client_secret_post",
                   "redirect_uris": "app:/back", "grant_types": "refresh_token", "scopes": "x"}]}}
                """
        )
        #expect(scenario.users.count == 1 && scenario.oauthClients.count == 1)
        let user = try #require(scenario.users.first)
        #expect(unchanged(user, SandboxUser(email: "other")) == [])
        let factor = try #require(user.okta.factors?.first)
        #expect(unchanged(factor, SandboxOktaUser.Factor("sms")) == [])
        #expect(user.okta.enrollments == [.init("sms", isRequired: false)])
        #expect(unchanged(try #require(user.lockout), SandboxSettings.Lockout()) == [])
        #expect(unchanged(try #require(scenario.oauthClients.first), SandboxOAuthClient(id: "other")) == [])
    }

    @Test(arguments: SandboxFacebookBehaviour.all.map(\.name))
    func everyBehaviour(name: String) throws {
        let scenario = try SandboxScenario(
            json: #"{"users": [{"emails": "e", "facebook": {"behaviour": "\#(name)"}}]}"#
        )
        #expect(scenario.users.last?.facebook.behaviour.name == name)
    }

    @Test(arguments: SandboxFault.Kind.all.map(\.name))
    func everythingAboutAFault(kind: String) throws {
        let scenario = try SandboxScenario(
            json: """
                {"faults": [{
                  "kind": "\(kind)", "match": {"method": "POST", "path": "/a", "grant": "device_code"}, "status": 599,
                  "headers": {"A": "b"}, "retry_after": "huge", "body": "x", "code": "c", "message": "m",
                  "envelope": "D", "delay_ms": 1, "times": 2, "skip": 3, "percent": 4, "processed": true, "meta": {}
                }]}
                """
        )
        let fault = try #require(scenario.faults.first)
        let other = SandboxFault(kind == "status" ? .html : .status)
        #expect(unchanged(fault, other) == [])
        #expect(try JSONValue(of: fault, showsNull: false).read(path: "fault") == fault)
    }

    @Test(arguments: SandboxFault.envelopes)
    func everyEnvelope(name: String) throws {
        let fault = try SandboxFault(json: #"{"kind": "envelope", "envelope": "\#(name)"}"#)
        #expect(fault.envelope == name)
        var client = OAuthHarness()
        client.base.world.context.faults.add(fault)
        client.get(token: nil)
        #expect(client.status >= 200 && !client.answer.body.isEmpty)
    }
}
