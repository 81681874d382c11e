import Foundation
public import HTTPRecovery
public import HTTPTypes
import Locking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport on Foundation's `URLSession`: what it takes to put another HTTP library below the client.
///
/// It is an example. On Linux `URLSession` sends a request a second time when a connection that was used before dies
/// under it, and nothing turns that off; so each attempt gets a session of its own here, whose connection is new. Whoever
/// shares connections gets the second sending back, and errors that prove nothing.
public final class URLSessionTransport: HTTPTransport {
    /// Whether attempts share connections.
    public let sharesConnections: Bool

    private let running = Locked(Running())

    private struct Running {
        var attempts: [Int: Attempt] = [:]
        var count = 0
        var shared: Connections?
        var isShutDown = false
    }

    /// Creates a transport.
    ///
    /// - Parameter sharesConnections: Whether attempts share connections, and with them the fault that requests without a
    ///   body may be sent twice. Default: false.
    public init(sharesConnections: Bool = false) {
        self.sharesConnections = sharesConnections
        if sharesConnections { running.withLock { $0.shared = Connections() } }
    }

    deinit {
        running.withLock { $0.shared }?.close()
    }

    /// `urlsession`.
    public var name: String { "urlsession" }

    /// Sends the request and returns when the head of the response has arrived; the body streams after it, without a
    /// bound for what has come and was not read.
    ///
    /// - Throws: `TransportError`, or `CancellationError` as soon as the task is cancelled.
    public func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        try Task.checkCancellation()
        let message = try await URLRequest(request, body: body)
        let attempt = Attempt(isAlone: !sharesConnections)
        let connections = try begin(attempt)
        return try await withTaskCancellationHandler {
            connections.perform(message, for: attempt)
            return try await attempt.response()
        } onCancel: {
            attempt.cancel()
        }
    }

    /// Ends all attempts and their bodies; later ones throw.
    public func shutdown() async {
        let (attempts, shared) = running.withLock { running in
            running.isShutDown = true
            return (running.attempts.values, running.shared)
        }
        for attempt in attempts { attempt.shutDown() }
        shared?.close()
    }

    private func begin(_ attempt: Attempt) throws(TransportError) -> Connections {
        try running.withLock { running throws(TransportError) in
            if running.isShutDown {
                throw TransportError(.shutDown, .neverSent, message: "the transport has been shut down")
            }
            running.count += 1
            running.attempts[running.count] = attempt
            attempt.whenDone { [weak self, number = running.count] in
                self?.running.withLock { _ = $0.attempts.removeValue(forKey: number) }
            }
            return running.shared ?? Connections(isForOne: true)
        }
    }
}
