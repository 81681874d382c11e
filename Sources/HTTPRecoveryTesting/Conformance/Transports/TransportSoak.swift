import HTTPRecovery
import HTTPTypes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Everything at once, at random, on one transport after the other: faults, cancellations, bodies that are left,
/// shutdowns at any moment.
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

    /// Goes on as long as the environment says.
    ///
    /// - Throws: ``ConformanceFailure`` when a call ends otherwise than it may, or something has grown.
    package func run() async throws {
        let seconds = Self.seconds ?? 0
        // What the runtime opens for its first sleep stays.
        try await Task.sleep(for: .milliseconds(1))
        let start = ContinuousClock.now
        // The first part fills caches and pools; after that nothing grows.
        var held: [ProcessHoldings] = []
        var rounds: UInt64 = 0
        repeat {
            try await round(rounds)
            rounds += 1
            guard seconds > 0, start.duration(to: .now) > .seconds(seconds) * (held.count + 1) / 10 else { continue }
            held.append(.now())
            say("\(rounds) rounds of \(Self.calls) calls, \(held[held.count - 1])")
        } while rounds < 5 || start.duration(to: .now) < .seconds(seconds)
        guard held.count > 3 else { return }
        let before = held[held.count / 3]
        var after = ProcessHoldings.now()
        // The threads and connections of the last round may still be ending.
        for _ in 0..<60 where !after.isWithin(before) {
            try await Task.sleep(for: .seconds(1))
            after = .now()
        }
        let counts = outcomes.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        say("in all \(rounds * UInt64(Self.calls)) calls: \(counts.joined(separator: ", "))")
        say("at a third \(before); at the end \(after)")
        guard after.isWithin(before) else { throw ConformanceFailure("\(subject): \(before) became \(after)") }
    }

    private func say(_ text: String) { print("soak: \(subject), \(way.rawValue): \(text)") }

    /// A transport's life: many calls at a time, of which none is left when it has been shut down in the midst of them.
    private func round(_ number: UInt64) async throws {
        let server = way == .http2 ? try Self.http2Server() : try Self.http1Server()
        // Where it has not read what it was sent it does not see that the client has gone.
        defer { server.stop() }
        var generator = SplitMix64(seed: number)
        var options = TransportUnderTest.Options()
        options.maxConnectionsPerOrigin = .random(in: 1...40, using: &generator)
        options.speaksHTTP2 = way == .http2
        let request: Request
        var owner: (any Sendable)?
        if way == .http1 {
            request = Request(scheme: "http", authority: server.authority)
        } else {
            guard let terminate = subject.terminate else { throw ConformanceFailure("there is nothing that ends TLS") }
            let protocols = [way == .http2 ? "h2" : "http/1.1"]
            let front = try await terminate(.init(port: server.port, protocols: protocols, subject: "IP:127.0.0.1"))
            options.caFile = front.caFile
            owner = front.owner
            request = Request(scheme: "https", authority: front.authority)
        }
        let transport = try subject.makeTransport(options)
        let ended = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<Self.calls {
                group.addTask {
                    let outcome = await Self.call(transport, request, number << 20 | UInt64(index))
                    outcomes.withLock { $0[outcome, default: 0] += 1 }
                    ended.withLock { $0 += 1 }
                }
            }
            let patience = Int.random(in: 0...Self.calls, using: &generator)
            while ended.withLock({ $0 }) < patience { await Task.yield() }
            await transport.shutdown()
        }
        let late = await Self.call(transport, request, number, isCancelled: false)
        guard late == TransportError.Code.shutDown.rawValue else {
            throw ConformanceFailure("\(subject): a call after the shutdown came to “\(late)”")
        }
        if let odd = outcomes.withLock({ $0.keys.first { $0.hasPrefix(Self.odd) } }) {
            throw ConformanceFailure("\(subject): \(odd)")
        }
        withExtendedLifetime(owner) {}
    }

    private struct Request: Sendable {
        let scheme: String
        let authority: String
    }

    private static let odd = "other error: "

    /// One call and what becomes of it, as a word; all that matters is that it ends, with one of the errors there are.
    private static func call(
        _ transport: any HTTPTransport,
        _ target: Request,
        _ seed: UInt64,
        isCancelled: Bool? = nil
    ) async -> String {
        let task = Task {
            var generator = SplitMix64(seed: seed)
            do {
                var options = AttemptOptions(timeout: .milliseconds(.random(in: 1...2000, using: &generator)))
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

    private static func body(_ generator: inout SplitMix64) -> MessageBody? {
        let chunks = Array(repeating: Array("a chunk of a stream".utf8), count: 4)
        return switch Int.random(in: 0..<8, using: &generator) {
        case 0: MessageBody("a small one")
        case 1: MessageBody([UInt8](repeating: 1, count: 200_000))
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
