extension SandboxFault {
    /// The forms of PingAM's envelope.
    static let forgeRockEnvelopes = ["am", "am+number", "am-reason", "am+top", "am1"]

    /// An error of PingAM's REST API; in a success it says 401.
    func forgeRockAnswer(status: Int, form: String) -> SandboxResponse {
        let stated = status < 400 ? 401 : status
        let message = errorMessage ?? Self.usualMessage(stated)
        if form == "am1" {
            return .json(["errorMessage": .string(message), "failureUrl": ""], status: status)
        }
        var body: JSONValue = ["code": .int(Int64(stated))]
        if form != "am-reason" { body = body.adding("reason", .string(ForgeRockFailure.reason(stated))) }
        body = body.adding("message", .string(message))
        var detail: [JSONValue.Member] = []
        if let errorCode {
            let number = form == "am+number" ? Int64(errorCode).map(JSONValue.int) : nil
            detail.append(.init(key: "errorCode", value: number ?? .string(errorCode)))
        }
        if form == "am+top" {
            body = body.adding("failureUrl", "")
        } else if stated == 401 {
            detail.append(.init(key: "failureUrl", value: ""))
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

extension ForgeRockRoute {
    /// What the errors look like that a fault makes up here.
    var faultStyle: SandboxFault.Style {
        switch endpoint {
        case .oauth(let endpoint): .oauth(isResource: endpoint == .userinfo)
        case .gateway(let rest): rest.first == "api" ? .oauth(isResource: true) : .forgerock
        default: .forgerock
        }
    }
}

extension ForgeRockFailure {
    /// What the log shows of an envelope: the finer code, or else the message.
    static func code(of body: JSONValue?) -> String? {
        guard let body, body["code"]?.int != nil || body["errorMessage"] != nil else { return nil }
        let finer = body["detail"]?["errorCode"]
        return finer?.string ?? finer?.int.map(String.init) ?? body["message"]?.string ?? body["errorMessage"]?.string
    }
}
