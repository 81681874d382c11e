public import HTTPRecovery
public import HTTPTypes

/// A transport whose server is a function, or a few routes, in the same process.
///
/// ```swift
/// let transport = InProcessTransport(routes: [
///     .on(.get, "/items/{id}") { call in
///         .scripted(200, ["content-type": "text/plain"], body: "item \(call.parameters["id"] ?? "")")
///     },
///     .on(.post, "/items") { call in
///         let bytes = try await call.body.collect(upTo: 1 << 20)
///         return .scripted(201, body: "\(bytes.count) bytes")
///     },
/// ])
/// let client = RecoveringClient(transport: transport)
/// ```
///
/// It keeps to what every transport has to do (``TransportConformance``), without a socket: bodies stream both ways and
/// nobody reads ahead, a call that is cancelled returns at once, one whose answer is dropped unread ends, and the
/// function sees its task cancelled then. A function that throws a `TransportError` fails the call with it, as a server
/// does that cannot be reached; whatever else it throws fails the call with the code `other` and the certainty `unknown`.
public final class InProcessTransport: HTTPTransport {
    /// Answers a call; runs in a task of its own, which is cancelled when nobody waits for the answer any more.
    public typealias Handler = @Sendable (_ call: Call) async throws -> TransportResponse

    /// How much of each request's body ``received`` keeps: 1 MiB.
    public static let longestRecord = 1 << 20

    struct State {
        var received: [ScriptedTransport.Received] = []
        var running: [Int: InProcessExchange] = [:]
        var isShutDown = false
    }

    private let handler: Handler
    private let state = Locked(State())

    /// The name in events; `in-process` by default.
    public let name: String

    /// It looks at the limit before it calls the function.
    public var keepsSendLimits: Bool { true }

    /// Creates a transport whose server is a function.
    ///
    /// - Parameters:
    ///   - name: The name in events.
    ///   - handler: Answers each call.
    public init(name: String = "in-process", _ handler: @escaping Handler) {
        self.name = name
        self.handler = handler
    }

    /// Creates a transport whose server has routes; the first that takes a call answers it.
    ///
    /// - Parameters:
    ///   - name: The name in events.
    ///   - routes: The routes; what none of them takes is answered with 404.
    public convenience init(name: String = "in-process", routes: [Route]) {
        self.init(name: name) { call in
            for route in routes {
                guard let parameters = route.parameters(of: call.request) else { continue }
                var call = call
                call.parameters = parameters
                return try await route.handler(call)
            }
            return .scripted(404)
        }
    }

    /// All requests so far, with as much of their bodies as the function has read (at most ``longestRecord``).
    public var received: [ScriptedTransport.Received] {
        state.withLock { $0.received }
    }

    /// Calls the function and returns when it has answered; the body streams after it.
    ///
    /// - Throws: `TransportError`: what the function threw, `requestBodyFailed` when the request's body breaks off or has
    ///   another length than it says, `invalidRequest` for one that no server could get. `CancellationError` as soon as
    ///   the task is cancelled.
    public func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        try Task.checkCancellation()
        if let problem = Self.problem(with: request) {
            throw TransportError(.invalidRequest, .neverSent, message: problem)
        }
        if options.sendLimit?.hasPassed == true {
            throw TransportError(.sendLimitPassed, .neverSent, message: "it was too late to send the request")
        }
        let exchange = InProcessExchange()
        let body = body ?? .empty
        let number: Int? = state.withLock { state in
            if state.isShutDown { return nil }
            let number = state.received.count + 1
            state.received.append(
                ScriptedTransport.Received(
                    request: request,
                    body: Array((body.bytesInMemory ?? []).prefix(Self.longestRecord)),
                    number: number,
                    timeout: options.timeout,
                    sendLimit: options.sendLimit,
                    isOnNewConnection: options.isOnNewConnection
                )
            )
            state.running[number] = exchange
            return number
        }
        guard let number else {
            throw TransportError(.shutDown, .neverSent, message: "the transport has been shut down")
        }
        let call = Call(
            request: request,
            body: body.bytesInMemory == nil
                ? exchange.watched(body) { [weak self] in self?.record($0, of: number) } : body,
            number: number
        )
        exchange.run(isBodyless: request.method == .head, call, handler) { [weak self] in
            self?.state.withLock { _ = $0.running.removeValue(forKey: number) }
        }
        return try await exchange.answer()
    }

    /// Ends all calls, and cancels the tasks of the functions that answer them.
    public func shutdown() async {
        let running = state.withLock { state in
            state.isShutDown = true
            defer { state.running = [:] }
            return state.running.values
        }
        for exchange in running { exchange.shutDown() }
    }

    private func record(_ piece: ArraySlice<UInt8>, of number: Int) {
        state.withLock { state in
            let room = Self.longestRecord - state.received[number - 1].body.count
            state.received[number - 1].body += piece.prefix(max(0, room))
        }
    }

    /// What a server on a socket would never get to see.
    private static func problem(with request: HTTPRequest) -> String? {
        guard request.scheme == "http" || request.scheme == "https" else { return "the scheme is not HTTP's" }
        if let defect = Authority.defect(of: request.authority ?? "") { return defect }
        let path = request.path ?? "/"
        guard path.isEmpty || path.utf8.first == UInt8(ascii: "/") else { return "the path begins with no slash" }
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return "the path holds an illegal character" }
        return request.method == .connect ? "CONNECT is not supported" : nil
    }
}
