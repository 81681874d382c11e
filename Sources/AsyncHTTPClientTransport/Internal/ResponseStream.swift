#if AsyncHTTPClient
import HTTPRecovery

/// The body of a response that is still on its way; the transfer ends when nobody holds the stream any more.
struct ResponseStream: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>

    /// Ends the transfer with its last reference.
    final class Hold: Sendable {
        let transfer: Transfer
        /// Keeps the transport from being shut down while a body is read.
        let transport: AsyncHTTPClientTransport

        init(transfer: Transfer, transport: AsyncHTTPClientTransport) {
            self.transfer = transfer
            self.transport = transport
        }

        deinit {
            end()
        }

        func end() {
            if !transfer.shared.withLock({ $0.isOver }) { transfer.cancel() }
        }
    }

    /// Ends the transfer when a reading is given up, whoever still holds the body: nobody can read on.
    final class Reading: Sendable {
        let hold: Hold

        init(hold: Hold) {
            self.hold = hold
        }

        deinit {
            hold.end()
        }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let reading: Reading

        mutating func next() async throws -> ArraySlice<UInt8>? {
            try await reading.hold.transfer.nextBytes().map { $0[...] }
        }
    }

    let hold: Hold

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reading: Reading(hold: hold))
    }
}
#endif
