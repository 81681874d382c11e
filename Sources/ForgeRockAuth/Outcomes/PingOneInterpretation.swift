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
            || Self.isOver(body) || Self.search(body, for: "rawResponse") != nil
            || (body["status"]?.string == "FAILED" && body["error"]?["code"] != nil)
        guard isFlow else { return nil }
        let isError = forgeRock.status >= 400 || body["status"]?.string == "FAILED"
        guard isError, forgeRock.status < 500 else { return nil }
        self.forgeRock = forgeRock
        self.body = body
    }

    var outcome: Outcome {
        var outcome = decided
        let code = body["code"] ?? body["error"]?["code"]
        outcome.code = code?.codeText?.bounded(to: 256)
        outcome.subcode = innerCode
        outcome.message = (body["message"] ?? body["error"]?["message"])?.string?.nonEmpty?.bounded(to: 4096)
        switch outcome.kind {
        case .invalidCredentials, .passwordRejected, .invalidRequest: outcome.userMessage = outcome.message?.sentence
        default: break
        }
        outcome.statusType = body["status"]?.string?.nonEmpty?.bounded(to: 256)
        outcome.traceID = body["id"]?.string?.nonEmpty?.bounded(to: 256)
        return outcome
    }

    private var decided: Outcome {
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
        if (200..<400).contains(forgeRock.status) { return forgeRock.failure(.unknown) }
        if case .array(let requirements)? = Self.search(body, for: "unsatisfiedRequirements"), !requirements.isEmpty {
            let target = Self.search(body, for: "target")?.string?.nonEmpty?.bounded(to: 256)
            let isPassword = target.map { $0.lowercased().holds("password") } ?? true
            var outcome = forgeRock.failure(isPassword ? .passwordRejected : .invalidRequest, [.askUser])
            outcome.parameter = target
            outcome.details = .array(Array(requirements.prefix(64)))
            return outcome
        }
        let text = body["code"]?.string?.lowercased() ?? ""
        if Self.search(body, for: "innerError")?["code"]?.string == "PASSWORD_LOCKED_OUT"
            || [innerCode, body["code"]?.string].contains("PASSWORD_LOCKED_OUT")
        {
            var outcome = forgeRock.failure(.accountLocked, [.contactAdmin])
            outcome.scope = .account
            outcome.lockout = .indefinite
            return outcome
        }
        if Self.search(body, for: "failuresRemaining") != nil || text.holds("invalid username")
            || text.holds("invalid_credentials") || text.holds("invalidcredentials")
        {
            return forgeRock.failure(.invalidCredentials, [.askUser])
        }
        var outcome = forgeRock.failure(.invalidRequest, [.askUser])
        outcome.parameter = Self.search(body, for: "target")?.string?.nonEmpty?.bounded(to: 256)
        return outcome
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
        Self.search(body, for: "rawResponse")?["code"]?.codeText?.bounded(to: 256)
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
