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
        let code = fault.errorCode ?? Self.usualCodes[status] ?? "internal_clerk_error"
        let message = JSONValue.string(fault.errorMessage ?? "The sandbox was told to fail.")
        let item: JSONValue = .present([
            "code": .string(code), "message": message, "long_message": message, "meta": fault.meta,
        ])
        let body: JSONValue
        switch form {
        case "B": body = ["error": item]
        case "C": body = ["error": .string(fault.errorCode ?? "invalid_grant"), "error_description": message]
        case "D":
            let reason = JSONValue.string(fault.errorCode ?? "reverification-error")
            let metadata = fault.meta ?? ["reverification": ["level": "second_factor", "afterMinutes": 10]]
            body = ["clerk_error": ["type": "forbidden", "reason": reason, "metadata": metadata]]
        case "E": return .text(fault.body ?? "{}", status: status, type: "application/json")
        case "two":
            let second: JSONValue = [
                "code": "form_password_length_too_short", "message": "too short",
                "long_message": "Passwords must be 8 characters or more.", "meta": ["param_name": "password"],
            ]
            body = ["errors": [item, second], "clerk_trace_id": "sandbox_fault"]
        case "A+client":
            let client = ClerkCall(request, context).flatMap(client).map(clientView) ?? .null
            body = ["errors": [item], "meta": ["client": client], "clerk_trace_id": "sandbox_fault"]
        default: body = ["errors": [item], "clerk_trace_id": "sandbox_fault"]
        }
        return .json(body, status: status)
    }

    private static let usualCodes = [
        400: "request_invalid_for_environment", 401: "authentication_invalid", 403: "authorization_invalid",
        404: "resource_not_found", 409: "resource_locked", 415: "unsupported_content_type",
        422: "form_param_value_invalid", 429: "too_many_requests", 503: "service_unavailable", 504: "gateway_timeout",
    ]
}
