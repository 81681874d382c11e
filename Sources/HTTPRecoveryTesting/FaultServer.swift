import Synchronization

/// An HTTP server on the loopback interface that misbehaves as it is told.
///
/// It speaks HTTP/1.1 over raw sockets on threads of its own. A ``Plan`` says what becomes of each connection, a
/// ``Reply`` what each request gets. It records every request that arrived in full, so that a test can prove that one
/// arrived once, and tests wait for facts (``requests(count:)``, ``hangups(count:)``) and never for time.
///
/// ```swift
/// let server = try FaultServer(.reset, .answer(body: "second time lucky"))
/// // the first request is read and its connection reset, all further ones are answered
/// ```
public final class FaultServer: Sendable {
    private let server: SocketServer

    /// The port on 127.0.0.1.
    public var port: Int { server.address.port }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - plan: What becomes of each connection, counted from 0.
    ///   - reply: What a request gets; called on the connection's thread when the request has arrived in full.
    /// - Throws: ``StartError`` when the system gives no socket or thread.
    public init(
        plan: @escaping @Sendable (_ connection: Int) -> Plan = { _ in .serve },
        reply: @escaping @Sendable (Request) -> Reply
    ) throws {
        do {
            server = try SocketServer(.loopback) { connection, _ in
                connection.carryOut(plan(connection.id), reply: reply)
            }
        } catch {
            throw StartError(errno: error.number)
        }
    }

    /// Starts a server that gives each reply once, in the order of the requests, and the last to all further ones.
    public convenience init(_ replies: Reply...) throws {
        let place = Counter()
        try self.init { _ in replies.isEmpty ? .answer() : replies[min(place.next(), replies.count - 1)] }
    }

    deinit {
        server.retired.open()
    }

    /// The authority for requests, such as `127.0.0.1:40123`.
    public var authority: String { "127.0.0.1:\(port)" }

    /// The requests that have arrived in full until now.
    public var receivedRequests: [Request] { server.log.requests }

    /// The number of connections accepted until now.
    public var connectionCount: Int { server.log.connections }

    /// Waits until so many requests have arrived in full, and returns all there are.
    public func requests(count: Int) async throws -> [Request] {
        try await server.log.wait { $0.requests.count >= count }
        return server.log.requests
    }

    /// Waits until so many connections have been accepted.
    public func connections(count: Int) async throws {
        try await server.log.wait { $0.connections >= count }
    }

    /// How often each call of a check was seen.
    var calls: [String: Int] { server.log.calls }

    /// Waits until so many heads of requests have arrived.
    func heads(count: Int) async throws {
        try await server.log.wait { $0.heads >= count }
    }

    /// Waits until the client has closed or reset so many connections.
    public func hangups(count: Int) async throws {
        try await server.log.wait { $0.hangups.count >= count }
    }

    /// Ends every connection there is, and goes on.
    func hangUp() { server.hangUp() }

    /// Forgets the requests that have arrived, and who has hung up, as a server that is long at work has to.
    func forget() { server.log.forget() }

    /// Closes everything at once.
    ///
    /// A server that nobody holds any more serves on for the connections it has and stops ten seconds after the last
    /// new one: Swift may release a variable right after its last use, long before the end of a test.
    public func stop() {
        server.stop()
    }

    /// The system gave no socket or thread.
    public struct StartError: Error, Sendable, Hashable {
        /// The system's error number.
        public var errno: Int32
    }
}

/// Counts from 0.
final class Counter: Sendable {
    private let value = Atomic(0)

    func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).oldValue }
}
