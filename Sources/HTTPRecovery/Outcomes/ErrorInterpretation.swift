package import HTTPTypes

/// A response as classifiers read it: status, fields, body and what they state about delays and challenges.
package struct ErrorInterpretation: Sendable {
    package let exchange: Exchange
    package let response: HTTPResponse
    package let body: [UInt8]
    /// What the body is.
    package let content: ResponseContent
    /// What the response states about trying again.
    package var delay: ServerDelay
    /// The challenges of `WWW-Authenticate`.
    package let challenges: [Exchange.AuthenticationChallenge]

    package init(_ exchange: Exchange, response: HTTPResponse, body: [UInt8]) {
        self.exchange = exchange
        self.response = response
        self.body = body
        self.content = ResponseContent(body)
        self.delay = ServerDelay(response, receivedAt: exchange.now)
        self.challenges = Exchange.AuthenticationChallenge.challenges(in: response.headerFields)
    }

    package var status: Int { response.status.code }

    package var fields: HTTPFields { response.headerFields }

    /// Whether the body is JSON that is too large to be read, or of which only the beginning is at hand.
    package var isCut: Bool {
        content == .other && body.count > ResponseContent.bufferedLength
            && (body.first == UInt8(ascii: "{") || body.first == UInt8(ascii: "["))
    }

    /// Whether the server has processed the request, as far as the status tells.
    package var processed: Outcome.Processed {
        .forStatus(status, statesDelay: delay.isDelayStated)
    }

    /// Whether the status speaks of a passing condition of the server, which refuses no credential whatever stands in
    /// the body: 5xx, 408, 421, 425.
    package var isOutage: Bool {
        status >= 500 || status == 408 || status == 421 || status == 425
    }

    /// The id under which the server's operators find the request, from the fields that carry one.
    package var traceID: String? {
        for name in Self.traceFields {
            if let value = fields.lines(name).first?.nonEmpty { return value.bounded(to: 256) }
        }
        return nil
    }

    private static let traceFields = [
        "x-request-id", "request-id", "x-correlation-id", "x-github-request-id", "x-amzn-requestid",
        "x-amz-request-id", "x-ms-request-id", "cf-ray",
    ]
}

extension ServerDelay {
    /// Whether a field whose purpose it is states a delay that can be read: `Retry-After` or one of its vendor forms.
    package var isDelayStated: Bool {
        if case .delayField = field { delay != nil } else { false }
    }

    /// How the stated delay is meant.
    var form: Outcome.DelayForm {
        switch field?.fieldName {
        case RetryHints.pushbackField: .exactly
        case "x-amz-retry-after": .advised
        default: .atLeast
        }
    }
}

extension Outcome.Processed {
    /// Whether a server that answered with the status has processed the request.
    ///
    /// Error statuses below 500 say that it refused it, as does a 503 that states when to come back; every other 5xx
    /// leaves it open.
    package static func forStatus(_ status: Int, statesDelay: Bool) -> Outcome.Processed {
        switch status {
        case 200..<400: .yes
        case 400..<500: .no
        case 503: statesDelay ? .no : .unknown
        default: .unknown
        }
    }
}

extension Outcome {
    /// The span from which on a limit counts as a quota: waiting minutes for it is useless.
    package static let quotaSpan: Duration = .seconds(3600)

    /// The outcome of an attempt that brought no complete response, the same for every API.
    package static func transport(_ error: TransportError) -> Outcome {
        let isOurBound = error.code == .timedOut || error.code == .sendLimitPassed
        var outcome = Outcome(isOurBound ? .timedOut : .transport, scope: .origin)
        outcome.transportError = error
        outcome.processed =
            switch error.certainty {
            case .neverSent, .notProcessed: .no
            case .unknown: .unknown
            case .answered: .yes
            }
        outcome.remedies = error.isTransient ? [.retry] : []
        return outcome
    }

    /// The outcome of a refusal for a limit: a quota if the time to wait is an hour or more.
    package static func throttled(_ reading: ErrorInterpretation, scope: Scope, window: Duration? = nil) -> Outcome {
        let span = reading.delay.delay ?? window ?? .zero
        var outcome = Outcome(span >= quotaSpan ? .quotaExhausted : .rateLimited, scope: scope, processed: .no)
        outcome.retryAfter = reading.delay.delay
        outcome.remedies = [.wait]
        outcome.status = reading.status
        return outcome
    }

    /// The outcome of a passing failure of the server.
    package static func unavailable(_ reading: ErrorInterpretation) -> Outcome {
        var outcome = Outcome(.unavailable, processed: reading.processed, status: reading.status)
        outcome.retryAfter = reading.delay.delay
        outcome.remedies = reading.delay.delay == nil ? [.retry] : [.wait]
        if reading.delay.delay != nil { outcome.scope = .origin }
        return outcome
    }

    /// Whether the request was refused for the load of the server or a limit: what has a longer base delay and a price of
    /// its own (429, 503 that states a time, 529).
    var isThrottle: Bool {
        switch status {
        case 503: (retryAfter ?? .zero) > .zero
        case 529: true
        default: kind == .rateLimited || kind == .quotaExhausted
        }
    }

    /// Follows the server's explicit word about trying again.
    package mutating func apply(_ hint: ServerDelay.Hint?) {
        switch hint {
        case .stop:
            remedies.removeAll { $0 == .retry || $0 == .wait || $0 == .poll }
            if isFailure { delayForm = .never }
        case .force where isFailure && !remedies.contains(.retry) && !remedies.contains(.wait):
            let repair = remedies.first
            guard repair != .refreshCredential, repair != .stepUp, repair != .newNonce else { return }
            remedies.insert(retryAfter == nil ? .retry : .wait, at: 0)
        default:
            break
        }
    }
}
