/// How much a program tells a person on standard error.
public enum Verbosity: Sendable, Hashable {
    /// What went wrong, and what is asked.
    case quiet
    /// Waits too, with a countdown on a screen.
    case normal
    /// Each attempt, answer, wait and reason, with its time.
    case verbose
}
