import HTTPRecovery

/// The codes of Clerk's server error registry that a native client can meet, and what they mean for recovery.
enum ClerkCodes {
    /// The codes whose meaning depends on nothing else.
    static let table: [String: ClerkMeaning] = Dictionary(
        rows.flatMap { row in row.codes.map { ($0, row.meaning) } },
        uniquingKeysWith: { first, _ in first }
    )

    private typealias Row = (codes: [String], meaning: ClerkMeaning)

    private static let rows: [Row] = passwordRows + challengeRows + flowRows + sessionRows + policyRows + setupRows

    private static let passwordRows: [Row] = [
        // Whether there is something to wait for is told by the time that comes with it.
        (["user_locked"], ClerkMeaning(.accountLocked, [.wait], scope: .account)),
        (
            [
                "form_password_incorrect", "form_password_or_identifier_incorrect", "form_password_validation_failed",
            ],
            ClerkMeaning(.invalidCredentials, [.askUser, .switchFactor])
        ),
        (["form_password_compromised"], ClerkMeaning(.passwordCompromised, [.switchFactor, .changePassword])),
        (
            ["password_reset_required", "password_too_long_needs_reset"],
            ClerkMeaning(.passwordExpired, [.switchFactor, .changePassword])
        ),
        (["form_identifier_not_found"], ClerkMeaning(.invalidCredentials, [.askUser])),
        (["form_identifier_exists"], ClerkMeaning(.conflict, [.askUser, .reauthenticate])),
        (
            [
                "form_param_missing", "form_param_nil", "form_param_format_invalid", "form_param_value_invalid",
                "form_param_unknown", "form_conditional_param_missing",
            ],
            ClerkMeaning(.invalidRequest, [.askUser, .fixRequest])
        ),
    ]

    private static let challengeRows: [Row] = [
        (["form_code_incorrect", "totp_incorrect_code"], ClerkMeaning(.challengeIncorrect, [.askUser])),
        (["verification_expired"], ClerkMeaning(.challengeExpired, [.newChallenge])),
        (["verification_failed"], ClerkMeaning(.challengeExpired, [.newChallenge, .switchFactor])),
        (
            ["verification_missing", "verification_not_sent", "verification_strategy_invalid"],
            ClerkMeaning(.stateConflict, [.newChallenge])
        ),
        (["verification_already_verified"], ClerkMeaning(.stateConflict, [.resync])),
        (
            [
                "verification_link_token_expired", "verification_link_token_invalid", "verification_link_token_stale",
                "sign_up_outdated_verification",
            ],
            ClerkMeaning(.challengeExpired, [.newChallenge])
        ),
        (
            [
                "verification_code_too_many_requests", "too_many_requests", "signup_rate_limit_exceeded",
                "rate_limit_exceeded",
            ],
            ClerkMeaning(.rateLimited, [.wait])
        ),
        (["strategy_for_user_invalid", "no_second_factors"], ClerkMeaning(.factorUnavailable, [.switchFactor])),
        (["requires_captcha", "requires_protect_check"], ClerkMeaning(.challengeRequired, [.solveChallenge])),
        (["captcha_missing_token"], ClerkMeaning(.challengeRequired, [.solveChallenge])),
        // Also Clerk's word for a limit on suspicious behaviour, so another try at once does not help.
        (["captcha_invalid"], ClerkMeaning(.challengeRequired, [.wait, .solveChallenge])),
        (["requires_assertion", "requires_device_attestation"], ClerkMeaning(.challengeRequired, [.solveChallenge])),
        (["session_reverification_required"], ClerkMeaning(.stepUpRequired, [.stepUp])),
    ]

    private static let flowRows: [Row] = [
        (
            [
                "ticket_expired_code", "ticket_invalid_code", "approval_token_consumed", "approval_token_expired",
                "approval_token_invalid", "pkce_verification_failed", "flow_not_approved",
                "sign_in_identification_or_user_deleted",
            ],
            ClerkMeaning(.flowExpired, [.restartFlow])
        ),
        (["client_state_invalid", "account_transfer_invalid"], ClerkMeaning(.stateConflict, [.resync, .restartFlow])),
        (["client_not_found"], ClerkMeaning(.stateConflict, [.resync, .restartFlow])),
        (["session_exists", "identifier_already_signed_in"], ClerkMeaning(.alreadySignedIn, [.useExistingSession])),
        (["resource_locked"], ClerkMeaning(.conflict, [.retry])),
        // The server wants the previous session token as a seed for the next one.
        (["missing_expired_token"], ClerkMeaning(.invalidRequest, [.seedToken])),
    ]

    /// The session may be over; whether it is, the client tells when it is read again.
    private static let sessionRows: [Row] = [
        (
            [
                "authentication_invalid", "signed_out", "session_revoked", "session_expired", "session_ended",
                "session_removed", "session_replaced", "session_not_found", "session_invalid",
                "action_for_session_not_authorized",
            ],
            ClerkMeaning(.credentialRejected, [.resync, .reauthenticate], scope: .credential, credential: .session)
        )
    ]

    private static let policyRows: [Row] = [
        (
            ["deprovisioned", "user_banned", "user_deactivated"],
            ClerkMeaning(.accountBlocked, [.contactAdmin], scope: .account)
        ),
        (["action_blocked", "device_blocked"], ClerkMeaning(.policyBlocked)),
        (
            [
                "authorization_invalid", "not_allowed_access", "sign_up_mode_restricted",
                "sign_up_restricted_waitlist", "unsupported_country_code",
            ],
            ClerkMeaning(.permissionDenied, [.contactAdmin])
        ),
    ]

    private static let setupRows: [Row] = [
        (
            [
                "dev_browser_unauthenticated", "native_api_disabled", "origin_invalid",
                "origin_authorization_headers_conflict", "host_invalid", "request_invalid_for_environment",
                "api_version_invalid", "captcha_not_enabled",
            ],
            ClerkMeaning(.misconfigured, [.fixRequest], scope: .app)
        ),
        (["unsupported_content_type"], ClerkMeaning(.invalidRequest, [.fixRequest])),
        (
            ["internal_clerk_error", "service_unavailable", "gateway_timeout"],
            ClerkMeaning(.unavailable, [.retry])
        ),
    ]
}
