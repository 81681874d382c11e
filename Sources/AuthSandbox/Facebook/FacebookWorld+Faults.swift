import HTTPRecovery
import HTTPRecoveryTesting

extension SandboxFault {
    /// An error of Graph's, as an answer to a request that is not processed.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - subcode: The finer code.
    ///   - status: The status; nil for the usual one of the code.
    ///   - isTransient: What the server says about whether trying again helps; nil for the code's own way.
    ///   - path: The beginning of the paths that it strikes, or a pattern with `*`; nil for all.
    ///   - times: How often; 0 is until it is cleared.
    public static func facebook(
        _ code: Int64,
        _ subcode: Int64? = nil,
        status: Int? = nil,
        isTransient: Bool? = nil,
        path: String? = nil,
        times: Int64 = 1
    ) -> SandboxFault {
        var fault = SandboxFault(.envelope, path: path, times: times)
        fault.status = status
        fault.envelope = "fb"
        fault.errorCode = "\(code)" + (subcode.map { "/\($0)" } ?? "")
        if let isTransient { fault.meta = ["is_transient": .bool(isTransient)] }
        return fault
    }
}

// The errors that faults make up, and what the log shows of them.
extension FacebookWorld {
    static let envelopes = [
        "fb", "fb-string", "fb-flat", "fb-text", "fb-login", "fb-jsonp", "fb-site", "fb-unavailable",
    ]

    /// The code of an error, and the finer one.
    static func errorCode(of body: JSONValue) -> String? {
        guard let error = body["error"], let code = error["code"]?.codeText else { return nil }
        return code + (error["error_subcode"]?.codeText.map { "/\($0)" } ?? "")
    }

    /// An error of Facebook's; the fault's `code` is the code with, after a slash, the finer one, and its `meta` holds
    /// further members of the error.
    func error(
        _ fault: SandboxFault,
        status: Int?,
        form: String?,
        to request: SandboxRequest,
        context: SandboxContext
    ) -> SandboxResponse {
        let numbers = (fault.errorCode ?? Self.usualCode(status)).split(separator: "/").map { Int64($0) ?? 0 }
        let code = numbers.first ?? 1
        var failure = FacebookFailure(code, numbers.dropFirst().first, fault.errorMessage)
        if code == 4 { failure.isTransient = true }
        let status = status ?? failure.status
        var error = failure.body(traceID: "AsandboxFault", codesAsText: form == "fb-string")["error"] ?? [:]
        if case .object(let members) = error, case .object(let more) = fault.meta {
            let names = more.map(\.key)
            error = .object(members.filter { !names.contains($0.key) } + more.filter { $0.value != .null })
        }
        let message = JSONValue.string(failure.message)
        var response: SandboxResponse
        switch form {
        case "fb-flat": response = .json(["error_code": .int(code), "error_msg": message], status: status)
        case "fb-text": response = .json(["error": message], status: status)
        case "fb-login":
            let body: JSONValue = [
                "error_type": "OAuthException", "code": .int(Int64(status)), "error_message": message,
            ]
            response = .json(body, status: status)
        case "fb-jsonp":
            let body: JSONValue = ["error": error]
            return .text("/**/ cb(\(body.text));", status: 200, type: "text/javascript; charset=UTF-8")
        case "fb-site":
            let body: JSONValue = ["error": .int(code), "errorSummary": message]
            return .text("for (;;);\(body.text)", status: 200, type: "application/x-javascript; charset=utf-8")
        case "fb-unavailable":
            return .text("Service Unavailable", status: 200, type: "text/plain; charset=utf-8")
        default: response = .json(["error": error], status: status)
        }
        response.setHeader("Content-Type", "text/javascript; charset=UTF-8")
        for header in FacebookFailure.usageHeaders(code, minutes: 5) {
            response.setHeader(header.name, header.value)
        }
        return response
    }

    private static func usualCode(_ status: Int?) -> String {
        switch status {
        case 401: "190"
        case 403: "10"
        case 404: "803"
        case 429: "4"
        case .some(500...): "2"
        case .some(400..<500): "100"
        default: "1"
        }
    }
}
