import HTTPRecovery

/// What an error of Auth0's means.
struct Auth0ErrorRule {
    var kind: Outcome.Kind
    var remedies: [Outcome.Remedy] = []
    var scope = Outcome.Scope.endpoint
    /// The credential that is dead by it.
    var clears: Outcome.CredentialKind?
    /// Whether the text was written for the person.
    var isForPerson = false

    init(
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        scope: Outcome.Scope = .endpoint,
        clears: Outcome.CredentialKind? = nil,
        isForPerson: Bool = false
    ) {
        self.kind = kind
        self.remedies = remedies
        self.scope = scope
        self.clears = clears
        self.isForPerson = isForPerson
    }

    /// The meaning of an error; nil if its code is not known, and the status has to do.
    ///
    /// One code means several things, which only its text tells apart; an unknown text falls back to the last of them.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - presented: What was presented: `state` is an mfa token, nothing is a password.
    ///   - isSignUp: Whether an account was to be created.
    static func of(
        _ error: Auth0Error,
        presented: Outcome.CredentialKind?,
        isSignUp: Bool = false
    ) -> Auth0ErrorRule? {
        if error.says("user is blocked") { return Auth0ErrorRule(.accountBlocked, [.contactAdmin], isForPerson: true) }
        if error.says("public signup is disabled") { return Auth0ErrorRule(.permissionDenied, [.contactAdmin]) }
        if error.says("missing username for") { return Auth0ErrorRule(.invalidRequest, [.askUser, .fixRequest]) }
        if error.says("too many failed codes") { return tooMany(error, presented) }
        if error.says("not issued to this client", "doesn't match the mfa_token") {
            return Auth0ErrorRule(.stateConflict, [.restartFlow])
        }
        switch error.code {
        case "invalid_grant": return grant(error, presented)
        case "access_denied": return denial(error, presented)
        case "unauthorized":
            // A bearer token's refusal has the same word as that of a rule of the tenant.
            return presented == .access
                ? refused(.access, [.refreshCredential])
                : Auth0ErrorRule(.permissionDenied, [.contactAdmin], isForPerson: true)
        case "invalid_token",
            "expired_token" where presented == .access:
            switch presented {
            case .state: return ended
            case .refresh: return refused(.refresh, [.reauthenticate])
            default: return refused(.access, [.refreshCredential])
            }
        case "expired_token":
            if presented == .device { return Auth0ErrorRule(.flowExpired, [.restartFlow], clears: .device) }
            return error.says("oob_code") ? Auth0ErrorRule(.challengeExpired, [.newChallenge]) : ended
        case "too_many_attempts": return tooMany(error, presented)
        case "password_leaked" where isSignUp:
            return Auth0ErrorRule(.passwordCompromised, [.askUser], isForPerson: true)
        case "a0.mfa_registration_required", "association_required":
            return enrollment(error, presented)
        case "mfa_required" where error.wantsEnrollment && presented == nil:
            return enrollment(error, presented)
        case "mfa_required", "a0.mfa_required":
            // Before a sign-in has begun it leads on; in the middle of a session it is another sign-in.
            return presented == nil
                ? Auth0ErrorRule(.continue, [.askUser, .switchFactor]) : Auth0ErrorRule(.stepUpRequired, [.stepUp])
        case "invalid_request":
            let isConnection = error.says("was not found", "was disabled", "not yet configured")
            if isConnection { return Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app) }
            // What a new passkey's account comes to where there is one.
            if error.says("already exists") { return Auth0ErrorRule(.conflict, [.askUser, .reauthenticate]) }
            return Auth0ErrorRule(
                .invalidRequest,
                error.parameter == "binding_code" ? [.askUser, .fixRequest] : [.fixRequest]
            )
        default: return table[error.code]
        }
    }

    /// A second factor is wanted, and there is none: with an mfa token one can be set up at once.
    private static func enrollment(_ error: Auth0Error, _ presented: Outcome.CredentialKind?) -> Auth0ErrorRule {
        error.hasToken && presented == nil
            ? Auth0ErrorRule(.continue, [.askUser])
            : Auth0ErrorRule(.userActionRequired, [.visitProvider, .askUser])
    }

    /// What there were too many of, and so what is blocked: the text tells, else what was presented.
    private static func tooMany(_ error: Auth0Error, _ presented: Outcome.CredentialKind?) -> Auth0ErrorRule {
        if error.says("suspicious") {
            return Auth0ErrorRule(.policyBlocked, [.wait, .contactAdmin], scope: .origin, isForPerson: true)
        }
        // Ten wrong codes, one of which is forgotten every few minutes: no block of the account.
        let isOfCodes = error.says("failed codes") || presented == .state && !error.says("blocked")
        return isOfCodes
            ? Auth0ErrorRule(.rateLimited, [.wait, .switchFactor], scope: .account, isForPerson: true)
            : Auth0ErrorRule(
                .accountLocked,
                [.unlock, .changePassword, .contactAdmin],
                scope: .account,
                isForPerson: true
            )
    }

    /// The mfa token is over: the password is to be presented again.
    private static let ended = Auth0ErrorRule(.flowExpired, [.restartFlow], clears: .state)

    private static func grant(_ error: Auth0Error, _ presented: Outcome.CredentialKind?) -> Auth0ErrorRule {
        if error.says("maximum number of attempts", "verification code has expired") {
            return Auth0ErrorRule(.challengeExpired, [.newChallenge])
        }
        if error.says("wrong email or verification code", "wrong phone number or verification code") {
            return Auth0ErrorRule(.challengeIncorrect, [.askUser, .newChallenge])
        }
        if error.says("malformed mfa_token", "mfa_token is expired") { return ended }
        if error.says("invalid otp_code", "invalid binding_code", "mfa authorization rejected") {
            return Auth0ErrorRule(.challengeIncorrect, [.askUser, .switchFactor])
        }
        // Whatever was presented, the text says what is refused.
        if error.says("wrong email or password") { return Auth0ErrorRule(.invalidCredentials, [.askUser]) }
        if error.says("invalid refresh token", "the refresh_token") { return refused(.refresh, [.reauthenticate]) }
        if error.says("invalid authorization code") { return refused(.code, [.restartFlow]) }
        switch presented {
        case .refresh: return refused(.refresh, [.reauthenticate])
        case .code: return refused(.code, [.restartFlow])
        case .device: return Auth0ErrorRule(.flowExpired, [.restartFlow], clears: .device)
        case .state: return Auth0ErrorRule(.challengeIncorrect, [.askUser, .switchFactor])
        default: return Auth0ErrorRule(.invalidCredentials, [.askUser])
        }
    }

    private static func denial(_ error: Auth0Error, _ presented: Outcome.CredentialKind?) -> Auth0ErrorRule {
        if error.says("global limit has been reached") { return Auth0ErrorRule(.rateLimited, [.wait], scope: .origin) }
        if error.says("service not found") { return Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app) }
        if error.says("did not authorize") || presented == .device {
            return Auth0ErrorRule(.declined, [.restartFlow], clears: .device)
        }
        if error.says("mfa authorization rejected") { return Auth0ErrorRule(.declined, [.switchFactor, .restartFlow]) }
        if error.says("invalid refresh token") { return refused(.refresh, [.reauthenticate]) }
        return Auth0ErrorRule(.permissionDenied, [.contactAdmin], isForPerson: true)
    }

    private static func refused(_ kind: Outcome.CredentialKind, _ remedies: [Outcome.Remedy]) -> Auth0ErrorRule {
        Auth0ErrorRule(.credentialRejected, remedies, scope: .credential, clears: kind)
    }

    /// The codes with one meaning.
    private static let table: [String: Auth0ErrorRule] = [
        "invalid_user_password": Auth0ErrorRule(.invalidCredentials, [.askUser]),
        "too_many_logins": Auth0ErrorRule(.rateLimited, [.wait], scope: .account),
        "password_leaked": Auth0ErrorRule(.passwordCompromised, [.changePassword, .visitProvider], isForPerson: true),
        "requires_verification": Auth0ErrorRule(.challengeRequired, [.solveChallenge, .visitProvider]),
        "requires_validation": Auth0ErrorRule(.challengeRequired, [.solveChallenge, .visitProvider]),
        "password_expired": Auth0ErrorRule(.passwordExpired, [.changePassword]),
        "password_change_required": Auth0ErrorRule(.passwordExpired, [.changePassword]),
        "bad.connection": Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app),
        "bad.client_id": Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app),
        "bad.tenant": Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app),
        "bad.email": Auth0ErrorRule(.invalidRequest, [.askUser]),
        "bad.phone_number": Auth0ErrorRule(.invalidRequest, [.askUser]),
        "bad.authParams": Auth0ErrorRule(.invalidRequest, [.fixRequest]),
        "bad.request": Auth0ErrorRule(.invalidRequest, [.fixRequest]),
        "sms_provider_error": Auth0ErrorRule(.factorUnavailable, [.switchFactor, .askUser]),
        "a0.mfa_invalid_code": Auth0ErrorRule(.challengeIncorrect, [.askUser, .switchFactor]),
        "unsupported_challenge_type": Auth0ErrorRule(.factorUnavailable, [.switchFactor]),
        "authorization_pending": Auth0ErrorRule(.challengePending, [.poll]),
        "slow_down": Auth0ErrorRule(.challengePending, [.poll]),
        // At another provider the person has not connected an account, or has taken back what the tenant keeps of it.
        "federated_connection_refresh_token_not_found": Auth0ErrorRule(
            .userActionRequired,
            [.reauthenticate, .visitProvider]
        ),
        "federated_connection_refresh_token_flow_failed": Auth0ErrorRule(
            .userActionRequired,
            [.reauthenticate, .visitProvider]
        ),
        "insufficient_scope": Auth0ErrorRule(.permissionDenied, [.fixRequest]),
        "invalid_password": Auth0ErrorRule(.passwordRejected, [.askUser]),
        "password_strength_error": Auth0ErrorRule(.passwordRejected, [.askUser]),
        "password_dictionary_error": Auth0ErrorRule(.passwordRejected, [.askUser]),
        "password_no_user_info_error": Auth0ErrorRule(.passwordRejected, [.askUser]),
        "password_history_error": Auth0ErrorRule(.passwordRejected, [.askUser]),
        "user_exists": Auth0ErrorRule(.conflict, [.askUser, .reauthenticate]),
        "username_exists": Auth0ErrorRule(.conflict, [.askUser, .reauthenticate]),
        "invalid_signup": Auth0ErrorRule(.conflict, [.askUser, .reauthenticate]),
        "invalid_client": Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app),
        "unauthorized_client": Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app),
        "endpoint_disabled": Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app),
        "unsupported_grant_type": Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app),
        "unsupported_response_type": Auth0ErrorRule(.misconfigured, [.fixRequest], scope: .app),
        "invalid_scope": Auth0ErrorRule(.invalidRequest, [.fixRequest]),
        "method_not_allowed": Auth0ErrorRule(.invalidRequest, [.fixRequest]),
    ]
}
