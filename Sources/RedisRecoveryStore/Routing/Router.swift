#if Redis
import HTTPRecovery

/// Finds the server that has the keys of a command, and asks it.
///
/// It knows the servers that the configuration names; nodes of a cluster that redirect to others, and Sentinels, tell it
/// of further ones. A command is sent once: again only if the server has said that it has not carried it out.
final class Router: Sendable {
    private struct State {
        var connections: [RedisStore.Endpoint: Connection] = [:]
        /// Which node of a cluster has a part, as far as nodes have told.
        var places: [UInt8: RedisStore.Endpoint] = [:]
        /// Who answers for what nobody has told a place of.
        var preferred: RedisStore.Endpoint?
        /// Whether keys of several parts may be on several servers.
        var isCluster = false
        var isStopped = false
    }

    /// A node that does not know where keys have gone may name one that has moved them on; more often it is a circle.
    private static let mostMoves = 8
    /// A cluster has some tens of nodes; those beyond this have gone.
    private static let mostConnections = 128

    private let configuration: RedisStore.Configuration
    private let sentinels: Sentinels?
    private let state = Locked(State())

    init(_ configuration: RedisStore.Configuration) {
        self.configuration = configuration
        sentinels = configuration.sentinel.map { Sentinels($0, of: configuration) }
    }

    // MARK: Asking

    /// Sends a command to the server that has its keys, and returns the reply.
    ///
    /// - Throws: `SharedState.StoreError` for an error reply, for a server that cannot be reached, a connection that is lost,
    ///   and after the command's timeout; `CancellationError` as soon as the task is cancelled. A command that was sent may
    ///   have been carried out all the same.
    func ask(_ command: Command) async throws -> Reply {
        let deadline = Monotonic.deadline(after: configuration.commandTimeout)
        var failed: [RedisStore.Endpoint: SharedState.StoreError] = [:]
        var asked: RedisStore.Endpoint?
        var (moves, waits) = (0, 0)
        var refusal: ServerError?
        while true {
            var request = command
            request.isAsking = asked != nil
            let place: RedisStore.Endpoint
            if let asked { place = asked } else { place = try await find(command.part, after: failed, by: deadline) }
            asked = nil
            if let error = failed[place] { throw error }
            let error: ServerError
            do {
                let reply = try await connection(to: place).ask(request, by: deadline)
                guard case .error(let failure) = reply else {
                    answered(place)
                    return reply
                }
                error = failure
                refusal = failure
            } catch let unsent as Unsent {
                guard Monotonic.now() < deadline else { throw refusal?.storeError ?? unsent.reason }
                failed[place] = unsent.reason
                leave(place)
                guard mayAskAnother(after: failed) else { throw unsent.reason }
                continue
            }
            guard Monotonic.now() < deadline else { throw error.storeError }
            switch error.redirection {
            case .moved(let target):
                moves += 1
                guard moves <= Self.mostMoves else { throw error.storeError }
                move(command.part, to: target.endpoint(seenFrom: place))
            case .asks(let target): asked = target.endpoint(seenFrom: place)
            case .isSplit where command.part != nil:
                markCluster()
                waits += 1
                try await Task.sleep(for: .milliseconds(min(2 * waits, 20)))
            case .isSplit, .isSpread:
                markCluster()
                // Keys of several parts are asked for part by part; those of one part are in one slot everywhere.
                throw command.part == nil ? Split() : error.storeError
            case nil:
                guard error.asksForReconnection else { throw error.storeError }
                failed[place] = error.storeError
                leave(place)
                guard mayAskAnother(after: failed) else { throw error.storeError }
            }
        }
    }

