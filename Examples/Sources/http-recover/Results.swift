import CommandLineSupport
import Glibc
import HTTPRecovery
import HTTPTypes
import Locking
import Synchronization

/// What came of one call.
struct CallResult: Sendable {
    /// The HTTP status; nil without an answer.
    var status: Int?
    /// The head of the answer that the call is left with; nil without one.
    var head: HTTPResponse?
    /// What it means for the program.
    var exit: ExitStatus
    /// What to tell a person.
    var message: [ScreenText] = []
    /// What of its answer could not be written, told beside it.
    var loss: ScreenText?
    /// What to tell of its attempts.
    var timings: [ScreenText] = []
    /// Whether its body went to standard output, so that it gets no line.
    var isShown = false
    /// Whether who reads standard output has gone.
    var isUnread = false
    /// The heads of its answer, if they are wanted.
    var heads: [UInt8] = []
    /// What to write about it, and where.
    var written: [(destination: WriteOutFormat.Destination, text: ScreenText)] = []
}

/// What came of all calls, told in the order in which they were begun.
final class Results: Sendable {
    /// How many failures are told of several calls.
    private static let toldFailures = 10

    private struct State {
        var next = 0
        var waiting: [Int: CallResult] = [:]
        var exits: Set<ExitStatus> = []
        var failures: [[ScreenText]] = []
        var failureCount = 0
        /// Why standard output takes no more.
        var outputFailure: FileError?
    }

    private let state = Locked(State())
    private let isClosed = Atomic(false)
    private let headFailure = Locked<ScreenText?>(nil)
    private let prints: Bool
    private let numbers: Bool
    private let heads: (any ByteSink)?
    private let output: StandardOutput
    private let terminal: Terminal

    /// Creates a collection.
    ///
    /// - Parameters:
    ///   - prints: Whether each call gets a line with its status.
    ///   - numbers: Whether what is told of a call says which it is.
    ///   - heads: Where heads go; nil if they are not wanted.
    ///   - output: Where the lines go.
    ///   - terminal: Where a person is told.
    init(prints: Bool, numbers: Bool, heads: (any ByteSink)?, output: StandardOutput, terminal: Terminal) {
        self.prints = prints
        self.numbers = numbers
        self.heads = heads
        self.output = output
        self.terminal = terminal
    }

    /// Takes note of a call's end, and prints the lines of those whose turn has come.
    func finish(_ index: Int, _ result: CallResult) async {
        let isWritten = state.withLock { state in
            state.waiting[index] = result
            var due: [(number: Int, result: CallResult)] = []
            while let result = state.waiting.removeValue(forKey: state.next) {
                state.next += 1
                state.exits.insert(result.exit)
                if !result.message.isEmpty {
                    state.failureCount += 1
                    if state.failures.count < Self.toldFailures {
                        let lines = numbers ? ["call \(state.next): \(result.message[0])"] : result.message
                        state.failures.append(lines + (result.loss.map { [$0] } ?? []))
                    }
                }
                if result.isUnread { fail(with: FileError.unread, &state) }
                if isToBeWritten(result) { due.append((state.next, result)) }
            }
            if due.isEmpty { return false }
            output.thread.enqueue { [due] in
                for (number, result) in due { self.write(result, number) }
            }
            return true
        }
        // Who does not read holds up who has more to tell, and nobody else.
        if isWritten { try? await output.thread.run(leaving: false) {} }
    }

    /// Whether nobody can be told of further calls.
    var isOver: Bool { isClosed.load(ordering: .relaxed) }

    private func isToBeWritten(_ result: CallResult) -> Bool {
        !result.heads.isEmpty || !result.timings.isEmpty || !result.written.isEmpty || (prints && !result.isShown)
    }

    /// Writes what is to be written about a call beside its body.
    private func write(_ result: CallResult, _ number: Int) {
        write(result.heads)
        if !result.timings.isEmpty {
            output.endLine()
            if numbers { terminal.write("call \(number)") }
            for line in result.timings { terminal.write(line) }
        }
        for (destination, text) in result.written {
            switch destination {
            case .output: write(ArraySlice(text.description.utf8))
            case .errors: terminal.write(part: text)
            }
        }
        guard prints, !result.isShown else { return }
        let line: ScreenText = result.status.map { "\($0)" } ?? "000"
        write(Array("\(line.description)\n".utf8)[...])
    }

    /// Takes note that standard output takes no more: whoever has stopped reading knows it, and a full disk is told.
    private func fail(with error: any Error, _ state: inout State) {
        guard state.outputFailure == nil else { return }
        let failure = error as? FileError ?? .unread
        state.outputFailure = failure
        state.exits.insert(failure.code == EPIPE ? .transferFailed : .badInput)
        isClosed.store(true, ordering: .relaxed)
    }

    /// Writes to standard output, as long as it takes something.
    private func write(_ bytes: ArraySlice<UInt8>) {
        guard !isOver else { return }
        do {
            try output.write(bytes)
        } catch {
            state.withLock { fail(with: error, &$0) }
        }
    }

    private func write(_ heads: [UInt8]) {
        guard !heads.isEmpty else { return }
        do {
            try self.heads?.write(heads[...])
        } catch let error as FileError where error.isOfOutput {
            state.withLock { fail(with: error, &$0) }
        } catch {
            headFailure.withLock { $0 = $0 ?? "\(error)" }
        }
    }

    /// Puts the file of the heads in place; what is wrong with it is told.
    func commitHeads() {
        do {
            try (heads as? AtomicFile)?.commit()
        } catch {
            headFailure.withLock { $0 = $0 ?? "\(error)" }
        }
        guard let failure = headFailure.withLock({ $0 }) else { return }
        terminal.write("http-recover: \(failure)")
        add(.badInput)
    }

    /// Takes note of a status that belongs to no call.
    func add(_ status: ExitStatus) {
        state.withLock { _ = $0.exits.insert(status) }
    }

    /// The program's status.
    var status: ExitStatus {
        state.withLock { ExitStatus.ofAll($0.exits) }
    }

    /// Tells a person what failed.
    func tell(on terminal: Terminal) {
        let (failures, count, failure) = state.withLock { ($0.failures, $0.failureCount, $0.outputFailure) }
        if !failures.isEmpty { output.endLine() }
        for lines in failures {
            terminal.write(terminal.styled("http-recover: \(lines[0])", .bad))
            for line in lines.dropFirst() { terminal.write("  \(line)") }
        }
        if let failure, failure.code != EPIPE { terminal.write("http-recover: \("\(failure)", limit: 600)") }
        if count > failures.count { terminal.write("http-recover: and \(count - failures.count) more failed") }
    }
}
