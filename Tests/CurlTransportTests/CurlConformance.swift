import HTTPRecovery
import HTTPRecoveryTesting
import ProcessSupport
import Testing

@testable import CurlTransport

/// The curl transport, as the conformance kit gets it: once over HTTP/1.1, once for each way to HTTP/2.
enum CurlConformance {
    private static let abilities: Set<TransportUnderTest.Ability> = [
        .enforcesTimeouts, .keepsSendLimits, .choosesConnections, .decompresses,
    ]

    static let http1 = TransportUnderTest(
        name: "curl",
        abilities: abilities,
        addedFields: ["accept-encoding"],
        patience: .seconds(900),
        terminate: terminate,
        make: make
    )

    static let http2 = TransportUnderTest(
        name: "curl over HTTP/2",
        abilities: abilities,
        speaksHTTP1: false,
        http2: .tls,
        addedFields: ["accept-encoding"],
        exclusions: ofHTTP2.merging(isOld ? overTLS : [:]) { first, _ in first },
        patience: .seconds(900),
        terminate: terminate,
        make: make
    )

    static let priorKnowledge = isOld ? priorKnowledge(certain.merging(meeting) { $1 }) : priorKnowledgeForCertain
    /// The same, without what it excludes because it fails, or hangs, in some of the rounds alone.
    static let priorKnowledgeForCertain = priorKnowledge(certain)
    private static let certain = ofHTTP2.merging(isOld ? overPlainText : [:]) { $1 }

    private static func priorKnowledge(_ exclusions: [String: String]) -> TransportUnderTest {
        TransportUnderTest(
            name: "curl over HTTP/2 without TLS",
            abilities: abilities,
            speaksHTTP1: false,
            http2: .priorKnowledge,
            addedFields: ["accept-encoding"],
            exclusions: exclusions,
            patience: .seconds(900),
            make: make
        )
    }

    /// Whether libcurl is one with which `automatic` avoids HTTP/2; what it cannot do is known of 7.88.
    private static let isOld = Libcurl.number < 0x080c01
    /// Whether the exclusions were written for it.
    static let isKnown = ["7.88.", "8.14."].contains { Libcurl.version.hasPrefix($0) }

    private static let ofHTTP2 = [
        "http2/no-error-in-unstated-body/*":
            "libcurl takes RST_STREAM with NO_ERROR for the end of a body whose length is not stated"
    ]

    private static let overTLS = [
        "http2/refused-stream/*/reused":
            "libcurl 7.88 does not tell a refused stream from an illegal frame on a used connection, so it is `unknown`"
    ]

    /// It speaks HTTP/2 over plain text once a connection.
    private static let overPlainText: [String: String] = {
        let reason = "libcurl 7.88 fails a second request on a connection of HTTP/2 without TLS (code 16)"
        return ["http2/*/*/reused": reason, "http2/one-connection": reason]
    }()

    private static let meeting = [
        "http2/cancellation/awaiting-the-head/*", "http2/cancellation/in-the-queue", "http2/cancellation/at-random",
        "http2/shutdown/at-random", "http2/shutdown/awaiting-the-head", "http2/shutdown/in-the-queue",
    ].reduce(into: [:]) { $0[$1] = "libcurl 7.88 fails the second of two requests that happen to meet on a connection" }

    static let all = [http1, http2, priorKnowledge]

    static func lanes(areRepeated: Bool) -> [TransportConformance.Lane] {
        all.flatMap { TransportConformance.lanes(2, for: $0) { $0.isRepeated == areRepeated } }
    }

    /// All ways at once, on one loop or two.
    static let soaked = TransportUnderTest(name: "curl", abilities: abilities, http2: .tls, terminate: terminate) {
        var configuration = configuration(of: $0)
        configuration.loops = .random(in: 1...2)
        return CurlTransport(configuration: configuration)
    }

    @Sendable private static func make(_ options: TransportUnderTest.Options) -> any HTTPTransport {
        CurlTransport(configuration: configuration(of: options))
    }

    private static func configuration(of options: TransportUnderTest.Options) -> CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration(
            httpVersion: options.speaksHTTP2 ? .http2 : .http1,
            caFile: options.caFile,
            connectTimeout: options.connectTimeout,
            maxIdleTime: options.idleTimeout
        )
        if let most = options.maxConnectionsPerOrigin { configuration.maxConnectionsPerOrigin = most }
        configuration.speaksHTTP2WithPriorKnowledge = options.speaksHTTP2 && options.caFile == nil
        return configuration
    }

    private static var terminate:
        (@Sendable (TransportUnderTest.TLSRequest) async throws -> TransportUnderTest.TLSEndpoint)?
    {
        guard TLSFront.isAvailable else { return nil }
        return { request in
            let front = try await TLSFront.start(
                port: request.port,
                protocols: request.protocols,
                name: request.subject
            )
            return TransportUnderTest.TLSEndpoint(port: front.port, caFile: front.caFile, owner: front)
        }
    }
}

/// What every transport has to do, done by this one.
// A thousand rounds over HTTP/2, with a process for the TLS of each, take hours on a small machine.
@Suite(.timeLimit(.minutes(30 + TransportConformance.roundsInEnvironment() / 4)))
struct CurlConformanceTests {
    @Test(arguments: CurlConformance.lanes(areRepeated: true))
    func endsAtAnyMoment(_ lane: TransportConformance.Lane) async {
        await lane.run { Issue.record($1, "\(lane.subject): \($0)") }
    }

    @Test(arguments: CurlConformance.lanes(areRepeated: false))
    func conforms(_ lane: TransportConformance.Lane) async {
        await lane.run { Issue.record($1, "\(lane.subject): \($0)") }
    }

    @Test(arguments: CurlConformance.all)
    func whatIsExcludedHasToBe(_ subject: TransportUnderTest) {
        #expect(TransportConformance.needlessExclusions(of: subject) == [])
    }

    @Test(
        .enabled(if: CurlConformance.isKnown),
        arguments: [CurlConformance.http1, CurlConformance.http2, CurlConformance.priorKnowledgeForCertain]
    )
    func whatIsExcludedFails(_ subject: TransportUnderTest) async {
        let outgrown = await TransportConformance.outgrownExclusions(of: subject)
        #expect(outgrown == [], "they pass: \(outgrown)")
    }

    /// The table of the article is what the code says.
    @Test(.enabled(if: Libcurl.version.hasPrefix("7.88.")))
    func theArticleListsTheExclusions() {
        let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let article = "/\(path)/Sources/HTTPRecoveryTesting/HTTPRecoveryTesting.docc/TestATransport.md"
        let text = String(decoding: Files.read(article), as: UTF8.self)
        let rows = text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `") && $0.contains("` | ") }
        let table = rows.filter { $0.split(separator: "|").count == 3 }
        #expect(table == CurlConformance.all.flatMap { TransportConformance.exclusions(of: $0) })
        #expect(TransportConformance.exclusions(of: CurlConformance.http1) == [], "the article says so")
    }
}
