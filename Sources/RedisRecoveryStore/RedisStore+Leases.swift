#if Redis
public import HTTPRecovery

extension RedisStore {
    /// How long the server remembers the last fence of a lease that nobody asks for.
    static let fenceLifetime: Duration = .seconds(30 * 86_400)

    /// Grants the lease, unless somebody holds it.
    ///
    /// The fence begins with the server's time in microseconds: it grows even when the server has lost its data, as
    /// long as its clock does not go back. While another server has granted before (a replica was promoted, a server
    /// was started again), or may have before one that was promoted, and its last leases may have been lost, none is
    /// granted. A lease whose grant is not learnt of (the task is cancelled, the answer too late or lost) is given back by
    /// the connection as soon as the server can be reached.
    public func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async throws -> SharedState
        .Lease?
    {
        // 128 random bits tell this grant from every other.
        let owner = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].flatMap(Digits.text)
        let lease = keys.lease(name)
        let command = Command(
            Scripts.acquireLease,
            keys: [lease, keys.fence(name), keys.home(of: lease)],
            arguments: [Digits.text(duration), owner, Digits.text(Self.fenceLifetime)]
        )
        let reply = try await router.ask(
            command.amended(by: Scripts.disownLease, keys: [lease], arguments: [owner], for: duration)
        )
        if reply == .null { return nil }
        return SharedState.Lease(name: name, fence: try reply.number())
    }

    /// Extends a lease to `duration` from now; false when it has run out or another holds it.
    public func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async throws -> Bool
    {
        let (key, fence) = (keys.lease(lease.name), Digits.text(lease.fence))
        return try await run(Scripts.extendLease, on: [key], fence, Digits.text(duration)).integer() == 1
    }

    /// Gives a lease back; one that is not held any more is left alone.
    public func releaseLease(_ lease: SharedState.Lease) async throws {
        _ = try await run(Scripts.releaseLease, on: [keys.lease(lease.name)], Digits.text(lease.fence)).integer()
    }
}
#endif
