#if OpenAPI
public import HTTPRecovery
import HTTPTypes
import OpenAPIRuntime

extension RecoveringTransport {
    /// What the operations of a document want to be treated differently, by their ids.
    ///
    /// An id is written as the document has it (`operationId`), not as the generator names the function.
    public struct Rules: Sendable {
        /// The operations that may be sent again when nobody knows whether the first was processed, whatever their
        /// method.
        ///
        /// Default: none; idempotent methods may be (RFC 9110 section 9.2.2).
        public var replayable: Set<String>

        /// The operations that get an `Idempotency-Key`, the same on each attempt, so that they may be sent again on
        /// doubt; for servers that know the field.
        ///
        /// Default: none. A key that the request brings stays.
        public var idempotencyKeys: Set<String>

        /// Whether a response that ended a call in an error is the operation's output all the same.
        ///
        /// Default: it is if recovery had nothing to try, such as a 404, which the document may describe; what was
        /// given up, such as a 503 after the last attempt, and a session that is over, are thrown.
        public var isOutput: @Sendable (RecoveryError) -> Bool

        /// Adjusts an operation's options, such as its deadline, how much of its response is read before it is judged,
        /// or the account it is about.
        ///
        /// Default: nothing is adjusted.
        public var adjust: @Sendable (_ operationID: String, _ options: inout RequestOptions) -> Void

        /// Creates rules.
        ///
        /// - Parameters:
        ///   - replayable: The operations that may be sent again on doubt.
        ///   - idempotencyKeys: The operations that get an `Idempotency-Key`.
        ///   - isOutput: Whether an error's response is the output all the same.
        ///   - adjust: Adjusts an operation's options.
        public init(
            replayable: Set<String> = [],
            idempotencyKeys: Set<String> = [],
            isOutput: @escaping @Sendable (RecoveryError) -> Bool = {
                $0.reason == .notRecoverable && $0.kind != .reauthenticationRequired
            },
            adjust: @escaping @Sendable (_ operationID: String, _ options: inout RequestOptions) -> Void = { _, _ in }
        ) {
            self.replayable = replayable
            self.idempotencyKeys = idempotencyKeys
            self.isOutput = isOutput
            self.adjust = adjust
        }
    }
}

extension RecoveringTransport.Rules {
    /// Sends an operation as a call of the client.
    func send(
        _ request: HTTPRequest,
        body: HTTPBody?,
        operationID: String,
        by client: RecoveringClient
    ) async throws -> (HTTPResponse, HTTPBody?) {
        var request = request
        var options = RequestOptions()
        options.label = operationID
        if replayable.contains(operationID) { options.resend = .replayable }
        if idempotencyKeys.contains(operationID), request.headerFields[.idempotencyKey] == nil {
            request.headerFields[.idempotencyKey] = client.runtime.random.idempotencyKey()
        }
        adjust(operationID, &options)
        options.classifier = OperationClassifier(
            base: options.classifier ?? client.runtime.classifier,
            operationID: operationID
        )
        do {
            let response = try await client.send(request, body: body.map { MessageBody($0) }, options: options)
            return (response.head, HTTPBody(response.body))
        } catch let error as RecoveryError {
            guard let response = error.response, isOutput(error) else { throw error }
            return (response.head, HTTPBody(response.body))
        }
    }
}

/// Says what another classifier says, of requests that share their limits with all of their operation.
///
/// By method and path, each id in a path would be an endpoint of its own.
private struct OperationClassifier: OutcomeClassifier {
    let base: any OutcomeClassifier
    let operationID: String

    func classify(_ exchange: Exchange) -> Outcome { base.classify(exchange) }

    func outcome(ofStatus status: Int, fields: HTTPFields) -> Outcome? {
        base.outcome(ofStatus: status, fields: fields)
    }

    func endpointClass(method: HTTPRequest.Method, path: String) -> String { operationID }
}
#endif
