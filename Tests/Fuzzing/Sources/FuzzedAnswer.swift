import HTTPRecovery
import HTTPTypes

/// An exchange in the form in which the corpora hold it.
///
/// The first line has status, credential, method and path (`401 access POST /oauth/token`); then come header fields, an
/// empty line and the body. What is missing has a default, so that most of what a fuzzer makes of it is an exchange.
struct FuzzedAnswer {
    static let now = Timestamp(secondsSinceEpoch: 1_767_225_600)

    var status = 400
    var presented: Outcome.CredentialKind?
    var method = HTTPRequest.Method.post
    var path = "/"
    var fields = HTTPFields()
    var body: [UInt8] = []

    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func line() -> String {
            let line = rest.prefix { $0 != 0x0A }
            rest = rest.dropFirst(line.count + 1)
            return String(decoding: line, as: UTF8.self)
        }
        let words = line().split(separator: " ")
        if let code = words.first.flatMap({ Int($0) }), (100...999).contains(code) { status = code }
        if words.count > 1 { presented = Outcome.CredentialKind(rawValue: String(words[1])) }
        if words.count > 2, let word = HTTPRequest.Method(rawValue: String(words[2])) { method = word }
        if words.count > 3 { path = String(words[3]) }
        while !rest.isEmpty, fields.count < 256 {
            let parts = line().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = parts.first, !first.isEmpty else { break }
            guard parts.count == 2, let name = HTTPField.Name(String(first)) else { continue }
            fields.append(HTTPField(name: name, value: String(parts[1].drop { $0 == " " })))
        }
        body = Array(rest)
    }

    var response: HTTPResponse { HTTPResponse(status: .init(code: status), headerFields: fields) }

    var json: JSONValue? { try? JSONValue(parsing: body) }

    var exchange: Exchange {
        Exchange(
            method: method,
            path: path,
            presented: presented,
            result: .response(response, body: body),
            now: Self.now
        )
    }

    /// Judges the answer as it is and with planted secrets in it.
    func judge(by classifier: some OutcomeClassifier, _ more: (FuzzedAnswer) -> [Any?] = { _ in [] }) {
        _ = classifier.endpointClass(method: method, path: path)
        let outcome = classifier.classify(exchange)
        checkOutcome(outcome)
        checkMemory(of: outcome)
        _ = more(self)
        guard let body = Planted.body(body) else { return }
        var planted = self
        planted.body = body
        let plantedOutcome = classifier.classify(planted.exchange)
        Planted.checkHidden(
            in: plantedOutcome,
            RecoveryError(outcome: plantedOutcome, reason: .notRecoverable),
            planted.exchange
        )
        for value in more(planted) { Planted.checkHidden(in: value) }
    }
}
