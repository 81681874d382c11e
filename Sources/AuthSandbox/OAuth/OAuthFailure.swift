import HTTPRecovery
import HTTPRecoveryTesting

/// A refusal of the OAuth provider: a status, a word of RFC 6749 section 5.2 (or of a later RFC) and a sentence.
struct OAuthFailure: Error, Sendable {
    var status: Int
    let code: String?
    let description: String
    var headers: [SandboxRequest.Header] = []
    /// Whether the word stands in the body; a resource tells it in its challenge alone.
    var isInBody = true

    init(_ code: String, _ description: String, status: Int = 400) {
        self.status = status
        self.code = code
        self.description = description
    }

    /// A resource's refusal (RFC 6750 section 3); one without a code tells a request without any credential no error.
    init(
        challenge status: Int,
        _ code: String?,
        _ description: String,
        scheme: String = "Bearer",
        parameters: [(String, String)] = []
    ) {
        self.status = status
        self.code = code
        self.description = description
        isInBody = false
        let error = code.map { [("error", $0), ("error_description", description)] } ?? []
        let texts = ([("realm", Self.realm)] + error + parameters).map { "\($0)=\"\(Self.quoted($1))\"" }
        headers = [.init(name: "WWW-Authenticate", value: "\(scheme) \(texts.joined(separator: ", "))")]
    }

    private static let realm = "auth-sandbox"

    static let notFound = OAuthFailure("not_found", "There is no such endpoint.", status: 404)

    static func invalidRequest(_ description: String) -> OAuthFailure { OAuthFailure("invalid_request", description) }
    static func invalidGrant(_ description: String) -> OAuthFailure { OAuthFailure("invalid_grant", description) }
    static func invalidScope(_ description: String) -> OAuthFailure { OAuthFailure("invalid_scope", description) }
    static func unauthorized(_ description: String) -> OAuthFailure { OAuthFailure("unauthorized_client", description) }

    static func invalidClient(_ description: String) -> OAuthFailure {
        var failure = OAuthFailure("invalid_client", description, status: 401)
        failure.headers = [.init(name: "WWW-Authenticate", value: "Basic realm=\"\(realm)\"")]
        return failure
    }

    /// Throws for the first rule that does not hold: each is the sentence that says so.
    static func demand(
        _ rules: KeyValuePairs<String, Bool>,
        or failure: (String) -> OAuthFailure
    ) throws(OAuthFailure) {
        for (text, holds) in rules where !holds { throw failure(text) }
    }

    /// What a fault makes up: an error of RFC 6749 section 5.2, or of RFC 6750 at a resource.
    init(_ fault: SandboxFault, status: Int?, isResource: Bool) {
        let (status, code) = (status ?? 400, fault.errorCode)
        let message = fault.errorMessage ?? "The sandbox was told to fail."
        if isResource, status == 401 || status == 403 {
            let usual = status == 401 ? "invalid_token" : "insufficient_scope"
            self.init(challenge: status, code ?? usual, message)
        } else if status == 401, code ?? "invalid_client" == "invalid_client" {
            self = .invalidClient(message)
        } else {
            self.init(code ?? Self.usualCode(status), message, status: status)
        }
    }

    private static func usualCode(_ status: Int) -> String {
        switch status {
        case 403: "access_denied"
        case 404: "not_found"
        case 429, 502, 503, 504: "temporarily_unavailable"
        case 500...: "server_error"
        default: "invalid_request"
        }
    }

    /// The answer that tells of it.
    var response: SandboxResponse {
        let body: JSONValue = isInBody ? ["error": .optional(code), "error_description": .string(description)] : [:]
        var response = SandboxResponse.json(body, status: status)
        for header in headers { response.setHeader(header.name, header.value) }
        return response
    }

    /// A text as it may stand in a quoted string of a header.
    private static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(500).filter { (0x20..<0x7F).contains($0.value) }
        return shown.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }
}
