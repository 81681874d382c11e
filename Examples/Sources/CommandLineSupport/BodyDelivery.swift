import Glibc
public import HTTPRecovery
public import HTTPTypes

/// Hands the body of a successful response to a sink as a part of the attempt.
///
/// It stands innermost, so a body that breaks off is a failed attempt like any other: if the sink can begin anew,
/// the engine may try again. Bodies of errors stay with the error.
public struct BodyDelivery: ClientLayer {
    private let sink: any ByteSink
    private let limit: Int?
    private let isHandedOn: @Sendable (RecoveredResponse) -> Bool

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - sink: Where the bytes go.
    ///   - limit: The most bytes of a body; nil is no limit.
    ///   - isHandedOn: Whether a response is somebody else's business, as a redirect that is followed.
    public init(
        to sink: any ByteSink,
        limit: Int?,
        except isHandedOn: @escaping @Sendable (RecoveredResponse) -> Bool = { _ in false }
    ) {
        self.sink = sink
        self.limit = limit
        self.isHandedOn = isHandedOn
    }

    /// Runs the attempt and delivers its body.
    public func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var response = try await next(request, body: body, context: context)
        guard !response.outcome.isFailure, !isHandedOn(response) else { return response }
        do {
            try await deliver(response.body)
            response.body = .empty
            return response
        } catch let error as TransportError {
            try Task.checkCancellation()
            let outcome = context.outcome(of: error, for: request)
            context.emit(.failure(number: context.record.attempts, outcome))
            // The engine decides about an error that it can still do something about.
            if try canRestart() { throw error }
            throw RecoveryError(
                outcome: outcome,
                reason: error.isTransient ? .responseDelivered : .notRecoverable,
                history: context.record.history
            )
        }
    }

    private func deliver(_ body: MessageBody) async throws {
        guard try canRestart() else {
            throw TransportError(.outputFailed, .answered, message: "a part of it went out before", isTransient: false)
        }
        if let limit, let length = body.length, length > limit { throw Self.tooLarge(limit) }
        var room = limit ?? .max
        for try await chunk in body {
            try write(chunk.prefix(room))
            guard chunk.count <= room else { throw Self.tooLarge(limit ?? .max) }
            room -= chunk.count
        }
    }

    private func canRestart() throws -> Bool {
        do {
            return try sink.restart()
        } catch {
            throw Self.outputFailed(error)
        }
    }

    private func write(_ chunk: ArraySlice<UInt8>) throws {
        do {
            try sink.write(chunk)
        } catch {
            throw Self.outputFailed(error)
        }
    }

    private static func outputFailed(_ error: any Error) -> TransportError {
        let isClosed = (error as? FileError)?.code == EPIPE
        return TransportError(
            isClosed ? .outputClosed : .outputFailed,
            .answered,
            message: "\(error)",
            isTransient: false
        )
    }

    private static func tooLarge(_ limit: Int) -> TransportError {
        TransportError(.bodyTooLarge, .answered, message: "the limit is \(limit) bytes", isTransient: false)
    }
}
