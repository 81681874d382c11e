import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// What a success of the sessions endpoint says about the session.
struct SessionInterpretation {
    private let forgeRock: ForgeRockInterpretation

    init(_ forgeRock: ForgeRockInterpretation) {
        self.forgeRock = forgeRock
    }

    var outcome: Outcome {
        let content = forgeRock.interpretation.content
        guard let body = content.json else {
            if forgeRock.isForeign { return forgeRock.failure(.unreadable) }
            // Nothing but a logout is answered with nothing.
            if isLogout ?? (forgeRock.status == 204) { return ended }
            return forgeRock.failure(isLogout == nil ? .ok : .unreadable)
        }
        let isDead =
            body["valid"]?.bool == false || body["active"]?.bool == false
            || (body["maxtime"]?.number.map { $0.double < 0 } ?? false)
        guard isDead else {
            // The text of the result is translated, so it counts only if the request does not tell.
            let result = body["result"]?.string?.lowercased() ?? ""
            let isOver = isLogout ?? ["logged out", "has expired"].contains { result.holds($0) }
            return isOver ? ended : forgeRock.failure(.ok)
        }
        var outcome = forgeRock.failure(.credentialRejected, [.reauthenticate])
        outcome.scope = .credential
        outcome.credential = .session
        if forgeRock.presented == .session { outcome.tokenAction = .clear }
        return outcome
    }

    /// Whether the request was to end the session; nil if its action is not known.
    private var isLogout: Bool? {
        let exchange = forgeRock.interpretation.exchange
        if exchange.method == .delete { return true }
        guard let query = exchange.query else { return nil }
        return FormFields(parsing: query.utf8)["_action"].first.map { $0.reveal().lowercased() == "logout" }
    }

    /// The session is over, as was wanted.
    private var ended: Outcome {
        var outcome = forgeRock.failure(.ok)
        if forgeRock.presented == .session { outcome.tokenAction = .clear }
        return outcome
    }
}
