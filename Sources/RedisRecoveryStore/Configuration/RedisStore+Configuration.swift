#if Redis
extension RedisStore {
    /// Where the server is, who asks, and how long an answer may take.
    ///
    /// It can be printed: it shows no password.
    public struct Configuration: Sendable, Hashable {
        /// Where the server listens; with ``sentinel`` a Sentinel.
        public var endpoint: Endpoint

        /// Where others listen, asked in turn when the first cannot be reached; none by default.
        ///
        /// They are further nodes of a cluster or, with ``sentinel``, further Sentinels; of a cluster the nodes that are
        /// not named are found.
        public var alternatives: [Endpoint]

        /// How Sentinels are asked where the primary is; nil, the default, asks none: the endpoints are servers.
        public var sentinel: Sentinel?

        /// The user of an access control list; nil, the default, is the server's default user.
        public var user: String?

        /// The password; nil, the default, sends none.
        public var password: Password?

        /// The number of the database; 0 by default, and a cluster has no other.
        public var database: Int

        /// How the connection is encrypted; nil, the default, is not at all.
        public var tls: TLS?

        /// What all keys of the store begin with, behind a brace; `http-recovery` by default.
        ///
        /// Clients that are to know of each other use the same one.
        public var namespace: String

        /// What the names of accounts and credentials are hashed with, beside the namespace; nil by default.
        ///
        /// Clients that are to know of each other use the same one. Without it, whoever reads the server's keys and
        /// guesses an account's name can see that the guess is right; with it, only who knows it can.
        public var fingerprintSecret: Password?

        /// How long a connection may take to be there, TLS and sign-in included; 1 s by default.
        ///
        /// Nobody waits that long: a command has its own timeout while it waits for the connection.
        public var connectTimeout: Duration

        /// How long a command may take, the wait for a connection included; 200 ms by default.
        ///
        /// `SharedState` waits 250 ms by default; a shorter timeout here lets it report the store's own reason.
        public var commandTimeout: Duration

        /// For how long it may be believed, without asking, that nothing is closed; 500 ms by default.
        ///
        /// The server tells of each gate that closes. As long as it is heard of within that time, calls that no gate
        /// can hold do not ask. So a gate that another process closes is seen as soon as the message has come, within
        /// this time at most; with zero each call asks.
        public var gateFreshness: Duration

        /// The most commands that wait or are under way; 4096 by default.
        ///
        /// Further ones fail at once.
        public var maxPendingCommands: Int

        /// Creates a configuration; timeouts are kept between 1 ms and 1 hour, freshness at 1 minute at most, counts at
        /// 1 at least.
        public init(
            endpoint: Endpoint = .tcp(host: "127.0.0.1"),
            alternatives: [Endpoint] = [],
            sentinel: Sentinel? = nil,
            user: String? = nil,
            password: Password? = nil,
            database: Int = 0,
            tls: TLS? = nil,
            namespace: String = "http-recovery",
            fingerprintSecret: Password? = nil,
            connectTimeout: Duration = .seconds(1),
            commandTimeout: Duration = .milliseconds(200),
            gateFreshness: Duration = .milliseconds(500),
            maxPendingCommands: Int = 4096
        ) {
            self.endpoint = endpoint
            self.alternatives = alternatives
            self.sentinel = sentinel
            self.user = user
            self.password = password
            self.database = database
            self.tls = tls
            self.namespace = namespace
            self.fingerprintSecret = fingerprintSecret
            self.connectTimeout = connectTimeout
            self.commandTimeout = commandTimeout
            self.gateFreshness = gateFreshness
            self.maxPendingCommands = maxPendingCommands
        }
    }

    /// Where a server listens.
    public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
        enum Choice: Hashable {
            case tcp(host: String, port: Int)
            case unix(path: String)
        }

        let choice: Choice

        /// A host and a port.
        ///
        /// - Parameters:
        ///   - host: A name or an address; one of IPv6 without brackets.
        ///   - port: 1 to 65535; 6379 by default.
        public static func tcp(host: String, port: Int = 6379) -> Endpoint {
            Endpoint(choice: .tcp(host: host, port: port))
        }

        /// A socket of this machine.
        ///
        /// - Parameter path: At most 107 bytes.
        public static func unix(path: String) -> Endpoint {
            Endpoint(choice: .unix(path: path))
        }

        /// The host and port, or the path.
        public var description: String {
            switch choice {
            case .tcp(let host, let port):
                host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .unix(let path): path
            }
        }
    }

    /// How a connection is encrypted: TLS 1.2 or later, and the server's certificate is always verified.
    public struct TLS: Sendable, Hashable {
        /// The path of a file of PEM certificates to trust instead of the system's; nil by default.
        public var caFile: String?

        /// The name that the certificate has to be for, and that the server is told (SNI); the host by default.
        public var serverName: String?

        /// The paths of the client's own certificate chain and key in PEM, for a server that asks for one; nil by
        /// default.
        public var clientCertificate: ClientCertificate?

        /// Creates settings.
        public init(
            caFile: String? = nil,
            serverName: String? = nil,
            clientCertificate: ClientCertificate? = nil
        ) {
            self.caFile = caFile
            self.serverName = serverName
            self.clientCertificate = clientCertificate
        }
    }

    /// A certificate that the client shows to the server.
    public struct ClientCertificate: Sendable, Hashable {
        /// The path of the certificate chain in PEM, the client's own first.
        public var chainFile: String

        /// The path of its private key in PEM, not encrypted.
        public var keyFile: String

        /// Creates a pair of paths.
        public init(chainFile: String, keyFile: String) {
            self.chainFile = chainFile
            self.keyFile = keyFile
        }
    }
}
#endif
