import HTTPRecovery
import HTTPTypes

/// A fact that one side of a check waits for and the other brings about, on a server's thread or in a task.
final class Signal: Sendable {
    let gate = FaultServer.Gate()
    private let flight = Flight<Void>()

    func open() {
        gate.open()
        flight.land(.success(()))
    }

    /// Returns when it is open; throws when the task is cancelled.
    func wait() async throws { try await flight.value }
}

/// What a server of a check does with a request, in words that a socket and a function understand alike.
struct PeerReply: Sendable {
    enum Step: Sendable {
        case send([UInt8])
        case wait(Signal)
        case open(Signal)
        /// Says nothing until the client leaves.
        case stall
        /// Sends so many pieces of 64 KiB, as fast as the client takes them, and counts them.
        case flood(pieces: Int, sent: Locked<Int>)
        /// Sends back what comes of the request's body, piece by piece, until its end; that body must not be read before.
        case echo
        /// Ends the connection: by a reset, or as a function fails that has lost its client.
        case cut
    }

    enum Framing: Sendable, Hashable {
        /// A body of a length that is stated.
        case length(Int)
        case chunked
        /// Nothing is said, because there is no body.
        case none
    }

    var status = 200
    var fields: [(name: String, value: String)] = []
    /// What happens before the head is sent.
    var before: [Step] = []
    var framing: Framing
    var body: [Step] = []

    static func answer(
        _ status: Int = 200,
        _ fields: [(name: String, value: String)] = [],
        body: String = ""
    ) -> PeerReply {
        answer(status, fields, bytes: Array(body.utf8))
    }

    static func answer(
        _ status: Int = 200,
        _ fields: [(name: String, value: String)] = [],
        bytes: [UInt8]
    ) -> PeerReply {
        PeerReply(
            status: status,
            fields: fields,
            framing: .length(bytes.count),
            body: bytes.isEmpty ? [] : [.send(bytes)]
        )
    }

    /// A body that comes in steps; chunked if no length is stated.
    static func steps(
        _ steps: [Step],
        length: Int? = nil,
        fields: [(name: String, value: String)] = [],
        before: [Step] = []
    ) -> PeerReply {
        PeerReply(fields: fields, before: before, framing: length.map { .length($0) } ?? .chunked, body: steps)
    }

    static let stall = PeerReply(before: [.stall], framing: .length(0))
    static let cut = PeerReply(before: [.cut], framing: .length(0))

    static let floodPiece = 65_536
}

/// A server of a check: on a socket, or a function in the same process.
final class ConformancePeer: Sendable {
    /// When the bodies of requests are read.
    enum Bodies: Sendable {
        case read
        case never
        case after(Signal)
    }

    enum Facts: Sendable {
        case server(FaultServer)
        case log(ServerLog)
    }

    private let scheme: String
    let authority: String
    private let facts: Facts

    init(scheme: String, authority: String, facts: Facts) {
        (self.scheme, self.authority, self.facts) = (scheme, authority, facts)
    }

    /// The requests that have arrived, in full if bodies are read.
    ///
    /// What the kit itself adds to them is left out.
    var requests: [FaultServer.Request] {
        let requests =
            switch facts {
            case .server(let server): server.receivedRequests
            case .log(let log): log.requests
            }
        guard let name = CallLedger.fieldName else { return requests }
        return requests.map { request in
            var request = request
            request.headers[name] = nil
            return request
        }
    }

    func requests(count: Int) async throws {
        switch facts {
        case .server(let server): _ = try await server.requests(count: count)
        case .log(let log): try await log.wait { $0.requests.count >= count }
        }
    }

    /// Returns when so many heads of requests have come, or calls of the function.
    ///
    /// A connection that the system has accepted is none: its client may not know of it yet.
    func arrivals(count: Int) async throws {
        switch facts {
        case .server(let server): try await server.heads(count: count)
        case .log(let log): try await log.wait { $0.heads >= count }
        }
    }

    /// Returns when so many clients have left: connections that ended, or functions that were cancelled.
    func hangups(count: Int) async throws {
        switch facts {
        case .server(let server): try await server.hangups(count: count)
        case .log(let log): try await log.wait { $0.hangups.count >= count }
        }
    }

    /// A request for this server.
    func request(
        _ method: HTTPRequest.Method = .get,
        _ path: String = "/",
        _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
    }
}
