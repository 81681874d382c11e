import Foundation
import HTTPRecoveryTesting
import Testing
import URLSessionTransport

/// What every transport has to do, as far as `URLSession` on Linux lets this one do it.
///
/// What ends the whole program there (a response that breaks off in its header section) is excluded with the rest.
@Suite(.timeLimit(.minutes(30)))
struct URLSessionConformanceTests {
    static let alone = TransportUnderTest(
        name: "urlsession",
        abilities: [.decompresses],
        addedFields: added,
        exclusions: exclusions.merging(ofConnectionsOfTheirOwn) { first, _ in first }
            .merging(neverTried) { first, _ in first }
    ) { _ in URLSessionTransport() }

    static let sharing = TransportUnderTest(
        name: "urlsession that shares connections",
        abilities: [.decompresses],
        addedFields: added,
        exclusions: exclusions.merging(ofSharedConnections) { first, _ in first }
            .merging(neverTried) { first, _ in first }.merging(seldom) { first, _ in first }
    ) { _ in URLSessionTransport(sharesConnections: true) }

    private static let added: Set<String> = [
        "accept", "accept-encoding", "accept-language", "connection", "content-type", "user-agent",
    ]

    private static let exclusions = [
        "headers/response/repeated": "fields of the same name are one, in no order",
        "headers/response/set-cookie": "fields of the same name are one, in no order",
        "headers/request/repeated": "fields of the same name are one, in no order",
        "headers/response/latin1": "a field that is not UTF-8 fails the transfer",
        "headers/response/blanks": "a field with blanks alone fails the transfer",
        "headers/interim/*": "an interim response is taken for the response, and the transfer never ends",
        "reuse/after/interim": "an interim response is taken for the response, and the transfer never ends",
        "faults/switched-protocol/*": "a switch to another protocol is taken for the response",
        "faults/endless-interim/*": "an interim response is taken for the response, and the transfer never ends",
        "headers/request/framing": "bodies are collected before they are sent",
        "cancellation/upload": "bodies are collected before they are sent",
        "shutdown/upload": "bodies are collected before they are sent",
        "early-answers/*/streamed": "bodies are collected before they are sent",
        "early-answers/reset": "an answer that comes while the body is written is lost in some of the rounds",
        "connect/refused/POST-once": "bodies are collected before they are sent",
        "requests/target": "segments of dots are taken out of paths",
        "responses/coding/*": "codings are undone that the caller asked for, and the field that names them is kept",
        "faults/broken-coding/*": "a broken coding has no code of its own",
        "streaming/both-ways": "bodies are collected before they are sent",
        "streaming/slow-reader": "what comes in is kept, without a bound",
        "streaming/slow-server": "what comes in is kept, without a bound",
        "timeouts/connect-limit": "connecting has no limit of its own",
        "once/challenges/basic": "a Basic challenge never reaches the caller, and the transfer never ends",
        "tls/*": "a failed handshake has no code of its own, so nothing proves that the request was not sent",
        "faults/endless-headers/*": "a header section that is too large has no code of its own",
        "faults/endless-header-line/*": "a header section that is too large has no code of its own",
    ]

    /// What ends the whole program.
    private static let neverTried = [
        "responses/raw/trailers": "a response with trailers ends the program",
        "faults/closed-in-header/*": "a response that breaks off in its header section ends the program",
        "faults/closed-before-empty-line/*": "a response that breaks off in its header section ends the program",
        "faults/stalled-in-headers/*": "a response that is given up in its header section ends the program",
        "faults/trickled-for-too-long/*": "a response that is given up in its header section ends the program",
    ]

    private static let ofConnectionsOfTheirOwn = [
        "reuse/after/*": "each attempt has a connection of its own"
    ]

    private static let ofSharedConnections = [
        "connect/*": "a connection that fails may be the session's second try, so it proves nothing",
        "once/lost/*/reused": "a request on a connection that dies is sent again, or hangs if it has a body",
        "faults/*/*/reused": "a request on a connection that dies is sent again, or hangs if it has a body",
        "reuse/closed-while-idle": "a request on a connection that dies is sent again, or hangs if it has a body",
        "reuse/unsolicited": "what nobody asked for is taken for an answer",
    ]

    /// What fails too seldom to be waited for.
    private static let seldom = [
        "faults/reset-at-once/*/new": "what is reset at once may be tried again",
        "streaming/dropped-flood": "a body that floods in is read to its end",
    ]

    @Test(.serialized, arguments: TransportConformance.checks(for: alone))
    func conforms(_ check: TransportConformance.Check) async throws {
        try await check(Self.alone)
    }

    /// Connections that are shared have the faults that the article names.
    @Test(.serialized, arguments: TransportConformance.checks(for: sharing))
    func conformsButForItsFaults(_ check: TransportConformance.Check) async throws {
        try await check(Self.sharing)
    }

    @Test(arguments: [alone, sharing])
    func whatIsExcludedHasToBe(_ subject: TransportUnderTest) {
        #expect(TransportConformance.needlessExclusions(of: subject) == [])
    }

    /// Of what each exclusion leaves out something fails, in one of twenty tries.
    @Test(
        .enabled(if: ProcessInfo.processInfo.environment["CI_THOROUGH"] != nil, "most of them hang"),
        arguments: [(alone, ofConnectionsOfTheirOwn), (sharing, ofSharedConnections)]
    )
    func whatIsExcludedFails(_ subject: TransportUnderTest, _ own: [String: String]) async {
        let shares = subject.name == Self.sharing.name
        func excluding(_ exclusions: [String: String]) -> TransportUnderTest {
            TransportUnderTest(
                name: subject.name,
                abilities: subject.abilities,
                addedFields: subject.addedFields,
                exclusions: exclusions,
                patience: .seconds(10)
            ) { _ in URLSessionTransport(sharesConnections: shares) }
        }
        let checks = TransportConformance.checks(for: excluding(Self.neverTried))
        for (pattern, reason) in Self.exclusions.merging(own, uniquingKeysWith: { first, _ in first }) {
            let excluded = excluding([pattern: reason])
            var fails = false
            for check in checks where excluded.reasonForExcluding(check.id) != nil {
                for _ in 0..<20 where !fails {
                    do { try await check(excluded) } catch { fails = true }
                }
            }
            #expect(fails, "\(pattern): all pass")
        }
    }

    /// The article's parts are compiled here, and its tables are what is excluded.
    @Test func theArticleIsThis() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(path: "Sources/HTTPRecovery/HTTPRecovery.docc/WriteATransport.md"),
            encoding: .utf8
        )
        let folder = root.appending(path: "Examples/Sources/URLSessionTransport")
        let source = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
            .joined().filter { !$0.isWhitespace }
        let parts = article.components(separatedBy: "```swift\n").dropFirst()
        #expect(parts.count == 5)
        for part in parts {
            let code = try #require(part.components(separatedBy: "```").first).filter { !$0.isWhitespace }
            #expect(source.contains(code), "\(code.prefix(60))")
        }
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        let common = TransportConformance.exclusions(of: Self.alone)
        let more = TransportConformance.exclusions(of: Self.sharing).filter { !common.contains($0) }
        #expect(rows == common + more)
    }
}
