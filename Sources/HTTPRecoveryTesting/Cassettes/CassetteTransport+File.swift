import Glibc
public import HTTPRecovery

extension CassetteTransport {
    /// Whether a cassette's file is played or recorded.
    public struct Mode: Sendable, Hashable {
        private enum Choice { case recordIfAbsent, play, record }
        private let choice: Choice

        /// It is played, and recorded if there is no such file: for machines of people.
        public static let recordIfAbsent = Mode(choice: .recordIfAbsent)
        /// It is played; that there is no such file is an error: for machines that shall not reach the server.
        public static let play = Mode(choice: .play)
        /// It is recorded anew.
        public static let record = Mode(choice: .record)

        /// Whether what is missing is recorded.
        fileprivate var canRecord: Bool { choice != .play }
        fileprivate var canPlay: Bool { choice != .record }
    }

    /// Runs a test with a cassette that is in a file.
    ///
    /// Where it was played, all of it must have been asked for, and nothing else; where it was recorded, it is written
    /// when the test is done. A test that fails leaves the file as it was, and what it throws is thrown, unless requests did
    /// not fit: what that leads to would say less.
    ///
    /// - Parameters:
    ///   - path: The file's path. Its directory exists.
    ///   - mode: Whether it is played or recorded. Default: played, or recorded if there is no such file.
    ///   - transport: What sends while it is recorded, and is shut down then; it is not made otherwise.
    ///   - redaction: What is kept of what is recorded. What is played says so itself.
    ///   - body: The test.
    /// - Returns: What the test returns.
    /// - Throws: What the test throws; ``Mismatch`` or ``Unplayed``; `Cassette.Malformed` for a file that is none;
    ///   `MessageBody.ReadError` for one that cannot be read, ``Unwritable`` where it cannot be written.
    public static func withFile<Result>(
        _ path: String,
        mode: Mode = .recordIfAbsent,
        recording transport: @autoclosure () throws -> any HTTPTransport,
        redaction: Cassette.Redaction = .init(),
        _ body: (CassetteTransport) async throws -> Result
    ) async throws -> Result {
        if mode.canPlay, let cassette = try await read(path, isNeeded: !mode.canRecord) {
            let player = CassetteTransport(playing: cassette)
            do {
                let result = try await body(player)
                try player.verify()
                return result
            } catch {
                throw player.mismatches.first ?? error
            }
        }
        // Known before anything is sent, and not when all has been.
        try await checkPlace(path)
        let recorder = CassetteTransport(recording: try transport(), redaction: redaction)
        do {
            let result = try await body(recorder)
            try await write(recorder.cassette, to: path)
            await recorder.shutdown()
            return result
        } catch {
            await recorder.shutdown()
            throw error
        }
    }

    /// A cassette's file could not be written.
    public struct Unwritable: Error, Sendable, Hashable, CustomStringConvertible {
        /// The file.
        public let path: String
        /// The system's number of the error.
        public let errno: Int32

        /// A sentence for logs.
        public var description: String { "the cassette \(path) cannot be written (\(errno.systemErrorText))" }
    }

    private static func read(_ path: String, isNeeded: Bool) async throws -> Cassette? {
        do {
            return try Cassette(parsing: try await MessageBody(file: path).collect(upTo: 1 << 28))
        } catch MessageBody.ReadError.unreadableFile(_, ENOENT) where !isNeeded {
            return nil
        }
    }

    private static func checkPlace(_ path: String) async throws {
        try await WorkerThreads.files.run {
            var status = stat()
            guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
            throw Unwritable(path: path, errno: EISDIR)
        }
    }

    private static func write(_ cassette: Cassette, to path: String) async throws {
        let text = Array(cassette.text.utf8)
        try await WorkerThreads.files.run {
            // Beside it, and put in its place when it is whole: a run that is ended meanwhile leaves the old one.
            let temporary = "\(path).\(getpid()).\(UInt64.random(in: 0...UInt64.max)).part"
            guard let file = unsafe fopen(temporary, "wxe") else { throw Unwritable(path: path, errno: errno) }
            let count = unsafe text.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
            // What is buffered may fail to be written only now.
            let isWritten = unsafe fclose(file) == 0 && count == text.count
            guard isWritten, unsafe rename(temporary, path) == 0 else {
                let failure = Unwritable(path: path, errno: errno)
                _ = unsafe unlink(temporary)
                throw failure
            }
        }
    }
}
