/// How Facebook behaves: the keys of `settings.facebook`.
///
/// Durations are seconds in JSON (fractions allowed) and milliseconds here.
public struct SandboxFacebookSettings: Sendable, Equatable {
    /// `app_id`.
    ///
    /// Default: `123456789012345`.
    public var appID = "123456789012345"
    /// `app_secret`.
    ///
    /// Default: `app-secret-of-the-sandbox`.
    public var appSecret = "app-secret-of-the-sandbox"
    /// `client_token`: what the device login presents, after the app's id.
    ///
    /// Default: `client-token-of-the-sandbox`.
    public var clientToken = "client-token-of-the-sandbox"
    /// `require_proof`: calls of Graph need an `appsecret_proof`; one that is wrong is refused in any case.
    ///
    /// Default: false.
    public var requiresProof = false
    /// `token_life_s`: the life of a token that a sign-in issues.
    ///
    /// Default: 2 hours.
    public var tokenLife: Int64 = 7_200_000
    /// `long_token_life_s`: the life of a token that another one was exchanged for.
    ///
    /// Default: 60 days.
    public var longTokenLife: Int64 = 5_184_000_000
    /// `code_life_s`: how long a code of the login dialog can be exchanged.
    ///
    /// Default: 10 minutes.
    public var codeLife: Int64 = 600_000
    /// `device_life_s`: how long a device login lasts.
    ///
    /// Default: 7 minutes.
    public var deviceLife: Int64 = 420_000
    /// `device_interval_s`: how often a device may ask.
    ///
    /// Default: 5 s.
    public var deviceInterval: Int64 = 5000
    /// `device`: what becomes of a device login by itself: `{"polls": 2, "decision": "approve", "user": "…"}`.
    ///
    /// Nil (`null`): somebody decides.
    public var device: DeviceScript?
    /// `hide_subcodes`: a refused token is answered with 190 alone, and only the debugger tells why.
    ///
    /// Default: false.
    public var hidesSubcodes = false
    /// `string_codes`: codes are written as text.
    ///
    /// Default: false.
    public var writesCodesAsText = false
    /// `errors_in_200`: errors come with the status 200.
    ///
    /// Default: false.
    public var errorsInSuccess = false
    /// `challenge`: a refused token is answered with a challenge too, in Facebook's own syntax.
    ///
    /// Default: true.
    public var sendsChallenge = true
    /// `app_limit`: how many calls the app has: `{"count": 200, "per_s": 3600}`; nil (`null`) is without limit.
    public var appLimit: SandboxSettings.Limit?
    /// `limit_transient`: what `is_transient` says where a limit is reached; nil (`null`) leaves it out.
    ///
    /// Default: true.
    public var limitIsTransient: Bool? = true
    /// `limit_retry_after`: a refusal tells the time in `Retry-After`, as a proxy may.
    ///
    /// Default: false.
    public var limitStatesTime = false
    /// `early_call_s`: this much longer a block lasts for each call that comes while it lasts, but the first,
    /// which learns of it.
    ///
    /// Default: 60 s.
    public var earlyCallPenalty: Int64 = 60_000
    /// `app_usage`: what `X-App-Usage` says, in percent; nil (`null`) for the truth where there is an `app_limit`.
    public var appUsage: Int64?
    /// `business_usage`: what `X-Business-Use-Case-Usage` says below `act_…`; nil (`null`) for no header.
    public var businessUsage: BusinessUsage?

    /// Creates the documented behaviour.
    public init() {}

    /// What becomes of a device login by itself.
    public struct DeviceScript: Sendable, Equatable {
        /// `polls`: after this many polls that were answered with "not yet".
        public var polls: Int64
        /// `decision`: `approve` or `deny`.
        public var decision: String
        /// `user`: who approves.
        public var user: String

        /// Creates a script.
        public init(polls: Int64, decision: String = "approve", user: String = "ada@example.com") {
            (self.polls, self.decision, self.user) = (polls, decision, user)
        }
    }

    /// `{"type": "ads_insights", "percent": 90, "regain_min": 0}`.
    public struct BusinessUsage: Sendable, Equatable {
        /// `type`.
        public var type: String
        /// `percent`.
        public var percent: Int64
        /// `regain_min`: the minutes until access is regained.
        public var regain: Int64

        /// Creates what the header says.
        public init(type: String, percent: Int64, regain: Int64 = 0) {
            (self.type, self.percent, self.regain) = (type, percent, regain)
        }
    }
}

