import HTTPRecovery
import ServiceLifecycle

/// Runs the server, and bounds at its end what its requests wait for.
///
/// A server ends when its last request does, and that when its calls do: so the calls still under way when the time is over
/// are cut off, and their requests answered.
struct BoundedServer<Server: Service>: Service {
    private let server: Server
    private let clients: [RecoveringClient]
    private let limit: Duration

    /// - Parameters:
    ///   - server: What is run.
    ///   - clients: What its requests call with; not empty.
    ///   - limit: How long calls under way may take once the server is told to end.
    init(_ server: Server, calling clients: [RecoveringClient], within limit: Duration) {
        (self.server, self.clients, self.limit) = (server, clients, limit)
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                try await gracefulShutdown()
                try await clients[0].runtime.time.sleep(for: limit)
                for client in clients { await client.shutdown() }
                // The server's end is the group's.
                try await Task.sleep(for: .seconds(600))
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
