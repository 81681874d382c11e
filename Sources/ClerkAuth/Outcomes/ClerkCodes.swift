import HTTPRecovery

/// The codes of Clerk's server error registry that a native client can meet, and what they mean for recovery.
///
/// What depends on the endpoint as well is in ``ClerkErrorRule/of(_:at:)``, what depends on the field that an error names
/// in ``ClerkField``.
enum ClerkCodes {
    /// The codes whose meaning depends on nothing else.
    static let table: [String: ClerkErrorRule] = Dictionary(
        (people + challenges + flows + policies + resources + setups).flatMap(\.members),
        uniquingKeysWith: { first, _ in first }
    )

    /// The codes of one meaning, between spaces.
    struct Row {
        let meaning: ClerkErrorRule
        let codes: String

        init(_ meaning: ClerkErrorRule, _ codes: String) {
            self.meaning = meaning
            self.codes = codes
        }

        fileprivate var members: [(String, ClerkErrorRule)] {
            codes.split { $0 == " " || $0 == "\n" }.map { (String($0), meaning) }
        }
    }

    /// About accounts and passwords.
    private static let people: [Row] = [
        Row(
            ClerkErrorRule(.invalidCredentials, [.askUser, .switchFactor]),
            """
            form_identifier_not_found form_password_incorrect form_password_or_identifier_incorrect
            form_password_validation_failed
            """
        ),
        // Whether there is something to wait for is told by the time that comes with it.
        Row(ClerkErrorRule(.accountLocked, [.wait], scope: .account), "user_locked"),
        Row(
            ClerkErrorRule(.accountBlocked, [.contactAdmin], scope: .account),
            """
            deprovisioned user_banned user_deactivated
            """
        ),
        Row(ClerkErrorRule(.passwordCompromised, [.switchFactor]), "form_password_compromised"),
        Row(
            ClerkErrorRule(.passwordExpired, [.switchFactor]),
            """
            password_reset_required password_too_long_needs_reset
            """
        ),
        Row(
            ClerkErrorRule(.passwordRejected, [.askUser]),
            """
            form_new_password_matches_current form_password_length_too_long form_password_length_too_short
            form_password_matches_identifier form_password_no_lowercase form_password_no_number
            form_password_no_special_char form_password_no_uppercase form_password_not_strong_enough
            form_password_size_in_bytes_exceeded
            """
        ),
    ]

    /// About factors and what proves them.
    private static let challenges: [Row] = [
        Row(
            ClerkErrorRule(.challengeIncorrect, [.askUser]),
            """
            form_code_incorrect form_incorrect_signature totp_incorrect_code
            """
        ),
        // What was signed cannot be signed again.
        Row(
            ClerkErrorRule(.challengeIncorrect, [.newChallenge]),
            """
            passkey_authentication_failure trusted_device_signature_verification_failed
            """
        ),
        Row(
            ClerkErrorRule(.challengeExpired, [.newChallenge, .switchFactor]),
            """
            passkey_invalid_verification sign_up_outdated_verification trusted_device_challenge_expired
            trusted_device_challenge_not_found verification_expired verification_failed
            verification_link_token_expired verification_link_token_invalid verification_link_token_source_invalid
            verification_link_token_stale verification_missing verification_not_sent verification_strategy_invalid
            """
        ),
        Row(ClerkErrorRule(.challengePending, [.wait]), "sms_verification_not_yet_sent"),
        Row(
            ClerkErrorRule(.challengeRequired, [.solveChallenge]),
            """
            captcha_missing_token device_attestation_challenge_client_mismatch device_attestation_verification_failed
            invalid_device_attestation_assertion invalid_device_attestation_challenge requires_assertion
            requires_captcha requires_device_attestation requires_protect_check
            """
        ),
        Row(ClerkErrorRule(.declined, [.switchFactor, .restartFlow]), "oauth_access_denied"),
        Row(
            ClerkErrorRule(.factorUnavailable, [.switchFactor]),
            """
            backup_codes_not_available no_passkeys_found_for_user no_password_set no_second_factors
            passkey_identification_not_verified passkey_not_registered saml_connection_not_found
            saml_email_address_domain_reserved sign_in_no_identification_for_user sms_send_error
            strategy_for_user_invalid trusted_device_not_registered unsupported_country_code
            """
        ),
        Row(ClerkErrorRule(.stepUpRequired, [.stepUp]), "session_reverification_required"),
        Row(
            ClerkErrorRule(.userActionRequired, [.visitProvider]),
            """
            external_account_missing_refresh_token oauth_missing_access_token oauth_missing_refresh_token
            sign_in_email_link_not_same_client sign_up_email_link_not_same_client
            """
        ),
    ]

