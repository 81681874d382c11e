import Foundation
import HTTPRecovery
import HTTPTypes
import Testing

@testable import URLSessionTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What ends a transfer and its head may come at the same moment: one of them is first, and the other keeps to it.
@Suite struct AttemptTests {
    private let head: URLResponse

    init() throws {
        let url = try #require(URL(string: "http://server.example/"))
        head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:]))
    }

    @Test func aHeadThatComesWhileTheTransferIsEndedIsNotHandedOver() async throws {
        let attempt = Attempt(isAlone: true)
        // Cancelling stands between the decision to end and telling whoever waits.
        attempt.began { [head] in attempt.received(head) }
        attempt.shutDown()
        let error = await #expect(throws: TransportError.self) { _ = try await attempt.response() }
        #expect(error?.code == .shutDown)
        #expect(error?.certainty == .unknown)
    }

    @Test func aHeadThatCameFirstIsHandedOverAndItsBodyEndsWithWhatIsKnown() async throws {
        let attempt = Attempt(isAlone: true)
        attempt.began {}
        attempt.received(head)
        attempt.shutDown()
        let response = try await attempt.response()
        #expect(response.head.status == .ok)
        let error = await #expect(throws: TransportError.self) { _ = try await response.body.collect(upTo: 1) }
        #expect(error?.code == .shutDown)
        #expect(error?.certainty == .answered)
    }
}
