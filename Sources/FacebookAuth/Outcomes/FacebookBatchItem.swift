import HTTPRecovery
import HTTPTypes

/// The answer to one request of a batch.
struct FacebookBatchItem {
    var response: HTTPResponse
    var body: [UInt8]

    /// Reads an element of the answer; nil if it is no answer.
    init?(_ element: JSONValue) {
        guard element.members != nil, let number = element["code"]?.lenientNumber?.double,
            let code = Int(exactly: number), (100...599).contains(code)
        else { return nil }
        var fields = HTTPFields()
        let pairs: [(String?, String?)] =
            element["headers"]?.array?.map { ($0["name"]?.string, $0["value"]?.codeText) }
            ?? element["headers"]?.members?.map { ($0.key, $0.value.codeText) } ?? []
        for (name, value) in pairs.prefix(256) {
            guard let name = name.flatMap({ HTTPField.Name($0) }), let value else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        response = HTTPResponse(status: HTTPResponse.Status(code: code), headerFields: fields)
        switch element["body"] {
        case nil, .null: body = []
        case .string(let text): body = Array(text.utf8)
        case .some(let value): body = Array(value.description.utf8)
        }
    }

    /// What it came to.
    func outcome(
        method: HTTPRequest.Method = .post,
        path: String = "/item",
        presented: Outcome.CredentialKind?,
        now: Timestamp,
        classifier: FacebookClassifier
    ) -> Outcome {
        classifier.classify(
            Exchange(
                method: method,
                path: path,
                presented: presented,
                result: .response(response, body: body),
                now: now
            )
        )
    }
}

extension JSONValue {
    /// Whether the value looks like an item of the answer to a batch.
    var isBatchItem: Bool {
        FacebookBatchItem(self) != nil && (self["body"] != nil || self["headers"] != nil)
    }
}
