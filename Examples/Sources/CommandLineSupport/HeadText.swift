public import HTTPTypes

/// The head of a message as it stands on the wire of HTTP/1.1.
public enum HeadText {
    /// The status line and the fields of a response, each with its end, and the empty line.
    ///
    /// - Parameters:
    ///   - head: The response's head; its fields are given as they came.
    ///   - version: The version of HTTP that it came by, such as `1.1` or `2`.
    public static func bytes(_ head: HTTPResponse, version: String) -> [UInt8] {
        let lines = [statusLine(head, version: version)] + head.headerFields.map { "\($0.name.rawName): \($0.value)" }
        return Array(lines.map { "\($0)\r\n" }.joined().utf8) + Array("\r\n".utf8)
    }

    /// The lines of a response for a person, without what may be a secret.
    ///
    /// - Parameters:
    ///   - head: The response's head.
    ///   - version: The version of HTTP that it came by; nil if nobody knows.
    public static func lines(_ head: HTTPResponse, version: String?) -> [ScreenText] {
        [ScreenText(statusLine(head, version: version))] + fields(head.headerFields)
    }

    /// The lines of a request for a person, without what may be a secret.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - target: What it asks for, as it may be shown.
    public static func lines(_ request: HTTPRequest, target: String) -> [ScreenText] {
        [
            "\(request.method.rawValue, limit: 40) \(target, limit: 2000)",
            "Host: \(request.authority ?? "", limit: 300)",
        ]
            + fields(request.headerFields)
    }

    private static func statusLine(_ head: HTTPResponse, version: String?) -> String {
        "HTTP\(version.map { "/\($0)" } ?? "") \(head.status.code) \(head.status.reasonPhrase)"
    }

    private static func fields(_ fields: HTTPFields) -> [ScreenText] {
        fields.map { field in
            let isShown = harmless.contains(field.name.canonicalName)
            return isShown
                ? "\(field.name.rawName, limit: 100): \(field.value)" : "\(field.name.rawName, limit: 100): …"
        }
    }

    /// The fields that hold no secret by what they are for; the values of all others stay untold.
    private static let harmless: Set<String> = [
        "accept", "accept-encoding", "accept-language", "accept-ranges", "age", "allow", "cache-control", "connection",
        "content-disposition", "content-encoding", "content-language", "content-length", "content-range",
        "content-type",
        "date", "etag", "expires", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range",
        "keep-alive", "last-modified", "range", "ratelimit", "ratelimit-limit", "ratelimit-policy",
        "ratelimit-remaining",
        "ratelimit-reset", "retry-after", "server", "traceparent", "transfer-encoding", "user-agent", "vary", "via",
        "www-authenticate", "x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset", "x-ratelimit-limit",
        "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id",
    ]
}
