import HTTPRecovery

/// Something that goes wrong with the requests that it matches.
///
/// In JSON, in a scenario's `faults` or as the body of `POST /_sandbox/faults`:
///
/// ```json
/// {"match": {"method": "POST", "path": "*/attempt_first_factor"}, "kind": "status", "status": 429,
///  "retry_after": 3, "times": 2}
/// ```
///
/// A path with a `*` is a pattern for the whole path (`*` stands for any text); one without is a beginning. Faults are
/// tried in the order in which they were added; the first that matches and is not used up is taken. Requests to
/// `/_sandbox/` are never harmed.
public struct SandboxFault: Sendable, Equatable {
    /// What goes wrong.
    ///
    /// | kind | processed | what the client sees |
    /// |---|---|---|
    /// | `status` | no | `status` (503) with `body`, or with an error body that fits the status |
    /// | `envelope` | no | `status` with an error in the form `envelope` |
    /// | `html` | no | `status` (502) and a proxy's page |
    /// | `empty` | no | `status` (500) and no body |
    /// | `latency` | yes | the true answer, `delay_ms` later |
    /// | `trickle` | yes | the true answer, a byte every `delay_ms` (10) |
    /// | `truncate`, `truncate_reset` | yes | half of the true answer's body, then an end or a RST |
    /// | `reset_before`, `close_before` | no | RST or an orderly end, without an answer |
    /// | `reset_after`, `close_after` | yes | the same, but the request has had its effect |
    /// | `hang` | no | nothing, for ever |
    /// | `garbage` | no | `body`, or some bytes, that are not HTTP |
    /// | `rotate_token` | yes | the true answer with a new client token in `Authorization` |
    ///
    /// `processed` in the JSON overrides the second column for the kinds where both are possible.
    public struct Kind: Sendable, Hashable {
        /// The kind's word in JSON.
        public let name: String

        /// Another status than the true one.
        public static let status = Kind(name: "status")
        /// An error body of a chosen form.
        public static let envelope = Kind(name: "envelope")
        /// A proxy's HTML page.
        public static let html = Kind(name: "html")
        /// No body.
        public static let empty = Kind(name: "empty")
        /// The true answer, late.
        public static let latency = Kind(name: "latency")
        /// The true answer, byte by byte.
        public static let trickle = Kind(name: "trickle")
        /// Half of the body, then an orderly end.
        public static let truncate = Kind(name: "truncate")
        /// Half of the body, then a RST.
        public static let truncateReset = Kind(name: "truncate_reset")
        /// A RST before the request has an effect.
        public static let resetBefore = Kind(name: "reset_before")
        /// A RST after the request has had its effect.
        public static let resetAfter = Kind(name: "reset_after")
        /// An orderly end before the request has an effect.
        public static let closeBefore = Kind(name: "close_before")
        /// An orderly end after the request has had its effect.
        public static let closeAfter = Kind(name: "close_after")
        /// No answer ever.
        public static let hang = Kind(name: "hang")
        /// Bytes that are not HTTP.
        public static let garbage = Kind(name: "garbage")
        /// The true answer with another client token.
        public static let rotateToken = Kind(name: "rotate_token")

        static let all: [Kind] = [
            status, envelope, html, empty, latency, trickle, truncate, truncateReset, resetBefore, resetAfter,
            closeBefore, closeAfter, hang, garbage, rotateToken,
        ]

        /// Whether the request has its effect unless the fault says otherwise.
        var processesByDefault: Bool {
            let effective: [Kind] = [
                .latency, .trickle, .truncate, .truncateReset, .resetAfter, .closeAfter, .rotateToken,
            ]
            return effective.contains(self)
        }
    }

