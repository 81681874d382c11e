import ClerkAuth
import HTTPRecovery
import HTTPTypes

/// One exchange with Clerk, as tests write it.
struct Clerked {
    var status = 422
    var body = ""
    var lines: [(String, String)] = []
    var presented: Outcome.CredentialKind? = .client
    var method = HTTPRequest.Method.post
    var path = "/v1/client/sign_ins"

    var outcome: Outcome {
        var fields = HTTPFields()
        for (name, value) in lines {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
        return ClerkClassifier().classify(
            Exchange(
                method: method,
                path: path,
                presented: presented,
                result: .response(response, body: Array(body.utf8)),
                now: Timestamp(secondsSinceEpoch: 1_767_225_600)
            )
        )
    }

    /// The body of form A with one error.
    static func error(_ code: String, meta: String = "{}") -> String {
        #"{"errors":[{"code":"\#(code)","message":"m","long_message":"l","meta":\#(meta)}],"clerk_trace_id":"t1"}"#
    }
}
