import HTTPRecovery

/// A file of credentials, for the one thread that does its work.
final class TokenFile: Sendable {
    /// What came of an attempt to write.
    enum Written: Sendable {
        case stored(Credentials.Stored)
        case conflict
        /// Somebody else is writing.
        case locked
    }

    /// What the file held, and the state it was in.
    private struct Known: Sendable {
        var state: PrivateFile.State
        var content: Credentials.Stored
    }

    /// How exact the times of files are, at worst.
    static let granularity: Duration = .seconds(2)

    private let file: PrivateFile
    private let coding: CredentialCoding
    private let time: TimeSource
    private let granularity: Duration
    private let known = Locked<Known?>(nil)

    init(
        _ file: PrivateFile,
        coding: CredentialCoding,
        time: TimeSource,
        granularity: Duration = TokenFile.granularity
    ) {
        self.file = file
        self.coding = coding
        self.time = time
        self.granularity = granularity
    }

    var path: String { file.path }

    /// The credentials in the file, read if it may have changed since it was read last.
    func load() throws -> Credentials.Stored {
        if let known = known.withLock({ $0 }), file.state() == known.state { return known.content }
        return try readAgain()
    }

    private func readAgain() throws -> Credentials.Stored {
        known.withLock { $0 = nil }
        // The file system goes by the system's clock, which may have been set since this process began.
        let now = time.bootClock == nil ? time.wallTime : .system()
        guard let (bytes, state) = try file.readWithState(upTo: 1 << 20) else {
            return Credentials.Stored(Credentials(), version: 0)
        }
        let content = Credentials.Stored(try decode(bytes), version: Self.version(of: bytes))
        // A change within the granularity of its time would not be seen.
        let age = now.elapsed(since: max(state.modifiedAt, state.changedAt))
        if age >= granularity { known.withLock { $0 = Known(state: state, content: content) } }
        return content
    }

    private func decode(_ bytes: [UInt8]) throws -> Credentials {
        // An empty file is what `touch` and a full disk leave behind; it holds nothing, so nothing is lost.
        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) { return Credentials() }
        do {
            return try coding.decode(bytes)
        } catch {
            throw Credentials.StoreError("the token file \(file.path): \(error). Moving it away starts afresh.")
        }
    }

    /// Writes credentials, if the file still holds the version.
    func replace(version: UInt64, with credentials: Credentials) throws -> Written {
        let result: Written? = try file.withLock {
            guard try readAgain().version == version else { return .conflict }
            let bytes = try coding.encode(credentials) + [UInt8(ascii: "\n")]
            try file.replace(with: bytes)
            known.withLock { $0 = nil }
            return .stored(Credentials.Stored(credentials, version: Self.version(of: bytes)))
        }
        return result ?? .locked
    }

    /// The lease of the file; nil if somebody else holds it.
    func acquireLease(for duration: Duration, time: TimeSource) throws -> (any Credentials.Lease)? {
        try file.acquireLease(for: duration, time: time)
    }

    /// A version that every process computes alike from the file's bytes (FNV-1a), so that a change by another
    /// process is noticed.
    private static func version(of bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
