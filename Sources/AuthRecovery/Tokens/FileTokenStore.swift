public import HTTPRecovery

/// Credentials in a JSON file that only its owner can read.
///
/// The file has mode 0600 and is replaced as a whole: written beside it, flushed to the disk, and renamed. A crash at
/// any moment leaves the old or the new credentials, never a part. A lock file keeps two processes from changing it at
/// the same time. Members of the file that this version does not know are kept.
///
/// All file work is done on a thread of its own, so that a slow disk holds up no other task and no event loop. A file that
/// has not changed since it was read is looked at, not read again.
///
/// With a ``CredentialSealing`` the file holds `{"sealed":"…"}` instead. A plain file is still read and is sealed by the
/// next change; a sealed file without its key is an error that says so, and is never overwritten. Sealing does not
/// notice that an older state of the same file was put back.
public final class FileTokenStore: TokenStore {
    /// Whose credentials they are, if that was said.
    public let identity: String?

    private let file: TokenFile
    private let time: TimeSource
    private let random: Runtime.RandomSource

    /// Creates a store on a file, which need not exist.
    ///
    /// - Parameters:
    ///   - path: The file's path; missing directories are made with mode 0700 when something is stored.
    ///   - time: Where time comes from, for the waits for other processes.
    ///   - random: Where randomness comes from, for those waits and the names of temporary files.
    public init(path: String, time: TimeSource = .system, random: Runtime.RandomSource = Runtime.RandomSource()) {
        self.file = TokenFile(PrivateFile(path: path, random: random), coding: .plain, time: time)
        self.identity = nil
        self.time = time
        self.random = random
    }

    /// Creates a store on a file, which need not exist, and seals what it writes.
    ///
    /// - Parameters:
    ///   - path: The file's path; missing directories are made with mode 0700 when something is stored.
    ///   - identity: Whose credentials they are, such as an account's name. What is sealed is bound to it, so that one
    ///     account's file put in the place of another's is refused. Not the path, so that the file can be moved.
    ///   - sealing: What seals; nil keeps the file plain.
    ///   - time: Where time comes from, for the waits for other processes.
    ///   - random: Where randomness comes from, for those waits and the names of temporary files.
    public convenience init(
        path: String,
        identity: String,
        sealing: (any CredentialSealing)?,
        time: TimeSource = .system,
        random: Runtime.RandomSource = Runtime.RandomSource()
    ) {
        self.init(path: path, identity: identity, sealing: sealing, time: time, random: random, granularity: nil)
    }

    /// Creates a store.
    ///
    /// - Parameter granularity: How exact the times of the file system are, at worst; nil for the default.
    package init(
        path: String,
        identity: String,
        sealing: (any CredentialSealing)?,
        time: TimeSource,
        random: Runtime.RandomSource,
        granularity: Duration?
    ) {
        self.file = TokenFile(
            PrivateFile(path: path, random: random),
            coding: CredentialCoding(sealing: sealing, identity: identity),
            time: time,
            granularity: granularity ?? TokenFile.granularity
        )
        self.identity = identity
        self.time = time
        self.random = random
    }

    /// The credentials in the file; empty ones if there is no file.
    ///
    /// - Throws: ``Credentials/StoreError`` when the file cannot be read; `CancellationError` as soon as the task is cancelled,
    ///   also while a disk does not answer.
    public func read() async throws -> Credentials.Stored {
        try await WorkerThreads.files.look { [file] in try file.load() }
    }

    /// Writes credentials, if the file still holds the version.
    ///
    /// They are not lost because the caller is cancelled: they are written all the same.
    ///
    /// - Throws: ``Credentials/StoreError`` when the file cannot be written, or when another process keeps it locked for
    ///   longer than ten seconds; `CancellationError` when the task is cancelled while it waits for that.
    public func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        switch try await attempt(credentials, insteadOf: version) {
        case .stored(let stored): return stored
        case .conflict: return nil
        case .locked: break
        }
        let flight = Flight<Credentials.Stored?>()
        Task {
            do {
                flight.land(.success(try await write(credentials, insteadOf: version)))
            } catch {
                flight.land(.failure(error))
            }
        }
        return try await flight.value
    }

    private func attempt(_ credentials: Credentials, insteadOf version: UInt64) async throws -> TokenFile.Written {
        try await WorkerThreads.files.run { [file] in try file.replace(version: version, with: credentials) }
    }

    /// Tries again while another process holds the lock, for as long as that writes a file.
    private func write(_ credentials: Credentials, insteadOf version: UInt64) async throws -> Credentials.Stored? {
        let end = time.now.advanced(by: Self.patience)
        while time.now < end {
            try await time.sleep(for: Duration.milliseconds(5).scaled(by: 0.2 + 0.8 * random.unit()))
            switch try await attempt(credentials, insteadOf: version) {
            case .stored(let stored): return stored
            case .conflict: return nil
            case .locked: break
            }
        }
        throw Credentials.StoreError("the token file \(file.path) is kept locked by another process")
    }

    /// Grants the right to renew the credentials, unless somebody holds it.
    ///
    /// The lease is written into a file beside the token file, with its fence and its time, which counts by the machine's
    /// boot clock. It is over when it is given back, when it runs out, or when its holder is dead: a living one holds a
    /// lock on the file `.holder` beside it.
    public func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any Credentials.Lease)? {
        try await WorkerThreads.files.run { [file] in try file.acquireLease(for: duration, time: time) }
    }

    private static let patience: Duration = .seconds(10)
}
