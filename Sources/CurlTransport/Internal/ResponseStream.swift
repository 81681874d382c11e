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

    struct AsyncIterator: PatientIterator {
        let reading: Reading

        mutating func next() async throws -> ArraySlice<UInt8>? {
            try await next(atLeast: 1)
        }

        mutating func next(atLeast count: Int) async throws -> ArraySlice<UInt8>? {
            try await reading.hold.transfer.nextBytes(atLeast: count).map { $0[...] }
        }
    }

    let hold: Hold

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reading: Reading(hold: hold))
    }
}
