#if AsyncHTTPClient
import HTTPRecoveryTesting
import Testing

/// One way after the other: with `SOAK_SECONDS` each looks at what the process holds, and has to be the only test then.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct AHCSoakTests {
    @Test(arguments: TransportSoak.ways(of: AHCConformance.soaked))
    func everyCallEndsAndNothingIsKept(_ way: TransportSoak.Way) async throws {
        try await TransportSoak(AHCConformance.soaked, way).run()
    }
}
#endif
