import CommandLineSupport
import Glibc
import HTTPRecovery
import HTTPTypes
import Locking

/// Where the answer to one call goes: its head, if that is wanted, and its body.
final class CallOutput: ByteSink {
    /// What is written of an answer.
    struct Parts: Sendable {
        /// Whether the head stands before the body.
        var showsHead = false
        /// Whether the body is left out.
        var isHeadOnly = false
        /// Whether the body of an error is left out.
        var skipsErrors = false
        /// Whether all is written as soon as it comes.
        var writesAtOnce = false
        /// Whether the file has something of an earlier download.
        var resumes = false
    }

    /// The file; nil for standard output, or none.
    let file: (any FileSink)?
    /// Whether standard output gets what comes.
    let isShown: Bool
    /// How many bytes an earlier download has left in the file.
    let kept: Int64

    /// Where it is written; nil if it is not.
    let thread: BlockingWork?

    private let parts: Parts
    private let body: any ByteSink
    private let state = Locked(State())

    /// A head, and the version of HTTP that it came by.
    private typealias Head = (head: HTTPResponse, version: String)

    private struct State {
        /// The heads as they came: those of redirects that were followed, and that of the answer.
        var heads: [Head] = []
        /// Whether another is to come behind the last of them.
        var isFollowed = true
        /// Whether the head is to be written before what comes next.
        var isHeadDue = false
        /// Whether something of the answer has gone out.
        var hasWritten = false
        /// The body that is coming, of which nothing has gone out.
        var held: HeldBody?
        /// When the call has to be over; nil for no deadline.
        var end: TimeSource.Instant?
    }

    /// Creates the place of an answer.
    ///
    /// - Parameters:
    ///   - place: Where it goes.
    ///   - file: The file of that place, open.
    ///   - kept: How many bytes an earlier download has left in it.
    ///   - parts: What is written of it.
    ///   - output: Standard output.
    init(_ place: BodyPlace, file: (any FileSink)?, kept: Int64, parts: Parts, output: StandardOutput) {
        self.file = file
        self.kept = kept
        self.parts = parts
        isShown = place == .standardOutput
        let none: any ByteSink = DiscardingSink()
        body = file ?? (isShown ? output : none)
        thread = file == nil ? isShown ? output.thread : nil : BlockingWork()
    }

    /// Takes note of the call's deadline, nil for none: who does not read until then gets no more.
    func begin(until end: TimeSource.Instant?) {
        state.withLock { $0.end = end }
    }

    /// How long who reads may take; nil for as long as they like.
    var timeLeft: Duration? { state.withLock { $0.end }.map { TimeSource.system.now.duration(to: $0) } }

    /// The same for what a call ends with, which is written behind its deadline too, if somebody takes it.
    private var timeAtLast: Duration? { timeLeft.map { max($0, .seconds(1)) } }

    /// Takes note of the head of an answer, and of its body if that is held for a while.
    func note(_ response: RecoveredResponse, isFollowed: Bool, held: HeldBody? = nil) {
        let entry = (response.head, response.report?.metrics?.httpVersion ?? "1.1")
        state.withLock { state in
            // An attempt takes the place of the one before it.
            if !state.isFollowed { state.heads.removeLast() }
            state.heads.append(entry)
            state.isFollowed = isFollowed
            state.held = held
        }
    }

    /// The heads as they came: those of redirects that were followed, and that of the answer.
    var headBytes: [UInt8] { Self.bytes(state.withLock { $0.heads }) }

    private static func bytes(_ heads: some Sequence<Head>) -> [UInt8] {
        heads.flatMap { HeadText.bytes($0.head, version: $0.version) }
    }

    var mayGetStuck: Bool { body.mayGetStuck }

    /// Whether nothing of an answer has gone out that cannot be taken back.
    var canRestart: Bool { isShown ? !state.withLock { $0.hasWritten } : body.canRestart }

    /// Whether the file stays as it is: nothing has changed, says a 304, and brings no body.
    ///
    /// A head that stands before bodies is written all the same.
    private var leavesFile: Bool {
        file != nil && !parts.showsHead && state.withLock { $0.heads.last?.head.status.code == 304 }
    }

