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
        /// The most bytes of a body; nil for no limit.
        let limit: Int?
        /// How long the beginning of a body is held; nil for not at all.
        let holdsFor: Duration?

        /// Whether a body is to be held; one that is too long is not taken at all, as curl does it.
        func holds(_ body: MessageBody) -> Bool {
            body.bytesInMemory == nil && (body.length ?? 0) <= limit ?? .max
        }
    }

    private let followsRedirects: Bool

    init(followsRedirects: Bool) {
        self.followsRedirects = followsRedirects
    }

    /// Begins a call.
    ///
    /// - Parameters:
    ///   - number: The call's number.
    ///   - output: Where its answer goes.
    ///   - limit: The most bytes of a body; nil for no limit.
    ///   - resumes: Whether a transfer that breaks off is gone on with.
    ///   - time: How long the beginning of a body is held; nil for not at all.
    func begin(_ number: Int, _ output: CallOutput, limit: Int?, resumes: Bool, holdingFor time: Duration?) {
        let follows = followsRedirects
        let download = RecoveringClient.Download(
            to: SinkTarget(output, on: output.thread) { output.timeLeft },
            limit: limit,
            resumes: resumes,
            continuingAt: output.kept
        ) { follows && Redirects.isRedirect($0) }
        calls.withLock { $0[number] = Call(output: output, download: download, limit: limit, holdsFor: time) }
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

    /// Takes note of heads, of answers that are delivered, and holds the beginnings of their bodies.
    private struct Head: ClientLayer {
        let deliveries: Deliveries

        var followsToOtherOrigins: Bool { true }

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            var response = try await next(request, body: body, context: context)
            guard let call = deliveries.call(context) else { return response }
            let isFollowed =
                deliveries.followsRedirects && Redirects.isRedirect(response) && !response.outcome.isFailure
            var held: HeldBody?
            if let time = call.holdsFor, !response.outcome.isFailure, !isFollowed, call.holds(response.body) {
                let body = HeldBody(response.body, for: time)
                response.body = body.body
                held = body
            }
            call.output.note(response, isFollowed: isFollowed, held: held)
            return response
        }
    }
}
