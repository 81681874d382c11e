import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P1NothingIsSpentTwice {
    @Test func aWriteThatMayHaveBeenDoneIsNotRepeated() async throws {
        for failure in [
            ScriptedTransport.Step.fail(.connectionLost, .unknown), .fail(.truncated, .answered), .error(1), .error(2),
            .error(2, nil, 500), .status(500), .answer("Service Unavailable"), .status(502, [:], body: "<html>"),
        ] {
            let bench = try FacebookBench([failure, .answer(#"{"id":"1"}"#)])
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.skippingWaits {
                    try await bench.facebook.send(.post, path: "me/feed", body: .form(["message": "x"]))
                }
            }
            #expect(error?.outcome.processed != .no)
            #expect(bench.transport.received.count == 1)
        }
    }

    @Test func aWriteThatWasNotDoneIsRepeated() async throws {
        for failure in [
            ScriptedTransport.Step.fail(.cannotConnect, .neverSent), .fail(.streamRefused, .notProcessed), .error(4),
            .error(17, nil, 403), .error(2, nil, 503, ["retry-after": "1"]),
        ] {
            let bench = try FacebookBench([failure, .answer(#"{"id":"1"}"#)])
            _ = try await bench.skippingWaits {
                try await bench.facebook.send(.post, path: "me/feed", body: .form(["message": "x"]))
            }
            #expect(bench.sent[0] == bench.sent[1])
        }
    }

    @Test func aCallIsNotRepeatedForSomebodyElse() async throws {
        let bench = try FacebookBench([.me])
        _ = try await bench.facebook.currentUser()
        let tokens = bench.tokens
        bench.transport.append([
            .run { _ in
                // Another process signs somebody else in.
                try await tokens.update { $0 = Credentials(accessToken: "other") }
                return .scripted(400, body: Recorded.error(190, 463))
            }, .answer(#"{"id":"2","name":"Grace"}"#), .answer("{}"),
        ])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.send(.post, path: "me/feed", body: .form(["message": "x"]))
        }
        #expect(error?.reason == .identityChanged)
        #expect(bench.sent.filter { $0.hasPrefix("POST") }.count == 1)
        #expect(try await bench.credentials.accessToken == "other")
    }

    @Test func aPersonWhoSignsInAsSomebodyElseDoesNotPostTheFirstOnesText() async throws {
        let bench = try FacebookBench([.me])
        _ = try await bench.facebook.currentUser()
        bench.transport.append([
            .error(190, 463), .device, .token(), .answer(#"{"id":"2","name":"Grace"}"#), .answer("{}"),
        ])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                try await bench.facebook.send(
                    .post,
                    path: "me/feed",
                    body: .form(["message": "x"]),
                    answering: Person()
                )
            }
        }
        #expect(error?.reason == .identityChanged)
        #expect(error.flatMap { FacebookLoginError($0) } == .userMismatch)
        #expect(bench.sent.filter { $0.hasPrefix("POST /v25.0/me/feed") }.count == 1)
    }
}

@Suite struct P2NoAttemptWhileLocked {
    @Test func aBlockedAppSendsNothingFromAnyClientOfTheStore() async throws {
        let store = InMemoryRecoveryStore()
        let bench = try FacebookBench([.error(4, nil, 403, ["retry-after": "600"])], store: store)
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.reason == .waitExceedsLimit)
        #expect(error?.retryAfter == .seconds(600))
        let other = try FacebookBench([.me], credentials: Credentials(accessToken: "tok9"), store: store)
        let held = await #expect(throws: RecoveryError.self) { try await other.facebook.send(path: "5/feed") }
        #expect(held?.kind == .rateLimited)
        #expect(other.transport.received.isEmpty)
    }

    @Test func aBlockedAppHoldsNoOtherApp() async throws {
        let store = InMemoryRecoveryStore()
        let bench = try FacebookBench([.error(4, nil, 403, ["retry-after": "600"])], store: store)
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        let full = ["x-app-usage": #"{"call_count":100}"#]
        let other = try FacebookBench([.answer("{}", full)], app: FacebookApp(id: "78"), store: store)
        _ = try await other.facebook.send(path: "me")
        let third = try FacebookBench([.me], app: FacebookApp(id: "79"), store: store)
        _ = try await third.facebook.send(path: "me")
        for blocked in [bench, other] {
            let count = blocked.transport.received.count
            let answers = try await blocked.facebook.batch([FacebookBatchRequest(path: "1")])
            #expect(answers.map(\.outcome.kind) == [.rateLimited])
            #expect(blocked.transport.received.count == count)
        }
    }

    @Test func aBlockedPersonHoldsNobodyElse() async throws {
        let store = InMemoryRecoveryStore()
        let bench = try FacebookBench([.error(17, nil, 403, ["retry-after": "600"])], store: store)
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me/feed") }
        #expect(bench.transport.received.count == 1)
        let other = try FacebookBench([.me], credentials: Credentials(accessToken: "tok9"), store: store)
        _ = try await other.facebook.send(path: "me")
    }

    @Test func aBusinessLimitHoldsItsObjectAndUse() async throws {
        let usage = #"{"1":[{"type":"ads_insights","estimated_time_to_regain_access":10}]}"#
        let bench = try FacebookBench([
            .error(80_000, nil, 400, ["x-business-use-case-usage": usage]), .answer("{}"), .answer("{}"),
        ])
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "act_1/insights") }
        #expect(error?.retryAfter == .seconds(600))
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "act_1/insights?x=1") }
        #expect(bench.transport.received.count == 1)
        _ = try await bench.facebook.send(path: "act_1/campaigns")
        _ = try await bench.facebook.send(path: "act_2/insights")
    }

    @Test func aLimitForOneCustomerHoldsNobodyElsesMessages() async throws {
        let message = ProviderRequest(.post, path: "5/messages", body: .form([:]))
        let bench = try FacebookBench([.error(131_056, nil, 400, ["retry-after": "600"]), .answer("{}")])
        await #expect(throws: RecoveryError.self) {
            try await bench.facebook.send(message, as: .stored, counterpart: "+1")
        }
        _ = try await bench.facebook.send(message, as: .stored, counterpart: "+2")
        await #expect(throws: RecoveryError.self) {
            try await bench.facebook.send(message, as: .stored, counterpart: "+1")
        }
        #expect(bench.transport.received.count == 2)
    }
}

