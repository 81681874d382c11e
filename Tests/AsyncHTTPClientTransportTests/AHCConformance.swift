#if AsyncHTTPClient
import AsyncHTTPClientTransport
import HTTPRecovery
import HTTPRecoveryTesting
import ProcessSupport
import Testing

/// The transport as the conformance kit gets it: over HTTP/1.1, and over HTTP/2, which it speaks over TLS alone.
enum AHCConformance {
    private static let abilities: Set<TransportUnderTest.Ability> = [
        .enforcesTimeouts, .keepsSendLimits, .choosesConnections, .decompresses,
    ]

    static let http1 = http1(patience: .seconds(900))

    static func http1(patience: Duration) -> TransportUnderTest {
        TransportUnderTest(
            name: "ahc",
            abilities: abilities,
            addedFields: ["accept-encoding"],
            exclusions: exclusions,
            patience: patience,
            terminate: terminate,
            make: make
        )
    }

    static let http2 = http2(patience: .seconds(900))

    static func http2(patience: Duration) -> TransportUnderTest {
        TransportUnderTest(
            name: "ahc over HTTP/2",
            abilities: abilities,
            speaksHTTP1: false,
            http2: .tls,
            addedFields: ["accept-encoding"],
            exclusions: exclusionsOfHTTP2,
            patience: patience,
            terminate: terminate,
            make: make
        )
    }

    /// All ways at once.
    static let soaked = TransportUnderTest(
        name: "ahc",
        abilities: abilities,
        http2: .tls,
        terminate: terminate,
        make: make
    )

    private static let exclusions = [
        "cancellation/while-connecting":
            "AsyncHTTPClient makes a connection whose request was cancelled all the same; the caller is let go at once",
        "early-answers/reset": "the body of such an answer is lost in some of the rounds; its head is not",
        "headers/response/folded": "SwiftNIO's parser takes obsolete folding for an error",
        "headers/response/latin1": "SwiftNIO hands over texts, in which bytes that are not UTF-8 are replaced",
    ]

    private static let exclusionsOfHTTP2 = [
        "http2/many-fields":
            "AsyncHTTPClient takes no header section above 16 KiB over HTTP/2; it ends as `connection_lost`"
    ]

    static let all = [http1, http2]

    static func lanes(areRepeated: Bool) -> [TransportConformance.Lane] {
        all.flatMap { TransportConformance.lanes(4, for: $0) { $0.isRepeated == areRepeated } }
    }

    @Sendable private static func make(_ options: TransportUnderTest.Options) -> any HTTPTransport {
        var configuration = AsyncHTTPClientTransport.Configuration(
            httpVersion: options.speaksHTTP2 ? .automatic : .http1,
            caFile: options.caFile,
            connectTimeout: options.connectTimeout,
            maxIdleTime: options.idleTimeout
        )
        if let most = options.maxConnectionsPerOrigin { configuration.maxConnectionsPerOrigin = most }
        return AsyncHTTPClientTransport(configuration: configuration)
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
struct AHCConformanceTests {
    @Test(arguments: AHCConformance.lanes(areRepeated: true))
    func endsAtAnyMoment(_ lane: TransportConformance.Lane) async {
        await lane.run { Issue.record($1, "\(lane.subject): \($0)") }
    }

    @Test(arguments: AHCConformance.lanes(areRepeated: false))
    func conforms(_ lane: TransportConformance.Lane) async {
        await lane.run { Issue.record($1, "\(lane.subject): \($0)") }
    }

    @Test(arguments: AHCConformance.all)
    func whatIsExcludedHasToBe(_ subject: TransportUnderTest) {
        #expect(TransportConformance.needlessExclusions(of: subject) == [])
    }

    /// The table of the article is what the code says.
    @Test
    func theArticleListsTheExclusions() {
        let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let module = "/\(path)/Sources/AsyncHTTPClientTransport"
        let article = Files.read("\(module)/AsyncHTTPClientTransport.docc/AsyncHTTPClientTransport.md")
        let lines = String(decoding: article, as: UTF8.self).split(separator: "\n").map(String.init)
        let rows = lines.filter { $0.hasPrefix("| `") && $0.contains("/") && $0.split(separator: "|").count == 3 }
        #expect(rows == AHCConformance.all.flatMap { TransportConformance.exclusions(of: $0) })
    }

    /// What is only now and then as it should be is tried again; what hangs is known to after ten seconds.
    @Test(arguments: [AHCConformance.http1(patience: .seconds(10)), AHCConformance.http2(patience: .seconds(10))])
    func whatIsExcludedFails(_ subject: TransportUnderTest) async {
        let outgrown = await TransportConformance.outgrownExclusions(of: subject, tries: 50)
        #expect(outgrown == [], "they pass: \(outgrown)")
    }
}
#endif
