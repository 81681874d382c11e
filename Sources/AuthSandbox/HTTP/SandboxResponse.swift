import HTTPRecovery
import HTTPRecoveryTesting

/// One answer before it is put on the wire.
struct SandboxResponse: Sendable, Equatable {
    var status: Int
    var headers: [SandboxRequest.Header]
    var body: [UInt8]
    /// The words after the status; nil for the usual ones.
    var reason: String?
    /// Whether the length of the body is told where no header tells it: an upstream's answer to HEAD may leave it open.
    var statesLength = true

    init(status: Int, headers: [SandboxRequest.Header] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer of JSON.
    static func json(_ value: JSONValue, status: Int = 200, pretty: Bool = false) -> SandboxResponse {
        SandboxResponse(
            status: status,
            headers: [.init(name: "Content-Type", value: "application/json")],
            body: Array((pretty ? value.prettyText + "\n" : value.text).utf8)
        )
    }

    /// An answer of plain text or HTML.
    static func text(_ text: String, status: Int, type: String = "text/plain; charset=utf-8") -> SandboxResponse {
        SandboxResponse(status: status, headers: [.init(name: "Content-Type", value: type)], body: Array(text.utf8))
    }

    /// A redirection.
    static func redirect(to target: String, status: Int = 302) -> SandboxResponse {
        SandboxResponse(status: status, headers: [.init(name: "Location", value: target)])
    }

    /// The first value of a header, whatever the case of its name.
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Adds a header, replacing one of the same name.
    mutating func setHeader(_ name: String, _ value: String) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        headers.append(.init(name: name, value: value))
    }

    /// The body as JSON, where it is.
    var jsonBody: JSONValue? {
        try? JSONValue(parsing: body)
    }

    /// The answer's head and body as HTTP/1.1 bytes.
    func bytes(now: Int64, keepAlive: Bool, omitBody: Bool) -> (head: [UInt8], body: [UInt8]) {
        var head = "HTTP/1.1 \(status) \(Self.clean(reason ?? Self.reason(status)))\r\n"
        for header in headers {
            head += "\(Self.clean(header.name)): \(Self.clean(header.value))\r\n"
        }
        if self.header("Date") == nil { head += "Date: \(Timestamp(milliseconds: now).httpDate)\r\n" }
        let bodyIsForbidden = status == 204 || status == 304 || (100..<200).contains(status)
        if !bodyIsForbidden, statesLength, self.header("Content-Length") == nil {
            head += "Content-Length: \(body.count)\r\n"
        }
        if self.header("Connection") == nil { head += "Connection: \(keepAlive ? "keep-alive" : "close")\r\n" }
        head += "\r\n"
        return (Array(head.utf8), omitBody || bodyIsForbidden ? [] : body)
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 302: "Found"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 422: "Unprocessable Content"
        case 425: "Too Early"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Status"
        }
    }

    /// A text without the line breaks that would end its field.
    static func clean(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else { return text }
        return String(text.unicodeScalars.map { $0 == "\r" || $0 == "\n" || $0 == "\0" ? " " : Character($0) })
    }
}
