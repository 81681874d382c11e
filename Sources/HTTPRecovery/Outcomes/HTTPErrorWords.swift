/// The code and message of an error's body, in the shapes that most JSON APIs use.
struct HTTPErrorWords {
    var code: String?
    var message: String?

    init(_ content: ResponseContent, problem: Exchange.ProblemDetails?, status: Int) {
        if let problem {
            code = problem.type ?? problem.object["code"]?.codeText
            message = problem.detail ?? problem.title
        } else if let body = content.json {
            let error = body["error"]
            let candidates = [error?["code"], body["code"], error, error?["type"]]
            code = candidates.lazy.compactMap { $0?.codeText }.first { Self.isCode($0, status: status) }
            let messages = [error?["message"], body["message"], body["error_description"], body["detail"], error]
            message = messages.lazy.compactMap { $0?.string?.nonEmpty }.first
        }
        code = code?.bounded(to: 256)
        message = message?.bounded(to: 1024)
    }

    /// Whether a text is a code rather than a sentence, a reason phrase or the status once more.
    private static func isCode(_ text: String, status: Int) -> Bool {
        guard text != String(status), text.utf8.count <= 128 else { return false }
        let isWord = text.utf8.allSatisfy { $0.isToken || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        return isWord && !reasons.contains(text.lowercased())
    }

    /// Reason phrases of one word, which some frameworks put where a code would stand.
    private static let reasons: Set<String> = [
        "unauthorized", "forbidden", "conflict", "gone", "locked", "error", "invalid", "unavailable",
    ]
}
