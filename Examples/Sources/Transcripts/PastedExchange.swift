public import HTTPRecovery
import HTTPRecoveryTesting
public import HTTPTypes

/// One exchange as somebody pastes it: a response as `curl -i` or `curl -v` prints it, a body alone, or a line for
/// `classify`.
public struct PastedExchange: Sendable {
    /// What was pasted, as a classifier sees it.
    public private(set) var exchange: Exchange
    /// Whether no status stood there, so that one was supposed.
    public private(set) var supposesStatus = false
    /// Whether no request stood there, so that one was supposed.
    public private(set) var supposesRequest = false

    /// What is known beside the text.
    public struct Hints: Sendable {
        var method: HTTPRequest.Method?
        var path: String?
        var status: Int?
        var presented: Outcome.CredentialKind?
        /// What an `Authorization` field holds at the provider.
        var authorization: Outcome.CredentialKind

        /// Creates hints.
        public init(
            method: HTTPRequest.Method? = nil,
            path: String? = nil,
            status: Int? = nil,
            presented: Outcome.CredentialKind? = nil,
            authorization: Outcome.CredentialKind = .access
        ) {
            self.method = method
            self.path = path
            self.status = status
            self.presented = presented
            self.authorization = authorization
        }
    }

    /// Why a text is no exchange.
    public struct Unreadable: Error, CustomStringConvertible {
        /// A sentence for whoever has pasted it.
        public let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// Reads the text.
    ///
    /// - Parameters:
    ///   - text: What was pasted.
    ///   - hints: What the options say; they stand above the text.
    ///   - now: The local time.
    /// - Throws: ``Unreadable`` if there is nothing to read.
    public init(_ text: [UInt8], hints: Hints, now: Timestamp) throws(Unreadable) {
        guard text.contains(where: { !Self.blanks.contains($0) }) else {
            throw Unreadable("nothing was pasted: paste a response, as curl -i prints it, and end it with Ctrl-D")
        }
        if let record = try? RecordedExchange(line: text, systemTime: now) {
            self.exchange = record.exchange
        } else {
            var reader = TranscriptReader()
            try reader.read(text)
            let status = hints.status ?? reader.status
            supposesStatus = status == nil
            supposesRequest = hints.path == nil && reader.path == nil
            exchange = Exchange(
                method: reader.method ?? .post,
                path: reader.path ?? "/",
                presented: reader.presentsCredential ? hints.authorization : nil,
                result: .response(
                    // Somebody who asks about a body alone has met a failure.
                    HTTPResponse(status: .init(code: status ?? 400), headerFields: reader.fields),
                    body: reader.body
                ),
                now: now
            )
        }
        if let method = hints.method { exchange.method = method }
        if let path = hints.path {
            let request = Exchange(method: exchange.method, path: path, result: exchange.result, now: now)
            (exchange.path, exchange.query) = (request.path, request.query)
        }
        if let presented = hints.presented { exchange.presented = presented }
    }

    private static let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
}
