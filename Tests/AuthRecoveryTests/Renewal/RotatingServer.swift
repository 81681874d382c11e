import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting

/// A token endpoint that rotates refresh tokens and detects their reuse, as a renewer; and a resource that knows which
/// access token is current.
final class RotatingServer: TokenRenewer {
    /// How one renewal goes.
    enum Step: Sendable {
        case ok
        /// The server refuses or fails without having renewed.
        case refuse(Outcome)
        /// The server renews, and the answer is lost.
        case lost
        /// The server renews, and somebody on the way answers in its place.
        case supplanted(Outcome)
        /// The request is lost on its way.
        case neverProcessed
        /// Waits until it is let go.
        case held(Latch)
    }

    struct State {
        var current = 1
        var steps: [Step] = []
        var presented: [String] = []
        /// When each refresh token was used first.
        var usedAt: [String: Timestamp] = [:]
        var violations = 0
        var isRevoked = false
    }

    let reuse: RefreshTokenGrant.Reuse
    let grace: Duration
    let expiresIn: Duration?
    let rotates: Bool
    private let time: TimeSource
    private let state = Locked(State())

    init(
        _ steps: [Step] = [],
        reuse: RefreshTokenGrant.Reuse = .undeclared,
        grace: Duration = .zero,
        expiresIn: Duration? = .seconds(3600),
        rotates: Bool = true,
        time: TimeSource
    ) {
        self.reuse = reuse
        self.grace = grace
        self.expiresIn = expiresIn
        self.rotates = rotates
        self.time = time
        state.withLock { $0.steps = steps }
    }

    /// The tokens before any renewal.
    static let first = Credentials(accessToken: "access-1", refreshToken: "refresh-1")

    /// Every refresh token that was presented, in order.
    var presented: [String] { state.withLock { $0.presented } }
    /// How often a used refresh token was presented outside the grace.
    var violations: Int { state.withLock { $0.violations } }

    func accepts(_ accessToken: String?) -> Bool {
        state.withLock { !$0.isRevoked && accessToken == "access-\($0.current)" }
    }

    /// Ends the life of the present access token before its time.
    func expireAccess() {
        state.withLock { $0.current += 1 }
    }

    func canRenew(_ credentials: Credentials) -> Bool { credentials.refreshToken != nil }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        let token = credentials.refreshToken?.reveal() ?? ""
        let step = state.withLock { state in
            state.presented.append(token)
            return state.steps.isEmpty ? .ok : state.steps.removeFirst()
        }
        switch step {
        case .ok: return try issue(for: token, credentials)
        case .refuse(let outcome): throw RecoveryError(outcome: outcome, reason: .notRecoverable)
        case .lost:
            _ = try issue(for: token, credentials)
            throw Self.lost
        case .supplanted(let outcome):
            _ = try issue(for: token, credentials)
            throw RecoveryError(outcome: outcome, reason: .notRecoverable)
        case .neverProcessed: throw Self.lost
        case .held(let latch):
            await latch.wait()
            return try issue(for: token, credentials)
        }
    }

    private static var lost: RecoveryError {
        RecoveryError(
            outcome: .transport(TransportError(.connectionLost, .unknown, message: "cut")),
            reason: .processedUnknown
        )
    }

    static var invalidGrant: Outcome {
        var outcome = Outcome(.credentialRejected, scope: .credential, processed: .no, remedies: [.reauthenticate])
        outcome.credential = .refresh
        outcome.tokenAction = .clear
        outcome.code = "invalid_grant"
        return outcome
    }

    private func issue(for token: String, _ credentials: Credentials) throws -> Credentials {
        let now = time.wallTime
        let number: Int? = state.withLock { state in
            if state.isRevoked { return nil }
            if rotates {
                if let used = state.usedAt[token] {
                    if now.elapsed(since: used) >= grace {
                        state.violations += 1
                        state.isRevoked = true
                        return nil
                    }
                } else {
                    state.usedAt[token] = now
                    state.current += 1
                }
            } else {
                state.current += 1
            }
            return state.current
        }
        guard let number else { throw RecoveryError(outcome: Self.invalidGrant, reason: .notRecoverable) }
        var renewed = credentials
        renewed.accessToken = Secret("access-\(number)")
        if rotates { renewed.refreshToken = Secret("refresh-\(number)") }
        renewed.expiresAt = expiresIn.map { now.advanced(by: $0) }
        return renewed
    }
}

/// Something that happens once and is awaited.
actor Latch {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}
