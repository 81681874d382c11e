#if Redis
import HTTPRecovery

/// Asks the Sentinels where the primary is.
final class Sentinels: Sendable {
    private let name: String
    /// In the order in which they are asked: the one first that has answered last.
    private let connections: Locked<[Connection]>

    init(_ sentinel: RedisStore.Sentinel, of configuration: RedisStore.Configuration) {
        name = sentinel.primary
        var own = configuration
        own.sentinel = nil
        own.user = sentinel.user
        own.password = sentinel.password
        own.database = 0
        connections = Locked(([own.endpoint] + own.alternatives).map { Connection(own.at($0)) })
    }

    /// The primary's endpoint, by the first that answers and knows it.
    ///
    /// - Throws: `SharedState.StoreError` when none does; `CancellationError` as soon as the task is cancelled.
    func primary(by deadline: UInt64) async throws -> RedisStore.Endpoint {
        var failure = SharedState.StoreError("no Sentinel knows a Redis primary named '\(name)'; check the name")
        let all = connections.withLock { $0 }
        for (index, connection) in all.enumerated() {
            do {
                let command = Command("SENTINEL", "get-master-addr-by-name", name)
                // One that stands still leaves time for the others.
                let now = Monotonic.now()
                let share = (deadline > now ? deadline - now : 0) / UInt64(all.count - index)
                let reply = try await connection.ask(command, by: now + share)
                if case .error(let error) = reply { failure = error.storeError }
                guard case .array(let words) = reply, words.count == 2, let endpoint = try Self.endpoint(words) else {
                    continue
                }
                connections.withLock { connections in
                    guard let place = connections.firstIndex(where: { $0 === connection }) else { return }
                    connections.swapAt(0, place)
                }
                return endpoint
            } catch let error as CancellationError {
                throw error
            } catch let unsent as Unsent {
                failure = unsent.reason
            } catch let error as SharedState.StoreError {
                failure = error
            }
        }
        throw failure
    }

    private static func endpoint(_ words: [Reply]) throws(SharedState.StoreError) -> RedisStore.Endpoint? {
        let port = Int(clamping: try words[1].number())
        guard let host = String(validating: try words[0].string(), as: UTF8.self), !host.isEmpty,
            (1...65_535).contains(port)
        else { return nil }
        return .tcp(host: host, port: port)
    }

    func stop() async {
        for connection in connections.withLock({ $0 }) { await connection.stop() }
    }

    func abandon() {
        for connection in connections.withLock({ $0 }) { connection.abandon() }
    }
}
#endif
