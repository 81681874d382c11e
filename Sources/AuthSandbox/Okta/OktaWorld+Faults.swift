import HTTPRecovery

// The errors that faults make up, and what the log shows of them.
extension OktaWorld {
    static let envelopes = ["okta"]

    static func errorCode(of body: JSONValue) -> String? { body["errorCode"]?.string }

    /// An error of Okta's; the fault's `meta` stands for its causes.
    func error(
        _ fault: SandboxFault,
        status: Int?,
        form: String?,
        to request: SandboxRequest,
        context: SandboxContext
    ) -> SandboxResponse {
        let status = status ?? 400
        let code = fault.errorCode ?? OktaFailure.code(Self.usualCode(status))
        return .json(
            [
                "errorCode": .string(code),
                "errorSummary": .string(fault.errorMessage ?? "The sandbox was told to fail."),
                "errorLink": .string(code), "errorId": "oaeSandboxFault", "errorCauses": fault.meta ?? [],
            ],
            status: status
        )
    }

    private static func usualCode(_ status: Int) -> Int {
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
    }
}
