import HTTPRecovery

extension SandboxFault {
    /// The reply that the client gets instead of the true one.
    ///
    /// - Parameters:
    ///   - response: The true answer, where the request was processed.
    ///   - now: The sandbox's time.
    ///   - error: Makes up an error with a status; nil for the usual one.
    func applied(
        to response: SandboxResponse,
        now: Int64,
        error: (_ status: Int?) -> SandboxResponse
    ) -> SandboxReply {
        var reply = SandboxReply(response: response, now: now)
        if kind != .trickle { reply.delay = delay }
        switch kind {
        case .status: reply.response = statusAnswer(error)
        case .envelope: reply.response = error(status)
        case .html:
            reply.response = .text(body ?? Self.page, status: status ?? 502, type: "text/html; charset=utf-8")
        case .empty: reply.response = SandboxResponse(status: status ?? 500)
        case .truncate: reply.delivery = .truncated(reset: false)
        case .truncateReset: reply.delivery = .truncated(reset: true)
        case .resetBefore, .resetAfter: reply.delivery = .reset
        case .closeBefore, .closeAfter: reply.delivery = .close
        case .hang: reply.delivery = .hang
        case .garbage: reply.delivery = .raw(Array((body ?? "\u{1}\u{2}this is not HTTP\r\n\r\n").utf8))
        case .trickle: reply.delivery = .trickle(pauseMilliseconds: delay > 0 ? delay : 10)
        default: break
        }
        if reply.response.status == 0 {
            // A kind that changes the true answer was told not to process the request: there is none to change.
            reply.response = statusAnswer(error)
        }
        addHeaders(to: &reply.response, now: now)
        return reply
    }

    private static let page = """
        <html><head><title>502 Bad Gateway</title></head>
        <body><center><h1>502 Bad Gateway</h1></center><hr><center>proxy</center></body></html>

        """

    private func statusAnswer(_ error: (Int?) -> SandboxResponse) -> SandboxResponse {
        let status = status ?? 503
        if let body {
            let isJSON = (try? JSONValue(parsing: body)) != nil
            return .text(body, status: status, type: isJSON ? "application/json" : "text/plain; charset=utf-8")
        }
        return status < 400 ? .json([:], status: status) : error(status)
    }

    private func addHeaders(to response: inout SandboxResponse, now: Int64) {
        if let retryAfter {
            var text = retryAfter
            if retryAfter == "huge" { text = "1" + String(repeating: "0", count: 30) }
            if retryAfter.hasPrefix("date:"), let ahead = Int64(retryAfter.dropFirst(5)),
                (-4_000_000_000...4_000_000_000).contains(ahead)
            {
                text = Timestamp(milliseconds: now + ahead * 1000).httpDate
            }
            response.setHeader("Retry-After", text)
        }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { response.setHeader(name, value) }
    }
}
