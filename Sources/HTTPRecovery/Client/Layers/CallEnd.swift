import HTTPTypes

/// What a call has come to when nothing more can be done, for layers that answer in the server's place.
enum CallEnd {
    case answered(RecoveredResponse)
    /// - Parameter end: Ends the call as it would have ended.
    case failed(Outcome, end: () throws -> RecoveredResponse)
}

extension Next {
    /// Runs the rest of the pipeline to its end.
    ///
    /// - Throws: What is no failure of the call, as cancellation.
    func end(_ request: HTTPRequest, body: MessageBody?, context: CallContext) async throws -> CallEnd {
        do {
            let response = try await self(request, body: body, context: context)
            guard response.isFailure else { return .answered(response) }
            return .failed(response.outcome) { response }
        } catch let error as RecoveryError {
            return .failed(error.outcome) { throw error }
        } catch let error as TransportError {
            return .failed(context.outcome(of: error, for: request)) { throw error }
        }
    }
}
