import HTTPRecovery

/// The keys of the identity engine's messages, and what they mean for recovery.
///
/// A key that ends with an error code means what the code means (``OktaCodes``); one that stands in neither leaves the
/// decision to what the answer offers.
enum OktaMessageKeys {
    /// What a key means; nil if it is not known.
    static func meaning(of key: String) -> OktaErrorRule? {
        let key = key.lowercased()
        return exact[key] ?? beginnings.first { key.hasPrefix($0.part) }?.meaning
            ?? parts.first { key.holds($0.part) }?.meaning
    }

    private static let wrongCode = OktaErrorRule(.challengeIncorrect, [.askUser])
    private static let wrongSecret = OktaErrorRule(.invalidCredentials, [.askUser])
    private static let denied = OktaErrorRule(.permissionDenied, [.contactAdmin])
    private static let wrongPassword = OktaErrorRule(.passwordRejected, [.askUser])
    private static let wrongEntry = OktaErrorRule(.invalidRequest, [.askUser])
    private static let noFactor = OktaErrorRule(.factorUnavailable, [.switchFactor])
    private static let locked = OktaErrorRule(.accountLocked, [.unlock, .contactAdmin], scope: .account)
    /// Something ended well, and the flow with it: the person signs in anew.
    private static let completed = OktaErrorRule(.ok, [.restartFlow], clears: [.state])
    /// A link that was sent is used up.
    private static let deadLink = OktaErrorRule(.challengeExpired, [.newChallenge])
    private static let deadToken = OktaErrorRule(.challengeExpired, [.newChallenge, .contactAdmin], clears: [.state])
    /// The code belongs into the client that has asked for it.
    private static let elsewhere = OktaErrorRule(.userActionRequired, [.askUser])
    private static let mail = OktaErrorRule(.userActionRequired, [.visitProvider])

    private static let exact: [String: OktaErrorRule] = answers.merging(states) { first, _ in first }

    /// What is said of an answer.
    private static let answers: [String: OktaErrorRule] = [
        "api.authn.error.passcode_invalid": wrongCode,
        "authfactor.challenge.soft_token.invalid_passcode": wrongCode,
        "authfactor.challenge.soft_token.used_passcode": wrongCode,
        "idx.invalid.device.code": wrongCode,
        "api.authenticator.error.nfc.pin_incorrect": wrongCode,
        "oie.authenticator.verify.error.fail": wrongCode,
        "authfactor.webauthn.error.assertion_validation_failure": OktaErrorRule(
            .challengeIncorrect,
            [.askUser, .switchFactor]
        ),
        "authfactor.challenge.suspended_factor": OktaErrorRule(
            .factorUnavailable,
            [.switchFactor, .unlock, .contactAdmin]
        ),
        "oie.authenticator.duo.method.duo.verification_failed": OktaErrorRule(
            .challengeIncorrect,
            [.newChallenge, .switchFactor]
        ),
        "oie.authenticator.duo.method.duo.verification_timeout": OktaErrorRule(
            .challengeExpired,
            [.newChallenge, .switchFactor]
        ),
        "api.authn.poll.error.push_rejected": OktaErrorRule(.declined),
        "api.factors.error.sms.invalid_phone": wrongEntry,
        "error.username.required": wrongEntry, "error.password.required": wrongEntry,
        "password.common": wrongPassword,
        "app.ldap.password.reset.failed": OktaErrorRule(.unavailable, [.contactAdmin]),
        // The new password is set all the same.
        "api.users.auth.error.post_password_update_auth_failure": OktaErrorRule(.stateConflict, [.restartFlow]),
        "toomanyrequests": OktaErrorRule(.rateLimited, [.wait]),
        "oie.toomanyrequests": OktaErrorRule(.rateLimited, [.wait]),
    ]

    /// What is said of the account, the flow or the org.
    private static let states: [String: OktaErrorRule] = [
        "error.auth.lockedout": locked,
        "oie.selfservice.user.unlock.not.allowed": denied,
        "oie.selfservice.unlock_user.challenge.failed.permissions": denied,
        "oie.selfservice.unlock_user.failed.message": OktaErrorRule(.accountLocked, [.contactAdmin], scope: .account),
        "oie.selfservice.unlock_user.success.message": completed,
        "idx.recovery.completed": completed,
        "oie.selfservice.unlock_user.landing.to.app.success.message": OktaErrorRule(.continue, [.askUser]),
        "oie.selfservice.reset.password.not.allowed": denied,
        "oie.forgot.password.is.not.enabled": denied,
        "idx.password.expiring.message": OktaErrorRule(.continue, [.changePassword]),
        "core.system.transaction_resource_not_found": OktaErrorRule(.challengeExpired, [.restartFlow, .newChallenge]),
        "idx.session.expired": .refused(.state), "error.expired.session": .refused(.state),
        "idx.return.link.expired": deadLink, "idx.return.stale": deadLink, "idx.return.error": deadLink,
        "idx.return.to.original.tab": elsewhere, "idx.enter.otp.in.original.tab": elsewhere,
        // The sign-in goes on there.
        "idx.transferred.to.new.tab": OktaErrorRule(.flowExpired),
        "idx.email.verification.required": mail, "idx.request.activation.email": mail,
        "idx.expired.activation.token": deadToken, "idx.missing.activation.token": deadToken,
        "idx.invalid.forgot.password.token": deadToken, "idx.invalid.reset.password.token": deadToken,
        "oie.invalid.recovery.token": deadToken,
        "idx.activating.inactive.user": OktaErrorRule(.accountBlocked, [.contactAdmin], scope: .account),
        "idx.reset.password.activating.user": OktaErrorRule(.accountBlocked, [.contactAdmin], scope: .account),
        "idx.error.user.not.assigned.to.app": denied, "idx.error.code.user_not_assigned": denied,
        "oie.assurance.unsatisfiable": denied,
        "oie.configuration.error": OktaErrorRule(.misconfigured, [.contactAdmin], scope: .app),
        "idx.error.registration.unavailable": denied,
        "registration.error.generic": OktaErrorRule(.unavailable),
        "registration.error.request.not.completed": OktaErrorRule(.unavailable),
    ]

    /// Keys of which Okta has several.
    private static let beginnings: [(part: String, meaning: OktaErrorRule)] = [
        ("idx.operation.cancelled", OktaErrorRule(.declined, [.restartFlow], clears: [.state])),
        ("security.access_denied", denied),
        (
            "idx.error.code.access_denied.device_assurance",
            OktaErrorRule(.permissionDenied, [.visitProvider, .contactAdmin])
        ),
        ("core.auth.factor.signednonce.error", noFactor),
        ("registration.error.notuniquewithinorg", OktaErrorRule(.conflict, [.askUser])),
        ("registration.error.doesnotmatchpattern", wrongEntry), ("registration.error.invalidloginemail", wrongEntry),
        ("securityquestion.", wrongEntry),
        ("idx.error.server.safe.mode", OktaErrorRule(.unavailable, [.wait])),
    ]

    private static let parts: [(part: String, meaning: OktaErrorRule)] = [
        ("passwordrequirementsnotmet", wrongPassword), ("incorrectpassword", wrongSecret),
        ("tagsnotallowed", wrongEntry), (".enable.biometrics", noFactor), ("upgrade.number_challenge", noFactor),
        ("toomanyrequests", OktaErrorRule(.rateLimited, [.wait])), ("session.expired", .refused(.state)),
    ]
}
