import ArgumentParser

/// Processes that share a Redis and are killed: see ``Kills``.
struct KillsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kills",
        abstract: "Kills processes that renew a token, lock out and back off together, at random moments."
    )

    @Option(help: "How many are killed.")
    var count = 100

    @Option(help: "Where redis-server is.")
    var redisServer = "/usr/bin/redis-server"

    func validate() throws {
        guard (1...100_000).contains(count) else { throw ValidationError("--count takes 1 to 100000.") }
    }

    func run() async throws {
        var kills = try await Kills(count: count, redisServer: redisServer)
        let report = try await kills.run()
        for line in report.lines { print(line) }
        if !report.isGood { throw ExitCode.failure }
    }
}
