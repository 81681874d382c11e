import HTTPRecovery
import HTTPRecoveryTesting

/// An error answer of the Frontend API: a status and one or more entries.
struct ClerkFailure: Error, Sendable, Equatable {
    var status: Int
    var items: [Item]
    var headers: [SandboxRequest.Header] = []

    /// One entry of `errors`.
    struct Item: Sendable, Equatable {
        var code: String
        var message: String
        var longMessage: String
        var meta: JSONValue = [:]

        var json: JSONValue {
            [
                "code": .string(code), "message": .string(message), "long_message": .string(longMessage),
                "meta": meta,
            ]
        }
    }

    init(_ status: Int, _ code: String, _ message: String, long: String? = nil, meta: JSONValue = [:]) {
        self.status = status
        items = [Item(code: code, message: message, longMessage: long ?? message, meta: meta)]
    }

    init(_ status: Int, _ code: String, _ message: String, long: String? = nil, parameter: String) {
        self.init(status, code, message, long: long, meta: ["param_name": .string(parameter)])
    }

    var code: String { items.first?.code ?? "" }
}

// The codes in use, with the words that a person would read.
extension ClerkFailure {
    static func notFound(_ what: String) -> ClerkFailure {
        ClerkFailure(404, "resource_not_found", "not found", long: "No \(what) was found.")
    }

    static let signedOut = ClerkFailure(401, "signed_out", "Signed out", long: "You are signed out.")

    static let clientNotFound = ClerkFailure(
        400,
        "client_not_found",
        "Client not found",
        long: "This request needs a client, and none was found."
    )

    static let authenticationInvalid = ClerkFailure(
        401,
        "authentication_invalid",
        "Invalid authentication",
        long: "Unable to authenticate the request, you need to have an active session."
    )

    static func clientStateInvalid(_ long: String) -> ClerkFailure {
        ClerkFailure(400, "client_state_invalid", "Invalid action", long: long)
    }

    static func missing(_ parameter: String) -> ClerkFailure {
        ClerkFailure(
            422,
            "form_param_missing",
            "is missing",
            long: "\(parameter) must be included.",
            parameter: parameter
        )
    }

    static func null(_ parameter: String) -> ClerkFailure {
        ClerkFailure(422, "form_param_nil", "is empty", long: "Enter \(parameter).", parameter: parameter)
    }

    static func unknown(_ parameter: String) -> ClerkFailure {
        ClerkFailure(
            422,
            "form_param_unknown",
            "is unknown",
            long: "\(parameter) is not a valid parameter for this request.",
            parameter: parameter
        )
    }

    static func invalidValue(_ parameter: String, _ value: String) -> ClerkFailure {
        ClerkFailure(
            422,
            "form_param_value_invalid",
            "is invalid",
            long: "\(value.prefix(60)) is not a valid value for \(parameter).",
            parameter: parameter
        )
    }

    static let sessionExists = ClerkFailure(
        400,
        "session_exists",
        "Session already exists",
        long: "You're currently in single session mode. You can only be signed into one account at a time."
    )

    static func alreadySignedIn(session: String) -> ClerkFailure {
        ClerkFailure(
            400,
            "identifier_already_signed_in",
            "You're already signed in",
            long: "You're already signed in to this account.",
            meta: ["session_id": .string(session)]
        )
    }

    static let identifierNotFound = ClerkFailure(
        422,
        "form_identifier_not_found",
        "Couldn't find your account.",
        parameter: "identifier"
    )

    static let passwordIncorrect = ClerkFailure(
        422,
        "form_password_incorrect",
        "is incorrect",
        long: "Password is incorrect. Try again, or use another method.",
        parameter: "password"
    )

    static let passwordOrIdentifierIncorrect = ClerkFailure(
        422,
        "form_password_or_identifier_incorrect",
        "is incorrect",
        long: "Identifier or password is incorrect. Try again, or use another method.",
        parameter: "password"
    )

    static let codeIncorrect = ClerkFailure(
        422,
        "form_code_incorrect",
        "is incorrect",
        long: "Incorrect code",
        parameter: "code"
    )

