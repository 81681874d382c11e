import HTTPRecovery

/// What an error code of Okta's means.
struct OktaErrorRule {
    var kind: Outcome.Kind
    var remedies: [Outcome.Remedy]
    var scope = Outcome.Scope.endpoint
    var credential: Outcome.CredentialKind?
    var parameter: String?
    /// The time to wait that Okta documents for the code, for answers that state none.
    var delay: Duration?
    /// Whether the presented credential is refused, ended or used up by it.
    var clears: Set<Outcome.CredentialKind> = []

    init(
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        scope: Outcome.Scope = .endpoint,
        parameter: String? = nil,
        delay: Duration? = nil,
        clears: Set<Outcome.CredentialKind> = []
    ) {
        self.kind = kind
        self.remedies = remedies
        self.scope = scope
        self.parameter = parameter
        self.delay = delay
        self.clears = clears
    }

    /// The meaning of an error; nil if its code is not known.
    ///
    /// - Parameters:
    ///   - envelope: The error.
    ///   - endpoint: Where it came from: some codes mean different things at different steps.
    ///   - presented: The sort of credential that was presented.
    static func of(
        _ envelope: OktaEnvelope,
        at endpoint: OktaEndpoint,
        presented: Outcome.CredentialKind?
    ) -> OktaErrorRule? {
        guard let code = envelope.code?.uppercased() else { return nil }
        switch code {
        case "E0000001": return validation(envelope)
        case "E0000004": return authentication(at: endpoint, presented)
        case "E0000007": return resource(envelope, at: endpoint, presented)
        case "E0000011": return token(at: endpoint, presented)
        case "E0000014": return update(envelope, at: endpoint)
        case "E0000259": return login(envelope)
        default: return OktaCodes.table[code]
        }
    }

    /// A credential is refused; the one that was presented, else the one that the code speaks of.
    static func refused(_ credential: Outcome.CredentialKind) -> OktaErrorRule {
        var meaning: OktaErrorRule
        switch credential {
        // The proof of a running flow is not a credential to renew.
        case .state: return OktaErrorRule(.flowExpired, [.restartFlow], clears: [.state])
        case .code, .device: meaning = OktaErrorRule(.credentialRejected, [.restartFlow])
        case .access, .id: meaning = OktaErrorRule(.credentialRejected, [.refreshCredential, .reauthenticate])
        case .session, .refresh: meaning = OktaErrorRule(.credentialRejected, [.reauthenticate])
        // A new API token has to be made.
        case .client: meaning = OktaErrorRule(.credentialRejected, [.fixRequest])
        }
        meaning.scope = .credential
        meaning.credential = credential
        // The client's own credential is configuration: nothing is cleared.
        if credential != .client { meaning.clears = [credential] }
        return meaning
    }

    private static func validation(_ envelope: OktaEnvelope) -> OktaErrorRule {
        if envelope.text.holds("password requirements were not met") {
            return OktaErrorRule(.passwordRejected, [.askUser])
        }
        let isTyped = envelope.parameter.map { typedByPeople.contains($0.lowercased()) } ?? false
        return OktaErrorRule(.invalidRequest, isTyped ? [.fixRequest, .askUser] : [.fixRequest])
    }

    /// What people fill in, so that new input may help.
    private static let typedByPeople: Set<String> = [
        "username", "login", "email", "password", "newpassword", "oldpassword", "passcode", "answer", "phonenumber",
        "phoneextension", "credentialid",
    ]

    /// Wrong credentials, and at other places a one-time token that is wrong or used up.
    private static func authentication(
        at endpoint: OktaEndpoint,
        _ presented: Outcome.CredentialKind?
    ) -> OktaErrorRule {
        if presented == .code || endpoint.isSessions { return refused(presented == .session ? .session : .code) }
        return OktaErrorRule(.invalidCredentials, [.askUser])
    }

    /// `me (Session)` is how Okta says that there is no session.
    private static func resource(
        _ envelope: OktaEnvelope,
        at endpoint: OktaEndpoint,
        _ presented: Outcome.CredentialKind?
    ) -> OktaErrorRule {
        let isSession = envelope.text.holds("(session)")
        guard isSession, presented == nil || presented == .session else { return OktaErrorRule(.notFound) }
        return refused(.session)
    }

    private static func token(at endpoint: OktaEndpoint, _ presented: Outcome.CredentialKind?) -> OktaErrorRule {
        if let presented { return refused(presented) }
        return refused(endpoint.isAuthentication ? .state : .access)
    }

    /// The old password is wrong, or the new one is against the policy.
    private static func update(_ envelope: OktaEnvelope, at endpoint: OktaEndpoint) -> OktaErrorRule {
        let text = envelope.text
        let isAboutOld =
            text.holds("oldpassword") || text.holds("old password is")
            || text.holds("credentials provided were incorrect")
        if endpoint.isPasswordChange && (isAboutOld || envelope.causes.isEmpty) {
            return OktaErrorRule(.invalidCredentials, [.askUser], parameter: "oldPassword")
        }
        return OktaErrorRule(.passwordRejected, [.askUser], parameter: "newPassword")
    }

    /// Sign-in is refused for now; newer orgs say so of a password that has appeared in a breach too.
    private static func login(_ envelope: OktaEnvelope) -> OktaErrorRule {
        let isBreach = envelope.text.holds("breach") || envelope.text.holds("compromised")
        return isBreach
            ? OktaErrorRule(.passwordCompromised, [.switchFactor, .changePassword]) : OktaErrorRule(.policyBlocked)
    }
}
