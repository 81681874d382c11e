public import HTTPRecovery
public import HTTPTypes

/// Tries how a client recovers on a script of answers, on virtual time and without a network: before it meets production.
///
/// The client is a real one, with its whole engine; only transport, clock and randomness are the simulation's. The same
/// simulation has the same report each time.
///
/// ```swift
/// var simulation = Simulation(.awsStandard)
/// simulation.calls = [Simulation.Call(answers: [.status(503), .status(200)])]
/// let report = try await simulation.run()
/// ```
public struct Simulation: Sendable {
    /// What a server does about one attempt.
    public struct Answer: Sendable, Hashable {
        enum Reply: Sendable, Hashable {
            case response(status: Int, fields: HTTPFields, body: String)
            case failure(TransportError.Certainty)
        }

        var reply: Reply
        /// How long it takes.
        public var delay: Duration

        /// A response.
        public static func status(
            _ status: Int,
            _ fields: HTTPFields = [:],
            body: String = "",
            after delay: Duration = .zero
        ) -> Answer {
            Answer(reply: .response(status: status, fields: fields, body: body), delay: delay)
        }

        /// No complete response, of which so much is known.
        public static func failure(_ certainty: TransportError.Certainty, after delay: Duration = .zero) -> Answer {
            Answer(reply: .failure(certainty), delay: delay)
        }
    }

    /// A call and what its attempts are answered.
    public struct Call: Sendable, Hashable {
        /// When it begins.
        ///
        /// Default: at once.
        public var start = Duration.zero
        /// The method.
        ///
        /// Default: GET.
        public var method = HTTPRequest.Method.get
        /// The host that is asked.
        ///
        /// Default: `a`.
        public var origin = "a"
        /// Its `Idempotency-Key`; nil, the default, is none.
        public var idempotencyKey: String?
        /// Whether the caller vouches that it may be sent twice.
        ///
        /// Default: no.
        public var isReplayable = false
        /// How urgent it is in a line.
        ///
        /// Default: 0.
        public var priority = 0
        /// When its caller gives up on it; nil, the default, is never.
        public var cancellation: Duration?
        /// What its attempts are answered, in order; the last one again and again, and a 200 without any.
        public var answers: [Answer]

        /// Creates a call.
        public init(at start: Duration = .zero, answers: [Answer] = []) {
            self.start = start
            self.answers = answers
        }
    }

    /// An attempt that has come to the simulated server.
    public struct Arrival: Sendable, Hashable {
        /// The index of its call.
        public var call: Int
        /// Which of the call's attempts it is, counted from 1.
        public var attempt: Int
        /// When it came.
        public var time: Duration
    }

    /// How the client recovers.
    public var settings: RecoveringClient.Settings
    /// Who tells what an answer means.
    ///
    /// Default: plain HTTP.
    public var classifier: any OutcomeClassifier
    /// The random numbers that backoffs are given, the last one again and again.
    ///
    /// Default: 0.5.
    public var random: [Double]
    /// The calls.
    public var calls: [Call]
    /// A server whose answers depend on what comes when, in place of the calls' scripts; it is asked by one at a time,
    /// in order.
    ///
    /// Default: none.
    public var server: (@Sendable (Arrival) -> Answer)?
    /// How many attempts are too many for the calls to have an end; of many calls, a thousand for each, if that is more.
    ///
    /// Default: 20,000.
    public var mostAttempts = 20_000

    /// Creates a simulation.
    public init(
        _ settings: RecoveringClient.Settings,
        classifier: any OutcomeClassifier = HTTPClassifier(),
        random: [Double] = [0.5],
        calls: [Call] = []
    ) {
        self.settings = settings
        self.classifier = classifier
        self.random = random
        self.calls = calls
    }

    /// Why a simulation has no report.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, as a sentence.
        public let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// Lives through all calls.
    ///
    /// - Throws: ``Failure`` where the settings have a problem, or the calls never end.
    public func run() async throws(Failure) -> Report {
        let result = await withCheckedContinuation { continuation in
            // A thread of its own: nobody else's is blocked while it lives through hours.
            let hasThread = SystemThread.run {
                continuation.resume(returning: Result { () throws(Failure) in try runOnThisThread() })
            }
            if !hasThread { continuation.resume(returning: .failure(Failure("the system has no thread left"))) }
        }
        return try result.get()
    }

    /// Lives through all calls on the caller's thread, which does nothing else meanwhile: for programs that wait for nothing
    /// else.
    ///
    /// - Throws: ``Failure`` where the settings have a problem, or the calls never end.
    public func runOnThisThread() throws(Failure) -> Report {
        if let problem = settings.problem { throw Failure(problem) }
        let loop = SimulationLoop()
        let course = SimulationCourse(self, on: loop)
        let isDone = Locked(false)
        let work = Task(executorPreference: loop) {
            await course.run()
            isDone.withLock { $0 = true }
        }
        guard loop.run(until: { isDone.withLock(\.self) }) else {
            work.cancel()
            throw Failure("a call waits for something outside the simulation")
        }
        guard !course.isEndless else {
            throw Failure("the calls do not end within \(course.limit) attempts: bound their attempts or their time")
        }
        guard !loop.standsStill else { throw Failure("the calls never end: bound their attempts or their time") }
        return course.report
    }
}
