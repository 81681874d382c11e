import HTTPRecovery

/// A refusal of PingAM's REST API.
struct ForgeRockFailure: Error, Sendable {
    var status: Int
    var message: String
    /// The number of the authentication service; told only where it always is, or where the settings want it.
    var number: String?
    var isNumberTold = false
    /// Whether the answer says where failures are sent to, as those of journeys do.
    var hasFailureURL = false

    init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The end of a journey without success.
    static func journey(_ message: String, number: String) -> ForgeRockFailure {
        var failure = ForgeRockFailure(401, message)
        failure.number = number
        failure.hasFailureURL = true
        return failure
    }

    static let loginFailure = journey("Login failure", number: "107")
    static let locked = journey("Your account has been locked.", number: "112")
    static let inactive = journey("User not Active", number: "104")
    static let expiredAccount = journey("User Account Expired!!", number: "101")
    static let sessionLimit = journey("You have reached your session limit.", number: "115")
    static let accessDenied = ForgeRockFailure(401, "Access Denied")
    static let forbidden = ForgeRockFailure(403, "User not permitted.")
    static let notFound = ForgeRockFailure(404, "Resource cannot be found.")
    static let badSignature = ForgeRockFailure(400, "AuthId JWT Signature not valid")
    static let unreadableProof = ForgeRockFailure(400, "Failed to parse JWT, the authId is not one")
    static let badCallbacks = ForgeRockFailure(400, "The callbacks are not those of the step")

    static var noJourney: ForgeRockFailure {
        var failure = ForgeRockFailure(400, "No Configuration found")
        failure.number = "105"
        return failure
    }

    static func lockoutWarning(left: Int64) -> ForgeRockFailure {
        .journey("Warning: You will be locked out after \(left) more failure(s).", number: "107")
    }

    /// A link that was used, or is too old.
    static let deadLink = ForgeRockFailure(
        401,
        "org.forgerock.openam.auth.nodes.SuspendedAuthSessionException: The suspended journey is not there any more"
    )

    /// A journey that is too old, in one of the three forms that releases have.
    static func expiredJourney(_ form: String) -> ForgeRockFailure {
        switch form {
        case "text_400": return ForgeRockFailure(400, "Authentication Error: Authentication timeout.")
        case "status_408": return ForgeRockFailure(408, "Authentication Error: Authentication timeout.")
        default:
            var failure = ForgeRockFailure(401, "Session has timed out")
            failure.number = "110"
            failure.isNumberTold = true
            return failure
        }
    }

    /// The answer that tells of it.
    func response(_ settings: SandboxForgeRockSettings, version: String?) -> SandboxResponse {
        if let version, version.hasPrefix("1."), hasFailureURL {
            return .json(
                ["errorMessage": .string(message), "failureUrl": .string(settings.failureURL)],
                status: status
            )
        }
        var body: JSONValue = [
            "code": .int(Int64(status)), "reason": .string(Self.reason(status)), "message": .string(message),
        ]
        var detail: [JSONValue.Member] = []
        if hasFailureURL { detail.append(.init("failureUrl", .string(settings.failureURL))) }
        if let number, isNumberTold || settings.tellsNumbers {
            detail.append(.init("errorCode", .string(number)))
        }
        if !detail.isEmpty { body = body.adding("detail", .object(detail)) }
        return .json(body, status: status)
    }

    /// The words of a status, as the envelope repeats them.
    static func reason(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 415: "Unsupported Media Type"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        default: "Error"
        }
    }
}
