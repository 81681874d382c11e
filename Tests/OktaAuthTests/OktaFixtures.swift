import HTTPRecovery
import HTTPTypes
import OktaAuth
import Testing

/// One exchange with an org, as tests write it.
struct Recorded: Sendable {
    var status = 403
    var body = ""
    var lines: [(String, String)] = []
    var presented: Outcome.CredentialKind? = .state
    var method = HTTPRequest.Method.post
    var path = "/api/v1/authn/factors/ostf1/verify"

    static let now: Int64 = 1_767_225_600

    var outcome: Outcome {
        var fields = HTTPFields()
        for (name, value) in lines {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
        return OktaClassifier().classify(
            Exchange(
                method: method,
                path: path,
                presented: presented,
                result: .response(response, body: Array(body.utf8)),
                now: Timestamp(secondsSinceEpoch: Self.now)
            )
        )
    }

    /// The body of an error.
    static func error(_ code: String, _ summary: String = "s", causes: [String] = []) -> String {
        let list = causes.map { #"{"errorSummary":"\#($0)"}"# }.joined(separator: ",")
        return
            #"{"errorCode":"\#(code)","errorSummary":"\#(summary)","errorLink":"\#(code)","errorId":"oae1","errorCauses":[\#(list)]}"#
    }

    /// The body of a transaction.
    static func state(_ status: String, _ more: String = "", token: String? = "00st1") -> String {
        let proof = token.map { #""stateToken":"\#($0)","# } ?? ""
        return
            #"{\#(proof)"expiresAt":"2030-01-01T00:05:00.000Z","status":"\#(status)"\#(more.isEmpty ? "" : ",")\#(more)}"#
    }
}

/// What an answer must lead to.
struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var recorded: Recorded
    var kind: Outcome.Kind
    var remedies: [Outcome.Remedy]
    var action: Outcome.TokenAction
    var credential: Outcome.CredentialKind?
    var delay: Duration?

    var testDescription: String { name }

    /// A row by code.
    init(
        _ number: Int,
        _ status: Int,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        _ action: Outcome.TokenAction = .keep,
        _ credential: Outcome.CredentialKind? = nil,
        delay: Duration? = nil,
        summary: String = "s",
        causes: [String] = [],
        presenting presented: Outcome.CredentialKind? = .state,
        _ method: HTTPRequest.Method = .post,
        at path: String = "/api/v1/authn/factors/ostf1/verify"
    ) {
        let digits = String(number)
        let code = "E" + String(repeating: "0", count: 7 - digits.count) + digits
        name = "\(code) \(status) \(presented?.rawValue ?? "none") \(path) \(causes)"
        recorded = Recorded(
            status: status,
            body: Recorded.error(code, summary, causes: causes),
            presented: presented,
            method: method,
            path: path
        )
        (self.kind, self.remedies, self.action, self.credential) = (kind, remedies, action, credential)
        self.delay = delay
    }

    /// A row by a whole exchange.
    init(
        _ name: String,
        _ recorded: Recorded,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        _ action: Outcome.TokenAction = .keep,
        _ credential: Outcome.CredentialKind? = nil,
        delay: Duration? = nil
    ) {
        self.name = name
        self.recorded = recorded
        (self.kind, self.remedies, self.action, self.credential) = (kind, remedies, action, credential)
        self.delay = delay
    }

    /// Checks the row.
    func check() -> Outcome {
        let outcome = recorded.outcome
        #expect(outcome.kind == kind, "\(name)")
        #expect(outcome.remedies == remedies, "\(name)")
        #expect(outcome.tokenAction == action, "\(name)")
        #expect(outcome.credential == credential, "\(name)")
        #expect(outcome.retryAfter == delay, "\(name)")
        return outcome
    }
}
