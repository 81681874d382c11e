import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import CurlTransport

/// What becomes of others when a call ends, and who may see of it.
@Suite(.timeLimit(.minutes(5)))
struct EndingTests {
    enum End: CaseIterable {
        case timeout, earlyAnswer, shutdown
    }

    /// A body that ends its call when it is left, as a proxy's does, ends no other.
    @Test(arguments: End.allCases)
    func aStreamThatEndsItsCallHoldsNobodyUp(end: End) async throws {
        let server = try FaultServer(
            plan: { number in number == 0 && end == .earlyAnswer ? .answerWithoutReadingBodies : .serve },
            reply: { request in
                if request.path == "/after" { return .answer(body: "after") }
                return end == .earlyAnswer ? .answer(413, headers: [("Connection", "close")], body: "no") : .stall
            }
        )
        let transport = CurlTransport.patient()
        let (stream, source) = AsyncStream<ArraySlice<UInt8>>.makeStream()
        let call = Locked<Task<Int, any Error>?>(nil)
        let isLeft = AsyncStream<Void>.makeStream()
        source.onTermination = { _ in
            call.withLock { $0 }?.cancel()
            isLeft.continuation.finish()
        }
        source.yield(ArraySlice("the beginning".utf8))
        let isBegun = AsyncStream<Void>.makeStream()
        let body = stream.map { chunk in
            isBegun.continuation.finish()
            return chunk
        }
        let task = Task {
            let (head, _) = try await transport.fetch(
                .to(server.authority, .post),
                MessageBody(once: body),
                timeout: end == .timeout ? .milliseconds(300) : .seconds(600)
            )
            return head.status.code
        }
        call.withLock { $0 = task }
        if end == .shutdown {
            for await _ in isBegun.stream {}
            await transport.shutdown()
        }
        _ = await task.result
        // A machine that was too busy to begin with the body leaves it as it is.
        source.finish()
        for await _ in isLeft.stream {}
        if end != .shutdown {
            #expect(try await transport.fetch(.to(server.authority, .get, "/after")).body == "after")
        }
        await transport.shutdown()
    }

    /// A call that is cancelled before it was begun, at a loop that has ended, leaves nothing behind.
    @Test
    func anUploadThatWasNeverBegunEnds() async throws {
        let loop = try #require(EventLoop(configuration: CurlTransport.Configuration().normalized()))
        await loop.stop()
        let body = MessageBody(once: ChunkSource().stream)
        let request = try EncodedRequest(.to("127.0.0.1:9", .post), body: body, decompresses: true)
        let transfer = Transfer(request: request, deadline: Monotonic.never, loop: loop)
        transfer.startUpload()
        let task = try #require(transfer.shared.withLock { $0.upload.task })
        transfer.cancel()
        await task.value
        await #expect(throws: CancellationError.self) { _ = try await transfer.submit() }
    }

    /// Who dumps a response or the transport sees no request: neither its own nor another that waits.
    @Test
    func nobodySeesRequests() async throws {
        let server = try FaultServer(
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n").then(.stall)
        )
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 1))
        let body = MessageBody("password=hunter2")
        let response = try await transport.send(.to(server.authority, .post), body: body, options: AttemptOptions())
        #expect(response.report is Transfer)
        let other = Task {
            try await transport.fetch(.to(server.authority, .get, "/", headers: [.authorization: "Bearer hunter2"]))
        }
        let transfer = try #require(response.report as? Transfer)
        #expect(Mirror(reflecting: transfer).children.isEmpty)
        #expect(Mirror(reflecting: transfer.loop).children.isEmpty)
        for value in [response, transport] as [Any] {
            var text = ""
            dump(value, to: &text)
            #expect(!text.contains("Transfer.Shared") && !text.contains("OriginQueue") && !text.contains("upload"))
        }
        other.cancel()
        _ = await other.result
        await transport.shutdown()
    }
}
