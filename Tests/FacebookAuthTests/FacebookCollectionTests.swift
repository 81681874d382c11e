import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Facebook's batches, pages and uploads")
struct FacebookCollectionTests {
    private static func items(_ items: String...) -> ScriptedTransport.Step {
        .answer("[" + items.joined(separator: ",") + "]")
    }

    private static func item(_ code: Int, _ body: String, _ headers: String = "[]") -> String {
        #"{"code":\#(code),"headers":\#(headers),"body":\#(JSONValue.string(body).description)}"#
    }

    private static let ok = item(200, #"{"id":"1"}"#)

    private static func batch(_ bench: FacebookBench, _ index: Int) throws -> JSONValue {
        let form = FormFields(parsing: bench.transport.received[index].text.utf8)
        return try JSONValue(parsing: form["batch"].first?.reveal() ?? "")
    }

    // MARK: Batches

    @Test func onlyWhatFailedAndIsSafeIsSentAgain() async throws {
        let bench = try FacebookBench([
            Self.items(
                Self.ok,
                "null",
                Self.item(500, Recorded.error(2)),
                Self.item(400, Recorded.error(2)),
                Self.item(400, Recorded.error(100))
            ), Self.items(Self.ok, Self.ok),
        ])
        let answers = try await bench.skippingWaits {
            try await bench.facebook.batch([
                FacebookBatchRequest(path: "1"), FacebookBatchRequest(path: "2"), FacebookBatchRequest(path: "3"),
                FacebookBatchRequest(.post, path: "me/feed", form: ["message": "x"]), FacebookBatchRequest(path: "5"),
            ])
        }
        #expect(answers.map(\.outcome.kind) == [.ok, .ok, .ok, .unavailable, .invalidRequest])
        #expect(answers.map(\.attempts) == [1, 2, 2, 1, 1])
        #expect(answers[0].json?["id"]?.string == "1")
        #expect(answers[4].head?.status.code == 400)
        #expect(try Self.batch(bench, 1).array?.map { $0["relative_url"]?.string } == ["2", "3"])
        #expect(try Self.batch(bench, 0)[3]?["body"]?.string == "message=x")
        #expect(bench.sent[0].hasPrefix("POST /v25.0 batch="))
    }

    @Test func eachItemsTokenHasItsProof() async throws {
        let bench = try FacebookBench([Self.items(Self.ok, Self.ok, Self.ok)], app: FacebookBench.service)
        _ = try await bench.facebook.batch([
            FacebookBatchRequest(path: "1?fields=id", token: "page"),
            FacebookBatchRequest(.post, path: "2/feed", form: ["message": "x"], token: "other"),
            FacebookBatchRequest(path: "3"),
        ])
        let batch = try Self.batch(bench, 0)
        #expect(batch[0]?["relative_url"]?.string == "1?fields=id&access_token=page&appsecret_proof=egap")
        #expect(batch[1]?["body"]?.string == "message=x&access_token=other&appsecret_proof=rehto")
        #expect(batch[2]?["relative_url"]?.string == "3")
        #expect(bench.sent[0].hasPrefix("POST /v25.0?appsecret_proof=1kot "))
        #expect(bench.presented == ["Bearer tok1"])
    }

    @Test func missingItemsAreNoAnswer() async throws {
        let bench = try FacebookBench([Self.items(Self.ok)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.batch([FacebookBatchRequest(path: "1"), FacebookBatchRequest(path: "2")])
        }
        #expect(error?.kind == .unreadable)
    }

    @Test func aBatchThatIsRejectedIsOneError() async throws {
        let bench = try FacebookBench([.error(100)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.batch([FacebookBatchRequest(path: "1")])
        }
        #expect(error?.kind == .invalidRequest)
    }

    @Test func anItemsLimitHoldsItsScope() async throws {
        let headers = #"[{"name":"Retry-After","value":"600"}]"#
        let bench = try FacebookBench([
            Self.items(Self.ok, Self.item(400, Recorded.error(80_000), headers)), Self.items(Self.ok),
        ])
        let requests = [FacebookBatchRequest(path: "me"), FacebookBatchRequest(path: "act_1/insights")]
        let first = try await bench.facebook.batch(requests)
        #expect(first[1].outcome.kind == .rateLimited)
        #expect(first[1].outcome.retryAfter == .seconds(600))
        #expect(bench.transport.received.count == 1)
        let second = try await bench.facebook.batch(requests)
        #expect(second.map(\.outcome.kind) == [.ok, .rateLimited])
        #expect(try Self.batch(bench, 1).array?.count == 1)
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "act_1/insights") }
        #expect(bench.transport.received.count == 2)
    }

    @Test func aWriteThatWasLimitedIsSentAgainWhenItsTimeHasCome() async throws {
        let headers = #"[{"name":"Retry-After","value":"5"}]"#
        let bench = try FacebookBench([
            Self.items(Self.ok, Self.item(400, Recorded.error(613), headers)), Self.items(Self.ok),
        ])
        let answers = try await bench.skippingWaits {
            try await bench.facebook.batch([
                FacebookBatchRequest(path: "1"), FacebookBatchRequest(.post, path: "2/feed", form: ["message": "x"]),
            ])
        }
        #expect(answers.map(\.outcome.kind) == [.ok, .ok])
        #expect(try Self.batch(bench, 1)[0]?["body"]?.string == "message=x")
    }

    @Test func manyGoOutInSeveralBatches() async throws {
        let fifty = ScriptedTransport.Step.answer(
            "[" + Array(repeating: Self.ok, count: 50).joined(separator: ",") + "]"
        )
        let bench = try FacebookBench([fifty, Self.items(Self.ok)])
        let answers = try await bench.facebook.batch((0..<51).map { FacebookBatchRequest(path: "\($0)") })
        #expect(answers.count == 51)
        #expect(try Self.batch(bench, 0).array?.count == 50)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.batch([FacebookBatchRequest(path: "1", dependsOn: "nobody")])
        }
        #expect(error?.outcome.parameter == "depends_on")
    }

