extension SandboxForgeRockSettings {
    /// Takes over the keys that the object has and leaves the others.
    mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(value, path: path)
        realms = try reader.strings("realms").map { $0.map(Self.realm) } ?? realms
        defaultJourney = try Self.journey(reader.string("default_journey"), path) ?? defaultJourney
        stepUpJourney = try Self.journey(reader.string("step_up_journey"), path) ?? stepUpJourney
        if let name = try reader.string("cookie_name") {
            guard Self.isCookieName(name) else { throw reader.wrong("cookie_name", "letters, digits, - and _") }
            cookieName = name
        }
        requiresVersion = try reader.bool("api_version_required") ?? requiresVersion
        if let status = try reader.int("unknown_version_status", 404...406) { unknownVersionStatus = Int(status) }
        tellsNumbers = try reader.bool("error_numbers") ?? tellsNumbers
        stepLifetime = try reader.seconds("step_lifetime_s") ?? stepLifetime
        expiredForm = try reader.word("expired_form", of: ["error_code", "text_400", "status_408"]) ?? expiredForm
        suspendedLifetime = try reader.seconds("suspended_lifetime_s") ?? suspendedLifetime
        isSticky = try reader.bool("sticky") ?? isSticky
        if let value = reader.value("lockout") { try lockout.update(from: value, path: "\(path).lockout") }
        loginAttempts = try reader.int("login_attempts", 1...1_000_000) ?? loginAttempts
        sessionDialect = try reader.word("session_dialect", of: ["am", "openam"]) ?? sessionDialect
        sessionIdle = try reader.seconds("session_idle_s") ?? sessionIdle
        sessionLife = try reader.seconds("session_life_s") ?? sessionLife
        sessionQuota = try reader.int("session_quota", 0...1_000_000) ?? sessionQuota
        pollCount = try reader.int("poll_count", 0...1_000_000) ?? pollCount
        pollWait = try reader.seconds("poll_wait_s") ?? pollWait
        codeLifetime = try reader.seconds("code_lifetime_s") ?? codeLifetime
        codeAttempts = try reader.int("code_attempts", 1...1_000_000) ?? codeAttempts
        if let value = reader.value("fixed_code") {
            guard value == .null || value.string != nil else { throw reader.wrong("fixed_code", "a string or null") }
            fixedCode = value.string
        }
        relyingPartyID = try reader.string("relying_party_id") ?? relyingPartyID
        origins = try reader.strings("origins") ?? origins
        webAuthnForm = try reader.word("webauthn_form", of: ["metadata", "old_metadata", "script"]) ?? webAuthnForm
        wantsJSONOutcome = try reader.bool("json_outcome") ?? wantsJSONOutcome
        let requirements = ["required", "preferred", "discouraged"]
        userVerification = try reader.word("user_verification", of: requirements) ?? userVerification
        webAuthnTimeout = try reader.seconds("webauthn_timeout_s") ?? webAuthnTimeout
        adviceCarrier = try reader.word("advice_carrier", of: ["redirect", "header", "body"]) ?? adviceCarrier
        adviceEncoding = try reader.word("advice_encoding", of: ["xml", "base64"]) ?? adviceEncoding
        transactionLifetime = try reader.seconds("transaction_lifetime_s") ?? transactionLifetime
        refreshGrace = try reader.seconds("refresh_grace_s") ?? refreshGrace
        try reader.finish()
    }

    /// A realm as a path: `alpha` is `/alpha`.
    private static func realm(_ text: String) -> String {
        "/" + text.split(separator: "/").joined(separator: "/")
    }

    private static func journey(_ name: String?, _ path: String) throws(SandboxError) -> String? {
        guard let name else { return nil }
        guard ForgeRockTree.all[name] != nil else {
            let known = ForgeRockTree.all.keys.sorted().joined(separator: ", ")
            throw SandboxError(.invalidInput, "\(path): there is no journey \"\(name)\"; there are \(known)")
        }
        return name
    }

    private static func isCookieName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy { byte in
                let character = Character(Unicode.Scalar(byte))
                return character.isASCII && (character.isLetter || character.isNumber || "-_".contains(character))
            }
    }

    /// The settings as `GET /_sandbox/settings` shows them.
    var json: JSONValue {
        [
            "realms": .array(realms.map(JSONValue.string)),
            "default_journey": .string(defaultJourney),
            "step_up_journey": .string(stepUpJourney),
            "cookie_name": .string(cookieName),
            "api_version_required": .bool(requiresVersion),
            "unknown_version_status": .int(Int64(unknownVersionStatus)),
            "error_numbers": .bool(tellsNumbers),
            "step_lifetime_s": .seconds(stepLifetime),
            "expired_form": .string(expiredForm),
            "suspended_lifetime_s": .seconds(suspendedLifetime),
            "sticky": .bool(isSticky),
            "lockout": lockout.json,
            "login_attempts": .int(loginAttempts),
            "session_dialect": .string(sessionDialect),
            "session_idle_s": .seconds(sessionIdle),
            "session_life_s": .seconds(sessionLife),
            "session_quota": .int(sessionQuota),
            "poll_count": .int(pollCount),
            "poll_wait_s": .seconds(pollWait),
            "code_lifetime_s": .seconds(codeLifetime),
            "code_attempts": .int(codeAttempts),
            "fixed_code": .optional(fixedCode),
            "relying_party_id": .string(relyingPartyID),
            "origins": .array(origins.map(JSONValue.string)),
            "webauthn_form": .string(webAuthnForm),
            "json_outcome": .bool(wantsJSONOutcome),
            "user_verification": .string(userVerification),
            "webauthn_timeout_s": .seconds(webAuthnTimeout),
            "advice_carrier": .string(adviceCarrier),
            "advice_encoding": .string(adviceEncoding),
            "transaction_lifetime_s": .seconds(transactionLifetime),
            "refresh_grace_s": .seconds(refreshGrace),
        ]
    }
}

extension SandboxForgeRockSettings.Lockout {
    fileprivate mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(value, path: path)
        threshold = try reader.int("threshold", 0...1_000_000) ?? threshold
        warnAt = try reader.int("warn_at", 0...1_000_000) ?? warnAt
        if let value = reader.value("duration_s") {
            duration = value == .null ? nil : try ObjectReader.milliseconds(value, what: "\(path).duration_s")
        }
        statesTime = try reader.bool("states_time") ?? statesTime
        try reader.finish()
    }

    fileprivate var json: JSONValue {
        [
            "threshold": .int(threshold),
            "warn_at": .int(warnAt),
            "duration_s": duration.map(JSONValue.seconds) ?? .null,
            "states_time": .bool(statesTime),
        ]
    }
}
