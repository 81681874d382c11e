import HTTPRecovery
import Synchronization

/// The request body's stream on its way from the task that reads it to the loop: one chunk at a time.
struct UploadState {
    /// The chunk that goes out now.
    var chunk: ArraySlice<UInt8> = []
    /// Whether the stream has ended, well or not.
    var hasEnded = false
    var hasFailed = false
    /// Whether libcurl has asked for bytes; before it does the stream is not touched, so that a one-shot body is
    /// still whole when no connection could be made.
    var isWanted = false
    var isOver = false
    /// Whether libcurl waits for bytes.
    var isPaused = false
    /// The reading task, waiting for its chunk to be taken.
    var reader: Continuation<Bool, Never>?
    var task: Task<Void, Never>?

    /// Ends it; who waits, and the reading task, hear of it where nothing is locked: what is cancelled may do anything at once.
    mutating func end(_ resumptions: inout [Resumption]) {
        isOver = true
        chunk = []
        if let reader { resumptions.append(.upload(reader, false)) }
        reader = nil
        if let task { resumptions.append(.cancellation(task)) }
        task = nil
    }
}

extension Transfer {
    /// Starts the task that reads the request body, if it is a stream.
    ///
    /// The task is unstructured because it outlives `send`: a server may answer before it has read everything. It ends
    /// with the transfer.
    func startUpload() {
        guard case .stream(let body, let length) = request.body else { return }
        let task = Task {
            guard await self.waitUntilWanted() else { return }
            var count = 0
            do {
                for try await chunk in body where !chunk.isEmpty {
                    count += chunk.count
                    if let length, count > length { return self.endUpload(hasFailed: true) }
                    guard await self.offer(chunk) else { return }
                    // All that was announced is out; libcurl asks for no more.
                    if count == length { break }
                }
                self.endUpload(hasFailed: length.map { $0 != count } ?? false)
            } catch {
                self.endUpload(hasFailed: true)
            }
        }
        let isOver = shared.withLock { shared in
            if !shared.upload.isOver { shared.upload.task = task }
            return shared.upload.isOver
        }
        if isOver { task.cancel() }
    }

    private func waitUntilWanted() async -> Bool {
        await withContinuation { continuation in
            let answer: Bool? = shared.withLock { shared in
                if shared.upload.isOver { return false }
                if shared.upload.isWanted { return true }
                shared.upload.reader = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Hands one chunk to the loop and waits until it is taken; false when the transfer is over.
    private func offer(_ chunk: ArraySlice<UInt8>) async -> Bool {
        await withContinuation { continuation in
            var mustWake = false
            let isOver = shared.withLock { shared in
                if shared.upload.isOver { return true }
                shared.upload.chunk = chunk
                shared.upload.reader = continuation
                mustWake = shared.upload.isPaused
                shared.upload.isPaused = false
                return false
            }
            if isOver { return continuation.resume(returning: false) }
            if mustWake { loop.submit(.resumeSending(self)) }
        }
    }

    private func endUpload(hasFailed: Bool) {
        let mustWake = shared.withLock { shared in
            shared.upload.hasEnded = true
            shared.upload.hasFailed = hasFailed
            let wasPaused = shared.upload.isPaused
            shared.upload.isPaused = false
            return wasPaused && !shared.upload.isOver
        }
        if mustWake { loop.submit(.resumeSending(self)) }
    }

    /// What libcurl's read callback gets.
    enum UploadStep {
        case bytes(Int)
        case wait
        case end
        case failed
    }

    /// Copies the next bytes of a streamed body; on the loop's thread.
    func fillUpload(_ buffer: UnsafeMutableRawBufferPointer) -> UploadStep {
        var resumed: Continuation<Bool, Never>?
        let step: UploadStep = shared.withLock { shared in
            if !shared.upload.isWanted {
                shared.upload.isWanted = true
                swap(&resumed, &shared.upload.reader)
            }
            if !shared.upload.chunk.isEmpty {
                // The destination is libcurl's buffer, of the size it says; the source is bounded by it.
                let count = min(buffer.count, shared.upload.chunk.count)
                unsafe buffer.copyBytes(from: shared.upload.chunk.prefix(count))
                shared.upload.chunk.removeFirst(count)
                if shared.upload.chunk.isEmpty { swap(&resumed, &shared.upload.reader) }
                return .bytes(count)
            }
            if shared.upload.hasFailed { return .failed }
            if shared.upload.hasEnded { return .end }
            shared.upload.isPaused = true
            return .wait
        }
        if let resumed { loop.resumptions.append(.upload(resumed, true)) }
        return step
    }
}
