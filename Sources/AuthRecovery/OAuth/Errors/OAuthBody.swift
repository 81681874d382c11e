import HTTPRecovery

/// The body of an authorization server's answer, read as tolerantly as real servers demand.
///
/// The members may come as JSON or form-encoded, whatever the content type says. An error may stand in `error`,
/// `errorCode` or `error_code`, as a text, an object or an array of them, or be the whole body.
struct OAuthBody: Sendable {
    /// The members; `null` if the body has none.
    let members: JSONValue
    /// What stands where an error would.
    private let value: JSONValue

    init(_ bytes: [UInt8]) {
        self.init(ResponseContent(bytes), bytes)
    }

    init(_ content: ResponseContent, _ bytes: [UInt8]) {
        switch content {
        case .json(let json):
            value = json
            if case .object = json { members = json } else { members = .null }
        case .other where bytes.count <= 65_536:
            let text = String(decoding: bytes, as: UTF8.self)
            let isForm = text.contains("=") && !text.contains { $0 == " " || $0.isNewline || $0 == "{" }
            if isForm {
                let fields = FormFields(parsing: bytes)
                members = .object(
                    Set(fields.names).sorted().compactMap { name in
                        fields[name].last.map { JSONValue.Member(name, .string($0.reveal())) }
                    }
                )
                value = members
            } else {
                members = .null
                let line = text.split { $0.isWhitespace || $0 == "\"" }
                value = line.count == 1 && text.utf8.count <= 128 ? .string(String(line[0])) : .null
            }
        default:
            members = .null
            value = .null
        }
    }

    /// The first known word among all that could be the error's.
    ///
    /// - Parameter isError: Whether the status says that it is an error; else only members that are named after errors
    ///   are looked at, since a `code` may be anything.
    func knownWord(isError: Bool) -> OAuthError.Word? {
        candidates(isError: isError).lazy.map { OAuthError.Word(reading: $0) }.first { OAuthErrorRule[$0] != nil }
    }

    /// The word that stands where OAuth's would, known or not; nil if there is none or it is no word: a sentence, a
    /// number, a reason phrase.
    var statedWord: String? {
        let places = [members["error"], members["error"]?[0], members["errorCode"], members["error_code"]]
        return places.lazy.compactMap { $0?.string }.first(where: Self.isWord)
    }

    /// Whether the body is nothing but the phrase of a status.
    var isReasonPhrase: Bool {
        value.string.map { Self.reasons.contains($0.lowercased()) } ?? false
    }

    /// Whether `error` holds something that says more than "none".
    var hasError: Bool {
        switch members["error"] {
        case .object(let members): !members.isEmpty
        case .array(let elements): !elements.isEmpty
        case .string(let text): !text.isEmpty && !Self.noErrors.contains(text.lowercased())
        default: false
        }
    }

    /// The description for developers.
    var detail: String? {
        let error = members["error"]?[0] ?? members["error"]
        let entry = members["errors"]?[0]
        let texts = [
            members["error_description"], error?["error_description"], error?["message"], error?["description"],
            entry?["error_description"], entry?["message"], members["errorSummary"], members["error_message"],
            members["message"], members["msg"], members["detail"],
        ]
        return texts.lazy.compactMap { $0?.string?.nonEmpty }.first?.bounded(to: 1024)
    }

    /// The server's finer code.
    var subcode: String? {
        let values = [
            members["suberror"], members["error_subtype"], members["error_subcode"], members["error"]?["error_subcode"],
            members["error_codes"]?[0], members["error_reason"],
        ]
        return values.lazy.compactMap { $0?.codeText }.first?.bounded(to: 256)
    }

    /// The id under which the server's operators find the request.
    var traceID: String? {
        let names = ["trace_id", "correlation_id", "errorId", "request_id"]
        return names.lazy.compactMap { members[$0]?.string?.nonEmpty }.first?.bounded(to: 256)
    }

    /// The time between two polls that the server states.
    var interval: Duration? {
        members["interval"]?.lenientNumber.map { max(.zero, $0.seconds) }
    }

    private func candidates(isError: Bool) -> [String] {
        var found: [String] = []
        if isError, case .string(let text) = value { found.append(text) }
        let names = ["error", "errorCode", "error_code", "errors"] + (isError ? ["code", "error_type", "type"] : [])
        // A success may be a list of anything.
        Self.collect(isError ? value : members, names, depth: 0, into: &found)
        return found
    }

    private static func collect(_ value: JSONValue, _ names: [String], depth: Int, into found: inout [String]) {
        guard depth < 4, found.count < 16 else { return }
        for element in (value.array ?? []).prefix(4) {
            if let text = element.string {
                found.append(text)
            } else {
                collect(element, names, depth: depth + 1, into: &found)
            }
        }
        for name in names {
            guard let member = value[name] else { continue }
            if let text = member.string {
                if !text.isEmpty { found.append(text) }
            } else {
                // Within an error's own object its code has plainer names.
                let inner = ["error", "code", "type", "error_code", "errorCode", "name", "status"]
                collect(member, inner, depth: depth + 1, into: &found)
            }
        }
    }

    /// Whether a text is a word rather than a sentence or a number.
    private static func isWord(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { $0.isAlphanumeric || "_-.:/".utf8.contains($0) }
        return isPlain && text.utf8.count <= 128 && text.utf8.contains { $0 > UInt8(ascii: "9") }
            && !noErrors.contains(text.lowercased()) && !reasons.contains(text.lowercased())
    }

    private static let noErrors: Set<String> = ["none", "ok", "success", "false", "null", "no_error", "0"]

    /// Reason phrases of one word, which frameworks put where a word would stand.
    private static let reasons: Set<String> = ["unauthorized", "forbidden", "conflict", "gone", "locked", "error"]
}
