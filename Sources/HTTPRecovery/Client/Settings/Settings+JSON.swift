extension RecoveringClient.Settings {
    /// Why a policy is none: what is wrong with it, and where.
    public struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        /// The key that is wrong, with the objects that it stands in before it, as in `breaker.open_s`; nil if the whole is.
        public let key: String?
        /// What is wrong and what is allowed, as a sentence with the key's name.
        public let description: String

        package init(key: String?, _ description: String) {
            self.key = key
            self.description = description
        }

        package init(_ key: String, _ problem: String) {
            self.init(key: key, "\(key) \(problem)")
        }
    }

    /// Reads a policy, by the options of a simulated scenario.
    ///
    /// What is absent is as a `preset` has it, each value of a group too: ``Backoff``, budget, breaker, limit, rate, hedge. In
    /// a group that the preset does not have, or has of another kind, it is what the library has where nothing is said, and the
    /// keys of other kinds are refused. In a scenario that names no preset it is off. The word `"off"` switches off what the
    /// preset has. A time is a number of seconds, or a text with a unit: `"500ms"`, `"30s"`, `"2m"`, `"1h"`.
    ///
    /// - Parameters:
    ///   - json: An object with the keys that the page "Configuration" of RecoveryService lists; none other is taken.
    ///   - base: What holds where no preset is named. Default: ``standard``.
    /// - Throws: ``Invalid``, which names the key.
    public init(json: JSONValue, base: Self = .standard) throws(Invalid) {
        let reader = try SettingsReader(json, at: "the policy", keys: SettingsReader.optionKeys, isRoot: true)
        self = try reader.settings(base: base)
        let parts: [(key: String, problem: String?)] = [
            ("budget", budget.problem), ("hedge", hedging?.problem), ("breaker", breaker?.problem),
            ("limit", limit?.algorithm.problem),
        ]
        for case (let key, let problem?) in parts { throw Invalid(key: key, "\(key): \(problem)") }
        if let problem { throw Invalid(key: nil, problem) }
    }
}
