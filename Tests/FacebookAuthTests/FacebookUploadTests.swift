import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Uploads to Facebook")
struct FacebookUploadTests {
    private static let begun = ScriptedTransport.Step.answer(
        #"{"upload_session_id":"up1","video_id":"901","start_offset":"0","end_offset":"4"}"#
    )

    private static func offsets(_ start: Int, _ end: Int) -> ScriptedTransport.Step {
        .answer(#"{"start_offset":"\#(start)","end_offset":"\#(end)"}"#)
    }

    private static let done = offsets(4, 4)
    private static let file = FacebookUpload([1, 2, 3, 4])
    private static let lost = ScriptedTransport.Step.fail(.connectionLost, .unknown)

    private static func status(_ word: String) -> ScriptedTransport.Step {
        .answer(#"{"status":{"video_status":"\#(word)"},"id":"901"}"#)
    }

    private func hosts(_ bench: FacebookBench) -> [String?] { bench.transport.received.map(\.request.authority) }

    @Test func theVideosIDIsTold() async throws {
        let bench = try FacebookBench([Self.begun, Self.done, .answer(#"{"success":true}"#)])
        let receipt = try await bench.facebook.upload(Self.file, to: "1/videos")
        #expect(receipt.id == "901")
        #expect(receipt.answer == ["success": true])
        // Videos have a host of their own, and nothing else has.
        #expect(hosts(bench) == Array(repeating: "graph-video.facebook.com", count: 3))
        #expect(bench.presented == Array(repeating: "Bearer tok1", count: 3))
        let files = try FacebookBench([Self.begun, Self.done, .answer(#"{"success":true}"#)])
        _ = try await files.facebook.upload(Self.file, to: "1/files")
        #expect(hosts(files) == Array(repeating: "graph.facebook.com", count: 3))
    }

    /// Whether a video was published whose last answer was lost, the video tells.
    @Test(arguments: ["processing", "ready", "upload_complete"])
    func aLostAnswerToThePublishingIsLookedUp(word: String) async throws {
        for lost in [Self.lost, .status(502), .error(1), .error(2, nil, 500)] {
            let bench = try FacebookBench([Self.begun, Self.done, lost, Self.status(word)])
            let receipt = try await bench.skippingWaits { try await bench.facebook.upload(Self.file, to: "1/videos") }
            #expect(receipt.id == "901")
            #expect(bench.sent.filter { $0.contains("upload_phase=finish") }.count == 1)
            #expect(bench.sent.last == "GET /v25.0/901?fields=status")
            #expect(hosts(bench).last == "graph.facebook.com")
        }
    }

    @Test func whatWasNotPublishedIsPublishedAgainOnce() async throws {
        let bench = try FacebookBench([
            Self.begun, Self.done, Self.lost, Self.status("uploading"), Self.lost, Self.status("uploading"),
        ])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.upload(Self.file, to: "1/videos") }
        }
        #expect(error?.kind == .transport)
        #expect(bench.sent.filter { $0.contains("upload_phase=finish") }.count == 2)

        let good = try FacebookBench([
            Self.begun, Self.done, Self.lost, Self.status("uploading"), .answer(#"{"success":true}"#),
        ])
        let receipt = try await good.skippingWaits { try await good.facebook.upload(Self.file, to: "1/videos") }
        #expect(receipt.answer["success"]?.bool == true)
    }

    @Test(arguments: ["error", "expired", "something"])
    func whatTheVideoDoesNotKnowStaysInDoubt(word: String) async throws {
        let bench = try FacebookBench([Self.begun, Self.done, Self.lost, Self.status(word)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.upload(Self.file, to: "1/videos") }
        }
        #expect(error?.kind == .transport && error?.outcome.processed == .unknown)
        #expect(bench.transport.received.count == 4)
        // A refusal is no doubt.
        let refused = try FacebookBench([Self.begun, Self.done, .error(100)])
        await #expect(throws: RecoveryError.self) { try await refused.facebook.upload(Self.file, to: "1/videos") }
        #expect(refused.transport.received.count == 3)
    }

    @Test func aWrongPlaceIsFollowedWithoutAWait() async throws {
        let data = #","error_data":"{\"start_offset\":\"0\",\"end_offset\":\"4\"}""#
        let misplaced = ScriptedTransport.Step.status(400, [:], body: Recorded.error(6001, 1_363_037, more: data))
        let bench = try FacebookBench([Self.begun, misplaced, Self.done, .answer(#"{"success":true}"#)])
        _ = try await bench.facebook.upload(Self.file, to: "1/videos")
        #expect(bench.clock.requestedDelays.isEmpty)
    }

    @Test func aChunkThatTookTooLongIsHalved() async throws {
        let size = 2 << 20
        let begun = ScriptedTransport.Step.answer(
            #"{"upload_session_id":"up1","video_id":"901","start_offset":"0","end_offset":"\#(size)"}"#
        )
        let slow = ScriptedTransport.Step.error(6000, 1_363_030)
        let bench = try FacebookBench([
            begun, slow, slow, Self.offsets(size / 4, size), Self.offsets(size / 2, size),
            Self.offsets(3 * size / 4, size), Self.offsets(size, size), .answer(#"{"success":true}"#),
        ])
        let sizes = Locked<[Int64]>([])
        let upload = FacebookUpload(size: Int64(size)) { range in
            sizes.withLock { $0.append(range.upperBound - range.lowerBound) }
            return [UInt8](repeating: 1, count: Int(range.upperBound - range.lowerBound))
        }
        _ = try await bench.skippingWaits { try await bench.facebook.upload(upload, to: "1/videos") }
        let quarter = Int64(size / 4)
        #expect(sizes.withLock { $0 } == [4 * quarter, 2 * quarter, quarter, quarter, quarter, quarter])
    }

    @Test func aSessionThatIsGoneIsBegunAnewOnce() async throws {
        let gone = ScriptedTransport.Step.error(6000, 1_363_041)
        let bench = try FacebookBench([Self.begun, gone, Self.begun, Self.done, .answer(#"{"success":true}"#)])
        _ = try await bench.skippingWaits { try await bench.facebook.upload(Self.file, to: "1/videos") }
        #expect(bench.transport.received.filter { $0.text.hasPrefix("upload_phase=start") }.count == 2)
        let never = try FacebookBench([Self.begun, gone, Self.begun, gone])
        let error = await #expect(throws: RecoveryError.self) {
            try await never.skippingWaits { try await never.facebook.upload(Self.file, to: "1/videos") }
        }
        #expect(error?.kind == .flowExpired)
        // A lost answer means no new session.
        let slow = try FacebookBench([Self.begun, Self.lost, Self.done, .answer(#"{"success":true}"#)])
        _ = try await slow.skippingWaits { try await slow.facebook.upload(Self.file, to: "1/videos") }
        #expect(slow.transport.received.filter { $0.text.hasPrefix("upload_phase=start") }.count == 1)
    }

    // MARK: Photos

    @Test func aPhotoIsPublishedOnce() async throws {
        let bench = try FacebookBench([.answer(#"{"id":"p1","post_id":"1_2"}"#)])
        let receipt = try await bench.facebook.uploadPhoto(
            FacebookUpload(Array("PNG".utf8), fileName: "a.png"),
            to: "1/photos",
            fields: ["caption": "Hello"]
        )
        #expect(receipt.id == "p1" && receipt.answer["post_id"]?.string == "1_2")
        let text = bench.transport.received[0].text
        #expect(text.contains("name=\"caption\"\r\n\r\nHello\r\n"))
        #expect(text.contains("name=\"source\"; filename=\"a.png\""))
        #expect(hosts(bench) == ["graph.facebook.com"])

        for (fields, count) in [(["published": "false"], 2), ([:], 1)] as [(FormFields, Int)] {
            let lost = try FacebookBench([Self.lost, .answer(#"{"id":"p1"}"#)])
            _ = try? await lost.skippingWaits {
                try await lost.facebook.uploadPhoto(Self.file, to: "1/photos", fields: fields)
            }
            #expect(lost.transport.received.count == count)
        }
    }

    // MARK: Other people's bytes

    @Test func anyBodyCanBeSent() async throws {
        let stream = MessageBody(length: 6) {
            AsyncStream { continuation in
                continuation.yield(ArraySlice("abc".utf8))
                continuation.yield(ArraySlice("def".utf8))
                continuation.finish()
            }
        }
        let bench = try FacebookBench([.answer("{}"), .answer("{}")])
        _ = try await bench.facebook.send(
            .post,
            path: "1/files",
            headerFields: [.contentEncoding: "identity"],
            body: ProviderRequest.Content(stream, type: "application/octet-stream")
        )
        _ = try await bench.facebook.send(.post, path: "1/feed", body: .json(["message": "x"]))
        #expect(bench.transport.received.map(\.text) == ["abcdef", #"{"message":"x"}"#])
        #expect(bench.transport.received[0].request.headerFields[.contentType] == "application/octet-stream")
        #expect(bench.transport.received[0].request.headerFields[.contentEncoding] == "identity")
    }

    // MARK: A token that dies on the way

    @Test func aSignInHelpsAnUploadOfTheSamePerson() async throws {
        let bench = try FacebookBench(
            [
                Self.begun, .error(190, 463), .device, .token(), .me, Self.done, .answer(#"{"success":true}"#),
            ],
            credentials: FacebookBench.ada
        )
        let receipt = try await bench.skippingWaits {
            try await bench.facebook.upload(Self.file, to: "1/videos", answering: Person())
        }
        #expect(receipt.id == "901")
        #expect(bench.presented.last == "Bearer tok2")
        #expect(bench.transport.received.filter { $0.text.hasPrefix("upload_phase=start") }.count == 1)

        let other = try FacebookBench(
            [Self.begun, .error(190, 463), .device, .token(), .answer(#"{"id":"2"}"#), Self.done],
            credentials: FacebookBench.ada
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await other.skippingWaits {
                try await other.facebook.upload(Self.file, to: "1/videos", answering: Person())
            }
        }
        #expect(error?.reason == .identityChanged)
    }
}
