import HTTPRecoveryTesting
import Testing

/// One way after the other: with `SOAK_SECONDS` each looks at what the process holds, and has to be the only test then.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct SoakTests {
    @Test(arguments: TransportSoak.ways(of: CurlConformance.soaked))
    func everyCallEndsAndNothingIsKept(_ way: TransportSoak.Way) async throws {
        try await TransportSoak(CurlConformance.soaked, way).run()
    }
}
