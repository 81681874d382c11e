import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// An answer that has no error with a known meaning: the status decides, with the fields that refine it.
struct FacebookStatusInterpretation {
    private let facebook: FacebookInterpretation
    private var interpretation: ErrorInterpretation { facebook.interpretation }
    private var status: Int { facebook.status }

    init(_ facebook: FacebookInterpretation) {
        self.facebook = facebook
    }

    /// An error that can be read and whose meaning is not known.
    ///
    /// It is told as it is, never repeated, and takes no token away. One without any code leaves it to the status, and so
    /// does any in an outage, unless the server says that it is final.
    func unknown(_ envelope: FacebookEnvelope) -> Outcome {
        if interpretation.delay.delay != nil, status == 503 { return facebook.unavailable }
        if interpretation.isOutage, !envelope.isFinal { return byStatus }
        if envelope.code == nil, !facebook.isSuccess, status != 400 {
            if let outcome = challenged { return outcome }
            return byStatus
        }
        if envelope.code == nil, let outcome = challenged { return outcome }
        return facebook.failure(.unknown, processed: facebook.isSuccess ? .unknown : interpretation.processed)
    }

    /// What an answer says in which no error can be read.
    var withoutError: Outcome {
        if (300..<400).contains(status) { return redirected }
        if status < 500, let outcome = challenged { return outcome }
        switch facebook.body {
        case .markup where !interpretation.isOutage && FacebookBody.isErrorPage(interpretation.body):
            return facebook.unavailable
        case .text(let text) where !interpretation.isOutage && FacebookBody.speaksOfOutage(text):
            return facebook.unavailable
        case .markup, .text, .other:
            if !interpretation.isOutage {
                return facebook.usage.isBlocked ? limited : facebook.failure(.unreadable)
            }
        case .empty, .json:
            if status < 500, facebook.usage.isBlocked { return limited }
        }
        return byStatus
    }

    /// A refusal without a word, while a limit is reported as used up.
    private var limited: Outcome {
        let isApp = facebook.usage.entries.contains { $0.scope == .app && $0.percent >= 100 }
        return facebook.limited(isApp ? .app : .endpoint)
    }

    /// What the status says, as everywhere, but that a bare 401 takes no token away.
    var byStatus: Outcome {
        if status == 401 { return facebook.refused(facebook.presented ?? .access, isPresented: false) }
        return general
    }

    private var general: Outcome {
        var outcome = HTTPClassifier().classify(interpretation.exchange)
        (outcome.code, outcome.message, outcome.userMessage) = (nil, nil, nil)
        outcome.tokenAction = .keep
        if !outcome.isFailure { outcome.kind = .unreadable }
        return outcome
    }

    /// What the challenge says: `OAuth "Facebook Platform" "invalid_token" "text"`, which is no valid syntax.
    ///
    /// It does not tell a dead token from one whose person has to settle something, so it takes none away.
    private var challenged: Outcome? {
        guard [400, 401, 403].contains(status),
            let word = interpretation.challenges.lazy.filter(\.isAboutTokens).compactMap(\.error).first
        else { return nil }
        var outcome: Outcome
        switch word {
        case "invalid_token": outcome = facebook.refused(facebook.presented ?? .access, isPresented: false)
        case "insufficient_scope":
            outcome = facebook.failure(.permissionDenied, [.reauthenticate, .contactAdmin], processed: .no)
        case "invalid_request": outcome = facebook.failure(.invalidRequest, [.fixRequest], processed: .no)
        default: return nil
        }
        outcome.code = word
        return outcome
    }

    /// A redirect: to an image, or back to the app with the answer of the login dialog.
    private var redirected: Outcome {
        let location = interpretation.fields.singleLine("location")
        let classifier = FacebookClassifier(errors: facebook.errors)
        let refusal = location.flatMap {
            FacebookRedirect(url: Secret($0)).refusal(judgedBy: classifier, at: interpretation.exchange.now)
        }
        var outcome = refusal ?? facebook.failure(.ok)
        if refusal == nil { outcome.retryAfter = interpretation.delay.delay }
        return outcome
    }
}
