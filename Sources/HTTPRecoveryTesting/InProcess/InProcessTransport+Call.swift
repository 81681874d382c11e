public import HTTPRecovery
public import HTTPTypes

extension InProcessTransport {
    /// A request as the function gets it.
    public struct Call: Sendable {
        /// The request, as it was handed to the transport.
        public var request: HTTPRequest
        /// The body, which streams as it is read; a one-shot one can be read once.
        public var body: MessageBody
        /// Its ordinal at this transport, counted from 1.
        public var number: Int
        /// What the route's pattern found in the path, percent-encoded as it stood there; empty without routes.
        public var parameters: [String: String] = [:]

        /// The path without its query.
        public var path: String {
            let path = request.path ?? "/"
            return path.isEmpty ? "/" : String(path.prefix { $0 != "?" })
        }
    }
}
