import AuthRecovery
import HTTPRecovery

/// Every row of the tables of a tenant's answers.
extension Auth0ClassifierTests {
    static func error(_ code: String, _ text: String = "") -> String {
        #"{"error":"\#(code)","error_description":"\#(text)"}"#
    }

    static let passwords: [Case] = [
        (403, error("invalid_grant", "Wrong email or password."), nil, .invalidCredentials, [.askUser]),
        (401, #"{"code":"invalid_user_password","description":"Wrong."}"#, nil, .invalidCredentials, [.askUser]),
        (
            403, error("invalid_grant", "Wrong email or verification code."), nil, .challengeIncorrect,
            [.askUser, .newChallenge]
        ),
        (
            403, error("invalid_grant", "You've reached the maximum number of attempts."), nil, .challengeExpired,
            [.newChallenge]
        ),
        (
            429, error("too_many_attempts", "Your account has been blocked after multiple consecutive login attempts."),
            nil, .accountLocked, [.unlock, .changePassword, .contactAdmin]
        ),
        (
            429, error("too_many_attempts", "We have detected suspicious login behavior."), nil, .policyBlocked,
            [.wait, .contactAdmin]
        ),
        (429, error("too_many_logins"), nil, .rateLimited, [.wait]),
        (
            401, error("password_leaked", "This login has been blocked because your password has been leaked."), nil,
            .passwordCompromised, [.changePassword, .visitProvider]
        ),
        (401, error("requires_verification"), nil, .challengeRequired, [.solveChallenge, .visitProvider]),
        (401, error("unauthorized", "user is blocked"), nil, .accountBlocked, [.contactAdmin]),
        (403, error("access_denied", "user is blocked."), nil, .accountBlocked, [.contactAdmin]),
        (401, error("unauthorized", "Not on weekends."), nil, .permissionDenied, [.contactAdmin]),
        (403, error("access_denied", "Not on weekends."), nil, .permissionDenied, [.contactAdmin]),
        (403, error("access_denied", "Service not found: https://x"), nil, .misconfigured, [.fixRequest]),
        (400, error("sms_provider_error"), nil, .factorUnavailable, [.switchFactor, .askUser]),
        (
            401, error("federated_connection_refresh_token_not_found"), .refresh, .userActionRequired,
            [.reauthenticate, .visitProvider]
        ),
        (
            401, error("federated_connection_refresh_token_flow_failed"), .access, .userActionRequired,
            [.reauthenticate, .visitProvider]
        ),
    ]

    static let factors: [Case] = [
        (403, #"{"error":"mfa_required","mfa_token":"m"}"#, nil, .continue, [.askUser, .switchFactor]),
        (403, error("mfa_required"), .refresh, .stepUpRequired, [.stepUp]),
        (403, error("invalid_grant", "Invalid otp_code."), .state, .challengeIncorrect, [.askUser, .switchFactor]),
        (403, error("invalid_grant", "Invalid binding_code."), .state, .challengeIncorrect, [.askUser, .switchFactor]),
        (400, error("authorization_pending"), .state, .challengePending, [.poll]),
        (429, error("slow_down"), .state, .challengePending, [.poll]),
        (400, error("access_denied", "MFA Authorization rejected."), .state, .declined, [.switchFactor, .restartFlow]),
        (
            200, error("access_denied", "MFA Authorization rejected."), .state, .declined,
            [.switchFactor, .restartFlow]
        ),
        (
            403, error("invalid_grant", "MFA Authorization rejected."), .state, .challengeIncorrect,
            [.askUser, .switchFactor]
        ),
        (401, error("expired_token", "mfa_token is expired"), .state, .flowExpired, [.restartFlow]),
        (403, error("invalid_grant", "Malformed mfa_token"), .state, .flowExpired, [.restartFlow]),
        (403, error("expired_token", "oob_code is expired"), .state, .challengeExpired, [.newChallenge]),
        (
            400, error("invalid_request", "Missing required parameter: binding_code"), .state, .invalidRequest,
            [.askUser, .fixRequest]
        ),
        (
            403, error("invalid_request", "mfa_token not issued to this client"), .state, .stateConflict,
            [.restartFlow]
        ),
        (400, error("unsupported_challenge_type"), .state, .factorUnavailable, [.switchFactor]),
        (
            429, error("too_many_attempts", "Too many failed codes. Wait for some minutes before retrying."), .state,
            .rateLimited, [.switchFactor, .wait]
        ),
        (429, error("too_many_attempts"), .state, .rateLimited, [.switchFactor, .wait]),
        (
            429, error("too_many_attempts", "Your account has been blocked after multiple consecutive login attempts."),
            .state, .accountLocked, [.unlock, .changePassword, .contactAdmin]
        ),
        (
            429, error("too_many_attempts", "We have detected suspicious login behavior; more will be blocked."),
            .state,
            .policyBlocked, [.wait, .contactAdmin]
        ),
    ]

    static let tokens: [Case] = [
        (
            403, error("invalid_grant", "Unknown or invalid refresh token."), .refresh, .credentialRejected,
            [.reauthenticate]
        ),
        (
            403, error("access_denied", "Unknown or invalid refresh token."), .refresh, .credentialRejected,
            [.reauthenticate]
        ),
        (403, error("invalid_grant", "Invalid authorization code"), .code, .credentialRejected, [.restartFlow]),
        (403, error("authorization_pending"), .device, .challengePending, [.poll]),
        (403, error("access_denied", "User cancelled"), .device, .declined, [.restartFlow]),
        (403, error("expired_token"), .device, .flowExpired, [.restartFlow]),
        (403, error("invalid_grant", "Invalid or expired device code"), .device, .flowExpired, [.restartFlow]),
        (401, "Unauthorized", .access, .credentialRejected, [.refreshCredential, .reauthenticate]),
        (403, error("insufficient_scope"), .access, .permissionDenied, [.fixRequest]),
        (401, error("unauthorized"), .access, .credentialRejected, [.refreshCredential]),
        (401, error("expired_token"), .access, .credentialRejected, [.refreshCredential]),
        (401, error("invalid_token"), .state, .flowExpired, [.restartFlow]),
        (401, "Unauthorized", .state, .flowExpired, [.restartFlow]),
        (403, error("mfa_required"), .access, .stepUpRequired, [.stepUp]),
        (401, error("a0.mfa_required"), .refresh, .stepUpRequired, [.stepUp]),
    ]

    static let others: [Case] = [
        (401, error("invalid_client"), nil, .misconfigured, [.fixRequest]),
        (403, error("unauthorized_client"), nil, .misconfigured, [.fixRequest]),
        (501, error("unsupported_grant_type"), .refresh, .misconfigured, [.fixRequest]),
        (400, error("invalid_request", "the connection was not found"), nil, .misconfigured, [.fixRequest]),
        (400, #"{"error":"public signup is disabled"}"#, nil, .permissionDenied, [.contactAdmin]),
        (
            400, #"{"error":"missing username for Username-Password connection with requires_username enabled"}"#, nil,
            .invalidRequest, [.askUser, .fixRequest]
        ),
        (400, error("bad.email", "error in email"), nil, .invalidRequest, [.askUser]),
        (500, error("access_denied", "Global limit has been reached"), nil, .rateLimited, [.wait]),
        (429, error("access_denied", "Client quota exceeded"), .client, .quotaExhausted, [.wait]),
        (
            400,
            #"{"name":"BadRequestError","code":"user_exists","description":"The user already exists.","statusCode":400}"#,
            nil, .conflict, [.askUser, .reauthenticate]
        ),
    ]

    /// What else the tables of the tenant's answers have.
    static let more: [Case] = [
        (400, error("invalid_user_password"), nil, .invalidCredentials, [.askUser]),
        (401, error("invalid_grant", "Wrong email or password"), nil, .invalidCredentials, [.askUser]),
        (
            403, error("invalid_grant", "Wrong phone number or verification code."), nil, .challengeIncorrect,
            [.askUser, .newChallenge]
        ),
        (
            403, error("invalid_grant", "The verification code has expired. Please try to login again."), nil,
            .challengeExpired, [.newChallenge]
        ),
        (429, error("too_many_attempts"), nil, .accountLocked, [.unlock, .changePassword, .contactAdmin]),
        (
            401, error("too_many_attempts", "Your account has been blocked"), nil, .accountLocked,
            [.unlock, .changePassword, .contactAdmin]
        ),
        (401, error("requires_validation"), nil, .challengeRequired, [.solveChallenge, .visitProvider]),
        (401, error("invalid_grant", "user is blocked"), .refresh, .accountBlocked, [.contactAdmin]),
        (401, error("password_expired"), nil, .passwordExpired, [.changePassword]),
        (401, error("password_change_required"), nil, .passwordExpired, [.changePassword]),
        (400, error("bad.connection", "x"), nil, .misconfigured, [.fixRequest]),
        (400, error("bad.client_id", "x"), nil, .misconfigured, [.fixRequest]),
        (400, error("bad.tenant", "x"), nil, .misconfigured, [.fixRequest]),
        (403, error("access_denied", "User did not authorize the request"), nil, .declined, [.restartFlow]),
        // Second factors.
        (401, error("a0.mfa_required"), nil, .continue, [.askUser, .switchFactor]),
        (403, error("a0.mfa_registration_required"), nil, .userActionRequired, [.visitProvider, .askUser]),
        (403, error("association_required"), .state, .userActionRequired, [.visitProvider, .askUser]),
        (403, #"{"error":"association_required","mfa_token":"m"}"#, nil, .continue, [.askUser]),
        (401, error("unsupported_challenge_type"), .state, .factorUnavailable, [.switchFactor]),
        (401, error("invalid_grant", "Invalid otp_code."), .state, .challengeIncorrect, [.askUser, .switchFactor]),
        (403, error("a0.mfa_invalid_code"), .state, .challengeIncorrect, [.askUser, .switchFactor]),
        (403, error("invalid_grant", "Something new"), .state, .challengeIncorrect, [.askUser, .switchFactor]),
        (403, error("expired_token", "mfa_token is expired"), .state, .flowExpired, [.restartFlow]),
        (
            403, error("invalid_request", "The oob_code doesn't match the mfa_token."), .state, .stateConflict,
            [.restartFlow]
        ),
        (403, error("access_denied", "Too many failed codes."), .state, .rateLimited, [.switchFactor, .wait]),
        // Devices, codes and tokens.
        (429, error("slow_down"), .device, .challengePending, [.poll]),
        (403, error("invalid_grant", "Failed to verify code verifier"), .code, .credentialRejected, [.restartFlow]),
        (
            403, error("invalid_grant", "The refresh_token was generated for a user who doesn't exist anymore."),
            .refresh, .credentialRejected, [.reauthenticate]
        ),
        (403, error("invalid_grant", "Something new"), .refresh, .credentialRejected, [.reauthenticate]),
        (403, error("access_denied", "Not on weekends."), .refresh, .permissionDenied, [.contactAdmin]),
        // Accounts.
        (400, database("invalid_password", "PasswordDictionaryError"), nil, .passwordRejected, [.askUser]),
        (400, database("invalid_password", "PasswordNoUserInfoError"), nil, .passwordRejected, [.askUser]),
        (400, database("invalid_password", "PasswordHistoryError"), nil, .passwordRejected, [.askUser]),
        (
            400, #"{"name":"PasswordStrengthError","message":"Password is too weak","statusCode":400}"#, nil,
            .passwordRejected, [.askUser]
        ),
        (400, error("password_strength_error"), nil, .passwordRejected, [.askUser]),
        (400, error("password_dictionary_error"), nil, .passwordRejected, [.askUser]),
        (400, error("password_no_user_info_error"), nil, .passwordRejected, [.askUser]),
        (400, error("password_history_error"), nil, .passwordRejected, [.askUser]),
        (400, database("username_exists"), nil, .conflict, [.askUser, .reauthenticate]),
        (409, database("user_exists"), nil, .conflict, [.askUser, .reauthenticate]),
        (400, database("invalid_signup"), nil, .conflict, [.askUser, .reauthenticate]),
        (400, database("x", nil, "Public signup is disabled"), nil, .permissionDenied, [.contactAdmin]),
        // The client and the server.
        (404, error("endpoint_disabled"), nil, .misconfigured, [.fixRequest]),
        (501, error("unsupported_response_type"), nil, .misconfigured, [.fixRequest]),
        (400, error("invalid_request", "The user already exists."), nil, .conflict, [.askUser, .reauthenticate]),
        (400, error("invalid_request", "the connection was disabled"), nil, .misconfigured, [.fixRequest]),
        (400, error("invalid_request", "the connection is not yet configured"), nil, .misconfigured, [.fixRequest]),
        (400, error("invalid_request", "Missing required parameter: username"), nil, .invalidRequest, [.fixRequest]),
        (400, error("invalid_scope"), nil, .invalidRequest, [.fixRequest]),
        (400, error("bad.authParams"), nil, .invalidRequest, [.fixRequest]),
        (400, error("bad.request"), nil, .invalidRequest, [.fixRequest]),
        (405, error("method_not_allowed"), nil, .invalidRequest, [.fixRequest]),
        (400, error("bad.phone_number"), nil, .invalidRequest, [.askUser]),
        (429, error("too_many_requests"), .refresh, .rateLimited, [.wait]),
        (
            429,
            #"{"statusCode":429,"error":"Too Many Requests","message":"Rate limit reached","errorCode":"too_many_requests"}"#,
            nil, .rateLimited, [.wait]
        ),
        (429, "Rate limit reached", nil, .rateLimited, [.wait]),
        (429, "", nil, .rateLimited, [.wait]),
        (403, error("access_denied", "Global limit has been reached"), nil, .rateLimited, [.wait]),
        (400, error("never_heard_of"), nil, .unknown, []),
        (403, error("never_heard_of"), .refresh, .unknown, []),
        (404, error("not_found"), .access, .notFound, []),
        (
            401, #"{"statusCode":401,"error":"Unauthorized"}"#, .access, .credentialRejected,
            [.refreshCredential, .reauthenticate]
        ),
    ]

    /// What the text, the envelope or a header tells alone.
    static let told: [Case] = [
        // Whatever was presented, as far as is known: the text says what was refused.
        (403, error("invalid_grant", "Unknown or invalid refresh token."), nil, .credentialRejected, [.reauthenticate]),
        (
            403, error("access_denied", "Unknown or invalid refresh token."), nil, .credentialRejected,
            [.reauthenticate]
        ),
        (403, error("invalid_grant", "Invalid authorization code"), nil, .credentialRejected, [.restartFlow]),
        (403, error("invalid_grant", "Wrong email or password."), .refresh, .invalidCredentials, [.askUser]),
        (403, error("invalid_grant", "mfa_token not issued to this client"), .state, .stateConflict, [.restartFlow]),
        (403, error("invalid_token"), .refresh, .credentialRejected, [.reauthenticate]),
        (403, error("access_denied", "User did not authorize the request"), .device, .declined, [.restartFlow]),
        (403, error("expired_token"), .refresh, .flowExpired, [.restartFlow]),
        // The phrase of a status is no code.
        (
            403, #"{"statusCode":403,"error":"Forbidden","message":"m","errorCode":"insufficient_scope"}"#, .access,
            .permissionDenied, [.fixRequest]
        ),
        (403, #"{"statusCode":403,"error":"Forbidden","message":"m"}"#, .access, .permissionDenied, [.contactAdmin]),
        (401, #"{"statusCode":401,"error":"Unauthorized","message":"m"}"#, .state, .flowExpired, [.restartFlow]),
        (
            429,
            #"{"statusCode":429,"error":"Too Many Requests","message":"Your account has been blocked","errorCode":"too_many_attempts"}"#,
            nil, .accountLocked, [.unlock, .changePassword, .contactAdmin]
        ),
    ]

    /// The form of what is about a database.
    static func database(_ code: String, _ name: String? = nil, _ text: String = "x") -> String {
        let name = name ?? "BadRequestError"
        return #"{"name":"\#(name)","code":"\#(code)","description":"\#(text)","statusCode":400}"#
    }
}
