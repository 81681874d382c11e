public import HTTPTypes

extension RecoveringClient.Chaos {
    /// What is done to an attempt.
    @nonexhaustive public enum Injection: Sendable {
        /// It goes out late.
        case latency(Duration)
        /// It does not go out, and ends with the error.
        case fault(TransportError)
        /// It does not go out, and is answered.
        case outcome(HTTPResponse, body: MessageBody = .empty)
        /// Something is done before it goes out; what it throws, the attempt ends with.
        case behavior(@Sendable (HTTPRequest) async throws -> Void)
        /// It goes out and is answered, but the answer is lost: the attempt ends with `connectionLost`, and nobody knows whether
        /// the server has processed it.
        case lostAnswer
        /// It goes out at once, and the answer begins so much later.
        case lateAnswer(Duration)
        /// It goes out, and something is done with the answer.
        case changedAnswer(@Sendable (inout TransportResponse) -> Void)

        /// It does not go out: no connection can be made.
        public static var notSent: Injection { .fault(TransportError(.cannotConnect, .neverSent)) }

        /// It ends as if the server had refused it unprocessed.
        public static var notProcessed: Injection { .fault(TransportError(.streamRefused, .notProcessed)) }

        /// It does not go out, and is answered with a status.
        ///
        /// - Parameters:
        ///   - code: The status, 100 to 999; what lies outside is the nearest of them.
        ///   - fields: The header fields.
        ///   - body: The body as text.
        public static func status(_ code: Int, _ fields: HTTPFields = [:], body: String = "") -> Injection {
            let status = HTTPResponse.Status(code: min(max(code, 100), 999))
            return .outcome(HTTPResponse(status: status, headerFields: fields), body: MessageBody(body))
        }

        /// It goes out, and the answer's body breaks off after so many bytes, or at its end if it has fewer: with `truncated`.
        public static func truncatedBody(after count: Int) -> Injection {
            .changedAnswer { answer in
                answer.body = MessageBody(once: TruncatedBytes(body: answer.body, count: max(0, count)))
            }
        }

        /// It goes out, and the answer says that its body is of another type, such as `text/html`.
        public static func contentType(_ type: String) -> Injection {
            .changedAnswer { $0.head.headerFields[.contentType] = type }
        }
    }
}

/// The beginning of a body, and an error.
private struct TruncatedBytes: AsyncSequence, Sendable {
    let body: MessageBody
    let count: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        var pieces: MessageBody.AsyncIterator
        var left: Int

        mutating func next() async throws -> ArraySlice<UInt8>? {
            guard left > 0, let piece = try await pieces.next() else {
                throw TransportError(.truncated, .answered, message: "the body was truncated on purpose")
            }
            let taken = piece.prefix(left)
            left -= taken.count
            return taken
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: body.makeAsyncIterator(), left: count) }
}
