import AuthRecovery
import HTTPRecovery

/// The words of Direct Authentication: those of OAuth 2, told apart by their texts.
///
/// What they speak of is a password, a code, or one of the two handles of a sign-in, so that none of them ever refuses a
/// refresh token. A text that nobody knows leaves the decision to the word.
struct OktaDirectWords {
    private let okta: OktaInterpretation
    private let word: OAuthError.Word
    private let detail: String?
    private let text: String

    /// Nil for what another grant, or another endpoint, has answered.
    init?(_ okta: OktaInterpretation) {
        guard okta.endpoint.isDirect || okta.endpoint.isOAuth("interact"),
            let error = okta.interpretation.content.json.flatMap({ OAuthError($0) })
        else { return nil }
        self.okta = okta
        word = error.word
        detail = error.detail
        text = error.detail?.lowercased() ?? ""
    }

    /// What the word means here; nil if it means what it means everywhere.
    var outcome: Outcome? {
        if word == "mfa_required", !okta.interpretation.isOutage { return secondFactor }
        guard var meaning = meaning else { return nil }
        if okta.status >= 500, meaning.kind != .unavailable { return nil }
        if okta.presented != .state { meaning.clears = [] }
        var outcome = okta.outcome(of: meaning)
        outcome.code = word.rawValue
        outcome.message = detail
        return outcome
    }

    /// The password was right, and more is wanted: the answer holds the proof with which it goes on.
    private var secondFactor: Outcome? {
        // A renewal does not go on; somebody has to sign in.
        guard okta.presented != .refresh else { return nil }
        guard okta.interpretation.content.json?["mfa_token"]?.string?.nonEmpty != nil else {
            return isDirect ? okta.failure(.unreadable) : nil
        }
        var outcome = okta.failure(.continue, [.switchFactor, .askUser])
        outcome.code = word.rawValue
        outcome.message = detail
        return outcome
    }

    private var meaning: OktaErrorRule? {
        if okta.endpoint.isOAuth("interact") {
            // The grant is off for the org, the server or the app; a user can do nothing about it.
            return word == .accessDenied ? OktaErrorRule(.misconfigured, [.fixRequest], scope: .app) : nil
        }
        switch word {
        case "invalid_otp": return OktaErrorRule(.challengeIncorrect, [.askUser])
        case "oob_rejected": return OktaErrorRule(.declined, [.switchFactor])
        case "direct_auth_authorization_pending": return OktaErrorRule(.challengePending, [.poll])
        case .serverError where text.holds("initiate out-of-band"):
            // The message may have gone all the same.
            return OktaErrorRule(.unavailable, [.switchFactor, .newChallenge])
        case .invalidGrant: return grant
        case .accessDenied: return denial
        case .invalidRequest where text.holds("not associated with"):
            return OktaErrorRule(.invalidRequest, [.fixRequest, .restartFlow])
        case .unauthorizedClient, .unsupportedGrantType, .consentRequired:
            return isDirect ? OktaErrorRule(.misconfigured, [.fixRequest, .contactAdmin], scope: .app) : nil
        case .interactionRequired:
            return isDirect ? OktaErrorRule(.misconfigured, [.fixRequest], scope: .app) : nil
        default: return nil
        }
    }

    /// Whether nothing but what a person brings, or the proof of a sign-in, was presented.
    private var isDirect: Bool { okta.presented == nil || okta.presented == .state }

    private typealias Row = (parts: [String], meaning: OktaErrorRule)

    private static let expired = OktaErrorRule(.passwordExpired, [.changePassword, .visitProvider])
    private static let forbidden = OktaErrorRule(.permissionDenied, [.contactAdmin])
    private static let noFactor = OktaErrorRule(.factorUnavailable, [.switchFactor, .contactAdmin])

    /// All parts of a row have to stand in the text.
    private static let grants: [Row] = [
        (["rate limit"], OktaErrorRule(.rateLimited, [.wait], scope: .origin)),
        (["api call exceeded"], OktaErrorRule(.rateLimited, [.wait], scope: .origin)),
        (["credentials provided"], OktaErrorRule(.invalidCredentials, [.askUser])),
        (["password has expired"], expired),
        (["otp", "incorrect"], OktaErrorRule(.challengeIncorrect, [.askUser])),
        (["rejected", "out-of-band"], OktaErrorRule(.declined, [.switchFactor])),
        (["uniquely identify"], OktaErrorRule(.invalidCredentials, [.askUser])),
        (["no pending webauthn"], OktaErrorRule(.challengeExpired, [.newChallenge])),
        (["validate the assertion"], OktaErrorRule(.challengeIncorrect, [.newChallenge, .switchFactor])),
        (["cannot be used with mfa"], forbidden), (["sign on policy"], forbidden),
        (["configure a password"], OktaErrorRule(.factorUnavailable, [.switchFactor])),
        (["multiple passwords"], OktaErrorRule(.factorUnavailable, [.switchFactor])),
    ]

    private static let denials: [Row] = [
        (["password is expired"], expired),
        (["mfa_token", "expired"], OktaErrorRule(.flowExpired, [.restartFlow], clears: [.state])),
        (["oob_code", "expired"], OktaErrorRule(.challengeExpired, [.newChallenge])),
        (["authenticator cannot be used"], noFactor), (["unable to prompt"], noFactor),
        (["no supported authenticators"], noFactor),
        (["grant_types_supported"], OktaErrorRule(.misconfigured, [.fixRequest])),
        (["grant types", "disabled"], OktaErrorRule(.misconfigured, [.fixRequest])),
        (["policy wasn"], forbidden), (["policy was not"], forbidden), (["network zone"], forbidden),
        (["lite user"], forbidden), (["recovery"], forbidden), (["authenticators", "not enabled"], forbidden),
    ]

    private func row(_ rows: [Row]) -> OktaErrorRule? {
        rows.first { $0.parts.allSatisfy(text.holds) }?.meaning
    }

    private var grant: OktaErrorRule? {
        if okta.presented == .code {
            // The code is good, and what stands behind it is not enough for the app.
            let isTooWeak = text.holds("assurance")
            return isTooWeak ? OktaErrorRule(.permissionDenied, [.contactAdmin]) : nil
        }
        guard isDirect else { return nil }
        if let known = row(Self.grants) { return known }
        if okta.presented == .state { return OktaErrorRule(.challengeIncorrect, [.askUser]) }
        // Nothing tells what was presented but the text.
        if text.holds("refresh token") { return .refused(.refresh) }
        if text.holds("authorization code") || text.holds("interaction code") || text.holds("pkce") {
            return .refused(.code)
        }
        return OktaErrorRule(.invalidCredentials, [.askUser])
    }

    /// Whoever was asked for their consent, at a device's code or at a login page, may have said no; of a password, a
    /// proof and a refresh token the policy decides.
    private var denial: OktaErrorRule? {
        isDirect || okta.presented == .refresh ? row(Self.denials) ?? Self.forbidden : nil
    }
}
