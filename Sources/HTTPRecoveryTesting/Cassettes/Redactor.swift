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
    /// How much of a body that is neither JSON nor a form is searched for what answers may repeat.
    private static let longestLesson = 4096

    private let redaction: Cassette.Redaction
    let names: KeptNames
    /// Whose identifiers those of requests are.
    private let origin: StandIn.Origin
    /// What stands for the texts of answers and the identifiers of requests.
    private var substitutes: [String: String] = [:]
    private var counts: [StandIn.Origin: Int] = [:]
    /// What requests held that is not kept: credentials, and what reads like no word.
    private var secrets: Set<String> = []
    /// The other texts of requests that are not kept.
    private var words: Set<String> = []
    private var isAnswer = false
    /// Whether what is read tells of an error.
    private var isError = false

    /// - Parameter origin: Whose requests they are: those that are recorded, or those that a player is asked.
    init(_ redaction: Cassette.Redaction, identifiers origin: StandIn.Origin = .recorded) {
        self.redaction = redaction
        self.origin = origin
        names = KeptNames(redaction)
    }

    /// The exchange without what is not kept.
    mutating func json(_ raw: RawExchange) -> JSONValue {
        var members: [JSONValue.Member] = [.init("request", request(raw.request, body: raw.requestBody))]
        (isAnswer, isError) = (true, (raw.head?.status.code ?? 0) >= 400)
        defer { (isAnswer, isError) = (false, false) }
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
        // What they hold as a credential is none of a route's words.
        let rest = fields(request.headerFields) + body(bytes, request.headerFields)
        let members: [JSONValue.Member] = [
            .init("method", .string(request.method.rawValue)), .init("origin", .string("\(Origin(of: request))")),
            .init("path", .string(target(request.path ?? "/"))),
        ]
        return JSONValue.object(members + rest).withSortedKeys
    }

    // MARK: Values

    /// What stands for a text that is not kept.
    mutating func substitute(for text: String, of name: String) -> String {
        if text.isEmpty { return text }
        guard isAnswer else {
            learn(text, of: name)
            return KeptNames.isIdentifier(name) ? identifier(text) : StandIn.mark
        }
        if let known = substitutes[text] { return known }
        let name = newName(.answer)
        let substitute = Self.token(like: text, named: name) ?? name
        substitutes[text] = substitute
        return substitute
    }

    /// What stands for a segment of a path, which is an identifier in a request.
    mutating func substitute(forSegment text: String, behind name: String) -> String {
        if isAnswer { return substitute(for: text, of: name) }
        learn(text, of: name)
        return identifier(text)
    }

    /// What stands for an identifier of a request: the same wherever it occurs, in answers too.
    private mutating func identifier(_ text: String) -> String {
        if StandIn.isName(text) { return text }
        if let known = substitutes[text] { return known }
        // An answer's would have to remain one.
        guard Self.token(like: text, named: "") == nil else { return StandIn.mark }
        let name = newName(origin)
        substitutes[text] = name
        return name
    }

    private mutating func newName(_ origin: StandIn.Origin) -> String {
        counts[origin, default: 0] += 1
        return StandIn.name(origin, counts[origin] ?? 1)
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
        let parts = text.split { !($0.isLetter || $0.isNumber || "-_.~+/%@".contains($0)) }.map(String.init)
        let isCredential = KeptNames.isOfCredential(name)
        if parts.count == 2, parts[0].inLowercase == "basic", let pair = Base64.decode(parts[1].utf8) {
            for half in pair.split(separator: UInt8(ascii: ":"), maxSplits: 1) {
                learn(String(decoding: half, as: UTF8.self), of: name)
            }
        }
        for part in [text] + parts where part.utf8.count >= 5 && !KeptNames.isScheme(part) && !StandIn.isName(part) {
            if isCredential || part.utf8.count >= 6 && !KeptNames.isWord(part) {
                secrets.insert(part)
            } else if part.utf8.count <= 128 {
                words.insert(part)
            }
        }
    }

    /// What an answer's text is known as, if it is no word.
    func known(_ text: String) -> String? {
        KeptNames.isWord(text) || text.utf8.count < 6 ? nil : substitutes[text]
    }

    /// Whether a request has held the text as a credential, or as what reads like no word.
    func isSecret(_ text: String) -> Bool { secrets.contains(text) }

    /// A text that is kept, without what an answer repeats of a request, and with what an answer's text is known as.
    ///
    /// - Parameter isFree: Whether it may be a sentence, in which words of a request are repeated too.
    func kept(_ text: String, isFree: Bool = false) -> String {
        if let known = known(text) { return known }
        guard isAnswer else { return text }
        // The longer ones first: none leaves a part of another.
        func sorted(_ texts: Set<String>) -> [String] {
            texts.filter { text.holds($0) }.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        }
        let plain = sorted(secrets).reduce(text) { $0.replacing(bytesOf: $1, with: StandIn.mark) }
        guard isFree else { return plain }
        return sorted(words).reduce(plain) { $0.replacing(bytesOf: $1, with: StandIn.mark, asWord: true) }
    }

    mutating func value(_ text: String, of name: String) -> String {
        // All of a value with such a name is what is wanted.
        if names.hold(name) { return kept(text, isFree: !words.contains(text)) }
        let isKept = KeptNames.isProtocolWord(text, of: name) && (isAnswer || !KeptNames.mixesDigits(text))
        return isKept && !(isAnswer && secrets.contains(text)) ? text : substitute(for: text, of: name)
    }

    /// The name is one of one-time and authorization codes as well, in requests and in URLs.
    private func isErrorCode(_ text: String, of name: String) -> Bool {
        guard isAnswer, name.inLowercase == "code", !secrets.contains(text) else { return false }
        return KeptNames.isErrorCode(text) && (isError || text.utf8.allSatisfy(\.isDigit))
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
            let isAround = isError
            defer { isError = isAround }
            // What a password is made of has no name that tells it from one.
            let inside = KeptNames.isEntered(name) ? name : nil
            // Each has a name of its own, in an order that is not the sender's: of equal ones a reader takes one.
            var hidden: [String: String] = [:]
            for key in members.map(\.key).filter({ !isKept(key: $0) }).sorted() where hidden[key] == nil {
                hidden[key] = hidden.isEmpty ? StandIn.mark : "\(StandIn.mark)~\(hidden.count + 1)"
            }
            return .object(
                members.map { member in
                    isError = isAround || ["error", "errors"].contains(member.key)
                    let key = hidden[member.key] ?? member.key
                    return JSONValue.Member(key, self.value(member.value, of: inside ?? member.key))
                }
            )
        }
    }

    private func isKept(key: String) -> Bool {
        (names.hold(key) || KeptNames.isKey(key)) && !(isAnswer && secrets.contains(key))
    }

    // MARK: Parts of messages

    private mutating func body(_ bytes: [UInt8], _ fields: HTTPFields) -> [JSONValue.Member] {
        if bytes.isEmpty { return [] }
        let type = fields.lines("content-type").first?.inLowercase ?? ""
        if type.hasPrefix("application/x-www-form-urlencoded") {
            return [.init("body", .string(items(String(decoding: bytes, as: UTF8.self))))]
        }
        if let json = try? JSONValue(parsing: bytes) {
            if json.members != nil || json.array != nil { return [.init("body", value(json, of: ""))] }
            // By itself, a text would be that of a body which is none.
            if type.holds("json") { return [.init("body", .string(value(json, of: "").description))] }
        }
        guard redaction.keepsOtherBodies else {
            if !isAnswer { learn(String(decoding: bytes.prefix(Self.longestLesson), as: UTF8.self), of: "") }
            return [.init("body", .string(StandIn.mark))]
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return [.init("body_base64", .string(Base64.encode(bytes)))]
        }
        return [.init("body", .string(kept(text, isFree: true)))]
    }
}
