public import HTTPTypes

extension RecoveringClient {
    /// Tells the server which attempt of a call it sees; off unless it is asked for.
    ///
    /// It stands inside the engine. What is made again for nothing, because the server has provably not processed it, is the
    /// same attempt (`Recovery(resendsTransparently:)`).
    public struct AttemptNumber: ClientLayer {
        /// In whose words it is told.
        @nonexhaustive public enum Form: Sendable, Hashable {
            /// The AWS SDKs': `amz-sdk-request: attempt=2; max=3`, with a `ttl` by the server's clock if the call has a
            /// deadline.
            case amazon
            /// gRPC's: `grpc-previous-rpc-attempts: 1`, from the second attempt on (proposal A6).
            case grpc
        }

        private let form: Form
        private let maxAttempts: Int
        /// How far the servers' clocks are ahead of ours, by their answers.
        private let clocks = OriginTable<Locked<Duration>> { _ in Locked(.zero) }

        /// Inside the engine: it is about attempts.
        public var place: CallContext.LayerPlace { .insideRecovery }

        /// Creates the layer.
        ///
        /// - Parameters:
        ///   - form: In whose words it is told.
        ///   - maxAttempts: The most attempts of a call, as the engine has it.
        public init(_ form: Form, maxAttempts: Int) {
            self.form = form
            self.maxAttempts = maxAttempts
        }

        /// The AWS SDKs' form.
        public static func amazon(maxAttempts: Int) -> AttemptNumber {
            AttemptNumber(.amazon, maxAttempts: maxAttempts)
        }

        /// gRPC's form.
        public static let grpc = AttemptNumber(.grpc, maxAttempts: 1)

        /// Sends the request with its number.
        public func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            let number = number(of: context)
            guard form == .amazon else {
                var request = request
                if number > 1, let name = HTTPField.Name("grpc-previous-rpc-attempts") {
                    request.headerFields[name] = String(number - 1)
                }
                return try await next(request, body: body, context: context)
            }
            var words = ["attempt=\(number)", "max=\(max(maxAttempts, 1))"]
            let (time, clock) = (context.runtime.time, clocks[request])
            if let deadline = context.deadline {
                let end = time.wallTime(at: deadline).advanced(by: clock.withLock { $0 })
                words.insert("ttl=\(Self.compact(end))", at: 0)
            }
            var numbered = request
            if let name = HTTPField.Name("amz-sdk-request") {
                numbered.headerFields[name] = words.joined(separator: "; ")
            }
            let response = try await next(numbered, body: body, context: context)
            if let offset = ServerClock(response.headerFields, receivedAt: time.wallTime).offset {
                clock.withLock { $0 = offset }
            }
            return response
        }

        private func number(of context: CallContext) -> Int {
            let causes = [context.cause] + context.record.history.attempts.map(\.cause)
            return max(
                1,
                context.record.nextAttempt - causes.count { $0 == .repair(name: CallState.transparentResend) }
            )
        }

        /// As in `20300101T000000Z`.
        private static func compact(_ time: Timestamp) -> String {
            let time = CivilTime(secondsSinceEpoch: time.sinceEpoch.whole(.seconds(1)))
            let date = [time.month, time.day].reduce(time.year.padded(to: 4)) { $0 + $1.padded(to: 2) }
            return [time.hour, time.minute, time.second].reduce(date + "T") { $0 + $1.padded(to: 2) } + "Z"
        }
    }
}
