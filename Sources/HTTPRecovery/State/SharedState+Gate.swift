extension SharedState {
    /// What a closed gate holds: requests of one scope that must not go out before a time.
    public struct Gate: Sendable, Hashable {
        /// Which requests the gate holds.
        public struct Key: Sendable, Hashable {
            /// The reach.
            public var scope: Outcome.Scope
            /// The origin; the same name at another origin is another gate.
            public var origin: Origin
            /// The endpoint class, account, credential or app within the origin.
            public var name: String

            /// Creates a key.
            public init(scope: Outcome.Scope, origin: Origin, name: String = "") {
                self.scope = scope
                self.origin = origin
                self.name = name
            }
        }

        /// Which requests it holds.
        public var key: Key

        /// Why it is closed.
        public var reason: Outcome.Kind

        /// When it opens; nil when only a person can open it.
        public var opensAt: Timestamp?

        /// When a gate that only a person can open is forgotten, so that one attempt finds out how things stand; nil for any
        /// other, and before a store has taken it.
        public var forgottenAt: Timestamp?

        /// How long every store remembers a gate that only a person can open: one hour after it was closed last.
        ///
        /// Nothing tells this client that an administrator has opened it; without an end nobody could ever try again. It is a
        /// bound of the memory: nobody is told of it as a time to wait.
        public static let indefiniteLifetime: Duration = .seconds(3600)

        /// The provider's code that closed it.
        public var code: String?

        /// The provider's text for the end user that came with it.
        public var userMessage: String?

        /// What helps against the lock of an account, as it was told when the gate was closed; empty where nothing was told, and
        /// for any other gate, which waiting helps against.
        public var remedies: [Outcome.Remedy]

        /// Creates a gate.
        public init(
            key: Key,
            reason: Outcome.Kind,
            opensAt: Timestamp?,
            forgottenAt: Timestamp? = nil,
            code: String? = nil,
            userMessage: String? = nil,
            remedies: [Outcome.Remedy] = []
        ) {
            self.key = key
            self.reason = reason
            self.opensAt = opensAt
            self.forgottenAt = forgottenAt
            self.code = code
            self.userMessage = userMessage
            self.remedies = remedies
        }

        /// Whether the gate is closed at the time.
        public func isClosed(at now: Timestamp) -> Bool {
            guard let end = opensAt ?? forgottenAt else { return true }
            return end > now
        }

        /// The gate with the time at which it is forgotten, if it has none yet and no time opens it.
        func remembered(from now: Timestamp) -> SharedState.Gate {
            guard opensAt == nil, forgottenAt == nil else { return self }
            var gate = self
            gate.forgottenAt = now.advanced(by: Self.indefiniteLifetime)
            return gate
        }

        /// Whether the gate stays closed longer than another.
        package func opensLater(than other: SharedState.Gate) -> Bool {
            guard let opensAt else { return other.opensAt != nil }
            guard let otherOpensAt = other.opensAt else { return false }
            return opensAt > otherOpensAt
        }
    }
}
