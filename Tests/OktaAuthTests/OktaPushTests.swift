import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Pushes")
struct OktaPushTests {
    private static let push = OktaJSON.factor("push")
    private static let waiting = ScriptedTransport.Step.challenge(push, result: "WAITING", next: "poll")

    private func bench(_ steps: ScriptedTransport.Step...) throws -> OktaBench {
        try OktaBench([.required(Self.push), Self.waiting] + steps)
    }

    /// The requests to the factor: the push and the polls.
    private func posts(_ bench: OktaBench) -> Int {
        bench.sent.filter { $0 == "/authn/factors/f1/verify" }.count
    }

    @Test func itIsPolledUntilItIsApproved() async throws {
        let bench = try bench(Self.waiting, Self.waiting, .success(), .session)
        let person = Person()
        _ = try await bench.signIn("hunter2", person)
        #expect(posts(bench) == 4)
        #expect(bench.events.words.filter { $0 == "wait challenge_pending 4.0" }.count == 3)
        #expect(bench.events.words.filter { $0 == "challenge push" }.count == 1)
        #expect(person.shown.map(\.key) == [.push])
        #expect(person.keys.isEmpty)
    }

    @Test(arguments: [(Duration?.some(.seconds(10)), Duration?.none), (nil, .seconds(3))])
    func itIsNotPolledBeyondTheBoundsOfTheSignIn(deadline: Duration?, maxWait: Duration?) async throws {
        let bench = try bench(Self.waiting, Self.waiting, Self.waiting)
        var options = SignInOptions.okta
        (options.deadline, options.maxWait) = (deadline, maxWait)
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(options: options) }
        #expect(error?.kind == .timedOut)
        #expect(error?.reason == (deadline == nil ? .waitExceedsLimit : .deadlineWouldPass))
        // The push, and the polls that there was time for.
        #expect(posts(bench) == (deadline == nil ? 1 : 3))
        #expect(bench.clock.now.offset <= deadline ?? .zero)
    }

    @Test(arguments: ["REJECTED", "TIMEOUT", "CANCELLED", "ERROR", "FAILED", "OF_TOMORROW"])
    func everyOtherResultEndsItWithoutASecondPush(result: String) async throws {
        let bench = try bench(Self.waiting, .challenge(Self.push, result: result))
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        let kinds: [String: Outcome.Kind] = [
            "REJECTED": .declined, "CANCELLED": .declined, "TIMEOUT": .challengeExpired, "ERROR": .unavailable,
            "FAILED": .challengeIncorrect, "OF_TOMORROW": .unknown,
        ]
        #expect(error?.kind == kinds[result])
        #expect(error?.outcome.factorResult == result)
        #expect(posts(bench) == 3)
    }

    /// What was to be scanned has run out: the link makes it anew, if the person wants that.
    @Test func aPushThatWasNotSetUpInTimeIsMadeAnew() async throws {
        func activating(_ result: String, _ next: String) -> ScriptedTransport.Step {
            let activation =
                #"{"factorResult":"\#(result)","_links":{"qrcode":{"href":"https://o/qr","type":"image/png"}}}"#
            return .answer(
                OktaJSON.state(
                    "MFA_ENROLL_ACTIVATE",
                    embedded:
                        #","factor":{"id":"f1","factorType":"push","provider":"OKTA","_embedded":{"activation":\#(activation)}}"#,
                    links: [
                        OktaJSON.link(
                            "next",
                            "/factors/f1/lifecycle/activate\(next == "poll" ? "/poll" : "")",
                            name: next
                        )
                    ]
                )
            )
        }
        let open = ScriptedTransport.Step.answer(
            OktaJSON.state("MFA_ENROLL", embedded: #","factors":[\#(OktaJSON.open("push"))]"#)
        )
        let bench = try OktaBench([
            open, activating("WAITING", "poll"), activating("TIMEOUT", "activate"), activating("WAITING", "poll"),
            .success(), .session,
        ])
        _ = try await bench.signIn("hunter2", Person([.push: [.resend]]))
        #expect(
            bench.sent.dropFirst(2) == [
                "/authn/factors/f1/lifecycle/activate/poll", "/authn/factors/f1/lifecycle/activate",
                "/authn/factors/f1/lifecycle/activate/poll", "/sessions {sessionToken:20111st}",
            ]
        )
    }

    @Test func anotherPushIsSentOnlyWhereThePersonWantsIt() async throws {
        let bench = try bench(.challenge(Self.push, result: "TIMEOUT"), Self.waiting, .success(), .session)
        let person = Person([.push: [.resend]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.first?.previousFailure?.factorResult == "TIMEOUT")
        #expect(posts(bench) == 4)
        #expect(bench.events.words.filter { $0 == "challenge push" }.count == 3)
    }

    @Test func aTextInPlaceOfTheWishSendsNothing() async throws {
        let bench = try bench(.challenge(Self.push, result: "TIMEOUT"))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([.push: [.text("yes"), .text("yes"), .text("yes")]]))
        }
        #expect(error?.kind == .challengeExpired)
        #expect(posts(bench) == 2)
    }

    @Test func theNumberToChooseIsShown() async throws {
        let asking = ScriptedTransport.Step.challenge(
            OktaJSON.factor("push", challenge: #"{"correctAnswer":42}"#),
            result: "WAITING",
            next: "poll"
        )
        let bench = try bench(asking, asking, .success(), .session)
        let person = Person()
        _ = try await bench.signIn("hunter2", person)
        #expect(person.shown.map(\.number) == [nil, "42"])
    }

    static let passing: [(String, ScriptedTransport.Step)] = [
        ("reset", .fail(.connectionLost, .unknown)), ("502", .status(502, [:], body: "<html>")),
        ("500", .error(9, 500)),
        ("504", .status(504)), ("slow", .fail(.timedOut, .unknown)),
    ]

    @Test(arguments: passing.indices)
    func afterALostAnswerTheStateIsReadBeforeItIsAskedOn(index: Int) async throws {
        let bench = try bench(Self.passing[index].1, Self.waiting, .success(), .session)
        _ = try await bench.signIn()
        #expect(Array(bench.sent[2...4]) == ["/authn/factors/f1/verify", "/authn", "/authn/factors/f1/verify"])
    }

    @Test func aNoWhoseAnswerWasLostSendsNoSecondPush() async throws {
        let bench = try bench(.fail(.connectionLost, .unknown), .challenge(Self.push, result: "REJECTED"))
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .declined)
        #expect(posts(bench) == 2)
    }

    @Test func aLimitIsWaitedOut() async throws {
        let bench = try bench(.error(47, 429, ["retry-after": "60"]), Self.waiting, .success(), .session)
        let person = Person()
        _ = try await bench.signIn("hunter2", person)
        #expect(posts(bench) == 4)
        #expect(bench.events.words.contains { $0.hasPrefix("wait rate_limited 6") })
    }

    @Test func anOutageEndsItInTheEnd() async throws {
        let bench = try OktaBench([.required(Self.push), Self.waiting] + (0..<40).map { _ in .status(503) })
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unavailable)
        #expect(posts(bench) == 2)
    }

    @Test func theServersExpiryIsHeeded() async throws {
        let date = ["Date": "Tue, 01 Jan 2030 00:04:57 GMT"]
        let bench = try OktaBench([
            .required(Self.push),
            .run { received in
                var answer = try await TransportResponse.scripted(
                    200,
                    date,
                    body: Self.body(of: Self.waiting, received)
                )
                answer.head.status = .ok
                return answer
            },
        ])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .challengeExpired)
        #expect(bench.transport.received.count == 2)
    }

    private static func body(of step: ScriptedTransport.Step, _ received: ScriptedTransport.Received) async throws
        -> String
    {
        let transport = ScriptedTransport([step])
        let answer = try await transport.send(received.request, body: nil, options: AttemptOptions())
        return String(decoding: try await answer.body.collect(upTo: 1 << 20), as: UTF8.self)
    }

    @Test func aRestartSendsNoSecondPush() async throws {
        let bench = try bench(.error(11, 401), .required(Self.push))
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .challengeExpired)
        #expect(bench.sent.count == 4)
    }

    @Test(.timeLimit(.minutes(30)))
    func cancellationEndsTheWaitAtOnce() async throws {
        let bench = try bench(Self.waiting)
        let task = Task { try await bench.okta.signIn(identifier: "ada", password: "p", answering: Person()) }
        await bench.clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.transport.received.count == 2)
    }

    @Test func aStateCanBePolledByItself() async throws {
        let bench = try OktaBench([Self.waiting, Self.waiting, .success()])
        let state = try await bench.okta.resume(stateToken: "00st1")
        let end = try await bench.skippingWaits { try await bench.okta.poll(state) }
        guard case .success(let success) = end else {
            Issue.record("not a success: \(end)")
            return
        }
        #expect(success.sessionToken == "20111st")
    }
}
