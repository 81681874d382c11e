import AuthRecovery
import HTTPRecovery

extension Facebook {
    /// The vendor's table of errors as the servers send it for the app, over the one that its SDKs build in.
    ///
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func errorConfiguration() async throws -> FacebookErrorConfiguration {
        let token: FacebookToken = api.app.clientToken == nil ? .app : .client
        let request = ProviderRequest(
            path: FormFields.encode(segment: api.app.id),
            query: ["fields": "ios_sdk_error_categories"]
        )
        let response = try await send(request, as: token)
        guard let sent = FacebookErrorConfiguration(try api.json(in: response)) else { return .builtIn }
        return .builtIn.merging(sent)
    }

    /// Fetches the app's table of errors, and judges all further answers by it; all copies of this client do.
    ///
    /// A program does so when it starts, and may do so again from time to time. If the table cannot be fetched, the one
    /// before it stays.
    ///
    /// - Returns: The table.
    /// - Throws: As ``errorConfiguration()``.
    @discardableResult
    public func loadErrorConfiguration() async throws -> FacebookErrorConfiguration {
        let table = try await errorConfiguration()
        api.errors.withLock { $0 = table }
        return table
    }
}

extension GraphAPI {
    /// Whether a person who signs in may help, and the call can be made once more then: nobody is signed in, or the table
    /// of errors says so.
    ///
    /// - Parameter isRead: Whether the call only reads; any other is not made again if it may have been done.
    func isForPerson(_ error: RecoveryError, isRead: Bool) -> Bool {
        if error.kind == .reauthenticationRequired { return true }
        guard isRead || error.outcome.processed == .no else { return false }
        // Of codes that say it themselves the table is not asked.
        guard error.remedies.first == .reauthenticate, error.outcome.tokenAction == .keep,
            [.unknown, .permissionDenied].contains(error.kind), let code = error.outcome.code.flatMap({ Int($0) })
        else { return false }
        let table = errors.withLock { $0 }
        return table?.category(code: code, subcode: error.outcome.subcode.flatMap { Int($0) }) == .recoverable
    }
}
