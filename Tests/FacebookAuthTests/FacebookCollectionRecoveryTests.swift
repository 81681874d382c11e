import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("A sign-in in the middle of lists and batches")
struct FacebookCollectionRecoveryTests {
    private static func item(_ code: Int, _ body: String) -> String {
        #"{"code":\#(code),"headers":[],"body":\#(JSONValue.string(body).description)}"#
    }

    private static let ok = item(200, #"{"id":"9"}"#)
    private static let dead = item(400, Recorded.error(190, 463))

    private static func items(_ items: String...) -> ScriptedTransport.Step {
        .answer("[" + items.joined(separator: ",") + "]")
    }

    private static let signIn: [ScriptedTransport.Step] = [.device, .token(), .me]

    /// The paths of the items of a batch.
    private static func paths(_ bench: FacebookBench, _ index: Int) throws -> [String?] {
        let body = bench.transport.received[index].text
        let field = body.split(separator: "&").first { $0.hasPrefix("batch=") } ?? ""
        let text = String(decoding: decoded(field.dropFirst(6)), as: UTF8.self)
        return try JSONValue(parsing: text).array?.map { $0["relative_url"]?.string } ?? []
    }

    private static func decoded(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(rest.prefix(2)) ?? "", radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return bytes
    }

    private static let requests = [
        FacebookBatchRequest(path: "me"), FacebookBatchRequest(.post, path: "me/feed", form: ["message": "x"]),
        FacebookBatchRequest(path: "5", token: "page"),
    ]

    @Test func whatWasRefusedInABatchIsSentAgainAfterASignIn() async throws {
        let bench = try FacebookBench(
            [Self.items(Self.ok, Self.dead, Self.dead)] + Self.signIn + [Self.items(Self.ok)],
            credentials: FacebookBench.ada
        )
        let person = Person()
        let answers = try await bench.skippingWaits {
            try await bench.facebook.batch(Self.requests, answering: person)
        }
        #expect(answers.map(\.outcome.kind) == [.ok, .ok, .credentialRejected])
        #expect(answers.map(\.attempts) == [1, 2, 1])
        #expect(person.shown.count == 1)
        #expect(try Self.paths(bench, 4) == ["me/feed"])
        #expect(bench.presented.last == "Bearer tok2")
        let numbers = bench.events.events.filter { $0.kind.words.hasPrefix("attempt") }.map(\.call)
        #expect(Set(numbers).count == 1, "one operation: \(numbers)")
    }

    @Test func aBatchThatIsRefusedAsAWholeIsSentAgainAfterASignIn() async throws {
        let bench = try FacebookBench(
            [.error(190, 463)] + Self.signIn + [Self.items(Self.ok, Self.ok, Self.ok)],
            credentials: FacebookBench.ada
        )
        let answers = try await bench.skippingWaits {
            try await bench.facebook.batch(Self.requests, answering: Person())
        }
        #expect(answers.map(\.outcome.kind) == [.ok, .ok, .ok])
        #expect(bench.presented.last == "Bearer tok2")
    }

    /// A write is not made for who knows whom, nor for another person; a read for nobody else.
    @Test func nothingIsMadeForSomebodyElse() async throws {
        let other = ScriptedTransport.Step.answer(#"{"id":"2"}"#)
        for (credentials, steps, message) in [
            (FacebookBench.held, Self.signIn, "once more"),
            (FacebookBench.ada, [.device, .token(), other], "Somebody else"),
        ] {
            let bench = try FacebookBench(
                [Self.items(Self.ok, Self.dead, Self.ok)] + steps,
                credentials: credentials
            )
            let answers = try await bench.skippingWaits {
                try await bench.facebook.batch(Self.requests, answering: Person())
            }
            #expect(answers.map(\.outcome.kind) == [.ok, .stateConflict, .ok])
            #expect(answers[1].outcome.userMessage?.contains(message) == true)
            #expect(answers[1].outcome.processed == .no)
            #expect(bench.transport.received.count == 4)
            #expect(try await bench.credentials.accessToken == "tok2")
        }
    }

    @Test func readsAreMadeForWhoeverSignsIn() async throws {
        let bench = try FacebookBench([Self.items(Self.dead)] + Self.signIn + [Self.items(Self.ok)])
        let answers = try await bench.skippingWaits {
            try await bench.facebook.batch([FacebookBatchRequest(path: "me")], answering: Person())
        }
        #expect(answers.map(\.outcome.kind) == [.ok])
    }

    @Test func aSignInThatIsDeclinedLeavesTheAnswers() async throws {
        let bench = try FacebookBench(
            [Self.items(Self.ok, Self.dead, Self.ok), .device, .error(31, 1_349_173)],
            credentials: FacebookBench.ada
        )
        let answers = try await bench.skippingWaits {
            try await bench.facebook.batch(Self.requests, answering: Person())
        }
        #expect(answers.map(\.outcome.kind) == [.ok, .credentialRejected, .ok])
        #expect(try await bench.credentials.accessToken == nil)
    }

    @Test func aWriteWhoseSecondSendingHasNoAnswerIsTold() async throws {
        let bench = try FacebookBench(
            [Self.items(Self.ok, Self.dead, Self.ok)] + Self.signIn + [.fail(.connectionLost, .unknown)],
            credentials: FacebookBench.ada
        )
        let answers = try await bench.skippingWaits {
            try await bench.facebook.batch(Self.requests, answering: Person())
        }
        #expect(answers.map(\.outcome.kind) == [.ok, .transport, .ok])
        #expect(answers[1].outcome.processed == .unknown && answers[1].attempts == 2)
        #expect(bench.transport.received.count == 5)
    }

    /// What needs what was refused was not done either; what both need goes along if that does no harm.
    @Test func whatNeedsWhatWasRefusedGoesAlong() async throws {
        let bench = try FacebookBench(
            [Self.items(Self.ok, Self.dead, "null")] + Self.signIn + [Self.items(Self.ok, Self.ok, Self.ok)],
            credentials: FacebookBench.ada
        )
        let answers = try await bench.skippingWaits {
            try await bench.facebook.batch(
                [
                    FacebookBatchRequest(path: "me", name: "a"),
                    FacebookBatchRequest(path: "{result=a:$.id}/feed", name: "b"),
                    FacebookBatchRequest(path: "{result=b:$.id}"),
                ],
                answering: Person()
            )
        }
        #expect(answers.map(\.outcome.kind) == [.ok, .ok, .ok])
        #expect(try Self.paths(bench, 4).count == 3)
    }

    @Test func aListGoesOnAfterASignIn() async throws {
        let next = "https://graph.facebook.com/v25.0/1/feed?limit=2&after=a"
        let steps: [ScriptedTransport.Step] = [
            .answer(#"{"data":[{"id":"1"}],"paging":{"next":"\#(next)"}}"#), .error(190, 463), .device, .token(),
        ]
        let bench = try FacebookBench(
            steps + [.me, .answer(#"{"data":[{"id":"2"}]}"#)],
            credentials: FacebookBench.ada
        )
        let ids = try await bench.skippingWaits {
            var ids: [String?] = []
            for try await page in bench.facebook.pages("1/feed", answering: Person()) {
                ids += page.data.map { $0["id"]?.string }
            }
            return ids
        }
        #expect(ids == ["1", "2"])
        #expect(bench.sent.last == "GET /v25.0/1/feed?limit=2&after=a")
        #expect(bench.presented.last == "Bearer tok2")

        let other = try FacebookBench(
            steps + [.answer(#"{"id":"2"}"#), .answer(#"{"data":[]}"#)],
            credentials: FacebookBench.ada
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await other.skippingWaits {
                for try await _ in other.facebook.pages("1/feed", answering: Person()) {}
            }
        }
        #expect(error?.reason == .identityChanged)
    }

    /// A list is one person's, also if another process signs somebody else in between two pages.
    @Test func aListIsOnePersons() async throws {
        let next = "https://graph.facebook.com/v25.0/me/feed?after=a"
        let tokens = InMemoryTokenStore(FacebookBench.ada)
        let bench = try FacebookBench(
            [
                .run { _ in
                    try await tokens.update {
                        $0 = Credentials(accessToken: "other", others: [.init("facebook_profile", ["id": "2"])])
                    }
                    return .scripted(200, body: #"{"data":[],"paging":{"next":"\#(next)"}}"#)
                }, .answer(#"{"data":[]}"#),
            ],
            tokens: tokens
        )
        let error = await #expect(throws: RecoveryError.self) {
            for try await _ in bench.facebook.pages("me/feed") {}
        }
        #expect(error?.reason == .identityChanged)
        #expect(bench.transport.received.count == 1)
    }

    /// With a token that another process has stored, reads go out for whoever it is, and a write for who is known.
    @Test(arguments: [true, false]) func aBatchThatIsRefusedIsRepeatedByWhatItDoes(isRead: Bool) async throws {
        let tokens = InMemoryTokenStore(FacebookBench.held)
        let bench = try FacebookBench(
            [
                .run { _ in
                    try await tokens.update { $0.accessToken = "tok9" }
                    return .scripted(400, body: Recorded.error(190, 463))
                }, Self.items(Self.ok),
            ],
            tokens: tokens
        )
        do {
            let answers = try await bench.facebook.batch([FacebookBatchRequest(isRead ? .get : .post, path: "me/feed")])
            #expect(isRead && answers.map(\.outcome.kind) == [.ok])
        } catch let error as RecoveryError {
            #expect(!isRead && error.reason == .identityChanged)
        }
        #expect(bench.transport.received.count == (isRead ? 2 : 1))
    }
}
