extension RecoveringClient {
    /// Collects middlewares, the outermost first.
    @resultBuilder
    public enum PipelineBuilder {
        /// A middleware.
        public static func buildExpression(_ middleware: some ClientLayer) -> [any ClientLayer] { [middleware] }
        /// A policy, which is none.
        @available(*, unavailable, message: "a policy decides within the engine: put it into Recovery { }")
        public static func buildExpression(_ policy: some RecoveryPolicy) -> [any ClientLayer] { [] }
        /// An admission, which is none.
        @available(*, unavailable, message: "an admission is asked by the engine: put it into Recovery(admissions:)")
        public static func buildExpression(_ admission: some Admission) -> [any ClientLayer] { [] }
        /// A list of middlewares.
        public static func buildExpression(_ middlewares: [any ClientLayer]) -> [any ClientLayer] { middlewares }
        /// Several lines.
        public static func buildBlock(_ parts: [any ClientLayer]...) -> [any ClientLayer] { parts.flatMap(\.self) }
        /// `if` without `else`.
        public static func buildOptional(_ part: [any ClientLayer]?) -> [any ClientLayer] { part ?? [] }
        /// The first branch of an `if`.
        public static func buildEither(first part: [any ClientLayer]) -> [any ClientLayer] { part }
        /// The second branch of an `if`.
        public static func buildEither(second part: [any ClientLayer]) -> [any ClientLayer] { part }
        /// A loop.
        public static func buildArray(_ parts: [[any ClientLayer]]) -> [any ClientLayer] { parts.flatMap(\.self) }
    }
}
