import HTTPRecovery
import HTTPRecoveryTesting

/// An error answer of the Frontend API.
struct ClerkFailure: Error, Sendable, Equatable {
    let status: Int
    let code: String
    let message: String
    /// The words for a person.
    var long: String
    var meta: JSONValue = [:]
    /// The entries of `errors` after the first.
    var more: [JSONValue] = []
    var headers: [SandboxRequest.Header] = []

    /// An answer that has the same words for a person as for the developer.
    init(_ status: Int, _ code: String, _ message: String) {
        (self.status, self.code, self.message, long) = (status, code, message, message)
    }

    /// About a field of the form.
    init(_ parameter: String, _ code: String, _ message: String) {
        self.init(422, code, message)
        meta = ["param_name": .string(parameter)]
    }

    /// The same with words for a person.
    func saying(_ long: String, meta: JSONValue? = nil) -> ClerkFailure {
        var failure = self
        failure.long = long
        if let meta { failure.meta = meta }
        return failure
    }

    /// The same for somebody who has to wait.
    func waiting(_ milliseconds: Int64) -> ClerkFailure {
        var failure = self
        failure.headers = [.init(name: "Retry-After", value: String(Self.wholeSeconds(milliseconds)))]
        return failure
    }

    /// The same with a warning about the attempts that are left.
    func warning(attemptsLeft left: Int64) -> ClerkFailure {
        let warning = ClerkFailure(422, "account_lockout_warning", "\(left) attempts left")
        var failure = self
        failure.more += warning.saying("You have \(left) attempts left before your account is locked.").items
        return failure
    }

    /// The entries of `errors`.
    var items: [JSONValue] {
        let (words, text) = (JSONValue.string(message), JSONValue.string(long))
        return [["code": .string(code), "message": words, "long_message": text, "meta": meta]] + more
    }

    /// Whole seconds, rounded up so that waiting for them is enough, and at least 1.
    private static func wholeSeconds(_ milliseconds: Int64) -> Int64 { max(1, (milliseconds + 999) / 1000) }
}

// The codes in use, with the words that a developer and a person would read.
extension ClerkFailure {
    // MARK: The request and its client

    static let originAndAuthorization = ClerkFailure(
        400,
        "origin_authorization_headers_conflict",
        "Setting both the 'Origin' and 'Authorization' headers is forbidden"
    ).saying(
        "For security purposes, only one of the 'Origin' and 'Authorization' headers should be provided, but not both."
    )
    static let authorizationMissing = ClerkFailure(400, "request_header_missing", "Invalid request headers")
        .saying(
            "A native application has to send the Authorization header: with the client's token, or empty as long as it "
                + "has none."
        )
    static let nativeAPIDisabled = ClerkFailure(
        400,
        "native_api_disabled",
        "The Native API is disabled for this instance."
    )
    .saying("Go to Clerk Dashboard > Configure > Native applications to enable it.")
    static let versionInvalid = ClerkFailure(400, "api_version_invalid", "Invalid API version")
        .saying("There is no such API version.")
    static func unsupported(type: String) -> ClerkFailure {
        let instead = "You should use application/x-www-form-urlencoded instead."
        return ClerkFailure(415, "unsupported_content_type", "Content-Type is unsupported")
            .saying("Content-Type \(type.prefix(60)) is unsupported. \(instead)")
    }
    static func notFound(_ what: String) -> ClerkFailure {
        ClerkFailure(404, "resource_not_found", "not found").saying("No \(what) was found.")
    }
    static let clientNotFound = ClerkFailure(400, "client_not_found", "Client not found")
        .saying("This request needs a client, and none was found.")
    static func clientStateInvalid(_ long: String) -> ClerkFailure {
        ClerkFailure(400, "client_state_invalid", "Invalid action").saying(long)
    }
    static let forbidden = ClerkFailure(403, "resource_forbidden", "Forbidden")
        .saying("This sign-in is not the latest one of the client.")
    static let tooManyRequests =
        ClerkFailure(429, "too_many_requests", "Too many requests. Please try again in a bit.")

    // MARK: The fields of a form

    static func missing(_ parameter: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_param_missing", "is missing").saying("\(parameter) must be included.")
    }
    static func null(_ parameter: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_param_nil", "is empty").saying("Enter \(parameter).")
    }
    static func unknown(_ parameter: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_param_unknown", "is unknown")
            .saying("\(parameter) is not a valid parameter for this request.")
    }
    static func invalidValue(_ parameter: String, _ value: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_param_value_invalid", "is invalid")
            .saying("\(value.prefix(60)) is not a valid value for \(parameter).")
    }
    /// A word that the instance does not know, such as the strategy of a provider that it does not have.
    static func notAllowed(_ parameter: String, _ value: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_param_value_invalid", "is invalid")
            .saying("\(value.prefix(60)) does not match one of the allowed values for parameter \(parameter)")
    }
    static func verificationNeeded(_ parameter: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_verification_needed", "is not verified")
            .saying("Please verify it first.")
    }

