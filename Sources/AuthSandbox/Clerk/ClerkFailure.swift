import HTTPRecovery
import HTTPRecoveryTesting

/// An error answer of the Frontend API.
struct ClerkFailure: Error, Sendable, Equatable {
    let status: Int
    /// The entries of `errors`, one at least.
    var items: [JSONValue]
    var headers: [SandboxRequest.Header] = []

    var code: String { items.first?["code"]?.string ?? "" }
}

extension ClerkFailure {
    /// One entry; without words for a person they are those for the developer.
    init(_ status: Int, _ code: String, _ message: String, _ long: String? = nil, meta: JSONValue = [:]) {
        let (words, text) = (JSONValue.string(message), JSONValue.string(long ?? message))
        let item: JSONValue = ["code": .string(code), "message": words, "long_message": text, "meta": meta]
        self.init(status: status, items: [item])
    }

    /// About a field of the form.
    init(_ parameter: String, _ code: String, _ message: String, _ long: String? = nil) {
        self.init(422, code, message, long, meta: ["param_name": .string(parameter)])
    }

    /// For somebody who has to wait.
    init(waiting milliseconds: Int64, _ code: String, _ message: String, _ long: String) {
        self.init(429, code, message, long)
        headers = [.init(name: "Retry-After", value: String(Self.wholeSeconds(milliseconds)))]
    }

    /// Whole seconds, rounded up so that waiting for them is enough, and at least 1.
    private static func wholeSeconds(_ milliseconds: Int64) -> Int64 { max(1, (milliseconds + 999) / 1000) }
}

// The request and its client.
extension ClerkFailure {
    static let originAndAuthorization = ClerkFailure(
        400,
        "origin_authorization_headers_conflict",
        "Setting both the 'Origin' and 'Authorization' headers is forbidden",
        "For security purposes, only one of the 'Origin' and 'Authorization' headers should be provided, but not both."
    )
    static let nativeAPIDisabled = ClerkFailure(
        400,
        "native_api_disabled",
        "The Native API is disabled for this instance.",
        "Go to Clerk Dashboard > Configure > Native applications to enable it."
    )
    static let versionInvalid =
        ClerkFailure(400, "api_version_invalid", "Invalid API version", "There is no such API version.")
    static func unsupported(type: String?) -> ClerkFailure {
        let long = "Content-Type \(type?.prefix(60) ?? "(none)") is unsupported. "
        let instead = "You should use application/x-www-form-urlencoded instead."
        return ClerkFailure(415, "unsupported_content_type", "Content-Type is unsupported", long + instead)
    }
    static func notFound(_ what: String) -> ClerkFailure {
        ClerkFailure(404, "resource_not_found", "not found", "No \(what) was found.")
    }
    static let clientNotFound =
        ClerkFailure(400, "client_not_found", "Client not found", "This request needs a client, and none was found.")
    static func clientStateInvalid(_ long: String) -> ClerkFailure {
        ClerkFailure(400, "client_state_invalid", "Invalid action", long)
    }
    static let forbidden =
        ClerkFailure(403, "resource_forbidden", "Forbidden", "This sign-in is not the latest one of the client.")
    static func tooManyRequests(milliseconds: Int64) -> ClerkFailure {
        let words = "Too many requests. Please try again in a bit."
        return ClerkFailure(waiting: milliseconds, "too_many_requests", words, words)
    }
}

// The fields of a form.
extension ClerkFailure {
    static func missing(_ parameter: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_param_missing", "is missing", "\(parameter) must be included.")
    }
    static func null(_ parameter: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_param_nil", "is empty", "Enter \(parameter).")
    }
    static func unknown(_ parameter: String) -> ClerkFailure {
        let long = "\(parameter) is not a valid parameter for this request."
        return ClerkFailure(parameter, "form_param_unknown", "is unknown", long)
    }
    static func invalidValue(_ parameter: String, _ value: String) -> ClerkFailure {
        let long = "\(value.prefix(60)) is not a valid value for \(parameter)."
        return ClerkFailure(parameter, "form_param_value_invalid", "is invalid", long)
    }
    static func taken(_ parameter: String, _ message: String) -> ClerkFailure {
        ClerkFailure(parameter, "form_identifier_exists", message)
    }
}

// Sessions.
extension ClerkFailure {
    static let signedOut = ClerkFailure(401, "signed_out", "Signed out", "You are signed out.")
    static let authenticationInvalid = ClerkFailure(
        401,
        "authentication_invalid",
        "Invalid authentication",
        "Unable to authenticate the request, you need to have an active session."
    )
    static let sessionExists = ClerkFailure(
        400,
        "session_exists",
        "Session already exists",
        "You're currently in single session mode. You can only be signed into one account at a time."
    )
    static func alreadySignedIn(session: String) -> ClerkFailure {
        let message = "You're already signed in"
        let meta: JSONValue = ["session_id": .string(session)]
        return ClerkFailure(400, "identifier_already_signed_in", message, "\(message) to this account.", meta: meta)
    }
    static let tokenSeedMissing = ClerkFailure(
        422,
        "missing_expired_token",
        "Missing expired token",
        "The last session token has to be sent as expired_token."
    )
    static func reverificationRequired(level: String, minutes: Int64) -> ClerkFailure {
        let long = "You need to verify your session again for this."
        let meta: JSONValue = ["reverification": ["level": .string(level), "afterMinutes": .int(minutes)]]
        let code = "session_reverification_required"
        return ClerkFailure(403, code, "Additional verification required", long, meta: meta)
    }
}

