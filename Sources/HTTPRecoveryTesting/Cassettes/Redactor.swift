import HTTPRecovery
import HTTPTypes

/// An exchange as it was, in memory alone.
struct RawExchange: Sendable {
    var request: HTTPRequest
    var requestBody: [UInt8]
    var head: HTTPResponse?
    var body: [UInt8] = []
    var error: TransportError?
}

/// Makes of exchanges what a cassette may hold; the only way into one.
struct Redactor {
    /// What stands for a value that is not kept.
    static let mark = "redacted"

    /// How much of a body that is neither JSON nor a form is searched for what answers may repeat.
    private static let longestLesson = 4096

    private let redaction: Cassette.Redaction
    private let names: KeptNames
    /// What stands for the texts of answers.
    private var substitutes: [String: String] = [:]
    /// What requests held that is not kept.
    private var secrets: Set<String> = []
    private var isAnswer = false

    init(_ redaction: Cassette.Redaction) {
        self.redaction = redaction
        names = KeptNames(redaction)
    }

    /// The exchange without what is not kept.
    mutating func json(_ raw: RawExchange) -> JSONValue {
        var members: [JSONValue.Member] = [.init("request", request(raw.request, body: raw.requestBody))]
        isAnswer = true
        defer { isAnswer = false }
        if let head = raw.head { members += fields(head.headerFields) + body(raw.body, head.headerFields) }
        members.append(.init("status", .number(JSONValue.Number(raw.head?.status.code ?? 0))))
        if let error = raw.error {
            members.append(.init("error", .string(error.certainty.rawValue)))
            let code = error.code.rawValue.loggable ?? TransportError.Code.other.rawValue
            members.append(.init("error_code", .string(code)))
        }
        return JSONValue.object(members).withSortedKeys
    }

    /// The request without what is not kept.
    mutating func request(_ request: HTTPRequest, body bytes: [UInt8]) -> JSONValue {
        let members: [JSONValue.Member] = [
            .init("method", .string(request.method.rawValue)), .init("origin", .string("\(Origin(of: request))")),
            .init("path", .string(target(request.path ?? "/"))),
        ]
        let rest = fields(request.headerFields) + body(bytes, request.headerFields)
        return JSONValue.object(members + rest).withSortedKeys
    }

    // MARK: Values

    /// What stands for a text that is not kept.
    private mutating func substitute(for text: String, of name: String) -> String {
        if text.isEmpty { return text }
        guard isAnswer else {
            learn(text, of: name)
            return Self.mark
        }
        if let known = substitutes[text] { return known }
        let name = "\(Self.mark)-\(substitutes.count + 1)"
        let substitute = Self.token(like: text, named: name) ?? name
        substitutes[text] = substitute
        return substitute
    }

