import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The kit itself: each thing that a transport must not do is found by the check that is there for it.
@Suite(.timeLimit(.minutes(30)))
struct TransportConformanceKitTests {
    private static let offences: [(Offence, [String])] = [
        (.resends, ["once/lost/POST/new", "once/lost/GET/reused", "once/lost-body"]),
        (.resendsRefusals, ["once/refusals/503", "once/refusals/429"]),
        (.claimsNeverSent, ["once/lost/POST/new", "once/lost/POST-once/reused"]),
        (.claimsNotProcessed, ["once/lost/POST/new"]),
        (.claimsAnswered, ["once/lost/GET/new", "shutdown/later-calls"]),
        (.followsRedirects, ["once/redirects/302/GET", "once/redirects/307/POST"]),
        (.dropsRepeatedFields, ["headers/response/repeated", "headers/response/set-cookie"]),
        (.dropsRepeatedRequestFields, ["headers/request/repeated"]),
        (.mergesFields, ["headers/response/set-cookie"]),
        (.addsAField, ["headers/request/nothing-added/GET", "headers/request/nothing-added/POST-9"]),
        (.readsAhead, ["streaming/slow-reader", "streaming/head-first", "streaming/piece-by-piece"]),
        (.uploadsFromMemory, ["streaming/slow-server", "streaming/both-ways"]),
        // By the ledger that each check keeps.
        (.sendsTwice, ["headers/response/case", "responses/status/200", "reuse/many-at-once"]),
        (.claimsAfterAnAnswer, ["bodies/broken/shorter/new", "headers/request/no-smuggling"]),
        (.keepsAnswers, ["responses/chunked/1"]),
        (.swallowsCancellation, ["cancellation/awaiting-the-head/POST", "cancellation/upload"]),
        (.renamesCancellation, ["cancellation/awaiting-the-head/GET", "cancellation/in-the-body"]),
        (.goesOnAfterCancellation, ["cancellation/awaiting-the-head/GET"]),
        (.keepsDroppedBodies, ["streaming/dropped", "streaming/dropped-flood"]),
        (.keepsCookies, ["once/cookies"]), (.keepsAnswers, ["once/cache"]),
        (.answersChallenges, ["once/challenges/basic"]),
        (.hidesBrokenBodies, ["bodies/broken/throws/new", "bodies/broken/shorter/reused"]),
        (.ignoresShutdown, ["shutdown/later-calls", "shutdown/unused"]),
        (.boastsOfTimeouts, ["abilities/declared"]),
    ]

    @Test(arguments: offences)
    func isFound(offence: Offence, ids: [String]) async throws {
        let subject = TransportUnderTest(
            inProcess: "\(offence)",
            abilities: [.keepsSendLimits],
            patience: .seconds(offence.hangs ? 2 : 900)
        ) { _, handler in
            BadTransport(transport: InProcessTransport(handler), offence: offence)
        }
        for id in ids {
            let check = try #require(TransportConformance.checks.first { $0.id == id }, "\(id)")
            // It is the offence that is found.
            try await check(InProcessTransportTests.subject)
            let failure = await #expect(throws: ConformanceFailure.self, "\(id)") { try await check(subject) }
            #expect(failure?.description.hasPrefix(id) == true || offence.hangs)
        }
    }

    @Test func checksAreManyAndHaveIdsOfTheirOwn() {
        let checks = TransportConformance.checks
        #expect(Set(checks.map(\.id)).count == checks.count)
        #expect(checks.count >= 400)
        let areas = Dictionary(grouping: checks) { $0.id.prefix { $0 != "/" } }.mapValues(\.count)
        for area in [
            "headers", "bodies", "requests", "responses", "streaming", "cancellation", "timeouts", "reuse", "once",
            "shutdown", "tls", "connect", "early-answers", "faults", "http2", "send-limit", "abilities",
        ] {
            #expect(areas[area[...]] ?? 0 > 0, "\(area)")
        }
        for check in checks { #expect(!check.name.isEmpty && check.id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }) }
    }

    @Test func aCheckThatDoesNotApplyDoesNotPass() async throws {
        let subject = InProcessTransportTests.subject
        let applying = Set(TransportConformance.checks(for: subject).map(\.id))
        for check in TransportConformance.checks where !applying.contains(check.id) {
            await #expect(throws: ConformanceFailure.self) { try await check(subject) }
        }
        #expect(applying.count > 100)
    }

    @Test func exclusionsAreListedAndKept() {
        func subject(_ exclusions: [String: String]) -> TransportUnderTest {
            TransportUnderTest(inProcess: "x", exclusions: exclusions) { _, handler in InProcessTransport(handler) }
        }
        let excluding = subject([
            "once/cache": "it has a cache", "streaming/dropped*": "unused", "cancellation/*": "none",
        ])
        let ids = Set(TransportConformance.checks(for: excluding).map(\.id))
        #expect(!ids.contains("once/cache") && !ids.contains("cancellation/upload") && ids.contains("once/cookies"))
        let lines = TransportConformance.exclusions(of: excluding)
        #expect(lines == ["| `cancellation/*` | 8 | none |", "| `once/cache` | 1 | it has a cache |"])
        #expect(TransportConformance.needlessExclusions(of: excluding) == ["streaming/dropped*"])
        #expect(TransportConformance.needlessExclusions(of: subject(["tls/trusted": "no sockets"])) == ["tls/trusted"])
        #expect(TransportConformance.exclusions(of: subject([:])) == [])
        let middle = subject(["once/*/302/GET": "a", "once/redirects/*/POST": "b"])
        #expect(
            TransportConformance.exclusions(of: middle) == [
                "| `once/*/302/GET` | 1 | a |", "| `once/redirects/*/POST` | 5 | b |",
            ]
        )
    }
}
