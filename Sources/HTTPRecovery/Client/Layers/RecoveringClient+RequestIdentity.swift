public import HTTPTypes

extension RecoveringClient {
    /// Gives each call an identity that the server sees: the same on every attempt.
    ///
    /// It stands outside the engine, and leaves alone what a request brings.
    public struct RequestIdentity: ClientLayer {
        private enum Field: Sendable {
            case idempotencyKey
            case requestID(HTTPField.Name)
        }

        private let field: Field

        /// Outside the engine: each attempt carries what the call was given.
        public var place: CallContext.LayerPlace { .outsideRecovery }

        /// An `Idempotency-Key` for each request whose method is not idempotent: a quoted random UUID
        /// (draft-ietf-httpapi-idempotency-key-header).
        ///
        /// With it, such a request may be sent again on doubt; only for servers that know the field.
        public static let idempotencyKey = RequestIdentity(field: .idempotencyKey)

        /// A random UUID in a field of that name, such as `X-Request-ID`.
        public static func requestID(in name: HTTPField.Name) -> RequestIdentity {
            RequestIdentity(field: .requestID(name))
        }

        /// Sends the request with its identity.
        public func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            var request = request
            switch field {
            case .idempotencyKey where !request.method.isIdempotent && request.headerFields[.idempotencyKey] == nil:
                request.headerFields[.idempotencyKey] = context.runtime.random.idempotencyKey()
            case .requestID(let name) where request.headerFields[name] == nil:
                request.headerFields[name] = context.runtime.random.uuid()
            default: break
            }
            return try await next(request, body: body, context: context)
        }
    }
}

extension Runtime.RandomSource {
    /// A value of an `Idempotency-Key` field, which is a quoted text.
    package func idempotencyKey() -> String { "\"\(uuid())\"" }

    /// A random UUID (RFC 9562, version 4), in lower case.
    fileprivate func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let text = Hexadecimal.encode(bytes)
        var (parts, rest) = ([Substring](), text[...])
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }
}