extension SandboxFacebookSettings {
    /// Takes over the keys that the object has and leaves the others.
    mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(value, path: path)
        appID = try reader.string("app_id") ?? appID
        guard FacebookRoute.isID(appID), !appID.contains("_") else { throw reader.wrong("app_id", "digits") }
        appSecret = try reader.string("app_secret") ?? appSecret
        clientToken = try reader.string("client_token") ?? clientToken
        requiresProof = try reader.bool("require_proof") ?? requiresProof
        tokenLife = try reader.seconds("token_life_s") ?? tokenLife
        longTokenLife = try reader.seconds("long_token_life_s") ?? longTokenLife
        codeLife = try reader.seconds("code_life_s") ?? codeLife
        deviceLife = try reader.seconds("device_life_s") ?? deviceLife
        deviceInterval = try reader.seconds("device_interval_s") ?? deviceInterval
        if let value = reader.value("device") { device = try Self.script(value, "\(path).device") }
        hidesSubcodes = try reader.bool("hide_subcodes") ?? hidesSubcodes
        writesCodesAsText = try reader.bool("string_codes") ?? writesCodesAsText
        errorsInSuccess = try reader.bool("errors_in_200") ?? errorsInSuccess
        sendsChallenge = try reader.bool("challenge") ?? sendsChallenge
        if let value = reader.value("app_limit") { appLimit = try .init(value, path: "\(path).app_limit") }
        if let value = reader.value("limit_transient") {
            guard value == .null || value.bool != nil else {
                throw reader.wrong("limit_transient", "a boolean or null")
            }
            limitIsTransient = value.bool
        }
        limitStatesTime = try reader.bool("limit_retry_after") ?? limitStatesTime
        earlyCallPenalty = try reader.seconds("early_call_s") ?? earlyCallPenalty
        if let value = reader.value("app_usage") {
            guard value == .null || value.int.map({ (0...100_000).contains($0) }) == true else {
                throw reader.wrong("app_usage", "a number of percent or null")
            }
            appUsage = value.int
        }
        if let value = reader.value("business_usage") {
            businessUsage = try Self.usage(value, "\(path).business_usage")
        }
        try reader.finish()
    }

    private static func script(_ value: JSONValue, _ path: String) throws(SandboxError) -> DeviceScript? {
        if value == .null { return nil }
        var reader = try ObjectReader(value, path: path)
        var script = DeviceScript(polls: try reader.int("polls", 0...1_000_000) ?? 0)
        script.decision = try reader.word("decision", of: ["approve", "deny"]) ?? script.decision
        script.user = try reader.string("user") ?? script.user
        try reader.finish()
        return script
    }

    private static func usage(_ value: JSONValue, _ path: String) throws(SandboxError) -> BusinessUsage? {
        if value == .null { return nil }
        var reader = try ObjectReader(value, path: path)
        let usage = BusinessUsage(
            type: try reader.string("type") ?? "ads_insights",
            percent: try reader.int("percent", 0...100_000) ?? 0,
            regain: try reader.int("regain_min", 0...1_000_000) ?? 0
        )
        try reader.finish()
        return usage
    }

    /// The settings as `GET /_sandbox/settings` shows them.
    var json: JSONValue {
        [
            "app_id": .string(appID),
            "app_secret": .string(appSecret),
            "client_token": .string(clientToken),
            "require_proof": .bool(requiresProof),
            "token_life_s": .seconds(tokenLife),
            "long_token_life_s": .seconds(longTokenLife),
            "code_life_s": .seconds(codeLife),
            "device_life_s": .seconds(deviceLife),
            "device_interval_s": .seconds(deviceInterval),
            "device": device.map {
                ["polls": .int($0.polls), "decision": .string($0.decision), "user": .string($0.user)]
            } ?? .null,
            "hide_subcodes": .bool(hidesSubcodes),
            "string_codes": .bool(writesCodesAsText),
            "errors_in_200": .bool(errorsInSuccess),
            "challenge": .bool(sendsChallenge),
            "app_limit": appLimit.map { ["count": .int($0.count), "per_s": .seconds($0.per)] } ?? .null,
            "limit_transient": limitIsTransient.map(JSONValue.bool) ?? .null,
            "limit_retry_after": .bool(limitStatesTime),
            "early_call_s": .seconds(earlyCallPenalty),
            "app_usage": .optional(appUsage),
            "business_usage": businessUsage.map {
                ["type": .string($0.type), "percent": .int($0.percent), "regain_min": .int($0.regain)]
            } ?? .null,
        ]
    }
}
