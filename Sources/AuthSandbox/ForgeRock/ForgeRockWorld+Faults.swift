import HTTPRecovery

// The errors that faults make up, and what the log shows of them.
extension ForgeRockWorld {
    static let envelopes = ["am", "am+number", "am-reason", "am+top", "am1"]

    static func isTokenRequest(_ request: SandboxRequest) -> Bool {
        ForgeRockRoute.find(request.path)?.endpoint == .oauth(.token)
    }

    static func secretHeaders(_ settings: SandboxSettings) -> Set<String> {
        [settings.forgerock.cookieName.lowercased()]
    }

    /// The finer code of an envelope, or else its message.
    static func errorCode(of body: JSONValue) -> String? {
        guard body["code"]?.int != nil || body["errorMessage"] != nil else { return nil }
        return body["detail"]?["errorCode"]?.codeText ?? body["message"]?.string ?? body["errorMessage"]?.string
    }

    func error(
        _ fault: SandboxFault,
        status: Int?,
        form: String?,
        to request: SandboxRequest,
        context: SandboxContext
    ) -> SandboxResponse {
        let endpoint = form == nil ? ForgeRockRoute.find(request.path)?.endpoint : nil
        switch endpoint {
        case .oauth(let endpoint):
            return OAuthFailure(fault, status: status, isResource: endpoint == .userinfo).response
        case .gateway(let rest) where rest.first == "api":
            return OAuthFailure(fault, status: status, isResource: true).response
        default: return envelope(fault, status: status ?? 401, form: form)
        }
    }

    /// An error of PingAM's REST API; in a success it says 401.
    private func envelope(_ fault: SandboxFault, status: Int, form: String?) -> SandboxResponse {
        let stated = status < 400 ? 401 : status
        let message = fault.errorMessage ?? Self.usualMessage(stated)
        if form == "am1" {
            return .json(["errorMessage": .string(message), "failureUrl": ""], status: status)
        }
        var body: JSONValue = ["code": .int(Int64(stated))]
        if form != "am-reason" { body = body.adding("reason", .string(ForgeRockFailure.reason(stated))) }
        body = body.adding("message", .string(message))
        var detail: [JSONValue.Member] = []
        if let errorCode = fault.errorCode {
            let number = form == "am+number" ? Int64(errorCode).map { JSONValue.int($0) } : nil
            detail.append(.init("errorCode", number ?? .string(errorCode)))
        }
        if form == "am+top" {
            body = body.adding("failureUrl", "")
        } else if stated == 401 {
            detail.append(.init("failureUrl", ""))
        }
        if !detail.isEmpty { body = body.adding("detail", .object(detail)) }
        return .json(body, status: status)
    }

    private static func usualMessage(_ status: Int) -> String {
        switch status {
        case 401: "Login failure"
        case 408: "Authentication Error: Authentication timeout."
        case 429: "Too many requests"
        case 500: "Authentication Error!!"
        default: ForgeRockFailure.reason(status)
        }
    }
}
