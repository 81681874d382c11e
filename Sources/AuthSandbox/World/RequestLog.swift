import HTTPRecovery
import HTTPRecoveryTesting

/// One request as the sandbox remembers it; secrets are masked.
public struct SandboxRequestRecord: Sendable, Equatable {
    /// Counted from 1.
    public let number: Int
    /// When it arrived, in milliseconds since 1970 on the sandbox's clock.
    public let receivedAt: Int64
    /// The method.
    public let method: String
    /// The path without the query.
    public let path: String
    /// The method and the path with `{id}` in the place of ids: the key under which requests are counted.
    public let route: String
    /// What a request for OAuth tokens asks with, such as `refresh_token` or `device_code`; nil for any other request.
    public let grant: String?
    /// The query and the form, masked where a value is a secret.
    public let fields: [String]
    /// The headers, masked where a value is a secret.
    public let headers: [String]
    /// The connection that it came on, counted from 1.
    public let connection: Int
    /// Whether it had its effect; of a forwarded one, whether the upstream has it: false until that is known.
    public internal(set) var isProcessed: Bool
    /// The fault that struck it.
    public let fault: String?
    /// The status of the answer; 0 when none was sent, or while the upstream is being asked.
    public internal(set) var status: Int
    /// The first error code of the answer.
    public internal(set) var errorCode: String?
}

extension SandboxRequestRecord {
    /// A line for the sandbox's log.
    var line: String {
        var line = "\(method) \(path) "
        if let grant { line += "(\(grant)) " }
        line += "-> "
        line += status == 0 ? "no answer" : String(status)
        if let errorCode { line += " \(errorCode)" }
        if let fault { line += " (fault \(fault), \(isProcessed ? "" : "not ")processed)" }
        return line
    }
}

extension SandboxRequestRecord: Encodable {
    enum CodingKeys: String, CodingKey {
        case number = "n"
        case receivedAt, method, path, route, grant, fields, headers, connection
        case isProcessed = "processed"
        case fault, status
        case errorCode = "code"
    }
}

/// What has arrived, so that a test can prove that something arrived once.
struct RequestLog: Sendable {
    private static let capacity = 10_000

    private(set) var records: [SandboxRequestRecord] = []
    /// How often each route was called, and how often with effect.
    private(set) var counts: [String: Count] = [:]
    private(set) var total = 0
    /// How often it was cleared.
    private var generation = 0

    /// A request whose answer is not there yet.
    struct Entry: Sendable {
        fileprivate let generation: Int
        fileprivate let number: Int
        fileprivate let route: String
    }

    /// Calls of one route.
    struct Count: Encodable, Sendable, Equatable {
        var received = 0
        var processed = 0
    }

    /// Notes a request and returns what was noted.
    @discardableResult
    mutating func note(
        _ request: SandboxRequest,
        at now: Int64,
        processed: Bool,
        fault: String?,
        status: Int,
        errorCode: String?,
        hiddenHeaders: Set<String> = []
    ) -> SandboxRequestRecord {
        total += 1
        let route = Self.route(request)
        if counts.count >= Self.capacity, counts[route] == nil { counts = [:] }
        counts[route, default: Count()].received += 1
        if processed { counts[route, default: Count()].processed += 1 }
        let isReadable = Masking.isForm(request) && request.body.count <= OAuthForm.maximumLength
        let form = isReadable ? FormEncoding.fields(request.body) : Self.members(request)
        let record = SandboxRequestRecord(
            number: total,
            receivedAt: now,
            method: request.method,
            path: request.path,
            route: route,
            grant: request.grant,
            fields: (request.query + form).prefix(200).map { field in
                "\(field.name.prefix(200))=\(Masking.field(field.name, field.value))"
            },
            headers: request.headers.map { "\($0.name): \(Masking.header($0.name, $0.value, hidden: hiddenHeaders))" },
            connection: request.connection,
            isProcessed: processed,
            fault: fault,
            status: status,
            errorCode: errorCode
        )
        if records.count >= Self.capacity { records.removeFirst(Self.capacity / 2) }
        records.append(record)
        return record
    }

