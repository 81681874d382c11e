import AuthCryptography
public import AuthRecovery
public import Configuration
public import HTTPRecovery
public import Logging
import RecoveryService
import RedisRecoveryStore
import SQLiteRecoveryStore

/// How the gateway is set up.
///
/// | key | environment | what it is |
/// |---|---|---|
/// | `listen` | `LISTEN` | where to listen: `HOST:PORT`; `127.0.0.1:8081` by default |
/// | `oauth.token_url` | `OAUTH_TOKEN_URL` | the token endpoint |
/// | `oauth.client_id` | `OAUTH_CLIENT_ID` | who asks |
/// | `oauth.client_secret` | `OAUTH_CLIENT_SECRET` | the client's secret |
/// | `oauth.scope` | `OAUTH_SCOPE` | what is asked for; the server's default if it is absent |
/// | `api.url` | `API_URL` | what the names of resources are appended to |
/// | `api.…` | `API_…` | how calls recover: the keys of a policy, `interactive` with a breaker by default |
/// | `state` | `STATE` | what outlives the process: a SQLite file or a `redis://` URL; nothing if it is absent |
/// | `state_key` | `STATE_KEY` | seals the tokens there: 32 bytes in Base64; they are stored plain if it is absent |
/// | `shutdown.notice_s` | `SHUTDOWN_NOTICE_S` | seconds between "not ready" and the end of listening; 5 by default |
/// | `shutdown.drain_s` | `SHUTDOWN_DRAIN_S` | seconds that calls under way may take then; 20 by default |
/// | `log.level` | `LOG_LEVEL` | `trace` to `critical`; `info` by default |
public struct GatewayConfiguration: Sendable {
    /// Something that is missing, or is not what it should be.
    public struct Invalid: Error, CustomStringConvertible {
        /// The key, and what is wrong with it; no value.
        public let description: String
    }

    /// The address to listen on.
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
    /// What is logged at least.
    public var logLevel: Logger.Level

    /// Reads it.
    ///
    /// - Throws: ``Invalid``, or another error that names the key.
    public init(config: ConfigReader) throws {
        func required(_ key: ConfigKey) throws -> String {
            guard let text = config.string(forKey: key), !text.isEmpty else {
                throw Invalid(description: "\(key) is not configured")
            }
            return text
        }
        func seconds(_ key: ConfigKey, default fallback: Double) throws -> Duration {
            let seconds = config.double(forKey: key, default: fallback)
            guard (0...300).contains(seconds) else { throw Invalid(description: "\(key) is a number from 0 to 300") }
            return .seconds(seconds)
        }
        let listen = config.string(forKey: "listen", default: "127.0.0.1:8081")
        guard let colon = listen.lastIndex(of: ":"), let port = UInt16(listen[listen.index(after: colon)...]) else {
            throw Invalid(description: "listen is an address such as 127.0.0.1:8081")
        }
        (host, self.port) = (String(listen[..<colon]), Int(port))
        tokenURL = try required("oauth.token_url")
        clientID = try required("oauth.client_id")
        clientSecret = try Secret(config: config, forKey: "oauth.client_secret")
        scope = config.string(forKey: "oauth.scope")
        let url = try required("api.url")
        apiURL = url.hasSuffix("/") ? String(url.dropLast()) : url
        policy = try RecoveringClient.Settings(config: config.scoped(to: "api"), preset: "interactive")
        policy.breaker = policy.breaker ?? .init()
        state = config.string(forKey: "state")
        sealing = try config.string(forKey: "state_key", isSecret: true).map {
            AESGCMSealing(try SealingKey(text: Secret($0)))
        }
        notice = try seconds("shutdown.notice_s", default: 5)
        drain = try seconds("shutdown.drain_s", default: 20)
        let level = config.string(forKey: "log.level", default: "info")
        guard let level = Logger.Level(rawValue: level) else {
            throw Invalid(description: "log.level is trace, debug, info, notice, warning, error or critical")
        }
        logLevel = level
    }

    /// The store that ``state`` names.
    func store() throws -> any RecoveryStore {
        guard let state else { return InMemoryRecoveryStore() }
        guard state.contains("://") else { return SQLiteStore(path: state) }
        return try RedisStore(configuration: RedisStore.Configuration(url: state))
    }
}
