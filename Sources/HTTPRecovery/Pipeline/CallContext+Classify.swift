public import HTTPTypes

extension CallContext {
    /// Tells what an attempt came to that ended without a complete response.
    public func outcome(of error: TransportError, for request: HTTPRequest) -> Outcome {
        var outcome = classify(.failure(error), for: request, at: runtime.time.now, record.presentation)
        // What is too late for the whole call comes to what the caller says, as if the server had refused it as expired.
        if error.code == .sendLimitPassed, !error.isTransient, let limit = options.sendBy {
            outcome = limit.outcome
            outcome.processed = .no
        }
        outcome.transportError = error
        return outcome
    }

    /// Tells what an attempt came to, by the call's classifier.
    func classify(
        _ result: Exchange.Result,
        for request: HTTPRequest,
        at now: TimeSource.Instant,
        _ presentation: Presentation
    ) -> Outcome {
        classifier.classify(
            Exchange(
                method: request.method,
                path: request.path ?? "/",
                presented: kind(of: presentation, in: request),
                result: result,
                now: surroundings.runtime.time.wallTime(at: now)
            )
        )
    }

    /// The sort of credential that an attempt presented: what the layer says that attaches it, else what the call or the
    /// request says.
    private func kind(of presentation: Presentation, in request: HTTPRequest) -> Outcome.CredentialKind? {
        switch presentation {
        case .credential(let presented): return presented.kind
        // Who has shown nothing is told nothing of what was shown.
        case .nothing: return nil
        case .asCalled: break
        }
        return options.presents ?? (request.headerFields.contains(.authorization) ? .access : nil)
    }

    /// What a response comes to that needs no closer look; nil for any other.
    func plainOutcome(of response: HTTPResponse, status: Int) -> Outcome? {
        let fields = response.headerFields
        if options.hasClassifier, let own = options.classifier { return own.outcome(ofStatus: status, fields: fields) }
        return surroundings.runtime.classifier.outcome(ofStatus: status, fields: fields)
    }

    /// The call's classifier: its own, else the client's.
    var classifier: any OutcomeClassifier {
        options.classifier ?? surroundings.runtime.classifier
    }
}
