import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The lease of a token file, written into a file beside it: it holds until it is given back, runs out, or its holder is
/// dead.
struct FileLease: Credentials.Lease {
    let file: PrivateFile
    let fence: UInt64
    let time: TimeSource
    let random: Runtime.RandomSource
    /// Proves that this holder lives, for as long as it has the lease; nil if the file system knows no such locks.
    let proof: HolderLock?

    func extend(for duration: Duration) async -> Bool {
        await change { [time] entry in
            guard entry.length > 0, entry.isRunning(at: time) else { return false }
            entry = LeaseEntry(
                fence: entry.fence,
                at: time,
                for: duration,
                isLocked: entry.isLocked,
                holder: entry.holder
            )
            return true
        }
    }

    func release() async {
        _ = await change { entry in
            entry.length = 0
            return true
        }
    }

    /// Changes what is written, to the end even if the caller is cancelled; false if it is not ours any more, or
    /// cannot be written, or the caller does not wait for it.
    private func change(_ body: @escaping @Sendable (inout LeaseEntry) -> Bool) async -> Bool {
        let flight = Flight<Bool>()
        Task { flight.land(.success((try? await carryOut(body)) ?? false)) }
        return (try? await flight.value) ?? false
    }

    private func carryOut(_ body: @escaping @Sendable (inout LeaseEntry) -> Bool) async throws -> Bool {
        // Others hold the lock only for as long as they write a file.
        for _ in 0..<200 {
            let result: Bool? = try await WorkerThreads.files.run { [file, fence] in
                try file.withLock {
                    guard var entry = try file.leaseEntry(), entry.fence == fence, body(&entry) else { return false }
                    try file.writeLease(entry)
                    return true
                }
            }
            if let result { return result }
            try await time.sleep(for: Duration.milliseconds(4).scaled(by: 0.5 + random.unit() / 2))
        }
        return false
    }
}

extension PrivateFile {
    /// The lease of the file; nil if somebody else, in this process or another, holds it.
    func acquireLease(for duration: Duration, time: TimeSource) throws -> FileLease? {
        let lease: FileLease?? = try withLock {
            let last = try leaseEntry()
            if let last, isHeld(last, time: time) { return nil }
            var fence = last?.fence ?? 0
            var proof: HolderLock?
            // If the file with the fences was lost, somebody who lives may have the next.
            search: for _ in 0..<1000 {
                fence += 1
                switch HolderLock.take(holderPath, fence: fence) {
                case .taken(let lock):
                    proof = lock
                    break search
                case .held: continue
                case .unsupported: break search
                }
            }
            let entry = LeaseEntry(fence: fence, at: time, for: duration, isLocked: proof != nil, holder: getpid())
            try writeLease(entry)
            return FileLease(file: self, fence: fence, time: time, random: random, proof: proof)
        }
        return lease ?? nil
    }

    private func isHeld(_ entry: LeaseEntry, time: TimeSource) -> Bool {
        guard entry.isRunning(at: time) else { return false }
        // If nothing can be asked, it is held until it runs out.
        return !entry.isLocked || HolderLock.isHeld(holderPath, fence: entry.fence) ?? true
    }

    func leaseEntry() throws -> LeaseEntry? {
        guard let bytes = try leaseFile.read(upTo: 4096) else { return nil }
        return LeaseEntry(String(decoding: bytes, as: UTF8.self))
    }

    func writeLease(_ entry: LeaseEntry) throws {
        try leaseFile.replace(with: Array(entry.text.utf8))
    }
}
