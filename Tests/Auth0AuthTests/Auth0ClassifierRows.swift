import AuthRecovery
import HTTPRecovery

/// Every row of the tables of a tenant's answers.
extension Auth0ClassifierTests {
    static func error(_ code: String, _ text: String = "") -> String {
        #"{"error":"\#(code)","error_description":"\#(text)"}"#
    }

    static let passwords: [Case] = [
        (403, error("invalid_grant", "Wrong email or password."), nil, .invalidCredentials, [.askUser], .keep),
        (401, #"{"code":"invalid_user_password","description":"Wrong."}"#, nil, .invalidCredentials, [.askUser], .keep),
        (
            403, error("invalid_grant", "Wrong email or verification code."), nil, .challengeIncorrect,
            [.askUser, .newChallenge], .keep
        ),
        (
            403, error("invalid_grant", "You've reached the maximum number of attempts."), nil, .challengeExpired,
            [.newChallenge], .keep
        ),
        (
            429, error("too_many_attempts", "Your account has been blocked after multiple consecutive login attempts."),
            nil, .accountLocked, [.unlock, .changePassword, .contactAdmin], .keep
        ),
        (
            429, error("too_many_attempts", "We have detected suspicious login behavior."), nil, .policyBlocked,
            [.wait, .contactAdmin], .keep
        ),
        (429, error("too_many_logins"), nil, .rateLimited, [.wait], .keep),
        (
            401, error("password_leaked", "This login has been blocked because your password has been leaked."), nil,
            .passwordCompromised, [.changePassword, .visitProvider], .keep
        ),
        (401, error("requires_verification"), nil, .challengeRequired, [.solveChallenge, .visitProvider], .keep),
        (401, error("unauthorized", "user is blocked"), nil, .accountBlocked, [.contactAdmin], .keep),
        (403, error("access_denied", "user is blocked."), nil, .accountBlocked, [.contactAdmin], .keep),
        (401, error("unauthorized", "Not on weekends."), nil, .permissionDenied, [.contactAdmin], .keep),
        (403, error("access_denied", "Not on weekends."), nil, .permissionDenied, [.contactAdmin], .keep),
        (403, error("access_denied", "Service not found: https://x"), nil, .misconfigured, [.fixRequest], .keep),
        (400, error("sms_provider_error"), nil, .factorUnavailable, [.switchFactor, .askUser], .keep),
        (
            401, error("federated_connection_refresh_token_not_found"), .refresh, .userActionRequired,
            [.reauthenticate, .visitProvider], .keep
        ),
        (
            401, error("federated_connection_refresh_token_flow_failed"), .access, .userActionRequired,
            [.reauthenticate, .visitProvider], .keep
        ),
    ]

    static let factors: [Case] = [
        (403, #"{"error":"mfa_required","mfa_token":"m"}"#, nil, .continue, [.askUser, .switchFactor], .keep),
        (
            403, #"{"error":"mfa_required","mfa_token":"m","mfa_requirements":{"enroll":[{"type":"otp"}]}}"#, nil,
            .continue, [.askUser], .keep
        ),
        (
            403, #"{"error":"mfa_required","mfa_requirements":{"enroll":[{"type":"otp"}],"challenge":[]}}"#, nil,
            .userActionRequired, [.visitProvider, .askUser], .keep
        ),
        (
            403,
            #"{"error":"mfa_required","mfa_token":"m","mfa_requirements":{"enroll":[{"type":"otp"}],"challenge":[{"type":"otp"}]}}"#,
            nil, .continue, [.askUser, .switchFactor], .keep
        ),
        (403, error("mfa_required"), .refresh, .stepUpRequired, [.stepUp], .keep),
        (
            403, error("invalid_grant", "Invalid otp_code."), .state, .challengeIncorrect, [.askUser, .switchFactor],
            .keep
        ),
        (
            403, error("invalid_grant", "Invalid binding_code."), .state, .challengeIncorrect,
            [.askUser, .switchFactor], .keep
        ),
        (400, error("authorization_pending"), .state, .challengePending, [.poll], .keep),
        (429, error("slow_down"), .state, .challengePending, [.poll], .keep),
        (
            400, error("access_denied", "MFA Authorization rejected."), .state, .declined,
            [.switchFactor, .restartFlow], .keep
        ),
        (
            200, error("access_denied", "MFA Authorization rejected."), .state, .declined,
            [.switchFactor, .restartFlow], .keep
        ),
        (
            403, error("invalid_grant", "MFA Authorization rejected."), .state, .challengeIncorrect,
            [.askUser, .switchFactor], .keep
        ),
        (401, error("expired_token", "mfa_token is expired"), .state, .flowExpired, [.restartFlow], .clear),
        (403, error("invalid_grant", "Malformed mfa_token"), .state, .flowExpired, [.restartFlow], .clear),
        (403, error("expired_token", "oob_code is expired"), .state, .challengeExpired, [.newChallenge], .keep),
        (
            400, error("invalid_request", "Missing required parameter: binding_code"), .state, .invalidRequest,
            [.askUser, .fixRequest], .keep
        ),
        (
            403, error("invalid_request", "mfa_token not issued to this client"), .state, .stateConflict,
            [.restartFlow], .keep
        ),
        (400, error("unsupported_challenge_type"), .state, .factorUnavailable, [.switchFactor], .keep),
        (
            429, error("too_many_attempts", "Too many failed codes. Wait for some minutes before retrying."), .state,
            .rateLimited, [.wait, .switchFactor], .keep
        ),
        (429, error("too_many_attempts"), .state, .rateLimited, [.wait, .switchFactor], .keep),
        (
            429, error("too_many_attempts", "Your account has been blocked after multiple consecutive login attempts."),
            .state, .accountLocked, [.unlock, .changePassword, .contactAdmin], .keep
        ),
        (
            429, error("too_many_attempts", "We have detected suspicious login behavior; more will be blocked."),
            .state,
            .policyBlocked, [.wait, .contactAdmin], .keep
        ),
    ]

    static let tokens: [Case] = [
        (
            403, error("invalid_grant", "Unknown or invalid refresh token."), .refresh, .credentialRejected,
            [.reauthenticate], .clear
        ),
        (
            403, error("access_denied", "Unknown or invalid refresh token."), .refresh, .credentialRejected,
            [.reauthenticate], .clear
        ),
        (403, error("invalid_grant", "Invalid authorization code"), .code, .credentialRejected, [.restartFlow], .clear),
        (403, error("authorization_pending"), .device, .challengePending, [.poll], .keep),
        (403, error("access_denied", "User cancelled"), .device, .declined, [.restartFlow], .clear),
        (403, error("expired_token"), .device, .flowExpired, [.restartFlow], .clear),
        (403, error("invalid_grant", "Invalid or expired device code"), .device, .flowExpired, [.restartFlow], .clear),
        (401, "Unauthorized", .access, .credentialRejected, [.refreshCredential, .reauthenticate], .clear),
        (403, error("insufficient_scope"), .access, .permissionDenied, [.fixRequest], .keep),
        (401, error("unauthorized"), .access, .credentialRejected, [.refreshCredential], .clear),
        (401, error("expired_token"), .access, .credentialRejected, [.refreshCredential], .clear),
        (401, error("invalid_token"), .state, .flowExpired, [.restartFlow], .clear),
        (401, "Unauthorized", .state, .flowExpired, [.restartFlow], .clear),
        (403, error("mfa_required"), .access, .stepUpRequired, [.stepUp], .keep),
        (401, error("a0.mfa_required"), .refresh, .stepUpRequired, [.stepUp], .keep),
    ]

    static let others: [Case] = [
        (401, error("invalid_client"), nil, .misconfigured, [.fixRequest], .keep),
        (403, error("unauthorized_client"), nil, .misconfigured, [.fixRequest], .keep),
        (501, error("unsupported_grant_type"), .refresh, .misconfigured, [.fixRequest], .keep),
        (400, error("invalid_request", "the connection was not found"), nil, .misconfigured, [.fixRequest], .keep),
        (400, #"{"error":"public signup is disabled"}"#, nil, .permissionDenied, [.contactAdmin], .keep),
        (
            400, #"{"error":"missing username for Username-Password connection with requires_username enabled"}"#, nil,
            .invalidRequest, [.askUser, .fixRequest], .keep
        ),
        (400, error("bad.email", "error in email"), nil, .invalidRequest, [.askUser], .keep),
        (500, error("access_denied", "Global limit has been reached"), nil, .rateLimited, [.wait], .keep),
        (429, error("access_denied", "Client quota exceeded"), .client, .quotaExhausted, [.wait], .keep),
        (
            400,
            #"{"name":"BadRequestError","code":"user_exists","description":"The user already exists.","statusCode":400}"#,
            nil, .conflict, [.askUser, .reauthenticate], .keep
        ),
    ]

    /// What else the tables of the tenant's answers have.
    static let more: [Case] = [
        (400, error("invalid_user_password"), nil, .invalidCredentials, [.askUser], .keep),
        (401, error("invalid_grant", "Wrong email or password"), nil, .invalidCredentials, [.askUser], .keep),
        (
            403, error("invalid_grant", "Wrong phone number or verification code."), nil, .challengeIncorrect,
            [.askUser, .newChallenge], .keep
        ),
        (
            403, error("invalid_grant", "The verification code has expired. Please try to login again."), nil,
            .challengeExpired, [.newChallenge], .keep
        ),
        (429, error("too_many_attempts"), nil, .accountLocked, [.unlock, .changePassword, .contactAdmin], .keep),
        (
            401, error("too_many_attempts", "Your account has been blocked"), nil, .accountLocked,
            [.unlock, .changePassword, .contactAdmin], .keep
        ),
        (401, error("requires_validation"), nil, .challengeRequired, [.solveChallenge, .visitProvider], .keep),
        (401, error("invalid_grant", "user is blocked"), .refresh, .accountBlocked, [.contactAdmin], .keep),
        (401, error("password_expired"), nil, .passwordExpired, [.changePassword], .keep),
        (401, error("password_change_required"), nil, .passwordExpired, [.changePassword], .keep),
        (400, error("bad.connection", "x"), nil, .misconfigured, [.fixRequest], .keep),
        (400, error("bad.client_id", "x"), nil, .misconfigured, [.fixRequest], .keep),
        (400, error("bad.tenant", "x"), nil, .misconfigured, [.fixRequest], .keep),
        (403, error("access_denied", "User did not authorize the request"), nil, .declined, [.restartFlow], .keep),
        // Second factors.
        (401, error("a0.mfa_required"), nil, .continue, [.askUser, .switchFactor], .keep),
        (403, error("a0.mfa_registration_required"), nil, .userActionRequired, [.visitProvider, .askUser], .keep),
        (403, error("association_required"), .state, .userActionRequired, [.visitProvider, .askUser], .keep),
        (403, #"{"error":"association_required","mfa_token":"m"}"#, nil, .continue, [.askUser], .keep),
        (401, error("unsupported_challenge_type"), .state, .factorUnavailable, [.switchFactor], .keep),
        (
            401, error("invalid_grant", "Invalid otp_code."), .state, .challengeIncorrect, [.askUser, .switchFactor],
            .keep
        ),
        (403, error("a0.mfa_invalid_code"), .state, .challengeIncorrect, [.askUser, .switchFactor], .keep),
        (403, error("invalid_grant", "Something new"), .state, .challengeIncorrect, [.askUser, .switchFactor], .keep),
        (403, error("expired_token", "mfa_token is expired"), .state, .flowExpired, [.restartFlow], .clear),
        (
            403, error("invalid_request", "The oob_code doesn't match the mfa_token."), .state, .stateConflict,
            [.restartFlow], .keep
        ),
        (403, error("access_denied", "Too many failed codes."), .state, .rateLimited, [.wait, .switchFactor], .keep),
        // Devices, codes and tokens.
        (429, error("slow_down"), .device, .challengePending, [.poll], .keep),
        (
            403, error("invalid_grant", "Failed to verify code verifier"), .code, .credentialRejected, [.restartFlow],
            .clear
        ),
        (
            403, error("invalid_grant", "The refresh_token was generated for a user who doesn't exist anymore."),
            .refresh, .credentialRejected, [.reauthenticate], .clear
        ),
        (403, error("invalid_grant", "Something new"), .refresh, .credentialRejected, [.reauthenticate], .clear),
        (403, error("access_denied", "Not on weekends."), .refresh, .permissionDenied, [.contactAdmin], .keep),
        // Accounts.
        (400, database("invalid_password", "PasswordDictionaryError"), nil, .passwordRejected, [.askUser], .keep),
        (400, database("invalid_password", "PasswordNoUserInfoError"), nil, .passwordRejected, [.askUser], .keep),
        (400, database("invalid_password", "PasswordHistoryError"), nil, .passwordRejected, [.askUser], .keep),
        (
            400, #"{"name":"PasswordStrengthError","message":"Password is too weak","statusCode":400}"#, nil,
            .passwordRejected, [.askUser], .keep
        ),
        (400, error("password_strength_error"), nil, .passwordRejected, [.askUser], .keep),
        (400, error("password_dictionary_error"), nil, .passwordRejected, [.askUser], .keep),
        (400, error("password_no_user_info_error"), nil, .passwordRejected, [.askUser], .keep),
        (400, error("password_history_error"), nil, .passwordRejected, [.askUser], .keep),
        (400, database("username_exists"), nil, .conflict, [.askUser, .reauthenticate], .keep),
        (409, database("user_exists"), nil, .conflict, [.askUser, .reauthenticate], .keep),
        (400, database("invalid_signup"), nil, .conflict, [.askUser, .reauthenticate], .keep),
        (400, database("x", nil, "Public signup is disabled"), nil, .permissionDenied, [.contactAdmin], .keep),
        // The client and the server.
        (404, error("endpoint_disabled"), nil, .misconfigured, [.fixRequest], .keep),
        (501, error("unsupported_response_type"), nil, .misconfigured, [.fixRequest], .keep),
        (
            400, error("invalid_request", "The user already exists."), nil, .conflict, [.askUser, .reauthenticate],
            .keep
        ),
        (400, error("invalid_request", "the connection was disabled"), nil, .misconfigured, [.fixRequest], .keep),
        (
            400, error("invalid_request", "the connection is not yet configured"), nil, .misconfigured, [.fixRequest],
            .keep
        ),
        (
            400, error("invalid_request", "Missing required parameter: username"), nil, .invalidRequest, [.fixRequest],
            .keep
        ),
        (400, error("invalid_scope"), nil, .invalidRequest, [.fixRequest], .keep),
        (400, error("bad.authParams"), nil, .invalidRequest, [.fixRequest], .keep),
        (400, error("bad.request"), nil, .invalidRequest, [.fixRequest], .keep),
        (405, error("method_not_allowed"), nil, .invalidRequest, [.fixRequest], .keep),
        (400, error("bad.phone_number"), nil, .invalidRequest, [.askUser], .keep),
        (429, error("too_many_requests"), .refresh, .rateLimited, [.wait], .keep),
        (
            429,
            #"{"statusCode":429,"error":"Too Many Requests","message":"Rate limit reached","errorCode":"too_many_requests"}"#,
            nil, .rateLimited, [.wait], .keep
        ),
        (429, "Rate limit reached", nil, .rateLimited, [.wait], .keep),
        (429, "", nil, .rateLimited, [.wait], .keep),
        (403, error("access_denied", "Global limit has been reached"), nil, .rateLimited, [.wait], .keep),
        (400, error("never_heard_of"), nil, .unknown, [], .keep),
        // Somebody else has answered: all is kept, and no flow has ended.
        (400, "<html></html>", .refresh, .unreadable, [], .keep), (403, #"{"err"#, .refresh, .unreadable, [], .keep),
        (401, "Blocked by policy", .state, .unreadable, [], .keep), (401, "Blocked", nil, .unreadable, [], .keep),
        (403, error("never_heard_of"), .refresh, .unknown, [], .keep),
        (404, error("not_found"), .access, .notFound, [], .keep),
        (
            401, #"{"statusCode":401,"error":"Unauthorized"}"#, .access, .credentialRejected,
            [.refreshCredential, .reauthenticate], .clear
        ),
    ]

    /// What the text, the envelope or a header tells alone.
    static let told: [Case] = [
        // Whatever was presented, as far as is known: the text says what was refused.
        (
            403, error("invalid_grant", "Unknown or invalid refresh token."), nil, .credentialRejected,
            [.reauthenticate], .keep
        ),
        (
            403, error("access_denied", "Unknown or invalid refresh token."), nil, .credentialRejected,
            [.reauthenticate], .keep
        ),
        (403, error("invalid_grant", "Invalid authorization code"), nil, .credentialRejected, [.restartFlow], .keep),
        (403, error("invalid_grant", "Wrong email or password."), .refresh, .invalidCredentials, [.askUser], .keep),
        (
            403, error("invalid_grant", "mfa_token not issued to this client"), .state, .stateConflict, [.restartFlow],
            .keep
        ),
        (403, error("invalid_token"), .refresh, .credentialRejected, [.reauthenticate], .clear),
        (403, error("access_denied", "User did not authorize the request"), .device, .declined, [.restartFlow], .clear),
        (403, error("expired_token"), .refresh, .flowExpired, [.restartFlow], .keep),
        // The phrase of a status is no code.
        (
            403, #"{"statusCode":403,"error":"Forbidden","message":"m","errorCode":"insufficient_scope"}"#, .access,
            .permissionDenied, [.fixRequest], .keep
        ),
        (
            403, #"{"statusCode":403,"error":"Forbidden","message":"m"}"#, .access, .permissionDenied, [.contactAdmin],
            .keep
        ),
        (
            401, #"{"statusCode":401,"error":"Unauthorized","message":"m"}"#, .state, .flowExpired, [.restartFlow],
            .clear
        ),
        (
            429,
            #"{"statusCode":429,"error":"Too Many Requests","message":"Your account has been blocked","errorCode":"too_many_attempts"}"#,
            nil, .accountLocked, [.unlock, .changePassword, .contactAdmin], .keep
        ),
    ]

    /// The form of what is about a database.
    static func database(_ code: String, _ name: String? = nil, _ text: String = "x") -> String {
        let name = name ?? "BadRequestError"
        return #"{"name":"\#(name)","code":"\#(code)","description":"\#(text)","statusCode":400}"#
    }
}
