public import HTTPRecovery

/// How the checks of ``TransportConformance`` get their transports, and what these can do.
public struct TransportUnderTest: Sendable, CustomStringConvertible {
    /// What only some transports can do.
    public enum Ability: Sendable, Hashable, CaseIterable {
        /// Plain requests and responses are exchanged: over HTTP/1.1, or with a function in the same process.
        case exchanges
        /// It speaks HTTP/1.1 over real sockets.
        case sockets
        /// It speaks HTTP/2 over real sockets.
        case http2
        /// It speaks TLS, and the tests have something that ends TLS in front of a plain server.
        case tls
        /// It ends an attempt itself when its time is over (`HTTPTransport.enforcesTimeouts`).
        case enforcesTimeouts
        /// It keeps `AttemptOptions.sendLimit` itself (`HTTPTransport.keepsSendLimits`).
        case keepsSendLimits
        /// It sends a request on a new connection if it is told so (`AttemptOptions.isOnNewConnection`).
        case choosesConnections
        /// It asks for content codings by itself and undoes them.
        case decompresses
    }

    /// How the transport speaks HTTP/2.
    public enum HTTP2: Sendable, Hashable {
        /// Over plain text, to a server that is known to speak it.
        case priorKnowledge
        /// Over TLS, when the server offers it.
        case tls
    }

    /// The transport's name, as it stands in tables and test reports.
    public let name: String
    /// What the transport can do.
    public let abilities: Set<Ability>
    /// How it speaks HTTP/2; nil if it does not.
    public let http2: HTTP2?
    /// Checks that the transport fails, by their ids, with the reason.
    ///
    /// A `*` in place of a part of an id stands for any part, and at the end for any number of them:
    /// `faults/*/POST/reused`, `tls/*`.
    public let exclusions: [String: String]
    /// The fields that the transport adds to a request by itself, in lower case.
    public let addedFields: Set<String>
    /// How long a check may take before it counts as hanging; a limit that no transport meets that works.
    public let patience: Duration

    let maker: Maker
    let terminate: (@Sendable (TLSRequest) async throws -> TLSEndpoint)?

    enum Maker: Sendable {
        case sockets(@Sendable (Options) throws -> any HTTPTransport)
        case inProcess(@Sendable (Options, @escaping InProcessTransport.Handler) throws -> any HTTPTransport)
    }

    /// The fields without which there is no request of HTTP/1.1 with a body.
    public static let necessaryFields: Set<String> = ["host", "content-length", "transfer-encoding"]

    /// Describes a transport that speaks over sockets.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - abilities: Which of the abilities `enforcesTimeouts`, `keepsSendLimits`, `choosesConnections` and
    ///     `decompresses` it has; what it says of itself is compared with the first two.
    ///   - speaksHTTP1: Whether it is to be checked over HTTP/1.1; default: yes. False leaves the checks of HTTP/2.
    ///   - http2: How it speaks HTTP/2; nil (the default) if that is not to be checked.
    ///   - addedFields: The fields that it adds to a request by itself, in lower case; those without which there is no
    ///     request (``necessaryFields``) need not be named.
    ///   - exclusions: Checks that it fails, by their ids, with the reason.
    ///   - patience: How long a check may take before it counts as hanging; default: 3 minutes.
    ///   - terminate: Starts something that ends TLS in front of a plain server; nil if there is nothing, then TLS and
    ///     HTTP/2 over TLS are not checked.
    ///   - make: Makes a transport; the checks shut down what was made for them.
    public init(
        name: String,
        abilities: Set<Ability> = [],
        speaksHTTP1: Bool = true,
        http2: HTTP2? = nil,
        addedFields: Set<String> = [],
        exclusions: [String: String] = [:],
        patience: Duration = .seconds(180),
        terminate: (@Sendable (TLSRequest) async throws -> TLSEndpoint)? = nil,
        make: @escaping @Sendable (Options) throws -> any HTTPTransport
    ) {
        var all = abilities.subtracting([.exchanges, .sockets, .http2, .tls])
        if speaksHTTP1 { all.formUnion([.exchanges, .sockets]) }
        if speaksHTTP1, terminate != nil { all.insert(.tls) }
        if http2 == .priorKnowledge || http2 == .tls && terminate != nil { all.insert(.http2) }
        self.init(name, all, http2, addedFields, exclusions, patience, .sockets(make), terminate)
    }

    /// Describes a transport whose server is a function in the same process.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - abilities: Which of the abilities `enforcesTimeouts` and `keepsSendLimits` it has.
    ///   - addedFields: The fields that it adds to a request by itself, in lower case.
    ///   - exclusions: Checks that it fails, by their ids, with the reason.
    ///   - patience: How long a check may take before it counts as hanging; default: 3 minutes.
    ///   - make: Makes a transport that has its requests answered by the function.
    public init(
        inProcess name: String,
        abilities: Set<Ability> = [],
        addedFields: Set<String> = [],
        exclusions: [String: String] = [:],
        patience: Duration = .seconds(180),
        make: @escaping @Sendable (Options, @escaping InProcessTransport.Handler) throws -> any HTTPTransport
    ) {
        let all = abilities.subtracting([.sockets, .http2, .tls, .choosesConnections, .decompresses])
            .union([.exchanges])
        self.init(name, all, nil, addedFields, exclusions, patience, .inProcess(make), nil)
    }

    private init(
        _ name: String,
        _ abilities: Set<Ability>,
        _ http2: HTTP2?,
        _ addedFields: Set<String>,
        _ exclusions: [String: String],
        _ patience: Duration,
        _ maker: Maker,
        _ terminate: (@Sendable (TLSRequest) async throws -> TLSEndpoint)?
    ) {
        self.name = name
        self.abilities = abilities
        self.http2 = http2
        self.addedFields = addedFields
        self.exclusions = exclusions
        self.patience = patience
        self.maker = maker
        self.terminate = terminate
    }

    /// Makes a transport, for tests that wrap one; nobody shuts it down.
    ///
    /// - Throws: What the making of the transport throws; ``ConformanceFailure`` for one whose server is a function.
    public func makeTransport(_ options: Options = Options()) throws -> any HTTPTransport {
        guard case .sockets(let make) = maker else { throw ConformanceFailure("the transport needs a function") }
        return try make(options)
    }

    /// The name.
    public var description: String { name }

    /// The reason why a check is left out; nil if it is not.
    public func reasonForExcluding(_ id: String) -> String? {
        exclusions[id] ?? exclusions.first { Self.matches($0.key, id) }?.value
    }

    static func matches(_ pattern: String, _ id: String) -> Bool {
        let parts = pattern.split(separator: "/")
        let found = id.split(separator: "/")
        for (index, part) in parts.enumerated() {
            guard index < found.count else { return false }
            if part == "*", index == parts.count - 1 { return true }
            guard part == "*" || part == found[index] else { return false }
        }
        return parts.count == found.count
    }
}
