import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("What takes Facebook's token away, and what does not")
struct FacebookClearingTests {
    private static func info(_ isValid: Bool, _ subcode: Int? = nil) -> ScriptedTransport.Step {
        let error = subcode.map { #","error":{"code":190,"message":"m","subcode":\#($0)}"# } ?? ""
        return .answer(#"{"data":{"is_valid":\#(isValid),"app_id":"77","scopes":["email"]\#(error)}}"#)
    }

    // MARK: The exchange

    private static let harmless: [(String, [ScriptedTransport.Step], Outcome.Kind)] = [
        ("401", [.status(401)], .credentialRejected),
        ("401 page", [.status(401, ["content-type": "text/html"], body: "<html>proxy</html>")], .unreadable),
        ("401 challenge", [.status(401, ["www-authenticate": "Basic realm=\"proxy\""])], .credentialRejected),
        ("190 in a 500", [.error(190, 463, 500)], .credentialRejected),
        ("checkpointed", [.error(190), info(false, 459)], .userActionRequired),
        ("alive", [.error(190), info(true)], .credentialRejected),
        ("debugger out of order", [.error(190)] + Array(repeating: .status(500), count: 3), .unavailable),
    ]

    /// Whatever else the exchange comes to, the token that was to be exchanged stays and still serves.
    @Test(arguments: harmless.indices)
    func anExchangeThatFailsTakesNothingAway(index: Int) async throws {
        let (name, steps, kind) = Self.harmless[index]
        let bench = try FacebookBench(steps, app: FacebookBench.service)
        let error = await #expect(throws: RecoveryError.self, "\(name)") {
            try await bench.skippingWaits { try await bench.facebook.refresh() }
        }
        #expect(error?.kind == kind, "\(name)")
        #expect(error?.outcome.tokenAction == .keep, "\(name)")
        #expect(try await bench.credentials.accessToken == "tok1", "\(name)")
        #expect(!bench.events.words.contains("clear access"), "\(name)")
    }

    private static let bare: [(String, ScriptedTransport.Step)] = [
        ("401", .status(401)), ("401 challenge", .status(401, ["www-authenticate": "Basic realm=\"proxy\""])),
        ("401 without a code", .status(401, [:], body: "{}")),
    ]

    /// A refusal without a word of Facebook's proves nothing about the person's session, nor about the app.
    @Test(arguments: bare.indices)
    func aBareRefusalIsNoEndOfTheSession(index: Int) async throws {
        let (name, step) = Self.bare[index]
        for steps in [[step], [.error(190), step]] {
            let bench = try FacebookBench(steps, app: FacebookBench.service)
            let error = await #expect(throws: RecoveryError.self, "\(name)") {
                try await bench.skippingWaits { try await bench.facebook.refresh() }
            }
            #expect(error?.kind != .reauthenticationRequired && error?.outcome.tokenAction == .keep, "\(name)")
            #expect(error?.userMessage.contains("not known") == true, "\(name): \(error?.userMessage ?? "")")
            #expect(bench.transport.received.count == steps.count, "\(name)")
        }
    }

