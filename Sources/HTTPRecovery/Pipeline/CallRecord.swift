public import HTTPTypes

/// What one call has done so far; middlewares write into it, the engine reads it.
public final class CallRecord: Sendable {
    private struct State {
        var history = History()
        var presented: PresentedCredential?
        /// Whether the attempt's layers have said that it presents none.
        var presentsNothing = false
        var receivedHead: HTTPResponse?
        /// The attempts of this call.
        var attempts = 0
        /// The budgets that paid for requests which continued the call.
        var debts: [RetryBudget] = []
    }

    /// The number of the call in events: that of the operation that it belongs to, where there is one.
    public let callID: Int

    /// The number of the call for which this one is made, such as a renewal; nil for one that stands for itself.
    public let parent: Int?

    /// What is asked; nil for an operation of several calls.
    let request: HTTPRequest?

    /// The attempts of the operation before this call: its own are counted on.
    private let attemptsBefore: Int
    private let state = Locked(State())

    /// Creates the record of a call.
    public init(callID: Int = 0, parent: Int? = nil) {
        self.callID = callID
        self.parent = parent
        request = nil
        attemptsBefore = 0
    }

    /// The record of a call.
    init(callID: Int, of request: HTTPRequest) {
        self.callID = callID
        self.request = request
        parent = nil
        attemptsBefore = 0
    }

    /// The record of a call that belongs to an operation.
    init(within operation: CallRecord, of request: HTTPRequest) {
        self.request = request
        callID = operation.callID
        parent = operation.parent
        attemptsBefore = operation.attempts
    }

    /// The attempts and waits so far.
    public var history: History {
        state.withLock { $0.history }
    }

    /// The credential that the last attempt presented, as the authorization reported it in
    /// ``CallContext/present(_:)``; nil where it presented none.
    public package(set) var presented: PresentedCredential? {
        get { state.withLock { $0.presented } }
        set { state.withLock { $0.presented = newValue } }
    }

    /// Whether the last attempt presented none, by the word of the layer that would have attached one.
    var presentsNothing: Bool {
        state.withLock { $0.presentsNothing }
    }

    /// The head of the present attempt's response, as soon as it has arrived; nil before.
    ///
    /// An authorization that finds a new token in it keeps the token even where the body then breaks off.
    public var receivedHead: HTTPResponse? {
        get { state.withLock { $0.receivedHead } }
        set { state.withLock { $0.receivedHead = newValue } }
    }

    /// The attempts that were begun so far.
    public var attempts: Int {
        state.withLock { $0.attempts }
    }

    /// Counts one more attempt, which presents the credential or none, and returns its ordinal.
    func beginAttempt(presenting credential: PresentedCredential?, orNothing isNothing: Bool) -> Int {
        state.withLock { state in
            state.attempts += 1
            state.presented = credential
            state.presentsNothing = isNothing
            state.receivedHead = nil
            return attemptsBefore + state.attempts
        }
    }

    /// The ordinal of the next attempt, in its operation where it belongs to one.
    var nextAttempt: Int {
        attemptsBefore + attempts + 1
    }

    /// Takes over what a call of the operation has done.
    func add(_ call: CallRecord) {
        let (attempts, history) = call.state.withLock { ($0.attempts, $0.history) }
        state.withLock { state in
            state.attempts += attempts
            for step in history.steps { state.history.append(step) }
        }
    }

    /// Remembers that the budget has paid for a request that continued the call.
    func owe(_ budget: RetryBudget) {
        state.withLock { $0.debts.append(budget) }
    }

    /// Gives the budgets back what they have paid, because the call came to a good end.
    func settle() {
        let debts = state.withLock { state in
            defer { state.debts = [] }
            return state.debts
        }
        for budget in debts { budget.refund() }
    }

    func append(_ step: History.Step) {
        state.withLock { $0.history.append(step) }
    }
}

/// Which credential an attempt presented, without the credential itself.
public struct PresentedCredential: Sendable, Hashable {
    /// The sort of the credential.
    public var kind: Outcome.CredentialKind
    /// What tells it from those before and after it: a late refusal of an older one never clears a newer one.
    public var version: UInt64
    /// Whose it is; a call is never repeated under another identity than that of its first attempt.
    public var identity: String?

    /// Creates the description of a presented credential.
    public init(kind: Outcome.CredentialKind, version: UInt64, identity: String? = nil) {
        self.kind = kind
        self.version = version
        self.identity = identity
    }
}