    /// Runs a script over keys that may be on several servers: the replies, each with the places of its keys.
    func ask(
        _ script: Script,
        over keys: [Keys.Key],
        arguments: [[UInt8]] = []
    ) async throws -> [(places: [Int], reply: Reply)] {
        let isTogether = state.withLock { !$0.isCluster }
        if isTogether || keys.allSatisfy({ $0.part == keys[0].part }) {
            do {
                return [(Array(keys.indices), try await ask(Command(script, keys: keys, arguments: arguments)))]
            } catch is Split {
                // It is a cluster: part by part.
            }
        }
        let parts = Dictionary(grouping: keys.indices) { keys[$0].part }
        return try await withThrowingTaskGroup { group in
            for places in parts.values {
                let command = Command(script, keys: places.map { keys[$0] }, arguments: arguments)
                group.addTask { (places, try await self.ask(command)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The keys of one command are in several parts of a cluster.
    private struct Split: Error {}

    // MARK: Places

    /// The servers that have parts, as far as is known.
    var servers: Set<RedisStore.Endpoint> {
        state.withLock { state in
            var servers = Set(state.places.values)
            if state.places.count <= Int(UInt8.max), let preferred = state.preferred { servers.insert(preferred) }
            return servers
        }
    }

    private func find(
        _ part: UInt8?,
        after failed: [RedisStore.Endpoint: SharedState.StoreError],
        by deadline: UInt64
    ) async throws -> RedisStore.Endpoint {
        let known = state.withLock { state in
            part.flatMap { state.places[$0] } ?? state.preferred ?? candidates(state).first { failed[$0] == nil }
        }
        if let known { return known }
        guard let sentinels else { return configuration.endpoint }
        return try await sentinels.primary(by: deadline)
    }

    /// Whom to ask, in order; with Sentinels nobody but the one that they name.
    private func candidates(_ state: State) -> [RedisStore.Endpoint] {
        guard sentinels == nil else { return [] }
        let own = [configuration.endpoint] + configuration.alternatives
        return own + state.connections.keys.filter { !own.contains($0) }
    }

    private func mayAskAnother(after failed: [RedisStore.Endpoint: SharedState.StoreError]) -> Bool {
        sentinels != nil || state.withLock { state in candidates(state).contains { failed[$0] == nil } }
    }

    private func answered(_ endpoint: RedisStore.Endpoint) {
        state.withLock { if $0.preferred == nil { $0.preferred = endpoint } }
    }

    private func move(_ part: UInt8?, to endpoint: RedisStore.Endpoint) {
        state.withLock { state in
            state.isCluster = true
            if let part { state.places[part] = endpoint } else { state.preferred = endpoint }
        }
    }

    private func markCluster() {
        state.withLock { $0.isCluster = true }
    }

    /// Asks another from now on.
    private func leave(_ endpoint: RedisStore.Endpoint) {
        state.withLock { state in
            state.places = state.places.filter { $0.value != endpoint }
            if state.preferred == endpoint { state.preferred = nil }
        }
    }

    // MARK: Connections

    /// How many commands wait or are under way.
    var pending: Int { state.withLock { $0.connections.values.reduce(0) { $0 + $1.pending } } }

    private func connection(to endpoint: RedisStore.Endpoint) throws(SharedState.StoreError) -> Connection {
        let (connection, gone) = try state.withLock { state throws(SharedState.StoreError) in
            guard !state.isStopped else { throw SharedState.StoreError("the Redis store is shut down") }
            if let present = state.connections[endpoint] { return (present, [Connection]()) }
            var gone: [Connection] = []
            if state.connections.count >= Self.mostConnections {
                let used = Set(state.places.values)
                for (other, connection) in state.connections where !used.contains(other) && other != state.preferred {
                    state.connections[other] = nil
                    gone.append(connection)
                }
            }
            let connection = Connection(configuration.at(endpoint))
            state.connections[endpoint] = connection
            return (connection, gone)
        }
        for connection in gone { connection.abandon() }
        return connection
    }

    /// Ends all connections and returns when they have ended.
    func stop() async {
        for connection in takeConnections() { await connection.stop() }
        await sentinels?.stop()
    }

    /// Ends all connections without waiting.
    func abandon() {
        for connection in takeConnections() { connection.abandon() }
        sentinels?.abandon()
    }

    private func takeConnections() -> [Connection] {
        state.withLock { state in
            state.isStopped = true
            defer { state.connections = [:] }
            return Array(state.connections.values)
        }
    }
}

extension RedisStore.Configuration {
    /// The same for one server.
    func at(_ endpoint: RedisStore.Endpoint) -> RedisStore.Configuration {
        var copy = self
        copy.endpoint = endpoint
        copy.alternatives = []
        return copy
    }
}

extension Redirection.Place {
    /// The endpoint, which is on the host of the one that has named it if it says no other.
    func endpoint(seenFrom other: RedisStore.Endpoint) -> RedisStore.Endpoint {
        guard host.isEmpty, case .tcp(let host, _) = other.choice else {
            return .tcp(host: host.isEmpty ? "127.0.0.1" : host, port: port)
        }
        return .tcp(host: host, port: port)
    }
}
#endif
