import HTTPRecovery

/// One answer of an orchestrated flow of PingOne (DaVinci).
///
/// Its errors are steps that the person can correct, unless the flow is over or its session is broken.
struct PingOneInterpretation {
    private let forgeRock: ForgeRockInterpretation
    private let body: JSONValue

    /// Reads a body; nil if it is no answer of such a flow.
    init?(_ forgeRock: ForgeRockInterpretation, _ body: JSONValue) {
        guard case .object = body else { return nil }
        let isFlow =
            forgeRock.endpoint == .flow || body["connectorId"]?.string != nil || body["capabilityName"]?.string != nil
            || Self.isOver(body) || Self.search(body, for: "rawResponse") != nil || Self.isEnvelope(body)
            || (body["status"]?.string == "FAILED" && body["error"]?["code"] != nil)
        guard isFlow else { return nil }
        let isError = forgeRock.status >= 400 || body["status"]?.string == "FAILED"
        guard isError || Self.state(of: body) != nil else { return nil }
        self.forgeRock = forgeRock
        self.body = body
    }

    /// Whether it is an error of PingOne's API: with an id, and a code that is one of its words.
    private static func isEnvelope(_ body: JSONValue) -> Bool {
        body["id"]?.string != nil && body["message"]?.string != nil
            && body["code"]?.string.flatMap { PingOneErrorRule(code: $0) } != nil
    }

    /// What a flow that has not failed wants; nil for what is no state of one.
    private static func state(of body: JSONValue) -> PingOneErrorRule? {
        body["status"]?.string.flatMap { PingOneErrorRule(state: $0) }
    }

    var outcome: Outcome {
        var outcome = decided
        let code = body["code"] ?? body["error"]?["code"]
        outcome.code = code?.codeText?.bounded(to: 256)
        outcome.subcode = innerCode
        outcome.message = (body["message"] ?? body["error"]?["message"])?.string?.nonEmpty?.bounded(to: 4096)
        switch outcome.kind {
        case .invalidCredentials, .passwordRejected, .invalidRequest, .challengeIncorrect, .challengeExpired,
            .accountLocked, .passwordExpired:
            outcome.userMessage = outcome.message?.sentence
        default: break
        }
        outcome.statusType = body["status"]?.string?.nonEmpty?.bounded(to: 256)
        outcome.traceID = Self.traceID(of: body)
        return outcome
    }

    /// The id by which PingOne finds an error again.
    static func traceID(of body: JSONValue) -> String? {
        (body["id"] ?? body["correlationId"])?.string?.nonEmpty?.bounded(to: 256)
    }

    private var decided: Outcome {
        if forgeRock.status >= 500 { return .unavailable(forgeRock.interpretation) }
        if Self.isOver(body) || body["error"].map(Self.isOver) == true {
            var outcome = forgeRock.failure(.flowExpired, [.restartFlow])
            if forgeRock.presented == .state { outcome.tokenAction = .clear }
            return outcome
        }
        if isBrokenSession {
            var outcome = forgeRock.failure(.credentialRejected, [.reauthenticate])
            outcome.scope = .credential
            outcome.credential = .session
            if forgeRock.presented == .session { outcome.tokenAction = .clear }
            return outcome
        }
        if case .array(let requirements)? = Self.search(body, for: "unsatisfiedRequirements"), !requirements.isEmpty {
            let isPassword = target.map { $0.lowercased().holds("password") } ?? true
            var outcome = forgeRock.failure(isPassword ? .passwordRejected : .invalidRequest, [.askUser])
            outcome.parameter = target
            outcome.details = .array(Array(requirements.prefix(64)))
            return outcome
        }
        let rules = codes.lazy.compactMap { PingOneErrorRule(code: $0) }
        if let rule = rules.first(where: { $0 != .general }) { return outcome(of: rule) }
        if isLocked { return outcome(of: .locked) }
        let text = body["code"]?.string?.lowercased() ?? ""
        if Self.search(body, for: "failuresRemaining") != nil || text.holds("invalid username")
            || text.holds("invalid_credentials") || text.holds("invalidcredentials")
        {
            return forgeRock.failure(.invalidCredentials, [.askUser])
        }
        if let state = Self.state(of: body) { return outcome(of: state) }
        if (200..<400).contains(forgeRock.status) { return forgeRock.failure(.unknown) }
        // One of the API's own words with nothing about a value that a person has given.
        let isGeneral = rules.first != nil && target == nil
        var outcome = forgeRock.failure(.invalidRequest, [isGeneral ? .fixRequest : .askUser])
        outcome.parameter = target
        return outcome
    }

