import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Performs the calls of a resumable upload.
struct FacebookUploadRun: Sendable {
    let facebook: Facebook
    let path: String
    let upload: FacebookUpload
    let token: FacebookToken
    let responder: (any ChallengeResponder)?
    /// What all parts present their token with: an upload goes on for the same person only.
    let authorization: FacebookAuthorization

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
            return try await send(call(.form(form), resend: .replayable))
        case .transfer(let session, let offsets): return try await transfer(session, offsets)
        case .finish(let session):
            var form: FormFields = ["upload_phase": "finish"]
            form.add("upload_session_id", session)
            form.add(fields)
            // It publishes, so it is not done twice.
            return try await send(call(.form(form)))
        case .check(let video):
            let path = FormFields.encode(segment: video)
            return try await send(GraphAPI.Call(path: path, query: ["fields": "status"], token: token))
        }
    }

    private func call(
        _ body: ProviderRequest.Content,
        resend: RequestOptions.ResendPermission = .byMethod
    ) -> GraphAPI.Call {
        let isVideo = ["videos", "advideos"].contains(path.prefix { $0 != "?" }.split(separator: "/").last)
        return GraphAPI.Call(
            method: .post,
            host: isVideo ? .videos : .graph,
            path: path,
            body: body,
            token: token,
            resend: resend
        )
    }

    private func send(_ call: GraphAPI.Call) async throws -> FacebookUploadPlan.Answer {
        let response = try await facebook.recovering(
            token,
            responder,
            continuing: authorization,
            isRead: call.isRead
        ) { authorization, api in try await api.send(call, authorization: authorization) }
        return FacebookUploadPlan.Answer(json: try api.json(in: response), response: response)
    }

    /// Sends the bytes from the offset on.
    ///
    /// One whose answer is lost is sent again: the server knows by the offset what it has, and says where to go on.
    private func transfer(
        _ session: String,
        _ offsets: FacebookUploadPlan.Offsets
    ) async throws -> FacebookUploadPlan.Answer {
        let bytes = try await upload.read(offsets.start..<offsets.end)
        var form = MultipartForm(random: api.client.runtime.random)
        form.add("upload_phase", "transfer")
        form.add("upload_session_id", session)
        form.add("start_offset", String(offsets.start))
        form.add("video_file_chunk", file: bytes, name: upload.fileName)
        var call = call(form.content, resend: .replayable)
        call.purpose = .chunk
        return try await send(call)
    }
}