    func restart() throws -> Bool {
        if leavesFile { return true }
        guard try isShown ? canRestart : body.restart() else { return false }
        state.withLock { $0.isHeadDue = parts.showsHead }
        if parts.writesAtOnce { try writeHead() }
        return true
    }

    func write(_ bytes: ArraySlice<UInt8>) throws {
        try writeHead()
        guard !parts.isHeadOnly, !bytes.isEmpty else { return }
        state.withLock { $0.hasWritten = true }
        try body.write(bytes)
    }

    /// Puts the file in place when the answer is whole.
    func finish() async throws {
        try await perform(on: thread, within: timeAtLast) {
            try self.writeHead()
            if self.leavesFile { self.file?.abandon() } else { try self.file?.commit() }
        }
    }

    /// Removes the file if it is not in place, behind what is being written to it.
    func abandon() async {
        guard let file else { return }
        // Of a pipe that is stuck the end is not waited for.
        if mayGetStuck {
            thread?.enqueue { file.abandon() }
        } else {
            try? await perform(on: thread) { file.abandon() }
        }
    }

    /// Writes the head if it has not been; it goes out with the first byte behind it, so that an attempt whose body breaks
    /// off before that can begin anew.
    private func writeHead() throws {
        let isDue = state.withLock { state in
            let isDue = state.isHeadDue
            if isDue { (state.isHeadDue, state.hasWritten) = (false, true) }
            return isDue
        }
        if isDue { try body.write(headBytes[...]) }
    }

    /// Writes what has come of an answer that broke off before any of it was written, for a call that ends with that.
    ///
    /// If there is no answer, it is the heads of the redirects that led to it.
    ///
    /// - Parameter limit: The most bytes of a body.
    func showRemainder(limit: Int) async throws {
        let (hasWritten, held, heads) = state.withLock { state in
            (state.hasWritten, state.held, state.heads.dropLast(state.isFollowed ? 0 : 1))
        }
        if hasWritten { return }
        let redirects = isShown && parts.showsHead ? Self.bytes(heads) : []
        guard held != nil || !redirects.isEmpty else { return }
        // An interruption does not take away what has come.
        try await perform(on: thread, leaving: !Task.isCancelled, within: timeAtLast) {
            if let held { return try self.write(held.remainder.prefix(limit)) }
            try self.body.write(redirects[...])
        }
    }

    /// How much is read of an error's body.
    private static let errorBodyLimit = 1 << 20

    /// Writes the answer that a failed call is left with, as far as it was read; to a file only if that is all of it.
    ///
    /// - Parameter limit: The most bytes of its body.
    /// - Returns: What did not get to the file, as a sentence; nil if nothing is to be said.
    func show(_ response: RecoveredResponse?, limit: Int) async -> ScreenText? {
        guard let response, !parts.resumes, limit > 0 else { return nil }
        // With -f a file stays as it was.
        if parts.skipsErrors, file != nil || !parts.showsHead { return nil }
        if state.withLock({ $0.heads.last?.head != response.head }) { note(response, isFollowed: false) }
        if file != nil, !parts.skipsErrors, !parts.isHeadOnly, Self.isCut(response, limit: limit) {
            return "The body of this answer is too long to be kept: the file stays as it was."
        }
        do {
            guard try await perform(on: thread, within: timeAtLast, { try self.restart() }) else { return nil }
            var room = parts.skipsErrors ? 0 : limit
            for try await chunk in response.body where room > 0 {
                let part = chunk.prefix(room)
                try await perform(on: thread, within: timeAtLast) { try self.write(part) }
                room -= part.count
            }
            try await finish()
        } catch is BlockingWork.TimedOut {
            return nil
        } catch let error as FileError {
            // Whoever has stopped reading knows it.
            return error.code == EPIPE ? nil : "\(error)"
        } catch {
            // On a screen the body is a courtesy; a file was asked for.
            return file == nil ? nil : "\(error)"
        }
        return nil
    }

    /// Whether there is, or may be, more of an error's body than what was read of it and is wanted.
    private static func isCut(_ response: RecoveredResponse, limit: Int) -> Bool {
        let count = response.body.bytesInMemory?.count ?? .max
        if count > limit { return true }
        return count >= errorBodyLimit && response.headerFields[.contentLength] != "\(count)"
    }
}
