extension Recovery {
    /// Collects policies, the first asked first.
    @resultBuilder
    public enum PolicyBuilder {
        /// A policy.
        public static func buildExpression(_ policy: some RecoveryPolicy) -> [any RecoveryPolicy] { [policy] }
        /// A list of policies.
        public static func buildExpression(_ policies: [any RecoveryPolicy]) -> [any RecoveryPolicy] { policies }
        /// Several lines.
        public static func buildBlock(_ parts: [any RecoveryPolicy]...) -> [any RecoveryPolicy] {
            parts.flatMap(\.self)
        }
        /// `if` without `else`.
        public static func buildOptional(_ part: [any RecoveryPolicy]?) -> [any RecoveryPolicy] { part ?? [] }
        /// The first branch of an `if`.
        public static func buildEither(first part: [any RecoveryPolicy]) -> [any RecoveryPolicy] { part }
        /// The second branch of an `if`.
        public static func buildEither(second part: [any RecoveryPolicy]) -> [any RecoveryPolicy] { part }
    }
}
