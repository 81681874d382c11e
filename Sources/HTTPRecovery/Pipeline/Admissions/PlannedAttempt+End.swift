extension PlannedAttempt {
    /// How an attempt ended, for the admissions that let it go.
    @nonexhaustive public enum End: Sendable {
        /// It came to an outcome.
        ///
        /// - Parameters:
        ///   - outcome: Which.
        ///   - by: Who has answered, if that is not the origin that was asked, as after a redirect.
        case ended(Outcome, by: Origin? = nil)
        /// It was on its way, and nothing is known of it: the caller was cancelled, or a layer failed, perhaps before anything
        /// was sent. It counts for neither side; a resend stays paid, as the server may have it.
        case abandoned
        /// It was not sent after all.
        case notSent
    }
}
