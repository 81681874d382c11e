import HTTPRecovery
import HTTPTypes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The transports and servers of one check, and what it expects of them.
final class TransportBench: Sendable {
    private struct State {
        var transports: [any HTTPTransport] = []
        var servers: [FaultServer] = []
        var owners: [any Sendable] = []
        /// The authority of what ends TLS before servers of HTTP/2.
        var caFile: String?
        var handlers: [String: InProcessTransport.Handler] = [:]
        var logs: [ServerLog] = []
    }

    let subject: TransportUnderTest
    /// Whether the check's transports and servers speak HTTP/2.
    let speaksHTTP2: Bool
    private let ledger = CallLedger()
    private let state = Locked(State())

    init(_ subject: TransportUnderTest, speaksHTTP2: Bool) {
        (self.subject, self.speaksHTTP2) = (subject, speaksHTTP2)
    }

    // MARK: Transports and servers

    /// A transport.
    func transport(_ configure: (inout TransportUnderTest.Options) -> Void = { _ in }) throws -> any HTTPTransport {
        var options = TransportUnderTest.Options()
        if speaksHTTP2 { (options.speaksHTTP2, options.caFile) = (true, state.withLock { $0.caFile }) }
        configure(&options)
        let transport: any HTTPTransport
        switch subject.maker {
        case .sockets(let make): transport = try make(options)
        case .inProcess(let make):
            transport = try make(options) { [weak self] call in
                let handler = self?.state.withLock { $0.handlers[call.request.authority ?? ""] }
                guard let handler else { throw TransportError(.cannotConnect, .neverSent) }
                return try await handler(call)
            }
        }
        state.withLock { $0.transports.append(transport) }
        return ledger.watching(transport)
    }

    /// A server that answers what it gets as it is told, over a socket or in the process.
    ///
    /// - Parameters:
    ///   - bodies: When the bodies of requests are read.
    ///   - reply: What a request gets; called when it has arrived, with its body if that is read before.
    func peer(
        bodies: ConformancePeer.Bodies = .read,
        _ reply: @escaping @Sendable (FaultServer.Request) -> PeerReply
    ) async throws -> ConformancePeer {
        switch subject.maker {
        case .sockets where speaksHTTP2:
            let server = try server(plan: { _ in .raw { ConformancePeer.serveHTTP2($0, bodies, reply) } })
            let (scheme, authority) = try await address(ofHTTP2: server)
            return ConformancePeer(scheme: scheme, authority: authority, facts: .server(server))
        case .sockets:
            let server = try server(plan: { _ in .raw { ConformancePeer.serve($0, bodies, reply) } })
            return ConformancePeer(scheme: "http", authority: server.authority, facts: .server(server))
        case .inProcess:
            let log = ServerLog()
            return state.withLock { state in
                let authority = "server-\(state.handlers.count).example"
                state.logs.append(log)
                state.handlers[authority] = { try await ConformancePeer.answer($0, log, bodies, reply) }
                return ConformancePeer(scheme: "http", authority: authority, facts: .log(log))
            }
        }
    }

    /// A server on a socket, with a plan for its connections.
    func server(
        plan: @escaping @Sendable (Int) -> FaultServer.Plan,
        reply: @escaping @Sendable (FaultServer.Request) -> FaultServer.Reply = { _ in .answer() }
    ) throws -> FaultServer {
        keep(try FaultServer(plan: plan, reply: reply))
    }

    /// A server on a socket that replies.
    func server(
        _ reply: @escaping @Sendable (FaultServer.Request) -> FaultServer.Reply = { _ in .answer() }
    ) throws -> FaultServer {
        keep(try FaultServer(reply: reply))
    }

    /// Stops a server when the check has ended.
    func keep(_ server: FaultServer) -> FaultServer {
        state.withLock { $0.servers.append(server) }
        return server
    }

