import CommandLineSupport
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
    }

    /// The file; nil for standard output, or none.
    let file: (any FileSink)?
    /// Whether standard output gets what comes.
    let isShown: Bool
    /// The path of the file; nil for none.
    let path: String?
    /// How many bytes an earlier download has left in the file.
    let kept: Int64

    private let parts: Parts
    private let body: any ByteSink
    private let state = Locked(State())

    private struct State {
        /// Those of redirects that were followed.
        var before: [(head: HTTPResponse, version: String)] = []
        var last: (head: HTTPResponse, version: String)?
        /// Whether the head is to be written before what comes next.
        var isHeadDue = false
        /// Whether something of the answer has gone out.
        var hasWritten = false
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
        path = if case .file(let name) = place { name } else { nil }
        self.parts = parts
        isShown = place == .standardOutput
        let none: any ByteSink = DiscardingSink()
        body = file ?? (isShown ? output : none)
    }

    /// Takes note of the head of an answer.
    func note(_ response: RecoveredResponse, isFollowed: Bool) {
        let entry = (response.head, response.report?.metrics?.httpVersion ?? "1.1")
        state.withLock { state in
            if isFollowed { state.before.append(entry) } else { state.last = entry }
        }
    }

    /// The heads as they came: those of redirects that were followed, and that of the answer.
    var headBytes: [UInt8] {
        let state = state.withLock { $0 }
        return (state.before + (state.last.map { [$0] } ?? [])).flatMap { HeadText.bytes($0.head, version: $0.version) }
    }

    /// Whether nothing of an answer has gone out that cannot be taken back.
    var canRestart: Bool { isShown ? !state.withLock { $0.hasWritten } : body.canRestart }

    func restart() throws -> Bool {
        guard try isShown ? canRestart : body.restart() else { return false }
        state.withLock { $0.isHeadDue = parts.showsHead }
        return true
    }

    func write(_ bytes: ArraySlice<UInt8>) throws {
        try writeHead()
        guard !parts.isHeadOnly, !bytes.isEmpty else { return }
        state.withLock { $0.hasWritten = true }
        try body.write(bytes)
    }

    /// Puts the file in place when the answer is whole.
    func finish() throws {
        try writeHead()
        try file?.commit()
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

    /// Writes the answer that a failed call is left with, as far as it was read.
    ///
    /// - Parameter limit: The most bytes of its body.
    func show(_ response: RecoveredResponse?, limit: Int) async {
        guard let response, !(file is ResumableFile) else { return }
        // With -f a file stays as it was.
        if parts.skipsErrors, file != nil || !parts.showsHead { return }
        if state.withLock({ $0.last == nil }) { note(response, isFollowed: false) }
        do {
            guard try restart() else { return }
            var room = parts.skipsErrors ? 0 : limit
            for try await chunk in response.body where room > 0 {
                try write(chunk.prefix(room))
                room -= min(room, chunk.count)
            }
            try finish()
        } catch {
            // The error itself is told; its body is a courtesy.
        }
    }
}
