import CMeasure
import Glibc

/// What each contestant's program does: the scenario of its command line, with a line `NAME NUMBER` for each result.
public struct Program<Client: Contestant>: Sendable {
    let settings: Settings
    let client: Client

    /// Runs the command line and ends the process.
    public static func main(_ type: Client.Type) async -> Never {
        raise_descriptor_limit()
        guard let settings = Settings(arguments: CommandLine.arguments.dropFirst()) else {
            complain("usage: \(CommandLine.arguments[0]) load|flight|burst|post|lookup KEY=VALUE...")
            exit(64)
        }
        do {
            let program = try Program(settings: settings, client: Client(settings))
            switch settings.scenario {
            case .load: try await program.load()
            case .flight: try await program.flight()
            case .burst: try await program.burst()
            case .post: try await program.post()
            case .lookup: try await program.lookup()
            }
            try await program.client.shutdown()
        } catch {
            complain("failed: \(error)")
            exit(1)
        }
        exit(0)
    }

    static func show(_ name: String, _ value: Double) {
        print(name, (value * 1000).rounded() / 1000)
    }

    /// Sends requests, so many at a time, and returns when all are answered.
    func run(_ call: @escaping Call, requests: Int) async throws {
        let (concurrency, bytes) = (min(settings.concurrency, requests), settings.bytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<concurrency {
                let share = requests / concurrency + (worker < requests % concurrency ? 1 : 0)
                let work: @Sendable () async throws -> Void = {
                    for _ in 0..<share {
                        let count = try await call()
                        guard count == bytes else { throw Spoilt("\(count) bytes") }
                    }
                }
                // Even without an executor the function for one gives a task a preference, which is asked for at each hop.
                if let executor = client.executor {
                    group.addTask(executorPreference: executor, operation: work)
                } else {
                    group.addTask(operation: work)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Begins requests that the server holds, and returns when it has them all.
    ///
    /// They begin in steps: more connections at once than the server's queue holds would be tried again and again.
    func hold(_ count: Int, _ call: @escaping Call) async throws -> [Task<Double, any Error>] {
        var tasks: [Task<Double, any Error>] = []
        tasks.reserveCapacity(count)
        let end = monotonic_seconds() + 120
        while tasks.count < count {
            for _ in 0..<min(settings.step, count - tasks.count) { tasks.append(held(call)) }
            while ask_server(Int32(settings.port), "/held") < tasks.count {
                guard monotonic_seconds() < end else { throw await obstacle(to: tasks) }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        return tasks
    }

    /// A request that ends with -1 if it is answered, and with the time if it is cancelled.
    private func held(_ call: @escaping Call) -> Task<Double, any Error> {
        let bytes = settings.bytes
        let work: @Sendable () async throws -> Double = {
            do {
                guard try await call() == bytes else { throw Spoilt("another size") }
                return -1
            } catch is CancellationError {
                return monotonic_seconds()
            } catch  where Task.isCancelled {
                return monotonic_seconds()
            }
        }
        return client.executor.map { Task(executorPreference: $0, operation: work) } ?? Task(operation: work)
    }

    /// Why not all requests came to be in flight.
    private func obstacle(to tasks: [Task<Double, any Error>]) async -> Spoilt {
        let count = ask_server(Int32(settings.port), "/held")
        for task in tasks { task.cancel() }
        for task in tasks {
            do { _ = try await task.value } catch { return Spoilt("\(count) of \(tasks.count) in flight; \(error)") }
        }
        return Spoilt("\(count) of \(tasks.count) in flight after two minutes")
    }
}
