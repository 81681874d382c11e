import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("What belongs together in Facebook's batches")
struct FacebookBatchTests {
    private static func items(_ items: String...) -> ScriptedTransport.Step {
        .answer("[" + items.joined(separator: ",") + "]")
    }

    private static func item(_ code: Int, _ body: String, after seconds: Int? = nil) -> String {
        let headers = seconds.map { #"{"name":"Retry-After","value":"\#($0)"}"# } ?? ""
        return #"{"code":\#(code),"headers":[\#(headers)],"body":\#(JSONValue.string(body).description)}"#
    }

    private static let ok = item(200, #"{"id":"1"}"#)
    private static let post = FacebookBatchRequest(.post, path: "2/feed", form: ["message": "x"])

    /// The paths of each batch that was sent.
    private static func paths(_ bench: FacebookBench) throws -> [[String]] {
        try bench.transport.received.compactMap { received in
            let form = FormFields(parsing: received.text.utf8)
            guard let batch = form["batch"].first else { return nil }
            return (try JSONValue(parsing: batch.reveal()).array ?? []).compactMap { $0["relative_url"]?.string }
        }
    }

    private static func run(
        _ bench: FacebookBench,
        _ requests: [FacebookBatchRequest],
        maxAttempts: Int = 3
    ) async throws -> [FacebookBatchAnswer] {
        try await bench.skippingWaits { try await bench.facebook.batch(requests, maxAttempts: maxAttempts) }
    }

    /// Nobody can sign in for the app: a refusal of its token is a matter of its settings.
    @Test func anItemIsJudgedByTheTokenOfItsBatch() async throws {
        let refused = Self.items(Self.item(400, Recorded.error(190)))
        for (token, kind) in [(FacebookToken.app, Outcome.Kind.misconfigured), (.stored, .credentialRejected)] {
            let steps = [refused, .status(400, [:], body: Recorded.error(190))]
            let bench = try FacebookBench(steps, app: FacebookBench.service)
            let answers = try await bench.skippingWaits {
                try await bench.facebook.batch([.init(path: "1")], as: token)
            }
            #expect(answers.map(\.outcome.kind) == [kind])
        }
    }

    // MARK: Rounds that fail

    /// A round that the budget does not pay for was not sent: what the server has answered before stands.
    @Test func aRoundThatIsNotPaidForChangesNoAnswer() async throws {
        func item(_ code: Int, _ body: String) -> String {
            #"{"code":\#(code),"headers":[],"body":\#(JSONValue.string(body).description)}"#
        }
        let answers = "[\(item(500, Recorded.error(2))),\(item(400, Recorded.error(613)))]"
        let bench = try FacebookBench([.answer(answers)]) {
            Recovery(budget: .ratio(.init(ratio: 0, burst: 0)))
        }
        let result = try await bench.skippingWaits {
            try await bench.facebook.batch([.init(path: "1"), .init(path: "2")])
        }
        #expect(result.map(\.outcome.code) == ["2", "613"])
        #expect(result.map { $0.head?.status.code } == [500, 400])
        #expect(bench.transport.received.count == 1)
    }

    /// Nobody knows whether the write was done the second time, so nobody is told that it was not.
    @Test func aRoundWhoseAnswerIsLostIsToldAsThat() async throws {
        let bench = try FacebookBench([
            Self.items(Self.ok, Self.item(400, Recorded.error(613), after: 5)), .fail(.connectionLost, .unknown),
        ])
        let answers = try await Self.run(bench, [FacebookBatchRequest(path: "1"), Self.post])
        #expect(answers.map(\.outcome.kind) == [.ok, .transport])
        #expect(answers[1].outcome.processed == .unknown)
        #expect(answers.map(\.attempts) == [1, 2])
        #expect(answers[1].head == nil)
    }

    /// A round that never left counts as none.
    @Test func aRoundThatIsNotSentIsNoAttempt() async throws {
        let tokens = InMemoryTokenStore(FacebookBench.held)
        let body = JSONValue.string(Recorded.error(613)).description
        let bench = try FacebookBench(
            [
                .run { _ in
                    // Somebody signs out meanwhile.
                    try await tokens.update { $0.accessToken = nil }
                    return .scripted(
                        200,
                        body: #"[{"code":400,"headers":[{"name":"Retry-After","value":"5"}],"body":\#(body)}]"#
                    )
                }
            ],
            tokens: tokens
        )
        let answers = try await Self.run(bench, [Self.post])
        #expect(answers[0].outcome.processed == .no)
        #expect(answers[0].attempts == 1)
        #expect(bench.transport.received.count == 1)
    }

    @Test func aRoundIsNotSentForSomebodyElse() async throws {
        let bench = try FacebookBench([.me])
        _ = try await bench.facebook.currentUser()
        let tokens = bench.tokens
        let limited = Self.item(400, Recorded.error(613), after: 5)
        let grace = JSONValue.Member("facebook_profile", try JSONValue(parsing: #"{"id":"2","name":"Grace"}"#))
        bench.transport.append([
            .run { _ in
                // Another process signs somebody else in.
                try await tokens.update { credentials in
                    credentials.accessToken = "other"
                    credentials.others = [grace]
                }
                return .scripted(200, body: "[\(limited)]")
            }, Self.items(Self.ok),
        ])
        let answers = try await Self.run(bench, [Self.post])
        #expect(answers[0].outcome.kind == .stateConflict)
        #expect(answers[0].outcome.processed == .no)
        #expect(try Self.paths(bench).count == 1)
    }

    // MARK: More than fifty

    private static let fifty = ScriptedTransport.Step.answer(
        "[" + Array(repeating: ok, count: 50).joined(separator: ",") + "]"
    )

    @Test func aLaterPartsFailureTakesNoEarlierAnswerAway() async throws {
        let bench = try FacebookBench([Self.fifty, .error(100), Self.items(Self.ok)])
        let answers = try await Self.run(bench, (0..<101).map { FacebookBatchRequest(.post, path: "\($0)") })
        #expect(answers.count == 101)
        #expect(answers[..<50].allSatisfy { $0.outcome.kind == .ok })
        #expect(answers[50..<100].allSatisfy { $0.outcome.kind == .invalidRequest && $0.attempts == 1 })
        #expect(answers[100].outcome.kind == .ok)
    }

    @Test(arguments: [true, false])
    func aDependencyAcrossTwoPartsIsNoticedBeforeAnythingIsSent(isNamed: Bool) async throws {
        var requests = (0..<51).map { FacebookBatchRequest(path: "\($0)") }
        requests[49].name = "a"
        if isNamed { requests[50].dependsOn = "a" } else { requests[50].path = "?ids={result=a:$.id}" }
        let bench = try FacebookBench([Self.fifty])
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.batch(requests) }
        #expect(error?.outcome.parameter == "depends_on")
        #expect(bench.transport.received.isEmpty)
    }

    // MARK: Gates

    private static let insights = FacebookBatchRequest(path: "act_1/insights", name: "a")

    /// Closes the gate of the insights of one account.
    private static func limited(_ seconds: Int) -> ScriptedTransport.Step {
        .error(80_000, nil, 400, ["retry-after": "\(seconds)"])
    }

    @Test(arguments: [true, false])
    func whatNeedsAHeldItemIsHeldToo(isNamed: Bool) async throws {
        let bench = try FacebookBench([Self.limited(600), Self.items(Self.ok)])
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "act_1/insights") }
        let child =
            isNamed
            ? FacebookBatchRequest(.post, path: "2/feed", form: ["message": "x"], dependsOn: "a")
            : FacebookBatchRequest(.post, path: "2/feed", form: ["message": "{result=a:$.id}"])
        let answers = try await Self.run(bench, [Self.insights, child, FacebookBatchRequest(path: "3")])
        #expect(answers.map(\.outcome.kind) == [.rateLimited, .rateLimited, .ok])
        #expect(answers.map(\.outcome.processed) == [.no, .no, .yes])
        #expect(answers.map(\.attempts) == [0, 0, 1])
        #expect(try Self.paths(bench).last == ["3"])
    }

    /// What an item states is kept also where the tokens cannot be read any more that it was asked with.
    @Test func aStatedWaitIsKeptWhereTheTokensAreLost() async throws {
        let tokens = LosableTokens(FacebookBench.held)
        let bench = try FacebookBench(tokens: tokens)
        let limited = Self.item(400, Recorded.error(80_000), after: 600)
        bench.transport.append([
            .run { _ in
                tokens.isLost.withLock { $0 = true }
                return .scripted(200, body: "[\(limited)]")
            }, Self.items(Self.ok),
        ])
        let first = try await Self.run(bench, [Self.insights], maxAttempts: 1)
        tokens.isLost.withLock { $0 = false }
        let second = try await Self.run(bench, [Self.insights], maxAttempts: 1)
        #expect((first + second).map(\.outcome.kind) == [.rateLimited, .rateLimited])
        #expect((first + second).map(\.attempts) == [1, 0] && bench.transport.received.count == 1)
    }

    @Test func whatAShortGateHeldIsSentWhenItOpens() async throws {
        let bench = try FacebookBench([Self.limited(1), Self.items(Self.ok), Self.items(Self.ok, Self.ok)]) {
            Recovery(maxAttempts: 1)
        }
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "act_1/insights") }
        let child = FacebookBatchRequest(.post, path: "2/feed", form: ["message": "x"], dependsOn: "a")
        let answers = try await Self.run(bench, [Self.insights, child, FacebookBatchRequest(path: "3")])
        #expect(answers.map(\.outcome.kind) == [.ok, .ok, .ok])
        #expect(answers.map(\.attempts) == [1, 1, 1])
        #expect(try Self.paths(bench) == [["3"], ["act_1/insights", "2/feed"]])
    }

    // MARK: Again, together

    /// Its text comes from another's answer, so it is never sent without that one.
    @Test(arguments: ["?ids={result=a:$.data.*.id}", "?ids=%7Bresult%3Da%3A$.data.*.id%7D"])
    func whatUsesAnAnswerIsSentAgainWithTheOneThatGivesIt(path: String) async throws {
        let bench = try FacebookBench([
            Self.items(Self.ok, Self.item(500, Recorded.error(2))), Self.items(Self.ok, Self.ok),
        ])
        let requests = [FacebookBatchRequest(path: "1", name: "a"), FacebookBatchRequest(path: path)]
        let answers = try await Self.run(bench, requests)
        #expect(answers.map(\.outcome.kind) == [.ok, .ok])
        #expect(try Self.paths(bench) == [["1", path], ["1", path]])
    }

    /// Only the one that gave the answer could bring it again, and its effect is done.
    @Test func aWriteThatIsDoneIsNotRepeatedForWhatUsesIt() async throws {
        let bench = try FacebookBench([Self.items(Self.ok, Self.item(500, Recorded.error(2)))])
        let parent = FacebookBatchRequest(.post, path: "1/feed", form: ["message": "x"], name: "a")
        let child = FacebookBatchRequest(path: "{result=a:$.id}")
        let answers = try await Self.run(bench, [parent, child])
        #expect(answers.map(\.outcome.kind) == [.ok, .unavailable])
        #expect(answers.map(\.attempts) == [1, 1])
        #expect(bench.transport.received.count == 1)
    }

    @Test func whatFailedForItsParentComesAlongWhenThatIsRepeated() async throws {
        let bench = try FacebookBench([
            Self.items(Self.item(500, Recorded.error(2)), "null", "null"), Self.items(Self.ok, Self.ok, Self.ok),
        ])
        let requests = [
            FacebookBatchRequest(path: "1", name: "a"),
            FacebookBatchRequest(.post, path: "2/feed", form: ["message": "x"], name: "b", dependsOn: "a"),
            FacebookBatchRequest(.post, path: "3/feed", form: ["message": "{result=b:$.id}"]),
        ]
        let answers = try await Self.run(bench, requests)
        #expect(answers.map(\.outcome.kind) == [.ok, .ok, .ok])
        #expect(answers.map(\.attempts) == [2, 2, 2])
        #expect(try Self.paths(bench)[1] == ["1", "2/feed", "3/feed"])
    }

    @Test func whatFailedForAParentThatStaysRefusedIsNotRepeated() async throws {
        let bench = try FacebookBench([Self.items(Self.item(400, Recorded.error(100)), "null")])
        let requests = [
            FacebookBatchRequest(path: "1", name: "a"),
            FacebookBatchRequest(.post, path: "2/feed", form: ["message": "x"], dependsOn: "a"),
        ]
        let answers = try await Self.run(bench, requests)
        #expect(answers[0].outcome.kind == .invalidRequest)
        #expect(answers[1].outcome.isFailure)
        #expect(answers[1].outcome.processed == .no)
        #expect(bench.transport.received.count == 1)
    }

    /// A write whose own end is unknown is not repeated because its parent is.
    @Test func aWriteThatMayBeDoneDoesNotComeAlong() async throws {
        let bench = try FacebookBench([
            Self.items("null", "null"), Self.items(Self.ok),
        ])
        let requests = [
            FacebookBatchRequest(path: "1", name: "a"),
            FacebookBatchRequest(.post, path: "2/feed", form: ["message": "x"], dependsOn: "a"),
        ]
        let answers = try await Self.run(bench, requests)
        #expect(answers.map(\.outcome.kind) == [.ok, .unavailable])
        #expect(answers[1].outcome.processed == .unknown)
        #expect(try Self.paths(bench) == [["1", "2/feed"], ["1"]])
    }

    @Test func aSuccessIsNotLostWhereItsRepetitionFails() async throws {
        let failing = Self.item(500, Recorded.error(2))
        let bench = try FacebookBench([
            Self.items(Self.ok, failing), Self.items(failing, "null"), Self.items(failing, "null"),
        ])
        let requests = [
            FacebookBatchRequest(path: "1", name: "a"), FacebookBatchRequest(path: "{result=a:$.id}"),
        ]
        let answers = try await Self.run(bench, requests)
        #expect(answers.map(\.outcome.kind) == [.ok, .unavailable])
        #expect(answers[0].json?["id"]?.string == "1")
    }

    @Test(.timeLimit(.minutes(30)))
    func itemsThatNeedEachOtherEnd() async throws {
        let bench = try FacebookBench((0..<3).map { _ in Self.items("null", "null") })
        let requests = [
            FacebookBatchRequest(path: "1", name: "a", dependsOn: "b"),
            FacebookBatchRequest(path: "2", name: "b", dependsOn: "a"),
        ]
        let answers = try await Self.run(bench, requests)
        #expect(answers.map(\.outcome.kind) == [.unavailable, .unavailable])
    }
}
