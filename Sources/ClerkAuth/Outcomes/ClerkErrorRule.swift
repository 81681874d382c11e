import HTTPRecovery

/// What an error code of Clerk's means.
struct ClerkErrorRule {
    var kind: Outcome.Kind
    var remedies: [Outcome.Remedy]
    var scope = Outcome.Scope.endpoint
    var credential: Outcome.CredentialKind?

    init(
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        scope: Outcome.Scope = .endpoint,
        credential: Outcome.CredentialKind? = nil
    ) {
        self.kind = kind
        self.remedies = remedies
        self.scope = scope
        self.credential = credential
    }

    /// The meaning of a code; nil if the code is not known.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - endpoint: Where it came from: some codes mean different things at different steps.
    static func of(_ code: String, at endpoint: ClerkEndpoint) -> ClerkErrorRule? {
        switch code {
        case "account_lockout_warning":
            // Two, one or no attempts are left: what was wrong is what was attempted.
            return ClerkErrorRule(endpoint.isSecondFactor ? .challengeIncorrect : .invalidCredentials, [.askUser])
        case "form_password_pwned":
            // Of the password one signs in with, or of the new one that is being chosen.
            return (endpoint.isSignIn || endpoint.isReverification) && !endpoint.isPasswordReset
                ? ClerkErrorRule(.passwordCompromised, [.switchFactor, .changePassword])
                : ClerkErrorRule(.passwordRejected, [.askUser])
        case "resource_forbidden":
            return endpoint.isFlow
                ? ClerkErrorRule(.flowExpired, [.restartFlow]) : ClerkErrorRule(.permissionDenied, [.contactAdmin])
        case "resource_not_found":
            return ClerkErrorRule(.notFound, endpoint.isClientState ? [.resync] : [])
        default:
            if let known = ClerkCodes.table[code] { return known }
            if code.hasPrefix("form_password_") { return ClerkErrorRule(.passwordRejected, [.askUser]) }
            if code.hasPrefix("sign_in_token_"), code.hasSuffix("_code") {
                return ClerkErrorRule(.flowExpired, [.restartFlow])
            }
            return nil
        }
    }
}
