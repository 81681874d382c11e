extension HTTPInterpretation {
    /// The challenges that speak of tokens as RFC 6750 and RFC 9449 define it.
    private var tokenChallenges: [Exchange.AuthenticationChallenge] {
        reading.challenges.filter(\.isAboutTokens)
    }

    /// What the error word of a token challenge says; nil if there is none that decides.
    ///
    /// A server may send several challenges. The words are consulted in this order because the first ones say what
    /// would make the same token acceptable, while `invalid_token` gives it up.
    var byChallenge: Outcome? {
        guard status == 400 || status == 401 || status == 403 else { return nil }
        let order = [
            "use_dpop_nonce", "insufficient_user_authentication", "insufficient_authentication_context",
            "invalid_dpop_proof", "invalid_token", "insufficient_scope", "invalid_request",
        ]
        for word in order {
            guard let challenge = tokenChallenges.first(where: { $0.error == word }) else { continue }
            var outcome = Self.outcome(of: word, challenge, self)
            outcome.code = word
            outcome.message = challenge.errorDescription?.bounded(to: 1024)
            return outcome
        }
        return nil
    }

    private static func outcome(
        of word: String,
        _ challenge: Exchange.AuthenticationChallenge,
        _ reading: HTTPInterpretation
    ) -> Outcome {
        switch word {
        case "use_dpop_nonce":
            var outcome = reading.failure(.nonceRequired, [.newNonce])
            let nonce = reading.reading.fields.lines("dpop-nonce").last?.nonEmpty
            outcome.advice = nonce.map { ["nonce": .string($0.bounded(to: 1024))] }
            return outcome
        case "insufficient_user_authentication", "insufficient_authentication_context":
            var outcome = reading.failure(.stepUpRequired, [.stepUp])
            outcome.advice = stepUpAdvice(challenge)
            return outcome
        case "invalid_token":
            return reading.rejected(isDefinite: true)
        case "insufficient_scope":
            var outcome = reading.failure(.permissionDenied, [.contactAdmin])
            outcome.advice = challenge["scope"].map { ["scope": .string($0.bounded(to: 1024))] }
            return outcome
        default:
            return reading.failure(.invalidRequest, [.fixRequest])
        }
    }

    /// The authentication that is wanted (RFC 9470 section 3).
    private static func stepUpAdvice(_ challenge: Exchange.AuthenticationChallenge) -> JSONValue? {
        var members: [JSONValue.Member] = []
        if let values = challenge["acr_values"] {
            members.append(JSONValue.Member("acr_values", .string(values.bounded(to: 1024))))
        }
        if let age = challenge["max_age"], let number = DecimalNumber(Array(age.utf8)[...], allowsFraction: false) {
            members.append(JSONValue.Member("max_age", .number(JSONValue.Number(number.whole))))
        }
        return members.isEmpty ? nil : .object(members)
    }

    /// A 401 whose challenges hold no word that decides.
    ///
    /// By RFC 9110 section 15.5.2 the credentials of the request have been refused. It counts as a definite no unless
    /// a page stands in place of the API's answer, or the server asks for another scheme than one for tokens, in which
    /// case it has not looked at the token.
    var unauthorized: Outcome {
        let asksForOtherScheme = !reading.challenges.isEmpty && tokenChallenges.isEmpty
        var outcome = rejected(isDefinite: reading.content != .markup && !asksForOtherScheme)
        if asksForOtherScheme { outcome.remedies.removeAll { $0 == .refreshCredential } }
        outcome.code = tokenChallenges.lazy.compactMap(\.error).first?.bounded(to: 256)
        outcome.message = tokenChallenges.lazy.compactMap(\.errorDescription).first?.bounded(to: 1024)
        return outcome
    }

    /// The presented credential is refused.
    ///
    /// - Parameter isDefinite: Whether the refusal is surely about this credential, so that it is dropped. A client's
    ///   own credential never is: it is configuration.
    private func rejected(isDefinite: Bool) -> Outcome {
        let presented = reading.exchange.presented
        if presented == .state {
            // The proof of a running flow is not a credential to renew: the flow starts again.
            var outcome = failure(.flowExpired, [.restartFlow])
            outcome.tokenAction = isDefinite ? .clear : .keep
            return outcome
        }
        var outcome = failure(.credentialRejected)
        outcome.scope = .credential
        outcome.credential = presented ?? .access
        switch presented {
        case .client:
            outcome.remedies = [.fixRequest]
        case .refresh:
            outcome.remedies = [.reauthenticate]
            if isDefinite { outcome.tokenAction = .clear }
        case .code, .device:
            outcome.remedies = [.restartFlow]
            if isDefinite { outcome.tokenAction = .clear }
        case .access, .session, .id:
            outcome.remedies = [.refreshCredential, .reauthenticate]
            if isDefinite { outcome.tokenAction = .clear }
        case nil, .state:
            // Nothing was presented, so nothing is dropped.
            outcome.remedies = [.refreshCredential, .reauthenticate]
        }
        return outcome
    }
}
