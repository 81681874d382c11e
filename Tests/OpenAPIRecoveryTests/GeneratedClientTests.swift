import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OpenAPIRecovery
import OpenAPIRuntime
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a generated client gets by its transport, or by a middleware around another transport.
@Suite struct GeneratedClientTests {
    /// The two ways to put recovery below a generated client.
    enum Way: CaseIterable {
        case transport, middleware
    }

    static let note = Components.Schemas.Note(text: "milk")
    static let json = ["content-type": "application/json"]
    static let busy = ScriptedTransport.Step.status(503)

    /// A generated client in front of the transport.
    static func api(
        _ way: Way,
        _ transport: any HTTPTransport,
        _ clock: ManualClock,
        base: String = "https://notes.example/v1",
        rules: RecoveringTransport.Rules = RecoveringTransport.Rules(),
        events: RecoveryEvent.Hub = RecoveryEvent.Hub(),
        @RecoveringClient.PipelineBuilder layers: () -> [any ClientLayer] = { RecoveringClient.defaultMiddlewares }
    ) throws -> Client {
        let runtime = Runtime(time: clock.timeSource(), random: Runtime.RandomSource(seed: 1), events: events)
        let url = try #require(URL(string: base))
        switch way {
        case .transport:
            let client = RecoveringClient(transport: transport, runtime: runtime, middlewares: layers)
            return Client(serverURL: url, transport: RecoveringTransport(client, rules: rules))
        case .middleware:
            // A transport of somebody else's, which recovers from nothing.
            let bare = RecoveringClient(transport: transport, runtime: runtime) {}
            let plain = RecoveringTransport.Rules(
                isOutput: { _ in true },
                adjust: { _, options in options.buffering = .streamed }
            )
            return Client(
                serverURL: url,
                transport: RecoveringTransport(bare, rules: plain),
                middlewares: [RecoveringMiddleware(runtime: runtime, rules: rules, layers: layers)]
            )
        }
    }

    static func failure(_ body: () async throws -> Void) async throws -> RecoveryError {
        let error = await #expect(throws: ClientError.self) { try await body() }
        return try #require(error?.underlyingError as? RecoveryError)
    }

