#if OpenAPI
public import HTTPRecovery
public import HTTPTypes
public import OpenAPIRuntime

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The transport of a generated client whose calls recover.
///
/// ```swift
/// let api = Client(serverURL: url, transport: RecoveringTransport(client))
/// ```
///
/// Each operation is a call of the client, with its deadline, waits, repairs and events; its name in them, and the class
/// of endpoints that shares a rate limit, is the operation's id. Bodies stream both ways. A request's body that can be
/// iterated several times is sent again where that is safe; one that can be iterated once is not.
public struct RecoveringTransport: ClientTransport {
    private let client: RecoveringClient
    private let rules: Rules

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - client: What sends the operations; one that is kept for all of them.
    ///   - rules: What single operations want to be treated differently. Default: nothing.
    public init(_ client: RecoveringClient, rules: Rules = Rules()) {
        self.client = client
        self.rules = rules
    }

    /// Sends an operation's request to the base URL with the request's path behind its own.
    ///
    /// A deadline of the client holds for the response's body too: reading on after it ends with a `TransportError`.
    ///
    /// - Throws: `RecoveryError`, which the generated client hands on as `ClientError.underlyingError`;
    ///   `CancellationError` as soon as the task is cancelled, in the same place.
    public func send(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let target = try OperationTarget(request, baseURL: baseURL)
        return try await rules.send(target.request, body: body, operationID: operationID, by: client)
    }
}
#endif
