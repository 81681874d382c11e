import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite struct P1NothingIsSpentTwice {
    private static let sms = OktaJSON.factor("sms")

    /// The steps of a sign-in with an expired password and a code, so that each in turn can go wrong.
    private static let steps: [ScriptedTransport.Step] = [
        .expired(), .required(sms), .challenge(sms), .success(), .session,
    ]

    private func signIn(_ bench: OktaBench) async throws -> OktaSession {
        try await bench.signIn("hunter2", Person([.newPassword: "better", .phoneCode: "1"]))
    }

    @Test(arguments: 0..<5)
    func aStepWhoseAnswerWasLostIsNotRepeatedAndSaysSo(lost: Int) async throws {
        for failure in [
            ScriptedTransport.Step.fail(.connectionLost, .unknown), .fail(.timedOut, .unknown),
            .fail(.truncated, .answered), .status(500), .status(502, [:], body: "<html>"), .status(503),
            .error(67, 504),
        ] {
            let bench = try OktaBench(Self.steps.prefix(lost) + [failure])
            let error = await #expect(throws: RecoveryError.self) { try await signIn(bench) }
            // Where there is a transaction, the server is asked what became of the step.
            let reads = bench.sent.filter { $0 == "/authn" }.count
            #expect(reads == ((1...3).contains(lost) ? 1 : 0))
            #expect(error?.outcome.processed != .no)
            #expect(bench.transport.received.count == lost + 1 + reads)
            #expect(Set(bench.sent).count == bench.sent.count)
        }
    }

    @Test(arguments: 0..<4)
    func aStepThatTheServerHasNotSeenIsRepeated(lost: Int) async throws {
        for failure in [
            ScriptedTransport.Step.fail(.cannotConnect, .neverSent), .fail(.streamRefused, .notProcessed),
            .status(503, ["retry-after": "1"]), .error(47, 429),
        ] {
            var steps = Self.steps
            steps.insert(failure, at: lost)
            let bench = try OktaBench(steps)
            #expect(try await signIn(bench).id == "sid1")
            #expect(bench.sent[lost] == bench.sent[lost + 1])
        }
    }

    @Test func aSessionTokenIsPresentedOnceWhateverComesBack() async throws {
        for failure in [
            ScriptedTransport.Step.error(47, 429, ["retry-after": "1"]), .fail(.connectionLost, .unknown),
            .error(4, 401),
            .status(502),
        ] {
            let fresh = ScriptedTransport.Step.success("20111new")
            let bench = try OktaBench([.success(), failure, fresh, .session])
            _ = try await bench.signIn()
            #expect(bench.sent[1] == "/sessions {sessionToken:20111st}")
            #expect(bench.sent[3] == "/sessions {sessionToken:20111new}")
            #expect(bench.sent.count == 4)
        }
        // Where a factor was used, the person is asked before anything begins anew.
        let bench = try OktaBench([
            .required(OktaJSON.factor("token:software:totp")), .success(), .error(47, 429, ["retry-after": "1"]),
        ])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([.totp: "1"]))
        }
        #expect(error?.kind == .rateLimited)
        #expect(bench.transport.received.count == 3)
    }

    @Test func resendsSayWhatTheyRepeat() async throws {
        let bench = try OktaBench([
            .error(47, 429, ["retry-after": "1", "x-okta-request-id": "req1"]),
            .error(47, 429, ["retry-after": "1", "x-okta-request-id": "req2"]), .success(), .session,
        ])
        _ = try await bench.signIn()
        func field(_ name: String) -> [String?] {
            HTTPField.Name(name).map { name in bench.transport.received.map { $0.request.headerFields[name] } } ?? []
        }
        #expect(field("X-Okta-Retry-For") == [nil, "req1", "req1", nil])
        #expect(field("X-Okta-Retry-Count") == [nil, "1", "2", nil])
    }
}

