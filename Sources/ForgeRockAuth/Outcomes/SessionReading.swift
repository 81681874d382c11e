import HTTPRecovery

/// What a success of the sessions endpoint says about the session.
struct SessionReading {
    private let reading: ForgeRockReading

    init(_ reading: ForgeRockReading) {
        self.reading = reading
    }

    var outcome: Outcome {
        let content = reading.reading.content
        guard let body = content.json else {
            if reading.isForeign { return reading.failure(.unreadable) }
            // Nothing but a logout is answered with nothing.
            return ended
        }
        if let result = body["result"]?.string {
            let isLogout = ["logged out", "has expired"].contains { result.lowercased().contains($0) }
            return isLogout ? ended : reading.failure(.ok)
        }
        let isDead =
            body["valid"]?.bool == false || body["active"]?.bool == false
            || (body["maxtime"]?.number.map { $0.double < 0 } ?? false)
        guard isDead else { return reading.failure(.ok) }
        var outcome = reading.failure(.credentialRejected, [.reauthenticate])
        outcome.scope = .credential
        outcome.credential = .session
        if reading.presented == .session { outcome.tokenAction = .clear }
        return outcome
    }

    /// The session is over, as was wanted.
    private var ended: Outcome {
        var outcome = reading.failure(.ok)
        if reading.presented == .session { outcome.tokenAction = .clear }
        return outcome
    }
}
