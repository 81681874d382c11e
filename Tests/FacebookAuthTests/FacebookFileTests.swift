import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Files that go to Facebook in one request")
struct FacebookFileTests {
    private static let file = FacebookUpload(Array("0123456789".utf8), fileName: "a.png")
    private static let begun = ScriptedTransport.Step.answer(#"{"id":"upload:abc?sig=x"}"#)
    private static let done = ScriptedTransport.Step.answer(#"{"h":"handle"}"#)
    private static let lost = ScriptedTransport.Step.fail(.connectionLost, .unknown)

    private static func has(_ offset: Int) -> ScriptedTransport.Step {
        .answer(#"{"id":"upload:abc","file_offset":\#(offset)}"#)
    }

    private func field(_ name: String, _ bench: FacebookBench) -> [String?] {
        bench.transport.received.map { received in
            HTTPField.Name(name).flatMap { received.request.headerFields[$0] }
        }
    }

    @Test func theHandleIsTold() async throws {
        let bench = try FacebookBench([Self.begun, Self.done])
        let told = Locked<[Int64]>([])
        let receipt = try await bench.facebook.uploadFile(Self.file, type: "image/png") { bytes in
            told.withLock { $0.append(bytes) }
        }
        #expect(receipt.id == "handle")
        #expect(told.withLock { $0 } == [0, 10])
        #expect(
            bench.sent == [
                "POST /v25.0/77/uploads?file_name=a.png&file_length=10&file_type=image%2Fpng",
                "POST /v25.0/upload:abc?sig=x 0123456789",
            ]
        )
        #expect(bench.presented == ["Bearer tok1", "OAuth tok1"])
        #expect(field("file_offset", bench) == [nil, "0"])
    }

    @Test func afterAnInterruptionTheRestFollows() async throws {
        for interruption in [Self.lost, .status(502), .error(1), .error(2, nil, 500)] {
            let bench = try FacebookBench([Self.begun, interruption, Self.has(4), Self.lost, Self.has(9), Self.done])
            let receipt = try await bench.skippingWaits {
                try await bench.facebook.uploadFile(Self.file, type: "image/png")
            }
            #expect(receipt.id == "handle")
            #expect(bench.transport.received.map(\.text) == ["", "0123456789", "", "456789", "", "9"])
            #expect(field("file_offset", bench) == [nil, "0", nil, "4", nil, "9"])
            #expect(bench.sent[2] == "GET /v25.0/upload:abc?sig=x")
            #expect(bench.presented[2] == "OAuth tok1")
        }
    }

    @Test func anUploadThatDoesNotComeForwardEnds() async throws {
        let steps = (0..<9).flatMap { _ in [Self.lost, Self.has(0)] }
        let bench = try FacebookBench([Self.begun] + steps)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.uploadFile(Self.file, type: "image/png") }
        }
        #expect(error?.reason == .attemptsExhausted && error?.kind == .transport)
        #expect(bench.transport.received.filter { $0.text == "0123456789" }.count == 5)
        let refused = try FacebookBench([Self.begun, .error(100)])
        await #expect(throws: RecoveryError.self) {
            try await refused.facebook.uploadFile(Self.file, type: "image/png")
        }
        #expect(refused.transport.received.count == 2)
    }

    @Test(arguments: [#"{"id":"upload:a/../me"}"#, #"{"id":"me"}"#, #"{"id":"upload:a b"}"#, "{}"])
    func anAddressThatIsNoneIsNotFollowed(body: String) async throws {
        let bench = try FacebookBench([.answer(body), Self.done])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.uploadFile(Self.file, type: "image/png")
        }
        #expect(error?.kind == .unreadable)
        #expect(bench.transport.received.count == 1)
    }

    @Test(arguments: [-1, 11])
    func anOffsetBeyondTheFileIsNoAnswer(offset: Int) async throws {
        let bench = try FacebookBench([Self.begun, Self.lost, Self.has(offset)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.uploadFile(Self.file, type: "image/png") }
        }
        #expect(error?.kind == .unreadable)
    }

    private static let url = "https://rupload.facebook.com/video-upload/v25.0/901"

    @Test func aReelGoesWhereTheAnswerSays() async throws {
        let status = ScriptedTransport.Step.answer(
            #"{"status":{"uploading_phase":{"status":"in_progress","bytes_transfered":6}}}"#
        )
        let bench = try FacebookBench([Self.lost, status, .answer(#"{"success":true}"#)])
        let receipt = try await bench.skippingWaits {
            try await bench.facebook.uploadFile(Self.file, at: Self.url, of: "901", as: .page("p1"))
        }
        #expect(receipt.id == "901")
        #expect(bench.transport.received.map(\.text) == ["0123456789", "", "6789"])
        #expect(bench.presented == ["OAuth p1", "Bearer p1", "OAuth p1"])
        #expect(field("offset", bench) == ["0", nil, "6"])
        #expect(field("file_size", bench) == ["10", nil, "10"])
        #expect(bench.sent[1] == "GET /v25.0/901?fields=status")
        #expect(bench.transport.received.map(\.request.authority)[0] == "rupload.facebook.com")
    }

    @Test(arguments: ["https://evil.example.com/x", "http://rupload.facebook.com/x", "nonsense"])
    func noTokenGoesAnywhereElse(url: String) async throws {
        let bench = try FacebookBench([.answer(#"{"success":true}"#)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.uploadFile(Self.file, at: url, of: "901")
        }
        #expect(error?.kind == .invalidRequest && error?.outcome.parameter == "upload_url")
        #expect(bench.transport.received.isEmpty)
    }

    @Test func aSignInHelpsHereToo() async throws {
        let bench = try FacebookBench(
            [Self.begun, .error(190, 463), .device, .token(), .me, Self.done],
            credentials: FacebookBench.ada
        )
        let receipt = try await bench.skippingWaits {
            try await bench.facebook.uploadFile(Self.file, type: "image/png", answering: Person())
        }
        #expect(receipt.id == "handle")
        #expect(bench.presented.last == "OAuth tok2")
    }
}
