import Foundation
import FoundationNetworking
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A transport that somebody has written around Foundation's session: it has no timeouts and no send limits of its own,
/// and its cancellation takes the session's locks.
private struct URLSessionTransport: HTTPTransport {
    let name = "urlsession"
    let session = URLSession(configuration: .ephemeral)

    func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        guard let url = URL(string: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")") else {
            throw TransportError(.invalidRequest, .neverSent)
        }
        var message = URLRequest(url: url)
        message.httpMethod = request.method.rawValue
        do {
            let (data, response) = try await session.data(for: message)
            guard let response = response as? HTTPURLResponse else { throw TransportError(.notHTTP, .unknown) }
            let head = HTTPResponse(status: HTTPResponse.Status(code: response.statusCode))
            return TransportResponse(head: head, body: MessageBody(Array(data)))
        } catch let error as URLError {
            if error.code == .cancelled { throw CancellationError() }
            throw TransportError(.connectionLost, .unknown)
        }
    }

    func shutdown() async {
        session.invalidateAndCancel()
    }
}

/// The pipeline keeps time for such a transport, and ends its attempts in a way that locks nobody up.
@Suite(.timeLimit(.minutes(30))) struct URLSessionTransportTests {
    private static func client(timeout: Duration = .seconds(1800)) -> RecoveringClient {
        RecoveringClient(transport: URLSessionTransport()) {
            Recovery(maxAttempts: 2, budget: .ratio(.init(ratio: 1, burst: 1000))) {
                TransientRetry(backoff: .constant(.milliseconds(1)))
            }
            AttemptTimeout(timeout)
        }
    }

    private static func get(_ server: FaultServer) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "http", authority: server.authority, path: "/")
    }

    @Test func whatIsUnavailableIsAskedForAgain() async throws {
        let server = try FaultServer(.answer(503), .answer(body: "here"))
        let client = Self.client()
        let response = try await client.send(Self.get(server))
        #expect(response.status == .ok && response.history.attempts.map { $0.status } == [503, 200])
        #expect(response.body.bytesInMemory.map { Array($0) } == Array("here".utf8))
        await client.shutdown()
    }

    @Test func attemptsThatTakeTooLongEndAllAtOnce() async throws {
        let server = try FaultServer(.stall)
        let client = Self.client(timeout: .milliseconds(30))
        let request = Self.get(server)
        for _ in 0..<10 {
            try await withThrowingTaskGroup(of: RecoveryError?.self) { group in
                for _ in 0..<24 {
                    group.addTask {
                        await #expect(throws: RecoveryError.self) { try await client.send(request) }
                    }
                }
                for try await error in group {
                    #expect(error?.kind == .timedOut)
                    #expect(error?.history.attempts.count == 2)
                }
            }
        }
        await client.shutdown()
    }

    @Test func whoIsCancelledLeavesAtOnce() async throws {
        let server = try FaultServer(.stall)
        let client = Self.client()
        let request = Self.get(server)
        for round in 0..<10 {
            let calls = (0..<8).map { _ in Task { try await client.send(request) } }
            _ = try await server.requests(count: (round + 1) * 4)
            for call in calls { call.cancel() }
            for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
        }
        await client.shutdown()
    }

    /// The calls end all the same.
    ///
    /// Swift 6.3's session locks itself up where it is cancelled while it hands out an answer, and with itself all sessions
    /// of the process, so this has one of its own.
    @Test func anAnswerMayComeAsTheAttemptIsCutOff() async {
        await #expect(processExitsWith: .success) {
            let text = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            let server = try FaultServer(.trickle(text, milliseconds: 1))
            let client = URLSessionTransportTests.client(timeout: .milliseconds(text.utf8.count + 6))
            let request = URLSessionTransportTests.get(server)
            for _ in 0..<10 {
                await withTaskGroup(of: Outcome.Kind?.self) { group in
                    for _ in 0..<24 {
                        group.addTask {
                            do {
                                return try await client.send(request).outcome.kind
                            } catch {
                                return (error as? RecoveryError)?.kind
                            }
                        }
                    }
                    for await kind in group { #expect(kind == .ok || kind == .timedOut) }
                }
            }
            await client.shutdown()
        }
    }
}
