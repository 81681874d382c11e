public import HTTPRecovery

extension TokenManager {
    /// Renews the credentials now, whether or not they have expired, as an operation of the client.
    ///
    /// - Returns: What is stored after it.
    /// - Throws: As ``renew(_:)``.
    @discardableResult
    public func renew(by client: RecoveringClient) async throws -> Credentials.Stored {
        try await client.operation { try await renew($0.context) }
    }
}
