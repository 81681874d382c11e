import AuthRecovery
public import HTTPRecovery
public import HTTPTypes

/// Tells what an exchange with an Auth0 tenant came to: its Authentication API.
///
/// What every OAuth server says alike is read by `OAuthClassifier`. Over it stand Auth0's own codes with their texts, which
/// tell apart what one code means at several places. A lockout is told from a throttle although both are a 429, and a 501
/// is no outage. A success of the token endpoint without a token is none.
public struct Auth0Classifier: OutcomeClassifier {
    /// Creates the classifier.
    public init() {}

    /// Tells what the exchange came to.
    public func classify(_ exchange: Exchange) -> Outcome {
        guard case .response(let response, let body) = exchange.result else {
            return HTTPClassifier().classify(exchange)
        }
        let status = response.status.code
        // No outage says anything about what was presented, whatever word comes with it; a 501 is none.
        let isOutage = status >= 500 && status != 501
        var general = isOutage ? HTTPClassifier().classify(exchange) : OAuthClassifier().classify(exchange)
        // Each endpoint has limits of its own.
        if status == 429 { general.scope = .endpoint }
        if let id = response.headerFields.lines("x-auth0-requestid").first?.nonEmpty?.bounded(to: 256) {
            general.traceID = id
        }
        if (300..<400).contains(status), general.isFailure { return general.toldByTenant }
        let isSuccess = (200..<300).contains(status)
        let json = ResponseContent(body).json
        guard let json, json.members != nil, let error = Auth0Error(json), !isSuccess || json["error"]?.string != nil
        else { return plain(general, exchange, status, body, json) }
        let rule = rule(for: error, status, exchange)
        // A success without a token is none, whatever it calls itself.
        if isSuccess, rule?.kind.isFailure != true { return plain(general, exchange, status, body, json) }
        guard let rule else {
            let isUnknown = isRefusalWithoutMeaning(error, status, exchange.presented)
            let unknown = Outcome(.unknown, processed: .no, status: status)
            return named(isUnknown ? unknown : plain(general, exchange, status, body, json), error, general)
        }
        let isBlock = error.code == "too_many_attempts"
        var outcome = Outcome(
            rule.kind,
            scope: rule.scope,
            processed: .no,
            // No answer tells when a block ends: what stands in its fields is the tenant's bucket.
            retryAfter: isBlock ? nil : general.retryAfter,
            remedies: rule.remedies,
            status: status
        )
        if rule.kind == .accountLocked {
            outcome.lockout = .indefinite
        } else if status >= 500, status != 501, rule.kind != .rateLimited {
            outcome.processed = .unknown
        }
        if rule.kind == .credentialRejected { outcome.credential = rule.clears }
        if let presented = exchange.presented, presented == rule.clears { outcome.tokenAction = .clear }
        outcome = named(outcome, error, general)
        if rule.isForPerson, !error.text.isEmpty, error.text != error.code { outcome.userMessage = error.text }
        if !error.brokenRules.isEmpty { outcome.userMessage = error.brokenRules.joined(separator: " ") }
        return outcome
    }

