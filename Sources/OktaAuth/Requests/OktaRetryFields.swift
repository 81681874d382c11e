import HTTPRecovery
import HTTPTypes

/// Tells the org that a request is sent again: with the id of the first try, and a count from 1.
///
/// One of these belongs to one call.
final class OktaRetryFields: ClientLayer {
    private struct State {
        var count = 0
        var firstID: String?
    }

    private let state = Locked(State())

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let (count, firstID) = state.withLock { state in
            // With another credential it is another request.
            if case .repair = context.cause { state = State() }
            // The head is still that of the attempt before.
            let id = context.record.receivedHead?.headerFields[Self.requestID].flatMap(Self.plain)
            if state.count > 0, state.firstID == nil { state.firstID = id }
            defer { state.count += 1 }
            return (state.count, state.firstID)
        }
        guard count > 0 else { return try await next(request, body: body, context: context) }
        var request = request
        if let firstID { request.headerFields[Self.retryFor] = firstID }
        request.headerFields[Self.retryCount] = String(count)
        return try await next(request, body: body, context: context)
    }

    /// The id if it is safe to send back.
    private static func plain(_ id: String) -> String? {
        let isPlain = id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        return isPlain && !id.isEmpty && id.utf8.count <= 256 ? id : nil
    }

    private static let requestID = HTTPField.Name("X-Okta-Request-Id")!
    private static let retryFor = HTTPField.Name("X-Okta-Retry-For")!
    private static let retryCount = HTTPField.Name("X-Okta-Retry-Count")!
}
