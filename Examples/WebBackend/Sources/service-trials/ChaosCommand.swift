import ArgumentParser
import Foundation
import ServiceTrials

/// The gateway while things go wrong: see ``Chaos``.
struct ChaosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos",
        abstract:
            "Runs the gateway while a fifth of all that it sends goes wrong, its Redis is killed, and it is restarted."
    )

    @Option(help: "How many seconds it takes; at least 60.")
    var seconds = 600.0

    @Option(help: "Where redis-server is.")
    var redisServer = "/usr/bin/redis-server"

    func validate() throws {
        guard (60...86_400).contains(seconds) else { throw ValidationError("--seconds takes 60 to 86400.") }
    }

    func run() async throws {
        var chaos = try await Chaos(seconds: seconds, redisServer: redisServer)
        let report = try await chaos.run()
        for line in report.lines { print(line) }
        if !report.isGood { throw ExitCode.failure }
    }
}
