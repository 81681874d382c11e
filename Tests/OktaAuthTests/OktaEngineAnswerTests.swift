import HTTPRecovery
import HTTPTypes
import OktaAuth
import Testing

/// What the identity engine's answers mean: its messages by their keys, its forms by their names.
@Suite("What the identity engine's answers mean")
struct OktaEngineAnswerTests {
    /// An answer with a message, and with forms.
    static func ion(
        _ key: String? = nil,
        _ severity: String = "ERROR",
        forms: [String] = [],
        more: String = "",
        field: Bool = false
    ) -> String {
        let message = key.map { key in
            #""messages":{"type":"array","value":[{"message":"Text.","i18n":{"key":"\#(key)","params":[]},"class":"\#(severity)"}]}"#
        }
        var entries = forms.map { name in
            #"{"rel":["create-form"],"name":"\#(name)","href":"https://o/idp/idx/x","method":"POST","value":[]}"#
        }
        if field, let message, let first = forms.first {
            entries[0] =
                #"{"name":"\#(first)","value":[{"name":"credentials","form":{"value":[{"name":"passcode",\#(message)}]}}]}"#
        }
        let remediation =
            entries.isEmpty ? "" : #","remediation":{"type":"array","value":[\#(entries.joined(separator: ","))]}"#
        let top = message.map { field ? "" : ",\($0)" } ?? ""
        return #"{"version":"1.0.0","stateHandle":"02.a~b"\#(remediation)\#(top)\#(more)}"#
    }

    private static func row(
        _ key: String,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        _ action: Outcome.TokenAction = .keep,
        _ severity: String = "ERROR",
        forms: [String] = ["challenge-authenticator"],
        more: String = "",
        status: Int = 400,
        credential: Outcome.CredentialKind? = nil
    ) -> Row {
        let recorded = Recorded(
            status: status,
            body: ion(key, severity, forms: forms, more: more),
            path: "/idp/idx/challenge/answer"
        )
        return Row("\(key) \(status) \(forms)", recorded, kind, remedies, action, credential)
    }

    private static let ended = [String]()

