public import HTTPTypes

extension FaultServer {
    /// A request that arrived in full, body included.
    public struct Request: Sendable, Hashable {
        /// The method.
        public var method: String
        /// The request target as it stood in the request line.
        public var path: String
        /// The header fields in their order; those with an impossible name are left out.
        public var headers: HTTPFields
        /// The body, with the chunked coding undone.
        public var body: [UInt8]
        /// The request line and header section as they came, the empty line included.
        public var rawHead: [UInt8]
        /// On which connection it came, counted from 0.
        public var connection: Int
        /// Its place among the requests of its connection, counted from 0.
        public var indexOnConnection: Int

        /// Creates a request, for servers that read it themselves with ``FaultServer/Plan/raw(_:)``.
        public init(
            method: String,
            path: String,
            headers: HTTPFields = [:],
            body: [UInt8] = [],
            rawHead: [UInt8] = [],
            connection: Int,
            indexOnConnection: Int = 0
        ) {
            self.method = method
            self.path = path
            self.headers = headers
            self.body = body
            self.rawHead = rawHead
            self.connection = connection
            self.indexOnConnection = indexOnConnection
        }

        init(_ head: RequestParser.Head, connection: Int, index: Int) {
            var fields = HTTPFields()
            // More than any client sends; the fields of HTTP have a bound of their own, which must not be met.
            for line in head.headers.prefix(10_000) {
                guard let name = HTTPField.Name(line.name) else { continue }
                fields.append(HTTPField(name: name, value: line.value))
            }
            self.init(
                method: head.method,
                path: head.target,
                headers: fields,
                rawHead: head.raw,
                connection: connection,
                indexOnConnection: index
            )
        }

        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }
}
