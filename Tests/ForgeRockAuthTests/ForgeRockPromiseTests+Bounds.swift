import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P6ClearOnlyWhatWasRefused {
    @Test func aLateRefusalOfAnOldSessionDoesNotTouchANewerOne() async throws {
        let tokens = InMemoryTokenStore(Credentials(ssoToken: "S1"))
        let bench = try ForgeRockBench(
            [
                .run { _ in
                    try await tokens.update { $0.ssoToken = "S2" }
                    return .scripted(401, body: Exchanged.error(401, "Access Denied"))
                }
            ],
            tokens: tokens
        )
        #expect(try await bench.forgeRock.session() == nil)
        #expect(await tokens.read().credentials.ssoToken == "S2")
    }

    @Test(arguments: [
        ScriptedTransport.Step.status(500), .status(503), .status(429), .status(408), .status(401, [:], body: "<html>"),
        .status(403), .fail(.connectionLost, .unknown), .status(200, [:], body: "<html>"), .status(404), .status(400),
    ])
    func nothingElseClearsIt(step: ScriptedTransport.Step) async throws {
        let bench = try ForgeRockBench(Array(repeating: step, count: 8), credentials: Credentials(ssoToken: "S1"))
        await #expect(throws: RecoveryError.self) {
            _ = try await bench.skippingWaits { try await bench.forgeRock.session() }
        }
        await #expect(throws: RecoveryError.self) {
            _ = try await bench.skippingWaits { try await bench.forgeRock.signIn(identifier: "a", answering: Person()) }
        }
        #expect(try await bench.credentials.ssoToken == "S1")
    }
}

@Suite struct P7BoundedAmplification {
    @Test func anOutageIsNotMultiplied() async throws {
        let bench = try ForgeRockBench(
            Array(repeating: .fail(.cannotConnect, .neverSent), count: 500),
            middlewares: { [Recovery(maxAttempts: 5)] }
        )
        for _ in 0..<50 { _ = try? await bench.signIn() }
        #expect(bench.transport.received.count <= 50 + 10 + 10)
    }
}

@Suite struct P8CancellationIsPrompt {
    @Test(.timeLimit(.minutes(30)), arguments: 1...4)
    func itEndsASignInAtAnyRequest(number: Int) async throws {
        var script = loginSteps
        script[number - 1] = .hang
        let bench = try ForgeRockBench(script)
        let task = Task { try await bench.signIn("hunter2", Person([.totp: "1"])) }
        await bench.transport.waitForRequests(number)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.events.words.last == "done cancelled \(number)")
    }

    @Test(.timeLimit(.minutes(30)))
    func itEndsACeremony() async throws {
        let authenticator = Waiting()
        let bench = try ForgeRockBench([.step(AM.authentication, AM.hidden)], authenticator: authenticator)
        let task = Task { try await bench.forgeRock.signIn(identifier: "ada", answering: Person()) }
        await authenticator.began.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.transport.received.count == 1)
    }

    private final class Waiting: WebAuthn.Authenticator {
        let began = Latch()

        func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
            throw WebAuthn.Failure.unknown()
        }

        func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
            await began.open()
            try await Task.sleep(for: .seconds(86_400))
            throw WebAuthn.Failure.unknown()
        }
    }
}

/// Something that happens once and is awaited.
actor Latch {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}

@Suite struct P9SecretsStaySecret {
    private static let planted = "pl4nted"