    static let keys: [Row] = [
        row("errors.E0000004", .invalidCredentials, [.askUser], forms: ["identify"], status: 401),
        row("E0000004", .invalidCredentials, [.askUser], forms: ["identify"]),
        row("incorrectPassword", .invalidCredentials, [.askUser]),
        row("api.authn.error.PASSCODE_INVALID", .challengeIncorrect, [.askUser]),
        row("api.authn.error.PASSCODE_INVALID", .challengeIncorrect, [.askUser], status: 200),
        row("authfactor.challenge.soft_token.invalid_passcode", .challengeIncorrect, [.askUser]),
        row("idx.invalid.device.code", .challengeIncorrect, [.askUser]),
        row("api.authenticator.error.nfc.pin_incorrect", .challengeIncorrect, [.askUser]),
        row("oie.authenticator.verify.error.fail", .challengeIncorrect, [.askUser]),
        row("authfactor.challenge.soft_token.used_passcode", .challengeIncorrect, [.askUser]),
        row(
            "authfactor.webauthn.error.assertion_validation_failure",
            .challengeIncorrect,
            [.askUser, .switchFactor]
        ),
        row(
            "authfactor.challenge.suspended_factor",
            .factorUnavailable,
            [.switchFactor, .unlock, .contactAdmin]
        ),
        row(
            "authfactor.challenge.suspended_factor",
            .accountLocked,
            [.contactAdmin],
            more: #","currentAuthenticatorEnrollment":{"value":{"type":"password"}}"#
        ),
        row("errors.E0000119", .accountLocked, [.contactAdmin]),
        row("errors.E0000119", .accountLocked, [.unlock], forms: ["identify", "unlock-account"]),
        row("errors.E0000069", .accountLocked, [.contactAdmin]),
        row("error.auth.lockedOut", .accountLocked, [.unlock], forms: ["select-authenticator-unlock-account"]),
        row("oie.selfservice.user.unlock.not.allowed", .permissionDenied, [.contactAdmin]),
        row("oie.selfservice.unlock_user.challenge.failed.permissions", .permissionDenied, [.contactAdmin]),
        row("oie.selfservice.unlock_user.failed.message", .accountLocked, [.contactAdmin]),
        row(
            "oie.selfservice.unlock_user.success.message",
            .ok,
            [.restartFlow],
            .clear,
            "INFO",
            forms: ended,
            status: 200
        ),
        row("idx.recovery.completed", .ok, [.restartFlow], .clear, "INFO", forms: ended, status: 200),
        row(
            "oie.selfservice.unlock_user.landing.to.app.success.message",
            .continue,
            [.askUser],
            .keep,
            "INFO",
            forms: ["identify"],
            status: 200
        ),
        row("password.passwordRequirementsNotMet", .passwordRejected, [.askUser]),
        row("registration.error.password.passwordRequirementsNotMet", .passwordRejected, [.askUser]),
        row("password.common", .passwordRejected, [.askUser]),
        row("oie.selfservice.reset.password.not.allowed", .permissionDenied, [.contactAdmin], status: 403),
        row("oie.forgot.password.is.not.enabled", .permissionDenied, [.contactAdmin]),
        row("errors.E0000034", .permissionDenied, [.contactAdmin]),
        row("errors.E0000035", .permissionDenied, [.contactAdmin]),
        row("api.users.auth.error.POST_PASSWORD_UPDATE_AUTH_FAILURE", .stateConflict, [.restartFlow]),
        row("app.ldap.password.reset.failed", .unavailable, [.contactAdmin]),
        row(
            "idx.password.expiring.message",
            .continue,
            [.changePassword],
            .keep,
            "INFO",
            forms: ["reenroll-authenticator-warning", "skip"],
            status: 200
        ),
        row("tooManyRequests", .rateLimited, [.wait, .askUser], status: 429),
        row("oie.tooManyRequests", .rateLimited, [.wait, .askUser], status: 429),
        row("errors.E0000150", .factorUnavailable, [.switchFactor]),
        row("errors.E0000151", .factorUnavailable, [.switchFactor]),
        row("errors.E0000150", .rateLimited, [.switchFactor, .wait], status: 429),
        row("errors.E0000151", .rateLimited, [.switchFactor, .wait], status: 429),
        row("api.authn.poll.error.push_rejected", .declined),
        row("idx.operation.cancelled.by.user", .declined, [.restartFlow], .clear, forms: ended),
        row("idx.operation.cancelled.on.other.device", .declined, [.restartFlow], .clear, forms: ended),
        row("core.system.transaction_resource_not_found", .challengeExpired, [.restartFlow], forms: ended, status: 404),
        row(
            "core.system.transaction_resource_not_found",
            .challengeExpired,
            [.restartFlow, .newChallenge],
            status: 404
        ),
        row("idx.session.expired", .flowExpired, [.restartFlow], .clear, forms: ended, status: 401),
        row("error.expired.session", .flowExpired, [.restartFlow], .clear, forms: ended, status: 403),
        row("idx.return.link.expired", .challengeExpired, [.newChallenge], .keep, "INFO", forms: ended, status: 200),
        row("idx.return.stale", .challengeExpired, [.newChallenge], forms: ended),
        row("idx.return.error", .challengeExpired, [.newChallenge], forms: ended),
        row("idx.return.to.original.tab", .userActionRequired, [.askUser], .keep, "INFO", forms: ended, status: 200),
        row("idx.enter.otp.in.original.tab", .userActionRequired, [.askUser], .keep, "INFO", forms: ended, status: 200),
        row("idx.transferred.to.new.tab", .flowExpired, [], .keep, "INFO", forms: ended, status: 200),
        row(
            "idx.email.verification.required",
            .userActionRequired,
            [.visitProvider],
            .keep,
            "INFO",
            forms: ended,
            status: 200
        ),
        row(
            "idx.request.activation.email",
            .userActionRequired,
            [.visitProvider],
            .keep,
            "INFO",
            forms: ended,
            status: 200
        ),
        row("idx.expired.activation.token", .challengeExpired, [.newChallenge, .contactAdmin], .clear, forms: ended),
        row("idx.missing.activation.token", .challengeExpired, [.newChallenge, .contactAdmin], .clear, forms: ended),
        row(
            "idx.invalid.forgot.password.token",
            .challengeExpired,
            [.newChallenge, .contactAdmin],
            .clear,
            forms: ended
        ),
        row(
            "idx.invalid.reset.password.token",
            .challengeExpired,
            [.newChallenge, .contactAdmin],
            .clear,
            forms: ended
        ),
        row("oie.invalid.recovery.token", .challengeExpired, [.newChallenge, .contactAdmin], .clear, forms: ended),
        row("idx.activating.inactive.user", .accountBlocked, [.contactAdmin], forms: ended),
        row("idx.reset.password.activating.user", .accountBlocked, [.contactAdmin], forms: ended),
        row("security.access_denied", .permissionDenied, [.contactAdmin], forms: ended, status: 403),
        row("security.access_denied_custom_message", .permissionDenied, [.contactAdmin], forms: ended, status: 403),
        row("idx.error.user.not.assigned.to.app", .permissionDenied, [.contactAdmin], forms: ended),
        row("idx.error.code.user_not_assigned", .permissionDenied, [.contactAdmin], forms: ended),
        row("oie.assurance.unsatisfiable", .permissionDenied, [.contactAdmin], forms: ended),
        row("oie.configuration.error", .misconfigured, [.contactAdmin], forms: ended),
        row(
            "idx.error.code.access_denied.device_assurance.remediation.title",
            .permissionDenied,
            [.visitProvider, .contactAdmin],
            forms: ended
        ),
        row("oie.authenticator.app.method.push.enable.biometrics.title", .factorUnavailable, [.switchFactor]),
        row("oie.authenticator.custom_app.method.push.enable.biometrics.or.pin", .factorUnavailable, [.switchFactor]),
        row("core.auth.factor.signedNonce.error", .factorUnavailable, [.switchFactor]),
        row(
            "oie.authenticator.oktaverify.method.push.force.upgrade.number_challenge",
            .factorUnavailable,
            [.switchFactor]
        ),
        row("core.auth.factor.signedNonce.error.deletedDevice", .factorUnavailable, [.switchFactor]),
        row(
            "oie.authenticator.duo.method.duo.verification_failed",
            .challengeIncorrect,
            [.newChallenge, .switchFactor]
        ),
        row(
            "oie.authenticator.duo.method.duo.verification_timeout",
            .challengeExpired,
            [.newChallenge, .switchFactor]
        ),
        row("registration.error.notUniqueWithinOrg", .conflict, [.askUser], forms: ["enroll-profile"]),
        row("registration.error.notUniqueWithinOrg.email", .conflict, [.askUser], forms: ["enroll-profile"]),
        row("registration.error.doesNotMatchPattern.email", .invalidRequest, [.askUser], forms: ["enroll-profile"]),
        row("registration.error.doesNotMatchPattern", .invalidRequest, [.askUser], forms: ["enroll-profile"]),
        row("registration.error.invalidLoginEmail", .invalidRequest, [.askUser], forms: ["enroll-profile"]),
        row("error.username.required", .invalidRequest, [.askUser], forms: ["identify"]),
        row("error.password.required", .invalidRequest, [.askUser], forms: ["identify"]),
        row("registration.error.tagsNotAllowed", .invalidRequest, [.askUser], forms: ["enroll-profile"]),
        row("securityQuestion.answer.tooShort", .invalidRequest, [.askUser]),
        row("api.factors.error.sms.invalid_phone", .invalidRequest, [.askUser]),
        row("idx.error.registration.unavailable", .permissionDenied, [.contactAdmin], forms: ended),
        row("registration.error.generic", .unavailable, forms: ended),
        row("registration.error.request.not.completed", .unavailable, forms: ended),
        row("idx.error.server.safe.mode.enrollment.unavailable", .unavailable, [.wait], forms: ended),
        row("errors.E0000010", .unavailable, [.wait, .retry], forms: ended),
        row("E0000010", .unavailable, [.wait, .retry], forms: ended),
        row("E0000009", .unavailable, [.resync], forms: ended),
        row("E0000020", .invalidRequest, [.fixRequest], forms: ended),
        row("errors.E0000009", .unavailable, [.resync], forms: ended),
        row("errors.E0000020", .invalidRequest, [.fixRequest], forms: ended),
        row("errors.E0000113", .continue, [.askUser]),
        row("key.of.tomorrow", .unknown, [.askUser]), row("key.of.tomorrow", .unknown, [.restartFlow], forms: ended),
        // The body counts in an outage too, which refuses nothing.
        row("errors.E0000010", .unavailable, [.wait], status: 503),
        row("errors.E0000009", .unavailable, [.resync], status: 500),
        row("errors.E0000020", .invalidRequest, [.fixRequest], forms: ended, status: 500),
        row("api.authn.error.PASSCODE_INVALID", .challengeIncorrect, [.askUser], status: 500),
        row("idx.session.expired", .flowExpired, [.restartFlow], forms: ended, status: 502),
        row("key.of.tomorrow", .unavailable, [.resync], status: 500),
    ]

