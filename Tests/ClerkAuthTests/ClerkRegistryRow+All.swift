import HTTPRecovery
import Testing

extension ClerkRegistryRow {
    /// All of them, with one status each.
    static let all: [Self] = [
        Self(
            .invalidCredentials,
            422,
            [.askUser, .switchFactor],
            """
            account_lockout_warning form_identifier_not_found form_password_incorrect
            form_password_or_identifier_incorrect form_password_validation_failed
            """
        ),
        Self(.accountLocked, 403, [.contactAdmin], "user_locked"),
        Self(.accountBlocked, 401, [.contactAdmin], "deprovisioned"),
        Self(.accountBlocked, 403, [.contactAdmin], "user_banned user_deactivated"),
        Self(.passwordCompromised, 422, [.switchFactor], "form_password_compromised form_password_pwned"),
        Self(.passwordExpired, 422, [.switchFactor], "password_reset_required password_too_long_needs_reset"),
        Self(
            .passwordRejected,
            422,
            [.askUser],
            """
            form_new_password_matches_current form_password_length_too_long form_password_length_too_short
            form_password_matches_identifier form_password_no_lowercase form_password_no_number
            form_password_no_special_char form_password_no_uppercase form_password_not_strong_enough
            form_password_size_in_bytes_exceeded
            """
        ),
        Self(
            .challengeIncorrect,
            400,
            [.newChallenge],
            """
            passkey_authentication_failure trusted_device_signature_verification_failed
            """
        ),
        Self(.challengeIncorrect, 422, [.askUser], "form_code_incorrect form_incorrect_signature"),
        Self(
            .challengeExpired,
            400,
            [.newChallenge, .switchFactor],
            """
            passkey_invalid_verification trusted_device_challenge_expired trusted_device_challenge_not_found
            verification_expired verification_failed verification_link_token_expired verification_link_token_invalid
            verification_link_token_source_invalid verification_link_token_stale verification_missing
            verification_not_sent verification_strategy_invalid
            """
        ),
        Self(.challengeExpired, 410, [.newChallenge, .switchFactor], "sign_up_outdated_verification"),
        Self(.challengePending, 400, [.wait], "sms_verification_not_yet_sent"),
        Self(
            .challengeRequired,
            401,
            [.solveChallenge],
            """
            requires_assertion requires_captcha device_attestation_challenge_client_mismatch
            device_attestation_verification_failed invalid_device_attestation_assertion
            invalid_device_attestation_challenge requires_device_attestation
            """
        ),
        Self(.challengeRequired, 400, [.solveChallenge], "captcha_missing_token"),
        Self(.challengeRequired, 403, [.solveChallenge], "requires_protect_check"),
        Self(.declined, 403, [.switchFactor, .restartFlow], "oauth_access_denied"),
        Self(
            .factorUnavailable,
            400,
            [.switchFactor],
            """
            backup_codes_not_available no_passkeys_found_for_user no_password_set no_second_factors sms_send_error
            strategy_for_user_invalid
            """
        ),
        Self(.factorUnavailable, 403, [.switchFactor], "unsupported_country_code"),
        Self(.factorUnavailable, 404, [.switchFactor], "passkey_not_registered sign_in_no_identification_for_user"),
        Self(
            .factorUnavailable,
            422,
            [.switchFactor],
            """
            passkey_identification_not_verified saml_connection_not_found saml_email_address_domain_reserved
            trusted_device_not_registered
            """
        ),
        Self(
            .flowExpired,
            400,
            [.restartFlow],
            """
            account_transfer_invalid actor_token_already_used_code actor_token_cannot_be_used_code
            actor_token_not_in_sign_in_code actor_token_revoked_code agent_task_already_used
            agent_task_cannot_be_used agent_task_not_in_sign_in agent_task_revoked google_one_tap_token_invalid
            identification_claimed oauth_token_exchange_error organization_invitation_revoked_code
            organization_invitation_to_deleted_organization revoked_invitation session_reverification_missing
            sign_in_identification_or_user_deleted sign_in_token_already_used_code sign_in_token_cannot_be_used_code
            sign_in_token_not_in_sign_in_code sign_in_token_revoked_code ticket_expired_code ticket_invalid_code
            oauth_fetch_user_error
            """
        ),
        Self(.flowExpired, 401, [.restartFlow], "saml_response_invalid"),
        Self(.flowExpired, 403, [.restartFlow], "resource_forbidden sync_nonce_already_consumed"),
        Self(.flowExpired, 410, [.restartFlow], "gone"),
        Self(
            .flowExpired,
            422,
            [.restartFlow],
            """
            approval_token_consumed approval_token_expired approval_token_invalid pkce_verification_failed
            """
        ),
        Self(
            .stateConflict,
            400,
            [.resync],
            """
            client_not_found client_state_invalid external_account_email_address_verification_required
            invalid_action_for_session invalid_action_for_session_reverification protect_check_already_resolved
            verification_already_verified
            """
        ),
        Self(.stateConflict, 404, [.resync], "sign_up_if_missing_transfer"),
        Self(.stateConflict, 422, [.resync], "form_verification_needed"),
        Self(.stepUpRequired, 403, [.stepUp], "session_reverification_required"),
        Self(.userActionRequired, 400, [.visitProvider], "external_account_missing_refresh_token"),
        Self(
            .userActionRequired,
            403,
            [.visitProvider],
            """
            sign_in_email_link_not_same_client sign_up_email_link_not_same_client
            """
        ),
        Self(.userActionRequired, 422, [.visitProvider], "oauth_missing_access_token oauth_missing_refresh_token"),
        Self(
            .credentialRejected,
            401,
            [.resync, .reauthenticate],
            """
            action_for_session_not_authorized authentication_invalid signed_out
            """
        ),
        Self(.alreadySignedIn, 400, [.useExistingSession], "identifier_already_signed_in session_exists"),
        Self(.alreadySignedIn, 409, [.useExistingSession], "session_creation_not_allowed"),
        Self(.policyBlocked, 403, [.contactAdmin], "device_blocked action_blocked"),
        Self(.policyBlocked, 422, [.contactAdmin], "form_email_address_blocked"),
        Self(.policyBlocked, 400, [.contactAdmin], "captcha_invalid"),
        Self(
            .permissionDenied,
            400,
            [.contactAdmin],
            """
            enterprise_sso_email_address_domain_mismatch enterprise_sso_hosted_domain_mismatch
            enterprise_sso_user_attribute_missing saml_email_address_domain_mismatch saml_user_attribute_missing
            """
        ),
        Self(.permissionDenied, 402, [.contactAdmin], "unsupported_subscription_plan_features"),
        Self(
            .permissionDenied,
            403,
            [.contactAdmin],
            """
            authorization_invalid immutable_attribute_modification_not_allowed
            invitations_not_supported_in_organization missing_organization_permission not_a_member_in_organization
            not_allowed_access oauth_connection_blocked_by_immutable_attribute organization_admin_delete_not_enabled
            organization_membership_enterprise_connection_cannot_remove organization_unlimited_membership_required
            self_serve_sso_no_active_organization self_serve_sso_organization_disabled sign_up_mode_restricted
            sign_up_restricted_waitlist user_create_organization_not_enabled user_delete_self_not_enabled
            waitlist_not_accepting_entries
            """
        ),
        Self(.permissionDenied, 404, [.contactAdmin], "saml_jit_provisioning_disabled"),
        Self(
            .permissionDenied,
            422,
            [.contactAdmin],
            """
            aws_cognito_user_lambda_validation_failed enterprise_sso_additional_identifications_disabled
            personal_accounts_not_allowed
            """
        ),
        Self(.quotaExhausted, 400, [.switchFactor], "dev_monthly_email_limit_exceeded dev_monthly_sms_limit_exceeded"),
        Self(
            .quotaExhausted,
            400,
            [.contactAdmin],
            """
            too_many_unverified_identifications trusted_device_credential_quota_exceeded
            """
        ),
        Self(.quotaExhausted, 402, [.contactAdmin], "insufficient_seats"),
        Self(
            .quotaExhausted,
            403,
            [.contactAdmin],
            """
            max_payment_methods_quota_exceeded org_creation_limit_exceeded organization_domain_quota_exceeded
            organization_membership_quota_exceeded organization_membership_quota_exceeded_for_sso
            organization_quota_exceeded passkey_quota_exceeded quota_exceeded user_quota_exceeded
            """
        ),
        Self(
            .rateLimited,
            429,
            [.wait],
            """
            too_many_requests verification_code_rate_limit_exceeded signup_rate_limit_exceeded
            verification_code_too_many_requests
            """
        ),
        Self(.unavailable, 503, [.retry], "service_unavailable"),
        Self(.unavailable, 409, [.retry], "resource_locked role_migration_in_progress"),
        Self(.unavailable, 500, [.retry], "internal_clerk_error verification_status_unknown"),
        Self(.unavailable, 504, [.retry], "gateway_timeout"),
        Self(
            .notFound,
            400,
            [.fixRequest],
            """
            invitation_account_not_exists organization_invitation_identification_not_exist
            """
        ),
        Self(
            .notFound,
            404,
            [.fixRequest],
            """
            actor_token_subject_not_found agent_task_subject_not_found checkout_not_found
            commerce_statement_not_found discount_not_found external_account_not_found image_not_found
            management_token_subject_not_found organization_invitation_not_found
            organization_not_found_or_unauthorized payee_not_found payer_not_found payment_source_not_found
            plan_not_found resource_not_found saml_connection_active_not_found subscription_item_not_found
            """
        ),
        Self(
            .conflict,
            400,
            [.askUser],
            """
            already_a_member_in_organization commerce_subscription_item_already_canceled
            delete_linked_identification_disallowed enterprise_sso_account_already_connected
            identification_deletion_failed identification_update_failed
            identification_update_second_factor_unverified invitation_account_exists invitation_already_accepted
            last_required_identification_deletion_failed oauth_account_already_connected
            oauth_identification_claimed organization_invitation_already_accepted
            organization_invitation_identification_already_exists organization_invitation_not_unique
            organization_member_limit_managed_by_billing organization_minimum_permissions_needed
            organization_suggestion_already_accepted password_required second_factor_deletion_not_allowed
            totp_already_enabled
            """
        ),
        Self(.conflict, 404, [.askUser], "organization_invitation_not_pending"),
        Self(
            .conflict,
            409,
            [.askUser],
            """
            attribute_managed_by_scim checkout_already_complete checkout_already_in_progress
            free_trial_already_active organization_membership_managed_by_scim payee_not_active payment_source_in_use
            plan_already_active trusted_device_already_enrolled user_managed_by_scim
            """
        ),
        Self(
            .conflict,
            422,
            [.askUser],
            """
            commerce_subscription_item_cannot_be_canceled commerce_subscription_item_cannot_be_ended
            exclusive_organization_membership exclusive_organization_membership_existing_members form_already_exists
            form_identifier_exists organization_already_has_sso_connection organization_domain_already_exists
            organization_domain_already_exists_same_organization organization_domain_exists_for_enrollment
            organization_domain_exists_for_enterprise_connection organization_domain_last_verified_cannot_delete
            organization_role_on_set_assigned_to_user subscription_already_ended
            """
        ),
        Self(
            .misconfigured,
            400,
            [.fixRequest],
            """
            request_header_missing api_version_invalid aws_cognito_admin_user_password_auth_not_enabled
            aws_cognito_user_password_auth_not_enabled captcha_not_enabled enterprise_connection_invalid_type
            feature_requires_end_session_enabled form_param_value_disabled host_invalid instance_type_invalid
            invalid_handshake invitations_not_supported misconfigured_oauth_provider
            multiple_authorization_header_values_forbidden multiple_origin_header_values_forbidden
            native_api_disabled oauth_config_missing oauth_non_authenticatable_provider oauth_provider_not_enabled
            oauth_shared_credentials_not_supported oauth_unsupported_provider organizations_disable_not_allowed
            origin_authorization_headers_conflict origin_invalid origin_missing proxy_request_missing_secret_key
            redirect_uri_mismatch request_invalid_for_environment resource_missmatch
            saml_failed_to_fetch_idp_metadata saml_response_relaystate_missing
            trusted_device_app_identifier_not_configured url_based_session_syncing_disabled
            """
        ),
        Self(
            .misconfigured,
            401,
            [.fixRequest],
            """
            authorization_header_format_invalid dev_browser_unauthenticated device_attestation_misconfigured
            device_attestation_not_configured device_attestation_unsupported_platform
            proxy_request_invalid_secret_key
            """
        ),
        Self(
            .misconfigured,
            403,
            [.fixRequest],
            """
            billing_not_enabled csrf_token_invalid feature_not_enabled feature_not_implemented
            feature_requires_custom_domain operation_not_allowed_on_satellite_domain
            organization_domain_enrollment_mode_not_enabled organization_domains_not_enabled
            organization_not_enabled_in_instance organization_slugs_disabled organizations_cannot_be_enabled
            self_serve_sso_disabled subdomain_not_allowed updating_user_password_deprecated
            """
        ),
        Self(.misconfigured, 409, [.fixRequest], "user_settings_invalid"),
        Self(.misconfigured, 415, [.fixRequest], "unsupported_content_type"),
        Self(
            .misconfigured,
            422,
            [.fixRequest],
            """
            api_keys_not_enabled custom_oauth_provider_cannot_use_discovery_url
            custom_oauth_provider_discovery_issuer_mismatch custom_oauth_provider_discovery_server_retrieval_error
            enterprise_connection_name_not_derivable enterprise_sso_sign_in_connection_missing
            enterprise_sso_sign_up_connection_missing external_payments_not_setup
            feature_requires_dynamic_oauth_client_registration feature_requires_email_address_enabled
            feature_requires_oauth2_consent_screen_enabled feature_requires_oidc_provider
            feature_requires_progressive_sign_up
            force_organization_selection_not_allowed_when_organizations_disabled form_public_client_requires_pkce
            insecure_url invalid_proxy_configuration invalid_redirect_url invalid_url_scheme prohibited_redirect_url
            redirect_url_domain_mismatch redirect_url_not_associated_with_instance saml_connection_cant_be_activated
            saml_failed_to_parse_idp_metadata saml_metadata_missing_fields sign_up_if_missing_not_allowed
            sign_up_if_missing_strategy_not_supported
            """
        ),
        Self(
            .invalidRequest,
            400,
            [.fixRequest],
            """
            bad_request billing_plan_is_hidden bulk_size_exceeded invalid_gateway_type invalid_plan_change
            invalid_query_parameter_value invalid_use_of_test_card malformed_request_parameters missing_payer_email
            missing_plan_id missing_query_parameter oauth_callback_invalid payment_source_expired
            request_body_invalid form_param_missing
            """
        ),
        Self(.invalidRequest, 413, [.fixRequest], "image_too_large request_body_too_large"),
        Self(
            .invalidRequest,
            422,
            [.fixRequest],
            """
            annual_plan_period_not_supported checkout_promo_code_invalid discount_inactive discount_not_applicable
            enterprise_connection_id_is_required_with_multiple_connections form_conditional_param_disallowed
            form_conditional_param_missing form_disable_default_second_factor_not_allowed form_disallow_future_date
            form_param_array_size_exceeded form_param_deprecated form_param_duplicate
            form_param_exceeds_allowed_size form_param_format_invalid form_param_invalid_time
            form_param_max_length_exceeded form_param_nil form_param_type_invalid form_param_unknown
            form_param_value_conflict form_param_value_invalid form_param_value_too_large
            form_password_digest_invalid_code form_resource_not_found form_username_cannot_be_phone_number
            form_username_invalid_character form_username_invalid_length form_username_needs_non_number_char
            invalid_plan_type invalid_totp_secret_code legal_not_accepted monthly_plan_period_not_supported
            org_member_limit_exceeded_for_plan_change organization_domain_blocked organization_domain_common
            organization_domain_enrollment_mode_invalid organization_domain_mismatch
            organization_domain_ownership_not_verified organization_role_set_reassignment_contact_support
            organization_role_set_reassignment_mappings_invalid organization_role_set_reassignment_mappings_missing
            passkey_invalid_public_key_credential payment_attempt_failed_card_declined
            payment_attempt_failed_card_expired payment_attempt_failed_card_insufficient_funds
            payment_attempt_failed_processing_error payment_attempt_failed_requires_confirmation
            plan_cannot_have_seats plan_seat_limit_exceeded price_id_invalid_for_checkout
            promo_code_not_applicable_to_checkout promo_code_redemption_limit_reached requested_seats_insufficient
            seat_based_billing_exceeds_org_member_limit seat_reduction_in_checkout_not_supported
            sign_in_must_use_enterprise_connection_identifier trusted_device_binding_mismatch
            trusted_device_invalid_client_data trusted_device_invalid_public_key
            """
        ),
    ]
}