    @Test(arguments: [(463, nil), (nil, false), (nil, nil)] as [(Int?, Bool?)])
    func anExchangeThatIsDefinitelyRefusedEndsTheSession(subcode: Int?, debugged: Bool?) async throws {
        var steps: [ScriptedTransport.Step] = [.error(190, subcode)]
        if subcode == nil { steps.append(debugged == nil ? .error(190) : Self.info(false)) }
        let bench = try FacebookBench(steps, app: FacebookBench.service)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.refresh() }
        }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(try await bench.credentials == Credentials())
        #expect(bench.transport.received.count == steps.count)
    }

    // MARK: The debugger

    private static let silent: [(String, [ScriptedTransport.Step], Outcome.Kind)] = [
        ("500", Array(repeating: .status(500), count: 3), .unavailable),
        ("page", Array(repeating: .answer("<html>", ["content-type": "text/html"]), count: 3), .unreadable),
        ("no data", [.answer("{}")], .unreadable),
        ("limit", [.error(4, nil, 403, ["retry-after": "600"])], .rateLimited),
        ("lost", Array(repeating: .fail(.connectionLost, .unknown), count: 3), .transport),
        ("outage", Array(repeating: .error(2, nil, 500), count: 3), .unavailable),
    ]

    /// A token is not dead because nobody can say that it lives.
    @Test(arguments: silent.indices)
    func aDebuggerThatDoesNotAnswerTakesNothingAway(index: Int) async throws {
        let (name, steps, kind) = Self.silent[index]
        let bench = try FacebookBench([.error(190)] + steps, app: FacebookBench.service)
        let error = await #expect(throws: RecoveryError.self, "\(name)") {
            try await bench.skippingWaits { try await bench.facebook.send(path: "me") }
        }
        #expect(error?.kind == kind, "\(name)")
        #expect(error?.outcome.tokenAction == .keep, "\(name)")
        // The call itself was refused, whatever became of the question.
        #expect(error?.outcome.processed == .no, "\(name)")
        #expect((error?.cause as? RecoveryError)?.outcome.code == "190", "\(name)")
        #expect(try await bench.credentials.accessToken == "tok1", "\(name)")
    }

    // MARK: Items of a batch

    private static func items(_ bodies: (Int, String)...) -> ScriptedTransport.Step {
        let items = bodies.map { code, body in
            #"{"code":\#(code),"headers":[],"body":\#(JSONValue.string(body).description)}"#
        }
        return .answer("[" + items.joined(separator: ",") + "]")
    }

    @Test func aRefusedItemTakesTheStoredTokenAwayOnce() async throws {
        let dead = Recorded.error(190, 463)
        let bench = try FacebookBench([Self.items((400, dead), (200, "{}"), (400, dead))])
        let answers = try await bench.facebook.batch([
            FacebookBatchRequest(path: "1"), FacebookBatchRequest(path: "2"), FacebookBatchRequest(path: "3"),
        ])
        #expect(answers.map(\.outcome.kind) == [.credentialRejected, .ok, .credentialRejected])
        #expect(answers[0].outcome.tokenAction == .clear)
        #expect(try await bench.credentials == Credentials())
        #expect(bench.events.words.filter { $0 == "clear access" }.count == 1)
    }

    @Test func anItemsDoubtfulRefusalIsAskedAboutOnce() async throws {
        let doubtful = Recorded.error(190)
        let bench = try FacebookBench(
            [Self.items((400, doubtful), (400, doubtful)), Self.info(false, 459)],
            app: FacebookBench.service
        )
        let answers = try await bench.facebook.batch([
            FacebookBatchRequest(path: "1"), FacebookBatchRequest(path: "2"),
        ])
        #expect(answers.map(\.outcome.kind) == [.userActionRequired, .userActionRequired])
        #expect(answers.map(\.outcome.tokenAction) == [.keep, .keep])
        #expect(try await bench.credentials.accessToken == "tok1")
        #expect(bench.transport.received.count == 2)

        let silent = try FacebookBench(
            [Self.items((400, doubtful))] + Array(repeating: .status(500), count: 3),
            app: FacebookBench.service
        )
        let kept = try await silent.skippingWaits {
            try await silent.facebook.batch([FacebookBatchRequest(path: "1")])
        }
        #expect(kept[0].outcome.tokenAction == .keep)
        #expect(kept[0].outcome.code == "190")
        #expect(try await silent.credentials.accessToken == "tok1")
    }

    @Test func anItemsOwnTokenTouchesNoStoredOne() async throws {
        let bench = try FacebookBench([Self.items((400, Recorded.error(190, 463)))])
        let answers = try await bench.facebook.batch([FacebookBatchRequest(path: "1", token: "page")])
        #expect(answers[0].outcome.tokenAction == .clear)
        #expect(try await bench.credentials.accessToken == "tok1")
    }

    @Test func aLateItemTouchesNoNewerToken() async throws {
        let tokens = InMemoryTokenStore(FacebookBench.held)
        let body = JSONValue.string(Recorded.error(190, 463)).description
        let bench = try FacebookBench(
            [
                .run { _ in
                    try await tokens.update { $0.accessToken = "tok2" }
                    return .scripted(200, body: #"[{"code":400,"body":\#(body)}]"#)
                }
            ],
            tokens: tokens
        )
        _ = try await bench.facebook.batch([FacebookBatchRequest(path: "1")])
        #expect(await tokens.read().credentials.accessToken == "tok2")
    }
}
