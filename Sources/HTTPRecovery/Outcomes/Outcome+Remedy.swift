extension Outcome {
    /// Something that can be done about a failure; for a flow that goes on, what the flow wants next.
    @nonexhaustive public enum Remedy: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// Send the same request again after our own backoff, if that is safe.
        case retry
        /// Wait the stated time, then send the same request again.
        case wait
        /// Ask again after the server's interval.
        case poll
        /// Renew the credential and replay once.
        case refreshCredential = "refresh_credential"
        /// Sign in again.
        case reauthenticate
        /// Use another factor.
        case switchFactor = "switch_factor"
        /// Have a new code or challenge prepared or sent.
        case newChallenge = "new_challenge"
        /// Ask the person for new input to the same step.
        case askUser = "ask_user"
        /// Set a new password.
        case changePassword = "change_password"
        /// Unlock the account by self-service.
        case unlock
        /// Read the server's state again and follow it.
        case resync
        /// Start the flow again.
        case restartFlow = "restart_flow"
        /// Use the session that exists.
        case useExistingSession = "use_existing_session"
        /// Authenticate more strongly or freshly.
        case stepUp = "step_up"
        /// Make a new proof with the server's nonce.
        case newNonce = "new_nonce"
        /// Replay with the previous token as seed.
        case seedToken = "seed_token"
        /// Solve the captcha or attestation.
        case solveChallenge = "solve_challenge"
        /// The person has to visit the provider.
        case visitProvider = "visit_provider"
        /// The caller or its configuration has to change.
        case fixRequest = "fix_request"
        /// An administrator has to act.
        case contactAdmin = "contact_admin"

        /// The word in events, logs and histories.
        public var description: String { rawValue }
    }
}