    /// Notes a request for which the upstream is asked.
    mutating func begin(_ request: SandboxRequest, at now: Int64, fault: String?) -> Entry {
        let record = note(request, at: now, processed: false, fault: fault, status: 0, errorCode: nil)
        return Entry(generation: generation, number: record.number, route: record.route)
    }

    /// Notes what became of a request; nil when it was forgotten meanwhile.
    mutating func finish(_ entry: Entry, processed: Bool, status: Int, errorCode: String?) -> SandboxRequestRecord? {
        guard entry.generation == generation else { return nil }
        if processed { counts[entry.route]?.processed += 1 }
        guard let first = records.first?.number, records.indices.contains(entry.number - first) else { return nil }
        let index = entry.number - first
        records[index].isProcessed = processed
        records[index].status = status
        records[index].errorCode = errorCode
        return records[index]
    }

    /// Forgets everything, and what is still to be answered.
    mutating func clear() {
        let next = generation + 1
        self = RequestLog()
        generation = next
    }

    /// The requests of a method and a path (a beginning or a pattern).
    func records(method: String?, path: String?) -> [SandboxRequestRecord] {
        records.filter { record in
            (method == nil || method?.uppercased() == record.method)
                && (path.map { Glob.matches($0, record.path) } ?? true)
        }
    }

    /// The members of a JSON object, as far as they are texts; others count as secrets.
    private static func members(_ request: SandboxRequest) -> [FormEncoding.Field] {
        guard request.header("content-type")?.lowercased().hasPrefix("application/json") ?? false,
            request.body.count <= OAuthForm.maximumLength,
            case .object(let members) = try? JSONValue(parsing: request.body)
        else { return [] }
        return members.map { .init(name: $0.key, value: $0.value.string ?? "***") }
    }

    private static func route(_ request: SandboxRequest) -> String {
        let prefixes = ["sia_", "sess_", "client_", "user_", "idn_", "org_"]
        let parts = request.path.prefix(500).split(separator: "/").map { part in
            prefixes.contains { part.hasPrefix($0) && part.count > 20 } || OktaRoute.isID(part) ? "{id}" : String(part)
        }
        return "\(request.method) /" + parts.joined(separator: "/")
    }
}

/// Keeps passwords, codes and tokens out of what is shown.
enum Masking {
    private static let shownFields: Set<String> = [
        "_is_native", "_method", "_clerk_session_id", "__clerk_api_version", "_clerk_js_version", "strategy",
        "identifier", "email_address_id", "phone_number_id", "intent", "active_organization_id", "organization_id",
        "sign_out_of_other_sessions", "locale", "transfer", "redirect_url", "level", "to", "user",
        "grant_type", "client_id", "scope", "response_type", "redirect_uri", "code_challenge_method", "login_hint",
        "prompt", "acr_values", "max_age", "token_type_hint", "subject_token_type", "actor_token_type",
        "requested_token_type", "audience", "resource", "client_assertion_type", "decision",
        "username", "factorType", "provider",
        "authIndexType", "_action", "realm", "ForceAuth", "noSession",
        "fields", "limit", "after", "include_headers", "callback", "method",
    ]
    private static let hiddenHeaders: Set<String> = ["dpop", "x-api-key"]
    /// A header whose name has one of these in it carries a secret, as far as anybody can know.
    private static let hiddenWords = [
        "auth", "token", "secret", "cookie", "password", "passwd", "session", "signature", "credential", "assertion",
        "apikey", "api-key", "access-key", "jwt",
    ]

    static func isForm(_ request: SandboxRequest) -> Bool {
        request.header("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
    }

    static func field(_ name: String, _ value: String) -> String {
        shownFields.contains(name) || value.isEmpty ? String(value.prefix(200)) : "***"
    }

    /// A hidden header keeps eight letters of its hash: enough to see whether two requests carried the same one.
    static func header(_ name: String, _ value: String, hidden: Set<String> = []) -> String {
        let isHidden =
            hiddenHeaders.contains(name) || hidden.contains(name) || hiddenWords.contains { name.contains($0) }
        guard isHidden, !value.isEmpty else { return String(value.prefix(200)) }
        return "***" + fingerprint(value)
    }

    /// Eight letters of a secret's hash.
    static func fingerprint(_ secret: String) -> String {
        Base64.encodeForURL(Array(SHA256.hash(Array(secret.utf8)).prefix(6)))
    }
}
