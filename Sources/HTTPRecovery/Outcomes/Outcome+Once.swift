extension Outcome {
    /// Asks for no further repetition of what is worth one only: what a new connection without early data has not changed,
    /// another will not (RFC 9110 section 15.5.20, RFC 8470 section 5.2).
    mutating func keepOnce(after history: History) {
        guard status == 421 || status == 425, history.attempts.contains(where: { $0.status == status }) else { return }
        remedies.removeAll { $0 == .retry || $0 == .wait }
    }
}
