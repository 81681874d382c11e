import HTTPRecovery
import HTTPTypes

/// Tells how much of the bodies of an attempt has passed, closest to the transport.
struct BodyMeter: ClientLayer {
    /// A body that is sent in one piece is not worth a word, and is to stay in one.
    private static let leastBytes = 65_536

    let report: @Sendable (MessageBody.Progress) -> Void

    /// It looks on, wherever the call goes.
    var followsToOtherOrigins: Bool { true }

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let isSmall = body?.length.map { $0 <= Self.leastBytes } ?? false
        var response = try await next(request, body: isSmall ? body : body?.onProgress(report), context: context)
        if response.body.bytesInMemory == nil { response.body = response.body.onProgress(report) }
        return response
    }
}
