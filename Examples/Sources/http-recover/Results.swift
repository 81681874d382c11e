import CommandLineSupport
import HTTPRecovery
import Locking

/// What came of one call.
struct CallResult: Sendable {
    /// The HTTP status; nil without an answer.
    var status: Int?
    /// What it means for the program.
    var exit: ExitStatus
    /// What to tell a person.
    var message: [ScreenText] = []
    /// What to tell of its attempts.
    var timings: [ScreenText] = []
    /// Whether its body went to standard output, so that it gets no line.
    var isShown = false
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
    }

    private let state = Locked(State())
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
    func finish(_ index: Int, _ result: CallResult) {
        state.withLock { state in
            state.waiting[index] = result
            while let result = state.waiting.removeValue(forKey: state.next) {
                state.next += 1
                state.exits.insert(result.exit)
                if !result.message.isEmpty {
                    state.failureCount += 1
                    if state.failures.count < Self.toldFailures {
                        state.failures.append(numbers ? ["call \(state.next): \(result.message[0])"] : result.message)
                    }
                }
                write(result.heads)
                tell(result, number: state.next)
                guard prints, !result.isShown else { continue }
                // Whoever has stopped reading wants no more lines.
                try? output.write(result.status.map { "\($0)" } ?? "000" as ScreenText)
            }
        }
    }

    /// Tells of a call's attempts, and writes what is to be written about it.
    private func tell(_ result: CallResult, number: Int) {
        if !result.timings.isEmpty {
            output.endLine()
            if numbers { terminal.write("call \(number)") }
            for line in result.timings { terminal.write(line) }
        }
        for (destination, text) in result.written {
            switch destination {
            // Whoever has stopped reading wants no more of it.
            case .output: try? output.write(ArraySlice(text.description.utf8))
            case .errors: terminal.write(part: text)
            }
        }
    }

    private func write(_ heads: [UInt8]) {
        guard !heads.isEmpty else { return }
        do {
            try self.heads?.write(heads[...])
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
        let (failures, count) = state.withLock { ($0.failures, $0.failureCount) }
        if !failures.isEmpty { output.endLine() }
        for lines in failures {
            terminal.write(terminal.styled("http-recover: \(lines[0])", .bad))
            for line in lines.dropFirst() { terminal.write("  \(line)") }
        }
        if count > failures.count { terminal.write("http-recover: and \(count - failures.count) more failed") }
    }
}