    /// `kind`.
    public var kind: Kind
    /// `match.method`: nil for all.
    public var method: String?
    /// `match.path`: a beginning, or a pattern with `*`; nil for all.
    public var path: String?
    /// `match.grant`: what a token request asks with: `refresh_token`, `client_credentials`, `authorization_code`,
    /// `device_code` or `token_exchange`; nil for every request.
    public var grant: String?
    /// `status`.
    public var status: Int?
    /// `headers`: added to the answer, or replacing what it has.
    public var headers: [String: String] = [:]
    /// `retry_after`: a number of seconds, `date:SECONDS` for an HTTP date that much ahead, `huge`, or any text.
    public var retryAfter: String?
    /// `body`: sent as it stands.
    public var body: String?
    /// `code`: the error's code, for a body that the sandbox makes.
    public var errorCode: String?
    /// `message`: the error's message, for a body that the sandbox makes.
    public var errorMessage: String?
    /// `envelope`: `A`, `B`, `C`, `D` or `E` (an unhelpful `{}`), `two` (form A with two errors), `A+client` (form A with
    /// the client in the top-level `meta`), or `okta` (`errorCode` and `errorSummary`); of PingAM `am`, `am+number` (the
    /// `errorCode` as a number), `am-reason` (without a `reason`), `am+top` (`failureUrl` at the top) or `am1` (that of
    /// the first version, `errorMessage`); of Facebook `fb`, `fb-string` (codes as text), `fb-flat` (`error_code`),
    /// `fb-text` (`error` is a text), `fb-login` (`error_type`), `fb-jsonp` (a call of a function), `fb-site` (that of
    /// the site itself) or `fb-unavailable` (a text in a success); of Auth0 `auth0` (`error` and `error_description`) or
    /// `auth0_database` (that of its sign-up: `code` and `description`).
    ///
    /// Default: `A` for Clerk; for OAuth the words of RFC 6749, and a bearer challenge for 401 and 403 at a resource; for
    /// Okta its own form, with `meta` as `errorCauses`; for PingAM `am`, where `code` is the `errorCode`. With a status
    /// below 400 PingAM's envelope says 401. For Facebook `fb`, where `code` may have a finer one after a slash, such as
    /// `190/463`, and `meta` holds further members of the error.
    public var envelope: String?
    /// `delay_ms`: how long the answer is held back, for every kind.
    public var delay: Int64 = 0
    /// `times`: how often it strikes; 0 is until it is cleared.
    ///
    /// Default: 1.
    public var times: Int64 = 1
    /// `skip`: how many matching requests go free first.
    ///
    /// Default: 0.
    public var skip: Int64 = 0
    /// `percent`: of a hundred matching requests, how many it strikes on average, by the sandbox's seed; 1 to 100.
    ///
    /// Those that it leaves alone are left to the faults behind it. Default: 100.
    public var percent: Int64 = 100
    /// `processed`: whether the request has its effect; nil is the kind's own way.
    public var isProcessed: Bool?
    /// The error's `meta`, as it came in the JSON.
    var meta: JSONValue?

    /// Creates a fault.
    ///
    /// - Parameters:
    ///   - kind: What goes wrong.
    ///   - method: The requests' method, nil for all.
    ///   - path: The beginning of their path, or a pattern with `*`; nil for all.
    ///   - times: How often; 0 is until it is cleared.
    public init(_ kind: Kind, method: String? = nil, path: String? = nil, times: Int64 = 1) {
        self.kind = kind
        self.method = method
        self.path = path
        self.times = times
    }

    /// Reads a fault as `POST /_sandbox/faults` does.
    ///
    /// - Parameter json: One JSON object.
    /// - Throws: ``SandboxError`` that says what is wrong.
    public init(json: String) throws(SandboxError) {
        self = try JSONValue(document: Array(json.utf8)).read(path: "fault")
    }
}

extension SandboxFault: SandboxInput, Codable {
    /// The forms of errors that one may ask for by name.
    static var envelopes: [String] { SandboxProvider.all.flatMap { $0.world.envelopes } }
    static var words: [String: [String]] { ["kind": Kind.all.map(\.name), "envelope": envelopes] }
    static var ranges: [String: ClosedRange<Int64>] {
        [
            "status": 200...599, "delay_ms": 0...86_400_000, "times": 0...1_000_000_000, "skip": 0...1_000_000_000,
            "percent": 1...100,
        ]
    }

