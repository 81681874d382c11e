public import HTTPTypes

extension RecoveringClient {
    /// Layers by settings that can be changed while a client runs, without a loss of what it has learned.
    ///
    /// It stands where ``Recovery`` would, and is what ``Settings/layers(admissions:policies:)`` would be: deadline, engine, attempt
    /// timeout.
    ///
    /// ```swift
    /// let recovery = RecoveringClient.ReloadableRecovery(.interactive)
    /// let client = RecoveringClient(transport: transport) { recovery }
    /// try recovery.apply(.batch, in: client.runtime)
    /// ```
    ///
    /// Calls that begin after a change go by the new deadline, timeouts, attempts, waits and backoffs; those under way end by
    /// the old ones. Budgets, breakers, limits and rates are one object before and after: all calls meet their new bounds at
    /// once, and what they know stays. Gates and lockouts are the store's, and no settings touch them.
    public final class ReloadableRecovery: ClientLayer {
        private struct State {
            var settings: Settings
            var admissions: Settings.Admissions
            var recovery: Recovery
            /// What a call goes through, and the rest of the pipeline that it was made for.
            var chain: (rest: Next, whole: Next)?

            var layers: [any ClientLayer] { settings.layers(recovery) }
        }

        private let state: Locked<State>
        /// What stays, whatever the settings are.
        private let own: Settings.Own

        /// Creates the layers.
        ///
        /// - Parameters:
        ///   - settings: How calls are recovered at first; a client refuses those with a ``Settings/problem``.
        ///   - own: What else holds attempts back, whatever the settings are; asked before what they have. Default: nothing.
        ///   - policies: What else is done about failures, asked before the settings' own, as `SessionRenewal`. Default: nothing.
        public init(
            _ settings: Settings,
            admissions own: [any Admission] = [],
            @Recovery.PolicyBuilder policies: () -> [any RecoveryPolicy] = { [] }
        ) {
            let own = Settings.Own(admissions: own, policies: policies())
            let admissions = settings.admissions()
            self.own = own
            state = Locked(
                State(
                    settings: settings,
                    admissions: admissions,
                    recovery: settings.recovery(admissions, beside: own)
                )
            )
        }

        /// By what calls are recovered that begin now.
        public var settings: Settings { state.withLock { $0.settings } }

        /// The engine of the calls that begin now.
        package var recovery: Recovery { state.withLock { $0.recovery } }

        /// Has the calls that begin from now on go by other settings.
        ///
        /// A budget of another model, and a breaker, limit or rate where there was none, begin anew; so does a breaker that is
        /// shared from now on, or no more. One that is no more refuses nobody, the calls under way neither. Where breakers stand
        /// elsewhere by the new settings, the client's events tell of it.
        ///
        /// - Parameters:
        ///   - settings: The settings.
        ///   - runtime: The client's.
        /// - Throws: ``Settings/Invalid`` for settings that no client can work by, and for hedging where there was none: whether
        ///   the other layers bear it is looked at when a client is built. Nothing is changed then.
        public func apply(_ settings: Settings, in runtime: Runtime) throws(Settings.Invalid) {
            if let problem = settings.problem { throw Settings.Invalid(key: nil, problem) }
            var breakers: [Recovery.CircuitBreaker?] = []
            let isRefused = state.withLock { state in
                if settings.hedging != nil, state.settings.hedging == nil { return true }
                if settings == state.settings { return false }
                breakers.append(state.admissions.breaker)
                state.admissions = settings.admissions(goingOnFrom: state.admissions, in: runtime)
                state.recovery = settings.recovery(state.admissions, beside: own).goingOn(
                    from: state.recovery,
                    in: runtime
                )
                state.settings = settings
                state.chain = nil
                breakers.append(state.admissions.breaker)
                return false
            }
            for breaker in breakers { breaker?.tell(in: runtime) }
            if isRefused { throw Settings.Invalid("hedge", "is switched on only when a client is built") }
        }

        /// The layers that calls go through that begin now, the outermost first.
        var layers: [any ClientLayer] { state.withLock { $0.layers } }

        /// The engine.
        public var place: CallContext.LayerPlace { .recovery }

        /// What the layers do now.
        public var summary: String { layers.map(\.summary).joined(separator: " → ") }

        /// Why the settings cannot work, or one of their layers among the others, as a sentence; nil if all can.
        public func problem(among layers: [any ClientLayer]) -> String? {
            if let problem = settings.problem { return problem }
            let parts = self.layers
            let all = layers.flatMap { $0 as? ReloadableRecovery === self ? parts : [$0] }
            return parts.lazy.compactMap { $0.problem(among: all) }.first
        }

        /// Sends the request through the layers that are in force when the call begins.
        public func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            let whole = state.withLock { state in
                if let chain = state.chain, chain.rest.isSame(as: next) { return chain.whole }
                let whole = next.preceded(by: state.layers)
                state.chain = (next, whole)
                return whole
            }
            return try await whole(request, body: body, context: context)
        }
    }
}

extension RecoveringClient.Settings {
    /// What holds attempts back by the settings, with what it knows already.
    fileprivate func admissions(goingOnFrom old: Admissions, in runtime: Runtime) -> Admissions {
        let new = admissions()
        // One that is shared is another breaker than one that is not.
        let breaker = old.breaker?.isShared == new.breaker?.isShared ? old.breaker : nil
        if let breaker, let other = new.breaker {
            breaker.configuration = other.configuration
            breaker.override = other.override
        } else {
            old.breaker?.override = .closed
        }
        if let limit = old.limit, let other = self.limit {
            limit.algorithm = other.algorithm
            limit.queue = other.queue
        }
        if let pacing = old.pacing, let pace {
            pacing.change(perSecond: pace.perSecond, burst: pace.burst, in: runtime)
        }
        return Admissions(
            breaker: new.breaker == nil ? nil : breaker ?? new.breaker,
            limit: new.limit == nil ? nil : old.limit ?? new.limit,
            pacing: new.pacing == nil ? nil : old.pacing ?? new.pacing,
            adaptive: new.adaptive == nil ? nil : old.adaptive ?? new.adaptive
        )
    }
}
