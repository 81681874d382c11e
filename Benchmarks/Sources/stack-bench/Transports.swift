import HTTPRecovery
import HTTPTypes
import Synchronization

/// Answers at once with the same response.
struct Immediate: HTTPTransport {
    let response: TransportResponse

    var name: String { "immediate" }
    var enforcesTimeouts: Bool { true }

    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        response
    }
}

/// Holds every attempt until it is told to answer them all.
final class Hanging: HTTPTransport {
    private struct State {
        var held: [CheckedContinuation<Void, Never>] = []
        /// Who waits until all have come.
        var observer: CheckedContinuation<Void, Never>?
    }

    private let response: TransportResponse
    private let expected: Int
    private let state = Mutex(State())

    init(response: TransportResponse, expected: Int) {
        self.response = response
        self.expected = expected
        // What the bookkeeping takes is taken before anything is measured.
        state.withLock { $0.held.reserveCapacity(expected) }
    }

    var name: String { "hanging" }
    var enforcesTimeouts: Bool { true }

    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        await withCheckedContinuation { continuation in
            let observer = state.withLock { state in
                state.held.append(continuation)
                return state.held.count == expected ? state.observer.take() : nil
            }
            observer?.resume()
        }
        return response
    }

    /// Returns as soon as all attempts are held.
    func waitForAll() async {
        await withCheckedContinuation { continuation in
            let isFull = state.withLock { state in
                if state.held.count < expected { state.observer = continuation }
                return state.held.count >= expected
            }
            if isFull { continuation.resume() }
        }
    }

    /// Lets all attempts return.
    func answerAll() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}