    enum CodingKeys: String, CodingKey {
        case kind, match, status, headers, retryAfter, body
        case errorCode = "code"
        case errorMessage = "message"
        case meta, envelope
        case delay = "delay_ms"
        case times, skip, percent
        case isProcessed = "processed"
    }

    private struct Match: SandboxInput, Encodable {
        var method: String?
        var path: String?
        var grant: String?

        static var words: [String: [String]] { ["grant": OAuthGrantType.allCases.map(\.rawValue)] }
    }

    /// Reads a fault; only `kind` has to be there.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(Kind(name: try container.decode(String.self, forKey: .kind)))
        if let match = try container.decodeIfPresent(Match.self, forKey: .match) {
            (method, path, grant) = (match.method, match.path, match.grant)
        }
        status = try container.decodeIfPresent(Int.self, forKey: .status)
        headers = try container.decodeIfPresent([String: String].self, forKey: .headers) ?? [:]
        retryAfter = try container.decodeIfPresent(AnyJSON.self, forKey: .retryAfter)?.text
        body = try container.decodeIfPresent(AnyJSON.self, forKey: .body)?.text
        errorCode = try container.decodeIfPresent(String.self, forKey: .errorCode)
        errorMessage = try container.decodeIfPresent(String.self, forKey: .errorMessage)
        meta = try container.decodeIfPresent(AnyJSON.self, forKey: .meta)?.value
        envelope = try container.decodeIfPresent(String.self, forKey: .envelope)
        delay = try container.decodeIfPresent(Int64.self, forKey: .delay) ?? delay
        times = try container.decodeIfPresent(Int64.self, forKey: .times) ?? times
        skip = try container.decodeIfPresent(Int64.self, forKey: .skip) ?? skip
        percent = try container.decodeIfPresent(Int64.self, forKey: .percent) ?? percent
        isProcessed = try container.decodeIfPresent(Bool.self, forKey: .isProcessed)
    }

    /// Writes a fault, without what is absent.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind.name, forKey: .kind)
        if method != nil || path != nil || grant != nil {
            try container.encode(Match(method: method, path: path, grant: grant), forKey: .match)
        }
        try container.encodeIfPresent(status, forKey: .status)
        if !headers.isEmpty { try container.encode(headers, forKey: .headers) }
        try container.encodeIfPresent(retryAfter, forKey: .retryAfter)
        try container.encodeIfPresent(body, forKey: .body)
        try container.encodeIfPresent(errorCode, forKey: .errorCode)
        try container.encodeIfPresent(errorMessage, forKey: .errorMessage)
        try container.encodeIfPresent(meta.map { AnyJSON(value: $0) }, forKey: .meta)
        try container.encodeIfPresent(envelope, forKey: .envelope)
        try container.encode(delay, forKey: .delay)
        try container.encode(times, forKey: .times)
        try container.encode(skip, forKey: .skip)
        if percent < 100 { try container.encode(percent, forKey: .percent) }
        try container.encode(processes, forKey: .isProcessed)
    }

    /// Whether the request has its effect.
    var processes: Bool { isProcessed ?? kind.processesByDefault }

    /// Whether the fault is meant for this request.
    func matches(_ request: SandboxRequest) -> Bool {
        if let method, method.uppercased() != request.method { return false }
        if let grant, request.grant != grant { return false }
        guard let path else { return true }
        return Glob.matches(path, request.path)
    }
}

/// Beginnings and patterns of paths.
enum Glob {
    /// A pattern without `*` is a beginning; with one it is for the whole text.
    static func matches(_ pattern: String, _ text: String) -> Bool {
        guard pattern.contains("*") else { return text.hasPrefix(pattern) }
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        var rest = Substring(text)
        for (index, part) in parts.enumerated() {
            if index == 0 {
                guard rest.hasPrefix(part) else { return false }
                rest = rest.dropFirst(part.count)
            } else if index == parts.count - 1 {
                return rest.hasSuffix(part)
            } else if !part.isEmpty {
                guard let range = rest.firstRange(of: part) else { return false }
                rest = rest[range.upperBound...]
            }
        }
        return true
    }
}
