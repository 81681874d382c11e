import HTTPRecovery

// How robots, devices and what is switched off are refused.
extension ClerkFailure {
    // MARK: Proofs against abuse

    static let captchaRequired = ClerkFailure(401, "requires_captcha", "Captcha required")
        .saying("Please prove that you are no robot.")
    static let captchaMissing = ClerkFailure(400, "captcha_missing_token", "Captcha token is missing")
        .saying("The token of the captcha is missing.")
    static let captchaInvalid = ClerkFailure(400, "captcha_invalid", "Captcha invalid")
        .saying("The captcha was not solved. Please try again.")
    static let messageNotSent = ClerkFailure(400, "sms_verification_not_yet_sent", "Message not sent yet")
        .saying("The message with the code is still on its way. Please wait a moment.")
    static let protectCheckResolved = ClerkFailure(400, "protect_check_already_resolved", "Already resolved")
        .saying("The check has been passed already.")
    static func protectCheckRequired(_ check: ClerkProtectCheck) -> ClerkFailure {
        ClerkFailure(403, "requires_protect_check", "Additional verification required")
            .saying("Please complete the check to go on.", meta: ["protect_check": check.view])
    }
    static let legalNotAccepted = ClerkFailure(422, "legal_not_accepted", "Legal consent is required")
        .saying("You have to accept the terms to go on.")

    // MARK: What is switched off

    static let featureNotEnabled = ClerkFailure(403, "feature_not_enabled", "Feature not enabled")
        .saying("This feature is not enabled for this instance.")

    // MARK: Keys of devices

    static let deviceUnknown = ClerkFailure(422, "trusted_device_not_registered", "Trusted device not registered")
        .saying("This device is not registered.")
    static let deviceEnrolled = ClerkFailure(409, "trusted_device_already_enrolled", "Already enrolled")
        .saying("This device is enrolled already.")
    static let deviceAppUnknown =
        ClerkFailure(400, "trusted_device_app_identifier_not_configured", "App identifier is not configured")
    static let deviceKeyInvalid = ClerkFailure(422, "trusted_device_invalid_public_key", "Invalid public key")
    static let deviceDataInvalid = ClerkFailure(422, "trusted_device_invalid_client_data", "Invalid client data")
    static let deviceBindingMismatch = ClerkFailure(422, "trusted_device_binding_mismatch", "Binding mismatch")
    static let deviceChallengeUnknown =
        ClerkFailure(400, "trusted_device_challenge_not_found", "Challenge not found")
    static let deviceChallengeExpired = ClerkFailure(400, "trusted_device_challenge_expired", "Challenge expired")
        .saying("The challenge has expired. Please try again.")
    static let deviceSignatureWrong =
        ClerkFailure(400, "trusted_device_signature_verification_failed", "Signature verification failed")
        .saying("The device could not be verified. Please try again.")

    // MARK: Tokens of other providers

    static func identityTokenInvalid(_ strategy: String) -> ClerkFailure {
        strategy == "google_one_tap"
            ? ClerkFailure(400, "google_one_tap_token_invalid", "Invalid token").saying("The token is invalid.")
            : ClerkFailure(400, "oauth_token_exchange_error", "Token exchange error").saying("The token is invalid.")
    }
}
