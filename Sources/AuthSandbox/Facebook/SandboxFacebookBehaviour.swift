/// How a token of Facebook's behaves.
public struct SandboxFacebookBehaviour: Sendable, Hashable {
    /// The behaviour's word in JSON.
    public let name: String
    /// The finer code with which it is refused; nil for one that is good.
    let subcode: Int64?

    private init(_ name: String, _ subcode: Int64?) {
        self.name = name
        self.subcode = subcode
    }

    /// `good`: it works until its time is over.
    public static let good = SandboxFacebookBehaviour("good", nil)
    /// `removed`: the person has removed the app (458).
    public static let removed = SandboxFacebookBehaviour("removed", 458)
    /// `checkpoint`: the person has to log in at the site, and then it works again (459).
    public static let checkpoint = SandboxFacebookBehaviour("checkpoint", 459)
    /// `password_changed` (460).
    public static let passwordChanged = SandboxFacebookBehaviour("password_changed", 460)
    /// `expired` (463).
    public static let expired = SandboxFacebookBehaviour("expired", 463)
    /// `unconfirmed`: the person has to confirm the account, and then it works again (464).
    public static let unconfirmed = SandboxFacebookBehaviour("unconfirmed", 464)
    /// `logged_out` (467).
    public static let loggedOut = SandboxFacebookBehaviour("logged_out", 467)
    /// `no_role`: the person of the page's token has lost their role (492).
    public static let noRole = SandboxFacebookBehaviour("no_role", 492)
    /// `inactive`: the access to the person's data has expired (493).
    public static let inactive = SandboxFacebookBehaviour("inactive", 493)

    /// All of them.
    public static let all = [
        good, removed, checkpoint, passwordChanged, expired, unconfirmed, loggedOut, noRole, inactive,
    ]

    /// Whether a visit at the site makes it good.
    var isSettledByVisit: Bool { self == .checkpoint || self == .unconfirmed }

    /// The behaviour of a word, or of a finer code as text.
    var message: String {
        let beginning = "Error validating access token: "
        switch subcode {
        case 458: return beginning + "The user has not authorized the application."
        case 459: return beginning + "You cannot access the app till you log in to www.facebook.com."
        case 460: return beginning + "The session has been invalidated because the user changed their password."
        case 463: return beginning + "Session has expired."
        case 464: return beginning + "Sessions for the user are not allowed because the user is not a confirmed user."
        case 467: return beginning + "The session is invalid because the user logged out."
        case 492: return beginning + "The user has lost the role on the page."
        case 493: return beginning + "The access to the user's data has expired."
        default: return "Invalid OAuth access token - Cannot parse access token"
        }
    }
}

extension SandboxFacebookBehaviour: Codable {
    /// Reads the name, or the subcode that stands for it.
    public init(from decoder: any Decoder) throws {
        let word = try decoder.singleValueContainer().decode(String.self)
        guard let known = Self.all.first(where: { $0.name == word || $0.subcode.map { String($0) } == word }) else {
            let names = Self.all.map(\.name).joined(separator: ", ")
            throw SandboxError(.invalidInput, "behaviour must be one of \(names)")
        }
        self = known
    }

    /// Writes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}
