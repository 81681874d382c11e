import ArgumentParser

/// Tries the services of this package: under load, and while things go wrong.
@main
struct ServiceTrialsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-trials",
        abstract: "Tries the services of this package before a sandbox of their own.",
        subcommands: [
            LoadCommand.self, ChaosCommand.self, KillsCommand.self, FleetCommand.self, FleetWorkerCommand.self,
        ]
    )
}
