import HTTPRecovery

/// The codes of Clerk's server error registry that a native client can meet, and what they mean for recovery.
enum ClerkCodes {
    /// The codes whose meaning depends on nothing else.
    static let table: [String: ClerkErrorRule] = Dictionary(
        rows.flatMap { row in row.codes.map { ($0, row.meaning) } },
        uniquingKeysWith: { first, _ in first }
    )

    private typealias Row = (codes: [String], meaning: ClerkErrorRule)

    private static let rows: [Row] = passwordRows + challengeRows + flowRows + sessionRows + policyRows + setupRows

    private static let passwordRows: [Row] = [
        // Whether there is something to wait for is told by the time that comes with it.
        (["user_locked"], ClerkErrorRule(.accountLocked, [.wait], scope: .account)),
        (
            [
                "form_password_incorrect", "form_password_or_identifier_incorrect", "form_password_validation_failed",
            ],
            ClerkErrorRule(.invalidCredentials, [.askUser, .switchFactor])
        ),
        (["form_password_compromised"], ClerkErrorRule(.passwordCompromised, [.switchFactor, .changePassword])),
        (
            ["password_reset_required", "password_too_long_needs_reset"],
            ClerkErrorRule(.passwordExpired, [.switchFactor, .changePassword])
        ),
        (["form_identifier_not_found"], ClerkErrorRule(.invalidCredentials, [.askUser])),
        (["form_identifier_exists"], ClerkErrorRule(.conflict, [.askUser, .reauthenticate])),
        (
            [
                "form_param_missing", "form_param_nil", "form_param_format_invalid", "form_param_value_invalid",
                "form_param_unknown", "form_conditional_param_missing",
            ],
            ClerkErrorRule(.invalidRequest, [.askUser, .fixRequest])
        ),
    ]

    private static let challengeRows: [Row] = [
        (["form_code_incorrect", "totp_incorrect_code"], ClerkErrorRule(.challengeIncorrect, [.askUser])),
        (["verification_expired"], ClerkErrorRule(.challengeExpired, [.newChallenge])),
        (["verification_failed"], ClerkErrorRule(.challengeExpired, [.newChallenge, .switchFactor])),
        (
            ["verification_missing", "verification_not_sent", "verification_strategy_invalid"],
            ClerkErrorRule(.stateConflict, [.newChallenge])
        ),
        (["verification_already_verified"], ClerkErrorRule(.stateConflict, [.resync])),
        (
            [
                "verification_link_token_expired", "verification_link_token_invalid", "verification_link_token_stale",
                "sign_up_outdated_verification",
            ],
            ClerkErrorRule(.challengeExpired, [.newChallenge])
        ),
        (
            [
                "verification_code_too_many_requests", "too_many_requests", "signup_rate_limit_exceeded",
                "rate_limit_exceeded",
            ],
            ClerkErrorRule(.rateLimited, [.wait])
        ),
        (["strategy_for_user_invalid", "no_second_factors"], ClerkErrorRule(.factorUnavailable, [.switchFactor])),
        (["requires_captcha", "requires_protect_check"], ClerkErrorRule(.challengeRequired, [.solveChallenge])),
        (["captcha_missing_token"], ClerkErrorRule(.challengeRequired, [.solveChallenge])),
        // Also Clerk's word for a limit on suspicious behaviour, so another try at once does not help.
        (["captcha_invalid"], ClerkErrorRule(.challengeRequired, [.wait, .solveChallenge])),
        (["requires_assertion", "requires_device_attestation"], ClerkErrorRule(.challengeRequired, [.solveChallenge])),
        (["session_reverification_required"], ClerkErrorRule(.stepUpRequired, [.stepUp])),
    ]

    private static let flowRows: [Row] = [
        (
            [
                "ticket_expired_code", "ticket_invalid_code", "approval_token_consumed", "approval_token_expired",
                "approval_token_invalid", "pkce_verification_failed", "flow_not_approved",
                "sign_in_identification_or_user_deleted",
            ],
            ClerkErrorRule(.flowExpired, [.restartFlow])
        ),
        (
            ["client_state_invalid", "account_transfer_invalid"],
            ClerkErrorRule(.stateConflict, [.resync, .restartFlow])
        ),
        (["client_not_found"], ClerkErrorRule(.stateConflict, [.resync, .restartFlow])),
        (["session_exists", "identifier_already_signed_in"], ClerkErrorRule(.alreadySignedIn, [.useExistingSession])),
        (["resource_locked"], ClerkErrorRule(.conflict, [.retry])),
        // The server wants the previous session token as a seed for the next one.
        (["missing_expired_token"], ClerkErrorRule(.invalidRequest, [.seedToken])),
    ]

    /// The session may be over; whether it is, the client tells when it is read again.
    private static let sessionRows: [Row] = [
        (
            [
                "authentication_invalid", "signed_out", "session_revoked", "session_expired", "session_ended",
                "session_removed", "session_replaced", "session_not_found", "session_invalid",
                "action_for_session_not_authorized",
            ],
            ClerkErrorRule(.credentialRejected, [.resync, .reauthenticate], scope: .credential, credential: .session)
        )
    ]

    private static let policyRows: [Row] = [
        (
            ["deprovisioned", "user_banned", "user_deactivated"],
            ClerkErrorRule(.accountBlocked, [.contactAdmin], scope: .account)
        ),
        (["action_blocked", "device_blocked"], ClerkErrorRule(.policyBlocked)),
        (
            [
                "authorization_invalid", "not_allowed_access", "sign_up_mode_restricted",
                "sign_up_restricted_waitlist", "unsupported_country_code",
            ],
            ClerkErrorRule(.permissionDenied, [.contactAdmin])
        ),
    ]

    private static let setupRows: [Row] = [
        (
            [
                "dev_browser_unauthenticated", "native_api_disabled", "origin_invalid",
                "origin_authorization_headers_conflict", "host_invalid", "request_invalid_for_environment",
                "api_version_invalid", "captcha_not_enabled",
            ],
            ClerkErrorRule(.misconfigured, [.fixRequest], scope: .app)
        ),
        (["unsupported_content_type"], ClerkErrorRule(.invalidRequest, [.fixRequest])),
        (
            ["internal_clerk_error", "service_unavailable", "gateway_timeout"],
            ClerkErrorRule(.unavailable, [.retry])
        ),
    ]
}
