public import ArgumentParser

/// How much is told, and how.
public struct TellingOptions: ParsableArguments, Sendable {
    @Flag(name: .shortAndLong, help: "Tell errors alone: no waits, no countdown.")
    var quiet = false

    @Flag(
        name: .shortAndLong,
        help: "Tell each attempt, answer, wait and reason with its time, on standard error."
    )
    var verbose = false

    @Flag(help: "Redraw no line and use no colour; waits are told line by line, on whatever standard error is.")
    var plain = false

    /// Creates the options.
    public init() {}

    /// Refuses what contradicts itself.
    public func validate() throws {
        if quiet, verbose { throw ValidationError("--quiet and --verbose contradict each other.") }
    }

    /// Whether each step is told.
    public var isVerbose: Bool { verbose }

    /// How much is told.
    public var verbosity: Verbosity { quiet ? .quiet : verbose ? .verbose : .normal }

    /// Standard error as the person wants it.
    ///
    /// - Parameters:
    ///   - isQuiet: Whether something else is written there, so that people are told nothing.
    ///   - isSilent: Whether no step is told, unless the person asks for each. Default: it is as the options say.
    public func terminal(isQuiet: Bool, isSilent: Bool = false) -> Terminal {
        Terminal(isQuiet: isQuiet, verbosity: isSilent && !verbose ? .quiet : verbosity, isPlain: plain)
    }
}
