public import HTTPRecovery
public import HTTPTypes

extension ServerClocks {
    /// Keeps what each answer says about its server's clock.
    ///
    /// It stands inside `Recovery`, where it sees every attempt. ``DPoPAuthorization`` does the same by itself.
    public struct Learning: ClientLayer {
        private let clocks: ServerClocks

        /// Creates the layer.
        public init(_ clocks: ServerClocks) {
            self.clocks = clocks
        }

        /// Sends the request and keeps what the answer says, also if its body breaks off.
        public func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            context.record.receivedHead = nil
            defer {
                if let head = context.record.receivedHead {
                    let time = context.runtime.time.wallTime
                    clocks.keep(head.headerFields, from: Origin(of: request), receivedAt: time)
                }
            }
            return try await next(request, body: body, context: context)
        }
    }
}
