import HTTPRecovery
import HTTPTypes
import OktaAuth
import Testing

/// Steps of which nobody knows what became.
extension OktaEngineAnswerTests {
    static let steps: [(path: String, remedy: Outcome.Remedy)] = [
        ("challenge/answer", .resync), ("challenge/resend", .resync), ("challenge/send", .resync),
        ("identify", .resync), ("challenge", .resync), ("credential/enroll", .resync), ("enroll/new", .resync),
        ("enroll/update", .resync), ("skip", .resync), ("introspect", .retry), ("challenge/poll", .retry),
        ("authenticators/poll", .retry), ("poll", .retry), ("identify/select", .retry), ("enroll", .retry),
        ("unlock-account", .retry), ("recover", .retry), ("cancel", .retry),
    ]

    /// An answer counts, a message goes out: where the flow stands is read, and only what spends nothing goes again.
    @Test(arguments: steps.indices)
    func whatMayHaveBeenTakenIsReadAndNotRepeated(index: Int) {
        let (path, remedy) = Self.steps[index]
        func lost(_ certainty: TransportError.Certainty) -> Outcome {
            let exchange = Exchange(
                method: .post,
                path: "/idp/idx/\(path)",
                presented: .state,
                result: .failure(TransportError(.connectionLost, certainty)),
                now: Timestamp(secondsSinceEpoch: Recorded.now)
            )
            return OktaClassifier().classify(exchange)
        }
        func outage(_ status: Int, _ body: String = "", _ lines: [(String, String)] = []) -> Outcome {
            Recorded(status: status, body: body, lines: lines, path: "/idp/idx/\(path)").outcome
        }
        #expect(lost(.unknown).remedies == [remedy] && lost(.unknown).kind == .transport)
        #expect(lost(.neverSent).remedies == [.retry] && lost(.notProcessed).remedies == [.retry])
        #expect(outage(500).remedies == [remedy] && outage(502, "<html>").remedies == [remedy])
        #expect(outage(500, Recorded.error("E0000009")).remedies == [remedy])
        // Nothing was done there, and it is said when to come back.
        #expect(outage(503, "", [("retry-after", "5")]).remedies == [.wait])
    }
}
