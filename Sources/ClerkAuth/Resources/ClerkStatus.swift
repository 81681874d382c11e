/// The status of a sign-in; a status that this version does not know is kept as it is.
public struct ClerkSignInStatus: Sendable, Hashable, RawRepresentable {
    /// Clerk's word.
    public let rawValue: String

    /// Creates a status from Clerk's word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// An identifier is wanted.
    public static let needsIdentifier = ClerkSignInStatus(rawValue: "needs_identifier")
    /// A first factor is wanted.
    public static let needsFirstFactor = ClerkSignInStatus(rawValue: "needs_first_factor")
    /// A second factor is wanted.
    public static let needsSecondFactor = ClerkSignInStatus(rawValue: "needs_second_factor")
    /// The device is new and has to be confirmed.
    public static let needsClientTrust = ClerkSignInStatus(rawValue: "needs_client_trust")
    /// A new password is wanted.
    public static let needsNewPassword = ClerkSignInStatus(rawValue: "needs_new_password")
    /// A proof against abuse is wanted.
    public static let needsProtectCheck = ClerkSignInStatus(rawValue: "needs_protect_check")
    /// The session exists.
    public static let complete = ClerkSignInStatus(rawValue: "complete")
    /// Too old: start over.
    public static let abandoned = ClerkSignInStatus(rawValue: "abandoned")
}

/// The status of a session; a status that this version does not know is kept as it is.
public struct ClerkSessionStatus: Sendable, Hashable, RawRepresentable {
    /// Clerk's word.
    public let rawValue: String

    /// Creates a status from Clerk's word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// In use.
    public static let active = ClerkSessionStatus(rawValue: "active")
    /// Signed in, with tasks still open.
    public static let pending = ClerkSessionStatus(rawValue: "pending")

    /// Whether the session can be used; every status that is not known to be live counts as over.
    public var isLive: Bool {
        self == .active || self == .pending
    }
}
