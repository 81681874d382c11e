import HTTPRecovery

extension ClerkCodes {
    /// About what a request names or brings.
    static let resources: [Row] = [
        Row(
            ClerkErrorRule(.notFound, [.fixRequest]),
            """
            actor_token_subject_not_found agent_task_subject_not_found checkout_not_found commerce_statement_not_found
            discount_not_found external_account_not_found image_not_found invitation_account_not_exists
            management_token_subject_not_found organization_invitation_identification_not_exist
            organization_invitation_not_found organization_not_found_or_unauthorized payee_not_found payer_not_found
            payment_source_not_found plan_not_found resource_not_found saml_connection_active_not_found
            subscription_item_not_found
            """
        ),
        Row(
            ClerkErrorRule(.conflict, [.askUser]),
            """
            already_a_member_in_organization attribute_managed_by_scim checkout_already_complete
            checkout_already_in_progress commerce_subscription_item_already_canceled
            commerce_subscription_item_cannot_be_canceled commerce_subscription_item_cannot_be_ended
            delete_linked_identification_disallowed enterprise_sso_account_already_connected
            exclusive_organization_membership exclusive_organization_membership_existing_members
            external_account_exists form_already_exists form_identifier_exists free_trial_already_active
            identification_deletion_failed identification_update_failed identification_update_second_factor_unverified
            invitation_account_exists invitation_already_accepted last_required_identification_deletion_failed
            oauth_account_already_connected oauth_identification_claimed organization_already_has_sso_connection
            organization_domain_already_exists organization_domain_already_exists_same_organization
            organization_domain_exists_for_enrollment organization_domain_exists_for_enterprise_connection
            organization_domain_last_verified_cannot_delete organization_invitation_already_accepted
            organization_invitation_identification_already_exists organization_invitation_not_pending
            organization_invitation_not_unique organization_member_limit_managed_by_billing
            organization_membership_managed_by_scim organization_minimum_permissions_needed
            organization_role_on_set_assigned_to_user organization_suggestion_already_accepted password_required
            payee_not_active payment_source_in_use plan_already_active second_factor_deletion_not_allowed
            subscription_already_ended totp_already_enabled trusted_device_already_enrolled user_managed_by_scim
            """
        ),
        Row(
            ClerkErrorRule(.invalidRequest, [.fixRequest]),
            """
            annual_plan_period_not_supported bad_request billing_plan_is_hidden bulk_size_exceeded
            checkout_promo_code_invalid discount_inactive discount_not_applicable
            enterprise_connection_id_is_required_with_multiple_connections form_conditional_param_disallowed
            form_conditional_param_missing form_disable_default_second_factor_not_allowed form_disallow_future_date
            form_param_array_size_exceeded form_param_deprecated form_param_duplicate form_param_exceeds_allowed_size
            form_param_format_invalid form_param_invalid_time form_param_max_length_exceeded form_param_missing
            form_param_nil form_param_type_invalid form_param_unknown form_param_value_conflict
            form_param_value_invalid form_param_value_too_large form_password_digest_invalid_code
            form_resource_not_found form_username_cannot_be_phone_number form_username_invalid_character
            form_username_invalid_length form_username_needs_non_number_char image_too_large invalid_gateway_type
            invalid_plan_change invalid_plan_type invalid_query_parameter_value invalid_totp_secret_code
            invalid_use_of_test_card legal_not_accepted malformed_request_parameters missing_payer_email
            missing_plan_id missing_query_parameter monthly_plan_period_not_supported oauth_callback_invalid
            org_member_limit_exceeded_for_plan_change organization_domain_blocked organization_domain_common
            organization_domain_enrollment_mode_invalid organization_domain_mismatch
            organization_domain_ownership_not_verified organization_role_set_reassignment_contact_support
            organization_role_set_reassignment_mappings_invalid organization_role_set_reassignment_mappings_missing
            passkey_invalid_public_key_credential payment_attempt_failed_card_declined
            payment_attempt_failed_card_expired payment_attempt_failed_card_insufficient_funds
            payment_attempt_failed_processing_error payment_attempt_failed_requires_confirmation
            payment_source_expired plan_cannot_have_seats plan_seat_limit_exceeded price_id_invalid_for_checkout
            promo_code_not_applicable_to_checkout promo_code_redemption_limit_reached request_body_invalid
            request_body_too_large requested_seats_insufficient seat_based_billing_exceeds_org_member_limit
            seat_reduction_in_checkout_not_supported sign_in_must_use_enterprise_connection_identifier
            trusted_device_binding_mismatch trusted_device_invalid_client_data trusted_device_invalid_public_key
            """
        ),
    ]

    /// About how the instance, the app or the request is set up.
    static let setups: [Row] = [
        Row(
            ClerkErrorRule(.misconfigured, [.fixRequest], scope: .app),
            """
            api_keys_not_enabled api_version_invalid authorization_header_format_invalid
            aws_cognito_admin_user_password_auth_not_enabled aws_cognito_user_password_auth_not_enabled
            billing_not_enabled captcha_not_enabled csrf_token_invalid custom_oauth_provider_cannot_use_discovery_url
            custom_oauth_provider_discovery_issuer_mismatch custom_oauth_provider_discovery_server_retrieval_error
            dev_browser_unauthenticated device_attestation_misconfigured device_attestation_not_configured
            device_attestation_unsupported_platform enterprise_connection_invalid_type
            enterprise_connection_name_not_derivable enterprise_sso_sign_in_connection_missing
            enterprise_sso_sign_up_connection_missing external_payments_not_setup feature_not_enabled
            feature_not_implemented feature_requires_custom_domain feature_requires_dynamic_oauth_client_registration
            feature_requires_email_address_enabled feature_requires_end_session_enabled
            feature_requires_oauth2_consent_screen_enabled feature_requires_oidc_provider
            feature_requires_progressive_sign_up force_organization_selection_not_allowed_when_organizations_disabled
            form_param_value_disabled form_public_client_requires_pkce host_invalid insecure_url instance_type_invalid
            invalid_handshake invalid_proxy_configuration invalid_redirect_url invalid_url_scheme
            invitations_not_supported misconfigured_oauth_provider multiple_authorization_header_values_forbidden
            multiple_origin_header_values_forbidden native_api_disabled oauth_config_missing
            oauth_non_authenticatable_provider oauth_provider_not_enabled oauth_shared_credentials_not_supported
            oauth_unsupported_provider operation_not_allowed_on_satellite_domain
            organization_domain_enrollment_mode_not_enabled organization_domains_not_enabled
            organization_not_enabled_in_instance organization_slugs_disabled organizations_cannot_be_enabled
            organizations_disable_not_allowed origin_authorization_headers_conflict origin_invalid origin_missing
            prohibited_redirect_url proxy_request_invalid_secret_key proxy_request_missing_secret_key
            redirect_uri_mismatch redirect_url_domain_mismatch redirect_url_not_associated_with_instance
            request_header_missing request_invalid_for_environment resource_missmatch
            saml_connection_cant_be_activated saml_failed_to_fetch_idp_metadata saml_failed_to_parse_idp_metadata
            saml_metadata_missing_fields saml_response_relaystate_missing self_serve_sso_disabled
            sign_up_if_missing_not_allowed sign_up_if_missing_strategy_not_supported subdomain_not_allowed
            trusted_device_app_identifier_not_configured unsupported_content_type updating_user_password_deprecated
            url_based_session_syncing_disabled user_settings_invalid
            """
        )
    ]
}
