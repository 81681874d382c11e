import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Layers that only set what accompanies a call.
@Suite(.timeLimit(.minutes(30))) struct ContextLayerTests {
    /// Adds a letter to the call's label.
    private struct Labelling: ContextLayer {
        let letter: String

        func adjust(_ context: inout CallContext) {
            context.options.label = (context.options.label ?? "") + letter
        }
    }

    /// Writes down the label that it sees.
    private struct Reading: ClientLayer {
        let seen: Locked<[String]>

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            seen.withLock { $0.append(context.options.label ?? "none") }
            return try await next(request, body: body, context: context)
        }
    }

    @Test func theyAdjustForThoseInsideThemInTheirOrder() async throws {
        let seen = Locked<[String]>([])
        let bench = Bench([.status(503), .status(200)]) {
            Reading(seen: seen)
            Labelling(letter: "a")
            Labelling(letter: "b")
            Reading(seen: seen)
            Recovery { TransientRetry(backoff: .constant(.seconds(1))) }
            Labelling(letter: "c")
            Reading(seen: seen)
        }
        _ = try await bench.sendSkippingWaits()
        // The inner one begins anew with each attempt.
        #expect(seen.withLock { $0 } == ["none", "ab", "abc", "abc"])
    }

    @Test func theyStandAmongTheLayersOfACallToo() async throws {
        let seen = Locked<[String]>([])
        let bench = Bench()
        let layers: [any ClientLayer] = [Labelling(letter: "x"), Reading(seen: seen)]
        _ = try await bench.client.send(Bench.get, options: RequestOptions(attemptLayers: layers))
        #expect(seen.withLock { $0 } == ["x"])
    }

    @Test func byThemselvesTheyHandTheCallOn() async throws {
        let context = CallContext(runtime: Runtime())
        let next = Next { _, _, context in
            #expect(context.options.label == "alone")
            return RecoveredResponse(head: HTTPResponse(status: .ok), body: .empty)
        }
        let layer = Labelling(letter: "alone")
        #expect(try await layer.intercept(Bench.get, body: nil, context: context, next: next).status == .ok)
    }
}

/// What is small because every layer has a copy of it keeps being a value.
@Suite struct SmallValueTests {
    @Test func aDurationInOneWordIsWhatItWas() {
        for duration in [Duration.zero, .nanoseconds(1), .nanoseconds(-1), .seconds(30), .seconds(1 << 32), .longest] {
            #expect(PackedDuration(duration).value == duration)
        }
        #expect(PackedDuration(nil).value == nil)
        #expect(PackedDuration().value == nil)
        // Beyond 292 years there is no telling the difference.
        #expect(PackedDuration(.seconds(1 << 40)).value == .longest)
        #expect(PackedDuration(.seconds(-(1 << 40))).value ?? .zero < .seconds(-(1 << 33)))
        #expect(PackedDuration(Duration(attoseconds: 1_999_999_999)).value == .nanoseconds(1))
    }

    @Test func durationsInOneWordAreAddedAndCompared() {
        func packed(_ seconds: Int64) -> PackedDuration { PackedDuration(.seconds(seconds)) }
        let longest = PackedDuration(.longest)
        #expect((packed(2) + packed(3)).value == .seconds(5) && (packed(3) + packed(-5)).value == .seconds(-2))
        #expect((packed(5) - packed(3)).value == .seconds(2))
        #expect((packed(3) - packed(5)).value == .zero, "time that is left is never less than none")
        #expect((longest + packed(1)).value == .longest && (packed(1) + longest).value == .longest)
        #expect((longest - packed(1)).value == .longest && (packed(1) - packed(Int64.min / 4)).value == .longest)
        #expect(PackedDuration.least(.none, packed(1)).value == .seconds(1))
        #expect(PackedDuration.least(packed(1), .none).value == .seconds(1))
        #expect(PackedDuration.least(packed(1), packed(-1)).value == .seconds(-1))
        #expect(
            PackedDuration.least(.none, .none).isNone && PackedDuration.least(longest, packed(1)).value == .seconds(1)
        )
        #expect(packed(0).isOver && packed(-1).isOver && !packed(1).isOver && !PackedDuration.none.isOver)
    }

    @Test func aCopyOfAResponseIsItsOwn() {
        let first = RecoveredResponse(head: HTTPResponse(status: .ok), body: MessageBody("a"))
        var second = first
        second.head.status = .created
        second.outcome = Outcome(.unavailable)
        second.origin = Origin(scheme: "https", authority: "other.example")
        #expect(first.status == .ok && first.outcome.kind == .ok && first.origin == nil)
        #expect(second.status == .created && second.outcome.kind == .unavailable && second.origin != nil)
    }

    /// A dump reads without the lock.
    @Test func whatIsBehindALockIsNotDumped() {
        let context = CallContext(options: RequestOptions(account: "somebody"), runtime: Runtime())
        var text = ""
        dump(context, to: &text)
        dump(context.record, to: &text)
        #expect(!text.contains("attempts") && !text.contains("history"))
    }

    @Test func aCopyOfAContextIsItsOwn() {
        let first = CallContext(options: RequestOptions(label: "first"), runtime: Runtime())
        var second = first
        second.options.label = "second"
        second.deadline = TimeSource.Instant(sinceStart: .seconds(5))
        second.attemptTimeout = .longest
        second.followUp = Outcome(.unavailable)
        second.present(nil)
        #expect(first.options.label == "first" && first.deadline == nil && first.attemptTimeout == nil)
        #expect(first.followUp == nil)
        #expect(second.options.label == "second" && second.attemptTimeout == .longest)
        #expect(second.deadline?.sinceStart == .seconds(5) && second.followUp?.kind == .unavailable)
    }

    @Test(arguments: [
        ("https", "api.example.com", "api.example.com"), ("https", "api.example.com:443", "api.example.com"),
        ("https", "API.example.com", "api.example.com"), ("https", "a:b@api.example.com", "api.example.com"),
        ("http", "api.example.com:80", "api.example.com"), ("http", "api.example.com:443", "api.example.com:443"),
        ("https", ":443", ""), ("https", "443", "443"), ("https", "", ""),
    ])
    func anOriginIsTheSameHoweverItIsWritten(scheme: String, authority: String, expected: String) {
        let origin = Origin(scheme: scheme, authority: authority)
        #expect(origin.scheme == scheme && origin.authority == expected)
        #expect(Origin(scheme: scheme.uppercased(), authority: authority) == origin)
    }
}
