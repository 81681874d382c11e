public import HTTPRecovery
public import HTTPTypes

extension ProviderRequest {
    /// The body of a request to a provider, with its type.
    public struct Content: Sendable {
        /// The body.
        public var body: MessageBody
        /// The `Content-Type`; nil sends none.
        public var type: String?

        /// Creates content.
        ///
        /// - Parameters:
        ///   - body: The body.
        ///   - type: The `Content-Type`; nil, the default, sends none.
        public init(_ body: MessageBody, type: String? = nil) {
            self.body = body
            self.type = type
        }

        /// A JSON text (RFC 8259).
        public static func json(_ value: JSONValue) -> ProviderRequest.Content {
            ProviderRequest.Content(MessageBody(value.description), type: "application/json")
        }

        /// A form (WHATWG URL standard).
        public static func form(_ fields: FormFields) -> ProviderRequest.Content {
            ProviderRequest.Content(fields.body, type: "application/x-www-form-urlencoded")
        }

        /// Sets the type among a request's fields, unless one is there already.
        ///
        /// - Parameter fields: The request's fields.
        /// - Returns: The body.
        public func body(typedIn fields: inout HTTPFields) -> MessageBody {
            if let type, !fields.contains(.contentType) { fields[.contentType] = type }
            return body
        }
    }
}
