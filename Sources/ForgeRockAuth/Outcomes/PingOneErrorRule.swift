/// What a word of PingOne's API means: the code of an error, or the state of a flow.
enum PingOneErrorRule: String {
    case passwordLocked = "PASSWORD_LOCKED_OUT"
    case locked = "LOCKED"
    case wrongCode = "INVALID_OTP"
    case passwordExpired = "PASSWORD_EXPIRED"
    case mustChangePassword = "MUST_CHANGE_PASSWORD"
    case noPassword = "NO_PASSWORD"
    case externalPassword = "EXTERNAL"
    case requestLimited = "REQUEST_LIMITED"
    case invalidToken = "INVALID_TOKEN"
    case accessFailed = "ACCESS_FAILED"
    case notFound = "NOT_FOUND"
    case notUnique = "UNIQUENESS_VIOLATION"
    case unexpected = "UNEXPECTED_ERROR"
    /// Something about the request; what, the details say.
    case general = "INVALID_DATA"
    case done = "COMPLETED"
    case wantsPassword = "USERNAME_PASSWORD_REQUIRED"
    case wantsCode = "OTP_REQUIRED"

    /// The meaning of an error's code; nil if it is not known.
    init?(code: String) {
        switch code {
        case "INVALID_REQUEST", "INVALID_VALUE": self = .general
        case "COMPLETED", "USERNAME_PASSWORD_REQUIRED", "OTP_REQUIRED": return nil
        default: self.init(rawValue: code)
        }
    }

    /// The meaning of a flow's state; nil if it is none, or one of a failure whose code says more.
    init?(state: String) {
        guard let rule = PingOneErrorRule(rawValue: state) else { return nil }
        switch rule {
        case .done, .wantsPassword, .wantsCode, .passwordExpired, .mustChangePassword, .passwordLocked, .locked:
            self = rule
        default: return nil
        }
    }
}
