import HTTPRecovery

/// The error of an answer of Facebook's, in any of its forms; every member may be missing or of another type.
struct FacebookEnvelope {
    /// In which form the error came.
    enum Form {
        /// `{"error":{"message","type","code"}}`, or its members without the object around them.
        case graph
        /// Of the login endpoints: `{"error_type","code","error_message"}`, where the code is the HTTP status.
        case login
        /// `{"error":"text"}`, also with a description: a word of OAuth 2, or a sentence.
        case word(String)
        /// Of the debugger of tokens: the error of another token than the one that was presented.
        case debugger
        /// Of the site itself: `{"error":1357001,"errorSummary"}`.
        case site
    }

    var form: Form
    /// The code as text, a whole number in plain digits; nil if there is none.
    var code: String?
    var subcode: String?
    /// The name of the sort, which is no category.
    var type: String?
    var message: String?
    /// What the server says about whether trying again helps; nil if it says nothing.
    var isTransient: Bool?
    /// The text for the end user.
    var userText: String?
    /// Further members, also if they came as text.
    var data: JSONValue?
    var traceID: String?

    init(_ form: Form) {
        self.form = form
    }

    /// The code as a number.
    var number: Int? { code.flatMap(Self.number) }

    /// The finer code as a number.
    var subnumber: Int? { subcode.flatMap(Self.number) }

    private static func number(_ text: String) -> Int? {
        if let number = Int(text) { return number }
        guard text.utf8.count <= 32, let number = try? JSONValue(parsing: text).number else { return nil }
        return Int(exactly: number.double)
    }

    /// A code as it is told: whole numbers alike, however they were written (`190`, `190.0`, `" +190 "`); anything else
    /// as it was sent.
    private static func code(_ value: JSONValue?) -> String? {
        guard let sent = value?.codeText?.bounded(to: 64) else { return nil }
        let text = String(sent.trimming(\.isWhitespace))
        return number(text).map { String($0) } ?? text.nonEmpty
    }

    /// Reads a body; nil if it holds no error.
    static func read(_ body: FacebookBody) -> FacebookEnvelope? {
        switch body {
        case .json(let value): read(value)
        case .text(let text): said(text)
        case .empty, .markup, .other: nil
        }
    }

    private static func read(_ body: JSONValue) -> FacebookEnvelope? {
        guard body.members != nil else { return nil }
        guard var envelope = nested(body) ?? debugger(body) ?? named(body) ?? flat(body) else { return nil }
        envelope.takeSaidCode()
        if envelope.traceID == nil {
            envelope.traceID = body["fbtrace_id"]?.string?.nonEmpty ?? body["__fb_trace_id__"]?.string
        }
        return envelope
    }

    private static func nested(_ body: JSONValue) -> FacebookEnvelope? {
        guard let error = body["error"], error.members != nil else { return nil }
        var envelope = FacebookEnvelope(.graph)
        envelope.fill(from: error)
        let isError = envelope.code != nil || envelope.message != nil || envelope.type != nil
        return isError || error.members?.isEmpty == true ? envelope : nil
    }

    private static func debugger(_ body: JSONValue) -> FacebookEnvelope? {
        guard let data = body["data"], data.members != nil else { return nil }
        let error = data["error"]
        guard error?.members != nil || data["is_valid"]?.looseBool == false else { return nil }
        // A field that is called so in other data has no code.
        guard data["is_valid"] != nil || error?["code"]?.codeText != nil else { return nil }
        var envelope = FacebookEnvelope(.debugger)
        if let error { envelope.fill(from: error) }
        return envelope
    }

