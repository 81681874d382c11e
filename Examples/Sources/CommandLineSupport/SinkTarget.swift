import Glibc
public import HTTPRecovery

/// A sink as the target of a download: it tells a reader who has gone from a place that cannot be written.
public struct SinkTarget: RecoveringClient.Download.Target {
    private let sink: any ByteSink

    /// Creates a target.
    public init(_ sink: any ByteSink) {
        self.sink = sink
    }

    /// Whether the sink can begin anew.
    public var canRestart: Bool { sink.canRestart }

    /// Gets the sink ready.
    public func restart() throws -> Bool {
        try sink.restart()
    }

    /// Writes the bytes.
    public func write(_ bytes: ArraySlice<UInt8>) throws {
        do {
            try sink.write(bytes)
        } catch let error as FileError where error.code == EPIPE {
            throw TransportError(.outputClosed, .answered, message: "\(error)", isTransient: false)
        }
    }
}
