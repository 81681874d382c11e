import HTTPRecovery
import HTTPTypes
import Testing

@testable import Transcripts

/// What is read of a pasted text.
@Suite struct TranscriptTests {
    private func read(_ text: String) throws -> PastedExchange {
        try PastedExchange(Array(text.utf8), hints: PastedExchange.Hints(), now: Timestamp(sinceEpoch: .zero))
    }

    private func answer(_ pasted: PastedExchange) -> (status: Int, body: String)? {
        guard case .response(let head, let body) = pasted.exchange.result else { return nil }
        return (head.status.code, String(decoding: body, as: UTF8.self))
    }

    @Test func theLastAnswerCounts() throws {
        let pasted = try read("HTTP/1.1 302 Found\nLocation: /b\n\nmoved\nHTTP/1.1 503 Busy\nRetry-After: 1\n\nbusy\n")
        #expect(try #require(answer(pasted)) == (503, "busy"))
        #expect(!pasted.supposesStatus && pasted.supposesRequest)
    }

    /// Each head ends the body before it, and no body is looked through but the last.
    @Test(.timeLimit(.minutes(5))) func manyAnswersAreReadInOneGo() throws {
        let pasted = try read(String(repeating: "HTTP/1.1 302 Found\nLocation: /b\n\nmoved\n", count: 100_000) + "end")
        #expect(try #require(answer(pasted)) == (302, "moved\nend"))
    }

    /// A character may join to what stands before it.
    @Test(arguments: ["\u{301}", "\u{600}", "\u{0E33}"]) func anyCharacterIsRead(mark: String) throws {
        for line in ["HTTP/1.1 200 OK", "> GET /a HTTP/1.1", "server: x", "", "* talk", "{}"] {
            for text in [line + mark, mark + line, line.map { "\($0)\(mark)" }.joined()] {
                _ = try? read("\(text)\n< HTTP/1.1 404\n\(text)\n\n\(text)")
            }
        }
    }

    @Test func thereIsSomethingToRead() {
        #expect(throws: PastedExchange.Unreadable.self) { try read(" \n\t\r\n") }
    }
}
