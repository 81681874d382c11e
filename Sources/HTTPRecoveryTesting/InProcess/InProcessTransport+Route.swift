public import HTTPTypes

extension InProcessTransport {
    /// What answers the calls of one method and one form of path.
    ///
    /// A pattern is a path. A segment in braces (`/items/{id}`) takes any one segment, which the function finds in
    /// ``InProcessTransport/Call/parameters``; `*` as the last segment takes whatever follows, and nothing too.
    public struct Route: Sendable {
        let handler: Handler
        private let method: HTTPRequest.Method?
        private let segments: [Substring]

        /// A route for a method.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - pattern: The form of the path, without a query.
        ///   - handler: Answers what the route takes.
        public static func on(
            _ method: HTTPRequest.Method,
            _ pattern: String,
            _ handler: @escaping Handler
        ) -> Route {
            Route(handler: handler, method: method, segments: segments(of: pattern))
        }

        /// A route for every method.
        ///
        /// - Parameters:
        ///   - pattern: The form of the path, without a query.
        ///   - handler: Answers what the route takes.
        public static func any(_ pattern: String, _ handler: @escaping Handler) -> Route {
            Route(handler: handler, method: nil, segments: segments(of: pattern))
        }

        private static func segments(of path: some StringProtocol) -> [Substring] {
            Substring(path).split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { $0 }
        }

        /// What stands in the places of the pattern's names; nil when the route does not take the request.
        func parameters(of request: HTTPRequest) -> [String: String]? {
            guard method == nil || method == request.method else { return nil }
            let path = request.path.map { $0.isEmpty ? "/" : $0 } ?? "/"
            let found = Self.segments(of: path.prefix { $0 != "?" })
            var parameters: [String: String] = [:]
            for (index, segment) in segments.enumerated() {
                if segment == "*", index == segments.count - 1 { return parameters }
                guard index < found.count else { return nil }
                if segment.hasPrefix("{"), segment.hasSuffix("}"), segment.utf8.count > 2 {
                    guard !found[index].isEmpty else { return nil }
                    parameters[String(segment.dropFirst().dropLast())] = String(found[index])
                } else if segment != found[index] {
                    return nil
                }
            }
            return found.count == segments.count ? parameters : nil
        }
    }
}
