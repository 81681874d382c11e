import ArgumentParser
import CommandLineSupport
import HTTPRecovery
import HTTPTypes
import Transcripts

/// What is known of a pasted response beside its text.
struct ExplainOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "explain: what was requested, such as 'POST /v1/client/sign_ins', where the text does not tell.",
            valueName: "line"
        ),
        transform: { try RequestLine($0) }
    )
    var request: RequestLine?

    @Option(
        help: ArgumentHelp("explain: the status, where a body alone is pasted. Default: 400.", valueName: "status")
    )
    var status: Int?

    @Option(
        help: ArgumentHelp(
            "explain: the credential that was presented: none, access, refresh, session, client, code, device, id, state.",
            valueName: "word"
        ),
        completion: .list(["none", "access", "refresh", "session", "client", "code", "device", "id", "state"])
    )
    var presented: String?

    /// The method and path of a request.
    struct RequestLine {
        var method: HTTPRequest.Method
        var path: String

        /// Reads `METHOD /path`.
        init(_ text: String) throws(InvalidOption) {
            let words = text.split(separator: " ")
            guard words.count == 2, words[1].hasPrefix("/"), let method = HTTPRequest.Method(words[0].uppercased())
            else { throw InvalidOption("write the request as 'METHOD /path', such as 'GET /v1/me'") }
            self.method = method
            self.path = String(words[1])
        }
    }

    /// Checks that the options fit the command.
    func check(for command: CommandName) throws {
        guard command == .explain else {
            return try Misplaced.refuse(
                ["--request": request != nil, "--status": status != nil, "--presented": presented != nil],
                belongingTo: "explain"
            )
        }
        if let status, !(100...999).contains(status) { throw ValidationError("--status is a number from 100 to 999.") }
        if let presented, presented != "none", Outcome.CredentialKind(rawValue: presented) == nil {
            throw ValidationError("--presented: '\(presented)' is no credential.")
        }
    }

    /// What the options say.
    func hints(for provider: ProviderName) -> PastedExchange.Hints {
        PastedExchange.Hints(
            method: request?.method,
            path: request?.path,
            status: status,
            presented: presented.flatMap(Outcome.CredentialKind.init),
            // Clerk's native clients present their client token there.
            authorization: provider == .clerk ? .client : .access
        )
    }
}
