#if SQLite
import Dispatch
internal import GRDB
import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The open database: opened with the first question, and anew after it was found gone or damaged.
final class SQLiteConnection: Sendable {
    /// How well a change is kept.
    enum Durability {
        /// Outlives the process, not a power cut: what the server will say again.
        case process
        /// Outlives a power cut: what nobody can give again.
        case power
    }

    private final class Opened: Sendable {
        let file: DatabaseFile
        let pool: DatabasePool

        init(file: DatabaseFile, pool: DatabasePool) {
            self.file = file
            self.pool = pool
        }
    }

    private enum State: Sendable {
        case closed
        case opening(Flight<Opened>)
        case open(Opened)
        case shutDown
    }

    let path: String
    private let lockTimeout: Duration
    private let state = Locked(State.closed)
    /// For what blocks, so that no thread of the concurrency runtime does.
    private let queue = DispatchQueue(label: "recovery-store.sqlite", attributes: .concurrent)
    /// One at a time in the process: nobody opens a file while another has just made it.
    // No `()`: see `Locked`.
    private static let opening = Locked(false)
    /// How long opening is tried while other processes do the same.
    private static let openingTimeout: Duration = .seconds(2)

    init(path: String, lockTimeout: Duration) {
        self.path = path
        self.lockTimeout = max(lockTimeout, .milliseconds(1))
    }

    // MARK: Questions

