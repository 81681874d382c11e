public import HTTPTypes

/// What one call has done so far; middlewares write into it, the engine reads it.
public final class CallRecord: Sendable {
    private struct State {
        var history = History()
        var presentation = Presentation.asCalled
        /// What has arrived of the present attempt's response.
        var received: Response?
        /// The attempts of this call.
        var attempts = 0
        /// What gives back what was paid for requests that continued the call.
        var refunds: [@Sendable () -> Void] = []
    }

    /// The number of the call in events: that of the operation that it belongs to, where there is one.
    public let callID: Int

    /// The number of the call for which this one is made, such as a renewal; nil for one that stands for itself.
    public let parent: Int?

    /// What is asked; nil for an operation of several calls.
    let request: HTTPRequest?

    /// What the call wants to be treated differently, as it was made.
    let options: RequestOptions

    /// What the call shares with all calls of its client.
    let surroundings: Surroundings

    /// When the call began.
    let start: TimeSource.Instant

    /// The operation that the call belongs to: it numbers the attempts of all its calls.
    private let operation: CallRecord?
    private let state = Locked(State())

    /// The record of a call that stands for itself, or of an operation, which has no request.
    init(
        callID: Int,
        parent: Int? = nil,
        of request: HTTPRequest? = nil,
        _ options: RequestOptions,
        _ surroundings: Surroundings
    ) {
        self.callID = callID
        self.parent = parent
        self.request = request
        self.options = options
        self.surroundings = surroundings
        start = surroundings.runtime.time.now
        operation = nil
    }

    /// The record of a call that belongs to an operation.
    init(
        within operation: CallRecord,
        of request: HTTPRequest,
        _ options: RequestOptions,
        _ surroundings: Surroundings
    ) {
        callID = operation.callID
        parent = operation.parent
        self.request = request
        self.options = options
        self.surroundings = surroundings
        start = surroundings.runtime.time.now
        self.operation = operation
    }

    /// The attempts and waits so far.
    public var history: History {
        state.withLock { $0.history }
    }

    /// The credential that the last attempt presented, as the authorization reported it in
    /// ``CallContext/present(_:)``; nil where it presented none.
    public package(set) var presented: PresentedCredential? {
        get { presentation.credential }
        set { state.withLock { $0.presentation = newValue.map { .credential($0) } ?? .asCalled } }
    }

    /// What the last attempt presented, by the word of its layers.
    var presentation: Presentation {
        state.withLock { $0.presentation }
    }

    /// The head of the present attempt's response, as soon as it has arrived; nil before.
    ///
    /// An authorization that finds a new token in it keeps the token even where the body then breaks off.
    public var receivedHead: HTTPResponse? {
        get { state.withLock { $0.received?.head } }
        set {
            let received = newValue.map { Response(head: $0, body: .empty) }
            state.withLock { $0.received = received }
        }
    }

    /// The attempts that were begun so far.
    public var attempts: Int {
        state.withLock { $0.attempts }
    }

    /// Counts one more attempt, which presents the credential or none, and returns its ordinal.
    func beginAttempt(presenting presentation: Presentation) -> Int {
        let number = operation?.countAttempt()
        return state.withLock { state in
            state.attempts += 1
            state.presentation = presentation
            state.received = nil
            return number ?? state.attempts
        }
    }

    /// Counts one more attempt of an operation's calls, some of which may be under way at the same time.
    private func countAttempt() -> Int {
        state.withLock { state in
            state.attempts += 1
            return state.attempts
        }
    }

    /// The ordinal of the next attempt, in its operation where it belongs to one.
    var nextAttempt: Int {
        (operation ?? self).attempts + 1
    }

    /// Takes over what a call of the operation has done.
    func add(_ call: CallRecord) {
        let history = call.history
        state.withLock { state in
            for step in history.steps { state.history.append(step) }
        }
    }

    /// Remembers how to give back what was paid for a request that continued the call.
    func owe(_ refund: @escaping @Sendable () -> Void) {
        state.withLock { $0.refunds.append(refund) }
    }

    /// Gives back what was paid, because the call came to a good end.
    func settle() {
        let refunds = state.withLock { state in
            defer { state.refunds = [] }
            return state.refunds
        }
        for refund in refunds { refund() }
    }

    /// Appends an attempt that was answered.
    ///
    /// - Parameter response: Its response, which is given all that the call has done: for every layer, those outside the
    ///   engine too.
    func append(_ attempt: History.Attempt, to response: inout Response) {
        state.withLock { state in
            state.history.append(.attempt(attempt))
            response.history = state.history
            state.received = response
        }
    }

    /// Appends what the call has done.
    func append(_ step: History.Step) {
        state.withLock { $0.history.append(step) }
    }
}
