import AuthRecovery
import AuthSandbox
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// P6 to P10.
extension FacebookPromises {
    @Suite struct P6ClearOnlyWhatWasRefused {
        private static let faults: [SandboxFault] = {
            var faults = [
                SandboxFault(.html), SandboxFault(.empty), SandboxFault(.truncate), SandboxFault(.resetBefore),
                SandboxFault(.garbage), .facebook(1), .facebook(2), .facebook(10), .facebook(200), .facebook(368),
                .facebook(190, 459), .facebook(190, 464), .facebook(1, 463), .facebook(803),
                .facebook(190, 463, status: 500),
                .facebook(190, 463, status: 429),
            ]
            for status in [500, 503, 408, 401] {
                var fault = SandboxFault(.html)
                fault.status = status
                faults.append(fault)
            }
            for index in faults.indices {
                faults[index].path = "/v25.0/me"
                faults[index].times = 0
            }
            return faults
        }()

        @Test(arguments: faults.indices) func whatIsNoRefusalClearsNothing(index: Int) async throws {
            try await FacebookLine.run {
                Recovery(maxAttempts: 2, maxWait: .seconds(1))
            } body: { line in
                let before = await line.held
                line.sandbox.add(Self.faults[index])
                await #expect(throws: RecoveryError.self) { try await line.facebook.send(path: "me") }
                #expect(await line.held == before)
                #expect(!line.events.words.contains("clear access"))
            }
        }

        /// The refusal of the old token comes late: the new one stays, and the call goes out with it.
        @Test func aLateRefusalLeavesTheNewToken() async throws {
            try await FacebookLine.run(.expired) { line in
                var slow = SandboxFault(.latency, path: "/v25.0/me/permissions")
                slow.delay = 500
                line.sandbox.add(slow)
                let call = Task { try await line.facebook.send(path: "me/permissions").status }
                while line.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
                let fresh = try line.sandbox.facebookToken(for: FacebookLine.ada)
                try await line.tokens.update { $0.accessToken = Secret(fresh) }
                #expect(try await call.value == .ok)
                #expect(await line.held == Secret(fresh))
                #expect(line.sandbox.requests().map(\.status) == [400, 200])
            }
        }

        @Test func anItemOfABatchTakesNoTokenAway() async throws {
            try await FacebookLine.run { line in
                let dead = try line.sandbox.facebookToken(for: "grace@example.com", .expired)
                let before = await line.held
                let answers = try await line.facebook.batch([
                    FacebookBatchRequest(path: "me", token: Secret(dead)), FacebookBatchRequest(path: "me"),
                ])
                #expect(answers.map(\.outcome.kind) == [.credentialRejected, .ok])
                #expect(await line.held == before)
            }
        }
    }

    @Suite struct P7BoundedAmplification {
        @Test func anOutageIsNotAnsweredWithAStorm() async throws {
            try await FacebookLine.run {
                Recovery { TransientRetry(backoff: .exponential(base: .milliseconds(1), cap: .milliseconds(2))) }
            } body: { line in
                line.sandbox.add(.facebook(2, path: "/v25.0/me", times: 0))
                let calls = 100
                for _ in 0..<calls { _ = try? await line.facebook.send(path: "me") }
                #expect(line.count > calls)
                #expect(Double(line.count) <= Double(calls) * 1.2 + 10)
            }
        }
    }

    @Suite struct P8CancellationIsPrompt {
        private func cancelled<Value: Sendable>(
            _ line: FacebookLine,
            at beginning: String,
            _ body: @escaping @Sendable (Facebook) async throws -> Value
        ) async throws {
            let task = Task { try await body(line.facebook) }
            try await line.event(beginning)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        @Test func itEndsAHang() async throws {
            try await FacebookLine.run { line in
                line.sandbox.add(SandboxFault(.hang, path: "/v25.0/me", times: 0))
                try await cancelled(line, at: "attempt") { try await $0.send(path: "me") }
                #expect(line.events.words.contains("done cancelled 1"))
                #expect(!line.events.words.contains { $0.hasPrefix("failure") })
                #expect(await line.held != nil)
            }
        }

        @Test func itEndsTheWaitForALimit() async throws {
            try await FacebookLine.run(settings: .with { $0.limitStatesTime = true }) { line in
                try line.sandbox.blockFacebook(for: .seconds(20))
                try await cancelled(line, at: "wait rate_limited") { try await $0.send(path: "me") }
                #expect(line.count == 1)
            }
        }

        @Test func itEndsTheWaitForThePerson() async throws {
            try await FacebookLine.run { line in
                let before = await line.held
                try await cancelled(line, at: "wait challenge_pending") { try await $0.signIn(answering: Absent()) }
                #expect(await line.held == before)
            }
        }
    }

