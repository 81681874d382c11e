public import HTTPRecovery
public import HTTPTypes

/// A transport that answers from a script and remembers what it was sent.
///
/// ```swift
/// let transport = ScriptedTransport([.status(429, ["retry-after": "2"]), .status(200)])
/// ```
public final class ScriptedTransport: HTTPTransport {
    /// One thing the script does.
    public struct Step: Sendable {
        let answer: @Sendable (Received) async throws -> TransportResponse

        /// Answers with what the function returns or throws.
        public static func run(
            _ answer: @escaping @Sendable (Received) async throws -> TransportResponse
        ) -> Step {
            Step(answer: answer)
        }

        /// Answers with a status, header fields and a body.
        public static func status(_ code: Int, _ fields: [String: String] = [:], body: String = "") -> Step {
            Step { _ in .scripted(code, fields, body: body) }
        }

        /// Fails.
        public static func fail(_ code: TransportError.Code, _ certainty: TransportError.Certainty) -> Step {
            Step { _ in throw TransportError(code, certainty) }
        }

        /// Never answers; only cancellation ends it.
        public static let hang = Step { _ in
            let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
            for await _ in stream {}
            withExtendedLifetime(continuation) {}
            throw CancellationError()
        }
    }

    /// A request as it arrived.
    public struct Received: Sendable {
        /// The request.
        public var request: HTTPRequest
        /// The bytes of its body.
        public var body: [UInt8]
        /// Its ordinal at this transport, counted from 1.
        public var number: Int
        /// The timeout that the attempt was given.
        public var timeout: Duration?
        /// Until when it had to leave.
        public var sendLimit: AttemptOptions.SendLimit?
        /// Whether it had to go out on a new connection.
        public var isOnNewConnection: Bool

        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    private struct State {
        var steps: [Step]
        var handedOver = 0
        var received: [Received] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Locked<State>
    private let fallback: Step
    private let holdUp: (@Sendable (Int) async throws -> Void)?

    /// Whether the pipeline leaves timeouts to the script's steps.
    public let enforcesTimeouts: Bool

    /// Whether a request that is too late ends as never sent, and is not among those received.
    public let keepsSendLimits: Bool

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - steps: What to do, one step a request.
    ///   - fallback: What to do when the steps are used up. Default: a 200 without a body.
    ///   - enforcesTimeouts: Whether the pipeline leaves timeouts to the script's steps. Default: it does, since most
    ///     steps answer at once; false lets it race them against its clock, for steps that hang.
    ///   - keepsSendLimits: Whether the transport keeps `AttemptOptions.sendLimit` itself. Default: it does; false
    ///     stands for transports that cannot.
    ///   - holdUp: Run before a request leaves, with the ordinal under which it was handed over, counted from 1: stands
    ///     for a queue, a slow connection, a busy machine. Default: nothing holds a request up.
    public init(
        _ steps: [Step] = [],
        then fallback: Step = .status(200),
        enforcesTimeouts: Bool = true,
        keepsSendLimits: Bool = true,
        holdUp: (@Sendable (_ number: Int) async throws -> Void)? = nil
    ) {
        self.holdUp = holdUp
        self.enforcesTimeouts = enforcesTimeouts
        self.keepsSendLimits = keepsSendLimits
        self.state = Locked(State(steps: steps))
        self.fallback = fallback
    }

    /// The name in events.
    public var name: String { "scripted" }

    /// All requests so far.
    public var received: [Received] {
        state.withLock { $0.received }
    }

    /// Adds steps to the script.
    public func append(_ steps: [Step]) {
        state.withLock { $0.steps.append(contentsOf: steps) }
    }

    /// Waits until at least `count` requests have arrived.
    public func waitForRequests(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.received.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Takes the next step of the script.
    public func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        let bytes = try await body?.collect(upTo: 1 << 24) ?? []
        if let holdUp {
            let number = state.withLock { state in
                state.handedOver += 1
                return state.handedOver
            }
            try await holdUp(number)
        }
        if keepsSendLimits, options.sendLimit?.hasPassed == true {
            throw TransportError(.sendLimitPassed, .neverSent, message: "it was too late to send the request")
        }
        let (step, received, watchers) = state.withLock { state in
            let received = Received(
                request: request,
                body: bytes,
                number: state.received.count + 1,
                timeout: options.timeout,
                sendLimit: options.sendLimit,
                isOnNewConnection: options.isOnNewConnection
            )
            state.received.append(received)
            let count = state.received.count
            let due = state.watchers.filter { $0.count <= count }.map(\.continuation)
            state.watchers.removeAll { $0.count <= count }
            return (state.steps.isEmpty ? fallback : state.steps.removeFirst(), received, due)
        }
        for watcher in watchers { watcher.resume() }
        return try await step.answer(received)
    }
}

extension TransportResponse {
    /// A response for a script.
    ///
    /// - Parameters:
    ///   - code: The status.
    ///   - fields: Header fields; a name that is none is left out.
    ///   - body: The body as text.
    public static func scripted(_ code: Int, _ fields: [String: String] = [:], body: String = "") -> TransportResponse {
        TransportResponse(head: HTTPResponse(scripted: code, fields), body: MessageBody(body))
    }
}

extension HTTPResponse {
    fileprivate init(scripted code: Int, _ fields: [String: String]) {
        self.init(status: .init(code: code))
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else { continue }
            headerFields[name] = value
        }
    }
}

extension Exchange {
    /// An answer to a request, for the test of a classifier.
    ///
    /// ```swift
    /// let outcome = ShopClassifier().classify(.scripted(400, body: #"{"error": "busy"}"#))
    /// ```
    ///
    /// - Parameters:
    ///   - code: The status.
    ///   - fields: Header fields; a name that is none is left out.
    ///   - body: The body as text.
    ///   - method: The request's method.
    ///   - path: The request's path, with its query if it has one.
    ///   - presented: The sort of credential that was presented; nil, the default, is none.
    ///   - now: When the answer came. Default: the time at which a manual clock begins, 2030-01-01T00:00:00Z.
    public static func scripted(
        _ code: Int,
        _ fields: [String: String] = [:],
        body: String = "",
        to method: HTTPRequest.Method = .get,
        path: String = "/",
        presented: Outcome.CredentialKind? = nil,
        at now: Timestamp = Timestamp(secondsSinceEpoch: 1_893_456_000)
    ) -> Exchange {
        Exchange(
            method: method,
            path: path,
            presented: presented,
            result: .response(HTTPResponse(scripted: code, fields), body: Array(body.utf8)),
            now: now
        )
    }
}
