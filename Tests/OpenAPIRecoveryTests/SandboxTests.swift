import AuthSandbox
import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OpenAPIRecovery
import OpenAPIRuntime
import Testing

/// What a generated client gets from a server that fails on purpose, over real sockets.
@Suite struct SandboxTests {
    typealias Way = GeneratedClientTests.Way

    private static let item = Operations.getItem.Input(path: .init(id: "1"))
    private static let items = "/api/items"
    private static let files = "/api/files"

    /// A fault at what the resources serve.
    private static func fault(
        _ kind: SandboxFault.Kind,
        _ path: String = items,
        status: Int? = nil,
        retryAfter: String? = nil,
        times: Int64 = 1
    ) -> SandboxFault {
        var fault = SandboxFault(kind, path: path, times: times)
        fault.status = status
        fault.retryAfter = retryAfter
        return fault
    }

    /// A body that can be read once, made while it is sent.
    private static func stream(of chunks: Int, size: Int) -> HTTPBody {
        let left = Locked(chunks)
        let stream = AsyncStream<ArraySlice<UInt8>>(unfolding: {
            left.withLock { left -> ArraySlice<UInt8>? in
                guard left > 0 else { return nil }
                left -= 1
                return ArraySlice(repeating: UInt8(truncatingIfNeeded: left), count: size)
            }
        })
        return HTTPBody(stream, length: .known(Int64(chunks * size)), iterationBehavior: .single)
    }

    @Test(arguments: Way.allCases)
    func anOperationIsServed(way: Way) async throws {
        try await SandboxBench.run(way) { bench in
            let item = try await bench.api.getItem(.init(path: .init(id: "a b"))).ok.body.json
            #expect(item.path == "/api/items/a%20b" && item.username == SandboxBench.ada)
            #expect(try await bench.api.findItem(.init(path: .init(id: "1"))) == .ok)
            let email = try await bench.api.getUser().ok.body.json.email
            #expect(email == SandboxBench.ada)
            #expect(bench.requests("/api").map(\.method) == ["GET", "HEAD"])
        }
    }

    @Test(arguments: Way.allCases)
    func aRateLimitIsWaitedOut(way: Way) async throws {
        try await SandboxBench.run(way) { bench in
            bench.sandbox.add(Self.fault(.status, status: 429, retryAfter: "7"))
            let begin = bench.clock.now
            let output = try await bench.skippingWaits { try await bench.api.getItem(Self.item) }
            #expect(try output.ok.body.json.request == 1)
            #expect(bench.requests(Self.items).map(\.status) == [429, 200])
            #expect(begin.duration(to: bench.clock.now) >= .seconds(7))
        }
    }

