import ForgeRockAuth
import HTTPRecovery
import HTTPTypes

/// One exchange with a server, as tests write it.
struct Exchanged {
    var status = 401
    var body = ""
    var lines: [(String, String)] = []
    var presented: Outcome.CredentialKind? = .state
    var method = HTTPRequest.Method.post
    var path = "/am/json/realms/root/realms/alpha/authenticate"

    static let sessions = "/am/json/realms/root/realms/alpha/sessions"
    static let users = "/am/json/realms/root/realms/alpha/users/ada"
    static let token = "/am/oauth2/realms/root/realms/alpha/access_token"
    static let authorize = "/am/oauth2/realms/root/realms/alpha/authorize"
    static let userInfo = "/am/oauth2/realms/root/realms/alpha/userinfo"

    var outcome: Outcome {
        var fields = HTTPFields()
        for (name, value) in lines {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
        return ForgeRockClassifier().classify(
            Exchange(
                method: method,
                path: path,
                presented: presented,
                result: .response(response, body: Array(body.utf8)),
                now: Timestamp(secondsSinceEpoch: 1_767_225_600)
            )
        )
    }

    /// The error envelope.
    static func error(_ code: Int, _ message: String, number: String? = nil) -> String {
        let detail = number.map { #","detail":{"errorCode":\#($0)}"# } ?? ""
        return #"{"code":\#(code),"reason":"r","message":\#(JSONValue.string(message))\#(detail)}"#
    }
}
