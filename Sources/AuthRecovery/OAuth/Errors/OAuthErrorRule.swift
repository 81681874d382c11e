public import HTTPRecovery

/// What an error word means, apart from the answer in which it came.
enum OAuthErrorRule: Sendable {
    /// A credential is refused: the one that was presented, else the one that the word speaks of.
    case refused(Outcome.CredentialKind)
    /// The device flow's time is over; on a resource the word stands for a dead access token.
    case expired
    /// The server, or the person, says no; on a resource it is a missing permission.
    case denied
    /// A limit is reached.
    case throttled
    /// The person has to sign in: a session that was presented is not enough.
    case signIn
    /// Whatever was presented, the same.
    case plain(Outcome.Kind, [Outcome.Remedy], parameter: String? = nil)

    /// All words that have a meaning here.
    static var knownWords: [OAuthError.Word] { Array(table.keys) }

    static subscript(word: OAuthError.Word) -> OAuthErrorRule? { table[word] }

    private static let wrongSetup = OAuthErrorRule.plain(.misconfigured, [.fixRequest])
    private static let wrongRequest = OAuthErrorRule.plain(.invalidRequest, [.fixRequest])
    private static let passing = OAuthErrorRule.plain(.unavailable, [.retry])
    private static let atProvider = OAuthErrorRule.plain(.userActionRequired, [.visitProvider])
    private static let strongerAuthentication = OAuthErrorRule.plain(.stepUpRequired, [.stepUp])
    private static let pending = OAuthErrorRule.plain(.challengePending, [.poll])

    private static let table: [OAuthError.Word: OAuthErrorRule] = specified.merging(vendors) { word, _ in word }

    /// The words of the specifications.
    private static let specified: [OAuthError.Word: OAuthErrorRule] = [
        .invalidGrant: .refused(.refresh), .invalidToken: .refused(.access), .expiredToken: .expired,
        .accessDenied: .denied,
        .invalidRequest: wrongRequest,
        .invalidScope: .plain(.invalidRequest, [.fixRequest], parameter: "scope"),
        .invalidTarget: .plain(.invalidRequest, [.fixRequest], parameter: "resource"),
        .invalidAuthorizationDetails: .plain(.invalidRequest, [.fixRequest], parameter: "authorization_details"),
        .unsupportedTokenType: wrongRequest, .invalidDPoPProof: wrongRequest,
        .invalidRequestURI: .plain(.invalidRequest, [.fixRequest], parameter: "request_uri"),
        .invalidRequestObject: .plain(.invalidRequest, [.fixRequest], parameter: "request"),
        .invalidClient: wrongSetup, .unauthorizedClient: wrongSetup, .unsupportedGrantType: wrongSetup,
        .unsupportedResponseType: wrongSetup, .requestNotSupported: wrongSetup, .requestURINotSupported: wrongSetup,
        .registrationNotSupported: wrongSetup, .invalidRedirectURI: wrongSetup, .invalidClientMetadata: wrongSetup,
        .invalidSoftwareStatement: wrongSetup, .unapprovedSoftwareStatement: wrongSetup,
        .serverError: passing, .temporarilyUnavailable: passing,
        .authorizationPending: pending, .slowDown: pending,
        .insufficientScope: .plain(.permissionDenied, [.contactAdmin]),
        .insufficientUserAuthentication: strongerAuthentication,
        .unmetAuthenticationRequirements: strongerAuthentication,
        .useDPoPNonce: .plain(.nonceRequired, [.newNonce]),
        .interactionRequired: atProvider, .loginRequired: .signIn, .accountSelectionRequired: atProvider,
        .consentRequired: atProvider,
    ]

