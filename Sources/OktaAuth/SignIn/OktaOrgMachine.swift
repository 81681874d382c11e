import AuthRecovery
import HTTPRecovery

/// A sign-in whose way is chosen by the org: the machine of its engine, once that is known.
struct OktaOrgMachine: SignInMachine {
    /// The machine that is run.
    private enum Way {
        case undecided
        case authentication
        case engine(OktaEngineMachine)
        case direct(OktaDirectMachine)
    }

    /// The machine of the Authentication API; what it knows of the person is what any other begins with.
    private var classic: OktaSignInMachine
    private var way = Way.undecided
    /// Whether the org has not said what it runs on; what spends nothing finds out.
    private var isGuess = false

    init(_ classic: OktaSignInMachine) {
        self.classic = classic
        // What was begun at the Authentication API goes on there.
        if case .resume = classic.goal { way = .authentication }
    }

    /// Takes up again what was written down; nil for what it has not written.
    init?(memory: JSONValue, api: OktaAPI) {
        classic = OktaSignInMachine(api: api, goal: .signIn, identifier: "", password: nil)
        if let recalled = memory[Self.undecided] {
            guard classic.recall(recalled) else { return nil }
        } else if let recalled = memory[OktaSignInMachine.name] {
            guard classic.recall(recalled) else { return nil }
            way = .authentication
        } else if let recalled = memory[OktaEngineMachine.name], var engine = Self.engine(of: classic) {
            guard engine.recall(recalled) else { return nil }
            way = .engine(engine)
        } else if let recalled = memory[OktaDirectMachine.name], var direct = Self.direct(of: classic) {
            guard direct.recall(recalled) else { return nil }
            way = .direct(direct)
        } else {
            return nil
        }
    }

    private static let undecided = "undecided"

    var memory: JSONValue {
        switch way {
        case .undecided: [Self.undecided: classic.recalled]
        case .authentication: classic.memory
        case .engine(let engine): engine.memory
        case .direct(let direct): direct.memory
        }
    }

    private static func engine(of classic: OktaSignInMachine) -> OktaEngineMachine? {
        classic.api.configuration.app.map { app in
            var engine = OktaEngineMachine(
                api: classic.api,
                app: app,
                goal: classic.goal,
                identifier: classic.identifier,
                password: classic.password
            )
            if let context = classic.context { engine.enter(context) }
            return engine
        }
    }

    private static func direct(of classic: OktaSignInMachine) -> OktaDirectMachine? {
        classic.api.configuration.app.map { app in
            var direct = OktaDirectMachine(
                api: classic.api,
                app: app,
                goal: classic.goal,
                identifier: classic.identifier,
                password: classic.password
            )
            if let context = classic.context { direct.enter(context) }
            return direct
        }
    }

    // MARK: Deciding

    /// Chooses the way, as configured, else as the org says what it runs on.
    private mutating func decide() async throws {
        guard case .undecided = way else { return }
        let configuration = classic.api.configuration
        // Direct Authentication knows no tokens of links.
        let isRedeeming = classic.goal.token != nil
        if configuration.way == .directAuthentication, !isRedeeming {
            guard let direct = Self.direct(of: classic) else { throw Self.withoutApp }
            return way = .direct(direct)
        }
        var isEngine = [.identityEngine, .directAuthentication].contains(configuration.way)
        // Without an app there is nothing that the engine's flow could end in.
        if configuration.way == .automatic, configuration.app != nil {
            var pipeline: Okta.Pipeline?
            do {
                pipeline = try await classic.api.pipeline()
            } catch let error as RecoveryError where error.outcome.isLoadFailure {
                // An outage of that question alone says nothing of the org; of the whole org, the next one says it too.
            }
            (isEngine, isGuess) = (pipeline != .classic, pipeline == nil)
        }
        guard isEngine else { return way = .authentication }
        guard let engine = Self.engine(of: classic) else { throw Self.withoutApp }
        way = .engine(engine)
    }

    private static var withoutApp: RecoveryError {
        var outcome = Outcome(.misconfigured, processed: .no, remedies: [.fixRequest])
        outcome.parameter = "app"
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }

    mutating func begin() async throws -> SignInStep<OktaSession> {
        try await decide()
        do {
            return try await step { try await $0.begin() }
        } catch let error as RecoveryError where mayGoBack(after: error) {
            // The app may not use the engine's flow. By Direct Authentication it goes on if the org lists its grants as the app's;
            // the Authentication API is there as well.
            if Self.listsDirectGrants(error), classic.goal.token == nil, let direct = Self.direct(of: classic) {
                way = .direct(direct)
                return try await step { try await $0.begin() }
            }
            way = .authentication
            return try await classic.begin()
        }
    }

    /// Whether a refusal lists, among the grants of the app, those of Direct Authentication: with a password, which it begins with.
    private static func listsDirectGrants(_ error: RecoveryError) -> Bool {
        guard error.outcome.code == "unauthorized_client", let text = error.outcome.message else { return false }
        let words = text.utf8.split { " ,[]".utf8.contains($0) }
        let families = ["urn:okta:params:oauth:grant-type:", "http://auth0.com/oauth/grant-type/mfa-"]
        return words.contains { $0.elementsEqual("password".utf8) }
            && words.contains { word in families.contains { word.starts(with: $0.utf8) } }
    }

    private func mayGoBack(after error: RecoveryError) -> Bool {
        guard case .engine(let engine) = way, engine.interaction == nil else { return false }
        guard classic.api.configuration.way == .automatic else { return false }
        let refusals: Set<Outcome.Kind> = [
            .misconfigured, .notFound, .permissionDenied, .invalidRequest, .unreadable, .unknown,
        ]
        if isGuess, refusals.contains(error.kind) { return true }
        let words = ["access_denied", "unauthorized_client"]
        return error.kind == .misconfigured && error.outcome.code.map(words.contains) == true
    }

    // MARK: The machine that is run

    private mutating func step<Result>(
        _ body: (inout any SignInMachine<OktaSession>) async throws -> Result
    ) async throws -> Result {
        var machine = running
        defer { running = machine }
        return try await body(&machine)
    }

    private var running: any SignInMachine<OktaSession> {
        get {
            switch way {
            case .engine(let engine): engine
            case .direct(let direct): direct
            default: classic
            }
        }
        set {
            switch newValue {
            case let engine as OktaEngineMachine: way = .engine(engine)
            case let direct as OktaDirectMachine: way = .direct(direct)
            case let classic as OktaSignInMachine: self.classic = classic
            default: break
            }
        }
    }

    var openingFactor: Factor? { running.openingFactor }

    var unlockFactors: [Factor] { running.unlockFactors }

    mutating func enter(_ context: SignInContext) {
        classic.enter(context)
        running.enter(context)
    }

    mutating func abandon() async throws {
        try await step { try await $0.abandon() }
    }

    mutating func resync() async throws -> SignInStep<OktaSession> {
        if case .undecided = way { return try await begin() }
        return try await step { try await $0.resync() }
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<OktaSession> {
        try await step { try await $0.choose(factor) }
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<OktaSession> {
        try await step { try await $0.submit(answer, to: challenge) }
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<OktaSession> {
        try await step { try await $0.resend(factor, waitingAtMost: limit) }
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<OktaSession> {
        try await step { try await $0.replace(factor, after: refusal) }
    }

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<OktaSession> {
        try await step { try await $0.poll(unlessBoundBy: bound) }
    }
}
