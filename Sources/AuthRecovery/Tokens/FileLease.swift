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
struct FileLease: TokenLease {
    let file: PrivateFile
    let fence: UInt64
    let time: TimeSource

    /// What is written of a lease.
    struct Entry {
        var fence: UInt64
        /// When it runs out, in milliseconds since 1970; 0 when it was given back.
        var endsAt: Int64
        var holder: Int32

        init(fence: UInt64, endsAt: Int64, holder: Int32) {
            self.fence = fence
            self.endsAt = endsAt
            self.holder = holder
        }

        /// Reads an entry; what cannot be read is none.
        init?(_ text: String) {
            let words = text.split { $0 == " " || $0 == "\n" }
            guard words.count == 3, let fence = UInt64(words[0]), let endsAt = Int64(words[1]),
                let holder = Int32(words[2])
            else { return nil }
            self.init(fence: fence, endsAt: endsAt, holder: holder)
        }

        /// A day, in milliseconds.
        private static let longest: Int64 = 86_400_000

        var text: String { "\(fence) \(endsAt) \(holder)\n" }

        /// Whether somebody holds it: it has not run out, and its holder lives.
        func isHeld(at now: Int64) -> Bool {
            // What is written there may be anything: a holder is one process, and no lease is granted for days.
            guard endsAt > now, endsAt - now < Self.longest, holder > 0 else { return false }
            return kill(holder, 0) == 0 || errno == EPERM
        }
    }

    static func milliseconds(_ time: Timestamp) -> Int64 {
        let (seconds, attoseconds) = time.sinceEpoch.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max / 2 : min(product, .max / 2) + attoseconds / 1_000_000_000_000_000
    }

    func extend(for duration: Duration) async -> Bool {
        await change { entry, now in
            guard entry.fence == fence, entry.endsAt > now else { return false }
            entry.endsAt = Self.milliseconds(time.wallTime.advanced(by: duration))
            return true
        }
    }

    func release() async {
        _ = await change { entry, _ in
            guard entry.fence == fence else { return false }
            entry.endsAt = 0
            return true
        }
    }

    /// Changes what is written; false where it is not ours any more, or cannot be written.
    private func change(_ body: (inout Entry, Int64) -> Bool) async -> Bool {
        // Others hold the lock only for as long as they write a file.
        for _ in 0..<200 {
            let isChanged: Bool?? = try? file.withLock {
                guard var entry = try file.leaseEntry() else { return false }
                guard body(&entry, Self.milliseconds(time.wallTime)) else { return false }
                try file.writeLease(entry)
                return true
            }
            if let result = isChanged ?? false { return result }
            // A real clock is right here: it is a real process that is waited for.
            try? await Task.sleep(for: .milliseconds(2))
        }
        return false
    }
}

extension PrivateFile {
    /// The lease of the file; nil where somebody else, in this process or another, holds it.
    func acquireLease(for duration: Duration, time: TimeSource) throws -> FileLease? {
        let lease: FileLease?? = try withLock {
            let last = try leaseEntry()
            let now = FileLease.milliseconds(time.wallTime)
            if let last, last.isHeld(at: now) { return nil }
            let fence = (last?.fence ?? 0) &+ 1
            let end = FileLease.milliseconds(time.wallTime.advanced(by: duration))
            try writeLease(FileLease.Entry(fence: fence, endsAt: end, holder: getpid()))
            return FileLease(file: self, fence: fence, time: time)
        }
        return lease ?? nil
    }

    func leaseEntry() throws -> FileLease.Entry? {
        guard let bytes = try leaseFile.read(upTo: 4096) else { return nil }
        return FileLease.Entry(String(decoding: bytes, as: UTF8.self))
    }

    func writeLease(_ entry: FileLease.Entry) throws {
        try leaseFile.replace(with: Array(entry.text.utf8))
    }
}
