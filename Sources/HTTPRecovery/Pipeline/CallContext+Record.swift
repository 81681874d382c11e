public import HTTPTypes

extension CallContext {
    /// What one call has done so far; middlewares write into it, the engine reads it.
    ///
    /// All copies are one record. Unchecked, because what it holds is guarded by a lock.
    public struct Record: @unchecked Sendable {
        struct State {
            var history = History()
            var presentation = Presentation.asCalled
            /// What has arrived of the present attempt's response.
            var received: RecoveredResponse?
            /// The attempts of this call.
            var attempts = 0
            /// Those of the last attempt that has ended.
            var lastAttempt = AttemptTimes(elapsed: .zero, end: .zero)
            /// What a layer has read to say whose credential it is going to attach.
            var foreseen: (any AnyObject & Sendable)?
            /// What gives back what was paid for requests that continued the call.
            var refunds: [@Sendable () -> Void] = []
        }

        struct Constants {
            let callID: Int
            let parent: Int?
            let request: HTTPRequest?
            let options: RequestOptions
            let surroundings: Surroundings
            let start: TimeSource.Instant
            let operation: CallContext.Record?
        }

        /// What all copies share; contexts hold this by itself, as copies of what holds a struct are made by slower means.
        typealias Storage = Guarded<Constants, State>

        private let state: Storage

        init(_ state: Storage) {
            self.state = state
        }

        var storage: Storage { state }

        /// The number of the call in events: that of the operation that it belongs to, if there is one.
        public var callID: Int { state.read { $0.callID } }

        /// The number of the call for which this one is made, such as a renewal; nil for one that stands for itself.
        public var parent: Int? { state.read { $0.parent } }

        /// What is asked; nil for an operation of several calls.
        var request: HTTPRequest? { state.read { $0.request } }

        /// What the call wants to be treated differently, as it was made.
        var options: RequestOptions { state.read { $0.options } }

        /// What the call shares with all calls of its client.
        var surroundings: Surroundings { state.read { $0.surroundings } }

        /// When the call began.
        var start: TimeSource.Instant { state.read { $0.start } }

        /// The operation that the call belongs to: it numbers the attempts of all its calls.
        private var operation: CallContext.Record? { state.read { $0.operation } }

        /// The record of a call that stands for itself, or of an operation, which has no request.
        init(
            callID: Int,
            parent: Int? = nil,
            of request: HTTPRequest? = nil,
            _ options: RequestOptions,
            _ surroundings: Surroundings
        ) {
            let constants = Constants(
                callID: callID,
                parent: parent,
                request: request,
                options: options,
                surroundings: surroundings,
                start: surroundings.runtime.time.now,
                operation: nil
            )
            state = .make(constants, State())
        }

        /// The record of a call that belongs to an operation.
        init(
            within operation: CallContext.Record,
            of request: HTTPRequest,
            _ options: RequestOptions,
            _ surroundings: Surroundings
        ) {
            let constants = Constants(
                callID: operation.callID,
                parent: operation.parent,
                request: request,
                options: options,
                surroundings: surroundings,
                start: surroundings.runtime.time.now,
                operation: operation
            )
            state = .make(constants, State())
        }

        /// The record of an attempt that is made beside one of the call, which numbers it.
        init(beside call: CallContext.Record) {
            let constants = call.state.read { constants in
                Constants(
                    callID: constants.callID,
                    parent: constants.parent,
                    request: constants.request,
                    options: constants.options,
                    surroundings: constants.surroundings,
                    start: constants.start,
                    operation: constants.operation ?? call
                )
            }
            state = .make(constants, State())
        }

        /// The attempts and waits so far.
        public var history: History {
            state.withLock { $0.history }
        }

        /// The credential that the last attempt presented, as the authorization reported it in
        /// ``CallContext/present(_:)``; nil if it presented none.
        public package(set) var presented: PresentedCredential? {
            get { presentation.credential }
            nonmutating set { state.withLock { $0.presentation = newValue.map { .credential($0) } ?? .asCalled } }
        }

        /// What the last attempt presented, by the word of its layers.
        var presentation: Presentation {
            state.withLock { $0.presentation }
        }

        /// The head of the present attempt's response, as soon as it has arrived; nil before.
        ///
        /// An authorization that finds a new token in it keeps the token even if the body then breaks off.
        public var receivedHead: HTTPResponse? {
            get { state.withLock { $0.received?.head } }
            nonmutating set {
                let received = newValue.map { RecoveredResponse(head: $0, body: .empty) }
                state.withLock { $0.received = received }
            }
        }

        /// Whether the last answer was about the connection: it led to the wrong server, or one that was slow (408) had
        /// given it up (RFC 9110 sections 15.5.9 and 15.5.20).
        var wasWronglyConnected: Bool {
            switch history.attempts.last?.status {
            case 408, 421: true
            default: false
            }
        }

        /// Those of the attempt that has ended last.
        var lastAttempt: AttemptTimes {
            state.withLock { $0.lastAttempt }
        }

        /// What a layer has read to say whose credential it is going to attach: it attaches that, and reads it once.
        package var foreseen: (any AnyObject & Sendable)? {
            get { state.withLock { $0.foreseen } }
            nonmutating set { state.withLock { $0.foreseen = newValue } }
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

        /// The ordinal of the next attempt, in its operation if it belongs to one.
        var nextAttempt: Int {
            (operation ?? self).attempts + 1
        }

        /// Takes over what a call of the operation has done.
        func add(_ call: CallContext.Record) {
            let history = call.history
            state.withLock { state in
                state.history.append(contentsOf: history.steps)
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
        /// - Parameters:
        ///   - attempt: The attempt.
        ///   - times: Its times.
        ///   - response: Its response, which is given all that the call has done: for every layer, those outside the
        ///   engine too.
        func append(
            _ attempt: [History.Step],
            _ times: AttemptTimes,
            to response: inout RecoveredResponse
        ) {
            state.withLock { state in
                state.lastAttempt = times
                state.history.append(contentsOf: attempt)
                response.note(state.history, times)
                state.received = response
            }
        }

        /// Gives the response what has been done since it came: layers outside the engine may have waited.
        func complete(_ response: inout RecoveredResponse) {
            state.withLock { state in
                if state.history.steps.count != response.stepCount { response.history = state.history }
            }
        }

        /// Appends what the call has done.
        func append(_ steps: [History.Step]) {
            state.withLock { $0.history.append(contentsOf: steps) }
        }

        /// Appends an attempt that was not answered.
        func append(_ attempt: [History.Step], _ times: AttemptTimes) {
            state.withLock { state in
                state.lastAttempt = times
                state.history.append(contentsOf: attempt)
            }
        }

        /// Whether both are the record of one and the same call.
        package func isSame(as other: CallContext.Record) -> Bool { state === other.state }
    }
}
