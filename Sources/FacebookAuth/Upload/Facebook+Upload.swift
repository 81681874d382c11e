public import AuthRecovery
public import HTTPRecovery

extension Facebook {
    /// Uploads a file in chunks, and publishes it.
    ///
    /// A chunk that fails is followed by one from where the server says; one whose answer is lost is sent again, since
    /// the server knows by its offset whether it has it. Five failures in a row without progress end the upload. The last
    /// step publishes and is not repeated on doubt.
    ///
    /// - Parameters:
    ///   - upload: What is uploaded.
    ///   - path: Where to, such as `1234/videos`.
    ///   - fields: Fields of the last step, such as `title`.
    ///   - token: Which token is presented.
    ///   - progress: Told how many bytes the server has.
    /// - Returns: The answer to the last step.
    /// - Throws: `RecoveryError`; what reading the file throws. `CancellationError` as soon as the task is cancelled.
    public func upload(
        _ upload: FacebookUpload,
        to path: String,
        finishing fields: FormFields = FormFields(),
        as token: FacebookToken = .stored,
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> JSONValue {
        try await api.client.operation { operation in
            let plan = FacebookUploadPlan(size: upload.size)
            return try await operation.run(plan) { step, operation in
                switch step {
                case .start: break
                case .transfer(_, let offsets): progress(offsets.start)
                case .finish: progress(upload.size)
                }
                let run = FacebookUploadRun(facebook: within(operation), path: path, upload: upload, token: token)
                return try await run.perform(step, finishing: fields)
            }
        }
    }
}
