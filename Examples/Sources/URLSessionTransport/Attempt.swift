import Foundation
import HTTPRecovery
import HTTPTypes
import Locking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One transfer: what the session tells of it on one side, the caller who waits on the other.
final class Attempt: Sendable {
    private struct Progress {
        var head: Head
        /// Hands over what has come of the body; nil before the head.
        var chunks: ReceivedBody.Chunks.Continuation?
        /// What ended the transfer at this side.
        var ending: (any Error)?
        var cancel: (@Sendable () -> Void)?
        var whenDone: (@Sendable () -> Void)?
        var isDone = false
    }

    private enum Head {
        case pending(CheckedContinuation<TransportResponse, any Error>?)
        case ready(Result<TransportResponse, any Error>)
        case taken
    }

    private let progress = Locked(Progress(head: .pending(nil)))
    private let isAlone: Bool

    /// - Parameter isAlone: Whether its connection is its own, so that nothing was sent before what fails.
    init(isAlone: Bool) {
        self.isAlone = isAlone
    }

    /// Waits for the head.
    func response() async throws -> TransportResponse {
        try await withCheckedThrowingContinuation { waiting in
            let result: Result<TransportResponse, any Error>? = progress.withLock { progress in
                guard case .ready(let result) = progress.head else {
                    progress.head = .pending(waiting)
                    return nil
                }
                progress.head = .taken
                return result
            }
            if let result { waiting.resume(with: result) }
        }
    }

    /// Ends the transfer because its task was cancelled, or its body let go; whoever waits for it is told at once.
    func cancel() {
        end { _ in CancellationError() }
    }

    /// Ends the transfer because the transport is shut down.
    func shutDown() {
        end { sawHead in
            TransportError(.shutDown, sawHead ? .answered : .unknown, message: "the transport has been shut down")
        }
    }

    private func end(_ error: (_ sawHead: Bool) -> any Error) {
        let (cancel, ending) = progress.withLock { progress in
            let ending = progress.ending ?? error(progress.chunks != nil)
            progress.ending = ending
            // Once: a body that nobody gets ends its transfer too, as it is let go.
            defer { progress.cancel = nil }
            return (progress.cancel, ending)
        }
        cancel?()
        finish(ending)
    }

    /// The transfer has begun, and can be ended from now on.
    func began(_ cancel: @escaping @Sendable () -> Void) {
        let isTooLate = progress.withLock { progress in
            progress.cancel = cancel
            return progress.ending != nil
        }
        if isTooLate { cancel() }
    }

    /// Calls the function once the session is done with the transfer.
    func whenDone(_ body: @escaping @Sendable () -> Void) {
        progress.withLock { $0.whenDone = body }
    }

    // MARK: What the session tells

    func received(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let (stream, chunks) = ReceivedBody.Chunks.makeStream()
        let body = MessageBody(once: ReceivedBody(stream, of: self))
        let head = TransportResponse(head: HTTPResponse(response), body: body)
        resolve(.success(head)) { progress in
            // What ended before its head came has said so; it is not answered after all.
            guard progress.ending == nil else { return false }
            progress.chunks = chunks
            return true
        }
    }

    func received(_ data: Data) {
        _ = progress.withLock { $0.chunks }?.yield(ArraySlice(data))
    }

    func completed(_ error: (any Error)?) {
        let (sawHead, ending) = progress.withLock { ($0.chunks != nil, $0.ending) }
        finish(ending ?? error.map { TransportError($0, sawHead: sawHead, isAlone: isAlone) })
        let done = progress.withLock { progress in
            defer { progress.whenDone = nil }
            return progress.whenDone
        }
        done?()
    }

    private func finish(_ error: (any Error)?) {
        progress.withLock { $0.chunks }?.finish(throwing: error)
        let none = TransportError(.notHTTP, .unknown, message: "the transfer ended without a response")
        resolve(.failure(error ?? none))
    }

    private func resolve(
        _ result: Result<TransportResponse, any Error>,
        if isWanted: (inout Progress) -> Bool = { _ in true }
    ) {
        let waiting: CheckedContinuation<TransportResponse, any Error>? = progress.withLock { progress in
            guard case .pending(let waiting) = progress.head, isWanted(&progress) else { return nil }
            progress.head = waiting == nil ? .ready(result) : .taken
            return waiting
        }
        waiting?.resume(with: result)
    }
}