    /// What ends TLS in front of a server.
    func front(
        of server: FaultServer,
        protocols: [String] = ["http/1.1"],
        subject name: String = "IP:127.0.0.1"
    ) async throws -> TransportUnderTest.TLSEndpoint {
        guard let terminate = subject.terminate else { throw ConformanceFailure("there is nothing that ends TLS") }
        let request = TransportUnderTest.TLSRequest(port: server.port, protocols: protocols, subject: name)
        let endpoint = try await terminate(request)
        state.withLock { $0.owners.append(endpoint.owner) }
        return endpoint
    }

    /// Where a server of HTTP/2 is reached, in the way that the transport speaks it.
    func address(ofHTTP2 server: FaultServer) async throws -> (scheme: String, authority: String) {
        if subject.http2 == .priorKnowledge { return ("http", server.authority) }
        let front = try await front(of: server, protocols: ["h2"])
        state.withLock { $0.caFile = front.caFile }
        return ("https", front.authority)
    }

    func shutdown() async {
        let transports = state.withLock { $0.transports }
        for transport in transports { await transport.shutdown() }
    }

    func stopServers() {
        let servers = state.withLock { state in
            state.handlers = [:]
            return state.servers
        }
        for server in servers { server.stop() }
    }

    /// Compares what the calls came to with how often the servers have seen them.
    func settleLedger() throws {
        let all = state.withLock { state in state.servers.map(\.calls) + state.logs.map(\.calls) }
        try ledger.settle(all.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) })
    }

    // MARK: Attempts

    /// What an attempt came to.
    struct Attempt: Sendable {
        /// The head, if it was handed over.
        var head: HTTPResponse?
        var body: [UInt8] = []
        /// What sending, or reading the body, threw.
        var error: (any Error)?

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Sends a request and reads the whole body of its answer.
    func attempt(
        _ transport: any HTTPTransport,
        _ request: HTTPRequest,
        _ body: MessageBody? = nil,
        options: AttemptOptions = AttemptOptions(timeout: .seconds(86_400)),
        atHead: () -> Void = {}
    ) async -> Attempt {
        var attempt = Attempt()
        do {
            let response = try await transport.send(request, body: body, options: options)
            attempt.head = response.head
            atHead()
            for try await piece in response.body { attempt.body += piece }
        } catch {
            attempt.error = error
        }
        return attempt
    }

    /// The same; an error is a failure of the check.
    func fetch(
        _ transport: any HTTPTransport,
        _ request: HTTPRequest,
        _ body: MessageBody? = nil,
        options: AttemptOptions = AttemptOptions(timeout: .seconds(86_400))
    ) async throws -> (head: HTTPResponse, body: [UInt8]) {
        let attempt = await attempt(transport, request, body, options: options)
        if let error = attempt.error {
            throw ConformanceFailure("\(request.method) \(request.path ?? "") should be answered, and failed: \(error)")
        }
        guard let head = attempt.head else { throw ConformanceFailure("there is no answer") }
        return (head, attempt.body)
    }

    // MARK: Waiting

    /// What the work comes to; a failure when it takes so long that it hangs, even if it does not heed cancellation.
    func result<Value: Sendable>(
        of what: String,
        _ work: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        let flight = Flight<Value>()
        let patience = subject.patience
        let task = Task {
            do {
                flight.land(.success(try await work()))
            } catch {
                flight.land(.failure(error))
            }
        }
        let timer = Task {
            try await Task.sleep(for: patience)
            flight.land(.failure(ConformanceFailure("\(what) did not end within \(patience)")))
        }
        defer {
            timer.cancel()
            task.cancel()
        }
        do {
            return .success(try await flight.value)
        } catch {
            return .failure(error)
        }
    }
}

extension TransportConformance {
    /// How often checks of cancellations and shutdowns repeat what they do.
    package static func roundsInEnvironment() -> Int {
        guard let text = unsafe getenv("CONFORMANCE_ROUNDS"), let rounds = unsafe Int(String(cString: text)) else {
            return 1
        }
        return max(1, min(rounds, 1_000_000))
    }
}
