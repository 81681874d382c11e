import Glibc
public import HTTPRecovery
import Synchronization

/// A sink as the target of a download: it tells a reader who has gone from a place that cannot be written.
public final class SinkTarget: RecoveringClient.Download.Target {
    private let sink: any ByteSink
    private let thread: BlockingWork?
    private let timeLeft: @Sendable () -> Duration?
    private let isStuck = Atomic(false)

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - sink: Where the bytes go.
    ///   - thread: Where it is written; nil for a sink that does not block.
    ///   - timeLeft: How long who reads may take. Default: as long as they like.
    public init(
        _ sink: any ByteSink,
        on thread: BlockingWork?,
        timeLeft: @escaping @Sendable () -> Duration? = { nil }
    ) {
        self.sink = sink
        self.thread = thread
        self.timeLeft = timeLeft
    }

    /// Whether the sink can begin anew; not if somebody has not read in time.
    public var canRestart: Bool { !isStuck.load(ordering: .relaxed) && sink.canRestart }

    /// Gets the sink ready.
    public func restart() async throws -> Bool {
        try await inTime { [sink] in try sink.restart() }
    }

    /// Writes the bytes.
    public func write(_ bytes: ArraySlice<UInt8>) async throws {
        do {
            try await inTime { [sink] in try sink.write(bytes) }
        } catch let error as FileError where error.code == EPIPE {
            throw TransportError(.outputClosed, .answered, message: "\(error)", isTransient: false)
        }
    }

    private func inTime<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        do {
            return try await sink.perform(on: thread, within: timeLeft(), body)
        } catch is BlockingWork.TimedOut {
            isStuck.store(true, ordering: .relaxed)
            throw TransportError(.timedOut, .answered, message: "nobody takes the output", isTransient: false)
        }
    }
}

extension ByteSink {
    /// Does something that may block, on a thread that may be.
    ///
    /// - Parameters:
    ///   - thread: The thread; nil for what does not block.
    ///   - leaves: Whether who is cancelled waits no longer for what may be stuck.
    ///   - limit: How long it may be stuck. Default: as long as it is.
    ///   - body: What is to be done.
    public func perform<Value: Sendable>(
        on thread: BlockingWork?,
        leaving leaves: Bool = true,
        within limit: Duration? = nil,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard let thread else { return try body() }
        return try await thread.run(leaving: leaves && mayGetStuck, within: mayGetStuck ? limit : nil, body)
    }
}