    @Test func noneAppearsWhateverHappens() async throws {
        let cookie = ["set-cookie": "amlbcookie=\(Self.planted)-cookie; Path=/"]
        let first = ScriptedTransport.Step.step(AM.name, AM.password, id: "\(Self.planted)-auth", fields: cookie)
        let scripts: [[ScriptedTransport.Step]] = [
            [first, .step(AM.code, id: "\(Self.planted)-a2"), .success("\(Self.planted)-sso", cookie)],
            [first, .error(401, "Login failure"), first, .error(401, "User Locked Out.")],
            [first, .status(500, cookie)], [first, .status(401, cookie, body: Self.planted)],
            [first, .fail(.connectionLost, .unknown)], [first, .status(200, [:], body: "<html>\(Self.planted)")],
            [first, .error(401, "x", number: "110"), first, .success("\(Self.planted)-sso")],
        ]
        for script in scripts {
            let held = Credentials(
                accessToken: Secret("\(Self.planted)-access"),
                refreshToken: Secret("\(Self.planted)-refresh"),
                ssoToken: Secret("\(Self.planted)-old")
            )
            let bench = try ForgeRockBench(script, credentials: held)
            let person = Person([
                .password: [.text(Secret("\(Self.planted)-2"))], .totp: [.text(Secret("\(Self.planted)-3"))],
            ])
            var text = ""
            do {
                dump(try await bench.signIn(Secret("\(Self.planted)-1"), person), to: &text)
            } catch {
                text += "\(error) \(String(reflecting: error))"
                if let error = error as? RecoveryError {
                    text += error.userMessage
                    dump(error.outcome, to: &text)
                    dump(error.history, to: &text)
                }
            }
            for event in bench.events.events { dump(event, to: &text) }
            dump(bench.forgeRock, to: &text)
            #expect(!text.contains(Self.planted))
        }
    }

    @Test func stepsAndTheirPartsPrintNone() async throws {
        let body = stepBody(AM.name, AM.password, authID: "\(Self.planted)-auth")
        var step = try #require(JourneyStep(try JSONValue(parsing: body)))
        step.callbacks[1].setInput(.string("\(Self.planted)-password"))
        var text = "\(step) \(String(reflecting: step)) \(step.callbacks)"
        dump(step, to: &text)
        dump(JourneyStart.suspended(id: Secret(Self.planted)), to: &text)
        #expect(!text.contains(Self.planted))
        #expect(step.json.description.contains("\(Self.planted)-password"))
    }

    @Test func noOtherHostEverGetsThem() async throws {
        let bench = try ForgeRockBench([.login, .status(307, ["location": "https://evil.example/authenticate"])]) {
            Redirects()
            Recovery()
        }
        _ = try? await bench.signIn()
        #expect(bench.transport.received.allSatisfy { $0.request.authority == "id.example.com" })
        let exchange = try ForgeRockBench(
            [.status(302, ["location": "https://evil.example/?code=1"])],
            credentials: Credentials(ssoToken: "S1"),
            oauth: ForgeRockBench.oauth
        ) {
            Redirects()
            Recovery()
        }
        _ = try? await exchange.forgeRock.accessToken()
        #expect(exchange.transport.received.allSatisfy { $0.request.authority == "id.example.com" })
    }
}

@Suite struct P10HostileInputIsBounded {
    static let bodies = [
        stepBody(AM.name, AM.password), stepBody(AM.code, AM.confirmation("a", "b")), stepBody(AM.choice("a", "b")),
        stepBody(AM.poll("1")), stepBody(AM.authentication, AM.hidden),
        stepBody(callback("ValidatedCreatePasswordCallback", ForgeRockAnswerTests.failed, inputs: 2)),
        #"{"tokenId":"t","successUrl":"/","realm":"/"}"#, Exchanged.error(401, "Login failure"),
        Exchanged.error(401, "x", number: "110"), #"{"failure":true,"reason":"http-auth-failed","authId":"b"}"#,
        #"{"error":"invalid_grant"}"#, #"{"code":1999}"#, #"{"resource":"x","advices":{"a":["b"]}}"#,
        #"{"details":[{"rawResponse":{"details":[{"innerError":{"failuresRemaining":1}}]}}]}"#,
        #"{"valid":false}"#, "<html>", "",
    ]

