import AuthRecovery
import HTTPRecovery

/// The errors of Facebook's that come without a code of Graph's: words of OAuth 2, the login endpoints, the site itself.
struct FacebookWords {
    private let facebook: FacebookInterpretation
    private var status: Int { facebook.status }
    private var presented: Outcome.CredentialKind? { facebook.presented }

    init(_ facebook: FacebookInterpretation) {
        self.facebook = facebook
    }

    // MARK: Words

    /// What a word means; nil if it is none that is known.
    func outcome(of word: String, _ envelope: FacebookEnvelope) -> Outcome? {
        if facebook.interpretation.isOutage {
            return envelope.number == nil ? FacebookStatusInterpretation(facebook).byStatus : nil
        }
        var outcome: Outcome
        switch word {
        // The renewal of a Limited Login: nothing but a sign-in, or the person's consent, helps.
        case "login_required", "invalid_dpop_proof":
            outcome = facebook.refused(presented ?? .id, isPresented: presented != nil)
        case "consent_required":
            outcome = facebook.outcome(of: .settledAtFacebook, envelope)
        case "access_denied":
            outcome = facebook.outcome(of: .plain(.declined, []), envelope)
        default:
            guard let error = OAuthError(["error": .string(word)]),
                let known = error.outcome(presented: presented)
            else { return nil }
            outcome = known
            if outcome.kind == .credentialRejected, presented == nil || presented == .access {
                outcome = facebook.refused(presented ?? .access, isPresented: false)
            }
            if outcome.kind == .unavailable { outcome = facebook.unavailable }
            if outcome.kind == .rateLimited { outcome = facebook.limited(.origin) }
            if outcome.kind != .unavailable { outcome.processed = .no }
        }
        outcome.code = word
        return outcome
    }

    // MARK: Login

    /// Whether an error of the token endpoint is about the code that is exchanged.
    func refusesCode(_ envelope: FacebookEnvelope) -> Bool {
        if isAboutApp(envelope) || isAboutRequest(envelope) { return false }
        return presented == .code || envelope.says("authorization code") || envelope.says("verification code")
    }

    private func isAboutApp(_ envelope: FacebookEnvelope) -> Bool {
        ["client secret", "client_secret", "client id", "client_id", "platform app", "appsecret"]
            .contains { envelope.says($0) }
    }

    /// Whether the request lacks something, or another parameter than the code is wrong: that ends no code.
    ///
    /// One that is used, expired or another's is ended, also if its redirect URI tells.
    private func isAboutRequest(_ envelope: FacebookEnvelope) -> Bool {
        let endings = ["used", "expired", "identical", "match", "verification code", "authorization code"]
        if endings.contains(where: { envelope.says($0) }) { return false }
        return ["missing", "required", "redirect_uri", "redirect uri"].contains { envelope.says($0) }
    }

    func outcome(ofLogin envelope: FacebookEnvelope) -> Outcome {
        if facebook.endpoint.issuesTokens, status < 500 {
            if isAboutApp(envelope) { return appError }
            if isAboutRequest(envelope) {
                return facebook.outcome(of: .plain(.invalidRequest, [.fixRequest]), envelope)
            }
            if envelope.type?.holds("RateLimit") != true {
                return facebook.refused(.code, isPresented: presented == .code)
            }
        }
        switch envelope.type {
        case "OAuthRateLimitException":
            return facebook.limited(.credential)
        case "OAuthAccessTokenException":
            // It does not tell a dead token from one whose person has to settle something.
            return facebook.refused(presented ?? .access, isPresented: false)
        case "OAuthPermissionsException", "OAuthForbiddenException":
            return facebook.failure(.permissionDenied, [.reauthenticate, .contactAdmin], processed: .no)
        case "OAuthParameterException":
            return facebook.failure(.invalidRequest, [.fixRequest], processed: .no)
        default:
            if status < 500, envelope.says("access token") || envelope.says("access_token") {
                return facebook.refused(presented ?? .access, isPresented: false)
            }
            return FacebookStatusInterpretation(facebook).unknown(envelope)
        }
    }

    private var appError: Outcome {
        var outcome = facebook.failure(.misconfigured, [.fixRequest], processed: .no)
        outcome.scope = .app
        return outcome
    }

    // MARK: The site

    func outcome(ofSite envelope: FacebookEnvelope) -> Outcome {
        switch envelope.number {
        case 1_357_001:
            // Somebody has to log in at the site; that takes no token of Graph's away.
            return facebook.refused(presented ?? .session, isPresented: false)
        case 1_357_004, 1_357_054:
            return facebook.unavailable
        default:
            if envelope.isTransient == true { return facebook.unavailable }
            return FacebookStatusInterpretation(facebook).unknown(envelope)
        }
    }
}