    static func resourceUnknown(_ parameter: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_resource_not_found", "is unknown")
    }

    static func taken(_ parameter: String, _ message: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_identifier_exists", message)
    }

    // MARK: Sessions

    static let signedOut = ClerkFailure(401, "signed_out", "Signed out").saying("You are signed out.")
    static let authenticationInvalid = ClerkFailure(401, "authentication_invalid", "Invalid authentication")
        .saying("Unable to authenticate the request, you need to have an active session.")
    static let sessionExists = ClerkFailure(400, "session_exists", "Session already exists")
        .saying("You're currently in single session mode. You can only be signed into one account at a time.")
    static func alreadySignedIn(session: String) -> ClerkFailure {
        ClerkFailure(400, "identifier_already_signed_in", "You're already signed in")
            .saying("You're already signed in to this account.", meta: ["session_id": .string(session)])
    }
    static let tokenSeedMissing = ClerkFailure(422, "missing_expired_token", "Missing expired token")
        .saying("The last session token has to be sent as expired_token.")
    static func reverificationRequired(level: String, minutes: Int64) -> ClerkFailure {
        let meta: JSONValue = ["reverification": ["level": .string(level), "afterMinutes": .int(minutes)]]
        return ClerkFailure(403, "session_reverification_required", "Additional verification required")
            .saying("You need to verify your session again for this.", meta: meta)
    }

    // MARK: People and their passwords

    /// How somebody is refused in each state of an account.
    static let states = [
        "banned": ClerkFailure(403, "user_banned", "User is banned").saying("This account has been banned."),
        "deactivated": ClerkFailure(403, "user_deactivated", "User is deactivated")
            .saying("This account is deactivated."),
        "deprovisioned": ClerkFailure(401, "deprovisioned", "User is deprovisioned")
            .saying("This account is deprovisioned."),
    ]
    static let identifierNotFound =
        ClerkFailure("identifier", "form_identifier_not_found", "Couldn't find your account.")
    static let passwordMissing = ClerkFailure("password", "form_conditional_param_missing", "is missing")
        .saying("password must be included when strategy is password.")
    static let passwordIncorrect = ClerkFailure("password", "form_password_incorrect", "is incorrect")
        .saying("Password is incorrect. Try again, or use another method.")
    static let nameOrPasswordIncorrect =
        ClerkFailure("password", "form_password_or_identifier_incorrect", "is incorrect")
        .saying("Identifier or password is incorrect. Try again, or use another method.")
    static let passwordCompromised = ClerkFailure("password", "form_password_compromised", "Password compromised")
        .saying(
            "Your password may be compromised. To protect your account, please continue with an alternative "
                + "sign-in method. You will be required to reset your password after signing in."
        )
    static let passwordPwned = ClerkFailure(
        "password",
        "form_password_pwned",
        "Password has been found in an online data breach."
    ).saying("Password has been found in an online data breach. For account safety, please use a different password.")
    /// How a password is refused that has to be replaced; a compromised one as a pwned one, if nothing else is left.
    static let passwordStates = [
        "compromised": passwordCompromised,
        "pwned": passwordPwned,
        "reset_required": ClerkFailure("password", "password_reset_required", "Password reset required")
            .saying("Your password must be reset before you can sign in."),
        "too_long": ClerkFailure("password", "password_too_long_needs_reset", "Password needs to be reset")
            .saying("Your password is longer than is supported today and must be reset."),
    ]

    static func locked(milliseconds: Int64?, format: String) -> ClerkFailure {
        var meta: JSONValue = [:]
        var sentence = "Your account is locked."
        if let milliseconds, format != "absent" {
            let seconds = wholeSeconds(milliseconds)
            meta = ["lockout_expires_in_seconds": format == "string" ? .string(String(seconds)) : .int(seconds)]
            sentence += " You will be able to try again in \(seconds) seconds."
        }
        return ClerkFailure(403, "user_locked", "Account locked")
            .saying(sentence + " For more information, please contact support.", meta: meta)
    }

    // MARK: Factors and what proves them

