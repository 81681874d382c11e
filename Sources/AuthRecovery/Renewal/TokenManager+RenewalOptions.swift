import HTTPRecovery

extension TokenManager {
    /// When credentials are renewed, and how often at most.
    public struct RenewalOptions: Sendable, Hashable {
        /// How long before its expiry an access token is renewed at most; default: 60 s.
        ///
        /// Of a shorter life a tenth counts. Each process draws its own moment in the later half of it, so that a fleet does
        /// not renew as one. The old token serves until the new one is stored.
        public var leeway: Duration

        /// The time that one renewal may take, its wait for another process and its repetitions included; default: 30 s.
        public var timeout: Duration

        /// How long the lease is granted that keeps other processes from renewing too; default: 5 s.
        ///
        /// It is extended while the renewal lasts. When a process dies in the middle, the others wait for its rest.
        public var lease: Duration

        /// How long after a failed renewal no other one is begun; default: 250 ms.
        ///
        /// It doubles with each failure in a row, up to 10 s. Whoever needs the credential meanwhile waits for its end.
        public var cooldown: Duration

        /// How many fresh tokens may be refused within the window before no more are asked for; at least 1, default: 5.
        public var limit: Int

        /// The window of ``limit``; default: 30 s.
        public var window: Duration

        /// Creates options.
        public init(
            leeway: Duration = .seconds(60),
            timeout: Duration = .seconds(30),
            lease: Duration = .seconds(5),
            cooldown: Duration = .milliseconds(250),
            limit: Int = 5,
            window: Duration = .seconds(30)
        ) {
            self.leeway = max(leeway, .zero)
            self.timeout = max(timeout, .milliseconds(1))
            self.lease = max(lease, .milliseconds(100))
            self.cooldown = max(cooldown, .zero)
            self.limit = max(limit, 1)
            self.window = max(window, .zero)
        }
    }
}