    // MARK: Pages

    @Test func pagesAreFollowedWithoutTheTokenInTheirURL() async throws {
        let next = "https://graph.facebook.com/v25.0/1/feed?access_token=old&limit=2&after=a&appsecret_proof=x"
        let bench = try FacebookBench([
            .answer(#"{"data":[{"id":"1"},{"id":"2"}],"paging":{"cursors":{"after":"a"},"next":"\#(next)"}}"#),
            .error(2, nil, 500),
            .answer(#"{"data":[{"id":"3"}],"paging":{"cursors":{"after":"b"}}}"#),
        ])
        let ids = try await bench.skippingWaits {
            var ids: [String?] = []
            for try await page in bench.facebook.pages("1/feed", fields: ["limit": "2"], after: "z") {
                ids += page.data.map { $0["id"]?.string }
            }
            return ids
        }
        #expect(ids == ["1", "2", "3"])
        #expect(
            bench.sent == [
                "GET /v25.0/1/feed?limit=2&after=z", "GET /v25.0/1/feed?limit=2&after=a",
                "GET /v25.0/1/feed?limit=2&after=a",
            ]
        )
        #expect(bench.presented == Array(repeating: "Bearer tok1", count: 3))
    }

    @Test func pagesThatGoRoundInCirclesEnd() async throws {
        let page = #"{"data":[],"paging":{"next":"https://graph.facebook.com/v25.0/1/feed?after=a"}}"#
        let bench = try FacebookBench((0..<9).map { _ in .answer(page) })
        await #expect(throws: RecoveryError.self) {
            for try await _ in bench.facebook.pages("1/feed") {}
        }
        #expect(bench.transport.received.count == 2)
        let bounded = try FacebookBench([.answer(page)])
        for try await page in bounded.facebook.pages("1/feed", maximumPages: 1) { #expect(page.hasNext) }
        #expect(bounded.transport.received.count == 1)
    }

    // MARK: Uploads

    private static let begun = ScriptedTransport.Step.answer(
        #"{"upload_session_id":"up1","video_id":"v","start_offset":"0","end_offset":"4"}"#
    )

    private static func offsets(_ start: Int, _ end: Int) -> ScriptedTransport.Step {
        .answer(#"{"start_offset":"\#(start)","end_offset":"\#(end)"}"#)
    }

    @Test func anUploadGoesOnWhereTheServerSays() async throws {
        let failed = Recorded.error(6000, 1_363_037, more: #","error_data":{"start_offset":"2","end_offset":"6"}"#)
        let bench = try FacebookBench([
            Self.begun, .status(400, [:], body: failed), .fail(.connectionLost, .unknown), Self.offsets(6, 10),
            Self.offsets(10, 10), .answer(#"{"success":true}"#),
        ])
        let told = Locked<[Int64]>([])
        let answer = try await bench.skippingWaits {
            try await bench.facebook.upload(
                FacebookUpload(Array("0123456789".utf8)),
                to: "1/videos",
                finishing: ["title": "t"]
            ) { bytes in told.withLock { $0.append(bytes) } }
        }
        #expect(answer.answer["success"]?.bool == true)
        #expect(told.withLock { $0 } == [0, 2, 6, 10])
        let texts = bench.transport.received.map(\.text)
        #expect(texts[0] == "upload_phase=start&file_size=10")
        #expect(texts[1].contains("\r\n\r\n0123\r\n"))
        #expect(texts[2].contains("\r\n\r\n2345\r\n"))
        #expect(texts[3] == texts[2])
        #expect(texts[4].contains("\r\n\r\n6789\r\n"))
        #expect(texts[5] == "upload_phase=finish&upload_session_id=up1&title=t")
    }

    @Test func anUploadThatDoesNotComeForwardEnds() async throws {
        let failed = Recorded.error(6000, 1_363_019, more: #","error_data":{"start_offset":"0","end_offset":"4"}"#)
        let bench = try FacebookBench([Self.begun] + (0..<20).map { _ in .status(400, [:], body: failed) })
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                try await bench.facebook.upload(FacebookUpload([1, 2, 3, 4]), to: "1/videos")
            }
        }
        #expect(error?.outcome.code == "6000")
        #expect(bench.transport.received.count == 6)
    }

    /// To go back and come forward again is no progress: only bytes that the server never had before are.
    @Test(arguments: [false, true])
    func anUploadThatGoesToAndFroEnds(isRefused: Bool) async throws {
        let answers = (0..<40).map { number in
            let start = number.isMultiple(of: 2) ? 2 : 0
            return isRefused
                ? .status(
                    400,
                    [:],
                    body: Recorded.error(
                        6000,
                        1_363_037,
                        more: #","error_data":{"start_offset":"\#(start)","end_offset":"4"}"#
                    )
                ) : Self.offsets(start, 4)
        }
        let bench = try FacebookBench([Self.begun] + answers)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                try await bench.facebook.upload(FacebookUpload([1, 2, 3, 4]), to: "1/videos")
            }
        }
        #expect(error?.kind == .unavailable && error?.reason == .attemptsExhausted)
        #expect(isRefused ? error?.outcome.code == "6000" : error?.outcome.message?.contains("forward") == true)
        #expect(bench.transport.received.count == 7)
    }

    @Test func offsetsBeyondTheFileAreNoAnswer() async throws {
        let bench = try FacebookBench([Self.begun, Self.offsets(99, 120)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.upload(FacebookUpload([1, 2, 3, 4]), to: "1/videos")
        }
        #expect(error?.kind == .unreadable)
    }
}
