public import AuthRecovery
import HTTPRecovery

extension Facebook {
    /// Uploads a file for the app (`/{app-id}/uploads`), and brings a handle that other calls take.
    ///
    /// The file goes out in one request. If that is interrupted, the server is asked how much of it has come, and the rest
    /// follows; five interruptions in a row without progress end it.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - type: Its type, such as `image/png`.
    ///   - token: Which token is presented; its person needs a role in the app.
    ///   - responder: Signs in again if the stored token was definitely refused; the upload goes on then, for the same
    ///     person only. Nil, the default, leaves that to the caller.
    ///   - progress: Told how many bytes the server has, as far as that is known.
    /// - Returns: The handle as the id, and the last answer.
    /// - Throws: `RecoveryError`; what reading the file throws. `CancellationError` as soon as the task is cancelled.
    public func uploadFile(
        _ file: FacebookUpload,
        type: String,
        as token: FacebookToken = .stored,
        answering responder: (any ChallengeResponder)? = nil,
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> FacebookUpload.Receipt {
        try await uploadFile(file, type, .app, as: token, responder, progress)
    }

    /// Uploads a file to the address that an answer has named (`upload_url`, at `rupload.facebook.com`), as that to the
    /// beginning of a reel does.
    ///
    /// As ``uploadFile(_:type:as:answering:progress:)``; how much has come, the object tells by its `status`. The token goes to
    /// Facebook's own hosts alone.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - url: The address.
    ///   - object: The id of what the file is for, such as the `video_id` that stood beside the address.
    ///   - token: Which token is presented.
    ///   - responder: Signs in again if the stored token was definitely refused; the upload goes on then, for the same
    ///     person only. Nil, the default, leaves that to the caller.
    ///   - progress: Told how many bytes the server has, as far as that is known.
    /// - Returns: The object's id, and the last answer. Publishing it is another call.
    /// - Throws: `RecoveryError`; of the kind `invalid_request` for an address that is not Facebook's. What reading the file
    ///   throws; `CancellationError` as soon as the task is cancelled.
    public func uploadFile(
        _ file: FacebookUpload,
        at url: String,
        of object: String,
        as token: FacebookToken = .stored,
        answering responder: (any ChallengeResponder)? = nil,
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> FacebookUpload.Receipt {
        try await uploadFile(file, nil, .named(url: url, object: object), as: token, responder, progress)
    }

    private func uploadFile(
        _ file: FacebookUpload,
        _ type: String?,
        _ protocols: FacebookFileProtocol,
        as token: FacebookToken,
        _ responder: (any ChallengeResponder)?,
        _ progress: @escaping @Sendable (Int64) -> Void
    ) async throws -> FacebookUpload.Receipt {
        let authorization = FacebookAuthorization(api, token: token)
        let receipt = try await api.client.operation { operation in
            try await operation.run(FacebookFilePlan(size: file.size, protocols)) { step, operation in
                if case .send(_, let offset) = step { progress(offset) }
                let run = FacebookFileRun(
                    facebook: within(operation),
                    file: file,
                    type: type,
                    protocols: protocols,
                    token: token,
                    responder: responder,
                    authorization: authorization
                )
                return try await run.perform(step)
            }
        }
        progress(file.size)
        return receipt
    }
}
