#if Redis
import HTTPRecovery

extension RedisStore.Configuration {
    /// The same with every number within its range.
    ///
    /// - Throws: `SharedState.StoreError` that says what has to be changed.
    func validated() throws(SharedState.StoreError) -> RedisStore.Configuration {
        var copy = self
        copy.connectTimeout = max(.milliseconds(1), min(connectTimeout, .seconds(3600)))
        copy.commandTimeout = max(.milliseconds(1), min(commandTimeout, .seconds(3600)))
        copy.gateFreshness = max(.zero, min(gateFreshness, .seconds(60)))
        copy.maxPendingCommands = max(1, maxPendingCommands)
        // Braces would move the hash tag, and with it the keys of one command to several nodes.
        guard (1...200).contains(namespace.utf8.count), !namespace.utf8.contains(where: { $0 == 0x7b || $0 == 0x7d })
        else {
            throw SharedState.StoreError(
                "the namespace of the Redis store needs 1 to 200 bytes without braces; change it"
            )
        }
        guard database >= 0 else {
            throw SharedState.StoreError("the number of the Redis database is negative; use 0 or more")
        }
        guard user == nil || password != nil else {
            throw SharedState.StoreError("the Redis store has a user without a password; set both")
        }
        guard alternatives.count < 64 else {
            throw SharedState.StoreError("the Redis store has more than 64 endpoints; name a few of them")
        }
        for endpoint in [endpoint] + alternatives { try endpoint.check(isEncrypted: tls != nil) }
        if let sentinel {
            guard !sentinel.primary.isEmpty else {
                throw SharedState.StoreError("the name is missing that the Sentinels know the Redis primary by")
            }
            guard sentinel.user == nil || sentinel.password != nil else {
                throw SharedState.StoreError("the Sentinels have a user without a password; set both")
            }
        }
        return copy
    }
}

extension RedisStore.Endpoint {
    fileprivate func check(isEncrypted: Bool) throws(SharedState.StoreError) {
        switch choice {
        case .tcp(let host, let port):
            guard (1...65_535).contains(port) else {
                throw SharedState.StoreError("the port of the Redis server is not 1 to 65535")
            }
            guard !host.isEmpty, !host.utf8.contains(0) else {
                throw SharedState.StoreError("the Redis server's host is missing")
            }
        case .unix(let path):
            guard (1...107).contains(path.utf8.count), !path.utf8.contains(0) else {
                throw SharedState.StoreError("the path of the Redis server's socket needs 1 to 107 bytes")
            }
            guard !isEncrypted else {
                throw SharedState.StoreError("a Unix socket is not encrypted; remove the TLS settings")
            }
        }
    }
}
#endif