    /// Runs a transaction that only reads.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await use { opened in
            try await opened.pool.read { db in
                try opened.file.verify()
                return try body(db)
            }
        }
    }

    /// Runs a transaction that has the file for itself from its beginning.
    func write<Value: Sendable>(
        _ durability: Durability,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await use { opened in
            try await opened.pool.writeWithoutTransaction { db in
                try opened.file.verify()
                // In WAL mode NORMAL flushes at checkpoints only, so that a power cut takes the last changes back; FULL
                // flushes every commit. Neither can leave half of one.
                try db.execute(sql: durability == .power ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
                var result: Value?
                try db.inTransaction(.immediate) {
                    result = try body(db)
                    return .commit
                }
                guard let result else {
                    throw SharedState.StoreError("a change of \(opened.file.path) was not made; try again")
                }
                return result
            }
        }
    }

    private func use<Value: Sendable>(
        _ body: @escaping @Sendable (Opened) async throws -> Value
    ) async throws -> Value {
        // In a task of its own, which nobody cancels: GRDB would give up in the middle.
        try await Task {
            let opened = try await self.opened()
            do {
                return try await body(opened)
            } catch {
                throw self.translate(error, of: opened)
            }
        }
        .value
    }

    // MARK: Opening and closing

    private func opened() async throws -> Opened {
        let (flight, isFirst) = try state.withLock { state -> (Flight<Opened>, Bool) in
            switch state {
            case .shutDown: throw SharedState.StoreError("the store \(path) is closed; make a new one")
            case .opening(let flight): return (flight, false)
            case .open(let opened):
                let flight = Flight<Opened>()
                flight.land(.success(opened))
                return (flight, false)
            case .closed:
                let flight = Flight<Opened>()
                state = .opening(flight)
                return (flight, true)
            }
        }
        if isFirst {
            queue.async { [self] in
                let result = Result { try open() }
                let isWanted = state.withLock { state in
                    guard case .opening = state else { return false }
                    if case .success(let opened) = result { state = .open(opened) } else { state = .closed }
                    return true
                }
                if !isWanted, case .success(let opened) = result { try? opened.pool.close() }
                flight.land(
                    isWanted ? result : .failure(SharedState.StoreError("the store \(path) is closed; make a new one"))
                )
            }
        }
        return try await flight.value
    }

    private func open() throws -> Opened {
        let end = ContinuousClock.now + Self.openingTimeout
        while true {
            do {
                return try Self.opening.withLock { _ in
                    let file = try DatabaseFile(path: path) { try SQLiteSchema.examine($0, configuration) }
                    let pool = try DatabasePool(path: file.path, configuration: configuration)
                    try pool.writeWithoutTransaction { try SQLiteSchema.prepare($0, path: file.path) }
                    return Opened(file: file, pool: pool)
                }
            } catch let error where Self.isPassing(error) && ContinuousClock.now < end {
                // Others open and close it too, and not every step of that waits for its turn by itself.
                usleep(useconds_t.random(in: 1000...10_000))
            } catch {
                throw Self.storeError(error, path: path)
            }
        }
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        // A transaction that cannot even be rolled back is an error of the next, not the end of the process.
        configuration.allowsUnsafeTransactions = true
        // Every millisecond or so, so that of many processes none is overlooked for long.
        let tries = Int(clamping: lockTimeout.microseconds / 1000)
        configuration.busyMode = .callback { count in
            usleep(useconds_t.random(in: 500...1500))
            return count < tries
        }
        // Readers wait for nobody but one who opens or closes the file; GRDB would give that ten seconds.
        configuration.prepareDatabase { db in
            if db.configuration.readonly { try db.execute(sql: "PRAGMA busy_timeout = \(tries)") }
        }
        return configuration
    }

    /// Closes the file for good.
    func shutdown() async {
        let last = state.withLock { state in
            defer { state = .shutDown }
            return state
        }
        guard case .open(let opened) = last else { return }
        await withCheckedContinuation { continuation in
            queue.async {
                // A pool closes its readers last, and who only reads leaves the log beside the file; with them gone, whoever
                // closes the file as the last one leaves the whole of it there.
                opened.pool.invalidateReadOnlyConnections()
                try? opened.pool.close()
                continuation.resume()
            }
        }
    }

    /// Closes the file, for the next question to open it anew.
    private func drop(_ opened: Opened) {
        let isPresent = state.withLock { state in
            guard case .open(let present) = state, present === opened else { return false }
            state = .closed
            return true
        }
        if isPresent { queue.async { try? opened.pool.close() } }
    }

    // MARK: Errors

    private func translate(_ error: any Error, of opened: Opened) -> any Error {
        if case .shutDown = state.withLock({ $0 }) {
            return SharedState.StoreError("the store \(path) is closed; make a new one")
        }
        // If it is gone, SQLite may fail in several ways.
        if error is DatabaseFile.FileIsGone || (error is DatabaseError && !opened.file.isPresent) {
            drop(opened)
            return SharedState.StoreError(
                "\(path) was deleted or replaced while it was open; it is opened anew with the next call"
            )
        }
        if let error = error as? DatabaseError {
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL: break
            default: drop(opened)
            }
        }
        return Self.storeError(error, path: path)
    }

    /// Whether the file may be opened the next time.
    ///
    /// The library looks whether there is a log and how large it is, and fails with what is no error of SQLite's if another
    /// process has closed the file, and taken its log away, in between.
    private static func isPassing(_ error: any Error) -> Bool {
        if let error = error as? DatabaseError { return error.resultCode == .SQLITE_BUSY }
        return !(error is SharedState.StoreError)
    }

    /// What is said of an error: never its own text, which may show what was to be stored.
    private static func storeError(_ error: any Error, path: String) -> SharedState.StoreError {
        if let error = error as? SharedState.StoreError { return error }
        guard let error = error as? DatabaseError else {
            return SharedState.StoreError("\(path) failed with \(type(of: error))")
        }
        let problem =
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: "is locked by another process; try again, or end what holds it"
            case .SQLITE_FULL: "cannot grow: the disk is full; free some space"
            case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
                "cannot be written; give this user access, or name another file"
            case .SQLITE_CANTOPEN: "cannot be opened; check that its directory exists and can be written"
            case .SQLITE_CORRUPT, .SQLITE_NOTADB:
                "is damaged or no database; move it away, with its -wal and -shm, and a new one is made"
            case .SQLITE_IOERR: "cannot be read or written: the disk failed; check it"
            default: "failed"
            }
        return SharedState.StoreError("\(path) \(problem) (SQLite code \(error.extendedResultCode.rawValue))")
    }
}
#endif
