import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Performs the calls of a resumable upload.
struct FacebookUploadRun: Sendable {
    /// The largest chunk that is sent, whatever the server asks for.
    private static let maximumChunk: Int64 = 16 << 20

    let facebook: Facebook
    let path: String
    let upload: FacebookUpload
    let token: FacebookToken

    private var api: GraphAPI { facebook.api }

    /// Performs a step.
    func perform(_ step: FacebookUploadPlan.Step, finishing fields: FormFields) async throws
        -> FacebookUploadPlan.Answer
    {
        switch step {
        case .start:
            var form: FormFields = ["upload_phase": "start"]
            form.add("file_size", String(upload.size))
            // A session that nobody uses does no harm.
            return try await send(
                GraphAPI.Call(method: .post, path: path, body: .form(form), token: token, resend: .replayable)
            )
        case .transfer(let session, let offsets): return try await transfer(session, offsets)
        case .finish(let session):
            var form: FormFields = ["upload_phase": "finish"]
            form.add("upload_session_id", session)
            form.add(fields)
            // It publishes, so it is not done twice.
            return try await send(GraphAPI.Call(method: .post, path: path, body: .form(form), token: token))
        }
    }

    private func send(_ call: GraphAPI.Call) async throws -> FacebookUploadPlan.Answer {
        let response = try await facebook.send(call)
        return FacebookUploadPlan.Answer(json: try api.json(in: response), response: response)
    }

    /// Sends the bytes from the offset on.
    ///
    /// One whose answer is lost is sent again: the server knows by the offset what it has, and says where to go on.
    private func transfer(
        _ session: String,
        _ offsets: FacebookUploadPlan.Offsets
    ) async throws -> FacebookUploadPlan.Answer {
        let end = min(offsets.end, offsets.start + Self.maximumChunk)
        let bytes = try await upload.read(offsets.start..<end)
        var form = MultipartForm(random: api.client.runtime.random)
        form.add("upload_phase", "transfer")
        form.add("upload_session_id", session)
        form.add("start_offset", String(offsets.start))
        form.add("video_file_chunk", file: bytes, name: upload.fileName)
        return try await send(
            GraphAPI.Call(
                method: .post,
                path: path,
                body: ProviderRequest.Content(form.body, type: form.contentType),
                token: token,
                resend: .replayable,
                purpose: .chunk
            )
        )
    }
}
