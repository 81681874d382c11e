import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("The vendor's table of errors at work")
struct FacebookErrorTableTests {
    private static let sent = """
        [{"name":"transient","items":[{"code":7001},{"code":10,"subcodes":[5]},{"code":190,"subcodes":[459]}]},
         {"name":"login_recoverable","items":[{"code":7002},{"code":4},{"code":200},{"code":190,"subcodes":[464]}],
          "recovery_message":"Again, please."},
         {"name":"other","items":[{"code":1}]}]
        """

    private static let table = (try? JSONValue(parsing: sent)).flatMap { FacebookErrorConfiguration($0) }

    private static func outcome(
        _ code: Int,
        _ subcode: Int? = nil,
        _ status: Int = 400,
        more: String = "",
        presented: Outcome.CredentialKind? = .access
    ) -> Outcome {
        let exchange = Recorded(status: status, body: Recorded.error(code, subcode, more: more), presented: presented)
        return FacebookClassifier(errors: table).classify(exchange.exchange)
    }

    @Test func theTableDecidesAboutCodesThatTellNothingBetter() {
        #expect(Self.outcome(7001).remedies == [.retry])
        #expect(Self.outcome(7001).facebookCategory == .transient)
        #expect(Self.outcome(10, 5).kind == .unavailable)
        let recoverable = Self.outcome(7002)
        #expect(recoverable.remedies == [.reauthenticate])
        #expect(recoverable.userMessage == "Again, please.")
        #expect(recoverable.tokenAction == .keep)
        #expect(recoverable.facebookCategory == .recoverable)
        #expect(Self.outcome(7002, nil, 500).remedies == [.reauthenticate])
        // What the table calls curable by a sign-in keeps its kind.
        let permission = Self.outcome(200)
        #expect(permission.kind == .permissionDenied && permission.remedies == [.reauthenticate, .contactAdmin])
        #expect(permission.userMessage == "Again, please." && permission.facebookCategory == .recoverable)
        // What it calls neither is not repeated.
        #expect(Self.outcome(1).kind == .unavailable && Self.outcome(1).remedies.isEmpty)
        #expect(Self.outcome(1).facebookCategory == .other)
    }

    @Test func noTableTurnsALimitOrARefusalIntoSomethingElse() {
        #expect(Self.outcome(4).kind == .rateLimited)
        #expect(Self.outcome(190, 459).kind == .userActionRequired)
        #expect(Self.outcome(190, 464).kind == .userActionRequired)
        #expect(Self.outcome(190, 463).tokenAction == .clear)
        // The server's word about the very error counts more than the table.
        #expect(Self.outcome(7002, more: #","is_transient":true"#).remedies == [.retry])
        #expect(Self.outcome(7002, presented: .client).remedies.isEmpty)
    }

    @Test func whatTheTableCallsRecoverableIsSignedInForAndRepeated() async throws {
        let configuration = FacebookConfiguration(errors: Self.table)
        for code in [7002, 200] {
            let bench = try FacebookBench(
                [.error(code), .device, .token(), .me, .answer(#"{"id":"9"}"#)],
                configuration: configuration
            )
            let response = try await bench.skippingWaits {
                try await bench.facebook.send(path: "me/feed", answering: Person())
            }
            #expect(response.status == .ok)
            #expect(bench.presented.last == "Bearer tok2")
            // Without anybody to ask it is told, and nothing is lost.
            let alone = try FacebookBench([.error(code)], configuration: configuration)
            let error = await #expect(throws: RecoveryError.self) { try await alone.facebook.send(path: "me/feed") }
            #expect(error?.remedies.first == .reauthenticate)
            #expect(try await alone.credentials.accessToken == "tok1")
        }
        // A permission that no table speaks of is asked for by nobody.
        let plain = try FacebookBench([.error(200)])
        await #expect(throws: RecoveryError.self) {
            try await plain.facebook.send(path: "me/feed", answering: Person())
        }
        #expect(plain.transport.received.count == 1)
    }

    /// Graph has not said that it was not done: a sign-in does not bring it a second time.
    @Test(arguments: [(7002, 500), (200, 503), (2, 400)])
    func aWriteThatMayBeDoneIsNotRepeatedForTheTable(code: Int, status: Int) async throws {
        let recoverable = #"[{"name":"login_recoverable","items":[{"code":2},{"code":7002},{"code":200}]}]"#
        let table = try #require(FacebookErrorConfiguration(try JSONValue(parsing: recoverable)))
        let refusal = ScriptedTransport.Step.status(status, [:], body: Recorded.error(code))
        let steps = [refusal, .device, .token(), .me, .answer(#"{"id":"9"}"#)]
        let bench = try FacebookBench(steps, configuration: FacebookConfiguration(errors: table))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                try await bench.facebook.send(.post, path: "me/feed", answering: Person())
            }
        }
        #expect(error?.remedies.first == .reauthenticate && error?.outcome.processed == .unknown)
        #expect(bench.transport.received.count == 1)
    }

    @Test func aClientFetchesTheTableThatItUses() async throws {
        let bench = try FacebookBench([
            .answer(#"{"id":"77","ios_sdk_error_categories":\#(Self.sent)}"#), .error(7001), .answer("{}"),
            .error(190, 463), .error(7001),
        ])
        let copy = bench.facebook
        let table = try await bench.facebook.loadErrorConfiguration()
        #expect(table.category(code: 7001) == .transient)
        #expect(table.category(code: 102) == .recoverable)
        #expect(bench.sent == ["GET /v25.0/77?fields=ios_sdk_error_categories"])
        #expect(bench.presented == ["Bearer 77|ct"])
        // All that is made of the client has it.
        let response = try await bench.skippingWaits { try await copy.send(path: "me") }
        #expect(response.status == .ok)
        #expect(bench.transport.received.count == 3)
    }
}
