extension SandboxFault {
    /// What an error body looks like that is made up for a fault.
    enum Style {
        /// Clerk's, with the client's own resource for bodies that carry it.
        case clerk(client: JSONValue)
        /// RFC 6749's words, or a bearer challenge.
        case oauth(isResource: Bool)
        /// Okta's: a code and a text.
        case okta
        /// PingAM's envelope.
        case forgerock
        /// Graph's error object.
        case facebook
    }

    /// The reply that the client gets instead of the true one.
    ///
    /// - Parameters:
    ///   - response: The true answer, where the request was processed.
    ///   - now: The sandbox's time.
    ///   - style: Whose errors are made up.
    func applied(to response: SandboxResponse, now: Int64, style: Style) -> SandboxReply {
        var reply = SandboxReply(response: response, now: now)
        if kind != .trickle { reply.delay = delay }
        switch kind {
        case .status: reply.response = statusAnswer(style)
        case .envelope: reply.response = envelopeAnswer(status: status, style)
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
            reply.response = statusAnswer(style)
        }
        addHeaders(to: &reply.response, now: now)
        return reply
    }

    private static let page = """
        <html><head><title>502 Bad Gateway</title></head>
        <body><center><h1>502 Bad Gateway</h1></center><hr><center>proxy</center></body></html>

        """

    private func statusAnswer(_ style: Style) -> SandboxResponse {
        let status = status ?? 503
        if let body {
            let isJSON = (try? JSONParser.parse(body)) != nil
            return .text(body, status: status, type: isJSON ? "application/json" : "text/plain; charset=utf-8")
        }
        return status < 400 ? .json([:], status: status) : envelopeAnswer(status: status, style)
    }

    private func envelopeAnswer(status: Int?, _ style: Style) -> SandboxResponse {
        var client = JSONValue.null
        switch style {
        case .clerk(let own): client = own
        case .oauth(let isResource):
            if envelope == nil { return oauthAnswer(status: status ?? 400, isResource: isResource) }
        case .okta:
            if envelope == nil { return oktaAnswer(status: status ?? 400) }
        case .forgerock:
            if envelope == nil { return forgeRockAnswer(status: status ?? 401, form: "am") }
        case .facebook:
            if envelope == nil { return facebookAnswer(status: status, form: "fb") }
        }
        if let envelope, Self.facebookEnvelopes.contains(envelope) {
            return facebookAnswer(status: status, form: envelope)
        }
        if let envelope, Self.forgeRockEnvelopes.contains(envelope) {
            return forgeRockAnswer(status: status ?? 401, form: envelope)
        }
        let status = status ?? 422
        let code = errorCode ?? Self.usualCode(status)
        let message = errorMessage ?? "The sandbox was told to fail."
        var item: JSONValue = ["code": .string(code), "message": .string(message), "long_message": .string(message)]
        if let meta { item = item.adding("meta", meta) }
        let body: JSONValue
        switch envelope ?? "A" {
        case "B": body = ["error": item]
        case "C": body = ["error": .string(errorCode ?? "invalid_grant"), "error_description": .string(message)]
        case "D":
            let metadata: JSONValue = meta ?? ["reverification": ["level": "second_factor", "afterMinutes": 10]]
            body = [
                "clerk_error": [
                    "type": "forbidden", "reason": .string(errorCode ?? "reverification-error"), "metadata": metadata,
                ]
            ]
        case "okta":
            body = [
                "errorCode": .string(errorCode ?? "E0000009"), "errorSummary": .string(message),
                "errorLink": .string(errorCode ?? "E0000009"), "errorId": "sandbox_fault", "errorCauses": [],
            ]
        case "E": return .text(self.body ?? "{}", status: status, type: "application/json")
        case "two":
            let second: JSONValue = [
                "code": "form_password_length_too_short", "message": "too short",
                "long_message": "Passwords must be 8 characters or more.", "meta": ["param_name": "password"],
            ]
            body = ["errors": [item, second], "clerk_trace_id": "sandbox_fault"]
        case "A+client": body = ["errors": [item], "meta": ["client": client], "clerk_trace_id": "sandbox_fault"]
        default: body = ["errors": [item], "clerk_trace_id": "sandbox_fault"]
        }
        return .json(body, status: status)
    }

    /// An error of RFC 6749 section 5.2, or of RFC 6750 at a resource.
    private func oauthAnswer(status: Int, isResource: Bool) -> SandboxResponse {
        let message = errorMessage ?? "The sandbox was told to fail."
        if isResource, status == 401 || status == 403 {
            let code = errorCode ?? (status == 401 ? "invalid_token" : "insufficient_scope")
            return OAuthFailure(challenge: status, code, message).response
        }
        if status == 401, errorCode == nil || errorCode == "invalid_client" {
            return OAuthFailure.invalidClient(message).response
        }
        return OAuthFailure(errorCode ?? Self.usualOAuthCode(status), message, status: status).response
    }

    /// An error of Okta's; `meta` stands for its causes.
    private func oktaAnswer(status: Int) -> SandboxResponse {
        let code = errorCode ?? Self.usualOktaCode(status)
        return .json(
            [
                "errorCode": .string(code), "errorSummary": .string(errorMessage ?? "The sandbox was told to fail."),
                "errorLink": .string(code), "errorId": "oaeSandboxFault", "errorCauses": meta ?? [],
            ],
            status: status
        )
    }

    private static func usualOktaCode(_ status: Int) -> String {
        let number =
            switch status {
            case 401: 11
            case 403: 6
            case 404: 7
            case 405: 22
            case 429: 47
            case 503: 181
            case 504: 67
            case 500...: 9
            default: 1
            }
        return OktaFailure.code(number)
    }

    private static func usualOAuthCode(_ status: Int) -> String {
        switch status {
        case 403: "access_denied"
        case 404: "not_found"
        case 429, 502, 503, 504: "temporarily_unavailable"
        case 500...: "server_error"
        default: "invalid_request"
        }
    }

    private func addHeaders(to response: inout SandboxResponse, now: Int64) {
        if let retryAfter {
            var text = retryAfter
            if retryAfter == "huge" { text = "1" + String(repeating: "0", count: 30) }
            if retryAfter.hasPrefix("date:"), let ahead = Int64(retryAfter.dropFirst(5)),
                (-4_000_000_000...4_000_000_000).contains(ahead)
            {
                text = HTTPDate.text(milliseconds: now + ahead * 1000)
            }
            response.setHeader("Retry-After", text)
        }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { response.setHeader(name, value) }
    }

    private static func usualCode(_ status: Int) -> String {
        switch status {
        case 400: "request_invalid_for_environment"
        case 401: "authentication_invalid"
        case 403: "authorization_invalid"
        case 404: "resource_not_found"
        case 409: "resource_locked"
        case 415: "unsupported_content_type"
        case 422: "form_param_value_invalid"
        case 429: "too_many_requests"
        case 503: "service_unavailable"
        case 504: "gateway_timeout"
        default: "internal_clerk_error"
        }
    }
}
