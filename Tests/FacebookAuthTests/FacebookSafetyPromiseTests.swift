import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P6ClearOnlyWhatWasRefused {
    private static let passing: [ScriptedTransport.Step] = [
        .error(190, 459), .error(190, 464), .error(200, 459), .error(368, nil, 403), .error(4), .error(17), .error(1),
        .error(2, nil, 500), .error(10), .error(200), .error(190, 463, 500), .error(190, nil, 429), .status(500),
        .status(401, [:], body: "<html>"), .status(401), .error(999, nil, 401), .fail(.connectionLost, .unknown),
        .error(190, 492),
        .status(400, ["www-authenticate": #"OAuth "Facebook Platform" "invalid_token" "x""#]),
    ]

    @Test(arguments: passing.indices)
    func whatIsNoRefusalClearsNothing(index: Int) async throws {
        let bench = try FacebookBench((0..<9).map { _ in Self.passing[index] })
        await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.send(path: "me") }
        }
        #expect(try await bench.credentials.accessToken == "tok1")
    }

    @Test(arguments: [458, 460, 461, 463, 466, 467, 468, nil])
    func whatIsDefinitelyRefusedGoesWithTheProfile(subcode: Int?) async throws {
        let bench = try FacebookBench([.me])
        _ = try await bench.facebook.currentUser()
        #expect(try await bench.facebook.cachedUser()?.name == "Ada")
        bench.transport.append([.error(190, subcode)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(error?.remedies == [.reauthenticate])
        #expect(try await bench.credentials == Credentials())
        #expect(bench.events.words.contains("clear access"))
        // Without a token nothing is sent.
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(bench.transport.received.count == 2)
    }

    @Test func whoseDataCannotBeReadAnyMoreStaysKnown() async throws {
        let bench = try FacebookBench([.me])
        _ = try await bench.facebook.currentUser()
        bench.transport.append([.error(190, 493)])
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(try await bench.credentials.accessToken == nil)
        #expect(try await bench.facebook.cachedUser()?.id == "1")
    }

    @Test func recoveryThatIsOffClearsAllTheSameAndRepeatsNothing() async throws {
        let bench = try FacebookBench(
            [.error(190, 463)],
            configuration: FacebookConfiguration(recoversFromErrors: false)
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.send(path: "me", answering: Person())
        }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(try await bench.credentials.accessToken == nil)
        for failure in [ScriptedTransport.Step.error(2), .fail(.connectionLost, .unknown)] {
            let bench = try FacebookBench([failure], configuration: FacebookConfiguration(recoversFromErrors: false))
            let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
            #expect(error?.reason == .recoveryOff)
            #expect(bench.transport.received.count == 1)
        }
    }

    @Test func aLateRefusalTouchesNoNewerToken() async throws {
        let tokens = InMemoryTokenStore(FacebookBench.held)
        let bench = try FacebookBench(
            [
                .run { _ in
                    try await tokens.update { $0.accessToken = "tok2" }
                    return .scripted(400, body: Recorded.error(190, 463))
                }, .me,
            ],
            tokens: tokens
        )
        #expect(try await bench.facebook.currentUser()?.id == "1")
        #expect(await tokens.read().credentials.accessToken == "tok2")
        #expect(bench.presented == ["Bearer tok1", "Bearer tok2"])
    }

    private static func info(_ isValid: Bool, _ subcode: Int? = nil) -> ScriptedTransport.Step {
        let error = subcode.map { #","error":{"code":190,"message":"m","subcode":\#($0)}"# } ?? ""
        return .answer(#"{"data":{"is_valid":\#(isValid),"app_id":"77","scopes":["email"]\#(error)}}"#)
    }

    @Test func whatMayBeAlivePassesTheDebuggerBeforeItIsCleared() async throws {
        let answers: [(ScriptedTransport.Step, Outcome.Kind, Bool)] = [
            (Self.info(true), .credentialRejected, true), (Self.info(false, 459), .userActionRequired, true),
            (Self.info(false, 463), .reauthenticationRequired, false),
            (Self.info(false), .reauthenticationRequired, false),
            (.error(190, nil), .reauthenticationRequired, false),
        ]
        for (answer, kind, isKept) in answers {
            let bench = try FacebookBench([.error(190), answer], app: FacebookBench.service)
            let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
            #expect(error?.kind == kind)
            #expect(error?.outcome.tokenAction == (isKept ? .keep : .clear))
            #expect(try await (bench.credentials.accessToken != nil) == isKept)
            #expect(bench.sent.last == "GET /v25.0/debug_token?input_token=tok1&access_token=77%7Cs3cret")
        }
        // A finer code that is sure needs no question.
        let bench = try FacebookBench([.error(190, 460)], app: FacebookBench.service)
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(bench.transport.received.count == 1)
    }

    @Test func aTokenThatTheCallerHoldsTouchesNoStoredOne() async throws {
        let bench = try FacebookBench([.error(190, 460), .error(190), .error(190)], app: FacebookBench.service)
        let page = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.send(ProviderRequest(path: "5/feed"), as: .page("page1"))
        }
        #expect(page?.kind == .credentialRejected)
        #expect(page?.outcome.tokenAction == .clear)
        for token in [FacebookToken.app, .client] {
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.facebook.send(ProviderRequest(path: "77"), as: token)
            }
            #expect(error?.kind == .misconfigured)
        }
        #expect(bench.presented == ["Bearer page1", "Bearer 77|s3cret", "Bearer 77|ct"])
        #expect(try await bench.credentials.accessToken == "tok1")
    }
}

@Suite struct P7BoundedAmplification {
    @Test func anOutageIsNotAnsweredWithAStorm() async throws {
        let bench = try FacebookBench((0..<400).map { _ in .error(2, nil, 500) })
        for _ in 0..<50 {
            _ = try? await bench.skippingWaits { try await bench.facebook.send(path: "me") }
        }
        #expect(bench.transport.received.count <= 50 + 10 + 10)
    }
}

@Suite struct P8CancellationIsPrompt {
    @Test(.timeLimit(.minutes(30)), arguments: 1...3)
    func itEndsASignInAtAnyRequest(number: Int) async throws {
        var steps: [ScriptedTransport.Step] = [.device, .token(), .me]
        steps[number - 1] = .hang
        let bench = try FacebookBench(steps, credentials: Credentials())
        let task = Task {
            try await bench.skippingWaits { try await bench.facebook.signIn(answering: Person()) }
        }
        await bench.transport.waitForRequests(number)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // A token that has arrived stays.
        #expect(try await (bench.credentials.accessToken != nil) == (number == 3))
    }

    @Test(.timeLimit(.minutes(30)))
    func itEndsTheWaitBetweenTwoQuestions() async throws {
        let bench = try FacebookBench([.device], credentials: Credentials())
        let task = Task { try await bench.facebook.signIn(answering: Person()) }
        await bench.clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

@Suite struct P9SecretsStaySecret {
    @Test(arguments: [FacebookConfiguration.TokenPlacement.header, .query])
    func noErrorEventOrDescriptionHoldsOne(placement: FacebookConfiguration.TokenPlacement) async throws {
        let secrets = ["tok1", "1kot", "s3cret", "dev1", "tok2", "77|ct"]
        let endings: [[ScriptedTransport.Step]] = [
            [.me], [.error(190, 463)], [.error(190), .error(190)], [.error(4)], [.fail(.connectionLost, .unknown)],
            [.status(500), .status(500), .status(500)], [.answer("tok1 is bad")],
        ]
        for steps in endings {
            let bench = try FacebookBench(
                steps,
                app: FacebookBench.service,
                configuration: FacebookConfiguration(tokenPlacement: placement)
            )
            var seen = "\(FacebookBench.service) \(bench.facebook)"
            dump(FacebookBench.service, to: &seen)
            for call in 0..<2 {
                do {
                    seen += try await bench.skippingWaits {
                        call == 0
                            ? "\(try await bench.facebook.send(path: "me"))"
                            : "\(try await bench.facebook.signIn(answering: Person()))"
                    }
                } catch {
                    seen += "\(error) \((error as? RecoveryError)?.outcome.loggableCode ?? "")"
                }
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

    @Test func theProofGoesWithItsTokenAnewForEachAttempt() async throws {
        let tokens = InMemoryTokenStore(FacebookBench.held)
        let bench = try FacebookBench(
            [
                .run { _ in
                    try await tokens.update { $0.accessToken = "abc" }
                    return .scripted(500)
                }, .me,
            ],
            app: FacebookBench.service,
            tokens: tokens
        )
        _ = try await bench.skippingWaits { try await bench.facebook.send(path: "me?fields=id") }
        #expect(
            bench.sent == [
                "GET /v25.0/me?fields=id&appsecret_proof=1kot", "GET /v25.0/me?fields=id&appsecret_proof=cba",
            ]
        )
    }

    @Test func aTokenInTheQueryGoesToGraphAlone() async throws {
        let bench = try FacebookBench([.me], configuration: FacebookConfiguration(tokenPlacement: .query))
        _ = try await bench.facebook.send(path: "me")
        #expect(bench.sent == ["GET /v25.0/me?access_token=tok1"])
        #expect(bench.presented == [nil])
    }

    @Test func aPageOnAnotherOriginIsNotAskedFor() async throws {
        let page = #"{"data":[{"id":"1"}],"paging":{"next":"https://evil.example/v25.0/me/feed?after=a"}}"#
        let bench = try FacebookBench([.answer(page), .answer(page)])
        await #expect(throws: RecoveryError.self) {
            for try await _ in bench.facebook.pages("me/feed") {}
        }
        #expect(bench.transport.received.count == 1)
    }
}

@Suite struct P10HostileInputIsBounded {
    private static let bodies = [
        Recorded.error(190, 463), Recorded.error(6000, 1_363_019, more: #","error_data":"{\"start_offset\":\"1\"}""#),
        #"[{"code":200,"headers":[{"name":"X-App-Usage","value":"{\"call_count\":9}"}],"body":"{\"id\":1}"},null]"#,
        "/**/ cb({\"error\":{\"code\":4}});", #"for (;;);{"error":1357001}"#, "true", "", "<html>",
        #"{"data":{"is_valid":false,"error":{"code":190}}}"#, #"{"error_type":"OAuthException","code":400}"#,
        #"{"error":"access_denied"}"#,
    ]
    private static let fields = [
        ("x-app-usage", #"{"call_count":28,"total_time":25,"total_cputime":25}"#), ("x-page-usage", "17%"),
        ("x-business-use-case-usage", #"{"1":[{"type":"pages","estimated_time_to_regain_access":10}]}"#),
        ("x-ad-account-usage", #"{"acc_id_util_pct":9.67,"reset_time_duration":300}"#), ("retry-after", "5"),
        ("www-authenticate", #"OAuth "Facebook Platform" "invalid_token" "t""#),
    ]

    @Test func damagedAnswersAlwaysComeToAnOutcome() {
        let mutator = ByteMutator(seed: 1)
        for _ in 0..<ByteMutator.rounds(6000) {
            var fields = HTTPFields()
            for (name, value) in Self.fields {
                guard mutator.below(2) == 0, let name = HTTPField.Name(name) else { continue }
                fields.append(HTTPField(name: name, value: String(decoding: mutator.mutate(value.utf8), as: UTF8.self)))
            }
            let status = mutator.pick([200, 200, 200, 204, 302, 400, 400, 401, 403, 404, 408, 429, 500, 503])
            let path = mutator.pick(["/v25.0/me", "/", "/v25.0", "/oauth/access_token", "/debug_token", "//", "/%00"])
            let exchange = Exchange(
                method: mutator.pick([.get, .post, .delete]),
                path: String(decoding: mutator.mutate(path.utf8), as: UTF8.self),
                presented: mutator.pick(Outcome.CredentialKind.allCases),
                result: .response(
                    HTTPResponse(status: .init(code: status), headerFields: fields),
                    body: mutator.mutate(mutator.pick(Self.bodies).utf8)
                ),
                now: Timestamp(secondsSinceEpoch: 0)
            )
            let outcome = FacebookClassifier().classify(exchange)
            if let delay = outcome.retryAfter { #expect(delay >= .zero && delay <= .longest) }
            #expect((try? JSONValue(parsing: outcome.json(name: nil).description)) != nil)
            if status == 429 { #expect([.rateLimited, .quotaExhausted].contains(outcome.kind)) }
            if status >= 500 || status == 429 || status == 408 { #expect(outcome.tokenAction == .keep) }
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func batchesWithinBatchesEnd() {
        var body = #"[{"code":200,"body":"x"}]"#
        while body.utf8.count < 100_000 { body = #"[{"code":200,"headers":[],"body":\#(body)}]"# }
        let outcome = Recorded(status: 200, body: body, method: .post, path: "/").outcome
        #expect(outcome.items.count <= 1)
        let many = "[" + Array(repeating: "null", count: 100_000).joined(separator: ",") + "]"
        #expect(Recorded(status: 200, body: many, method: .post, path: "/").outcome.items.count <= 256)
    }
}
