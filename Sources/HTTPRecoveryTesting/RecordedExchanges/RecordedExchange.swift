public import HTTPRecovery
import HTTPTypes

/// A recorded exchange, read from one line of JSON, and the answer to what it means.
///
/// A line looks like this; `presented`, `headers`, `body` (or `body_base64`), `client_now`, `error` and `error_code` may be
/// missing:
///
/// ```json
/// {"name":"n","request":{"method":"POST","path":"/v1/x","presented":"access"},"status":429,
///  "headers":{"retry-after":"5","x":["1","2"]},"body":"","client_now":1767225600}
/// ```
///
/// Status 0 stands for no answer; `error` then says how far the request may have come (`never_sent`, `not_processed`,
/// `unknown`).
public struct RecordedExchange: Sendable {
    /// Why a line is no recorded exchange.
    public struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong with it.
        public let description: String
    }

    /// The name, echoed in the answer.
    public var name: String?

    /// The exchange.
    public var exchange: Exchange

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: The line's bytes.
    ///   - systemTime: The local time if the line states none.
    /// - Throws: ``Malformed`` when the line is not such JSON.
    public init(line: some Collection<UInt8>, systemTime: Timestamp) throws(Malformed) {
        guard let value = try? JSONValue(parsing: line), case .object = value else {
            throw Malformed(description: "the line is no JSON object")
        }
        try self.init(value, systemTime: systemTime)
    }

    /// Reads the JSON of a line.
    init(_ value: JSONValue, systemTime: Timestamp) throws(Malformed) {
        guard let request = value["request"], let method = request["method"]?.string.flatMap(Self.method),
            let path = request["path"]?.string
        else { throw Malformed(description: "the request has no method or path") }
        guard let status = Self.status(value["status"]) else {
            throw Malformed(description: "the status is no number from 0 to 999")
        }
        let word = request["presented"]?.string ?? ""
        self.name = value["name"]?.string
        self.exchange = Exchange(
            method: method,
            path: path,
            presented: Outcome.CredentialKind(rawValue: word),
            result: status == 0 ? .failure(Self.error(value)) : Self.response(status, value),
            now: Self.seconds(value["client_now"]).map { Timestamp(sinceEpoch: $0) } ?? systemTime
        )
    }

    /// Answers a line: what the exchange came to, as one object with every key.
    ///
    /// A line that is no recorded exchange is answered with the kind `invalid_request` and no name.
    ///
    /// - Parameters:
    ///   - line: The line's bytes.
    ///   - classifier: Whose judgement is asked.
    ///   - systemTime: The local time if the line states none.
    public static func answer(
        to line: some Collection<UInt8>,
        by classifier: any OutcomeClassifier,
        systemTime: Timestamp = .system()
    ) -> JSONValue {
        guard let record = try? RecordedExchange(line: line, systemTime: systemTime) else {
            return Outcome(.invalidRequest, processed: .no, remedies: [.fixRequest]).json(name: nil)
        }
        return classifier.classify(record.exchange).json(name: record.name)
    }

    private static func method(_ text: String) -> HTTPRequest.Method? {
        HTTPRequest.Method(text.uppercased())
    }

    private static func status(_ value: JSONValue?) -> Int? {
        let number = value?.number.map { Int(exactly: $0.double) } ?? value?.string.flatMap { Int($0) }
        guard let number, (0...999).contains(number) else { return nil }
        return number
    }

    /// The error of an exchange; its code, where none is stated, is that which its certainty suggests.
    static func error(_ exchange: JSONValue) -> TransportError {
        let certainty = exchange["error"]?.string.flatMap(TransportError.Certainty.init) ?? .unknown
        let code: TransportError.Code =
            switch certainty {
            case .neverSent: .cannotConnect
            case .notProcessed: .streamRefused
            case .unknown: .connectionLost
            case .answered: .truncated
            }
        return TransportError(exchange["error_code"]?.string.map(TransportError.Code.init) ?? code, certainty)
    }

    private static func response(_ status: Int, _ value: JSONValue) -> Exchange.Result {
        var fields = HTTPFields()
        for member in (value["headers"]?.members ?? []).prefix(1000) {
            // A name that HTTP does not allow cannot have come over it.
            guard let name = HTTPField.Name(member.key) else { continue }
            for line in (member.value.array ?? [member.value]).prefix(1000) where fields.count < 10_000 {
                guard let text = line.string ?? line.codeText else { continue }
                fields.append(HTTPField(name: name, value: text))
            }
        }
        let body =
            switch value["body"] {
            case nil, .null: value["body_base64"]?.string.flatMap { Base64.decode($0.utf8) } ?? []
            case .string(let text): Array(text.utf8)
            case .some(let other): Array(other.description.utf8)
            }
        let response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
        return .response(response, body: body)
    }

    private static func seconds(_ value: JSONValue?) -> Duration? {
        if let number = value?.number { return number.seconds }
        guard let text = value?.string, let number = try? JSONValue(parsing: text).number else { return nil }
        return number.seconds
    }
}
