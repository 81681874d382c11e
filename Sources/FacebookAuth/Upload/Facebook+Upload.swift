public import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Facebook {
    /// Uploads a file in chunks, and publishes it.
    ///
    /// A chunk that fails is followed by one from where the server says; one whose answer is lost is sent again, since
    /// the server knows by its offset whether it has it; one that took too long is halved. Five failures in a row without
    /// progress end the upload, and a session that is gone is begun anew once. The last step publishes: if its answer is
    /// lost, the video itself is asked, and only one that was not published is published again.
    ///
    /// Videos go to the host that Facebook has for them (`graph-video`).
    ///
    /// - Parameters:
    ///   - upload: What is uploaded.
    ///   - path: Where to, such as `1234/videos`.
    ///   - fields: Fields of the last step, such as `title`.
    ///   - token: Which token is presented.
    ///   - responder: Signs in again if the stored token was definitely refused; the upload goes on then, for the same
    ///     person only. Nil, the default, leaves that to the caller.
    ///   - progress: Told how many bytes the server has.
    /// - Returns: The id of the video, and the last answer.
    /// - Throws: `RecoveryError`; what reading the file throws. `CancellationError` as soon as the task is cancelled.
    public func upload(
        _ upload: FacebookUpload,
        to path: String,
        finishing fields: FormFields = FormFields(),
        as token: FacebookToken = .stored,
        answering responder: (any ChallengeResponder)? = nil,
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> FacebookUpload.Receipt {
        let authorization = FacebookAuthorization(api, token: token)
        return try await api.client.operation { operation in
            let plan = FacebookUploadPlan(size: upload.size)
            return try await operation.run(plan) { step, operation in
                switch step {
                case .start, .check: break
                case .transfer(_, let offsets): progress(offsets.start)
                case .finish: progress(upload.size)
                }
                let run = FacebookUploadRun(
                    facebook: within(operation),
                    path: path,
                    upload: upload,
                    token: token,
                    responder: responder,
                    authorization: authorization
                )
                return try await run.perform(step, finishing: fields)
            }
        }
    }

    /// Uploads a photo in one piece.
    ///
    /// With the field `published` set to `false` nothing is published, and it is repeated on doubt; it is published later as
    /// `attached_media` of a post. Otherwise it is not done twice.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - path: Where to, such as `1234/photos`.
    ///   - fields: Further fields, such as `caption` and `published`.
    ///   - token: Which token is presented.
    ///   - responder: Signs in again if the stored token was definitely refused, and the photo is sent once more, for the same
    ///     person only. Nil, the default, leaves that to the caller.
    /// - Returns: The id of the photo, and the answer.
    /// - Throws: `RecoveryError`; what reading the photo throws. `CancellationError` as soon as the task is cancelled.
    public func uploadPhoto(
        _ photo: FacebookUpload,
        to path: String,
        fields: FormFields = FormFields(),
        as token: FacebookToken = .stored,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws -> FacebookUpload.Receipt {
        var form = MultipartForm(random: api.client.runtime.random)
        for name in fields.names.uniqued {
            for value in fields[name] { form.add(name, value.reveal()) }
        }
        form.add("source", file: try await photo.read(0..<photo.size), name: photo.fileName)
        let isPublished = fields["published"].last?.reveal() != "false"
        let call = GraphAPI.Call(
            method: .post,
            path: path,
            body: form.content,
            token: token,
            resend: isPublished ? .byMethod : .replayable
        )
        let json = try api.json(in: try await send(call, answering: responder))
        return FacebookUpload.Receipt(id: json["id"]?.codeText?.bounded(to: 64), answer: json)
    }
}

extension [String] {
    /// Each text once, in order.
    fileprivate var uniqued: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
