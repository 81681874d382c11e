extension Outcome {
    /// Whether the server asks to wait, and states a time that has passed already: that counts as none, unless it is meant
    /// exactly (gRPC proposal A6).
    ///
    /// A limit or a lockout lasts all the same.
    var waitsForNothing: Bool {
        guard remedies.contains(.wait), let retryAfter, retryAfter <= .zero, delayForm != .exactly else { return false }
        return ![.rateLimited, .quotaExhausted, .accountLocked].contains(kind)
    }
}
