public import HTTPTypes

extension RecoveringClient {
    /// Hands the body of a successful response to a target as a part of the attempt, so that one that breaks off is
    /// recovered from, however large it is.
    ///
    /// A broken transfer begins anew, if the target can; with `resumes`, the next attempt asks for the rest alone: with `Range`
    /// and `If-Range`, if the server has given a strong entity tag or a date of change that is as good (RFC 9110 sections
    /// 13.1.5 and 14). If it has changed meanwhile, it comes whole. The length of all is checked in the end. The engine
    /// decides about the resends as about any other, and the response has no body any more.
    ///
    /// One that resumes is for one call: give it to that call. A call whose layer it is, is not hedged.
    ///
    /// ```swift
    /// var options = RequestOptions()
    /// options.attemptLayers = [RecoveringClient.Download(to: target, resumes: true)]
    /// ```
    public final class Download: ClientLayer {
        /// Where a download goes.
        public protocol Target: Sendable {
            /// Whether a body can begin from its first byte: not when a part of another has gone out and cannot be taken back.
            var canRestart: Bool { get async }

            /// Gets ready for a body from its first byte, and forgets what it has of another; false when a part of another has gone out and cannot be taken back.
            func restart() async throws -> Bool

            /// Takes the next bytes.
            func write(_ bytes: ArraySlice<UInt8>) async throws
        }

        private let target: any Target
        private let limit: Int
        private let resumes: Bool
        private let isHandedOn: @Sendable (RecoveredResponse) -> Bool
        private let progress: Locked<DownloadProgress>

        /// The target takes one body, and not the parts of two.
        public var bearsHedges: Bool { false }

        /// Where the body comes from is nothing to it.
        public var followsToOtherOrigins: Bool { true }

        /// Creates the layer.
        ///
        /// - Parameters:
        ///   - target: Where the bytes go. What it throws ends the call: a `TransportError` as it is, any other error as
        ///     ``TransportError/Code/outputFailed``.
        ///   - limit: The most bytes of a body. Default: no limit.
        ///   - resumes: Whether a broken transfer is gone on with. Default: it begins anew.
        ///   - count: How many bytes the target has from an earlier download; whether that was of the same is the caller's
        ///     knowledge, and a server that does not take ranges sends the whole. Default: none.
        ///   - isHandedOn: Whether a response is somebody else's business, as a redirect that is followed. Default: a
        ///     redirect that ``Redirects`` follows.
        public init(
            to target: any Target,
            limit: Int? = nil,
            resumes: Bool = false,
            continuingAt count: Int64 = 0,
            except isHandedOn: @escaping @Sendable (RecoveredResponse) -> Bool = Redirects.isRedirect
        ) {
            self.target = target
            self.limit = limit ?? .max
            self.resumes = resumes
            self.isHandedOn = isHandedOn
            progress = Locked(DownloadProgress(continuingAt: count))
        }

        /// Runs the attempt and delivers its body.
        public func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            let resumes = resumes && request.method == .get && !request.headerFields.contains(.range)
            var (request, context) = (request, context)
            if resumes {
                progress.withLock { $0 }.adjust(&request.headerFields)
                // What has come is kept, wherever it breaks off.
                context.options.buffering = .streamed
            }
            var response = try await next(request, body: body, context: context)
            if isHandedOn(response) { return response }
            do {
                if response.isFailure, !resumes || ![412, 416].contains(response.status.code) { return response }
                try await deliver(response, resumes: resumes)
                if response.isFailure { response.outcome = Outcome(.ok, processed: .yes) }
                response.body = .empty
                return response
            } catch let error as TransportError {
                try Task.checkCancellation()
                let outcome = context.outcome(of: error, for: request)
                context.emit(.failure(number: context.record.attempts, outcome))
                // The engine decides about an error that it can still do something about.
                if await canGoOn(resumes: resumes) { throw error }
                throw RecoveryError(
                    outcome: outcome,
                    reason: error.isTransient ? .responseDelivered : .notRecoverable,
                    history: context.record.history
                )
            }
        }

        private func deliver(_ response: RecoveredResponse, resumes: Bool) async throws {
            let (step, count) = progress.withLock { progress in
                guard resumes else { return (DownloadProgress.Step.begin, 0 as Int64) }
                return (progress.note(response.head), progress.count)
            }
            switch step {
            case .append: break
            case .complete: return
            case .mismatch(let why): throw TransportError(.truncated, .answered, message: why)
            case .begin:
                guard try await reporting({ try await target.restart() }) else {
                    let message = "a part of it went out before"
                    throw TransportError(.outputFailed, .answered, message: message, isTransient: false)
                }
            }
            var room = limit - Int(clamping: count)
            if let length = response.body.length, length > room { throw tooLarge }
            for try await chunk in response.body {
                if room > 0 { try await write(chunk.prefix(room)) }
                guard chunk.count <= room else { throw tooLarge }
                room -= chunk.count
            }
            if resumes, !progress.withLock({ $0.isWhole }) {
                throw TransportError(.truncated, .answered, message: "what came is not as long as was said")
            }
        }

        private func canGoOn(resumes: Bool) async -> Bool {
            if resumes, progress.withLock({ $0.isResumable }) { return true }
            // What there is stays until another begins: the call may end here.
            return await target.canRestart
        }

        private func write(_ chunk: ArraySlice<UInt8>) async throws {
            try await reporting { try await target.write(chunk) }
            progress.withLock { $0.add(chunk.count) }
        }

        private func reporting<Result>(_ work: () async throws -> Result) async throws -> Result {
            do {
                return try await work()
            } catch let error as TransportError {
                throw error
            } catch {
                throw TransportError(.outputFailed, .answered, message: "\(error)", isTransient: false)
            }
        }

        private var tooLarge: TransportError {
            TransportError(.bodyTooLarge, .answered, message: "the limit is \(limit) bytes", isTransient: false)
        }
    }
}
