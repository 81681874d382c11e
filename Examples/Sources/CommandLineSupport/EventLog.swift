import Glibc
public import HTTPRecovery
import Locking

/// Writes events as JSON Lines, each line at once and whole.
public final class EventLog: Sendable {
    private struct Call {
        var start: TimeSource.Instant
        var attempts = 0
        var waited = Duration.zero
        var waitingSince: TimeSource.Instant?
        var isDone = false

        mutating func note(_ event: RecoveryEvent) {
            if let since = waitingSince {
                waited = waited.saturatingAdding(since.duration(to: event.time))
                waitingSince = nil
            }
            switch event.kind {
            case .attempt: attempts += 1
            case .wait, .line: waitingSince = event.time
            case .done: isDone = true
            default: break
            }
        }
    }

    private struct State {
        var calls: [Int: Call] = [:]
        var failure: FileError?
    }

    private let state = Locked(State())
    private let descriptor: Int32?
    private let name: String

    /// Opens the log.
    ///
    /// - Parameter path: A file, which is emptied, or made with mode 0600; `-` for standard error; nil writes nothing.
    public init(_ path: String?) throws(FileError) {
        self.name = path ?? ""
        switch path {
        case nil: self.descriptor = nil
        case "-": self.descriptor = STDERR_FILENO
        case let path?:
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw FileError("written", path, code: errno) }
            self.descriptor = file
        }
    }

    deinit {
        if let descriptor, descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// Why the log is incomplete; nil when it is not.
    public var failure: FileError? {
        state.withLock { $0.failure }
    }

    /// Writes an event.
    public func write(_ event: RecoveryEvent) {
        guard let descriptor else { return }
        guard let line = EventLine.text(event) else { return }
        state.withLock { state in
            var call = state.calls[event.call] ?? Call(start: event.time)
            guard !call.isDone else { return }
            call.note(event)
            state.calls[event.call] = call
            put(line, to: descriptor, &state)
        }
    }

    /// Writes that every call up to the last has ended by cancellation, if nothing was written about its end.
    ///
    /// An interrupted program calls it, so that there is one `done` for each call, begun or not.
    public func cancelOpenCalls(upTo last: Int, at time: TimeSource.Instant) {
        guard let descriptor, last > 0 else { return }
        state.withLock { state in
            for number in 1...last {
                var call = state.calls[number] ?? Call(start: time)
                guard !call.isDone else { continue }
                let event = RecoveryEvent(
                    call: number,
                    time: time,
                    kind: .done(.cancelled, attempts: 0, waited: .zero, elapsed: .zero)
                )
                call.note(event)
                state.calls[number] = call
                let fields = EventLine.doneFields(
                    .cancelled,
                    attempts: call.attempts,
                    waited: call.waited,
                    elapsed: call.start.duration(to: time)
                )
                put(EventLine.text("done", time: time, call: number, fields: fields), to: descriptor, &state)
            }
        }
    }

    private func put(_ line: String, to descriptor: Int32, _ state: inout State) {
        do {
            try FileDescriptor.write((line + "\n").utf8, to: descriptor, name: name)
        } catch {
            state.failure = error
        }
    }
}
