package import HTTPRecovery

extension SignInFlow {
    /// All that is needed to go on with the sign-in at another machine, secrets included: it has to be sealed.
    package var memory: JSONValue {
        SignInMemory(
            machine: machine.memory,
            cause: cause,
            progress: progress,
            occasion: occasion,
            wanted: wanted
        ).memory
    }

    /// Takes a sign-in up again.
    ///
    /// - Parameters:
    ///   - memory: What ``memory`` has written.
    ///   - client: The client that the machine's calls are made by.
    ///   - options: How to deal with what goes wrong; they are not part of the memory.
    ///   - machine: Makes the machine of its memory; nil if it is none.
    /// - Returns: Nil if it is no memory of such a sign-in.
    package init?(
        memory: JSONValue,
        client: RecoveringClient,
        options: SignInOptions,
        machine: (JSONValue) -> (any SignInMachine<Session>)?
    ) {
        guard let memory = SignInMemory(memory: memory), let machine = machine(memory.machine) else { return nil }
        self.init(machine, client: client, options: options, because: memory.cause)
        progress = memory.progress
        progress.maxRounds = options.maxRounds
        occasion = memory.occasion
        wanted = memory.wanted
    }
}

/// What is written down of a flow.
private struct SignInMemory: RememberedFields {
    var machine = JSONValue.null
    var cause = Outcome()
    var progress = SignInProgress()
    var occasion = Outcome()
    var wanted = SignInWanted.nothing

    static var fields: [RememberedField<SignInMemory>] {
        [
            .init("machine", \.machine), .init("cause", \.cause), .init("progress", \.progress),
            .init("occasion", \.occasion), .init("wanted", \.wanted),
        ]
    }
}

extension SignInWanted: Remembered {
    var memory: JSONValue {
        switch self {
        case .beginning: ["beginning": true]
        case .answer(let question, let pollsAt): ["answer": question.memory, "polls_at": pollsAt.memory]
        case .choice(let factors, let detour): ["choice": factors.memory, "detour": detour.memory]
        case .unlocking(let ways, let refusal): ["unlocking": ways.memory, "refusal": refusal.memory]
        case .poll(let poll): ["poll": poll.memory]
        case .nothing: [:]
        }
    }

    init?(memory: JSONValue) {
        guard let kind = memory.members?.first else {
            if memory.members == nil { return nil }
            self = .nothing
            return
        }
        switch kind.key {
        case "beginning": self = .beginning
        case "answer":
            guard let question = Challenge(memory: kind.value),
                let pollsAt = Timestamp?(memory: memory["polls_at"] ?? .null)
            else { return nil }
            self = .answer(question, pollsAt: pollsAt)
        case "choice":
            guard let factors = [Factor](memory: kind.value),
                let detour = SignInDetour?(memory: memory["detour"] ?? .null)
            else { return nil }
            self = .choice(factors, detour)
        case "unlocking":
            guard let ways = [Factor](memory: kind.value),
                let refusal = memory["refusal"].flatMap({ RecoveryError(memory: $0) })
            else { return nil }
            self = .unlocking(ways, refusal)
        case "poll":
            guard let poll = Poll(memory: kind.value) else { return nil }
            self = .poll(poll)
        default: return nil
        }
    }
}

extension SignInWanted.Poll: RememberedFields {
    init() {
        self.init(
            challenge: Challenge(),
            pause: SignInContext.Pause(.zero),
            opensAt: Timestamp(secondsSinceEpoch: 0),
            origin: SignInCallSource()
        )
    }

    static var fields: [RememberedField<SignInWanted.Poll>] {
        [
            .init("challenge", \.challenge), .init("pause", \.pause.duration), .init("reason", \.pause.reason),
            .init("opens_at", \.opensAt), .init("origin", \.origin),
        ]
    }
}

extension SignInCallSource: RememberedFields {
    static var fields: [RememberedField<SignInCallSource>] {
        [
            .init("answered", \.answered), .init("tried", \.tried), .init("resent", \.resent),
            .init("is_wish", \.isWish), .init("detour", \.detour), .init("doubt", \.doubt),
            .init("doubted", \.doubted),
        ]
    }
}

extension SignInDetour: RememberedFields {
    init() { self.init(question: Challenge()) }

    static var fields: [RememberedField<SignInDetour>] {
        [.init("question", \.question), .init("keys", \.keys), .init("refusal", \.refusal)]
    }
}