    /// About sign-ins, sign-ups and sessions.
    private static let flows: [Row] = [
        Row(
            ClerkErrorRule(.flowExpired, [.restartFlow]),
            """
            account_transfer_invalid actor_token_already_used_code actor_token_cannot_be_used_code
            actor_token_not_in_sign_in_code actor_token_revoked_code agent_task_already_used agent_task_cannot_be_used
            agent_task_not_in_sign_in agent_task_revoked approval_token_consumed approval_token_expired
            approval_token_invalid flow_not_approved gone google_one_tap_token_invalid identification_claimed
            oauth_fetch_user_error oauth_token_exchange_error organization_invitation_revoked_code
            organization_invitation_to_deleted_organization pkce_verification_failed revoked_invitation
            saml_response_invalid session_reverification_missing sign_in_identification_or_user_deleted
            sign_in_token_already_used_code sign_in_token_cannot_be_used_code sign_in_token_not_in_sign_in_code
            sign_in_token_revoked_code sync_nonce_already_consumed ticket_expired_code ticket_invalid_code
            """
        ),
        Row(
            ClerkErrorRule(.stateConflict, [.resync]),
            """
            client_not_found client_state_invalid external_account_email_address_verification_required
            form_verification_needed invalid_action_for_session invalid_action_for_session_reverification
            protect_check_already_resolved sign_up_if_missing_transfer verification_already_verified
            """
        ),
        Row(
            ClerkErrorRule(.alreadySignedIn, [.useExistingSession]),
            """
            identifier_already_signed_in session_creation_not_allowed session_exists
            """
        ),
        // The session may be over; whether it is, the client tells when it is read again.
        Row(
            ClerkErrorRule(.credentialRejected, [.resync, .reauthenticate], scope: .credential, credential: .session),
            """
            action_for_session_not_authorized authentication_invalid session_ended session_expired session_invalid
            session_not_found session_removed session_replaced session_revoked signed_out
            """
        ),
        // The server wants the previous session token as a seed for the next one.
        Row(ClerkErrorRule(.invalidRequest, [.seedToken]), "missing_expired_token"),
    ]

    /// About limits, rights and outages.
    private static let policies: [Row] = [
        Row(
            ClerkErrorRule(.policyBlocked, [.contactAdmin]),
            """
            action_blocked captcha_invalid device_blocked form_email_address_blocked
            """
        ),
        Row(
            ClerkErrorRule(.permissionDenied, [.contactAdmin]),
            """
            authorization_invalid aws_cognito_user_lambda_validation_failed
            enterprise_sso_additional_identifications_disabled enterprise_sso_email_address_domain_mismatch
            enterprise_sso_hosted_domain_mismatch enterprise_sso_user_attribute_missing
            immutable_attribute_modification_not_allowed invitations_not_supported_in_organization
            missing_organization_permission not_a_member_in_organization not_allowed_access
            oauth_connection_blocked_by_immutable_attribute organization_admin_delete_not_enabled
            organization_membership_enterprise_connection_cannot_remove organization_unlimited_membership_required
            personal_accounts_not_allowed saml_email_address_domain_mismatch saml_jit_provisioning_disabled
            saml_user_attribute_missing self_serve_sso_no_active_organization self_serve_sso_organization_disabled
            sign_up_mode_restricted sign_up_restricted_waitlist unsupported_subscription_plan_features
            user_create_organization_not_enabled user_delete_self_not_enabled waitlist_not_accepting_entries
            """
        ),
        // Of a development instance: its messages of one sort are used up till the end of the month.
        Row(
            ClerkErrorRule(.quotaExhausted, [.switchFactor]),
            """
            dev_monthly_email_limit_exceeded dev_monthly_sms_limit_exceeded
            """
        ),
        Row(
            ClerkErrorRule(.quotaExhausted, [.contactAdmin]),
            """
            insufficient_seats max_payment_methods_quota_exceeded org_creation_limit_exceeded
            organization_domain_quota_exceeded organization_membership_quota_exceeded
            organization_membership_quota_exceeded_for_sso organization_quota_exceeded passkey_quota_exceeded
            quota_exceeded too_many_unverified_identifications trusted_device_credential_quota_exceeded
            user_quota_exceeded
            """
        ),
        Row(
            ClerkErrorRule(.rateLimited, [.wait]),
            """
            rate_limit_exceeded signup_rate_limit_exceeded too_many_requests verification_code_rate_limit_exceeded
            verification_code_too_many_requests
            """
        ),
        Row(
            ClerkErrorRule(.unavailable, [.retry]),
            """
            gateway_timeout internal_clerk_error resource_locked role_migration_in_progress service_unavailable
            verification_status_unknown
            """
        ),
    ]
}
