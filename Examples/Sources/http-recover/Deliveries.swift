import CommandLineSupport
import HTTPRecovery
import HTTPTypes
import Locking

/// The layers that hand the answer to each call to its place.
final class Deliveries: Sendable {
    private let calls = Locked<[Int: Call]>([:])

    private struct Call {
        let output: CallOutput
        let download: RecoveringClient.Download
    }

    private let followsRedirects: Bool

    init(followsRedirects: Bool) {
        self.followsRedirects = followsRedirects
    }

    /// Begins a call.
    func begin(_ number: Int, _ output: CallOutput, limit: Int?, resumes: Bool) {
        let follows = followsRedirects
        let download = RecoveringClient.Download(
            to: SinkTarget(output),
            limit: limit,
            resumes: resumes,
            continuingAt: output.kept
        ) { follows && Redirects.isRedirect($0) }
        calls.withLock { $0[number] = Call(output: output, download: download) }
    }

    /// Ends a call.
    func end(_ number: Int) {
        _ = calls.withLock { $0.removeValue(forKey: number) }
    }

    /// The layers, the outer first.
    var layers: [any ClientLayer] { [Body(deliveries: self), Head(deliveries: self)] }

    private func call(_ context: CallContext) -> Call? {
        context.options.callID.flatMap { number in calls.withLock { $0[number] } }
    }

    /// Writes bodies.
    private struct Body: ClientLayer {
        let deliveries: Deliveries

        var bearsHedges: Bool { false }
        var followsToOtherOrigins: Bool { true }

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            guard let call = deliveries.call(context) else {
                return try await next(request, body: body, context: context)
            }
            return try await call.download.intercept(request, body: body, context: context, next: next)
        }
    }

    /// Takes note of heads, of answers that are delivered.
    private struct Head: ClientLayer {
        let deliveries: Deliveries

        var followsToOtherOrigins: Bool { true }

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            let response = try await next(request, body: body, context: context)
            let isFollowed =
                deliveries.followsRedirects && Redirects.isRedirect(response) && !response.outcome.isFailure
            deliveries.call(context)?.output.note(response, isFollowed: isFollowed)
            return response
        }
    }
}