    static let passwordCompromised = ClerkFailure(
        422,
        "form_password_compromised",
        "Password compromised",
        long: "Your password may be compromised. To protect your account, please continue with an alternative "
            + "sign-in method. You will be required to reset your password after signing in.",
        parameter: "password"
    )

    static let passwordPwned = ClerkFailure(
        422,
        "form_password_pwned",
        "Password has been found in an online data breach.",
        long: "Password has been found in an online data breach. For account safety, please use a different password.",
        parameter: "password"
    )

    static let passwordResetRequired = ClerkFailure(
        422,
        "password_reset_required",
        "Password reset required",
        long: "Your password must be reset before you can sign in.",
        parameter: "password"
    )

    static let passwordTooLong = ClerkFailure(
        422,
        "password_too_long_needs_reset",
        "Password needs to be reset",
        long: "Your password is longer than is supported today and must be reset.",
        parameter: "password"
    )

    static let strategyInvalid = ClerkFailure(
        400,
        "strategy_for_user_invalid",
        "Invalid verification strategy",
        long: "The verification strategy is not valid for this account."
    )

    static let noSecondFactors = ClerkFailure(
        400,
        "no_second_factors",
        "No second factors",
        long: "No second factors were found for this account."
    )

    static let verificationMissing = ClerkFailure(
        400,
        "verification_missing",
        "Missing verification",
        long: "The verification has not been prepared: send a code first."
    )

    static let verificationStrategyInvalid = ClerkFailure(
        400,
        "verification_strategy_invalid",
        "Invalid strategy",
        long: "The strategy is not the one that was prepared."
    )

    static let verificationExpired = ClerkFailure(
        400,
        "verification_expired",
        "Expired",
        long: "This verification has expired. You must create a new one."
    )

    static let verificationFailed = ClerkFailure(
        400,
        "verification_failed",
        "Failed",
        long: "Too many failed attempts. You have to try again with the same or another method."
    )

    static let verificationAlreadyVerified = ClerkFailure(
        400,
        "verification_already_verified",
        "Already verified",
        long: "This verification has already been verified."
    )

    static func resendTooSoon(milliseconds: Int64) -> ClerkFailure {
        var failure = ClerkFailure(
            429,
            "verification_code_too_many_requests",
            "Too many requests",
            long: "A code was sent a moment ago. Wait at least 30 seconds before you ask for another."
        )
        failure.headers = [.init(name: "Retry-After", value: String(wholeSeconds(milliseconds)))]
        return failure
    }

    static func tooManyRequests(milliseconds: Int64) -> ClerkFailure {
        var failure = ClerkFailure(
            429,
            "too_many_requests",
            "Too many requests. Please try again in a bit.",
            long: "Too many requests. Please try again in a bit."
        )
        failure.headers = [.init(name: "Retry-After", value: String(wholeSeconds(milliseconds)))]
        return failure
    }

    static func locked(milliseconds: Int64?, format: String) -> ClerkFailure {
        var meta: JSONValue = [:]
        var sentence = "Your account is locked."
        if let milliseconds, format != "absent" {
            let seconds = wholeSeconds(milliseconds)
            meta = ["lockout_expires_in_seconds": format == "string" ? .string(String(seconds)) : .int(seconds)]
            sentence += " You will be able to try again in \(seconds) seconds."
        }
        sentence += " For more information, please contact support."
        return ClerkFailure(403, "user_locked", "Account locked", long: sentence, meta: meta)
    }

    /// The same failure with a warning about the attempts that are left.
    func warning(attemptsLeft: Int64) -> ClerkFailure {
        var failure = self
        failure.items.append(
            Item(
                code: "account_lockout_warning",
                message: "\(attemptsLeft) attempts left",
                longMessage: "You have \(attemptsLeft) attempts left before your account is locked."
            )
        )
        return failure
    }

    /// Whole seconds, rounded up so that waiting for them is enough, and at least 1.
    private static func wholeSeconds(_ milliseconds: Int64) -> Int64 {
        max(1, (milliseconds + 999) / 1000)
    }
}
