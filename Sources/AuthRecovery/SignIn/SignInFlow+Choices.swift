import HTTPRecovery

/// How a step decides between the factors that the server offers.
extension SignInFlow {
    /// Decides between the factors that the server offers; nil if it is for the person to decide.
    mutating func pick(
        among offered: [Factor],
        _ detour: SignInDetour?,
        _ context: SignInContext
    ) throws -> Move? {
        var factors = progress.usable(offered)
        if let detour {
            factors.removeAll { $0.isSame(as: detour.question.factor) }
            if let keys = detour.keys { factors.removeAll { !keys.contains($0.key) } }
            if factors.isEmpty {
                // Nothing can stand in: then the refusal stands, or the person is asked for the same again.
                if let refusal = detour.refusal { throw refusal }
                return .ask(detour.question)
            }
        } else if factors.isEmpty {
            factors = offered
        }
        // Who has chosen is not asked again because the flow had to begin again; but a wish is a new choice.
        let isWish = detour.map { $0.refusal == nil } ?? false
        if !isWish, let before = progress.standingChoice(among: factors) {
            return chosen(before, detour, context)
        }
        guard factors.count > 1 else { return try choose(factors.first, among: factors, detour, context) }
        wanted = .choice(factors, detour)
        return nil
    }

    mutating func choose(
        _ factor: Factor?,
        among factors: [Factor],
        _ detour: SignInDetour?,
        _ context: SignInContext
    ) throws -> Move {
        if let factor, let offered = factors.first(where: factor.isSame) { return chosen(offered, detour, context) }
        guard let best = SignInRules.best(of: factors, by: detour?.keys ?? options.preference) else {
            throw RecoveryError(outcome: Outcome(.factorUnavailable), reason: .notRecoverable)
        }
        return chosen(best, detour, context)
    }

    private mutating func chosen(_ factor: Factor, _ detour: SignInDetour?, _ context: SignInContext) -> Move {
        progress.choose(factor, insteadOf: detour?.question.factor)
        if let detour, detour.refusal != nil {
            context.emit(.fallback(from: detour.question.key.rawValue, to: factor.key.rawValue))
        }
        return .call(.choose(factor))
    }
}
