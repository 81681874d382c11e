import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P9SecretsStaySecret {
    @Test func noPlantedSecretAppearsInEventsOrErrors() async throws {
        let bench = Bench([
            .status(503, ["x-secret": "s3cret"], body: "s3cret"), .status(400, [:], body: "{\"detail\":\"s3cret\"}"),
        ])
        var request = HTTPRequest(
            method: .put,
            scheme: "https",
            authority: "user:s3cret@api.example.com",
            path: "/items?token=s3cret#s3cret"
        )
        request.headerFields[.authorization] = "Bearer s3cret"
        request.headerFields[.cookie] = "id=s3cret"
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.sendSkippingWaits(request, body: MessageBody("password=s3cret"))
        }
        #expect(error.map { "\($0)" }?.contains("s3cret") == false)
        #expect(error?.userMessage.contains("s3cret") == false)
        let urls = bench.events.events.compactMap { event in
            if case .attempt(_, _, let url, _) = event.kind { url } else { nil }
        }
        #expect(urls == ["https://api.example.com/items", "https://api.example.com/items"])
    }

    @Test(arguments: ["Bearer abc", "a b", "{\"token\":1}", "", "x\ny", "é"])
    func whatIsNoIdentifierIsNotLogged(code: String) {
        var outcome = Outcome(.unknown)
        outcome.code = code
        outcome.traceID = code
        let text = RecoveryError(outcome: outcome, reason: .notRecoverable).description
        #expect(text == "unknown reason=not_recoverable attempts=0")
    }
}