    private func outcome(of rule: PingOneErrorRule) -> Outcome {
        switch rule {
        case .done: return forgeRock.failure(.ok)
        case .wantsPassword, .wantsCode: return forgeRock.failure(.continue, [.askUser])
        case .locked, .passwordLocked: return locked
        case .wrongCode:
            let left = Self.search(body, for: "attemptsRemaining")?.lenientNumber
            return left.map { $0.double <= 0 } == true
                ? forgeRock.failure(.challengeExpired, [.newChallenge])
                : forgeRock.failure(.challengeIncorrect, [.askUser])
        case .passwordExpired, .mustChangePassword: return forgeRock.failure(.passwordExpired, [.changePassword])
        case .noPassword, .externalPassword: return forgeRock.failure(.factorUnavailable, [.switchFactor])
        case .requestLimited: return .throttled(forgeRock.interpretation, scope: .origin)
        case .invalidToken: return refusedToken
        case .accessFailed: return forgeRock.failure(.permissionDenied, [.contactAdmin])
        case .notFound: return forgeRock.failure(.notFound)
        case .notUnique:
            var outcome = forgeRock.failure(.conflict)
            outcome.parameter = target
            return outcome
        case .unexpected: return forgeRock.fault
        case .general: return forgeRock.failure(.invalidRequest, [.fixRequest])
        }
    }

    /// PingOne refuses the token that was presented; about a session of another server's it says nothing definite.
    private var refusedToken: Outcome {
        let presented = forgeRock.presented
        let isToken = presented == .access || presented == .refresh
        var outcome = forgeRock.failure(.credentialRejected, [.reauthenticate])
        outcome.scope = .credential
        outcome.credential = isToken || presented == .session ? presented : .access
        if outcome.credential == .access { outcome.remedies = [.refreshCredential, .reauthenticate] }
        if isToken { outcome.tokenAction = .clear }
        return outcome
    }

    private var locked: Outcome {
        var outcome = forgeRock.failure(.accountLocked, [.contactAdmin])
        outcome.scope = .account
        outcome.lockout = .indefinite
        if let time = Self.search(body, for: "secondsUntilUnlock")?.lenientNumber, time.double >= 0 {
            outcome.lockout = .remaining(.saturating(seconds: time.double))
            outcome.remedies = [.wait, .contactAdmin]
        }
        return outcome
    }

    /// Whether the account, or the state of its password, is said to be locked.
    private var isLocked: Bool {
        ["account", "password"].contains { part in
            let status = Self.search(body, for: part)?["status"]?.string
            return status == "LOCKED" || status == "PASSWORD_LOCKED_OUT"
        }
    }

    /// What the error is about.
    private var target: String? { Self.search(body, for: "target")?.string?.nonEmpty?.bounded(to: 256) }

    /// The codes, the innermost first: the outer ones say the same in more general words.
    private var codes: [String] { Array(Self.codes(in: body).reversed()) }

    private static func codes(in value: JSONValue, depth: Int = 0) -> [String] {
        guard depth < 8 else { return [] }
        var codes = [value["code"]?.string].compactMap { $0?.bounded(to: 256) }
        for key in ["error", "rawResponse", "details", "innerError"] {
            guard let inner = value[key] else { continue }
            for element in inner.array?.prefix(16) ?? [inner] { codes += Self.codes(in: element, depth: depth + 1) }
        }
        return codes
    }

    /// Whether the flow has ended, though its text may say "try again".
    private static func isOver(_ body: JSONValue) -> Bool {
        let timedOut = body["requestTimedOut"]
        return body["code"]?.codeText == "1999" || body["code"]?.string == "requestTimedOut"
            || (timedOut != nil && timedOut?.bool != false && timedOut?.isNull != true)
    }

    private var isBrokenSession: Bool {
        let capability = Self.search(body, for: "capabilityName")?.string
        return Self.search(body, for: "connectorId")?.string == "pingOneAuthenticationConnector"
            && (capability == "setSession" || capability == "returnSuccessResponseRedirect")
    }

    private var innerCode: String? {
        let raw = Self.search(body, for: "rawResponse")?["code"]?.codeText?.bounded(to: 256)
        return raw ?? Self.codes(in: body).dropFirst().last
    }

    /// The first member with the key, as deep as such answers nest their details.
    private static func search(_ value: JSONValue, for key: String, depth: Int = 0) -> JSONValue? {
        guard depth < 8 else { return nil }
        if let found = value[key] { return found }
        let inner = value.members?.prefix(64).map(\.value) ?? value.array.map { Array($0.prefix(16)) } ?? []
        for element in inner {
            if let found = search(element, for: key, depth: depth + 1) { return found }
        }
        return nil
    }
}
