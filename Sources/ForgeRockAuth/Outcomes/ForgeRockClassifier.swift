import AuthRecovery
public import HTTPRecovery

/// Tells what an exchange with ForgeRock's and Ping's servers came to: PingAM (ForgeRock AM, OpenAM), an application
/// behind Identity Gateway, and the orchestrated flows of PingOne.
///
/// Endpoint, status and the finer error code decide before any text, which administrators word and translate. A 429 is
/// a throttle and a 5xx an outage, whatever the body says; neither refuses a credential. Successes are read too: a step
/// of a journey, a dead session, or a policy's advice comes as a 200.
///
/// If a journey's `authId` was presented (`Outcome.CredentialKind.state`), the token action is about
/// it: each step replaces it, and the end of the journey uses it up.
public struct ForgeRockClassifier: OutcomeClassifier {
    /// What the step waits for that is answered; nil if it does not wait, or nobody knows.
    private let wait: JourneyWait?

    /// Creates the classifier.
    public init() {
        wait = nil
    }

    init(wait: JourneyWait?) {
        self.wait = wait
    }

    /// Tells what the exchange came to.
    public func classify(_ exchange: Exchange) -> Outcome {
        guard case .response(let response, let body) = exchange.result else {
            return HTTPClassifier().classify(exchange)
        }
        let interpretation = ErrorInterpretation(exchange, response: response, body: body)
        var outcome = ForgeRockInterpretation(interpretation).outcome
        outcome.status = interpretation.status
        outcome.traceID = outcome.traceID ?? Self.traceID(interpretation)
        if outcome.isFailure { outcome.apply(interpretation.delay.hint) }
        return wait?.outcome(outcome) ?? outcome
    }

    private static func traceID(_ interpretation: ErrorInterpretation) -> String? {
        interpretation.fields.lines("x-forgerock-transactionid").first?.nonEmpty?.bounded(to: 256)
            ?? interpretation.traceID
    }
}
