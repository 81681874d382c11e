#if Redis
import HTTPRecovery
import ProcessSupport

@testable import RedisRecoveryStore

/// A real cluster of the test's own: some primaries, and a replica of the first.
final class RedisCluster: Sendable {
    let primaries: [RedisServer]
    let replica: RedisServer?

    static let slots = 16_384

    /// Starts a cluster that has all slots, spread evenly.
    static func start(primaries count: Int = 3, hasReplica: Bool = false) async throws -> RedisCluster {
        var servers: [RedisServer] = []
        for _ in 0..<count + (hasReplica ? 1 : 0) {
            servers.append(
                try await RedisServer.start([
                    "--cluster-enabled", "yes", "--cluster-config-file", "nodes", "--cluster-node-timeout", "2000",
                    "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
                ])
            )
        }
        // Each has an epoch of its own, as `redis-cli --cluster create` sees to. Nodes that begin with the same one find
        // others some time after the state is ok; and where the source of a slot gets a higher one than its target while the
        // slot is handed over, the target gives the slot up and deletes what is in it.
        for (number, server) in servers.enumerated() {
            _ = try await server.ask("CLUSTER", "SET-CONFIG-EPOCH", "\(number + 1)")
        }
        let cluster = RedisCluster(
            primaries: Array(servers[..<count]),
            replica: hasReplica ? servers[count] : nil
        )
        for (index, server) in cluster.primaries.enumerated() {
            let own = slots * index / count..<slots * (index + 1) / count
            _ = try await server.ask(["CLUSTER", "ADDSLOTS"] + own.map(String.init))
        }
        for server in servers.dropFirst() {
            _ = try await servers[0].ask("CLUSTER", "MEET", "127.0.0.1", "\(server.port)")
        }
        try await untilEach(
            servers,
            "CLUSTER",
            "INFO",
            holds: "cluster_state:ok",
            "cluster_known_nodes:\(servers.count)"
        )
        if let replica = cluster.replica {
            _ = try await replica.ask("CLUSTER", "REPLICATE", try await cluster.primaries[0].name)
            try await untilEach([replica], "INFO", "replication", holds: "master_link_status:up")
        }
        return cluster
    }

    private init(primaries: [RedisServer], replica: RedisServer?) {
        self.primaries = primaries
        self.replica = replica
    }

    /// What a client is told: one node.
    func configuration(_ namespace: String = "test") -> RedisStore.Configuration {
        primaries[0].configuration(namespace)
    }

    /// Waits until what each server answers holds all of the texts.
    static func untilEach(_ servers: [RedisServer], _ words: String..., holds texts: String...) async throws {
        for server in servers {
            while true {
                let answer = String(decoding: try await server.ask(words).string(), as: UTF8.self)
                if texts.allSatisfy({ answer.contains($0) }) { break }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    /// Takes a slot from one node to another, with a step between each two.
    func move(_ slot: Int, from source: RedisServer, to target: RedisServer, _ step: () async throws -> Void)
        async throws
    {
        let (from, to) = (try await source.name, try await target.name)
        _ = try await target.ask("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", from)
        _ = try await source.ask("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", to)
        try await step()
        while case .array(let keys) = try await source.ask("CLUSTER", "GETKEYSINSLOT", "\(slot)", "1"), !keys.isEmpty {
            let key = String(decoding: try keys[0].string(), as: UTF8.self)
            _ = try await source.ask("MIGRATE", "127.0.0.1", "\(target.port)", key, "0", "60000")
            try await step()
        }
        for server in [target, source] + primaries.filter({ $0 !== target && $0 !== source }) {
            _ = try await server.ask("CLUSTER", "SETSLOT", "\(slot)", "NODE", to)
        }
        try await step()
    }
}

extension RedisServer {
    /// The name that the cluster knows it by.
    var name: String {
        get async throws { String(decoding: try await ask("CLUSTER", "MYID").string(), as: UTF8.self) }
    }

    /// How many keys it has.
    var size: Int {
        get async throws { try await ask("DBSIZE").integer() }
    }

    /// How many commands it has carried out.
    var commands: Int {
        get async throws {
            let text = String(decoding: try await ask("INFO", "stats").string(), as: UTF8.self)
            let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("total_commands_processed:") }
            return line.flatMap { Int($0.drop { $0 != ":" }.dropFirst()) } ?? 0
        }
    }
}
#endif
