import HTTPRecovery
import HTTPTypes

/// Judges the answers of one endpoint: what ``OAuthClassifier`` says, and that a success holds what it has to.
struct OAuthEndpointClassifier: OutcomeClassifier {
    /// What a success has to hold.
    enum Expectation {
        case tokens
        case deviceAuthorization
        case introspection
        case metadata
        case nothing
    }

    var expects: Expectation
    /// Who judges what every server says alike.
    var base: any OutcomeClassifier = OAuthClassifier()
    /// Whether "not yet" is a good answer.
    var isPolling = false

    func classify(_ exchange: Exchange) -> Outcome {
        var outcome = base.classify(exchange)
        guard case .response(let response, let body) = exchange.result else { return outcome }
        if isPolling, let word = OAuthBody(body).knownWord(isError: response.status.code >= 400),
            word == .authorizationPending || word == .slowDown
        {
            // The flow goes on: it would be misleading if those who watch saw failures.
            outcome.kind = .continue
            outcome.code = word.rawValue
            outcome.remedies = [.poll]
        } else if outcome.kind == .ok, !(200..<300).contains(response.status.code) || !isComplete(body) {
            // A page that asks for a login, a proxy's greeting, a redirect that nobody follows.
            outcome = Outcome(.unreadable, processed: .yes, status: response.status.code)
        } else if outcome.code == OAuthError.Word.serverError.rawValue, outcome.processed == .no {
            // An unexpected condition in the clothes of a 4xx: what was presented may have been spent before it.
            outcome.processed = .unknown
        }
        return outcome
    }

    private func isComplete(_ bytes: [UInt8]) -> Bool {
        let members = OAuthBody(bytes).members
        switch expects {
        case .tokens: return members["access_token"]?.string?.isEmpty == false
        case .deviceAuthorization: return OAuthClient.DeviceAuthorization.isComplete(members)
        case .introspection: return members["active"]?.bool != nil
        case .metadata: return members.members?.isEmpty == false
        case .nothing: return true
        }
    }
}
