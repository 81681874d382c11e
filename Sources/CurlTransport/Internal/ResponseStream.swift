import HTTPRecovery
import Synchronization

/// The body of a response that is still on its way; the transfer ends when nobody holds the stream any more.
struct ResponseStream: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>

    /// Ends the transfer with its last reference.
    final class Hold: Sendable {
        let transfer: Transfer
        /// Keeps the transport's loops running while a body is read.
        let transport: CurlTransport

        init(transfer: Transfer, transport: CurlTransport) {
            self.transfer = transfer
            self.transport = transport
        }

        deinit {
            if !transfer.shared.withLock({ $0.isOver }) { transfer.cancel() }
        }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let hold: Hold

        mutating func next() async throws -> ArraySlice<UInt8>? {
            try await hold.transfer.nextBytes().map { $0[...] }
        }
    }

    let hold: Hold

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(hold: hold)
    }
}
