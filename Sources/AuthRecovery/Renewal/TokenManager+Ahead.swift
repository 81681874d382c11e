package import HTTPRecovery

/// Renewal for nobody's call, before one needs it.
extension TokenManager {
    /// Renews the credentials if they have expired or will soon, for nobody's call.
    ///
    /// - Throws: As ``renew(_:)``; nothing if nothing is to be done.
    package func renewIfDue(_ context: CallContext) async throws {
        let present = try await store.read().credentials
        guard let renewer, renewer.canRenew(present), need(of: present, time: context.runtime.time) != .none else {
            return
        }
        _ = try await renew(present, context)
    }

    /// How long the credentials serve before they are to be renewed; zero if that is now, nil if it is never.
    ///
    /// - Throws: ``Credentials/StoreError`` when the store cannot be read.
    package func timeUntilRenewal(in runtime: Runtime) async throws -> Duration? {
        let present = try await store.read().credentials
        guard renewer?.canRenew(present) == true else { return nil }
        guard need(of: present, time: runtime.time) == .none else { return .zero }
        let (lifetime, random) = (lifetime(of: present, runtime.time), RenewalRules.draw(present))
        let margin = RenewalRules.margin(lifetime: lifetime, leeway: options.leeway, random: random)
        return present.expiresAt.map { max(.zero, $0.elapsed(since: clock.now(runtime.time)) - margin) }
    }
}
