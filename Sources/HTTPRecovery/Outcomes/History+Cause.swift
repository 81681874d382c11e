extension History {
    /// Why an attempt is made.
    @nonexhaustive public enum Cause: Sendable, Hashable, CustomStringConvertible {
        /// It is the call's first.
        case call
        /// It continues a call, as after a redirect.
        case followUp
        /// The one before failed.
        ///
        /// - Parameter after: With what.
        case retry(after: Outcome.Kind)
        /// The one before it has no answer yet.
        case hedge
        /// Something was repaired, such as a credential renewed.
        ///
        /// - Parameter name: The name of the repair in the history.
        case repair(name: String)

        /// The cause in the words of events and logs: `call`, `follow_up`, `hedge`, the kind of the failure, the repair's name.
        public var description: String {
            switch self {
            case .call: "call"
            case .followUp: "follow_up"
            case .retry(let kind): kind.rawValue
            case .hedge: "hedge"
            case .repair(let name): name
            }
        }
    }
}
