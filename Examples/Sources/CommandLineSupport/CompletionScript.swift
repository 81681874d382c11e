public import ArgumentParser

/// The completion scripts that the argument parser writes.
public enum CompletionScript {
    /// The script for zsh, if the arguments ask for it.
    ///
    /// The parser ends the description of every program with two lines for subcommands. In one that takes any number of
    /// arguments instead, zsh refuses the second rest argument and completes nothing at all.
    public static func forZsh<Command: ParsableCommand>(
        of command: Command.Type,
        arguments: [String] = CommandLine.arguments
    ) -> String? {
        let option = "--generate-completion-script"
        let asks =
            arguments.contains("\(option)=zsh")
            || zip(arguments, arguments.dropFirst()).contains { $0 == option && $1 == "zsh" }
        guard asks, command.configuration.subcommands.isEmpty else { return nil }
        let ofSubcommands = ["'(-): :->command'", "'(-)*:: :->arg'"]
        return command.completionScript(for: .zsh)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { line in !ofSubcommands.contains(String(line.drop { $0 == " " })) }
            .joined(separator: "\n")
    }
}
