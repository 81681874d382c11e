import AuthRecovery
import HTTPRecovery

/// What a person has to do with at Clerk, from its beginning to its end: one part after the other.
struct ClerkMachine<Session: ClerkEnd>: SignInMachine {
    private var api: ClerkAPI
    var stage: any ClerkStage
    /// Where it begins again, if another part has taken a proof over.
    private var opening: (any ClerkStage)?
    /// What waits for the person to have proved themselves again, and what it was told to do.
    private var waiting: (stage: any ClerkStage, move: ClerkMove)?
    /// Whether they just have, for what is done now: it is not wanted twice.
    private var isFresh = false
    /// The error of a step of which nobody knows what has become.
    private var doubt: RecoveryError?
    /// What the present step is made with.
    private var context: SignInContext?
    /// The proof against abuse that is asked for.
    var asked: AbuseQuestion?
    /// The one that was given, while what has waited for it is done, and the factor that this is about.
    var proved: AbuseQuestion?
    var retried: Factor?
    /// What was given for what begins a flow, until that has begun.
    var evidence = AbuseEvidence()

    init(api: ClerkAPI, _ stage: any ClerkStage) {
        self.api = api
        self.stage = stage
    }

    var openingFactor: Factor? { stage.openingFactor }

    func isAboutName(_ refusal: Outcome) -> Bool { refusal.isAboutName }

    var openTask: String? { stage.openTask ?? waiting?.stage.openTask }

    mutating func enter(_ context: SignInContext) {
        self.context = context
        api = api.within(context.operation)
        stage.enter(context)
    }

    mutating func begin() async throws -> SignInStep<Session> {
        if let first = opening ?? waiting?.stage { take(over: first) }
        (opening, waiting, isFresh) = (nil, nil, false)
        asked = nil
        return try await make(.begin)
    }