    @Test(arguments: keys)
    func aMessageIsKnownByItsKey(row: Row) {
        let outcome = row.check()
        #expect(outcome.userMessage == "Text.")
        #expect(outcome.code.map(row.recorded.body.contains) == true)
    }

    static let live: [(names: [String], Outcome.Kind, [Outcome.Remedy])] = [
        (["identify", "redirect-idp"], .continue, [.askUser]), (["redirect-idp", "identify"], .continue, [.askUser]),
        (["identify-recovery"], .continue, [.askUser]), (["enroll-profile"], .continue, [.askUser]),
        (["enroll-profile-update", "skip"], .continue, [.askUser]), (["user-code"], .continue, [.askUser]),
        (["challenge-authenticator", "select-authenticator-authenticate"], .continue, [.askUser]),
        (["challenge-poll"], .continue, [.poll]), (["enroll-poll"], .continue, [.poll]), (["poll"], .continue, [.poll]),
        (["select-authenticator-authenticate"], .continue, [.switchFactor]),
        (["select-authenticator-enroll", "skip"], .continue, [.switchFactor]),
        (["reenroll-authenticator"], .passwordExpired, [.changePassword]),
        (["reenroll-custom-password-expiry"], .passwordExpired, [.visitProvider]),
        (["reenroll-authenticator-warning", "skip"], .continue, [.changePassword]),
        (["reset-authenticator"], .continue, [.changePassword]),
        (["redirect-idp"], .userActionRequired, [.visitProvider]),
        (["launch-authenticator"], .userActionRequired, [.visitProvider]),
        (["piv-idp"], .userActionRequired, [.visitProvider]), (["consent"], .userActionRequired, [.askUser]),
        (["admin-consent"], .userActionRequired, [.askUser]),
        (["email-challenge-consent"], .userActionRequired, [.askUser]),
        (["granular-consent"], .userActionRequired, [.askUser]), (["keep-me-signed-in"], .continue, [.askUser]),
        (["device-challenge-poll"], .continue, [.poll]), (["profile-update", "skip"], .continue, [.askUser]),
        (["select-authenticator-unlock-account"], .continue, [.switchFactor]),
        (["authenticator-verification-data"], .continue, [.askUser]),
        (["authenticator-enrollment-data"], .continue, [.askUser]),
        (["enrollment-channel-data"], .continue, [.askUser]), (["select-enrollment-channel"], .continue, [.askUser]),
        (["enroll-authenticator"], .continue, [.askUser]), (["select-identify"], .continue, [.askUser]),
        (["form-of-tomorrow"], .continue, [.askUser, .restartFlow]),
    ]

