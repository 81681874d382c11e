import HTTPRecovery

// The errors that faults make up, and what the log shows of them.
extension ClerkWorld {
    static let envelopes = ["A", "B", "C", "D", "E", "two", "A+client"]

    static func errorCode(of body: JSONValue) -> String? { body["errors"]?[0]?["code"]?.string }

    func error(
        _ fault: SandboxFault,
        status: Int?,
        form: String?,
        to request: SandboxRequest,
        context: SandboxContext
    ) -> SandboxResponse {
        let status = status ?? 422
        let code = fault.errorCode ?? Self.usualCode(status)
        let message = fault.errorMessage ?? "The sandbox was told to fail."
        var item: JSONValue = ["code": .string(code), "message": .string(message), "long_message": .string(message)]
        if let meta = fault.meta { item = item.adding("meta", meta) }
        let body: JSONValue
        switch form ?? "A" {
        case "B": body = ["error": item]
        case "C": body = ["error": .string(fault.errorCode ?? "invalid_grant"), "error_description": .string(message)]
        case "D":
            let metadata: JSONValue = fault.meta ?? ["reverification": ["level": "second_factor", "afterMinutes": 10]]
            body = [
                "clerk_error": [
                    "type": "forbidden", "reason": .string(fault.errorCode ?? "reverification-error"),
                    "metadata": metadata,
                ]
            ]
        case "E": return .text(fault.body ?? "{}", status: status, type: "application/json")
        case "two":
            let second: JSONValue = [
                "code": "form_password_length_too_short", "message": "too short",
                "long_message": "Passwords must be 8 characters or more.", "meta": ["param_name": "password"],
            ]
            body = ["errors": [item, second], "clerk_trace_id": "sandbox_fault"]
        case "A+client":
            body = [
                "errors": [item],
                "meta": ["client": clientJSON(for: request, settings: context.settings, now: context.now)],
                "clerk_trace_id": "sandbox_fault",
            ]
        default: body = ["errors": [item], "clerk_trace_id": "sandbox_fault"]
        }
        return .json(body, status: status)
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
