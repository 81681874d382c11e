import AuthCryptography
public import AuthRecovery
public import Configuration
public import HTTPRecovery
import HTTPTypes
public import Logging
import RecoveryService
import RedisRecoveryStore
import SQLiteRecoveryStore

/// How the gateway is set up.
///
/// | key | environment | what it is |
/// |---|---|---|
/// | `listen` | `LISTEN` | where to listen: `HOST:PORT`, `[::1]:PORT`; `127.0.0.1:8081` by default |
/// | `oauth.token_url` | `OAUTH_TOKEN_URL` | the token endpoint |
/// | `oauth.client_id` | `OAUTH_CLIENT_ID` | who asks |
/// | `oauth.client_secret` | `OAUTH_CLIENT_SECRET` | the client's secret |
/// | `oauth.scope` | `OAUTH_SCOPE` | what is asked for; the server's default if it is absent |
/// | `api.url` | `API_URL` | what the names of resources are appended to |
/// | `api.…` | `API_…` | how calls recover: the keys of a policy, ``standardPolicy`` by default |
/// | `state` | `STATE` | what outlives the process: a SQLite file or a `redis://` URL; nothing if it is absent |
/// | `state_key` | `STATE_KEY` | seals the tokens there: 32 bytes in Base64; they are stored plain if it is absent |
/// | `shutdown.notice_s` | `SHUTDOWN_NOTICE_S` | seconds between "not ready" and the end of listening; 5 by default |
/// | `shutdown.drain_s` | `SHUTDOWN_DRAIN_S` | seconds that calls under way may take then; 20 by default |
/// | `reload_s` | `RELOAD_S` | how often it is looked whether the file of the policy has changed; 15 s by default |
/// | `log.level` | `LOG_LEVEL` | `trace` to `critical`; `info` by default |
public struct GatewayConfiguration: Sendable {
    /// Something that is missing, or is not what it should be.
    public struct Invalid: Error, CustomStringConvertible {
        /// The key, and what is wrong with it; no value.
        public let description: String

        init(description: String) {
            self.description = description
        }

        /// The same of a policy, whose keys stand behind `api`.
        init(policy problem: RecoveringClient.Settings.Invalid) {
            description = problem.key == nil ? "api: \(problem)" : "api.\(problem)"
        }
    }

    /// How calls recover where nothing is configured: `interactive`, with the library's breaker.
    public static let standardPolicy: RecoveringClient.Settings = {
        var policy = RecoveringClient.Settings.interactive
        policy.breaker = .init()
        return policy
    }()

    /// The address to listen on; one of IPv6 without brackets.
    public var host: String
    /// The port to listen on; 0 is a free one.
    public var port: Int
    /// The token endpoint.
    public var tokenURL: String
    /// The client's identifier.
    public var clientID: String
    /// The client's secret.
    public var clientSecret: Secret
    /// What is asked for; nil is the server's default.
    public var scope: String?
    /// What the names of resources are appended to, without a slash at its end.
    public var apiURL: String
    /// How calls recover.
    public var policy: RecoveringClient.Settings
    /// A SQLite file or a `redis://` URL; nil keeps nothing.
    public var state: String?
    /// What seals the tokens in the store; nil stores them plain.
    public var sealing: (any CredentialSealing)?
    /// How long the gateway goes on answering once it says that it is not ready; 0 to 300 s.
    public var notice: Duration
    /// How long calls under way may take at the end; 0 to 300 s.
    public var drain: Duration
    /// How often it is looked whether the file of the policy has changed; 1 to 3600 s.
    public var reload: Duration
    /// What is logged at least.
    public var logLevel: Logger.Level