    /// The same answer was a 200 once and is an error's status now: what it offers decides.
    @Test(arguments: live.indices, [200, 400, 401, 403])
    func aLiveAnswerIsWhatItsFormsWant(index: Int, status: Int) {
        let (names, kind, remedies) = Self.live[index]
        let lines = status == 401 ? [("www-authenticate", "Oktadevicejwt realm=\"x\"")] : []
        let body = Self.ion(forms: names)
        let outcome = Recorded(status: status, body: body, lines: lines, path: "/idp/idx/identify").outcome
        #expect(outcome.kind == kind && outcome.remedies == remedies, "\(names)")
        #expect(outcome.statusType == names[0] && outcome.tokenAction == .keep)
    }

    @Test func aPollSaysHowLongToPause() {
        let body = #"{"version":"1.0.0","remediation":{"value":[{"name":"challenge-poll","refresh":2500}]}}"#
        let outcome = Recorded(status: 200, body: body, path: "/idp/idx/authenticators/poll").outcome
        #expect(outcome.retryAfter == .milliseconds(2500) && outcome.kind == .continue)
    }

    /// A mail may have a link beside its code: the code is asked for while it is looked whether that was opened.
    @Test func aQuestionThatMayBeAnsweredElsewhereIsPolled() {
        let poll = #""poll":{"name":"poll","href":"https://o/idp/idx/challenge/poll","method":"POST","refresh":4000}"#
        let mail = #","currentAuthenticatorEnrollment":{"value":{"type":"email","key":"okta_email",\#(poll)}}"#
        func outcome(_ more: String) -> Outcome {
            let body = Self.ion(forms: ["challenge-authenticator"], more: more)
            return Recorded(status: 200, body: body, path: "/idp/idx/challenge").outcome
        }
        #expect(outcome(mail).kind == .continue && outcome(mail).remedies == [.askUser, .poll])
        #expect(outcome(mail).retryAfter == .seconds(4))
        let other = #","currentAuthenticatorEnrollment":{"value":{"type":"email","poll":null}}"#
        #expect(outcome(other).remedies == [.askUser] && outcome(other).retryAfter == nil)
    }

