import HTTPRecovery

/// A suspended sign-in as the store has it: where it stands in the clear, all else sealed.
struct SuspendedSignIn {
    enum State: String {
        /// It waits for an answer.
        case open
        /// A request takes the step, or has died within it.
        case taken
        /// It has led to a session.
        case finished
        /// It has failed, or was given up.
        case over
    }

    var state: State
    /// How many steps were taken.
    var step: Int
    /// When nobody can go on with it any more.
    var endsAt: Timestamp

    init(_ state: State, step: Int, endsAt: Timestamp) {
        self.state = state
        self.step = step
        self.endsAt = endsAt
    }

    /// What is sealed.
    struct Content: RememberedFields {
        var flow = JSONValue.null
        var options = SignInOptions()
        /// What the person was told with the last step.
        var notices: [Outcome] = []

        static var fields: [RememberedField<Content>] {
            [
                .init("flow", \.flow), .init("notices", \.notices), .init("preference", \.options.preference),
                .init("compromised", \.options.compromisedPasswordFallback),
                .init("max_rounds", \.options.maxRounds), .init("max_restarts", \.options.maxRestarts),
                .init("deadline", \.options.deadline), .init("max_wait", \.options.maxWait),
                .init("existing_session", \.options.acceptsExistingSession),
            ]
        }
    }

    func bytes(_ sealed: [UInt8]) -> [UInt8] {
        let json: JSONValue = [
            "state": .string(state.rawValue), "step": step.memory, "ends_at": endsAt.memory,
            "sealed": .string(Base64.encode(sealed)),
        ]
        return Array(json.description.utf8)
    }

    static func read(_ bytes: [UInt8]) -> (SuspendedSignIn, sealed: [UInt8])? {
        guard let json = try? JSONValue(parsing: bytes),
            let state = json["state"]?.string.flatMap({ State(rawValue: $0) }),
            let step = json["step"].flatMap({ Int(memory: $0) }),
            let endsAt = json["ends_at"].flatMap({ Timestamp(memory: $0) }),
            let sealed = json["sealed"]?.string.flatMap({ Base64.decode($0.utf8) })
        else { return nil }
        return (SuspendedSignIn(state, step: step, endsAt: endsAt), sealed)
    }

    // MARK: What a request is told that cannot go on

    /// The sign-in is over, or never was.
    static var over: RecoveryError {
        error(.flowExpired, [.restartFlow], "This sign-in is over. Please start it again.")
    }

    /// It has led to a session.
    static var finished: RecoveryError {
        error(.alreadySignedIn, [.useExistingSession], "This sign-in is finished already.")
    }

    /// Another request takes the step.
    static var busy: RecoveryError {
        var error = error(.stateConflict, [.wait], "Your last answer is still being worked on.")
        error.outcome.retryAfter = .seconds(1)
        error.retryAfter = .seconds(1)
        return error
    }

    /// The store does not answer, so that nobody can know who takes the step.
    static var unavailable: RecoveryError {
        error(.unavailable, [.wait], "Signing in is not possible at the moment. Please try again in a while.")
    }

    private static func error(_ kind: Outcome.Kind, _ remedies: [Outcome.Remedy], _ text: String) -> RecoveryError {
        var outcome = Outcome(kind, processed: .no, remedies: remedies)
        outcome.userMessage = text
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}

/// What continues a suspended sign-in: which, and which of its steps.
struct SignInTicket {
    /// 256 random bits that only the ticket holds.
    struct ID {
        let text: String
        /// Where the store keeps it: whoever reads the store cannot make a ticket of it.
        let key: String

        init(_ secret: Secret, of holder: Secret?) {
            text = secret.reveal()
            let bytes = Array(text.utf8) + (holder.map { [0] + Array($0.reveal().utf8) } ?? [])
            key = "sign-in:\(Base64.encodeForURL(SHA256.hash(bytes)))"
        }
    }

    var id: ID
    var step: Int

    init(id: ID, step: Int) {
        self.id = id
        self.step = step
    }

    /// Reads a ticket; nil if it is none.
    init?(_ ticket: Secret, of holder: Secret?) {
        let parts = ticket.reveal().utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 43, parts[1].count <= 9, let step = Int(Substring(parts[1])),
            step > 0
        else { return nil }
        self.init(id: ID(Secret(String(Substring(parts[0]))), of: holder), step: step)
    }

    var text: Secret { Secret("\(id.text).\(step)") }
}