    static let codeIncorrect = ClerkFailure("code", "form_code_incorrect", "is incorrect").saying("Incorrect code")
    static let strategyInvalid = ClerkFailure(400, "strategy_for_user_invalid", "Invalid verification strategy")
        .saying("The verification strategy is not valid for this account.")
    static let noSecondFactors = ClerkFailure(400, "no_second_factors", "No second factors")
        .saying("No second factors were found for this account.")
    static let verificationMissing = ClerkFailure(400, "verification_missing", "Missing verification")
        .saying("The verification has not been prepared: send a code first.")
    static let verificationStrategyInvalid = ClerkFailure(400, "verification_strategy_invalid", "Invalid strategy")
        .saying("The strategy is not the one that was prepared.")
    static let verificationExpired = ClerkFailure(400, "verification_expired", "Expired")
        .saying("This verification has expired. You must create a new one.")
    static let verificationFailed = ClerkFailure(400, "verification_failed", "Failed")
        .saying("Too many failed attempts. You have to try again with the same or another method.")
    static let verificationAlreadyVerified = ClerkFailure(400, "verification_already_verified", "Already verified")
        .saying("This verification has already been verified.")
    static let resendTooSoon = ClerkFailure(429, "verification_code_too_many_requests", "Too many requests")
        .saying("A code was sent a moment ago. Wait at least 30 seconds before you ask for another.")

    // MARK: Tickets, links and what comes from another provider

    static let passkeyWrong = ClerkFailure(400, "passkey_authentication_failure", "Passkey authentication failed")
        .saying("The passkey could not be verified. Please try again.")
    static let passkeyStale = ClerkFailure(400, "passkey_invalid_verification", "Invalid passkey verification")
        .saying("The verification is no longer valid.")
    static let passkeyUnknown = ClerkFailure(404, "passkey_not_registered", "Passkey not registered")
        .saying("This passkey is not registered with this application.")
    static let signUpIfMissingTransfer = ClerkFailure(404, "sign_up_if_missing_transfer", "Account not found")
        .saying("There is no account yet. Sign up with what you have proved.")
    static let signUpIfMissingNotAllowed =
        ClerkFailure("sign_up_if_missing", "sign_up_if_missing_not_allowed", "is not allowed")
        .saying("Sign ups are restricted here.")
    static let signUpIfMissingStrategy =
        ClerkFailure("strategy", "sign_up_if_missing_strategy_not_supported", "is not supported")
        .saying("The strategy cannot be used where somebody without an account is signed up.")
    static let signUpRestricted = ClerkFailure(403, "sign_up_mode_restricted", "Sign ups are restricted")
        .saying("You don't have access to this application. Please contact support.")
    static let signUpWaitlist = ClerkFailure(403, "sign_up_restricted_waitlist", "Sign ups are restricted")
        .saying("Sign ups are currently unavailable. Join the waitlist to be told when they are.")
    static let waitlistClosed = ClerkFailure(403, "waitlist_not_accepting_entries", "Waitlist is closed")
        .saying("This application has no waitlist at present.")
    static let nonceConsumed = ClerkFailure(403, "sync_nonce_already_consumed", "Nonce consumed")
        .saying("The nonce has been used, or is another sign-in's.")
    static let externalAccountUnknown = ClerkFailure(422, "external_account_not_found", "not found")
        .saying("The External Account was not found.")
    static let externalAccountExists = ClerkFailure(422, "external_account_exists", "already exists")
        .saying("The External Account already exists.")
    static let externalAccessDenied = ClerkFailure(403, "oauth_access_denied", "Access denied")
        .saying("You did not grant access to your account.")
    /// Nobody has proved themselves to another provider: there is nothing to take over.
    static let noTransfer = ClerkFailure(400, "account_transfer_invalid", "Invalid account transfer")
        .saying("There is no account to transfer.")
    static func ticketInvalid(_ long: String) -> ClerkFailure {
        ClerkFailure(400, "ticket_invalid_code", "Ticket is invalid").saying(long)
    }
    static let ticketUsed = ClerkFailure(400, "sign_in_token_already_used_code", "Already used")
        .saying("This ticket has already been used.")
    static let ticketExpired = ClerkFailure(400, "ticket_expired_code", "Ticket expired")
        .saying("The ticket has expired.")
    static let ticketOfNobody = ClerkFailure(400, "sign_in_identification_or_user_deleted", "User deleted")
        .saying("The account of this ticket does not exist.")
    static let linkInvalid = ClerkFailure(400, "verification_link_token_invalid", "Invalid link")
        .saying("This link is invalid.")
    static let linkExpired = ClerkFailure(400, "verification_link_token_expired", "Expired link")
        .saying("This link has expired.")
}
