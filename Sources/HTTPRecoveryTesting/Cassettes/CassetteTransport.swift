public import HTTPRecovery
public import HTTPTypes

/// A transport that records what another one does, or plays a recording in a server's place.
///
/// A test says where its cassette is, and what records it if there is none yet:
///
/// ```swift
/// try await CassetteTransport.withFile("Fixtures/prices.json", recording: CurlTransport()) { transport in
///     let client = RecoveringClient(transport: transport)
///     print(try await client.send(HTTPRequest(url: "https://shop.example.com/prices")).status)
/// }
/// ```
///
/// It plays to each request the first exchange, of those that were not played yet, with the same method, URL and body, all of
/// them compared as they are without secrets (``Cassette/Redaction``); so what is asked twice is answered in order. Header
/// fields are not compared. A path's segment that was made up for an identifier of an answer fits what it stands for. An
/// identifier of a request is that of the first exchange that fits, and of no other from then on: who asks for two orders gets
/// those of one by one, and those of the other by the other.
public final class CassetteTransport: HTTPTransport {
    /// How large the body of a request or an answer may be that is recorded: 16 MiB.
    public static let longestBody = 16 << 20

    private enum Role: Sendable {
        case recorder(any HTTPTransport)
        case player(Cassette)
    }

    private struct State {
        /// What was recorded; nil where the exchange is under way, or was cancelled.
        var recorded: [RawExchange?] = []
        /// The indices of the exchanges that are left.
        var left: [Int] = []
        var mismatches: [Mismatch] = []
        /// What the player makes of requests, and what is known of their identifiers.
        var redactor: Redactor
        var bindings = StandIn.Bindings()
    }

    private let role: Role
    private let redaction: Cassette.Redaction
    private let state: Locked<State>

    /// Creates a transport that plays a cassette.
    public init(playing cassette: Cassette) {
        role = .player(cassette)
        redaction = cassette.redaction
        let redactor = Redactor(redaction, identifiers: .asked)
        state = Locked(State(left: Array(cassette.exchanges.indices), redactor: redactor))
    }

    /// Creates a transport that sends by another one, and records what comes of it.
    ///
    /// - Parameters:
    ///   - transport: What sends. Its answers are handed on when their bodies are there.
    ///   - redaction: What the cassette keeps; by default nothing that could be a secret, nor any text of the server's.
    public init(recording transport: any HTTPTransport, redaction: Cassette.Redaction = .init()) {
        role = .recorder(transport)
        self.redaction = redaction
        state = Locked(State(redactor: Redactor(redaction)))
    }

    /// Whether exchanges are recorded, and not played.
    public var isRecording: Bool {
        if case .recorder = role { true } else { false }
    }

    /// The cassette that is played, or what was recorded so far, without exchanges that are under way or were cancelled.
    public var cassette: Cassette {
        if case .player(let cassette) = role { return cassette }
        var redactor = Redactor(redaction)
        let exchanges = state.withLock { $0.recorded }.compactMap { raw in
            // What the redactor writes is an exchange, unless the request has no URL: then it was not sent.
            raw.flatMap { try? Cassette.Exchange(redactor.json($0), at: "") }
        }
        return Cassette(exchanges, redaction)
    }

    /// The exchanges that nobody has asked for; empty while recording.
    public var unplayed: [Cassette.Exchange] {
        guard case .player(let cassette) = role else { return [] }
        return state.withLock { $0.left }.map { cassette.exchanges[$0] }
    }

    /// The requests that fitted no exchange.
    public var mismatches: [Mismatch] { state.withLock { $0.mismatches } }

    /// Checks that each request fitted, and that each exchange was asked for.
    ///
    /// - Throws: ``Mismatch``, the first, or ``Unplayed``.
    public func verify() throws {
        if let mismatch = mismatches.first { throw mismatch }
        let left = unplayed
        if !left.isEmpty { throw Unplayed(exchanges: left) }
    }

    // MARK: The transport

