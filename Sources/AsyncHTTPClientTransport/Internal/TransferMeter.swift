#if AsyncHTTPClient
import HTTPRecovery
import NIOCore

/// What is measured of one transfer, for a transport that is asked to.
///
/// The handlers on the loop write, whoever has the response reads. How long the client took to find or make a connection
/// it does not tell; it is in the time until the request's start.
final class TransferMeter: Sendable {
    private let submission = NIODeadline.now()
    private let values = Locked(History.AttemptMetrics())

    var metrics: History.AttemptMetrics { values.withLock { $0 } }

    private var elapsed: Duration {
        .nanoseconds((NIODeadline.now() - submission).nanoseconds)
    }

    /// The request's head is about to be written.
    func begin(on channel: any Channel, isReused: Bool) {
        let connection = channel.parent ?? channel
        values.withLock { metrics in
            metrics.requestStart = elapsed
            metrics.wireAttempts = 1
            metrics.connectionsOpened = isReused ? 0 : 1
            metrics.bodyBytesSent = 0
            metrics.bodyBytesReceived = 0
            metrics.httpVersion = channel.parent == nil ? "1.1" : "2"
            metrics.localAddress = connection.localAddress?.ipAddress
            metrics.localPort = connection.localAddress?.port
            metrics.remoteAddress = connection.remoteAddress?.ipAddress
            metrics.remotePort = connection.remoteAddress?.port
        }
    }

    /// A part of the answer has come; of all of them the first counts.
    func noteAnswer() {
        values.withLock { if $0.firstByte == nil { $0.firstByte = elapsed } }
    }

    func noteSent(_ count: Int) {
        values.withLock { $0.bodyBytesSent = ($0.bodyBytesSent ?? 0) + count }
    }

    func noteReceived(_ count: Int) {
        values.withLock { $0.bodyBytesReceived = ($0.bodyBytesReceived ?? 0) + count }
    }

    /// The body has ended, or the transfer has failed.
    func end() {
        values.withLock { if $0.total == nil { $0.total = elapsed } }
    }
}
#endif
