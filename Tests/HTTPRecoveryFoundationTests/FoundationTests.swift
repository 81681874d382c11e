import HTTPRecovery
import HTTPRecoveryFoundation
import HTTPRecoveryTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The bridges to what programs with Foundation have at hand.
@Suite struct FoundationTests {
    private struct Item: Codable, Hashable {
        var id: Int
        var name: String?
    }

    private static let request = HTTPRequest(method: .post, scheme: "https", authority: "a.example", path: "/items")

    private func client(_ steps: ScriptedTransport.Step...) -> (client: RecoveringClient, transport: ScriptedTransport)
    {
        let transport = ScriptedTransport(steps)
        let runtime = Runtime(time: ManualClock().timeSource())
        return (RecoveringClient(transport: transport, runtime: runtime), transport)
    }

    // MARK: JSON

    @Test func aValueIsSentAndReadAsJSON() async throws {
        let (client, transport) = client(.status(200, [:], body: #"{"id":7,"name":"é\n"}"#))
        let response = try await client.send(Self.request, json: Item(id: 1, name: "a"))
        #expect(try await response.decoded(as: Item.self) == Item(id: 7, name: "é\n"))
        let sent = try #require(transport.received.first)
        #expect(sent.request.headerFields[.contentType] == "application/json")
        let json = try JSONValue(parsing: sent.body)
        #expect(json["id"] == 1 && json["name"] == "a" && json.members?.count == 2)
    }

    @Test func aContentTypeOfTheRequestStays() async throws {
        let (client, transport) = client(.status(200))
        var request = Self.request
        request.headerFields[.contentType] = "application/merge-patch+json"
        _ = try await client.send(request, json: ["a": 1])
        #expect(transport.received.first?.request.headerFields[.contentType] == "application/merge-patch+json")
    }

    @Test(arguments: ["", "null", "[]", "{", #"{"id":"seven"}"#, #"{"name":"a"}"#, "<html>"])
    func whatIsNoSuchValueIsUnreadable(body: String) async throws {
        let (client, _) = client(.status(200, [:], body: body))
        let response = try await client.send(Self.request)
        let error = await #expect(throws: RecoveryError.self) { try await response.decoded(as: Item.self) }
        #expect(error?.kind == .unreadable && error?.reason == .notRecoverable)
        #expect(error?.cause is DecodingError)
        #expect(error?.outcome.status == 200 && error?.history.attempts.count == 1)
        #expect(error?.description.contains("seven") == false, "nothing of the body")
    }

    @Test func aStreamIsReadUpToTheLimit() async throws {
        let (client, _) = client(.status(200, [:], body: #"{"id":1}"# + String(repeating: " ", count: 100)))
        let response = try await client.send(Self.request, options: RequestOptions(buffering: .streamed))
        var small = response
        small.body = MessageBody {
            AsyncStream { stream in
                stream.yield(Array(repeating: 0x20, count: 50)[...])
                stream.finish()
            }
        }
        await #expect(throws: MessageBody.ReadError.tooLarge(limit: 49)) {
            try await small.decoded(as: Item.self, upTo: 49)
        }
        #expect(try await response.decoded(as: Item.self).id == 1)
    }

    @Test func whatCannotBeWrittenIsNotSent() async throws {
        let (client, transport) = client(.status(200))
        await #expect(throws: EncodingError.self) { try await client.send(Self.request, json: Double.nan) }
        #expect(transport.received.isEmpty)
    }

    @Test func treesAndValuesAreTheSame() throws {
        let item = Item(id: 3, name: "x")
        let tree = try JSONValue(encoding: item)
        #expect(tree["id"]?.number?.saturatedInt == 3 && tree["name"]?.string == "x")
        #expect(try tree.decoded(as: Item.self) == item)
        #expect(throws: DecodingError.self) { try JSONValue.null.decoded(as: Item.self) }
    }

    @Test func aBodyIsData() async throws {
        let data = Data([0, 255, 7])
        let body = MessageBody(data)
        #expect(body.length == 3)
        #expect(try await body.data(upTo: 3) == data)
        await #expect(throws: MessageBody.ReadError.tooLarge(limit: 2)) { try await body.data(upTo: 2) }
    }

    // MARK: Time

    @Test(arguments: [0, 1, -1, 1_700_000_000.25, -62_135_596_800, 253_402_300_799])
    func aDateIsItsTimestamp(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(abs(Date(Timestamp(date)).timeIntervalSince(date)) < 1e-5)
    }

    @Test func datesBeyondAllBoundsTrapNobody() {
        #expect(Timestamp(.distantFuture) > Timestamp(.distantPast))
        for seconds in [Double.infinity, -.infinity, .nan, 1e300, -1e300] {
            _ = Date(Timestamp(Date(timeIntervalSince1970: seconds)))
        }
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).sinceEpoch == .longest)
    }

    // MARK: Errors

    @Test(arguments: [
        (1, "1 second"), (2, "2 seconds"), (90, "90 seconds"), (91, "2 minutes"), (5400, "90 minutes"),
        (5401, "2 hours"), (129_600, "36 hours"), (129_601, "2 days"), (0, "1 second"),
    ])
    func anErrorSaysWhenToTryAgain(seconds: Int, words: String) {
        var error = RecoveryError(outcome: Outcome(.rateLimited), reason: .waitExceedsLimit)
        #expect(error.recoverySuggestion == nil && error.retryDate == nil)
        error.retryAfter = .seconds(seconds)
        error.retryAt = Timestamp(secondsSinceEpoch: 1_700_000_000)
        #expect(error.recoverySuggestion == "Try again in \(words).")
        #expect(error.retryDate == Date(timeIntervalSince1970: 1_700_000_000))
    }

    @Test func aTimeThatNobodyCountsTrapsNobody() {
        var error = RecoveryError(outcome: Outcome(.rateLimited), reason: .waitExceedsLimit)
        error.retryAfter = .longest
        #expect(error.recoverySuggestion?.hasPrefix("Try again in ") == true)
    }

    @Test func errorsAreKnownByTheirLocalizedDescription() throws {
        let error: any Error = RecoveryError(outcome: Outcome(.rateLimited), reason: .waitExceedsLimit)
        #expect((error as? any LocalizedError)?.errorDescription == Outcome.Kind.rateLimited.userMessage)
        #expect((error as? any LocalizedError)?.failureReason == "rate_limited reason=wait_exceeds_limit attempts=0")
        let others: [any Error] = [
            TransportError(.cannotConnect, .neverSent, message: "m"), SharedState.StoreError("s"),
            MessageBody.ReadError.alreadyConsumed,
        ]
        for other in others { #expect((other as? any LocalizedError)?.errorDescription == "\(other)") }
        let invalid = #expect(throws: Origin.InvalidURL.self) { try HTTPRequest(url: "nothing") }
        #expect(invalid?.errorDescription?.contains("http://") == true)
    }

    // MARK: Origins

    @Test(arguments: [
        ("https://a.example/x?y#z", "https://a.example"), ("HTTP://A.example:80/", "http://a.example"),
        ("https://a.example:8443", "https://a.example:8443"), ("https://u:p@a.example/", "https://a.example"),
        ("https://[2001:db8::1]:444/x", "https://[2001:db8::1]:444"),
    ])
    func aURLHasAnOrigin(url: String, origin: String) throws {
        let parsed = try #require(URL(string: url))
        let found = try #require(Origin(parsed))
        #expect(found.description == origin)
        #expect(URL(found)?.absoluteString == origin)
        #expect(found == Origin(of: try HTTPRequest(url: origin)), "the same as the core's own reading")
    }

    @Test(arguments: ["/x", "mailto:a@example.com", "file:///etc/passwd", "data:,x"])
    func whatNamesNoHostHasNone(url: String) throws {
        let parsed = try #require(URL(string: url))
        #expect(Origin(parsed) == nil)
    }
}
