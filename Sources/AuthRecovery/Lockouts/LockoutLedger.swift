public import HTTPRecovery

/// What is known about locked accounts at one origin, as far as the client's store spans.
///
/// The engine keeps it by itself for every call that names its account; this is the view for those who want to look
/// before they ask a person for a password.
public struct LockoutLedger: Sendable {
    private let runtime: Runtime
    private let origin: Origin

    /// Creates the view.
    public init(runtime: Runtime, origin: Origin) {
        self.runtime = runtime
        self.origin = origin
    }

    /// How long the account stays locked; nil when nothing is known of a lockout.
    public func lockout(of account: String) async -> Outcome.Lockout? {
        let now = runtime.time.wallTime
        guard let gate = await runtime.state.closedGate(among: [key(account)]) else { return nil }
        return gate.opensAt.map { .remaining($0.elapsed(since: now)) } ?? .indefinite
    }

    /// Forgets a lockout, because somebody has unlocked the account.
    public func forget(_ account: String) async {
        await runtime.state.open(key(account))
    }

    /// The account name that a sign-in uses: without surrounding white space, in lower case.
    public static func account(for identifier: String) -> String {
        identifier.trimming(\.isWhitespace).lowercased()
    }

    private func key(_ account: String) -> SharedState.Gate.Key {
        SharedState.Gate.Key(scope: .account, origin: origin, name: Self.account(for: account))
    }
}