    /// Reads it.
    ///
    /// - Throws: ``Invalid``; what is wrong with the client's secret names its key too.
    public init(config: ConfigReader) throws {
        func required(_ key: ConfigKey) throws -> String {
            guard let text = try config.text(key), !text.isEmpty else {
                throw Invalid(description: "\(key) is not configured")
            }
            return text
        }
        (host, port) = try Self.address(try config.text("listen") ?? "127.0.0.1:8081")
        tokenURL = try required("oauth.token_url")
        try Self.check("oauth.token_url") { [tokenURL] in _ = try HTTPRequest(url: tokenURL) }
        clientID = try required("oauth.client_id")
        clientSecret = try Secret(config: config, forKey: "oauth.client_secret")
        scope = try config.text("oauth.scope")
        guard scope?.isEmpty != true else {
            throw Invalid(description: "oauth.scope is empty; leave it out for the server's default")
        }
        let url = try required("api.url")
        try Self.check("api.url") { _ = try HTTPRequest(url: url) }
        // Behind one the names of resources would be a part of it, and all of them one resource.
        guard !url.utf8.contains(UInt8(ascii: "?")), !url.utf8.contains(UInt8(ascii: "#")) else {
            throw Invalid(description: "api.url has a query or a fragment, and names of resources are appended to it")
        }
        apiURL = url.hasSuffix("/") ? String(url.dropLast()) : url
        do throws(RecoveringClient.Settings.Invalid) {
            policy = try RecoveringClient.Settings(config: config.scoped(to: "api"), base: Self.standardPolicy)
        } catch {
            throw Invalid(policy: error)
        }
        // A URL of Redis may hold a password.
        state = try config.text("state", isSecret: true)
        try Self.check("state") { [state] in _ = try Self.store(of: state) }
        let key = try config.text("state_key", isSecret: true)
        sealing = try Self.check("state_key") {
            try key.map { AESGCMSealing(try SealingKey(text: Secret($0))) }
        }
        notice = try config.seconds("shutdown.notice_s", 0...300) ?? .seconds(5)
        drain = try config.seconds("shutdown.drain_s", 0...300) ?? .seconds(20)
        reload = try config.seconds("reload_s", 1...3600) ?? .seconds(15)
        guard let level = Logger.Level(rawValue: try config.text("log.level") ?? "info") else {
            throw Invalid(description: "log.level is trace, debug, info, notice, warning, error or critical")
        }
        logLevel = level
    }

    private static func address(_ text: String) throws -> (host: String, port: Int) {
        let invalid = Invalid(description: "listen is an address such as 127.0.0.1:8081 or [::1]:8081")
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw invalid
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw invalid }
        return (String(host), Int(port))
    }

    /// The host as it stands before a port: an address of IPv6 in brackets.
    var writtenHost: String { host.contains(":") ? "[\(host)]" : host }

    /// Reads what a key says; who finds something wrong with it does not know the key.
    private static func check<Value>(_ key: String, _ read: () throws -> Value) throws(Invalid) -> Value {
        do {
            return try read()
        } catch {
            throw Invalid(description: "\(key): \(error)")
        }
    }

    /// The store that ``state`` names.
    func store() throws -> any RecoveryStore { try Self.store(of: state) }

    private static func store(of state: String?) throws -> any RecoveryStore {
        guard let state else { return InMemoryRecoveryStore() }
        guard !state.isEmpty else {
            throw Invalid(description: "is empty; leave it out, or name a file of SQLite or a redis:// URL")
        }
        guard state.contains("://") else { return SQLiteStore(path: state) }
        var redis = try RedisStore.Configuration(url: state)
        // A little sooner than nobody waits for it any more: then it says itself what is wrong.
        redis.commandTimeout = storeTimeout - .milliseconds(50)
        return try RedisStore(configuration: redis)
    }

    /// How long the store is waited for: the first call cannot do without its token; later ones have it in memory.
    static let storeTimeout: Duration = .seconds(2)
}

/// Reads strictly: a value that is there and is none is named, and no default taken in its place.
extension ConfigReader {
    fileprivate typealias Invalid = GatewayConfiguration.Invalid

    fileprivate func text(_ key: ConfigKey, isSecret: Bool = false) throws -> String? {
        if let text = string(forKey: key, isSecret: isSecret) { return text }
        guard number(key, isSecret) == nil, bool(forKey: key, isSecret: isSecret) == nil, !isList(key, isSecret) else {
            throw Invalid(description: "\(key) is no text")
        }
        return nil
    }

    fileprivate func seconds(_ key: ConfigKey, _ range: ClosedRange<Double>) throws -> Duration? {
        let invalid = Invalid(
            description: "\(key) is a number of seconds from \(Int(range.lowerBound)) to \(Int(range.upperBound))"
        )
        guard let seconds = number(key, false) else {
            guard try text(key) == nil else { throw invalid }
            return nil
        }
        guard range.contains(seconds) else { throw invalid }
        return .seconds(seconds)
    }

    private func number(_ key: ConfigKey, _ isSecret: Bool) -> Double? {
        double(forKey: key, isSecret: isSecret) ?? int(forKey: key, isSecret: isSecret).map { Double($0) }
    }

    private func isList(_ key: ConfigKey, _ isSecret: Bool) -> Bool {
        stringArray(forKey: key, isSecret: isSecret) != nil || doubleArray(forKey: key, isSecret: isSecret) != nil
    }
}
