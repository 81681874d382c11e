public import HTTPTypes

extension RecoveringClient {
    /// Answers in the server's place where a call has failed and nothing more can be done.
    ///
    /// It stands outside the engine, and is asked once, with what the call came to in the end. Cancellation is no failure,
    /// and what the caller has done wrong is not glossed over: by default it stands in for a server that is down,
    /// overloaded or unreachable. A substitute is told as a `fallback` event, and stands in the response's history behind
    /// what has failed.
    public struct Fallback: ClientLayer {
        /// What is answered instead.
        @nonexhaustive public enum Substitute: Sendable {
            /// A response: a constant, or what is known from elsewhere.
            case response(HTTPResponse, body: MessageBody = .empty)
            /// The answer to another request, such as that of a second site; what becomes of it is final. It goes through the
            /// engine as the first one did, with what is left of the deadline.
            case request(HTTPRequest, body: MessageBody? = nil)
        }

        private let applies: @Sendable (Outcome) -> Bool
        private let substitute: @Sendable (HTTPRequest, Outcome) async throws -> Substitute?

        /// Outside the engine: it is about what a call has come to in the end.
        public var place: CallContext.LayerPlace { .outsideRecovery }

        /// Creates a fallback.
        ///
        /// - Parameters:
        ///   - applies: Which failures it stands in for. Default: outages, rate limits, timeouts, lost connections.
        ///   - substitute: What is answered instead; nil lets the failure stand, as whatever it throws does.
        public init(
            when applies: @escaping @Sendable (Outcome) -> Bool = { $0.isLoadFailure },
            _ substitute: @escaping @Sendable (HTTPRequest, Outcome) async throws -> Substitute?
        ) {
            self.applies = applies
            self.substitute = substitute
        }

        /// Sends the request, and answers in the server's place where that fails.
        public func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            switch try await next.end(request, body: body, context: context) {
            case .answered(let response): return response
            case .failed(let outcome, let end):
                guard let substituted = try await substitute(for: outcome, request) else { return try end() }
                return try await answer(substituted, to: outcome, context, next)
            }
        }

        /// What is answered instead; nil for what the fallback does not stand in for, or has nothing for.
        private func substitute(for outcome: Outcome, _ request: HTTPRequest) async throws -> Substitute? {
            guard applies(outcome) else { return nil }
            do {
                return try await substitute(request, outcome)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                return nil
            }
        }

        private func answer(
            _ substitute: Substitute,
            to outcome: Outcome,
            _ context: CallContext,
            _ next: Next
        ) async throws -> RecoveredResponse {
            switch substitute {
            case .response(let head, let body):
                context.emit(.fallback(from: outcome.kind.rawValue, to: "response"))
                var response = RecoveredResponse(head: head, body: body)
                response.history = context.record.history
                return response
            case .request(let request, let body):
                context.emit(.fallback(from: outcome.kind.rawValue, to: "request"))
                return try await next(request, body: body, context: context)
            }
        }
    }
}
