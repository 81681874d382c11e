import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A player tells identifiers apart that are not in its cassette.
@Suite struct CassetteIdentifierTests {
    private static let api = "https://api.example.com"

    private func send(
        _ transport: CassetteTransport,
        _ path: String,
        _ body: String? = nil
    ) async throws -> Int {
        let request = try HTTPRequest(method: body == nil ? .get : .post, url: Self.api + path)
        let body = body.map { MessageBody($0) }
        return try await transport.send(request, body: body, options: AttemptOptions()).head.status.code
    }

    /// A player of what was asked, with the statuses 201, 202 and so on.
    private func player(_ asked: [(path: String, body: String?)]) async throws -> CassetteTransport {
        let steps = asked.indices.map { ScriptedTransport.Step.status(201 + $0) }
        let recorder = CassetteTransport(recording: ScriptedTransport(steps))
        for (path, body) in asked { _ = try await send(recorder, path, body) }
        let text = recorder.cassette.text
        #expect(!text.contains("12345") && !text.contains("56789"), "\(text)")
        return CassetteTransport(playing: try Cassette(parsing: Array(text.utf8)))
    }

    @Test(
        arguments: [
            { "/orders/\($0)" }, { "/orders?id=\($0)" }, { "/orders?order_id=\($0)&page=1" }, { "/users/\($0)/orders" },
        ] as [@Sendable (String) -> String]
    )
    func anIdentifierIsOneFromThenOn(path: @Sendable (String) -> String) async throws {
        let (one, other) = (path("12345"), path("56789"))
        let player = try await player([(one, nil), (other, nil), (one, nil), (other, nil)])
        // The same ones, in another order where it is known which is which.
        #expect(try await send(player, one) == 201)
        #expect(try await send(player, one) == 203)
        await #expect(throws: CassetteTransport.Mismatch.self) { try await send(player, one) }
        #expect(try await send(player, other) == 202)
        await #expect(throws: CassetteTransport.Mismatch.self) { try await send(player, path("99999")) }
        #expect(try await send(player, other) == 204)
    }

    @Test func identifiersInBodiesAreToldApart() async throws {
        func body(_ id: String) -> String { #"{"order_id":"\#(id)","note":"\#(id)-note"}"# }
        let player = try await player([("/a", body("12345")), ("/a", body("56789")), ("/a", body("12345"))])
        #expect(try await send(player, "/a", body("77777")) == 201)
        #expect(try await send(player, "/a", body("77777")) == 203)
        #expect(try await send(player, "/a", body("88888")) == 202)
    }

    /// What is kept alike in both fits better than what stands for anything.
    @Test func aRouteIsNoIdentifier() async throws {
        let player = try await player([("/orders/1234567", nil), ("/orders/search", nil)])
        #expect(try await send(player, "/orders/search") == 202)
        #expect(try await send(player, "/orders/7654321") == 201)
    }

    @Test func anIdentifierIsTheSameInAnswers() async throws {
        let recorder = CassetteTransport(
            recording: ScriptedTransport([
                .status(201), .status(202, body: #"{"id":"order_1234567","next":"order_5678912"}"#), .status(203),
                .status(204),
            ])
        )
        for path in ["/orders/order_1234567/lines", "/orders", "/orders/order_5678912", "/orders/order_1234567"] {
            _ = try await send(recorder, path)
        }
        let cassette = recorder.cassette
        #expect(
            cassette.exchanges.map(\.path) == [
                "/orders/redacted-id-1/lines", "/orders", "/orders/redacted-1", "/orders/redacted-id-1",
            ]
        )
        let player = CassetteTransport(playing: cassette)
        #expect(try await send(player, "/orders/order_1234567/lines") == 201)
        let request = try HTTPRequest(method: .get, url: Self.api + "/orders")
        let answer = try await player.send(request, body: nil, options: AttemptOptions())
        let json = try JSONValue(parsing: try await answer.body.collect(upTo: 1000))
        #expect(json["id"] == "redacted-id-1" && json["next"] == "redacted-1")
        #expect(try await send(player, "/orders/redacted-1") == 203)
        #expect(try await send(player, "/orders/redacted-id-1") == 204)
    }

    /// Cassettes that were recorded before identifiers had names.
    @Test func whatHasNoNameStandsForAll() async throws {
        func exchange(_ status: Int) -> String {
            #"{"request":{"method":"GET","origin":"\#(Self.api)","path":"/orders/redacted?id=redacted"},"status":\#(status)}"#
        }
        let text = #"{"version":1,"exchanges":[\#(exchange(201)),\#(exchange(202))]}"#
        let player = CassetteTransport(playing: try Cassette(parsing: Array(text.utf8)))
        #expect(try await send(player, "/orders/1234567?id=1") == 201)
        #expect(try await send(player, "/orders/7654321?id=1") == 202)
    }
}