    mutating func resync() async throws -> SignInStep<Session> {
        let before = doubt
        (doubt, asked) = (nil, nil)
        return try await make(.resync(after: before))
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<Session> {
        try await make(.choose(factor))
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<Session> {
        guard challenge.key == .captcha, let question = asked.take() else {
            return try await make(.submit(answer, challenge))
        }
        return try await prove(answer, to: question)
    }

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<Session> {
        try await make(.poll(unlessBoundBy: bound))
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<Session> {
        guard factor.key == .captcha else { return try await make(.resend(factor, waitingAtMost: limit)) }
        if let asked { return .ask(asked.challenge) }
        return try await make(.resend(retried ?? factor, waitingAtMost: limit))
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<Session> {
        guard factor.key == .captcha else { return try await make(.replace(factor, after: refusal)) }
        // Nothing stands in for a proof against abuse.
        if let asked, refusal == nil { throw asked.refusal }
        return try await make(.replace(retried ?? factor, after: refusal))
    }

    /// What an error means for the sign-in: what became of a step that is not to be taken again can be read.
    private mutating func conclusion(of error: any Error) -> any Error {
        guard var doubt = error as? RecoveryError, doubt.reason == .processedUnknown, stage.canBeLookedUp else {
            return error
        }
        doubt.outcome.remedies = [.resync, .askUser]
        self.doubt = doubt
        return doubt
    }

    // MARK: From part to part

    mutating func make(_ first: ClerkMove) async throws -> SignInStep<Session> {
        var move = first
        while true {
            let step: ClerkStep
            do {
                stage.api.evidence = evidence
                step = try await stage.make(move)
                isFresh = false
            } catch let refusal as RecoveryError {
                // Who has proved themselves has no account: a sign-up can take the proof over.
                if refusal.outcome.code == "sign_up_if_missing_transfer", let request = stage.signUpRequest {
                    evidence = AbuseEvidence()
                    try transfer(to: ClerkSignUpMachine(api: api, request: request))
                    move = .begin
                    continue
                }
                if !isFresh, let session = try await session(toVerifyFor: refusal, of: move) {
                    take(over: ClerkReverificationMachine(api: api, session: session, wantedBy: refusal.outcome))
                    move = .begin
                    continue
                }
                if let question = try await question(about: refusal, of: move) { return question }
                (evidence, isFresh) = (AbuseEvidence(), false)
                throw first.isReading ? refusal : conclusion(of: refusal)
            }
            evidence = AbuseEvidence()
            move = .begin
            switch step {
            case .ask(let question): return .ask(question)
            case .choose(let factors): return .choose(factors)
            case .pending(let question, let pause): return .pending(question, pause)
            case .prove(let check, let refusal): return try await ask(for: check, orElse: refusal)
            case .finished(let session) where session.status == .pending:
                // What comes now is about the session, whatever has led to it.
                opening = nil
                take(over: ClerkTaskMachine(api: api, session: session))
            case .transferToSignIn(let account):
                try transfer(to: ClerkSignInMachine(api: api, goal: .transfer, account: account))
            case .transferToSignUp(let request):
                try transfer(to: ClerkSignUpMachine(api: api, request: request))
            case .verified where waiting != nil:
                guard let (stage, deferred) = waiting.take() else { continue }
                take(over: stage)
                (move, isFresh) = (deferred, true)
            case .finished, .verified, .answered:
                guard let end = Session(step) else {
                    throw RecoveryError(outcome: Outcome(.stateConflict), reason: .notRecoverable)
                }
                return .finished(end)
            }
        }
    }

    /// The session within which the person proves themselves again for what was refused, which waits for that; nil if it was
    /// refused for something else, or cannot wait.
    private mutating func session(
        toVerifyFor refusal: RecoveryError,
        of move: ClerkMove
    ) async throws -> ClerkSession? {
        guard refusal.kind == .stepUpRequired, refusal.outcome.processed == .no, waiting == nil,
            let deferred = move.deferred, let session = try await stage.sessionToVerify()
        else { return nil }
        waiting = (stage, deferred)
        return session
    }

    /// Goes on in another part with a proof, which is taken over once: a server that hands it back knows no way out.
    private mutating func transfer(to next: any ClerkStage) throws {
        guard opening == nil else {
            throw RecoveryError(outcome: Outcome(.stateConflict, remedies: [.restartFlow]), reason: .notRecoverable)
        }
        opening = stage
        take(over: next)
    }

    private mutating func take(over next: any ClerkStage) {
        stage = next
        if let context { stage.enter(context) }
    }

    // MARK: Memory

    var memory: JSONValue {
        .object(
            [JSONValue.Member("stage", Self.memory(of: stage)), JSONValue.Member("evidence", evidence.memory)]
                + (asked.map { [JSONValue.Member("asked", $0.memory)] } ?? [])
                + (opening.map { [JSONValue.Member("opening", Self.memory(of: $0))] } ?? [])
                + (waiting.map {
                    [JSONValue.Member("waiting", Self.memory(of: $0.stage)), JSONValue.Member("move", $0.move.memory)]
                } ?? [])
        )
    }

    /// Takes a sign-in up again; nil if it is none.
    init?(memory: JSONValue, api: ClerkAPI) {
        guard let stage = memory["stage"].flatMap({ Self.stage($0, api) }) else { return nil }
        self.init(api: api, stage)
        guard let evidence = memory["evidence"].flatMap({ AbuseEvidence(memory: $0) }),
            let asked = AbuseQuestion?(memory: memory["asked"] ?? .null)
        else { return nil }
        (self.evidence, self.asked) = (evidence, asked)
        if let before = memory["opening"] {
            guard let opening = Self.stage(before, api) else { return nil }
            self.opening = opening
        }
        if let waiting = memory["waiting"] {
            guard let stage = Self.stage(waiting, api), let move = memory["move"].flatMap({ ClerkMove(memory: $0) })
            else { return nil }
            self.waiting = (stage, move)
        }
    }

    private static func memory(of stage: any ClerkStage) -> JSONValue {
        [type(of: stage).name: stage.recalled]
    }

    private static func stage(_ memory: JSONValue, _ api: ClerkAPI) -> (any ClerkStage)? {
        if let recalled = memory[ClerkSignInMachine.name] {
            var machine = ClerkSignInMachine(api: api, goal: .transfer)
            return machine.recall(recalled) ? machine : nil
        }
        if let recalled = memory[ClerkSignUpMachine.name] {
            var machine = ClerkSignUpMachine(api: api, request: .transfer)
            return machine.recall(recalled) ? machine : nil
        }
        if let recalled = memory[ClerkTaskMachine.name], let session = recalled["session"] {
            guard let session = ClerkSession(memory: session) else { return nil }
            var machine = ClerkTaskMachine(api: api, session: session)
            return machine.recall(recalled) ? machine : nil
        }
        if let recalled = memory[ClerkReverificationMachine.name], let session = recalled["session"] {
            guard let session = ClerkSession(memory: session) else { return nil }
            var machine = ClerkReverificationMachine(api: api, session: session, level: .secondFactor)
            return machine.recall(recalled) ? machine : nil
        }
        return nil
    }
}
