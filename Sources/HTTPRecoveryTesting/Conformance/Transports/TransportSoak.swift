import HTTPRecovery
import HTTPTypes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Everything at once, at random, with several origins in turn, on one transport for the whole time and on others for a round.
///
/// That is faults, cancellations, bodies that are left, uploads that are answered early, shutdowns at any moment.
///
/// `SOAK_SECONDS=300` in the environment lets it go on for so long, and look at what the process holds in between; it has
/// to be all that the process does then. Without it a few rounds show that every call ends.
package struct TransportSoak: Sendable {
    /// How the requests go.
    package enum Way: String, Sendable, CaseIterable {
        case http1 = "HTTP/1.1"
        case tls = "HTTP/1.1 over TLS"
        case http2 = "HTTP/2 over TLS"
    }

    /// The ways that a transport can go.
    package static func ways(of subject: TransportUnderTest) -> [Way] {
        Way.allCases.filter { way in
            switch way {
            case .http1: subject.abilities.contains(.sockets)
            case .tls: subject.abilities.contains(.tls)
            case .http2: subject.http2 == .tls && subject.abilities.contains(.http2)
            }
        }
    }

    private let subject: TransportUnderTest
    private let way: Way
    /// How often a call came to what.
    private let outcomes = Locked<[String: Int]>([:])

    package init(_ subject: TransportUnderTest, _ way: Way) {
        (self.subject, self.way) = (subject, way)
    }

    private static let seconds = unsafe getenv("SOAK_SECONDS").flatMap { unsafe Int(String(cString: $0)) }
    private static let calls = 400

    /// How many a transport that goes on may have at a time, of each origin; the others wait in queues.
    private static let places = 4

    /// Goes on as long as the environment says.
    ///
    /// - Throws: ``ConformanceFailure`` when a call ends otherwise than it may, or something has grown.
    package func run() async throws {
        let time = Duration.seconds(Self.seconds ?? 0)
        // What the runtime opens for its first sleep stays.
        try await Task.sleep(for: .milliseconds(1))
        let servers = try await SoakOrigins.start(3, subject, way)
        defer { servers.stop() }
        let lasting = try transport(to: servers, places: Self.places)
        let start = ContinuousClock.now
        var before: ProcessHoldings?
        var rounds: UInt64 = 0
        var parts = 0
        repeat {
            try await round(rounds, lasting, servers)
            rounds += 1
            let spent = start.duration(to: .now)
            guard time > .zero, spent > time * (parts + 1) / 10 else { continue }
            parts += 1
            say("\(rounds) rounds of \(Self.calls) calls, \(ProcessHoldings.now())")
            // The first part fills caches and pools; after that nothing grows.
            guard before == nil, spent > time / 3 else { continue }
            for _ in 0..<3 { try await settle(lasting, servers) }
            before = .now()
        } while rounds < 5 || start.duration(to: .now) < time
        if let before {
            var after = ProcessHoldings.now()
            // The threads and connections of the last round may still be ending.
            for _ in 0..<60 {
                try await settle(lasting, servers)
                after = .now()
                if after.isWithin(before) { break }
            }
            let counts = outcomes.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            say("in all \(rounds * UInt64(Self.calls)) calls: \(counts.joined(separator: ", "))")
            say("at a third \(before); at the end \(after)")
            guard after.isWithin(before) else { throw ConformanceFailure("\(subject): \(before) became \(after)") }
        }
        try await round(rounds, on: lasting, servers, isLast: true)
    }

    private func say(_ text: String) { print("soak: \(subject), \(way.rawValue): \(text)") }

    private func transport(to servers: SoakOrigins, places: Int) throws -> any HTTPTransport {
        var options = TransportUnderTest.Options()
        options.maxConnectionsPerOrigin = places
        options.speaksHTTP2 = way == .http2
        options.caFile = servers.authorities?.path
        // What nobody asks any more is forgotten while it goes on.
        options.idleTimeout = .seconds(5)
        return try subject.makeTransport(options)
    }

    /// One on the transport that lasts, or, now and then, all of another's life.
    private func round(_ number: UInt64, _ lasting: any HTTPTransport, _ servers: SoakOrigins) async throws {
        guard number % 4 == 0 else { return try await round(number, on: lasting, servers, isLast: false) }
        var generator = SplitMix64(seed: number)
        let fresh = try transport(to: servers, places: .random(in: 1...40, using: &generator))
        try await round(number, on: fresh, servers, isLast: true)
        servers.hangUp()
    }

    /// Many calls at a time, and, if it is the transport's last, the shutdown in the midst of them, which leaves none.
    private func round(
        _ number: UInt64,
        on transport: any HTTPTransport,
        _ servers: SoakOrigins,
        isLast: Bool
    ) async throws {
        var generator = SplitMix64(seed: ~number)
        // Origins that come and go.
        let refusing = try (0..<8).map { _ in try RefusingPort() }
        let scheme = servers.origins[0].scheme
        let origins = (0..<Self.calls).map { index in
            index % 8 == 7
                ? SoakOrigins.Origin(scheme: scheme, authority: refusing[index / 8 % 8].authority)
                : servers.origins[Int.random(in: 0..<servers.origins.count, using: &generator)]
        }
        let ended = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for (index, origin) in origins.enumerated() {
                group.addTask {
                    let outcome = await Self.call(transport, origin, number << 20 | UInt64(index))
                    outcomes.withLock { $0[outcome, default: 0] += 1 }
                    ended.withLock { $0 += 1 }
                }
            }
            guard isLast else { return }
            let patience = Int.random(in: 0...Self.calls, using: &generator)
            while ended.withLock({ $0 }) < patience { await Task.yield() }
            await transport.shutdown()
        }
        withExtendedLifetime(refusing) {}
        servers.forget()
        if let odd = outcomes.withLock({ $0.keys.first { $0.hasPrefix(Self.odd) } }) {
            throw ConformanceFailure("\(subject): \(odd)")
        }
        guard isLast else { return }
        let late = await Self.call(transport, origins[0], number, isCancelled: false)
        guard late == TransportError.Code.shutDown.rawValue else {
            throw ConformanceFailure("\(subject): a call after the shutdown came to “\(late)”")
        }
    }

    /// Has the connections closed that nobody uses, at both ends.
    ///
    /// libcurl closes those that are dead when a transfer begins, once a second at most, among those of one handle: of each
    /// loop there are two, for what shares connections and what does not.
    private func settle(_ transport: any HTTPTransport, _ servers: SoakOrigins) async throws {
        servers.hangUp()
        try await Task.sleep(for: .milliseconds(1100))
        let refusing = try (0..<16).map { _ in try RefusingPort() }
        await withTaskGroup(of: Void.self) { group in
            for (index, port) in refusing.enumerated() {
                group.addTask {
                    var options = AttemptOptions(timeout: .seconds(1))
                    options.isOnNewConnection = index % 2 == 0
                    let scheme = servers.origins[0].scheme
                    let request = HTTPRequest(method: .get, scheme: scheme, authority: port.authority, path: "/")
                    _ = try? await transport.send(request, body: nil, options: options)
                }
            }
        }
        // What is free goes back to the system: what is resident would be what once was needed at a time.
        typealias Trim = @convention(c) (Int) -> CInt
        if let symbol = unsafe dlsym(nil, "malloc_trim") { _ = unsafe unsafeBitCast(symbol, to: Trim.self)(0) }
    }

    private static let odd = "other error: "

    /// One call and what becomes of it, as a word; all that matters is that it ends, with one of the errors there are.
    private static func call(
        _ transport: any HTTPTransport,
        _ target: SoakOrigins.Origin,
        _ seed: UInt64,
        isCancelled: Bool? = nil
    ) async -> String {
        let task = Task {
            var generator = SplitMix64(seed: seed)
            do {
                var options = AttemptOptions(timeout: .milliseconds(.random(in: 1...1000, using: &generator)))
                options.isOnNewConnection = Int.random(in: 0..<8, using: &generator) == 0
                let body = body(&generator)
                let request = HTTPRequest(
                    method: body == nil ? .get : .post,
                    scheme: target.scheme,
                    authority: target.authority,
                    path: "/\(seed % 1000)"
                )
                let response = try await transport.send(request, body: body, options: options)
                try await read(response.body, &generator)
                return "answered"
            } catch is CancellationError {
                return "cancelled"
            } catch let error as TransportError {
                return error.code.rawValue
            } catch is MessageBody.ReadError {
                return "too long to collect"
            } catch {
                return "\(odd)\(type(of: error))"
            }
        }
        var generator = SplitMix64(seed: ~seed)
        if isCancelled ?? Bool.random(using: &generator) {
            for _ in 0..<Int.random(in: 0...200, using: &generator) { await Task.yield() }
            task.cancel()
        }
        return await task.value
    }

    private static let large = MessageBody([UInt8](repeating: 1, count: 200_000))

    private static func body(_ generator: inout SplitMix64) -> MessageBody? {
        let chunks = Array(repeating: Array("a chunk of a stream".utf8), count: 4)
        return switch Int.random(in: 0..<8, using: &generator) {
        case 0: MessageBody("a small one")
        case 1, 4: large
        case 2: MessageBody(once: PieceStream(pieces: chunks))
        case 3: MessageBody(once: EndlessStream(pieces: chunks))
        default: nil
        }
    }

    private static func read(_ body: MessageBody, _ generator: inout SplitMix64) async throws {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: for try await _ in body {}
        case 1: for try await _ in body { break }
        case 2: break
        default: _ = try await body.collect(upTo: .random(in: 0...300_000, using: &generator))
        }
    }
}