    /// A token that nobody has signed, with the times of a JSON Web Token and nothing else of it; nil for what is none.
    ///
    /// Programs read in theirs when they run out.
    private static func token(like text: String, named name: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1]),
            let claims = (try? JSONValue(parsing: bytes))?.members
        else { return nil }
        let times = claims.filter { ["auth_time", "exp", "iat", "nbf"].contains($0.key) && $0.value.number != nil }
        let made = JSONValue.object(times + [.init("jti", .string(name))]).withSortedKeys
        return "\(Base64.encodeForURL(#"{"alg":"none"}"#.utf8)).\(Base64.encodeForURL(made.description.utf8))."
    }

    /// Takes note of what a request holds: answers may repeat it.
    private mutating func learn(_ text: String, of name: String) {
        let parts = [text] + text.split { !($0.isLetter || $0.isNumber || "-_.~+/%@".contains($0)) }.map(String.init)
        secrets.formUnion(
            parts.filter { $0.utf8.count >= 6 && (KeptNames.isOfCredential(name) || !KeptNames.isWord($0)) }
        )
    }

    /// What an answer's text is known as, if it is no word.
    private func known(_ text: String) -> String? {
        KeptNames.isWord(text) || text.utf8.count < 6 ? nil : substitutes[text]
    }

    /// A text that is kept, without what an answer repeats of a request, and with what an answer's text is known as.
    private func kept(_ text: String) -> String {
        if let known = known(text) { return known }
        guard isAnswer else { return text }
        // The longer ones first: none leaves a part of another.
        return secrets.filter { text.holds($0) }.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
            .reduce(text) { $0.replacing($1, with: Self.mark) }
    }

    private mutating func value(_ text: String, of name: String) -> String {
        if names.hold(name) { return kept(text) }
        return KeptNames.isProtocolWord(text, of: name) ? text : substitute(for: text, of: name)
    }

    /// The name is one of one-time and authorization codes as well, in requests and in URLs.
    private func isErrorCode(_ text: String, of name: String) -> Bool {
        isAnswer && name.inLowercase == "code" && KeptNames.isErrorCode(text)
    }

    private mutating func value(_ value: JSONValue, of name: String) -> JSONValue {
        switch value {
        case .null, .bool: return value
        case .string(let text): return .string(isErrorCode(text, of: name) ? text : self.value(text, of: name))
        case .number(let number):
            if names.hold(name) || KeptNames.isProtocolWord(number.text, of: name) || isErrorCode(number.text, of: name)
            {
                return value
            }
            if !isAnswer { learn(number.text, of: name) }
            return .number(JSONValue.Number(0))
        case .array(let elements): return .array(elements.map { self.value($0, of: name) })
        case .object(let members):
            return .object(
                members.map { member in
                    let key = KeptNames.isWord(member.key) || names.hold(member.key) ? member.key : Self.mark
                    return JSONValue.Member(key, self.value(member.value, of: member.key))
                }
            )
        }
    }

    // MARK: Parts of messages

    private mutating func fields(_ fields: HTTPFields) -> [JSONValue.Member] {
        var lines: [String: [JSONValue]] = [:]
        for field in fields {
            let name = field.name.canonicalName
            // It would not be that of the body which is kept.
            if name == "content-length" { continue }
            let text: String
            switch name {
            case "location", "content-location": text = target(field.value)
            case "set-cookie": text = cookie(field.value)
            case "www-authenticate": text = kept(challenge(field.value))
            case _ where names.hold(name) || KeptNames.isPlainField(name): text = kept(field.value)
            default: text = substitute(for: field.value, of: name)
            }
            lines[name, default: []].append(.string(text))
        }
        guard !lines.isEmpty else { return [] }
        let members = lines.map { JSONValue.Member($0, $1.count == 1 ? $1[0] : .array($1)) }
        return [.init("headers", .object(members))]
    }

    /// A challenge, without the token of those that have one.
    private mutating func challenge(_ text: String) -> String {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, ["negotiate", "ntlm"].contains(String(parts[0]).inLowercase) else { return text }
        return "\(parts[0]) \(substitute(for: String(parts[1]), of: "token"))"
    }

    /// A cookie by name and attributes.
    private mutating func cookie(_ text: String) -> String {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        let pair = (parts.first ?? "").split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, KeptNames.isWord(pair[0]) else { return Self.mark }
        let attributes = parts.dropFirst().filter(KeptNames.isCookieAttribute).map { ";\($0)" }
        return "\(pair[0])=\(substitute(for: String(pair[1]), of: "cookie"))" + attributes.joined()
    }

    private mutating func body(_ bytes: [UInt8], _ fields: HTTPFields) -> [JSONValue.Member] {
        if bytes.isEmpty { return [] }
        let type = fields.lines("content-type").first?.inLowercase ?? ""
        if type.hasPrefix("application/x-www-form-urlencoded") {
            return [.init("body", .string(items(String(decoding: bytes, as: UTF8.self))))]
        }
        if let json = try? JSONValue(parsing: bytes), json.members != nil || json.array != nil {
            return [.init("body", value(json, of: ""))]
        }
        guard redaction.keepsOtherBodies else {
            if !isAnswer { learn(String(decoding: bytes.prefix(Self.longestLesson), as: UTF8.self), of: "") }
            return [.init("body", .string(Self.mark))]
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return [.init("body_base64", .string(Base64.encode(bytes)))]
        }
        return [.init("body", .string(kept(text)))]
    }

    /// A URL or its path and query, without userinfo and fragment.
    private mutating func target(_ text: String) -> String {
        let whole = text.prefix { $0 != "#" }
        let parts = whole.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path = parts.first ?? ""
        var start = ""
        if let scheme = path.utf8.range(of: "://".utf8) {
            let end = path[scheme.upperBound...].firstIndex(of: "/") ?? path.endIndex
            let authority = String(path[scheme.upperBound..<end])
            start = "\(Origin(scheme: String(path[..<scheme.lowerBound]), authority: authority))"
            path = path[end...]
        }
        var before = ""
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            defer { before = String(segment) }
            if let known = known(String(segment)) { return known }
            if names.hold(before) || KeptNames.isRoute(segment) { return String(segment) }
            return substitute(for: String(segment), of: before)
        }
        return start + segments.joined(separator: "/") + (parts.count == 2 ? "?\(items(String(parts[1])))" : "")
    }

    /// The items of a query or a form.
    private mutating func items(_ text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = pair.first.map(Self.decoded), pair.count == 2 else {
                return KeptNames.isWord(item) ? String(item) : substitute(for: String(item), of: "")
            }
            let key = KeptNames.isWord(name) || names.hold(name) ? pair[0] : Self.mark
            let plain = Self.decoded(pair[1])
            let shown = value(plain, of: name)
            return "\(key)=\(shown == plain ? pair[1] : shown)"
        }
        .joined(separator: "&")
    }

    private static func decoded(_ text: String) -> String {
        let spaced = text.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        return String(decoding: PercentEncoding.decode(spaced).bytes, as: UTF8.self)
    }
}