    @Suite struct P9SecretsStaySecret {
        @Test(arguments: [FacebookConfiguration.TokenPlacement.header, .query])
        func noErrorAndNoEventHoldsOne(placement: FacebookConfiguration.TokenPlacement) async throws {
            var configuration = FacebookConfiguration()
            configuration.tokenPlacement = placement
            try await FacebookLine.run(
                hasSecret: true,
                configuration: configuration,
                settings: .with { $0.device = .init(polls: 0) }
            ) {
                Recovery(maxAttempts: 2, maxWait: .seconds(1))
            } body: { line in
                var seen = ""
                let faults: [SandboxFault] = [
                    SandboxFault(.resetAfter, times: 0), SandboxFault(.html, times: 0),
                    SandboxFault(.truncate, times: 0),
                    SandboxFault(.garbage, times: 0), .facebook(2, times: 0), SandboxFault(.latency, path: "/none"),
                ]
                for fault in faults {
                    line.sandbox.clearFaults()
                    line.sandbox.add(fault)
                    let calls: [@Sendable () async throws -> String] = [
                        { "\(try await line.facebook.send(path: "me"))" },
                        { "\(try await line.facebook.refresh())" },
                        { "\(try await line.facebook.inspect())" },
                        { "\(try await line.facebook.beginDeviceLogin())" },
                        { "\(try await line.facebook.batch([FacebookBatchRequest(path: "me")]))" },
                    ]
                    for call in calls {
                        do {
                            seen += try await call()
                        } catch {
                            seen += "\(error) \(String(reflecting: error))"
                        }
                    }
                }
                seen += "\(try await line.facebook.signIn(answering: Absent()))"
                for event in line.events.events {
                    switch event.kind {
                    case .attempt(_, let method, let url, _): seen += "\(method) \(url) "
                    default: seen += event.kind.words + " "
                    }
                }
                let planted = line.sandbox.facebookSecrets
                #expect(planted.count > 5)
                for secret in planted { #expect(!seen.contains(secret)) }
            }
        }

        @Test func noRedirectAndNoPageLeadsElsewhere() async throws {
            try await FacebookLine.run { line in
                let other = try await AuthSandbox.start(scenario: .unlimited)
                defer { other.stop() }
                var redirect = SandboxFault(.status, path: "/v25.0/me")
                redirect.status = 307
                redirect.headers = ["Location": other.url + "/v25.0/me"]
                line.sandbox.add(redirect)
                _ = try? await line.facebook.send(path: "me")
                var lure = SandboxFault(.status, path: "/v25.0/me/feed")
                lure.status = 200
                lure.body = #"{"data": [{"id": "1"}], "paging": {"next": "\#(other.url)/v25.0/me/feed?after=1"}}"#
                line.sandbox.add(lure)
                do {
                    for try await _ in line.facebook.pages("me/feed") {}
                } catch {
                    // Whether it ends there or is told of: nobody else was asked.
                }
                #expect(other.requests().isEmpty)
            }
        }
    }

    @Suite struct P10HostileInputIsBounded {
        private static let bodies: [String] = [
            String(repeating: "[", count: 200_000), #"{"error": "#, "null", "\u{0}\u{1}",
            #"{"error": {"code": 1e400}}"#,
            #"{"error": {"code": [], "error_subcode": {}, "message": 7, "is_transient": "perhaps"}}"#,
            #"/**/ cb({"error": {"code": 4}"#, "for (;;);", #"{"error": 99999999999999999999999}"#,
            "{\"error\": {\"message\": \"" + String(repeating: "A", count: 500_000) + "\"}}",
        ]

        @Test(arguments: bodies.indices, [400, 401, 429, 503])
        func anyBodyEndsInATypedError(index: Int, status: Int) async throws {
            try await FacebookLine.run {
                Recovery(maxAttempts: 1, maxWait: .zero)
            } body: { line in
                // The batch as a whole, too.
                var fault = SandboxFault(.status, path: "/v25.0", times: 0)
                fault.status = status
                fault.body = Self.bodies[index]
                line.sandbox.add(fault)
                await #expect(throws: RecoveryError.self) { try await line.facebook.send(path: "me") }
                await #expect(throws: RecoveryError.self) { try await line.facebook.signIn(answering: Absent()) }
                do {
                    // After a limit the items are not sent at all, and say so.
                    let answers = try await line.facebook.batch([FacebookBatchRequest(path: "me")])
                    #expect(status == 429 && answers.map(\.outcome.kind) == [.rateLimited])
                } catch {
                    #expect(error is RecoveryError)
                }
                #expect(line.count <= 6)
                #expect(await line.held != nil)
            }
        }

        @Test(arguments: [
            "nan", "-1", "{", "{}", "[]", "1e400", "17%", #"{"call_count": 1e400}"#, #"{"call_count": "NaN"}"#,
            #"{"1": [{"type": "ads_insights", "call_count": -5, "estimated_time_to_regain_access": 1e300}]}"#,
            String(repeating: "[", count: 8000),
        ])
        func anyUsageEndsInAValue(header: String) async throws {
            try await FacebookLine.run {
                Recovery(maxAttempts: 2, maxWait: .milliseconds(10))
            } body: { line in
                var fault = SandboxFault.facebook(80_000, path: "/v25.0/", times: 0)
                fault.headers = [
                    "X-App-Usage": header, "X-Business-Use-Case-Usage": header, "X-Ad-Account-Usage": header,
                    "Retry-After": header,
                ]
                line.sandbox.add(fault)
                let error = await #expect(throws: RecoveryError.self) {
                    try await line.facebook.send(path: "act_1/insights")
                }
                #expect(error?.kind == .rateLimited || error?.kind == .quotaExhausted)
                #expect(error?.retryAfter.map { $0 >= .zero } ?? true)
                #expect(line.count <= 2)
            }
        }

        @Test func garbageIsNoAnswer() async throws {
            try await FacebookLine.run { line in
                line.sandbox.add(SandboxFault(.garbage, path: "/v25.0/me", times: 0))
                let error = await #expect(throws: RecoveryError.self) { try await line.post() }
                #expect(error?.kind == .transport || error?.kind == .unreadable)
                #expect(line.count == 1)
            }
        }
    }
}