@Suite struct P3TheServersWordIsKept {
    @Test func nothingLeavesBeforeTheStatedTime() async throws {
        let bench = try FacebookBench([.error(4, nil, 403, ["retry-after": "48"]), .me])
        let task = Task { try await bench.facebook.send(path: "me") }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .milliseconds(47_999))
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(7))
        _ = try await task.value
    }

    @Test func aLimitWithoutATimeIsLeftAloneForAMinuteAndLongerEachTime() async throws {
        let bench = try FacebookBench([.error(4), .error(4), .me]) { Recovery(maxWait: .seconds(600)) }
        _ = try await bench.skippingWaits { try await bench.facebook.send(path: "me") }
        let delays = bench.events.words.compactMap { $0.hasPrefix("wait") ? Double($0.split(separator: " ")[2]) : nil }
        #expect(delays.count == 2)
        #expect(delays.first.map { $0 >= 60 && $0 < 62 } == true)
        #expect(delays.last.map { $0 >= 120 && $0 < 122 } == true)
    }

    @Test func recoveryThatIsOffKeepsLimitsAllTheSame() async throws {
        let bench = try FacebookBench(
            [.error(4, nil, 403, ["retry-after": "600"])],
            configuration: FacebookConfiguration(recoversFromErrors: false)
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.reason == .recoveryOff)
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(bench.transport.received.count == 1)
    }
}

@Suite struct P4TheDeadlineIsKept {
    @Test func aWaitThatCannotEndBeforeItIsNotBegun() async throws {
        let bench = try FacebookBench([.error(4)]) {
            Deadline(.seconds(10))
            Recovery()
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.reason == .deadlineWouldPass)
        #expect(error?.retryAfter == .seconds(60))
        #expect(bench.clock.requestedDelays.isEmpty)
    }
}

@Suite struct P5OneRefreshAtATime {
    @Test func aTokenThatEndsSoonIsExchangedOnceForAll() async throws {
        let answers = ScriptedTransport.Step.run { received in
            let isExchange = received.request.path?.contains("oauth/access_token") == true
            return .scripted(200, body: isExchange ? #"{"access_token":"tok2","expires_in":5183999}"# : "{}")
        }
        let bench = try FacebookBench(
            Array(repeating: answers, count: 60),
            app: FacebookBench.service,
            credentials: Credentials(
                accessToken: "tok1",
                expiresAt: Timestamp(secondsSinceEpoch: 1_893_456_000 + 1000)
            )
        )
        _ = try await bench.facebook.send(path: "me")
        bench.clock.advance(by: .seconds(960))
        let facebook = bench.facebook
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try? await facebook.send(path: "me") } }
        }
        await facebook.tokens.finish()
        let exchanges = bench.sent.filter { $0.contains("oauth/access_token") }
        #expect(
            exchanges == [
                "GET /v25.0/oauth/access_token?grant_type=fb_exchange_token&client_id=77&client_secret=s3cret&fb_exchange_token=tok1"
            ]
        )
        #expect(try await bench.credentials.accessToken == "tok2")
        _ = try await facebook.send(path: "me")
        #expect(bench.presented.last == "Bearer tok2")
        // Whoever asks for it has it exchanged at any time.
        let session = try await facebook.refresh()
        #expect(session.expiresAt == Timestamp(secondsSinceEpoch: 1_893_456_000 + 960 + 5_183_999))
    }

    @Test func aTokenThatHasEndedIsNotPresentedForExchange() async throws {
        let past = Timestamp(secondsSinceEpoch: 1_893_456_000 - 60)
        let bench = try FacebookBench(
            [.error(190, 463)],
            app: FacebookBench.service,
            credentials: Credentials(accessToken: "tok1", expiresAt: past)
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.refresh() }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(bench.transport.received.isEmpty)
    }
}