    @Test(arguments: [#"{"tokenId":12}"#, #"{"tokenId":""}"#, #"{"tokenId":["t"],"successUrl":"/"}"#])
    func aSessionWithoutATokenIsNone(body: String) async throws {
        let bench = try ForgeRockBench([.login, .status(200, [:], body: body)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unreadable)
        #expect(try await bench.tokens.read().credentials.ssoToken == nil)
    }

    @Test func damagedAnswersAlwaysComeToAnOutcome() {
        let mutator = ByteMutator(seed: 1)
        let locations = ["https://am/?authIndexType=composite_advice&authIndexValue=\(PolicyAdviceTests.encoded)", "x"]
        let paths = [
            Exchanged.authenticate, Exchanged.sessions, Exchanged.users, Exchanged.token, "/davinci/x", "/", "",
        ]
        for _ in 0..<ByteMutator.rounds(8000) {
            var fields = HTTPFields()
            fields[.location] = String(decoding: mutator.mutate(mutator.pick(locations).utf8), as: UTF8.self)
            fields[.wwwAuthenticate] = String(
                decoding: mutator.mutate(#"SSOADVICE advices="e30=",realm="/""#.utf8),
                as: UTF8.self
            )
            fields[.retryAfter] = String(decoding: mutator.mutate("120".utf8), as: UTF8.self)
            let status = mutator.pick([200, 200, 204, 302, 307, 400, 401, 403, 404, 408, 429, 500, 503])
            let path = String(decoding: mutator.mutate(mutator.pick(paths).utf8), as: UTF8.self)
            let exchange = Exchange(
                method: mutator.pick([.get, .post]),
                path: path,
                presented: mutator.pick(Outcome.CredentialKind.allCases),
                result: .response(
                    HTTPResponse(status: .init(code: status), headerFields: fields),
                    body: mutator.mutate(mutator.pick(Self.bodies).utf8)
                ),
                now: Timestamp(secondsSinceEpoch: 0)
            )
            let outcome = ForgeRockClassifier().classify(exchange)
            if case .remaining(let time) = outcome.lockout { #expect(time >= .zero && time <= .longest) }
            #expect((try? JSONValue(parsing: outcome.json(name: nil).description)) != nil)
        }
    }

    /// What is paid for by the square of its size ends in no time that anybody waits for.
    @Test(.timeLimit(.minutes(30))) func sizeIsPaidForLinearly() {
        let many = String(repeating: AM.name + ",", count: 3000)
        let bodies = [
            #"{"authId":"a","callbacks":["# + many + "{}]}",
            Exchanged.error(401, String(repeating: "x", count: 900_000)),
            #"{"authId":"a","callbacks":["# + AM.text(String(repeating: "challenge: [", count: 60_000), kind: "4")
                + "]}",
            #"{"resource":"x","advices":{"a":["# + String(repeating: #""b","#, count: 100_000) + #""c"]}}"#,
            String(repeating: "{\"details\":", count: 90_000), String(repeating: "x", count: 4_000_000),
        ]
        for status in [200, 400, 401] {
            for body in bodies { _ = Exchanged(status: status, body: body).outcome }
        }
        let location =
            "?authIndexType=composite_advice&authIndexValue=" + String(repeating: "%3CValue%3E", count: 90_000)
        _ = Exchanged(status: 307, lines: [("location", location)], path: "/x").outcome
    }

    /// Answers that were right before somebody broke them, in any place.
    @Test(.timeLimit(.minutes(30)), arguments: 1...6)
    func aBrokenAnswerEndsInASessionOrATypedError(seed: Int) async throws {
        let mutator = ByteMutator(seed: UInt64(seed))
        for _ in 0..<ByteMutator.rounds(40) {
            let script: [ScriptedTransport.Step] = (0..<40).map { _ in
                let body = Array(mutator.pick(Self.bodies).utf8)
                let bytes = mutator.below(3) == 0 ? mutator.mutate(body) : body
                let status = mutator.pick([200, 200, 200, 400, 401, 403, 404, 408, 429, 500])
                return .run { _ in
                    TransportResponse(head: HTTPResponse(status: .init(code: status)), body: MessageBody(bytes))
                }
            }
            let bench = try ForgeRockBench(script) { Recovery(maxAttempts: 2) }
            let answers = Factor.Key.allCases.map { ($0, (0..<10).map { Challenge.Answer.text(Secret("\($0)")) }) }
            do {
                _ = try await bench.signIn("p", Person(Dictionary(uniqueKeysWithValues: answers)))
            } catch is RecoveryError {
                // A typed error is as good an end as any.
            } catch is Challenge.NoAnswer {
                // So is having run out of answers.
            }
        }
    }
}