    /// Words that widespread servers send beside them.
    private static let vendors: [OAuthError.Word: OAuthErrorRule] = [
        // GitHub
        "bad_verification_code": .refused(.code), "bad_refresh_token": .refused(.refresh),
        "incorrect_device_code": .refused(.device), "incorrect_client_credentials": wrongSetup,
        "redirect_uri_mismatch": wrongSetup, "application_suspended": wrongSetup, "device_flow_disabled": wrongSetup,
        // Google
        "disabled_client": wrongSetup, "deleted_client": wrongSetup,
        // PingAM, Slack
        "invalid_code": .refused(.code), "code_already_used": .refused(.code),
        "bad_client_secret": wrongSetup, "bad_redirect_uri": wrongSetup, "invalid_client_id": wrongSetup,
        // PingAM, Microsoft
        "authorization_declined": .denied,
        "invalid_resource": .plain(.invalidRequest, [.fixRequest], parameter: "resource"),
        "insufficient_claims": strongerAuthentication,
        // Okta, Auth0
        "insufficient_authentication_context": strongerAuthentication, "mfa_required": strongerAuthentication,
        "invalid_refresh_token": .refused(.refresh),
        // Resource servers
        "invalid_access_token": .refused(.access), "token_expired": .refused(.access),
        "token_revoked": .refused(.access),
        "too_many_requests": .throttled, "too_many_attempts": .throttled, "rate_limit_exceeded": .throttled,
        "rate_limited": .throttled, "user_rate_limited": .throttled, "too_many_user_codes": .throttled,
    ]
}

extension OAuthError {
    /// What the word means for the credential that was presented; nil if the word is not known.
    ///
    /// A throttle has to be recognised before: some servers answer a 429 with `invalid_grant`, and a throttle refuses
    /// nothing. Kind, remedies, credential and token action are set; processed, delay and status are the caller's.
    ///
    /// - Parameter presented: The sort of credential that was presented, such as `refresh` in a refresh.
    public func outcome(presented: Outcome.CredentialKind?) -> Outcome? {
        guard let meaning = OAuthErrorRule[word] else { return nil }
        let isResource = presented == .access || presented == .session
        var outcome: Outcome
        switch meaning {
        case .refused(let spokenOf):
            outcome = Self.refused(presented ?? spokenOf)
            // A word about a code says nothing about the refresh token that was presented.
            let isOfAnother = presented == .refresh && (spokenOf == .code || spokenOf == .device)
            if let presented, presented != .client, !isOfAnother { outcome.tokenAction = .clear }
        case .expired where isResource:
            outcome = Self.refused(presented ?? .access)
            outcome.tokenAction = .clear
        case .expired:
            outcome = Outcome(.flowExpired, remedies: [.restartFlow])
            outcome.tokenAction = presented == .device ? .clear : .keep
        case .denied:
            outcome = isResource ? Outcome(.permissionDenied, remedies: [.contactAdmin]) : Outcome(.declined)
            // What was asked for is not granted any more.
            if presented == .device { outcome.tokenAction = .clear }
        case .signIn where presented == .session:
            // It may be good for other things, so it stays.
            outcome = Self.refused(.session)
            outcome.remedies = [.reauthenticate]
        case .signIn:
            outcome = Outcome(.userActionRequired, remedies: [.visitProvider])
        case .throttled:
            outcome = Outcome(.rateLimited, scope: .origin, processed: .no, remedies: [.wait])
        case .plain(let kind, let remedies, let parameter):
            outcome = Outcome(kind, remedies: remedies)
            outcome.parameter = parameter
        }
        outcome.code = word.rawValue
        outcome.message = detail
        return outcome
    }

    private static func refused(_ credential: Outcome.CredentialKind) -> Outcome {
        // A flow's proof is not a credential to renew.
        if credential == .state { return Outcome(.flowExpired, remedies: [.restartFlow]) }
        var outcome = Outcome(.credentialRejected, scope: .credential)
        outcome.credential = credential
        switch credential {
        case .access, .session, .id: outcome.remedies = [.refreshCredential, .reauthenticate]
        case .code, .device: outcome.remedies = [.restartFlow]
        case .client: outcome.remedies = [.fixRequest]
        case .refresh, .state: outcome.remedies = [.reauthenticate]
        }
        return outcome
    }
}