    @Test(arguments: Way.allCases, ["status", "reset_after", "truncate", "garbage", "html"])
    func whatPassesIsRecoveredFrom(way: Way, kind: String) async throws {
        let fault = try SandboxFault(json: #"{"kind": "\#(kind)", "match": {"path": "/api/items"}}"#)
        try await SandboxBench.run(way) { bench in
            bench.sandbox.add(fault)
            let output = try await bench.skippingWaits { try await bench.api.getItem(Self.item) }
            #expect(try output.ok.body.json.username == SandboxBench.ada)
            #expect(bench.requests(Self.items).count == 2)
        }
    }

    /// Whether the client knows that its token has expired, or is told so by the server.
    @Test(arguments: Way.allCases, [false, true])
    func anExpiredTokenIsRenewedOnceForAll(way: Way, knowsExpiry: Bool) async throws {
        try await SandboxBench.run(way, knowsExpiry: knowsExpiry) { bench in
            bench.clock.advance(by: .seconds(3601))
            try await bench.skippingWaits {
                try await withThrowingTaskGroup(of: Components.Schemas.Item.self) { group in
                    for id in 1...5 {
                        group.addTask { try await bench.api.getItem(.init(path: .init(id: "\(id)"))).ok.body.json }
                    }
                    for try await item in group { #expect(item.username == SandboxBench.ada) }
                }
            }
            #expect(bench.sandbox.oauthCounters().refreshes == 1)
            let refused = bench.requests(Self.items).filter { $0.status == 401 }
            #expect(knowsExpiry ? refused.isEmpty : (1...5).contains(refused.count))
        }
    }

    @Test(arguments: Way.allCases)
    func aSessionThatIsOverIsThrown(way: Way) async throws {
        try await SandboxBench.run(way) { bench in
            try bench.sandbox.revokeTokens(of: SandboxBench.ada)
            let error = try await GeneratedClientTests.failure {
                _ = try await bench.skippingWaits { try await bench.api.getUser() }
            }
            #expect(error.kind == .reauthenticationRequired)
        }
    }

    /// Nobody sends what nobody has any more.
    @Test(arguments: Way.allCases)
    func aStreamedUploadIsSentOnce(way: Way) async throws {
        try await SandboxBench.run(way) { bench in
            let upload = Operations.uploadFile.Input(
                path: .init(name: "a"),
                body: .binary(Self.stream(of: 64, size: 65_536))
            )
            #expect(try await bench.api.uploadFile(upload).ok.body.json.path == "/api/files/a")
            #expect(bench.requests(Self.files).map(\.status) == [200])

            bench.sandbox.add(Self.fault(.status, Self.files, status: 503))
            let other = Operations.uploadFile.Input(
                path: .init(name: "b"),
                body: .binary(Self.stream(of: 64, size: 65_536))
            )
            let error = try await GeneratedClientTests.failure {
                _ = try await bench.skippingWaits { try await bench.api.uploadFile(other) }
            }
            #expect(error.kind == .unavailable && error.reason == .bodyNotReplayable)
            #expect(bench.requests(Self.files).map(\.status) == [200, 503])
        }
    }

    @Test(arguments: Way.allCases)
    func anUploadThatCanBeReadAgainIsSentAgain(way: Way) async throws {
        try await SandboxBench.run(way) { bench in
            bench.sandbox.add(Self.fault(.resetAfter, Self.files))
            let bytes = [UInt8](repeating: 7, count: 1 << 20)
            let upload = Operations.uploadFile.Input(path: .init(name: "a"), body: .binary(HTTPBody(bytes)))
            let output = try await bench.skippingWaits { try await bench.api.uploadFile(upload) }
            #expect(try output.ok.body.json.request == 2)
            #expect(bench.requests(Self.files).map(\.isProcessed) == [true, true])
        }
    }

    /// Nobody knows whether it was processed, and it was.
    @Test(arguments: Way.allCases)
    func whatIsNotIdempotentIsNotSentAgainOnDoubt(way: Way) async throws {
        try await SandboxBench.run(way) { bench in
            bench.sandbox.add(Self.fault(.resetAfter))
            let error = try await GeneratedClientTests.failure {
                _ = try await bench.skippingWaits { try await bench.api.createItem(body: .json(.init(text: "milk"))) }
            }
            #expect(error.reason == .processedUnknown || error.reason == .methodNotIdempotent)
            #expect(bench.requests(Self.items).map(\.isProcessed) == [true])
        }
    }

    @Test(arguments: Way.allCases)
    func whatIsGivenUpKeepsItsRecoveryError(way: Way) async throws {
        try await SandboxBench.run(way) { bench in
            bench.sandbox.add(Self.fault(.status, status: 503, times: 0))
            let error = try await GeneratedClientTests.failure {
                _ = try await bench.skippingWaits { try await bench.api.getItem(Self.item) }
            }
            #expect(error.kind == .unavailable && error.reason == .attemptsExhausted)
            #expect(error.response?.head.status == 503)
            #expect(error.history.attempts.count == bench.requests(Self.items).count)
            #expect(error.history.attempts.count > 1)
        }
    }

    @Test(arguments: Way.allCases)
    func whatTheDocumentDescribesIsTheOutput(way: Way) async throws {
        var rules = RecoveringTransport.Rules()
        rules.isOutput = { $0.kind != .reauthenticationRequired }
        try await SandboxBench.run(way, rules: rules) { bench in
            for status in [404, 429] {
                bench.sandbox.add(Self.fault(.status, status: status, retryAfter: status == 429 ? "36000" : nil))
                let output = try await bench.skippingWaits { try await bench.api.getItem(Self.item) }
                let refusal = try status == 404 ? output.notFound.body.json : output.tooManyRequests.body.json
                #expect(refusal.error == (status == 404 ? "not_found" : "temporarily_unavailable"))
            }
        }
    }

    /// It is handed out before its end has come, and what breaks off then is told to who reads.
    @Test(arguments: Way.allCases)
    func aDownloadIsStreamed(way: Way) async throws {
        var rules = RecoveringTransport.Rules()
        rules.adjust = { _, options in options.buffering = .streamed }
        try await SandboxBench.run(way, rules: rules) { bench in
            for kind in [SandboxFault.Kind.trickle, .truncate] {
                var fault = Self.fault(kind, Self.files)
                fault.delay = 1
                fault.headers = ["Content-Type": "application/octet-stream"]
                bench.sandbox.add(fault)
                let body = try await bench.api.downloadFile(.init(path: .init(name: "a"))).ok.body.binary
                #expect(body.iterationBehavior == .single)
                if kind == .trickle {
                    let text = try await String(collecting: body, upTo: 4096)
                    #expect(text.contains(#""path":"/api/files/a""#))
                } else {
                    await #expect(throws: TransportError.self) {
                        _ = try await String(collecting: body, upTo: 4096)
                    }
                }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func cancellationEndsAnOperationThatHangs(way: Way) async throws {
        try await SandboxBench.run(way) { bench in
            bench.sandbox.add(Self.fault(.hang))
            let call = Task { try await bench.api.getItem(Self.item) }
            while bench.requests(Self.items).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            call.cancel()
            let error = await #expect(throws: ClientError.self) { try await call.value }
            #expect(error?.underlyingError is CancellationError)
        }
    }
}
