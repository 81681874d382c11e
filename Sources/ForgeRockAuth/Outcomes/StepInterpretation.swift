import HTTPRecovery

/// What a success of the authenticate endpoint says: a step that wants answers, or the end of the journey.
struct StepInterpretation {
    private let forgeRock: ForgeRockInterpretation

    init(_ forgeRock: ForgeRockInterpretation) {
        self.forgeRock = forgeRock
    }

    var outcome: Outcome {
        guard let body = forgeRock.interpretation.content.json, case .object = body else {
            return forgeRock.failure(.unreadable)
        }
        if let step = JourneyStep(body) { return outcome(of: step) }
        guard JourneySuccess(body) != nil else { return forgeRock.failure(.unreadable) }
        var outcome = forgeRock.failure(.ok)
        switch forgeRock.presented {
        case .state: outcome.tokenAction = .clear
        // The session is replaced by a stronger one.
        case .session where body["tokenId"]?.string?.nonEmpty != nil: outcome.tokenAction = .rotate
        default: break
        }
        return outcome
    }

    private func outcome(of step: JourneyStep) -> Outcome {
        var outcome = failure(of: step) ?? forgeRock.failure(.continue, wants(step))
        if outcome.remedies == [.poll] {
            outcome.retryAfter = step.callbacks.lazy.compactMap(\.statedPollingWait).first
        }
        if outcome.kind == .continue { outcome.userMessage = text(in: step) }
        outcome.statusType = step.stage?.bounded(to: 256)
        if forgeRock.presented == .state { outcome.tokenAction = step.authID == nil ? .clear : .rotate }
        return outcome
    }

    /// The gravest text for the person that comes along, such as that the password was wrong.
    private func text(in step: JourneyStep) -> String? {
        var gravest: (rank: Int, text: String)?
        for callback in step.callbacks {
            guard case .textOutput(let message?, let kind) = callback.content, let text = message.nonEmpty,
                let rank = Self.gravity.firstIndex(of: kind), rank > gravest?.rank ?? -1
            else { continue }
            gravest = (rank, text)
        }
        return gravest?.text.bounded(to: 4096)
    }

    /// The kinds of texts that are meant for a person, the gravest last.
    private static let gravity: [JourneyCallback.Content.TextKind] = [.information, .warning, .error]

    /// A state of the journey for which the vocabulary has a failure.
    private func failure(of step: JourneyStep) -> Outcome? {
        for callback in step.callbacks {
            if case .suspended(let message) = callback.content {
                var outcome = forgeRock.failure(.userActionRequired, [.visitProvider])
                outcome.userMessage = message?.nonEmpty?.bounded(to: 4096)
                return outcome
            }
            if callback.isProofOfHumanity { return forgeRock.failure(.challengeRequired, wants(step)) }
            guard let failed = callback.attribute?.failedPolicies, !failed.isEmpty else { continue }
            let isPassword = callback.type == "ValidatedCreatePasswordCallback"
            var outcome = forgeRock.failure(isPassword ? .passwordRejected : .invalidRequest, [.askUser])
            outcome.parameter = isPassword ? "password" : callback.attribute?.name?.bounded(to: 256) ?? "userName"
            outcome.details = .array(failed.map(\.json))
            return outcome
        }
        return nil
    }

    private func wants(_ step: JourneyStep) -> [Outcome.Remedy] {
        var wanted: [Outcome.Remedy] = []
        for callback in step.callbacks {
            switch callback.content {
            case .pollingWait:
                return [.poll]
            case .redirect, .identityProvider:
                return [.visitProvider]
            case .reCaptcha, .deviceProfile, .appIntegrity, .protectInitialize, .protectEvaluation:
                wanted.append(.solveChallenge)
            case .validatedPassword:
                wanted.append(.changePassword)
            case .hidden, .suspended:
                break
            case .textOutput, .metadata:
                if callback.webAuthn != nil { wanted.append(.askUser) }
            default:
                wanted.append(.askUser)
            }
        }
        return [.askUser, .changePassword, .solveChallenge].filter(wanted.contains)
    }
}
