extension HTTPInterpretation {
    /// What the status alone says (RFC 9110 section 15, RFC 6585 and the registry), with the fields that refine it.
    var byStatus: Outcome {
        switch status {
        case 429:
            var outcome = throttled
            if isSecondaryLimit { outcome.retryAfter = reading.delay.delay ?? Self.secondaryLimitWait }
            return outcome
        case 403:
            return forbidden
        case 400..<500:
            return clientError
        case 501, 505, 506, 510:
            return failure(.misconfigured, [.fixRequest])
        case 507, 508:
            return failure(.unavailable)
        case 511:
            // A network in between wants a login (RFC 6585 section 6): the API has not seen the request.
            return failure(.unreadable)
        case 100..<200:
            return failure(.unreadable)
        default:
            // RFC 9110 section 15: an unknown class is treated as a 5xx.
            return .unavailable(reading)
        }
    }

    private var clientError: Outcome {
        switch status {
        case 401: return unauthorized
        case 402: return failure(.permissionDenied, [.contactAdmin])
        case 404, 410: return failure(.notFound)
        case 407: return failure(.misconfigured, [.fixRequest])
        case 408, 421, 425: return .unavailable(reading)
        case 409: return conflict
        case 412: return failure(.conflict, [.resync])
        case 413 where reading.delay.delay != nil:
            // RFC 9110 section 15.5.14: with Retry-After the refusal is temporary.
            return .unavailable(reading)
        case 423: return failure(.conflict, [reading.delay.delay == nil ? .retry : .wait])
        case 451: return failure(.policyBlocked)
        default: return failure(.invalidRequest, [.fixRequest])
        }
    }

    /// A duplicate or a concurrent change; worth repeating only if the answer says that something else is still
    /// under way.
    private var conflict: Outcome {
        let passing: Set<String> = ["lock_timeout", "idempotency_key_in_use"]
        guard words.code.map(passing.contains) == true else { return failure(.conflict, [.resync]) }
        return failure(.conflict, [reading.delay.delay == nil ? .retry : .wait])
    }

    private var forbidden: Outcome {
        if isSecondaryLimit {
            var outcome = throttled
            outcome.retryAfter = reading.delay.delay ?? Self.secondaryLimitWait
            return outcome
        }
        // A delay by itself makes no refusal a passing one.
        if reading.delay.isLimitExhausted || hasLimitText { return throttled }
        return failure(.permissionDenied, [.contactAdmin])
    }

    private var throttled: Outcome {
        .throttled(reading, scope: .origin, window: reading.delay.delay == nil ? limits.window(ofPolicies: []) : nil)
    }

    /// What GitHub documents for its secondary limits if neither `Retry-After` nor a used-up limit says more.
    private static var secondaryLimitWait: Duration { .seconds(60) }

    private var isSecondaryLimit: Bool {
        let message = words.message?.lowercased() ?? ""
        return message.holds("secondary rate limit") || message.holds("abuse detection mechanism")
    }

    private var hasLimitText: Bool {
        words.message?.lowercased().holds("rate limit exceeded") == true
    }

    func failure(_ kind: Outcome.Kind, _ remedies: [Outcome.Remedy] = []) -> Outcome {
        Outcome(kind, processed: reading.processed, remedies: remedies)
    }
}
