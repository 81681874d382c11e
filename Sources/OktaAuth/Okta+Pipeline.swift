import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Okta {
    /// What an org runs on.
    @nonexhaustive public enum Pipeline: String, Sendable, Hashable {
        /// The identity engine.
        case identityEngine = "idx"
        /// The classic engine.
        case classic = "v1"
    }

    /// What the org runs on, as it says by itself; asked once, and remembered.
    ///
    /// - Returns: Nil if the org does not say: then nothing is known, and nothing is remembered.
    /// - Throws: `RecoveryError` when the org cannot be asked; `CancellationError` as soon as the task is cancelled.
    public func pipeline() async throws -> Pipeline? {
        try await api.pipeline()
    }
}

extension OktaAPI {
    /// What the org runs on; nil if it does not say.
    func pipeline() async throws -> Okta.Pipeline? {
        if let known = knownPipeline.withLock({ $0 }) { return known }
        do {
            let call = Call(
                request: org.request(.get, path: "/.well-known/okta-organization"),
                resend: .byMethod,
                purpose: .plain
            )
            let response = try await send(call)
            let json = response.body.bytesInMemory.flatMap { try? JSONValue(parsing: Array($0)) }
            let pipeline = json?["pipeline"]?.string.flatMap { Okta.Pipeline(rawValue: $0) }
            knownPipeline.withLock { $0 = pipeline ?? $0 }
            return pipeline
        } catch let error as RecoveryError where Self.saysNothing(error) {
            return nil
        }
    }

    /// Whether the org has answered that it does not say; an outage is no such answer.
    ///
    /// Nothing was presented that a 401 could refuse.
    private static func saysNothing(_ error: RecoveryError) -> Bool {
        [.unreadable, .notFound, .permissionDenied, .invalidRequest, .credentialRejected, .unknown]
            .contains(error.kind)
    }
}
