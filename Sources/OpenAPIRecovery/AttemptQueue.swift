#if OpenAPI
import HTTPRecovery
import HTTPTypes
import OpenAPIRuntime

#if Observability
import ServiceContextModule
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A call's transport that hands its attempts over to whoever serves them.
///
/// What a middleware is given to go on with is lent to it: it cannot be kept, so the middleware itself calls it, for
/// each attempt that the engine wants.
struct AttemptQueue: HTTPTransport {
    typealias Sending = @concurrent @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)

    private let target: OperationTarget
    private let attempts: AsyncStream<Attempt>
    private let continuation: AsyncStream<Attempt>.Continuation
    private let thrown = Locked<(any Error)?>(nil)

    var name: String { "openapi" }

    init(_ target: OperationTarget) {
        self.target = target
        (attempts, continuation) = AsyncStream.makeStream()
    }

    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        let attempt = Attempt(request, body)
        continuation.yield(attempt)
        return try await attempt.answer()
    }

    /// What an attempt ended with last that the engine has no words for; nil if there was none.
    var lastError: (any Error)? { thrown.withLock { $0 } }

    /// Sends attempts as they come, until it is cancelled; several at once if the engine races them.
    func serve(_ send: Sending) async {
        var iterator = attempts.makeAsyncIterator()
        guard let attempt = await iterator.next() else { return }
        async let others: Void = serve(send)
        await perform(attempt, send)
        await others
    }

    private func perform(_ attempt: Attempt, _ send: Sending) async {
        // One that nobody waits for any more is cancelled by leaving the function.
        async let _ = settle(attempt, send)
        await attempt.end()
    }

    private func settle(_ attempt: Attempt, _ send: Sending) async {
        let hasBodyFailed = Locked(false)
        do {
            let (request, baseURL) = try target.split(attempt.request)
            let sent = attempt.body.map { HTTPBody($0, notingFailureIn: hasBodyFailed) }
            let (head, body) = try await attempt.withContext { try await send(request, sent, baseURL) }
            attempt.settle(.success(TransportResponse(head: head, body: body.map { MessageBody($0) } ?? .empty)))
        } catch {
            attempt.settle(.failure(failure(error, hasBodyFailed: hasBodyFailed.withLock { $0 })))
        }
    }

    /// What an attempt ended with, in the words of the engine.
    private func failure(_ error: any Error, hasBodyFailed: Bool) -> any Error {
        switch error {
        case let error as ClientError: return failure(error.underlyingError, hasBodyFailed: hasBodyFailed)
        case is CancellationError, is TransportError: return error
        // A client within has decided already.
        case let error as RecoveryError: return error.outcome.transportError ?? error
        // However the transport tells of it: the engine knows what the body has thrown.
        case _ where hasBodyFailed:
            return TransportError(.requestBodyFailed, .unknown, message: "the request's body failed")
        default:
            thrown.withLock { $0 = error }
            return TransportError(.other, .unknown, message: "the transport threw \(type(of: error))")
        }
    }
}

extension AttemptQueue {
    /// An attempt that waits for its answer.
    private final class Attempt: Sendable {
        let request: HTTPRequest
        let body: MessageBody?
        private let answers = AsyncStream.makeStream(of: Result<TransportResponse, any Error>.self)
        private let ends = AsyncStream.makeStream(of: Never.self)
        #if Observability
        /// The span that it belongs to: whoever serves it is another task.
        private let context = ServiceContext.current
        #endif

        init(_ request: HTTPRequest, _ body: MessageBody?) {
            self.request = request
            self.body = body
        }

        /// Does something as the task that waits for the answer would.
        func withContext<Result>(_ work: () async throws -> Result) async rethrows -> Result {
            #if Observability
            if let context { return try await ServiceContext.withValue(context, operation: work) }
            #endif
            return try await work()
        }

        func answer() async throws -> TransportResponse {
            defer { ends.continuation.finish() }
            for await answer in answers.stream { return try answer.get() }
            throw CancellationError()
        }

        func settle(_ answer: Result<TransportResponse, any Error>) {
            answers.continuation.yield(answer)
            answers.continuation.finish()
        }

        /// Returns when nobody waits for the answer any more.
        func end() async {
            for await _ in ends.stream {}
        }
    }
}
#endif
