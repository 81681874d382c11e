import HTTPRecovery

/// An error of Okta's: a status, a code and a text.
struct OktaFailure: Error, Sendable, Equatable {
    let status: Int
    let code: String
    let summary: String
    var causes: [String] = []
    /// When the window ends that the refusal is about, beside that of the org's own limit.
    var windowEnd: Int64?

    init(_ status: Int, _ number: Int, _ summary: String, causes: [String] = []) {
        self.status = status
        self.code = Self.code(number)
        self.summary = summary
        self.causes = causes
    }

    /// A code as Okta writes it.
    static func code(_ number: Int) -> String {
        "E" + number.padded(to: 7)
    }

    /// The body that tells of it.
    func body(id: String) -> JSONValue {
        [
            "errorCode": .string(code),
            "errorSummary": .string(summary),
            "errorLink": .string(code),
            "errorId": .string(id),
            "errorCauses": .array(causes.map { ["errorSummary": .string($0)] }),
        ]
    }

    static let authentication = OktaFailure(401, 4, "Authentication failed")
    static let token = OktaFailure(401, 11, "Invalid token provided")
    static let state = OktaFailure(403, 79, "This operation is not allowed in the current authentication state.")
    static let session = OktaFailure(403, 5, "Invalid session")
    static let noSession = OktaFailure(404, 7, "Not found: Resource not found: me (Session)")
    static let path = OktaFailure(404, 8, "The requested path was not found")
    static let method = OktaFailure(405, 22, "The endpoint does not support the provided HTTP method")
    static let body = OktaFailure(400, 3, "The request body was not well-formed.")
    static let alreadyActive = OktaFailure(403, 16, "Activation failed because the user is already active")
    static let contentType = OktaFailure(
        400,
        21,
        "Bad request. Accept and/or Content-Type headers are likely not set."
    )
    static let factorAnswer = OktaFailure(
        403,
        68,
        "Invalid Passcode/Answer",
        causes: ["Your passcode doesn't match our records. Please try again."]
    )
    static let factorLock = OktaFailure(403, 69, "User Locked")
    static let replayed = OktaFailure(
        403,
        82,
        "Each code can only be used once. Please wait for a new code and try again."
    )
    static let otherWindow = OktaFailure(403, 83, "The passcode is valid but exceeded the time window.")
    static let recoveryAnswer = OktaFailure(403, 87, "The recovery question answer did not match our records.")
    static let recoveryUsed = OktaFailure(403, 105, "You have accessed a link that has expired or was already used.")
    static let unlockForbidden = OktaFailure(403, 32, "Unlock is not allowed for this user.")
    static let forgotForbidden = OktaFailure(403, 34, "Forgot password not allowed on specified user.")
    static let phone = OktaFailure(400, 98, "This phone number is invalid.")
    static let limit = OktaFailure(429, 47, "API call exceeded rate limit due to too many requests.")

    static func validation(_ parameter: String, _ cause: String) -> OktaFailure {
        OktaFailure(400, 1, "Api validation failed: \(parameter)", causes: ["\(parameter): \(cause)"])
    }

    static func oldPassword() -> OktaFailure {
        OktaFailure(403, 14, "Update of credentials failed", causes: ["Old password is incorrect"])
    }

    static func policy(_ causes: [String]) -> OktaFailure {
        OktaFailure(
            403,
            80,
            "The password does not meet the complexity requirements of the current password policy.",
            causes: causes
        )
    }

    /// A code was sent a moment ago.
    static func justSent(_ type: String, until end: Int64) -> OktaFailure {
        var failure =
            switch type {
            case "email":
                OktaFailure(429, 118, "An email was recently sent. Please wait 5 seconds before trying again.")
            case "call": OktaFailure(429, 133, "A call was recently made. Please wait 30 seconds before trying again.")
            default:
                OktaFailure(429, 109, "An SMS message was recently sent. Please wait 30 seconds before trying again.")
            }
        failure.windowEnd = end
        return failure
    }

    static func notFound(_ what: String) -> OktaFailure {
        OktaFailure(404, 7, "Not found: Resource not found: \(what)")
    }
}