    /// Password and one-time codes share a limit at one path, polls and renewals another: what differs stands in the body,
    /// which is not looked at for this.
    public func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        "\(method.rawValue) \(path.prefix { $0 != "?" })"
    }

    /// What the codes say; nil if the status alone says more.
    private func rule(for error: Auth0Error, _ status: Int, _ exchange: Exchange) -> Auth0ErrorRule? {
        if error.says("client quota exceeded") { return Auth0ErrorRule(.quotaExhausted, [.wait], scope: .app) }
        let isSignUp = exchange.path.hasSuffix("/dbconnections/signup")
        let rule = Auth0ErrorRule.of(error, presented: exchange.presented, isSignUp: isSignUp)
        // That of the whole tenant may come as an outage or as any throttle.
        if rule?.kind == .rateLimited, rule?.scope == .origin { return rule }
        let isOutage = status >= 500 && status != 501
        let isThrottle = status == 429 && !Self.ownThrottles.contains(error.code)
        return isOutage || isThrottle ? nil : rule
    }

    /// Whether a tenant has refused something in a word that nobody knows, so that the status is no more than a guess.
    ///
    /// A bearer token that is refused is renewed, in whichever word; and what is not there is not there.
    private func isRefusalWithoutMeaning(
        _ error: Auth0Error,
        _ status: Int,
        _ presented: Outcome.CredentialKind?
    ) -> Bool {
        guard (400..<500).contains(status), ![404, 408, 410, 421, 425, 429].contains(status), error.hasWord,
            status != 401 || presented != .access
        else { return false }
        return OAuthError(word: OAuthError.Word(rawValue: error.code)).outcome(presented: presented) == nil
    }

    /// The codes of a 429 that say more than that: a block, a limit of one person, a poll that came too soon.
    private static let ownThrottles: Set<String> = ["too_many_attempts", "too_many_logins", "slow_down"]

    /// An answer without an error of Auth0's.
    private func plain(
        _ general: Outcome,
        _ exchange: Exchange,
        _ status: Int,
        _ body: [UInt8],
        _ json: JSONValue?
    ) -> Outcome {
        var outcome = general
        let isTokens = exchange.path.hasSuffix("/oauth/token")
        if (200..<300).contains(status), isTokens, json?["access_token"]?.string?.nonEmpty == nil {
            outcome = Outcome(.unreadable, processed: .yes, status: status)
        } else if status < 500, ![408, 421, 425, 429].contains(status), json == nil, isPage(body, at: exchange.path) {
            // Somebody who stands before the tenant has answered.
            outcome = Outcome(.unreadable, processed: general.processed, status: status)
        } else if general.kind == .unreadable, !Self.isPhrase(body) {
            // Whose status it is, nobody knows: it ends no flow and blames no client.
            return general
        } else if status == 401, exchange.presented == .state {
            // The mfa token is not taken any more.
            outcome = Outcome(.flowExpired, processed: .no, remedies: [.restartFlow], status: status)
            outcome.tokenAction = .clear
        } else if status == 401, exchange.presented == nil, isTokens {
            // What a person brings is refused in words; without one it is the client that is not known.
            outcome = Outcome(.misconfigured, processed: .no, remedies: [.fixRequest], status: status)
        } else if outcome.kind == .permissionDenied, outcome.code == "insufficient_scope" {
            outcome.remedies = [.fixRequest]
        }
        if outcome.kind != general.kind { outcome.traceID = general.traceID }
        return outcome
    }

    /// Whether a body is the phrase of a 401 alone, which is the tenant's own way to refuse a token.
    private static func isPhrase(_ body: [UInt8]) -> Bool {
        String(decoding: body.trimming(\.isWhitespace).prefix(64), as: UTF8.self).inLowercase == "unauthorized"
    }

    /// Whether a page stands where one of the tenant's APIs would answer.
    private func isPage(_ body: [UInt8], at path: String) -> Bool {
        path.split(separator: "/").contains(where: Self.apis.contains) && ResponseContent(body) == .markup
    }

    private static let apis: Set<Substring> = [
        "oauth", "mfa", "passwordless", "otp", "passkey", "dbconnections", "userinfo",
    ]

    /// The outcome with the server's own words.
    private func named(_ outcome: Outcome, _ error: Auth0Error, _ general: Outcome) -> Outcome {
        var outcome = outcome
        outcome.code = error.code.isEmpty ? nil : error.code.bounded(to: 256)
        outcome.subcode = error.name ?? outcome.subcode
        outcome.message = error.text.isEmpty ? nil : error.text
        outcome.parameter = error.parameter ?? outcome.parameter
        outcome.traceID = general.traceID
        return outcome
    }
}

extension Outcome {
    /// The refusal with which a browser is sent back, by what the tenant means by its words.
    var toldByTenant: Outcome {
        let body: JSONValue = ["error": .string(code ?? ""), "error_description": .string(message ?? "")]
        guard let refusal = Auth0Error(body), let rule = Auth0ErrorRule.of(refusal, presented: nil),
            rule.kind.isFailure
        else { return self }
        var outcome = self
        (outcome.kind, outcome.remedies) = (rule.kind, rule.remedies)
        if rule.isForPerson, !refusal.text.isEmpty { outcome.userMessage = refusal.text }
        return outcome
    }
}
