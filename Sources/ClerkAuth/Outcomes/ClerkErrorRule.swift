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
            return endpoint.isSecondFactor
                ? ClerkErrorRule(.challengeIncorrect, [.askUser])
                : ClerkErrorRule(.invalidCredentials, [.askUser, .switchFactor])
        case "form_password_pwned":
            // Of the password one signs in with, or of the new one that is being chosen.
            return (endpoint.isSignIn || endpoint.isReverification) && !endpoint.isPasswordReset
                ? ClerkErrorRule(.passwordCompromised, [.switchFactor])
                : ClerkErrorRule(.passwordRejected, [.askUser])
        case "resource_forbidden":
            return endpoint.isFlow
                ? ClerkErrorRule(.flowExpired, [.restartFlow]) : ClerkErrorRule(.permissionDenied, [.contactAdmin])
        default:
            if var known = ClerkCodes.table[code] {
                if known.kind == .notFound, endpoint.isClientState { known.remedies = [.resync] }
                return known
            }
            return code.hasPrefix("form_password_") ? ClerkErrorRule(.passwordRejected, [.askUser]) : nil
        }
    }
}

/// The fields of Clerk's forms.
enum ClerkField {
    /// Whether a person fills the field in, so that they can correct it; the others are the client's own.
    static func isFilledIn(_ name: String?) -> Bool {
        name.map(filledIn.contains) ?? false
    }

    private static let filledIn: Set<String> = [
        "identifier", "password", "new_password", "current_password", "code", "email_address", "phone_number",
        "username",
        "first_name", "last_name", "name", "slug", "legal_accepted",
    ]
}
