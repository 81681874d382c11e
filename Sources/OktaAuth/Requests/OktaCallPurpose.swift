import AuthRecovery
import HTTPRecovery

/// What a call is for, which decides what its answers mean beside their own words.
enum OktaCallPurpose {
    /// A step of a transaction.
    case step
    /// Having a code sent: its window holds for nothing else.
    case sending
    /// Presenting a one-time token.
    case exchange
    /// Beginning a transaction with the token of a link.
    case redemption
    /// A step of a flow of the identity engine.
    case engine
    /// Having a code sent there.
    case engineSending
    /// Anything else.
    case plain

    /// Judges the answers of such a call.
    var classifier: any OutcomeClassifier {
        switch self {
        case .plain: OktaClassifier()
        case .engine: AdjustedClassifier(OktaClassifier(), Self.goOnWithForms)
        case .engineSending:
            AdjustedClassifier(OktaClassifier(), endpointClass: { "send \($1)" }, Self.goOnWithForms)
        case .step: AdjustedClassifier(OktaClassifier(), Self.goOn)
        case .sending: AdjustedClassifier(OktaClassifier(), endpointClass: { "send \($1)" }, Self.goOn)
        case .redemption:
            AdjustedClassifier(OktaClassifier()) { outcome, exchange in
                Self.goOn(&outcome, exchange)
                // Unknown ones and used ones have codes of their own.
                let isUnknown = outcome.kind == .credentialRejected && outcome.credential == .code
                if isUnknown || outcome.kind == .challengeExpired { OktaLinkToken.explainRefusal(&outcome) }
            }
        case .exchange:
            AdjustedClassifier(OktaClassifier()) { outcome, _ in
                // A one-time token counts as used whatever comes back (a limit, too), so it is not presented again.
                if outcome.isFailure, outcome.processed == .no { outcome.processed = .unknown }
            }
        }
    }

    /// An answer without an error goes on, whatever its forms want.
    private static func goOnWithForms(_ outcome: inout Outcome, _ exchange: Exchange) {
        let kinds: Set<Outcome.Kind> = [
            .passwordExpired, .userActionRequired, .challengePending, .challengeRequired,
        ]
        if outcome.code == nil, outcome.statusType != nil, kinds.contains(outcome.kind) { outcome.kind = .continue }
        offerOthers(&outcome)
        // Whether a step may go again is said by the permission that it is sent with; of one that may not, the call's
        // conclusion says that it is read where the flow stands.
        let passing: Set<Outcome.Kind> = [.transport, .timedOut, .unavailable]
        let isOutage = outcome.status.map { $0 >= 500 } ?? true
        if isOutage, passing.contains(outcome.kind), outcome.remedies == [.resync] {
            outcome.remedies = [outcome.retryAfter == nil ? .retry : .wait]
        }
    }

    /// The flow goes on: it would be misleading if those who watch saw a failure.
    private static func goOn(_ outcome: inout Outcome, _ exchange: Exchange) {
        let isSuccess = outcome.status.map { (200..<300).contains($0) } ?? false
        if isSuccess, [.passwordExpired, .challengePending].contains(outcome.kind) { outcome.kind = .continue }
        offerOthers(&outcome)
    }

    /// Who signs in may have other factors, which the quota of the org's messages does not hold.
    private static func offerOthers(_ outcome: inout Outcome) {
        if outcome.kind == .quotaExhausted, outcome.remedies.isEmpty { outcome.remedies = [.switchFactor] }
    }
}
