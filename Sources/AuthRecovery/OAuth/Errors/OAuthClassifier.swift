public import HTTPRecovery
import HTTPTypes

/// Tells what an exchange with an authorization server, or with a resource that takes its tokens, came to.
///
/// The error word of the body decides, then that of a token challenge, then the status as `HTTPClassifier`
/// reads it. Two things stand above every word: a 429 is a throttle, and no 5xx refuses a credential. A refresh token, a
/// code or a device code counts as refused only if a word in the body says so: a bare 401 does not end a sign-in.
/// Successes of an authorization server's own endpoints tell what has become of what was presented: a code is used up, a
/// refresh token is replaced, a revoked token is gone.
public struct OAuthClassifier: OutcomeClassifier {
    /// Creates the classifier.
    public init() {}

    /// Tells what the exchange came to.
    public func classify(_ exchange: Exchange) -> Outcome {
        let general = HTTPClassifier().classify(exchange)
        guard case .response(let response, let body) = exchange.result else { return general }
        let isSuccess = (200..<300).contains(response.status.code)
        // Successes are the most frequent answers; those of any length are no errors in disguise.
        if isSuccess, general.kind == .ok {
            var outcome = general
            if OAuthInterpretation.mayHoldError(body) {
                let interpretation = ErrorInterpretation(exchange, response: response, body: body)
                outcome = OAuthInterpretation(interpretation, general: general).outcome
            }
            guard outcome.kind == .ok else { return outcome }
            return OAuthSuccessInterpretation(exchange, status: response.status.code, body: body)?.outcome ?? outcome
        }
        let interpretation = ErrorInterpretation(exchange, response: response, body: body)
        return OAuthInterpretation(interpretation, general: general).outcome
    }
}

/// One answer on its way to an outcome.
struct OAuthInterpretation {
    let interpretation: ErrorInterpretation
    /// What the answer means apart from the words of OAuth.
    let general: Outcome
    let body: OAuthBody

    init(_ interpretation: ErrorInterpretation, general: Outcome) {
        self.interpretation = interpretation
        self.general = general
        self.body = OAuthBody(interpretation.content, interpretation.body)
    }

    /// Whether the body of a success is worth looking at for an error.
    static func mayHoldError(_ body: [UInt8]) -> Bool {
        guard body.count <= 65_536 else { return false }
        let word = Array("rror".utf8)
        return body.indices.contains { body[$0] == word[0] && body[$0...].starts(with: word) }
    }

    var outcome: Outcome {
        var outcome = decided
        guard outcome.isFailure else { return outcome }
        outcome.status = interpretation.status
        outcome.message = outcome.message ?? body.detail
        outcome.subcode = outcome.subcode ?? body.subcode
        outcome.traceID = outcome.traceID ?? interpretation.traceID ?? body.traceID
        return outcome
    }

    private var status: Int { interpretation.status }
    private var isError: Bool { status >= 400 }
    private var presented: Outcome.CredentialKind? { interpretation.exchange.presented }

    private var decided: Outcome {
        let inBody = body.knownWord(isError: isError)
        if status == 429 {
            var outcome = general
            outcome.code = inBody?.rawValue ?? body.statedWord ?? general.code
            outcome.message = body.detail ?? general.message
            return outcome
        }
        // What would make the same token acceptable is said in a challenge, and counts more than that it is not now.
        if general.kind == .nonceRequired || general.kind == .stepUpRequired { return general }
        if let word = inBody { return outcome(of: OAuthError(word: word, detail: body.detail)) }
        if isError, let challenge = wordOfChallenge, challenge.outcome(presented: presented)?.kind != general.kind {
            return outcome(of: challenge)
        }
        if let refusal = refusalInRedirect { return outcome(of: refusal) }
        if let error = unknownErrorInRedirect {
            // Nothing but the word says what it means, and a redirect that brings an error brings no code.
            var outcome = Outcome(.unknown, processed: .yes)
            outcome.code = error.word.rawValue.bounded(to: 256)
            outcome.message = error.detail
            return outcome
        }
        return byStatus
    }

    /// The known word of a token challenge.
    private var wordOfChallenge: OAuthError? {
        for challenge in interpretation.challenges where challenge.isAboutTokens {
            guard let text = challenge.error else { continue }
            let word = OAuthError.Word(reading: text)
            if OAuthErrorRule[word] != nil {
                return OAuthError(word: word, detail: challenge.errorDescription?.bounded(to: 1024))
            }
        }
        return nil
    }

    /// The error that an authorization endpoint sends along with its redirect (RFC 6749 section 4.1.2.1).
    private var refusalInRedirect: OAuthError? {
        guard (300..<400).contains(status), let location = interpretation.fields.singleLine("location") else {
            return nil
        }
        let redirect = OAuthClient.AuthorizationRedirect(url: location)
        guard let error = redirect.error, OAuthErrorRule[error.word] != nil else { return nil }
        return error
    }