@Suite struct P2NoAttemptWhileLocked {
    @Test func aSignInToAnAccountThatIsKnownToBeLockedSendsNothing() async throws {
        let bench = try OktaBench([.lockedOut])
        await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.okta.signIn(identifier: " ADA@example.com", password: "other", answering: Person())
        }
        #expect(error?.kind == .accountLocked)
        #expect(bench.transport.received.count == 1)
        await bench.okta.lockouts.forget("ada@example.com")
        bench.transport.append([.success(), .session])
        _ = try await bench.signIn()
    }

    @Test func nobodyElsesSignInIsHeld() async throws {
        let bench = try OktaBench([.lockedOut, .success(), .session])
        await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        _ = try await bench.okta.signIn(identifier: "grace@example.com", password: "p", answering: Person())
    }
}

@Suite struct P3TheServersWordIsKept {
    @Test func nothingLeavesBeforeTheResetAndASecond() async throws {
        let fields = [
            "date": "Tue, 01 Jan 2030 00:00:00 GMT", "x-rate-limit-limit": "600", "x-rate-limit-remaining": "0",
            "x-rate-limit-reset": "1893456048",
        ]
        let bench = try OktaBench([.error(47, 429, fields), .success(), .session])
        let task = Task { try await bench.okta.signIn(identifier: "ada", password: "p", answering: Person()) }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .milliseconds(48_999))
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(7))
        _ = try await task.value
    }
}

@Suite struct P4TheDeadlineIsKept {
    @Test func aWaitThatCannotEndBeforeItIsNotBegun() async throws {
        let bench = try OktaBench([.error(47, 429, ["retry-after": "60"])]) {
            Deadline(.seconds(10))
            Recovery()
        }
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.okta.signIn(identifier: "ada", password: "p", answering: Person())
        }
        #expect(error?.reason == .deadlineWouldPass)
        #expect(error?.retryAfter == .seconds(60))
        #expect(bench.clock.requestedDelays.isEmpty)
    }
}

@Suite struct P6ClearOnlyWhatWasRefused {
    private static let held = Credentials(sessionID: "sid1")

    private static let passing: [ScriptedTransport.Step] = [
        .status(500), .status(502, [:], body: "<html>"), .error(47, 429), .fail(.connectionLost, .unknown),
        .status(408),
        .status(401, [:], body: "<html>"), .error(15, 401), .error(6, 403), .error(999, 401),
    ]

    @Test(arguments: passing.indices)
    func whatIsNoRefusalClearsNothing(index: Int) async throws {
        let bench = try OktaBench((0..<9).map { _ in Self.passing[index] }, credentials: Self.held)
        await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.okta.send(path: "/x") }
        }
        #expect(try await bench.credentials.sessionID == "sid1")
    }

    @Test func aSessionThatIsOverIsForgotten() async throws {
        let gone = ScriptedTransport.Step.status(
            404,
            [:],
            body: Recorded.error("E0000007", "Not found: Resource not found: me (Session)")
        )
        let bench = try OktaBench([gone], credentials: Self.held)
        #expect(try await bench.okta.session() == nil)
        #expect(try await bench.credentials.sessionID == nil)
        #expect(bench.transport.received[0].request.headerFields[.cookie] == "sid=sid1")
    }

    @Test func aLateRefusalTouchesNoNewerSession() async throws {
        let tokens = InMemoryTokenStore(Self.held)
        let bench = try OktaBench(
            [
                .run { _ in
                    try await tokens.update { $0.sessionID = "sid2" }
                    return .scripted(403, body: Recorded.error("E0000005"))
                }, .answer(#"{"id":"sid2","status":"ACTIVE"}"#),
            ],
            tokens: tokens
        )
        #expect(try await bench.okta.session()?.id == "sid2")
        #expect(await tokens.read().credentials.sessionID == "sid2")
    }
}

@Suite struct P7BoundedAmplification {
    @Test func anOutageIsNotAnsweredWithAStorm() async throws {
        let bench = try OktaBench((0..<400).map { _ in .status(503) }, credentials: Credentials(sessionID: "sid1"))
        for _ in 0..<50 {
            _ = try? await bench.skippingWaits { try await bench.okta.send(path: "/api/v1/users/me") }
        }
        #expect(bench.transport.received.count <= 50 + 10 + 10)
    }
}