    @Test func anErrorIsFoundAtItsFieldAndBesideOthers() {
        let body = Self.ion("api.authn.error.PASSCODE_INVALID", forms: ["challenge-authenticator"], field: true)
        let outcome = Recorded(status: 401, body: body, path: "/idp/idx/challenge/answer").outcome
        #expect(outcome.kind == .challengeIncorrect && outcome.parameter == "credentials.passcode")
        #expect(outcome.code == "api.authn.error.PASSCODE_INVALID")
        // The first one that is known decides, and an option's form is looked through as well.
        let nested =
            #"{"version":"1.0.0","messages":{"value":[{"message":"A","i18n":{"key":"odd"},"class":"ERROR"}]},"remediation":{"value":[{"name":"select-authenticator-authenticate","value":[{"name":"authenticator","options":[{"value":{"form":{"value":[{"name":"methodType","messages":{"value":[{"message":"B","i18n":{"key":"oie.authenticator.verify.error.fail"},"class":"ERROR"}]}}]}}}]}]}]}}"#
        let other = Recorded(status: 200, body: nested, path: "/idp/idx/challenge").outcome
        #expect(other.kind == .challengeIncorrect && other.parameter == "authenticator.methodType")
        #expect(other.userMessage == "B")
    }

    @Test func theEndOfAFlowIsSeen() {
        let success = #"{"version":"1.0.0","successWithInteractionCode":{"name":"issue","value":[]}}"#
        let done = Recorded(status: 200, body: success, path: "/idp/idx/challenge/answer").outcome
        #expect(done.kind == .ok && done.statusType == "issue" && done.tokenAction == .keep)
        // Somewhere else than at the engine's own paths it is known by its version.
        #expect(Recorded(status: 200, body: success, path: "/other").outcome.statusType == "issue")
        let cancelled = Recorded(status: 200, body: Self.ion(forms: ["identify"]), path: "/idp/idx/cancel").outcome
        #expect(cancelled.kind == .ok && cancelled.tokenAction == .clear)
        let link = #"{"name":"success-redirect","href":"https://o/x","method":"GET"}"#
        func ended(by link: String) -> Outcome {
            let body = #"{"version":"1.0.0","stateHandle":"s","remediation":{"value":[\#(link)]}}"#
            return Recorded(status: 200, body: body, path: "/idp/idx/introspect").outcome
        }
        // A link has no `rel`, so nobody can be asked anything.
        #expect(ended(by: link).kind == .ok && ended(by: link).remedies.isEmpty)
        #expect(ended(by: link).statusType == "success-redirect")
        let failed = ended(by: link.replacing("success", with: "failure"))
        #expect(failed.kind == .unknown && failed.remedies == [.restartFlow])
        let over = Recorded(status: 200, body: Self.ion(), path: "/idp/idx/introspect").outcome
        #expect(over.kind == .unknown && over.remedies == [.restartFlow])
        let outage = Recorded(status: 502, body: Self.ion(forms: ["identify"]), path: "/idp/idx/introspect").outcome
        #expect(outage.kind == .unavailable)
    }

    @Test func whatIsNotTheEngineIsReadAsBefore() {
        func outcome(_ status: Int, _ body: String) -> Outcome {
            Recorded(status: status, body: body, path: "/idp/idx/introspect").outcome
        }
        #expect(outcome(401, Recorded.error("E0000011")).kind == .flowExpired)
        #expect(outcome(429, Recorded.error("E0000047")).kind == .rateLimited)
        #expect(outcome(403, "<html>").kind == .unreadable)
        #expect(outcome(502, "<html>").kind == .unavailable)
        #expect(outcome(200, "").kind != .continue)
    }

    @Test func aPuzzleIsToBeSolved() {
        let form =
            #"{"name":"identify","value":[{"name":"identifier"},{"name":"captchaVerify.captchaToken","required":true}]}"#
        let body = #"{"version":"1.0.0","captcha":{"value":{"type":"HCAPTCHA"}},"remediation":{"value":[\#(form)]}}"#
        let outcome = Recorded(status: 200, body: body, path: "/idp/idx/introspect").outcome
        #expect(outcome.kind == .challengeRequired && outcome.remedies == [.solveChallenge])
    }

    /// A limit that no field tells of is a person's or a flow's own.
    @Test func aLimitOfAFlowHoldsNobodyElse() {
        let body = Self.ion("tooManyRequests")
        #expect(Recorded(status: 429, body: body, path: "/idp/idx/challenge/poll").outcome.scope == .endpoint)
        let lines = [("x-rate-limit-limit", "600"), ("x-rate-limit-remaining", "0")]
        #expect(Recorded(status: 429, body: body, lines: lines, path: "/idp/idx/identify").outcome.scope == .origin)
    }
}
