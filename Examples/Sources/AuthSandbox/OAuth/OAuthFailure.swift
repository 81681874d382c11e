/// A refusal of the OAuth provider: a status, a word of RFC 6749 section 5.2 (or of a later RFC) and a sentence.
struct OAuthFailure: Error, Sendable {
    static let realm = "auth-sandbox"

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

    /// A resource's refusal (RFC 6750 section 3).
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - code: The error's word; nil for a request without any credential, which is told nothing more.
    ///   - description: A sentence.
    ///   - scheme: `Bearer` or `DPoP`.
    ///   - parameters: More parameters of the challenge.
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
        var challenge = "\(scheme) realm=\"\(Self.realm)\""
        if let code { challenge += ", error=\"\(code)\", error_description=\"\(Self.quoted(description))\"" }
        for (name, value) in parameters { challenge += ", \(name)=\"\(Self.quoted(value))\"" }
        headers = [.init(name: "WWW-Authenticate", value: challenge)]
    }

    static func invalidRequest(_ description: String) -> OAuthFailure { OAuthFailure("invalid_request", description) }
    static func invalidGrant(_ description: String) -> OAuthFailure { OAuthFailure("invalid_grant", description) }
    static func invalidScope(_ description: String) -> OAuthFailure { OAuthFailure("invalid_scope", description) }

    static func invalidClient(_ description: String) -> OAuthFailure {
        var failure = OAuthFailure("invalid_client", description, status: 401)
        failure.headers = [.init(name: "WWW-Authenticate", value: "Basic realm=\"\(realm)\"")]
        return failure
    }

    /// The answer that tells of it.
    var response: SandboxResponse {
        var body: JSONValue = [:]
        if isInBody {
            body = ["error": .optional(code), "error_description": .string(description)]
        }
        var response = SandboxResponse.json(body, status: status)
        for header in headers { response.setHeader(header.name, header.value) }
        return response
    }

    /// A text as it may stand in a quoted string of a header.
    private static func quoted(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(500).flatMap { scalar -> [Character] in
                guard (0x20..<0x7F).contains(scalar.value) else { return [] }
                return scalar == "\"" || scalar == "\\" ? ["\\", Character(scalar)] : [Character(scalar)]
            }
        )
    }
}
