public import HTTPRecovery
import Locking

/// A body of which the beginning comes in one piece: all that has come in a first while.
///
/// A body that breaks off in that while has brought nothing, and so can be asked for again by whoever passes on what
/// comes. What has come of it all the same is kept for who has to do without the rest. At most 1 MiB is held.
public final class HeldBody: Sendable {
    /// How long a body is held that goes to somebody who looks on: 1 s.
    public static let standardTime = Duration.seconds(1)

    private static let mostBytes = 1 << 20

    private enum End {
        case whole
        case broken(any Error)
    }

    private struct State {
        var chunks: [ArraySlice<UInt8>] = []
        var count = 0
        var end: End?
        /// Whether what has come is handed on as it is.
        var flows = false
        /// Who waits for the next piece, and who waits for room.
        var reader: CheckedContinuation<Void, Never>?
        var writer: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?

        var isReady: Bool { end != nil || (flows ? !chunks.isEmpty : count > HeldBody.mostBytes) }

        mutating func takeReader() -> CheckedContinuation<Void, Never>? {
            guard isReady else { return nil }
            defer { reader = nil }
            return reader
        }
    }

    private let state = Locked(State())
    private let time: Duration
    private let length: Int?

    /// Begins to read a body.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - time: How long its beginning is held.
    public init(_ body: MessageBody, for time: Duration) {
        self.time = time
        length = body.length
        let task = Task {
            do {
                for try await chunk in body { await put(chunk) }
                end(.whole)
            } catch {
                end(.broken(error))
            }
        }
        state.withLock { $0.task = task }
    }

    /// The body, to be read once; who lets go of it ends the transfer.
    public var body: MessageBody {
        MessageBody(once: Chunks(held: self), length: length)
    }

    /// What has come and nobody has taken.
    public var remainder: [UInt8] { state.withLock { Array($0.chunks.joined()) } }

    private func put(_ chunk: ArraySlice<UInt8>) async {
        // An empty piece is no end.
        if chunk.isEmpty { return }
        let reader = state.withLock { state in
            state.chunks.append(chunk)
            state.count += chunk.count
            return state.takeReader()
        }
        reader?.resume()
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                let isFull = state.withLock { state in
                    guard state.count > Self.mostBytes, state.end == nil else { return false }
                    state.writer = waiting
                    return true
                }
                if !isFull { waiting.resume() }
            }
        } onCancel: {
            stop()
        }
    }

    private func end(_ end: End) {
        let (reader, writer) = state.withLock { state in
            state.end = state.end ?? end
            defer { state.writer = nil }
            return (state.takeReader(), state.writer)
        }
        reader?.resume()
        writer?.resume()
    }

    /// Ends the transfer; what has come stays.
    private func stop() {
        end(.broken(CancellationError()))
        state.withLock { $0.task }?.cancel()
    }

    /// Hands on what has come from now on.
    private func flow() {
        let reader = state.withLock { state in
            state.flows = true
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Waits for the beginning, or what follows it.
    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                let isReady = state.withLock { state in
                    if state.isReady { return true }
                    state.reader = waiting
                    return false
                }
                if isReady { waiting.resume() }
            }
        } onCancel: {
            stop()
        }
    }

    private func next() async throws -> ArraySlice<UInt8>? {
        if !state.withLock({ $0.flows }) {
            let timer = Task { [weak self, time] in
                try await Task.sleep(for: time)
                self?.flow()
            }
            await wait()
            timer.cancel()
            // What broke off before it was handed on has brought nothing; it is there for who has to do without the rest.
            let failure: (any Error)? = state.withLock { state in
                if !state.flows, case .broken(let error)? = state.end { return error }
                state.flows = true
                return nil
            }
            if let failure { throw failure }
        }
        await wait()
        let (chunk, end, writer) = state.withLock { state in
            let chunk = state.chunks.count == 1 ? state.chunks[0] : ArraySlice(state.chunks.joined())
            (state.chunks, state.count) = ([], 0)
            defer { state.writer = nil }
            return (chunk, state.end, state.writer)
        }
        writer?.resume()
        if !chunk.isEmpty { return chunk }
        if case .broken(let error)? = end { throw error }
        return nil
    }

    /// Who is the last to let go of the body does not want the rest.
    private final class Interest: Sendable {
        let held: HeldBody

        init(_ held: HeldBody) {
            self.held = held
        }

        deinit {
            held.stop()
        }
    }

    private struct Chunks: AsyncSequence, Sendable {
        let interest: Interest

        init(held: HeldBody) {
            interest = Interest(held)
        }

        struct AsyncIterator: AsyncIteratorProtocol {
            let interest: Interest

            mutating func next() async throws -> ArraySlice<UInt8>? {
                try await interest.held.next()
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(interest: interest) }
    }
}
