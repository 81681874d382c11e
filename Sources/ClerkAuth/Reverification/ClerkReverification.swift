public import HTTPRecovery

/// How far a person has to prove themselves again within a session.
public struct ClerkReverification: Sendable, Hashable, RawRepresentable {
    /// Clerk's word.
    public let rawValue: String

    /// Creates a level from Clerk's word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// With a first factor, such as a password.
    public static let firstFactor = ClerkReverification(rawValue: "first_factor")
    /// With a second factor; with a first one if the account has no second.
    public static let secondFactor = ClerkReverification(rawValue: "second_factor")
    /// With both.
    public static let multiFactor = ClerkReverification(rawValue: "multi_factor")

    /// The level that a refusal asks for; the second factor if it says nothing that is known.
    ///
    /// Backends name a level, or one of Clerk's presets: `strict_mfa` and others with a `level` in them.
    public init(wantedBy outcome: Outcome) {
        let advice = outcome.advice
        switch advice?["level"]?.string ?? advice?.string ?? "" {
        case "first_factor": self = .firstFactor
        case "multi_factor", "strict_mfa": self = .multiFactor
        default: self = .secondFactor
        }
    }
}
