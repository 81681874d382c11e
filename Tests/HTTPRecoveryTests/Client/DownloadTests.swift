import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Downloads that break off and go on.
@Suite struct DownloadTests {
    private static let whole = (0..<100).map { UInt8($0) }
    private static let tag = #""v1""#

    /// Keeps what it is given; one that cannot begin anew is as standard output.
    private final class Target: RecoveringClient.Download.Target {
        private let state: Locked<(bytes: [UInt8], restarts: Int)>
        private let takesBack: Bool

        init(_ bytes: [UInt8] = [], canRestart: Bool = true) {
            state = Locked((bytes, 0))
            takesBack = canRestart
        }

        var bytes: [UInt8] { state.withLock { $0.bytes } }

        var canRestart: Bool { takesBack || bytes.isEmpty }

        func restart() -> Bool {
            state.withLock { state in
                guard takesBack || state.bytes.isEmpty else { return false }
                state.bytes = []
                return true
            }
        }

        func write(_ bytes: ArraySlice<UInt8>) { state.withLock { $0.bytes += bytes } }
    }

    /// Answers with a part of the body, which may break off.
    private static func part(
        _ status: Int = 200,
        from first: Int = 0,
        breakingAt end: Int? = nil,
        of bytes: [UInt8] = whole,
        _ fields: [String: String] = ["etag": tag]
    ) -> ScriptedTransport.Step {
        .run { _ in
            var head = TransportResponse.scripted(status, fields).head
            head.headerFields[.contentLength] = "\(bytes.count - first)"
            if status == 206, !head.headerFields.contains(.contentRange) {
                head.headerFields[.contentRange] = "bytes \(first)-\(bytes.count - 1)/\(bytes.count)"
            }
            let stream = AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
                for byte in bytes[first..<(end ?? bytes.count)] { continuation.yield([byte]) }
                continuation.finish(throwing: end == nil ? nil : TransportError(.truncated, .answered))
            }
            return TransportResponse(head: head, body: MessageBody(once: stream, length: bytes.count - first))
        }
    }

    private static func run(
        _ steps: [ScriptedTransport.Step],
        to target: Target,
        resumes: Bool = true,
        continuingAt count: Int64 = 0,
        limit: Int? = nil,
        _ request: HTTPRequest = Bench.get
    ) async throws -> (ranges: [String], history: History) {
        let bench = Bench(steps, then: .status(500)) { Recovery(maxAttempts: 4) }
        var options = RequestOptions()
        options.attemptLayers = [
            RecoveringClient.Download(to: target, limit: limit, resumes: resumes, continuingAt: count)
        ]
        let response = try await bench.sendSkippingWaits(request, options: options)
        #expect(response.outcome.kind == .ok)
        #expect(try await response.body.collect(upTo: 10) == [])
        let ranges = bench.transport.received.map { received in
            let fields = received.request.headerFields
            return (fields[.range] ?? "-") + (fields[.ifRange].map { " if \($0)" } ?? "")
        }
        return (ranges, response.history)
    }

    @Test func theRestIsAskedForAlone() async throws {
        let target = Target(canRestart: false)
        let (ranges, history) = try await Self.run(
            [Self.part(breakingAt: 40), Self.part(206, from: 40, breakingAt: 41), Self.part(206, from: 41)],
            to: target
        )
        #expect(target.bytes == Self.whole)
        #expect(ranges == ["-", #"bytes=40- if "v1""#, #"bytes=41- if "v1""#])
        // It is resent by the engine, with its waits and reasons.
        #expect(history.attempts.map(\.cause).dropFirst().allSatisfy { $0 == .retry(after: .transport) })
        #expect(history.waits.count == 2)
    }

    @Test(arguments: [true, false])
    func itGoesWithItsCallToAnotherOrigin(resumes: Bool) async throws {
        let target = Target()
        let steps: [ScriptedTransport.Step] = [
            .status(302, ["location": "https://cdn.example.net/file"]),
            Self.part(breakingAt: 40),
            resumes ? Self.part(206, from: 40) : Self.part(),
        ]
        let bench = Bench(steps, then: .status(500)) {
            Redirects()
            Recovery(maxAttempts: 4)
        }
        var options = RequestOptions()
        options.attemptLayers = [
            RecoveringClient.Download(to: target, resumes: resumes),
            // What could give a secret away stays.
            RecoveringClient.AttemptNumber.amazon(maxAttempts: 4),
        ]
        let response = try await bench.sendSkippingWaits(Bench.get, options: options)
        #expect(response.outcome.kind == .ok && target.bytes == Self.whole)
        let received = bench.transport.received.map(\.request)
        #expect(received.map(\.authority) == ["api.example.com", "cdn.example.net", "cdn.example.net"])
        #expect(received.last?.headerFields[.range] == (resumes ? "bytes=40-" : nil))
        let name = try #require(HTTPField.Name("amz-sdk-request"))
        #expect(received.map { $0.headerFields.contains(name) } == [true, false, false])
    }

    @Test(arguments: [
        // It has changed: the server sends the whole.
        ("changed", [part(breakingAt: 40), part(200, of: [1, 2, 3], ["etag": #""v2""#])], [1, 2, 3]),
        // A server that takes no notice of ranges.
        ("whole", [part(breakingAt: 40), part()], whole),
        // Another part than was asked for, another length, another tag, no range at all, 412, 416: everything anew.
        ("other part", [part(breakingAt: 40), part(206, from: 39), part()], whole),
        ("other length", [part(breakingAt: 40), part(206, from: 40, of: whole + [0]), part()], whole),
        ("other tag", [part(breakingAt: 40), part(206, from: 40, ["etag": #""v2""#]), part()], whole),
        ("no range", [part(breakingAt: 40), part(206, from: 40, ["content-range": "bytes"]), part()], whole),
        ("precondition", [part(breakingAt: 40), .status(412), part()], whole),
        ("too far", [part(breakingAt: 40), .status(416, ["content-range": "bytes */10"]), part()], whole),
    ])
    func whatDoesNotFitBeginsAnew(name: String, steps: [ScriptedTransport.Step], expected: [UInt8]) async throws {
        let target = Target()
        _ = try await Self.run(steps, to: target)
        #expect(target.bytes == expected, "\(name)")
    }

    @Test(arguments: [
        [:], ["etag": #"W/"v1""#], ["etag": tag, "accept-ranges": "none"],
        ["last-modified": "Tue, 14 Nov 2023 22:13:20 GMT", "date": "Tue, 14 Nov 2023 22:13:30 GMT"],
    ])
    func withoutAStrongValidatorItBeginsAnew(fields: [String: String]) async throws {
        let target = Target()
        let (ranges, _) = try await Self.run([Self.part(breakingAt: 40, fields), Self.part()], to: target)
        #expect(target.bytes == Self.whole && ranges == ["-", "-"])
        // What went out cannot be taken back.
        let pipe = Target(canRestart: false)
        let error = await #expect(throws: RecoveryError.self) {
            try await Self.run([Self.part(breakingAt: 40, fields), Self.part()], to: pipe)
        }
        #expect(error?.reason == .responseDelivered && pipe.bytes == Array(Self.whole[..<40]))
    }

    @Test func anOldDateOfChangeIsAValidator() async throws {
        let changed = "Tue, 14 Nov 2023 22:13:20 GMT"
        let fields = ["last-modified": changed, "date": "Tue, 14 Nov 2023 22:14:20 GMT"]
        let target = Target(canRestart: false)
        let (ranges, _) = try await Self.run(
            [Self.part(breakingAt: 40, fields), Self.part(206, from: 40, fields)],
            to: target
        )
        #expect(target.bytes == Self.whole && ranges == ["-", "bytes=40- if \(changed)"])
    }

    @Test func anEarlierDownloadIsGoneOnWith() async throws {
        let target = Target(Array(Self.whole[..<30]))
        let (ranges, _) = try await Self.run(
            [Self.part(206, from: 30, breakingAt: 60), Self.part(206, from: 60)],
            to: target,
            continuingAt: 30
        )
        #expect(target.bytes == Self.whole && ranges == ["bytes=30-", #"bytes=60- if "v1""#])
    }

    @Test func whatIsThereWholeIsNotFetched() async throws {
        let target = Target(Self.whole)
        let (ranges, _) = try await Self.run(
            [.status(416, ["content-range": "bytes */100"])],
            to: target,
            continuingAt: 100
        )
        #expect(target.bytes == Self.whole && ranges == ["bytes=100-"])
    }

    @Test(arguments: [true, false])
    func aLengthThatIsNotKeptIsNoSuccess(resumes: Bool) async throws {
        let short = ScriptedTransport.Step.run { _ in
            let head = TransportResponse.scripted(200, ["etag": Self.tag, "content-length": "100"]).head
            return TransportResponse(head: head, body: MessageBody(Array(Self.whole[..<70])))
        }
        let target = Target()
        _ = try await Self.run([short, resumes ? Self.part(206, from: 70) : Self.part()], to: target, resumes: resumes)
        #expect(target.bytes == (resumes ? Self.whole : Array(Self.whole[..<70])))
    }

    /// Whoever comes again later can go on with it.
    @Test func whatHasComeStaysIfNothingMoreComes() async throws {
        let target = Target()
        let error = await #expect(throws: RecoveryError.self) {
            _ = try await Self.run(
                [Self.part(breakingAt: 40, [:]), Self.part(breakingAt: 30, [:]), .status(404)],
                to: target
            )
        }
        #expect(error?.outcome.status == 404 && target.bytes == Array(Self.whole.prefix(30)))
    }

    @Test func theLimitHoldsForAllThatCame() async throws {
        for limit in [99, 100] {
            let target = Target()
            do {
                _ = try await Self.run(
                    [Self.part(breakingAt: 40), Self.part(206, from: 40)],
                    to: target,
                    limit: limit
                )
                #expect(limit == 100)
            } catch let error as RecoveryError {
                #expect(limit == 99 && error.outcome.transportError?.code == .bodyTooLarge && target.bytes.isEmpty)
            }
        }
    }

    /// A layer of a client sees all its calls, at the same time too: what one has brought is no other's.
    @Test func oneThatBeginsAnewCountsForEachCall() async throws {
        let bench = Bench(then: Self.part()) {
            Recovery()
            RecoveringClient.Download(to: Target(), limit: 100)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await bench.client.send(Bench.get) } }
            try await group.waitForAll()
        }
        #expect(bench.transport.received.count == 50)
    }

    @Test func aRequestWithARangeOfItsOwnIsLeftAlone() async throws {
        var request = Bench.get
        request.headerFields[.range] = "bytes=0-9"
        let target = Target()
        let (ranges, _) = try await Self.run([Self.part(206, from: 90)], to: target, request)
        #expect(ranges == ["bytes=0-9"] && target.bytes == Array(Self.whole[90...]))
    }

    @Test func aTargetThatFailsEndsTheCall() async throws {
        struct Full: RecoveringClient.Download.Target {
            var canRestart: Bool { true }
            func restart() -> Bool { true }
            func write(_ bytes: ArraySlice<UInt8>) throws { throw MessageBody.ReadError.alreadyConsumed }
        }
        let bench = Bench([Self.part()]) { Recovery() }
        var options = RequestOptions()
        options.attemptLayers = [RecoveringClient.Download(to: Full(), resumes: true)]
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.sendSkippingWaits(Bench.get, options: options)
        }
        #expect(error?.outcome.transportError?.code == .outputFailed && bench.transport.received.count == 1)
    }

    @Test(
        arguments: [
            ("bytes 0-9/10", 0, 10), ("bytes 5-9/*", 5, nil), ("bytes */10", nil, 10), ("BYTES 1-2/3", 1, 3),
        ] as [(String, Int64?, Int64?)]
    )
    func aContentRangeIsRead(text: String, first: Int64?, total: Int64?) {
        let range = ContentRange([.contentRange: text])
        #expect(range != nil && range?.first == first && range?.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes /", "bytes */*", "bytes 9-0/10", "bytes 0-10/10", "bytes 0-9", "bytes 0-9/10/11",
        "bytes -1-9/10", "bytes 0x0-9/10", "bytes 99999999999999999999-99999999999999999999/*", "items 0-9/10",
        "bytes 0-9/-1", "bytes 0-/10",
    ])
    func aBrokenContentRangeIsNone(text: String) {
        #expect(ContentRange([.contentRange: text]) == nil)
    }
}
