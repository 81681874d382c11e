import AuthRecovery
import HTTPRecovery

/// A store that takes its time to write.
final class SlowTokenStore: TokenStore {
    let replacing = Latch()
    let release = Latch()
    private let store: InMemoryTokenStore

    init(_ credentials: Credentials) {
        store = InMemoryTokenStore(credentials)
    }

    func read() async -> Credentials.Stored { await store.read() }

    func replace(version: UInt64, with credentials: Credentials) async -> Credentials.Stored? {
        await replacing.open()
        await release.wait()
        return await store.replace(version: version, with: credentials)
    }

    func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? {
        await store.acquireLease(for: duration, time: time)
    }
}

/// A store whose disk is full at times.
final class FlakyTokenStore: TokenStore {
    private let store: InMemoryTokenStore
    private let isFull = Locked(false)

    init(_ credentials: Credentials) {
        store = InMemoryTokenStore(credentials)
    }

    func failsToWrite(_ fails: Bool) {
        isFull.withLock { $0 = fails }
    }

    func read() async -> Credentials.Stored { await store.read() }

    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        if isFull.withLock({ $0 }) { throw Credentials.StoreError("the disk is full") }
        return await store.replace(version: version, with: credentials)
    }

    func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? {
        await store.acquireLease(for: duration, time: time)
    }
}

/// A store in which something happens before it is read or changed.
final class HookedTokenStore: TokenStore {
    private let store: InMemoryTokenStore
    private let read = Locked<@Sendable () -> Credentials?>({ nil })
    private let change = Locked<@Sendable () throws -> Void>({})

    init(_ credentials: Credentials) {
        store = InMemoryTokenStore(credentials)
    }

    /// - Parameter hook: What somebody else stores now; nil for nothing.
    func beforeEachRead(_ hook: @escaping @Sendable () -> Credentials?) {
        read.withLock { $0 = hook }
    }

    func beforeEachChange(_ hook: @escaping @Sendable () throws -> Void) {
        change.withLock { $0 = hook }
    }

    func read() async -> Credentials.Stored {
        if let other = read.withLock({ $0 })() {
            _ = await store.replace(version: await store.read().version, with: other)
        }
        return await store.read()
    }

    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        try change.withLock { $0 }()
        return await store.replace(version: version, with: credentials)
    }

    func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? {
        await store.acquireLease(for: duration, time: time)
    }
}

/// A store whose leases somebody else takes over at once.
final class LosingTokenStore: TokenStore {
    private struct Lost: Credentials.Lease {
        let lease: any Credentials.Lease
        var fence: UInt64 { lease.fence }
        func extend(for duration: Duration) async -> Bool { false }
        func release() async { await lease.release() }
    }

    private let store: InMemoryTokenStore

    init(_ credentials: Credentials) {
        store = InMemoryTokenStore(credentials)
    }

    func read() async -> Credentials.Stored { await store.read() }

    func replace(version: UInt64, with credentials: Credentials) async -> Credentials.Stored? {
        await store.replace(version: version, with: credentials)
    }

    func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? {
        await store.acquireLease(for: duration, time: time).map { Lost(lease: $0) }
    }
}

/// A store as it is to a process that has lost its lease and does not know it.
final class UnfencedTokenStore: TokenStore {
    private struct Believed: Credentials.Lease {
        let fence: UInt64 = 1
        func extend(for duration: Duration) async -> Bool { true }
        func release() async {}
    }

    private let store: InMemoryTokenStore

    init(_ store: InMemoryTokenStore) {
        self.store = store
    }

    func read() async -> Credentials.Stored { await store.read() }

    func replace(version: UInt64, with credentials: Credentials) async -> Credentials.Stored? {
        await store.replace(version: version, with: credentials)
    }

    func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? { Believed() }
}
