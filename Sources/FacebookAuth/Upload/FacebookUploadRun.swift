import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// A resumable upload on its way: begun, sent chunk by chunk from where the server wants to go on, finished.
struct FacebookUploadRun {
    /// The largest chunk that is sent, whatever the server asks for.
    private static let maximumChunk: Int64 = 16 << 20
    /// How many answers in a row, without a byte that the server did not have before, end it.
    private static let maximumFailures = 5

    let api: GraphAPI
    let path: String
    let upload: FacebookUpload
    let token: FacebookToken
    let send: (GraphAPI.Call) async throws -> Response
    let progress: @Sendable (Int64) -> Void

    private struct Offsets: Equatable {
        var start: Int64
        var end: Int64

        /// Reads the offsets that an answer states; nil where they lead beyond the file.
        init?(_ json: JSONValue, size: Int64) {
            guard let start = json["start_offset"]?.looseNumber?.saturatedInt, (0...size).contains(start) else {
                return nil
            }
            let end = json["end_offset"]?.looseNumber?.saturatedInt ?? size
            self.start = start
            self.end = min(max(end, start), size)
        }
    }

    func callAsFunction(finishing fields: FormFields) async throws -> JSONValue {
        var form: FormFields = ["upload_phase": "start"]
        form.add("file_size", String(upload.size))
        // A session that nobody uses does no harm.
        let begun = try await api.send(form, path, token, .replayable, send)
        guard let session = begun.json["upload_session_id"]?.codeText,
            var offsets = Offsets(begun.json, size: upload.size)
        else { throw api.failure(.unreadable, in: begun.response) }
        var failures = 0
        // Where the server wants to go back, coming forward again is no progress: else it could go on for ever.
        var furthest = offsets.start
        func advance(to next: Offsets) {
            failures = next.start > furthest ? 0 : failures + 1
            furthest = max(furthest, next.start)
        }
        while offsets.start < offsets.end {
            progress(offsets.start)
            do {
                let answer = try await transfer(session, offsets)
                guard let next = Offsets(answer.json, size: upload.size) else {
                    throw api.failure(.unreadable, in: answer.response)
                }
                advance(to: next)
                guard failures < Self.maximumFailures else {
                    var end = api.failure(.unavailable, in: answer.response)
                    end.outcome.message = "the upload does not come forward: byte \(furthest) of \(upload.size)"
                    end.reason = .attemptsExhausted
                    throw end
                }
                offsets = next
            } catch let error as RecoveryError where error.outcome.advice?["start_offset"] != nil {
                guard let advice = error.outcome.advice, let next = Offsets(advice, size: upload.size) else {
                    throw error
                }
                advance(to: next)
                guard failures < Self.maximumFailures else {
                    var end = error
                    end.reason = .attemptsExhausted
                    throw end
                }
                try await pause(failures)
                offsets = next
            }
        }
        progress(upload.size)
        var end: FormFields = ["upload_phase": "finish"]
        end.add("upload_session_id", session)
        end.add(fields)
        // It publishes, so it is not done twice.
        return try await api.send(end, path, token, .byMethod, send).json
    }

    /// Sends the bytes from the offset on.
    ///
    /// One whose answer is lost is sent again: the server knows by the offset what it has, and says where to go on.
    private func transfer(_ session: String, _ offsets: Offsets) async throws -> (json: JSONValue, response: Response) {
        let end = min(offsets.end, offsets.start + Self.maximumChunk)
        let bytes = try await upload.read(offsets.start..<end)
        var form = MultipartForm(random: api.client.runtime.random)
        form.add("upload_phase", "transfer")
        form.add("upload_session_id", session)
        form.add("start_offset", String(offsets.start))
        form.add("video_file_chunk", file: bytes, name: upload.fileName)
        let response = try await send(
            GraphAPI.Call(
                method: .post,
                path: path,
                body: (form.body, form.contentType),
                token: token,
                resend: .replayable,
                purpose: .chunk
            )
        )
        return (try api.json(in: response), response)
    }

    private func pause(_ failures: Int) async throws {
        guard failures > 0 else { return }
        let runtime = api.client.runtime
        let backoff = Backoff.exponential(base: .seconds(1), jitter: .equal)
        let delay = backoff.delay(retry: failures - 1, random: runtime.random.unit())
        let end = runtime.time.now.advanced(by: delay)
        let kind = RecoveryEvent.Kind.wait(
            reason: .unavailable,
            duration: delay,
            until: runtime.time.wallTime(at: end)
        )
        runtime.events.emit(RecoveryEvent(call: 0, time: runtime.time.now, kind: kind))
        try await runtime.time.sleep(until: end)
    }
}

extension GraphAPI {
    fileprivate func send(
        _ form: FormFields,
        _ path: String,
        _ token: FacebookToken,
        _ resend: RequestOptions.ResendPermission,
        _ send: (Call) async throws -> Response
    ) async throws -> (json: JSONValue, response: Response) {
        let response = try await send(Call(method: .post, path: path, form: form, token: token, resend: resend))
        return (try json(in: response), response)
    }
}
