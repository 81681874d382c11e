import HTTPRecovery
import HTTPRecoveryTesting

/// An error of Graph's.
struct FacebookFailure: Error, Sendable, Equatable {
    var status: Int
    var code: Int64
    var subcode: Int64?
    var type = "OAuthException"
    var message: String
    var isTransient: Bool?
    /// Texts for the end user.
    var userTitle: String?
    var userMessage: String?
    /// Further members of the error, also as text.
    var data: JSONValue?
    /// Beside the body.
    var headers: [SandboxRequest.Header] = []

    init(_ code: Int64, _ subcode: Int64? = nil, _ message: String? = nil, status: Int? = nil) {
        self.code = code
        self.subcode = subcode
        self.message = message ?? Self.usualMessage(code, subcode)
        self.status = status ?? Self.usualStatus(code)
        if code == 2 { isTransient = true }
        if code == 803 || subcode == 33 { type = "GraphMethodException" }
        if code == 368 || subcode == 459 || subcode == 464 {
            userTitle = "Please visit Facebook"
            userMessage = "There is something for you to settle at Facebook before you can go on."
        }
        if code == 506 {
            userTitle = "Duplicate Status Update"
            userMessage = "This looks like something that you have posted already."
        }
    }

    /// The error object.
    func body(traceID: String, codesAsText: Bool = false) -> JSONValue {
        func number(_ value: Int64) -> JSONValue { codesAsText ? .string(String(value)) : .int(value) }
        var error: JSONValue = ["message": .string(message), "type": .string(type), "code": number(code)]
        if let subcode { error = error.adding("error_subcode", number(subcode)) }
        if let isTransient { error = error.adding("is_transient", .bool(isTransient)) }
        if let userTitle { error = error.adding("error_user_title", .string(userTitle)) }
        if let userMessage { error = error.adding("error_user_msg", .string(userMessage)) }
        if let data { error = error.adding("error_data", data) }
        return ["error": error.adding("fbtrace_id", .string(traceID))]
    }

    // MARK: The usual ones

    static func token(_ behaviour: SandboxFacebookBehaviour, hidesSubcode: Bool = false) -> FacebookFailure {
        var failure = FacebookFailure(190, behaviour.subcode, behaviour.message)
        if hidesSubcode {
            failure.subcode = nil
            (failure.userTitle, failure.userMessage) = (nil, nil)
        }
        return failure
    }

    static func parameter(_ message: String) -> FacebookFailure {
        FacebookFailure(100, nil, "(#100) \(message)")
    }

    static let noToken = FacebookFailure(
        2500,
        nil,
        "An active access token must be used to query information about the current user."
    )
    static let malformedToken = FacebookFailure(190, nil, "Invalid OAuth access token - Cannot parse access token")
    static let proof = FacebookFailure(100, nil, "Invalid appsecret_proof provided in the API argument")
    static let noProof = FacebookFailure(
        100,
        nil,
        "API calls from the server require an appsecret_proof argument"
    )
    static let missingObject = FacebookFailure(
        100,
        33,
        "Unsupported request. Object does not exist, cannot be loaded due to missing permissions, or does not support "
            + "this operation."
    )
    static let method = FacebookFailure(100, nil, "Unsupported method for this node.")

    /// Of the device login.
    static func device(_ code: Int64, _ subcode: Int64, _ title: String, _ text: String) -> FacebookFailure {
        var failure = FacebookFailure(code, subcode, title, status: 400)
        (failure.userTitle, failure.userMessage) = (title, text)
        return failure
    }

    private static func usualStatus(_ code: Int64) -> Int {
        switch code {
        case 1, 2: 500
        case 3, 4, 10, 200...299, 368: 403
        case 803: 404
        default: 400
        }
    }

    private static func usualMessage(_ code: Int64, _ subcode: Int64?) -> String {
        switch code {
        case 1: return "An unknown error occurred"
        case 2: return "Service temporarily unavailable"
        case 3: return "(#3) Application does not have the capability to make this API call."
        case 4: return "(#4) Application request limit reached"
        case 10: return "(#10) Application does not have permission for this action"
        case 17: return "(#17) User request limit reached"
        case 32: return "(#32) Page request limit reached"
        case 100: return subcode == 33 ? missingObject.message : "(#100) Invalid parameter"
        case 190:
            let behaviour = SandboxFacebookBehaviour.all.first { $0.subcode == subcode && subcode != nil }
            return behaviour?.message ?? malformedToken.message
        case 200...299: return "(#\(code)) Requires a permission that was not granted."
        case 341: return "(#341) Feed action request limit reached"
        case 368: return "The action attempted has been deemed abusive or is otherwise disallowed"
        case 506: return "(#506) Duplicate status message"
        case 613: return "(#613) Calls to this api have exceeded the rate limit."
        case 803: return "(#803) Some of the aliases you requested do not exist"
        case 80_000...80_099:
            return "(#\(code)) There have been too many calls from this ad-account. Wait a bit and try again."
        default: return "(#\(code)) The sandbox was told to fail."
        }
    }

    // MARK: Limits

    /// The limits that are counted for a business or an ad account, by their codes.
    static func businessType(_ code: Int64) -> String? {
        switch code {
        case 80_000: "ads_insights"
        case 80_001: "pages"
        case 80_002: "instagram"
        case 80_003: "custom_audience"
        case 80_004: "ads_management"
        case 80_005: "leadgen"
        case 80_006: "messenger"
        case 80_007, 80_008: "whatsapp"
        case 80_009: "catalog_management"
        case 80_014: "catalog_batch"
        default: nil
        }
    }

    /// What the headers of an answer tell where a limit is used up.
    static func usageHeaders(_ code: Int64, minutes: Int64, account: String = "1") -> [SandboxRequest.Header] {
        if code == 4 {
            return [.init(name: "X-App-Usage", value: shares(100).text)]
        }
        if code == 32 { return [.init(name: "X-Page-Usage", value: shares(100).text)] }
        guard let type = businessType(code) else { return [] }
        return [.init(name: "X-Business-Use-Case-Usage", value: business(account, type, 100, minutes).text)]
    }

    static func shares(_ percent: Int64) -> JSONValue {
        ["call_count": .int(percent), "total_time": .int(min(percent, 25)), "total_cputime": .int(min(percent, 25))]
    }

    static func business(_ account: String, _ type: String, _ percent: Int64, _ minutes: Int64) -> JSONValue {
        let entry: JSONValue = [
            "type": .string(type), "call_count": .int(percent), "total_cputime": .int(min(percent, 16)),
            "total_time": .int(min(percent, 45)), "estimated_time_to_regain_access": .int(minutes),
        ]
        return .object([.init(account, .array([entry]))])
    }
}