@Suite struct P8CancellationIsPrompt {
    @Test(.timeLimit(.minutes(30)), arguments: 1...4)
    func itEndsASignInAtAnyRequest(number: Int) async throws {
        let sms = OktaJSON.factor("sms")
        var steps: [ScriptedTransport.Step] = [.required(sms), .challenge(sms), .success(), .session]
        steps[number - 1] = .hang
        let bench = try OktaBench(steps)
        let task = Task { try await bench.signIn("hunter2", Person([.phoneCode: "1"])) }
        await bench.transport.waitForRequests(number)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.events.words.last == "done cancelled \(number)")
    }
}

@Suite struct P9SecretsStaySecret {
    @Test func noErrorEventOrDescriptionHoldsOne() async throws {
        let secrets = ["hunter2", "better", "123456", "00st1", "20111st", "sid1", "Rex"]
        let totp = OktaJSON.factor("token:software:totp")
        let endings: [[ScriptedTransport.Step]] = [
            [.expired(), .required(totp), .success(), .session],
            [.expired(), .required(totp), .error(68), .error(68), .error(68)],
            [.expired(), .error(80, causes: ["better is bad"]), .status(500)], [.lockedOut],
            [.answer(OktaJSON.state("OF_TOMORROW"))], [.success(), .status(500), .status(500)],
        ]
        for steps in endings {
            let bench = try OktaBench(steps)
            var seen = ""
            do {
                let answers: [Factor.Key: [Challenge.Answer]] = [
                    .newPassword: [.text("better"), .text("better")],
                    .totp: Array(repeating: .text("123456"), count: 3),
                ]
                let session = try await bench.signIn("hunter2", Person(answers))
                seen += "\(session)"
            } catch {
                seen += "\(error) \((error as? RecoveryError)?.outcome.loggableCode ?? "")"
            }
            for event in bench.events.events {
                switch event.kind {
                case .attempt(_, let method, let url, _): seen += method + url
                case .givingUp(let outcome, let reason, _, _):
                    seen += "\(outcome.kind)\(reason)\(outcome.loggableCode ?? "")"
                default: seen += event.kind.words
                }
            }
            for secret in secrets { #expect(!seen.contains(secret), "\(secret)") }
        }
    }

    @Test func statesAndFactorsPrintNoToken() async throws {
        let bench = try OktaBench([.required(OktaJSON.factor("sms"))])
        let state = try await bench.okta.authenticate(OktaCredentials(username: "ada", password: "hunter2"))
        var dumped = "\(state) \(state.transaction)"
        dump(state.transaction, to: &dumped)
        dump(state.transaction.factors, to: &dumped)
        #expect(!dumped.contains("00st1"))
        let credentials = OktaCredentials(username: "ada", password: "hunter2")
        #expect(!"\(credentials)\(OktaFactorAnswer.passCode("123456"))".contains("hunter2"))
    }

    @Test func aLinkToAnotherOriginIsRefused() async throws {
        let body = OktaJSON.state(
            "PASSWORD_EXPIRED",
            links: [
                #""next":{"name":"changePassword","href":"https://evil.example/api/v1/authn/credentials/change_password"}"#
            ]
        )
        let bench = try OktaBench([.answer(body)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([.newPassword: "better"]))
        }
        #expect(error?.cause as? OktaLinkError == .foreignOrigin)
        #expect(bench.transport.received.count == 1)
    }
}

@Suite struct P10HostileInputIsBounded {
    private static let bodies = [
        Recorded.error("E0000068", causes: ["passCode: x"]),
        Recorded.state("MFA_REQUIRED", #""_embedded":{"factors":[{"factorType":"sms"}]}"#),
        Recorded.state(
            "MFA_CHALLENGE",
            #""factorResult":"WAITING","_links":{"next":{"name":"poll","href":"https://o/p"}}"#
        ),
        #"{"error":"invalid_grant","error_description":"d"}"#, #"{"active":false}"#, "<html>", "",
        #"{"messages":{"value":[{"message":"m","i18n":{"key":"k"},"class":"ERROR"}]},"remediation":{"value":[{"name":"n"}]}}"#,
    ]
    private static let paths = [
        "/api/v1/authn", "/api/v1/authn/factors/f/verify", "/api/v1/sessions/me", "/oauth2/v1/token",
        "/oauth2/default/v1/authorize", "/idp/idx/identify", "", "//", "/%00/🙂",
    ]

    @Test func damagedAnswersAlwaysComeToAnOutcome() {
        let mutator = ByteMutator(seed: 1)
        for _ in 0..<ByteMutator.rounds(6000) {
            var fields = HTTPFields()
            for (name, value) in [
                ("x-rate-limit-reset", "1893456048"), ("x-rate-limit-limit", "0"), ("retry-after", "5"),
            ] {
                guard mutator.below(2) == 0, let name = HTTPField.Name(name) else { continue }
                fields.append(HTTPField(name: name, value: String(decoding: mutator.mutate(value.utf8), as: UTF8.self)))
            }
            let status = mutator.pick([200, 200, 202, 204, 302, 400, 401, 403, 404, 409, 423, 429, 500, 503])
            let path = String(decoding: mutator.mutate(mutator.pick(Self.paths).utf8), as: UTF8.self)
            let exchange = Exchange(
                method: mutator.pick([.get, .post, .delete]),
                path: path,
                presented: mutator.pick(Outcome.CredentialKind.allCases),
                result: .response(
                    HTTPResponse(status: .init(code: status), headerFields: fields),
                    body: mutator.mutate(mutator.pick(Self.bodies).utf8)
                ),
                now: Timestamp(secondsSinceEpoch: 0)
            )
            let outcome = OktaClassifier().classify(exchange)
            if let delay = outcome.retryAfter { #expect(delay >= .zero && delay <= .longest) }
            #expect((try? JSONValue(parsing: outcome.json(name: nil).description)) != nil)
            if status == 429 { #expect([.rateLimited, .quotaExhausted].contains(outcome.kind)) }
            if status >= 500 { #expect(outcome.tokenAction != .clear) }
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func aServerThatSaysAnythingEndsASignInWithAValueOrATypedError() async throws {
        let mutator = ByteMutator(seed: 2)
        let answers = [
            OktaJSON.state(
                "MFA_REQUIRED",
                embedded: #","factors":[\#(OktaJSON.factor("push")),\#(OktaJSON.factor("sms"))]"#
            ),
            OktaJSON.state(
                "PASSWORD_EXPIRED",
                links: [OktaJSON.link("next", "/credentials/change_password", name: "changePassword")]
            ),
            OktaJSON.state(
                "MFA_CHALLENGE",
                embedded: #","factor":\#(OktaJSON.factor("push"))"#,
                links: [OktaJSON.link("next", "/p", name: "poll")],
                more: #","factorResult":"WAITING""#
            ),
            OktaJSON.state("SUCCESS", more: #","sessionToken":"t""#), #"{"id":"sid1","status":"ACTIVE"}"#,
        ]
        for _ in 0..<ByteMutator.rounds(300) {
            let steps = (0..<8).map { _ in
                let body =
                    mutator.below(3) == 0
                    ? Array(mutator.pick(answers).utf8) : mutator.mutate(mutator.pick(answers).utf8)
                return ScriptedTransport.Step.answer(String(decoding: body, as: UTF8.self))
            }
            let bench = try OktaBench(steps)
            let person = Person([.newPassword: [.text("n")], .phoneCode: [.text("1")], .push: [.resend]])
            do {
                _ = try await bench.signIn("hunter2", person)
            } catch {
                #expect(error is RecoveryError || error is Challenge.NoAnswer, "\(error)")
            }
            #expect(bench.transport.received.count < 60)
        }
    }
}