// People and their passwords.
extension ClerkFailure {
    /// How somebody is refused in each state of an account.
    static let states = [
        "banned": ClerkFailure(403, "user_banned", "User is banned", "This account has been banned."),
        "deactivated": ClerkFailure(403, "user_deactivated", "User is deactivated", "This account is deactivated."),
        "deprovisioned": ClerkFailure(401, "deprovisioned", "User is deprovisioned", "This account is deprovisioned."),
    ]
    static let identifierNotFound =
        ClerkFailure("identifier", "form_identifier_not_found", "Couldn't find your account.")
    static let passwordMissing = ClerkFailure(
        "password",
        "form_conditional_param_missing",
        "is missing",
        "password must be included when strategy is password."
    )
    static let passwordIncorrect = ClerkFailure(
        "password",
        "form_password_incorrect",
        "is incorrect",
        "Password is incorrect. Try again, or use another method."
    )
    static let passwordOrIdentifierIncorrect = ClerkFailure(
        "password",
        "form_password_or_identifier_incorrect",
        "is incorrect",
        "Identifier or password is incorrect. Try again, or use another method."
    )
    static let passwordCompromised = ClerkFailure(
        "password",
        "form_password_compromised",
        "Password compromised",
        "Your password may be compromised. To protect your account, please continue with an alternative "
            + "sign-in method. You will be required to reset your password after signing in."
    )
    static let passwordPwned = ClerkFailure(
        "password",
        "form_password_pwned",
        "Password has been found in an online data breach.",
        "Password has been found in an online data breach. For account safety, please use a different password."
    )
    static let passwordResetRequired = ClerkFailure(
        "password",
        "password_reset_required",
        "Password reset required",
        "Your password must be reset before you can sign in."
    )
    static let passwordTooLong = ClerkFailure(
        "password",
        "password_too_long_needs_reset",
        "Password needs to be reset",
        "Your password is longer than is supported today and must be reset."
    )

    static func locked(milliseconds: Int64?, format: String) -> ClerkFailure {
        var meta: JSONValue = [:]
        var sentence = "Your account is locked."
        if let milliseconds, format != "absent" {
            let seconds = wholeSeconds(milliseconds)
            meta = ["lockout_expires_in_seconds": format == "string" ? .string(String(seconds)) : .int(seconds)]
            sentence += " You will be able to try again in \(seconds) seconds."
        }
        sentence += " For more information, please contact support."
        return ClerkFailure(403, "user_locked", "Account locked", sentence, meta: meta)
    }

    /// The same failure with a warning about the attempts that are left.
    func warning(attemptsLeft left: Int64) -> ClerkFailure {
        let long = "You have \(left) attempts left before your account is locked."
        var failure = self
        failure.items += ClerkFailure(422, "account_lockout_warning", "\(left) attempts left", long).items
        return failure
    }
}

// Factors and what proves them.
extension ClerkFailure {
    static let codeIncorrect = ClerkFailure("code", "form_code_incorrect", "is incorrect", "Incorrect code")
    static let strategyInvalid = ClerkFailure(
        400,
        "strategy_for_user_invalid",
        "Invalid verification strategy",
        "The verification strategy is not valid for this account."
    )
    static let noSecondFactors = ClerkFailure(
        400,
        "no_second_factors",
        "No second factors",
        "No second factors were found for this account."
    )
    static let verificationMissing = ClerkFailure(
        400,
        "verification_missing",
        "Missing verification",
        "The verification has not been prepared: send a code first."
    )
    static let verificationStrategyInvalid = ClerkFailure(
        400,
        "verification_strategy_invalid",
        "Invalid strategy",
        "The strategy is not the one that was prepared."
    )
    static let verificationExpired = ClerkFailure(
        400,
        "verification_expired",
        "Expired",
        "This verification has expired. You must create a new one."
    )
    static let verificationFailed = ClerkFailure(
        400,
        "verification_failed",
        "Failed",
        "Too many failed attempts. You have to try again with the same or another method."
    )
    static let verificationAlreadyVerified = ClerkFailure(
        400,
        "verification_already_verified",
        "Already verified",
        "This verification has already been verified."
    )
    static func resendTooSoon(milliseconds: Int64) -> ClerkFailure {
        let long = "A code was sent a moment ago. Wait at least 30 seconds before you ask for another."
        return ClerkFailure(waiting: milliseconds, "verification_code_too_many_requests", "Too many requests", long)
    }
}

// Tickets, links and what comes from another provider.
extension ClerkFailure {
    /// Nobody has proved themselves to another provider: there is nothing to take over.
    static let noTransfer = ClerkFailure(
        400,
        "account_transfer_invalid",
        "Invalid account transfer",
        "There is no account to transfer."
    )
    static func ticketInvalid(_ long: String) -> ClerkFailure {
        ClerkFailure(400, "ticket_invalid_code", "Ticket is invalid", long)
    }
    static let ticketUsed =
        ClerkFailure(400, "sign_in_token_already_used_code", "Already used", "This ticket has already been used.")
    static let ticketExpired = ClerkFailure(400, "ticket_expired_code", "Ticket expired", "The ticket has expired.")
    static let ticketOfNobody = ClerkFailure(
        400,
        "sign_in_identification_or_user_deleted",
        "User deleted",
        "The account of this ticket does not exist."
    )
    static let linkInvalid =
        ClerkFailure(400, "verification_link_token_invalid", "Invalid link", "This link is invalid.")
    static let linkExpired =
        ClerkFailure(400, "verification_link_token_expired", "Expired link", "This link has expired.")
}
