#if Redis
public import HTTPRecovery

extension RedisStore.Configuration {
    /// Creates a configuration from a URL; all it does not say is as in the other initialiser.
    ///
    /// - `redis://[[user]:password@]host[:port][,host[:port]…][/database]`; port 6379, database 0. Several hosts are
    ///   nodes of a cluster.
    /// - `redis+sentinel://[[user]:password@]host[:port][,host[:port]…]/primary[/database]`; port 26379. The hosts are
    ///   Sentinels, which are asked for the primary of that name; user and password are the servers'.
    /// - `rediss://…`, `rediss+sentinel://…` the same over TLS, verified against the system's certificates
    /// - `redis+unix://[[user]:password@]/path/of/socket[?db=database]`, also as `unix://`
    /// - a path that begins with `/`: a socket
    ///
    /// User, password, host, name and path may be percent-encoded (RFC 3986); an IPv6 address stands in brackets.
    ///
    /// - Throws: `SharedState.StoreError` that says which part cannot be read, without showing it.
    public init(url: String) throws(SharedState.StoreError) {
        self.init()
        if url.hasPrefix("/") {
            endpoint = .unix(path: url)
            return
        }
        let parts = url.utf8.range(of: "://".utf8)
        guard let parts else { throw .url("a scheme: redis://, rediss://, redis+sentinel:// or redis+unix://") }
        let rest = url[parts.upperBound...]
        switch url[..<parts.lowerBound].lowercased() {
        case "redis": try readNetwork(rest)
        case "rediss":
            tls = RedisStore.TLS()
            try readNetwork(rest)
        case "redis+sentinel": try readSentinels(rest)
        case "rediss+sentinel":
            tls = RedisStore.TLS()
            try readSentinels(rest)
        case "redis+unix", "unix": try readSocket(rest)
        default: throw .url("another scheme: redis://, rediss://, redis+sentinel:// or redis+unix://")
        }
    }

    private mutating func readNetwork(_ text: Substring) throws(SharedState.StoreError) {
        let path = try readHosts(text, port: 6379)
        if !path.isEmpty { database = try Self.database(path) }
    }

    private mutating func readSentinels(_ text: Substring) throws(SharedState.StoreError) {
        let path = try readHosts(text, port: 26_379)
        let end = path.utf8.firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
        let name = try Self.decoded(path[..<end])
        guard !name.isEmpty else { throw .url("the name of the primary behind the Sentinels: /mymaster") }
        sentinel = RedisStore.Sentinel(primary: name)
        let number = path[end...].dropFirst()
        if !number.isEmpty { database = try Self.database(number) }
    }

    /// Takes user, password and all hosts off the front; what is left is the path without its slash.
    private mutating func readHosts(_ text: Substring, port: Int) throws(SharedState.StoreError) -> Substring {
        guard text.utf8.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) == nil else {
            throw .url("no query and no fragment; percent-encode '?' and '#' in a password")
        }
        let end = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.endIndex
        let addresses = try readUserInfo(text[..<end])
        var endpoints: [RedisStore.Endpoint] = []
        for address in addresses.split(separator: ",", omittingEmptySubsequences: false) {
            endpoints.append(try Self.endpoint(address, port: port))
        }
        guard let first = endpoints.first else { throw .url("a host") }
        endpoint = first
        alternatives = Array(endpoints.dropFirst())
        return text[end...].dropFirst()
    }

    private static func endpoint(
        _ address: Substring,
        port usual: Int
    ) throws(SharedState.StoreError) -> RedisStore.Endpoint {
        var host = address
        var port: Substring?
        if address.hasPrefix("[") {
            guard let close = address.utf8.firstIndex(of: UInt8(ascii: "]")) else {
                throw .url("a ']' after the address")
            }
            host = address[address.index(after: address.startIndex)..<close]
            let after = address[address.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw .url("a ':' between address and port") }
            port = after.isEmpty ? nil : after.dropFirst()
        } else if let colon = address.utf8.firstIndex(of: UInt8(ascii: ":")) {
            host = address[..<colon]
            port = address[address.index(after: colon)...]
            if port?.utf8.contains(UInt8(ascii: ":")) == true { throw .url("brackets around an IPv6 address") }
        }
        let name = try decoded(host)
        guard !name.isEmpty else { throw .url("a host") }
        guard let port, !port.isEmpty else { return .tcp(host: name, port: usual) }
        guard let value = number(port), (1...65_535).contains(value) else { throw .url("a port, 1 to 65535") }
        return .tcp(host: name, port: value)
    }

    private mutating func readSocket(_ text: Substring) throws(SharedState.StoreError) {
        var text = text
        if let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) {
            let query = text[text.index(after: mark)...]
            text = text[..<mark]
            guard query.hasPrefix("db=") else { throw .url("no query but 'db=' and a number") }
            database = try Self.database(query.dropFirst(3))
        }
        let path = try readUserInfo(text)
        guard path.hasPrefix("/") else { throw .url("an absolute path: redis+unix:///run/redis.sock") }
        endpoint = .unix(path: try Self.decoded(path))
    }

    /// Takes user and password off the front; the last `@` ends them, as a password may hold one.
    private mutating func readUserInfo(_ text: Substring) throws(SharedState.StoreError) -> Substring {
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return text }
        let info = text[..<at]
        if let colon = info.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let name = try Self.decoded(info[..<colon])
            user = name.isEmpty ? nil : name
            password = RedisStore.Password(try Self.decoded(info[info.index(after: colon)...]))
        } else if !info.isEmpty {
            throw .url("a password after the user: user:password@, or :password@ for the default user")
        }
        return text[text.index(after: at)...]
    }

    private static func database(_ text: Substring) throws(SharedState.StoreError) -> Int {
        guard let value = number(text) else { throw .url("a number as the database") }
        return value
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...9).contains(text.utf8.count) else { return nil }
        return text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
    }

    private static func decoded(_ text: Substring) throws(SharedState.StoreError) -> String {
        let (bytes, isWhole) = PercentEncoding.decode(text.utf8)
        guard isWhole else { throw .url("two hexadecimal digits after each '%'") }
        guard let result = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw .url("percent-encoded UTF-8 without zero bytes")
        }
        return result
    }
}

extension SharedState.StoreError {
    fileprivate static func url(_ expected: String) -> SharedState.StoreError {
        SharedState.StoreError("the URL of the Redis server cannot be read; it needs \(expected)")
    }
}
#endif
