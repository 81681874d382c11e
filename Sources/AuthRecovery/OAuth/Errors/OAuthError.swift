public import HTTPRecovery

/// An error by the words of OAuth 2 (RFC 6749 section 5.2 and the specifications that add to it).
public struct OAuthError: Sendable, Hashable {
    /// The word, such as ``Word/invalidGrant``.
    public var word: Word
    /// The description for developers.
    public var detail: String?

    /// Creates an error.
    public init(word: Word, detail: String? = nil) {
        self.word = word
        self.detail = detail
    }

    /// Reads the error of a body such as `{"error":"invalid_grant","error_description":"…"}`; nil if `error` is no
    /// text.
    public init?(_ body: JSONValue) {
        guard let text = body["error"]?.string, !text.isEmpty else { return nil }
        self.word = Word(reading: text)
        self.detail = body["error_description"]?.string.map { String($0.prefix(1024)) }
    }
}

extension RecoveryError {
    /// The OAuth error that the call ended with; nil if it ended with something else.
    ///
    /// It is there only if the word has decided: a server that answers 429 or 503 with `invalid_grant` has refused
    /// nothing, so no `invalid_grant` is seen here.
    ///
    /// ```swift
    /// switch error.oauth?.word {
    /// case .invalidGrant: signInAgain()
    /// case .invalidClient: reportConfiguration()
    /// default: throw error
    /// }
    /// ```
    public var oauth: OAuthError? {
        guard let code = outcome.code else { return nil }
        let word = OAuthError.Word(reading: code)
        if let meaning = OAuthError(word: word).outcome(presented: nil) {
            let isPassing = [.rateLimited, .quotaExhausted, .unavailable, .unreadable].contains(outcome.kind)
            if isPassing, meaning.kind != outcome.kind { return nil }
        } else {
            // A word of the server's own is one only if its answer has the form of an OAuth error.
            guard let bytes = response?.body.bytesInMemory, OAuthBody(Array(bytes)).statedWord == code else {
                return nil
            }
        }
        return OAuthError(word: word, detail: outcome.message)
    }
}
