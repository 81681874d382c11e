import AuthRecovery

/// What somebody can set up as a second factor.
@nonexhaustive public enum Auth0FactorKind: String, Sendable, Hashable, CaseIterable {
    /// An authenticator app.
    case app = "otp"
    /// Codes by text message.
    case textMessage = "sms"
    /// Codes that are told in a call.
    case call = "voice"
    /// Confirmations in the app Auth0 Guardian, or one that is made with its SDK.
    case push = "auth0"
    /// Codes by e-mail.
    case email

    /// The factor to be set up; nil if that cannot be done here.
    var factor: Factor? {
        Auth0SignInMachine.enrollable(nil).first { $0.providerName == rawValue }
    }
}