    /// An error that is a text or a number.
    private static func named(_ body: JSONValue) -> FacebookEnvelope? {
        let isNumber = body["error"]?.number != nil || code(body["error"]).flatMap(number) != nil
        if isNumber, body["error_code"] == nil {
            var envelope = FacebookEnvelope(.site)
            envelope.code = code(body["error"])
            envelope.message = body["errorSummary"]?.string?.nonEmpty?.bounded(to: 4096)
            let texts = [body["errorDescription"], body["errorSummary"]].compactMap { $0?.string?.sentence }
            envelope.userText = texts.first { !$0.contains("<") }?.bounded(to: 4096)
            envelope.isTransient = body["transientError"]?.looseBool
            return envelope
        }
        guard let text = body["error"]?.string?.nonEmpty else { return nil }
        var envelope = FacebookEnvelope(.word(text.bounded(to: 256)))
        envelope.fill(from: body)
        envelope.code = code(body["error_code"]) ?? (isWord(text) ? text : nil)
        envelope.message = body["error_description"]?.string?.nonEmpty?.bounded(to: 4096) ?? text.bounded(to: 4096)
        return envelope
    }

    /// Whether a text is a word such as `server_error`, and no sentence.
    private static func isWord(_ text: String) -> Bool {
        text.utf8.count <= 64 && text.contains("_")
            && text.utf8.allSatisfy { $0.isLowercase || $0 == UInt8(ascii: "_") }
    }

    /// An error whose members stand in the body itself.
    private static func flat(_ body: JSONValue) -> FacebookEnvelope? {
        for holder in [body, body["meta"]] {
            guard let holder, let type = holder["error_type"]?.string?.nonEmpty else { continue }
            var envelope = FacebookEnvelope(.login)
            envelope.type = type.bounded(to: 256)
            envelope.message = holder["error_message"]?.string?.nonEmpty?.bounded(to: 4096)
            envelope.traceID = holder["fbtrace_id"]?.string?.nonEmpty
            return envelope
        }
        let texts = ["error_msg", "error_message", "error_description", "error_reason"]
        guard let code = code(body["error_code"]) else {
            return ["error_msg", "error_message"].lazy.compactMap { body[$0]?.string }.first.flatMap { said($0) }
        }
        // Without a text it is one if it is a number, and the body is no object that has such a field.
        let isBare = number(code).map { $0 != 0 } ?? false && body["id"] == nil && body["data"] == nil
        guard isBare || texts.contains(where: { body[$0]?.string != nil }) else { return nil }
        var envelope = FacebookEnvelope(.graph)
        envelope.fill(from: body)
        return envelope
    }

    private mutating func fill(from error: JSONValue) {
        code = Self.code(error["code"]) ?? Self.code(error["error_code"])
        subcode = Self.code(error["error_subcode"]) ?? Self.code(error["subcode"])
        type = error["type"]?.string?.nonEmpty?.bounded(to: 256)
        let messages = ["message", "error_reason", "error_msg", "error_message"]
        message = messages.lazy.compactMap { error[$0]?.string?.nonEmpty }.first?.bounded(to: 4096)
        isTransient = error["is_transient"]?.looseBool
        let texts = ["error_user_msg", "error_user_title"]
        userText = texts.lazy.compactMap { error[$0]?.string?.sentence }.first?.bounded(to: 4096)
        traceID = error["fbtrace_id"]?.string?.nonEmpty
        switch error["error_data"] {
        case .string(let text): data = try? JSONValue(parsing: text)
        case .null, nil: data = nil
        case let value: data = value
        }
    }

    /// Where an upload has to go on, as the server says.
    var uploadOffsets: JSONValue? {
        guard let start = data?["start_offset"], start.lenientNumber != nil else { return nil }
        var members = [JSONValue.Member("start_offset", start)]
        if let end = data?["end_offset"], end.lenientNumber != nil { members.append(.init("end_offset", end)) }
        return .object(members)
    }

    /// The parameter that the error is about.
    var parameter: String? {
        if let path = data?["blame_field_specs"]?[0]?.array?.prefix(16).compactMap(\.codeText), !path.isEmpty {
            return path.joined(separator: ".").bounded(to: 256)
        }
        guard let message else { return nil }
        let words = "Param "
        var rest = Array(message.utf8)[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "P")) {
            rest = rest[start...]
            if rest.starts(with: words.utf8) {
                let behind = String(decoding: rest.dropFirst(words.utf8.count), as: UTF8.self)
                let name = behind.prefix { $0.isLetter || $0.isNumber || "_[]".contains($0) }
                return name.isEmpty ? nil : String(name).bounded(to: 256)
            }
            rest = rest.dropFirst()
        }
        return nil
    }
}