    /// The name in events: `cassette`, or that of the transport which sends.
    public var name: String {
        if case .recorder(let transport) = role { transport.name } else { "cassette" }
    }

    /// Whether timeouts are left to the transport: one that plays answers at once.
    public var enforcesTimeouts: Bool {
        if case .recorder(let transport) = role { transport.enforcesTimeouts } else { true }
    }

    /// Whether it keeps `AttemptOptions.sendLimit` itself.
    public var keepsSendLimits: Bool {
        if case .recorder(let transport) = role { transport.keepsSendLimits } else { true }
    }

    /// Plays the exchange that fits, or sends the request and records what comes of it.
    ///
    /// - Throws: ``Mismatch`` when nothing fits, which a client hands on as `RecoveryError.cause`; what was recorded, or what the transport throws; `TransportError` with the
    ///   code `bodyTooLarge` for what is too long to record; `CancellationError`.
    public func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        try Task.checkCancellation()
        let bytes = try await Self.collect(body)
        switch role {
        case .recorder(let transport): return try await record(request, bytes, body, options, by: transport)
        case .player(let cassette):
            if options.sendLimit?.hasPassed == true {
                throw TransportError(.sendLimitPassed, .neverSent, message: "it was too late to send the request")
            }
            return try play(cassette, to: request, bytes)
        }
    }

    /// Shuts the transport down that sends.
    public func shutdown() async {
        if case .recorder(let transport) = role { await transport.shutdown() }
    }

    private static func collect(_ body: MessageBody?) async throws -> [UInt8] {
        do {
            return try await body?.collect(upTo: longestBody) ?? []
        } catch let error as MessageBody.ReadError {
            throw TransportError(.requestBodyFailed, .neverSent, message: error.description)
        }
    }

    private func play(_ cassette: Cassette, to request: HTTPRequest, _ body: [UInt8]) throws -> TransportResponse {
        let raw = RawExchange(request: request, requestBody: body)
        let found: Int
        do {
            found = try state.withLock { state in
                let asked = try Cassette.Exchange(state.redactor.json(raw), at: "the request")
                let fitting = state.left.indices.compactMap { index in
                    let (found, guesses, bindings) =
                        cassette.exchanges[state.left[index]].differences(from: asked, state.bindings)
                    return found.isEmpty ? (index, guesses, bindings) : nil
                }
                guard let best = fitting.min(by: { $0.1 < $1.1 }) else {
                    let mismatch = Mismatch(of: asked, with: cassette, left: state.left, state.bindings)
                    state.mismatches.append(mismatch)
                    throw mismatch
                }
                state.bindings = best.2
                return state.left.remove(at: best.0)
            }
        } catch let error as Cassette.Malformed {
            throw TransportError(.invalidRequest, .neverSent, message: error.description)
        }
        return try cassette.exchanges[found].answer()
    }

    private func record(
        _ request: HTTPRequest,
        _ bytes: [UInt8],
        _ body: MessageBody?,
        _ options: AttemptOptions,
        by transport: any HTTPTransport
    ) async throws -> TransportResponse {
        let place = state.withLock { state in
            state.recorded.append(nil)
            return state.recorded.count - 1
        }
        var raw = RawExchange(request: request, requestBody: bytes)
        func keep() { state.withLock { $0.recorded[place] = raw } }
        do {
            let body = body.map { _ in MessageBody(bytes) }
            var response = try await transport.send(request, body: body, options: options)
            raw.head = response.head
            do {
                for try await piece in response.body {
                    raw.body += piece
                    guard raw.body.count <= Self.longestBody else {
                        throw TransportError(.bodyTooLarge, .answered, message: "the body is too long to record")
                    }
                }
                response.body = MessageBody(raw.body)
            } catch let error as TransportError where error.code != .bodyTooLarge {
                raw.error = error
                response.body = .whole(raw.body, endingWith: error)
            }
            keep()
            return response
        } catch let error as TransportError {
            raw.error = error
            if raw.head == nil { keep() }
            throw error
        }
    }
}
