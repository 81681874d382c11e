extension Outcome {
    /// What an exchange came to, in the vocabulary that all providers share.
    @nonexhaustive public enum Kind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// Success.
        case ok
        /// A live flow that goes on: a second factor, a new password, a poll that still waits.
        case `continue`
        /// A limit over seconds or minutes: wait for its scope.
        case rateLimited = "rate_limited"
        /// A limit over an hour or more: waiting minutes is useless.
        case quotaExhausted = "quota_exhausted"
        /// The server side fails for a time (5xx in any clothing, 408, 425, overload).
        case unavailable
        /// No answer came; ``Outcome/transportError`` says why.
        case transport
        /// Our own attempt timeout or deadline has passed.
        case timedOut = "timed_out"
        /// The presented credential is definitely not accepted.
        case credentialRejected = "credential_rejected"
        /// Nothing held can help any more: a person has to sign in. Concluded by the engine, never by a classifier.
        case reauthenticationRequired = "reauthentication_required"
        /// Wrong password or identifier; held tokens are untouched.
        case invalidCredentials = "invalid_credentials"
        /// The account is locked, for a time or until somebody unlocks it.
        case accountLocked = "account_locked"
        /// The account is disabled, banned, expired or not confirmed.
        case accountBlocked = "account_blocked"
        /// The password is known to be compromised: another factor has to be used first.
        case passwordCompromised = "password_compromised"
        /// The password has to be changed.
        case passwordExpired = "password_expired"
        /// The new password is against the policy.
        case passwordRejected = "password_rejected"
        /// A wrong or reused code.
        case challengeIncorrect = "challenge_incorrect"
        /// The code, link or attempts are used up.
        case challengeExpired = "challenge_expired"
        /// An error-shaped "not yet" (`authorization_pending`, `slow_down`).
        case challengePending = "challenge_pending"
        /// A captcha, an attestation or another challenge has to be solved first.
        case challengeRequired = "challenge_required"
        /// A person said no.
        case declined
        /// This factor cannot be used now.
        case factorUnavailable = "factor_unavailable"
        /// The flow's own proof is dead: start the flow again.
        case flowExpired = "flow_expired"
        /// The flow is in another state than assumed: read it again and follow it.
        case stateConflict = "state_conflict"
        /// Stronger or fresher authentication is wanted.
        case stepUpRequired = "step_up_required"
        /// A DPoP nonce is wanted.
        case nonceRequired = "nonce_required"
        /// The person has to act at the provider.
        case userActionRequired = "user_action_required"
        /// A missing scope, role or capability.
        case permissionDenied = "permission_denied"
        /// Blocked for behaviour.
        case policyBlocked = "policy_blocked"
        /// A parameter of the caller is wrong.
        case invalidRequest = "invalid_request"
        /// The client, app, realm, key or route is set up wrongly.
        case misconfigured
        /// A duplicate or a concurrent change.
        case conflict
        /// A session exists already: use it.
        case alreadySignedIn = "already_signed_in"
        /// What was asked for does not exist.
        case notFound = "not_found"
        /// Not the API's answer.
        case unreadable
        /// An API error without a known meaning.
        case unknown

        /// Whether the kind is a failure.
        public var isFailure: Bool {
            self != .ok && self != .continue
        }

        /// The word in events, logs and histories.
        public var description: String { rawValue }
    }

    /// Which other requests an outcome holds for.
    @nonexhaustive public enum Scope: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The endpoint, or the provider's class of endpoints that shares a limit.
        case endpoint
        /// The origin, for the credential that was presented.
        case origin
        /// The account that the request was about.
        case account
        /// The credential, wherever it is presented.
        case credential
        /// The whole app or client registration.
        case app

        /// The word in events, logs and histories.
        public var description: String { rawValue }
    }

    /// Whether the server has processed the request.
    public enum Processed: String, Sendable, Hashable, CaseIterable {
        /// It certainly has not: resending is safe.
        case no
        /// It has.
        case yes
        /// Nobody can tell.
        case unknown
    }

    /// How a stated wait is meant.
    @nonexhaustive public enum DelayForm: String, Sendable, Hashable, CaseIterable {
        /// Nothing before the time, as with `Retry-After`.
        case atLeast = "at_least"
        /// At the time, at once too, and the client's backoff starts anew: `grpc-retry-pushback-ms` (gRPC proposal A6).
        case exactly
        /// About then, as the client's own backoff allows: `x-amz-retry-after`.
        case advised
        /// Not again at all: `x-should-retry: false`, or a pushback that is no time.
        case never
    }

    /// How long an account stays locked.
    public enum Lockout: Sendable, Hashable {
        /// Locked for this time, measured at the moment of the answer.
        case remaining(Duration)
        /// Locked until an administrator unlocks it.
        case indefinite
    }

    /// What must happen to the presented credential.
    public enum TokenAction: String, Sendable, Hashable, CaseIterable {
        /// Nothing: it stays.
        case keep
        /// It is refused, ended or used up: remove it, if it is still the current one.
        case clear
        /// The answer carries its replacement: store it before anyone uses it.
        case rotate
    }

    /// The sort of a credential.
    @nonexhaustive public enum CredentialKind: String, Sendable, Hashable, CaseIterable {
        /// An access token.
        case access
        /// A refresh token.
        case refresh
        /// A session token or cookie.
        case session
        /// A client secret, client assertion or client token.
        case client
        /// An authorization code or one-time token.
        case code
        /// A device code.
        case device
        /// An identity token.
        case id
        /// The proof of a running flow (state token, authId); presented, never reported as refused.
        case state
    }
}
