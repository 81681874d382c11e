#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPRecovery
import NIOCore

/// The request's body on its way to the client; confined to the loop.
struct UploadState {
    /// Where the bytes go.
    var writer: HTTPClient.Body.StreamWriter?
    /// What tells the client that the body has ended.
    var end: EventLoopPromise<Void>?
    /// What is left of a body in memory, or the stream's chunk that waits.
    var rest: ArraySlice<UInt8> = []
    /// The reading task, waiting for its chunk to be taken.
    var reader: CheckedContinuation<Bool, Never>?
    var task: Task<Void, Never>?
    /// Whether the connection takes no more for now.
    ///
    /// Nothing is written meanwhile: the client would make a promise of it, and forget that when the request fails.
    var isPaused = false
    var hasBegun = false
}

extension Transfer {
    /// The most bytes that are written at a time.
    private static let largestChunk = 262_144

    var hasUploadBegun: Bool { upload.hasBegun }
    /// Whether the client waits for more of the body.
    var isUploading: Bool { upload.end != nil }

    /// The client asks for the body, which it does once, when the head is written and the connection takes more.
    ///
    /// Before it does a stream is not touched, so that a one-shot body is still whole when no connection could be made.
    func beginUpload(_ writer: HTTPClient.Body.StreamWriter) -> EventLoopFuture<Void> {
        let end = pool.loop.makePromise(of: Void.self)
        upload.hasBegun = true
        upload.writer = writer
        upload.end = end
        switch request.body {
        case .none: endUpload(.success(()))
        case .bytes(let bytes):
            upload.rest = bytes
            pump()
        case .stream(let body, let length): upload.task = read(body, length)
        }
        return end.futureResult
    }

    /// Reads the stream and offers what comes.
    ///
    /// The task is unstructured because it outlives `send`: a server may answer before it has read everything. It ends
    /// with the transfer.
    private func read(_ body: MessageBody, _ length: Int?) -> Task<Void, Never> {
        Task {
            var count = 0
            do {
                for try await chunk in body where !chunk.isEmpty {
                    count += chunk.count
                    if let length, count > length { return failUpload() }
                    guard await offer(chunk) else { return }
                    // All that was announced is out.
                    if count == length { break }
                }
            } catch {
                return failUpload()
            }
            if let length, length != count { return failUpload() }
            pool.loop.execute { self.endUpload(.success(())) }
        }
    }

    /// Hands one chunk to the loop and waits until it is taken; false when the transfer is over.
    private func offer(_ chunk: ArraySlice<UInt8>) async -> Bool {
        await withCheckedContinuation { continuation in
            pool.loop.execute { [self] in
                guard isUploading else { return continuation.resume(returning: false) }
                upload.rest = chunk
                upload.reader = continuation
                pump()
            }
        }
    }

    private func failUpload() {
        pool.loop.execute { [self] in
            guard isUploading else { return }
            fail(TransportError(.requestBodyFailed, Verdict.certainty(facts), message: Verdict.bodyFailed))
        }
    }

    func pauseUpload() { upload.isPaused = true }

    func resumeUpload() {
        upload.isPaused = false
        pump()
    }

    /// Writes as long as the connection takes it.
    private func pump() {
        guard let writer = upload.writer else { return }
        while !upload.isPaused, !upload.rest.isEmpty, isUploading {
            let chunk = upload.rest.prefix(Self.largestChunk)
            upload.rest = upload.rest.dropFirst(chunk.count)
            writer.write(.byteBuffer(ByteBuffer(bytes: chunk))).whenFailure { self.fail($0) }
        }
        guard upload.rest.isEmpty else { return }
        if case .bytes = request.body {
            endUpload(.success(()))
        } else {
            let reader = upload.reader
            upload.reader = nil
            reader?.resume(returning: true)
        }
    }

    /// Tells the client, and whoever reads the body, that it has ended.
    func endUpload(_ result: Result<Void, any Error>) {
        let (end, reader) = (upload.end, upload.reader)
        upload.end = nil
        upload.reader = nil
        upload.writer = nil
        upload.rest = []
        upload.task?.cancel()
        upload.task = nil
        reader?.resume(returning: false)
        end?.completeWith(result)
    }
}
#endif
