public import HTTPRecovery

/// Credentials in a JSON file that only its owner can read.
///
/// The file has mode 0600 and is replaced as a whole: written beside it, flushed to the disk, and renamed. A crash at
/// any moment leaves the old or the new credentials, never a part. A lock file keeps two processes from changing it at
/// the same time. Members of the file that this version does not know are kept.
///
/// With a ``CredentialSealing`` the file holds `{"sealed":"…"}` instead. A plain file is still read and is sealed by the
/// next change; a sealed file without its key is an error that says so, and is never overwritten. Sealing does not
/// notice that an older state of the same file was put back.
public final class FileTokenStore: TokenStore {
    /// Whose credentials they are, where that was said.
    public let identity: String?

    private let file: PrivateFile
    private let coding: CredentialCoding
    /// The file for whoever writes it: one at a time.
    private let writable: Locked<PrivateFile>

    /// Creates a store on a file, which need not exist.
    ///
    /// - Parameter path: The file's path; missing directories are made with mode 0700 when something is stored.
    public init(path: String) {
        self.file = PrivateFile(path: path)
        self.writable = Locked(file)
        self.coding = .plain
        self.identity = nil
    }

    /// Creates a store on a file, which need not exist, and seals what it writes.
    ///
    /// - Parameters:
    ///   - path: The file's path; missing directories are made with mode 0700 when something is stored.
    ///   - identity: Whose credentials they are, such as an account's name. What is sealed is bound to it, so that one
    ///     account's file put in the place of another's is refused. Not the path, so that the file can be moved.
    ///   - sealing: What seals; nil keeps the file plain.
    public init(path: String, identity: String, sealing: (any CredentialSealing)?) {
        self.file = PrivateFile(path: path)
        self.writable = Locked(file)
        self.coding = CredentialCoding(sealing: sealing, identity: identity)
        self.identity = identity
    }

    /// The credentials in the file; empty ones where there is no file.
    public func read() async throws -> StoredCredentials {
        try load()
    }

    /// Writes credentials, if the file still holds the version.
    ///
    /// - Throws: ``TokenStoreError`` when the file cannot be written, or when another process keeps it locked for
    ///   longer than ten seconds; `CancellationError` when the task is cancelled while it waits for that.
    public func replace(version: UInt64, with credentials: Credentials) async throws -> StoredCredentials? {
        let start = ContinuousClock.now
        while true {
            let result: Written? = try writable.withLock { file in
                try file.withLock {
                    guard try load().version == version else { return .conflict }
                    let bytes = try coding.encode(credentials) + [UInt8(ascii: "\n")]
                    try file.replace(with: bytes)
                    return .stored(StoredCredentials(credentials, version: Self.version(of: bytes)))
                }
            }
            switch result {
            case .stored(let stored): return stored
            case .conflict: return nil
            case nil: break
            }
            // Another process holds the lock, for as long as it writes a file. A real clock is right here: it is a
            // real process that is waited for.
            guard ContinuousClock.now - start < Self.patience else {
                throw TokenStoreError("the token file \(file.path) is kept locked by another process")
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...5)))
        }
    }

    /// Grants the right to renew the credentials, unless somebody holds it.
    ///
    /// The lease is written into a file beside the token file, with its fence, its end and its holder. It is over when it
    /// is given back, when it runs out, or when its holder is dead.
    public func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any TokenLease)? {
        try file.acquireLease(for: duration, time: time)
    }

    private enum Written {
        case stored(StoredCredentials)
        case conflict
    }

    private static let patience: Duration = .seconds(10)

    private func load() throws -> StoredCredentials {
        guard let bytes = try file.read(upTo: 1 << 20) else {
            return StoredCredentials(Credentials(), version: 0)
        }
        // An empty file is what `touch` and a full disk leave behind; it holds nothing, so nothing is lost.
        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) {
            return StoredCredentials(Credentials(), version: Self.version(of: bytes))
        }
        do {
            return StoredCredentials(try coding.decode(bytes), version: Self.version(of: bytes))
        } catch {
            throw TokenStoreError("the token file \(file.path): \(error). Moving it away starts afresh.")
        }
    }

    /// A version that every process computes alike from the file's bytes (FNV-1a), so that a change by another
    /// process is noticed.
    private static func version(of bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