    @Test(
        arguments: Way.allCases,
        [
            ScriptedTransport.Step.status(429, ["retry-after": "7"]), .status(503), .fail(.connectionLost, .unknown),
        ]
    )
    func whatPassesIsWaitedOut(way: Way, first: ScriptedTransport.Step) async throws {
        let transport = ScriptedTransport([first, .status(200, Self.json, body: #"{"text":"milk"}"#)])
        let clock = ManualClock()
        let api = try Self.api(way, transport, clock)
        let output = try await clock.skippingWaits { try await api.getNote(.init(path: .init(id: "a b"))) }
        #expect(output == .ok(.init(body: .json(Self.note))))
        #expect(transport.received.map(\.request.path) == ["/v1/notes/a%20b", "/v1/notes/a%20b"])
        #expect(transport.received.allSatisfy { $0.request.authority == "notes.example" })
    }

    @Test(arguments: Way.allCases)
    func whatIsGivenUpIsThrownAndKeepsItsError(way: Way) async throws {
        let transport = ScriptedTransport(then: Self.busy)
        let clock = ManualClock()
        let api = try Self.api(way, transport, clock)
        let error = try await Self.failure {
            _ = try await clock.skippingWaits { try await api.getNote(.init(path: .init(id: "1"))) }
        }
        #expect(error.kind == .unavailable && error.reason == .attemptsExhausted)
        #expect(error.history.attempts.count == transport.received.count && transport.received.count > 1)
    }

    @Test(arguments: Way.allCases)
    func whatNothingHelpsWithIsTheOutput(way: Way) async throws {
        let transport = ScriptedTransport(then: .status(404))
        let api = try Self.api(way, transport, ManualClock())
        #expect(try await api.getNote(.init(path: .init(id: "1"))) == .notFound)
        let strict = RecoveringTransport.Rules(isOutput: { _ in false })
        let other = try Self.api(way, transport, ManualClock(), rules: strict)
        let error = try await Self.failure { _ = try await other.getNote(.init(path: .init(id: "1"))) }
        #expect(error.kind == .notFound)
    }

    @Test(arguments: Way.allCases, [false, true])
    func anOperationIsSentAgainOnDoubtIfItsRuleSaysSo(way: Way, isReplayable: Bool) async throws {
        let transport = ScriptedTransport([.fail(.connectionLost, .unknown)], then: .status(201))
        let clock = ManualClock()
        let rules = RecoveringTransport.Rules(replayable: isReplayable ? ["createNote"] : ["getNote"])
        let api = try Self.api(way, transport, clock, rules: rules)
        let input = Operations.createNote.Input(body: .json(Self.note))
        if isReplayable {
            #expect(try await clock.skippingWaits { try await api.createNote(input) } == .created)
            #expect(transport.received.map(\.text).count == 2 && Set(transport.received.map(\.text)).count == 1)
        } else {
            let error = try await Self.failure {
                _ = try await clock.skippingWaits { try await api.createNote(input) }
            }
            #expect(error.reason == .processedUnknown || error.reason == .methodNotIdempotent)
            #expect(transport.received.count == 1)
        }
    }

    @Test(arguments: Way.allCases)
    func anIdempotencyKeyIsTheSameOnEachAttempt(way: Way) async throws {
        let transport = ScriptedTransport([.fail(.connectionLost, .unknown)], then: .status(201))
        let clock = ManualClock()
        let api = try Self.api(way, transport, clock, rules: .init(idempotencyKeys: ["createNote"]))
        let input = Operations.createNote.Input(body: .json(Self.note))
        _ = try await clock.skippingWaits { try await api.createNote(input) }
        _ = try await api.createNote(input)
        let keys = transport.received.map { $0.request.headerFields[.idempotencyKey] ?? "" }
        #expect(keys.count == 3 && keys[0] == keys[1] && keys[1] != keys[2] && !keys.contains(""))
    }

    @Test(arguments: Way.allCases)
    func aBodyIsSentAsOftenAsItCanBeIterated(way: Way) async throws {
        for behavior in [IterationBehavior.single, .multiple] {
            let transport = ScriptedTransport([Self.busy], then: .status(200, [:], body: "done"))
            let clock = ManualClock()
            let api = try Self.api(way, transport, clock)
            let chunks = AsyncStream<ArraySlice<UInt8>> { continuation in
                continuation.yield([1, 2])
                continuation.yield([3])
                continuation.finish()
            }
            let body =
                behavior == .single
                ? HTTPBody(chunks, length: .known(3)) : HTTPBody([1, 2, 3] as [UInt8])
            if behavior == .single {
                let error = try await Self.failure {
                    _ = try await clock.skippingWaits { try await api.exportNotes(.init(body: .binary(body))) }
                }
                #expect(error.reason == .bodyNotReplayable && error.kind == .unavailable)
                #expect(transport.received.map(\.body) == [[1, 2, 3]])
            } else {
                let output = try await clock.skippingWaits { try await api.exportNotes(.init(body: .binary(body))) }
                guard case .ok(let ok) = output, case .binary(let answer) = ok.body else { throw CancellationError() }
                #expect(try await String(collecting: answer, upTo: 100) == "done")
                #expect(transport.received.map(\.body) == [[1, 2, 3], [1, 2, 3]])
            }
        }
    }

    @Test(arguments: Way.allCases)
    func bodiesStreamBothWaysAndKeepTheirLength(way: Way) async throws {
        // The server answers piece by piece with what comes: nothing comes back unless it was sent on at once.
        let lengths = Locked<[Int?]>([])
        let transport = InProcessTransport { call in
            lengths.withLock { $0.append(call.body.length) }
            return TransportResponse(
                head: HTTPResponse(status: .ok),
                body: MessageBody(once: call.body, length: call.body.length)
            )
        }
        var rules = RecoveringTransport.Rules()
        rules.adjust = { _, options in options.buffering = .streamed }
        let api = try Self.api(way, transport, ManualClock(), rules: rules)
        let (stream, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
        continuation.yield([1])
        let body = HTTPBody(stream, length: .known(3))
        let output = try await api.importNotes(.init(body: .binary(body)))
        guard case .ok(let ok) = output, case .binary(let answer) = ok.body else { throw CancellationError() }
        #expect(answer.iterationBehavior == .single && answer.length == .known(3))
        var iterator = answer.makeAsyncIterator()
        for byte: UInt8 in 1...3 {
            #expect(try await iterator.next() == [byte])
            if byte < 3 { continuation.yield([byte + 1]) } else { continuation.finish() }
        }
        #expect(try await iterator.next() == nil)
        #expect(lengths.withLock { $0 } == [3])
    }

    @Test(arguments: Way.allCases)
    func anEarlyAnswerEndsAnUpload(way: Way) async throws {
        let transport = InProcessTransport { _ in .scripted(413) }
        let api = try Self.api(way, transport, ManualClock())
        // The stream has no end: whoever waited for it would wait for ever.
        let (stream, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
        continuation.yield([1])
        let output = try await api.importNotes(.init(body: .binary(HTTPBody(stream, length: .unknown))))
        guard case .undocumented(statusCode: 413, _) = output else { throw CancellationError() }
        withExtendedLifetime(continuation) {}
    }

    @Test(arguments: Way.allCases)
    func cancellationEndsAnAttemptAndIsHandedOn(way: Way) async throws {
        let transport = ScriptedTransport([.hang])
        let api = try Self.api(way, transport, ManualClock())
        let call = Task { try await api.getNote(.init(path: .init(id: "1"))) }
        await transport.waitForRequests(1)
        call.cancel()
        let error = await #expect(throws: ClientError.self) { try await call.value }
        #expect(error?.underlyingError is CancellationError)
    }

    @Test(arguments: Way.allCases)
    func aDeadlineEndsAnAttemptThatHangs(way: Way) async throws {
        let transport = ScriptedTransport([.hang], enforcesTimeouts: false)
        let clock = ManualClock()
        let rules = RecoveringTransport.Rules(adjust: { id, options in
            if id == "getNote" { options.deadline = .seconds(5) }
        })
        let api = try Self.api(way, transport, clock, rules: rules)
        let error = try await Self.failure {
            _ = try await clock.skippingWaits { try await api.getNote(.init(path: .init(id: "1"))) }
        }
        #expect(error.kind == .timedOut)
    }

    /// Nobody waits for an attempt that another has overtaken, or whose time is over.
    @Test(arguments: Way.allCases)
    func anAttemptThatWasOvertakenIsLeft(way: Way) async throws {
        let transport = ScriptedTransport(
            [.hang, .status(200, Self.json, body: #"{"text":"milk"}"#)],
            enforcesTimeouts: false
        )
        let clock = ManualClock()
        let time = clock.timeSource()
        let api = try Self.api(way, transport, clock) { Recovery(hedging: .init(after: .seconds(1))) }
        _ = try await clock.skippingWaits { try await api.getNote(.init(path: .init(id: "1"))) }
        #expect(transport.received.count == 2)
        #expect(time.now.sinceStart == .seconds(1))
    }

    private struct Refused: Error {}

    /// What the transport of a middleware has thrown is the cause of what the call ends with.
    @Test func whatTheTransportHasThrownIsKept() async throws {
        let transport = ScriptedTransport(then: .run { _ in throw Refused() })
        let clock = ManualClock()
        let api = try Self.api(.middleware, transport, clock)
        let error = try await Self.failure {
            _ = try await clock.skippingWaits { try await api.getNote(.init(path: .init(id: "1"))) }
        }
        #expect(error.cause is Refused, "\(String(describing: error.cause))")
    }

    @Test(arguments: Way.allCases)
    func aRefusedTokenIsRenewedOnceAndTheOperationSentAgain(way: Way) async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "old"))
        let transport = ScriptedTransport(
            then: .run { received in
                if received.request.headerFields[.authorization] == "Bearer new" {
                    return .scripted(200, Self.json, body: #"{"text":"milk"}"#)
                }
                // Another process renews it meanwhile.
                try await tokens.update { $0.accessToken = "new" }
                return .scripted(401, ["www-authenticate": "Bearer error=\"invalid_token\""])
            }
        )
        let audience = Origin(scheme: "https", authority: "notes.example")
        let api = try Self.api(way, transport, ManualClock()) {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: [audience])
        }
        let output = try await api.getNote(.init(path: .init(id: "1")))
        #expect(output == .ok(.init(body: .json(Self.note))))
        #expect(transport.received.count == 2)
    }

    @Test(arguments: Way.allCases)
    func anOperationSharesItsLimitWhateverItsPathAndNamesItsEvents(way: Way) async throws {
        let transport = ScriptedTransport([.status(429, ["retry-after": "3600"])], then: .status(201))
        let events = RecoveryEvent.Hub()
        let labels = Locked<Set<String?>>([])
        events.observe { event in labels.withLock { _ = $0.insert(event.label) } }
        let api = try Self.api(way, transport, ManualClock(), events: events)
        for id in ["1", "2"] {
            let error = try await Self.failure { _ = try await api.getNote(.init(path: .init(id: id))) }
            #expect(error.kind == .rateLimited || error.kind == .quotaExhausted)
        }
        #expect(labels.withLock { $0.contains("getNote") })
    }

    @Test(
        arguments: Way.allCases,
        [
            ("https://notes.example", "/notes/1"), ("https://notes.example/a/b", "/a/b/notes/1"),
            ("https://notes.example/a/", "/a//notes/1"), ("https://notes.example:8443/a?x=1", "/a/notes/1"),
        ]
    )
    func theBaseURLStandsBeforeThePath(way: Way, example: (base: String, path: String)) async throws {
        let transport = ScriptedTransport(then: .status(404))
        let api = try Self.api(way, transport, ManualClock(), base: example.base)
        _ = try await api.getNote(.init(path: .init(id: "1")))
        #expect(transport.received.map(\.request.path) == [example.path])
        let hasPort = example.base.contains(":8443")
        #expect(transport.received.first?.request.authority == (hasPort ? "notes.example:8443" : "notes.example"))
    }

    @Test(arguments: Way.allCases, ["/v1", "ftp://notes.example", "https://a:b@notes.example"])
    func aBaseURLThatIsNoneIsMisconfigured(way: Way, base: String) async throws {
        let transport = ScriptedTransport()
        let api = try Self.api(way, transport, ManualClock(), base: base)
        let error = try await Self.failure { _ = try await api.getNote(.init(path: .init(id: "1"))) }
        #expect(error.kind == .misconfigured && transport.received.isEmpty)
        #expect(!"\(error)".contains("a:b"))
    }
}
