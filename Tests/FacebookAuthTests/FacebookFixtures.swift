import FacebookAuth
import HTTPRecovery
import HTTPTypes
import Testing

/// One exchange with Graph, as tests write it.
struct Recorded: Sendable {
    var status = 400
    var body = ""
    var lines: [(String, String)] = []
    var presented: Outcome.CredentialKind? = .access
    var method = HTTPRequest.Method.get
    var path = "/v25.0/me"

    var exchange: Exchange {
        var fields = HTTPFields()
        for (name, value) in lines {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
        return Exchange(
            method: method,
            path: path,
            presented: presented,
            result: .response(response, body: Array(body.utf8)),
            now: Timestamp(secondsSinceEpoch: 1_767_225_600)
        )
    }

    var outcome: Outcome { FacebookClassifier().classify(exchange) }

    /// The body of an error.
    static func error(_ code: Int, _ subcode: Int? = nil, _ message: String = "m", more: String = "") -> String {
        let finer = subcode.map { #","error_subcode":\#($0)"# } ?? ""
        return
            #"{"error":{"message":"\#(message)","type":"OAuthException","code":\#(code)\#(finer)\#(more),"fbtrace_id":"Abc"}}"#
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
    var processed: Outcome.Processed
    var delay: Duration?

    var testDescription: String { name }

    /// A row by code.
    init(
        _ code: Int,
        sub subcode: Int? = nil,
        status: Int = 400,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        _ action: Outcome.TokenAction = .keep,
        _ credential: Outcome.CredentialKind? = nil,
        processed: Outcome.Processed = .no,
        delay: Duration? = nil,
        message: String = "m",
        more: String = "",
        presenting presented: Outcome.CredentialKind? = .access,
        _ method: HTTPRequest.Method = .get,
        at path: String = "/v25.0/me"
    ) {
        let body = Recorded.error(code, subcode, message, more: more)
        self.init(
            "\(code)/\(subcode ?? 0) \(status) \(presented?.rawValue ?? "none") \(message) \(more)",
            Recorded(status: status, body: body, presented: presented, method: method, path: path),
            kind,
            remedies,
            action,
            credential,
            processed: processed,
            delay: delay
        )
    }

    /// A row by a whole exchange.
    init(
        _ name: String,
        _ recorded: Recorded,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        _ action: Outcome.TokenAction = .keep,
        _ credential: Outcome.CredentialKind? = nil,
        processed: Outcome.Processed = .no,
        delay: Duration? = nil
    ) {
        self.name = name
        self.recorded = recorded
        (self.kind, self.remedies, self.action, self.credential) = (kind, remedies, action, credential)
        (self.processed, self.delay) = (processed, delay)
    }

    /// Checks the row.
    @discardableResult
    func check() -> Outcome {
        let outcome = recorded.outcome
        #expect(outcome.kind == kind, "\(name)")
        #expect(outcome.remedies == remedies, "\(name)")
        #expect(outcome.tokenAction == action, "\(name)")
        #expect(outcome.credential == credential, "\(name)")
        #expect(outcome.processed == processed, "\(name)")
        #expect(outcome.retryAfter == delay, "\(name)")
        return outcome
    }
}