    /// An error that nobody knows in the redirect of an authorization endpoint to its client.
    ///
    /// Elsewhere a member of that name may be anything, as it may in the address of a page of the server's own.
    private var unknownErrorInRedirect: OAuthError? {
        guard (300..<400).contains(status), OAuthSuccessInterpretation.isAuthorization(interpretation.exchange),
            let location = interpretation.fields.singleLine("location"),
            location.utf8.prefix(while: { !"/?#".utf8.contains($0) }).contains(UInt8(ascii: ":"))
        else { return nil }
        let redirect = OAuthClient.AuthorizationRedirect(url: location)
        return redirect.code == nil ? redirect.error : nil
    }

    // MARK: Words

    private func outcome(of error: OAuthError) -> Outcome {
        guard var outcome = error.outcome(in: interpretation) else { return byStatus }
        if outcome.kind == .challengePending { outcome.retryAfter = outcome.retryAfter ?? body.interval }
        if outcome.kind == .invalidRequest { outcome.parameter = outcome.parameter ?? general.parameter }
        outcome.advice = advice(for: outcome.kind)
        outcome.apply(interpretation.delay.hint)
        return outcome
    }

    /// What the server wants, if the body says it.
    private func advice(for kind: Outcome.Kind) -> JSONValue? {
        switch kind {
        case .nonceRequired:
            let nonce = interpretation.fields.lines("dpop-nonce").last?.nonEmpty
            return nonce.map { ["nonce": .string($0.bounded(to: 1024))] }
        case .permissionDenied:
            return body.members["scope"]?.string.map { ["scope": .string($0.bounded(to: 1024))] }
        case .stepUpRequired:
            var members: [JSONValue.Member] = []
            let challenge = interpretation.challenges.first { $0.isAboutTokens && $0.error != nil }
            for name in ["acr_values", "max_age", "claims"] {
                let value = body.members[name] ?? challenge?[name].map { .string($0) }
                guard let value, value.string.map({ $0.utf8.count <= 4096 }) ?? (value.number != nil) else { continue }
                members.append(JSONValue.Member(name, value))
            }
            return members.isEmpty ? nil : .object(members)
        default:
            return nil
        }
    }

    // MARK: Without a known word

    private var byStatus: Outcome {
        if isForeign {
            return Outcome(.unreadable, processed: interpretation.processed, retryAfter: general.retryAfter)
        }
        var outcome = general
        if !isError {
            guard (200..<300).contains(status), general.kind == .ok, body.hasError else { return general }
            outcome = Outcome(.unknown, processed: .yes)
        }
        outcome.code = body.statedWord ?? general.code
        switch presented {
        case .refresh, .code, .device, .client:
            if general.kind == .credentialRejected { outcome = unexplainedRefusal }
        default: break
        }
        return outcome
    }

    /// Whether a refusal by an endpoint that says in JSON why it refuses (RFC 6749 section 5.2) has a body that is
    /// something else: whoever has answered, it is no word about what was presented.
    ///
    /// The endpoint for the person's profile says it in a challenge (OpenID Connect Core 1.0 section 5.3.3): any body
    /// may stand beside that, and many servers have the phrase of the status there.
    private var isForeign: Bool {
        guard (400..<500).contains(status), status != 407, !Self.passing.contains(general.kind), body.members == .null
        else { return false }
        let exchange = interpretation.exchange
        switch interpretation.content {
        case .empty, .json: return false
        case .markup, .other: break
        }
        if OAuthSuccessInterpretation.isUserInfo(exchange) {
            return !body.isReasonPhrase && !interpretation.challenges.contains(where: \.isAboutTokens)
        }
        // Other things are fetched from paths of such a name too, but with an access token.
        let isOfAnother = exchange.method != .post || presented == .access || presented == .session
        return OAuthSuccessInterpretation.isToken(exchange) && !isOfAnother
    }

    /// What the status, its fields or a challenge tell whatever the body is.
    private static let passing: Set<Outcome.Kind> = [
        .rateLimited, .quotaExhausted, .unavailable, .nonceRequired, .stepUpRequired,
    ]

    /// A 401 of a token endpoint whose body does not say why: it refuses no token, since RFC 6749 section 5.2 has it for
    /// clients that fail to prove themselves.
    private var unexplainedRefusal: Outcome {
        if interpretation.content == .markup { return Outcome(.unreadable, processed: interpretation.processed) }
        if let word = body.statedWord {
            var outcome = Outcome(.unknown, processed: interpretation.processed)
            outcome.code = word
            return outcome
        }
        var outcome = Outcome(.misconfigured, processed: interpretation.processed, remedies: [.fixRequest])
        outcome.code = general.code
        outcome.message = general.message
        return outcome
    }
}
