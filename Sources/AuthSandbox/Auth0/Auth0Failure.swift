import HTTPRecovery
import HTTPRecoveryTesting

/// A refusal of the tenant: a status, a word and a text.
struct Auth0Failure: Error, Sendable {
    var status: Int
    let code: String
    let text: String
    /// Further members of the body.
    var more: [JSONValue.Member] = []
    var headers: [SandboxRequest.Header] = []
    /// Whether it has the form of what is about a database.
    var isOfDatabase = false

    init(_ status: Int, _ code: String, _ text: String) {
        self.status = status
        self.code = code
        self.text = text
    }

    static let notFound = Auth0Failure(404, "not_found", "There is no such endpoint.")
    static let wrongPassword = Auth0Failure(403, "invalid_grant", "Wrong email or password.")
    static let tooManyAttempts = Auth0Failure(
        429,
        "too_many_attempts",
        "Your account has been blocked after multiple consecutive login attempts."
    )
    static let suspicious = Auth0Failure(
        429,
        "too_many_attempts",
        "We have detected suspicious login behavior and further attempts will be blocked. Please contact the administrator."
    )
    static let bot = Auth0Failure(401, "requires_verification", "Suspicious request requires verification")
    static let tooManyGuesses = Auth0Failure(
        403,
        "invalid_grant",
        "You've reached the maximum number of attempts. Please try to login again."
    )
    static let codeExpired = Auth0Failure(
        403,
        "invalid_grant",
        "The verification code has expired. Please try to login again."
    )
    static let noConnection = Auth0Failure(400, "bad.connection", "The connection does not exist.")
    static let leaked = Auth0Failure(
        401,
        "password_leaked",
        "This login has been blocked because your password has been leaked in another website."
    )
    static let blocked = Auth0Failure(401, "unauthorized", "user is blocked")
    static let tokenExpired = Auth0Failure(401, "expired_token", "mfa_token is expired")
    static let malformedToken = Auth0Failure(403, "invalid_grant", "Malformed mfa_token")
    static let tooManyCodes = Auth0Failure(
        429,
        "too_many_attempts",
        "Too many failed codes. Wait for some minutes before retrying."
    )
    static let deadRefreshToken = Auth0Failure(403, "invalid_grant", "Unknown or invalid refresh token.")
    static let deadAccessToken = Auth0Failure(401, "invalid_token", "The token is not valid.")
    static let tooManyRequests = Auth0Failure(429, "too_many_requests", "Rate limit reached.")
    static let tooManyLogins = Auth0Failure(429, "too_many_logins", "Too many logins. Please try again later.")
    static let otherClient = Auth0Failure(403, "invalid_request", "mfa_token not issued to this client")
    static let pending = Auth0Failure(400, "authorization_pending", "Authorization pending: please repeat the request.")
    static let slowDown = Auth0Failure(429, "slow_down", "You are polling faster than allowed.")

    static func rejected(_ status: Int64) -> Auth0Failure {
        Auth0Failure(Int(status), "access_denied", "MFA Authorization rejected.")
    }

    static func missing(_ name: String) -> Auth0Failure {
        Auth0Failure(400, "invalid_request", "Missing required parameter: \(name)")
    }

    /// The answer that tells of it.
    var response: SandboxResponse {
        var response: SandboxResponse
        if code == "invalid_token" {
            response = .text("Unauthorized", status: status)
            response.setHeader("WWW-Authenticate", #"Bearer error="invalid_token", error_description="\#(text)""#)
        } else if isOfDatabase {
            response = .json(
                [
                    "name": "BadRequestError", "code": .string(code), "description": .string(text),
                    "statusCode": .int(status),
                ],
                status: status
            )
        } else {
            let members = [
                JSONValue.Member("error", .string(code)), JSONValue.Member("error_description", .string(text)),
            ]
            response = .json(.object(members + more), status: status)
        }
        for header in headers { response.setHeader(header.name, header.value) }
        return response
    }
}
