import AuthRecovery
import HTTPRecovery

/// The verification of a session: its factors are those of a sign-in, its end is a session that is fresher.
struct ClerkReverificationMachine: ClerkStage {
    private var calls: ClerkFactorCalls
    private var session: ClerkSession
    private var level: ClerkReverification
    /// The verification under way, as the server told it last.
    private var verification: ClerkSignIn?
    /// Until when the code that was sent last may be presented.
    private var codeLimit: RequestOptions.SendBy?
    /// Whether its code was presented before its message had left.
    private var early = EarlyCode()

    init(api: ClerkAPI, session: ClerkSession, level: ClerkReverification) {
        calls = ClerkFactorCalls(
            api: api,
            account: session.account,
            sessionID: session.id
        )
        self.session = session
        self.level = level
    }

    /// The verification that a refusal wants.
    init(api: ClerkAPI, session: ClerkSession, wantedBy outcome: Outcome) {
        self.init(api: api, session: session, level: ClerkReverification(wantedBy: outcome))
    }

    var api: ClerkAPI {
        get { calls.api }
        set { calls.api = newValue }
    }

    private var base: String { "/client/sessions/\(FormFields.encode(segment: session.id))/verify" }

    mutating func enter(_ context: SignInContext) {
        calls.api = calls.api.within(context.operation)
    }

    var placeOfProofs: AbuseQuestion.Place? { nil }
    /// Beginning it hands out the one that is under way, which spends nothing.
    var canBeLookedUp: Bool { false }

    mutating func begin() async throws -> ClerkStep {
        try await follow(calls.perform(beginning))
    }

    mutating func resync(after doubt: RecoveryError?) async throws -> ClerkStep { try await begin() }

    private var beginning: ClerkAPI.Call {
        var form = FormFields()
        form.add("level", level.rawValue)
        var call = calls.spending(base, form)
        // Nothing is spent by beginning twice.
        call.resend = .replayable
        call.account = nil
        return call
    }

    mutating func choose(_ factor: Factor) async throws -> ClerkStep {
        codeLimit = nil
        early = EarlyCode()
        switch factor.key {
        case .emailCode, .phoneCode, .webauthn, .redirect: break
        default: return .ask(Challenge(factor: factor))
        }
        let before = verification?.status
        let answer = try await calls.prepare(factor, at: base, isSecond: isSecondFactor)
        if let updated = Self.verification(in: answer) {
            if updated.status != before { return try await follow(answer) }
            verification = updated
        }
        let proof = isSecondFactor ? verification?.secondFactorVerification : verification?.firstFactorVerification
        if factor.key == .redirect {
            guard let url = proof?.openRedirect else { throw answer.failure(.unreadable) }
            return .ask(Challenge(factor: factor, url: url))
        }
        guard factor.key == .webauthn else {
            codeLimit = calls.limit(of: proof, for: factor)
            return .ask(Challenge(factor: factor))
        }
        switch try await calls.sign(proof?.nonce, for: factor) {
        case .ask(let challenge): return .ask(challenge)
        case .proof(let proof): return try await attempt(proof, to: factor)
        }
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> ClerkStep {
        if challenge.key == .webauthn, answer.reveal() == "unsupported" {
            throw WebAuthn.Failure.unsupported().refusal
        }
        if challenge.key == .redirect { return try await comeBack(to: answer, of: challenge) }
        return try await attempt(answer, to: challenge.factor)
    }

    /// Reads what has become of the verification where the browser came back from another provider.
    ///
    /// Nothing but beginning it tells that, which hands out the one that is under way.
    private mutating func comeBack(
        to address: Secret,
        of challenge: Challenge
    ) async throws -> ClerkStep {
        var call = beginning
        if let nonce = try RedirectCallback(address).nonce {
            call.query.add("rotating_token_nonce", secret: nonce)
            call.resend = .spending
        }
        let answer = try await calls.perform(call)
        guard let updated = Self.verification(in: answer) else { throw answer.failure(.unreadable) }
        // Nobody has been there yet, or that was no address of the way back.
        if updated.status == .needsFirstFactor, updated.firstFactorVerification?.openRedirect == challenge.url {
            throw answer.failure(.challengeIncorrect, [.askUser])
        }
        return try await follow(answer)
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> ClerkStep {
        let unbounded = calls
        calls = calls.waiting(atMost: limit)
        defer { calls.api.client = unbounded.api.client }
        return try await choose(factor)
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> ClerkStep {
        .choose(offered)
    }

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> ClerkStep {
        if let bound { throw bound }
        if let step = early.question() { return step }
        return try await resync(after: nil)
    }

    private mutating func attempt(_ answer: Secret, to factor: Factor) async throws -> ClerkStep {
        do {
            return try await follow(
                calls.attempt(answer, to: factor, at: base, isSecond: isSecondFactor, until: codeLimit)
            )
        } catch let error as RecoveryError {
            return try early.wait(after: error, of: factor)
        }
    }

    private var isSecondFactor: Bool { verification?.status == .needsSecondFactor }

    private var offered: [Factor] {
        let listed = isSecondFactor ? verification?.supportedSecondFactors : verification?.supportedFirstFactors
        return calls.usable((listed ?? []).compactMap(\.factor)).filter { $0.key != .emailLink }
    }

    private static func verification(in answer: ClerkAnswer) -> ClerkSignIn? {
        ClerkSignIn(verification: answer.json["response"] ?? answer.json)
    }

    mutating func follow(_ answer: ClerkAnswer) async throws -> ClerkStep {
        guard let updated = Self.verification(in: answer) else { throw answer.failure(.unreadable) }
        verification = updated
        switch updated.status {
        case .complete:
            // The tokens that are held tell the old age of the factors.
            calls.api.sessionTokens.expire(session: session.id)
            let fresh = answer.json["response"]?["session"].flatMap { ClerkSession($0) }
            return .verified(fresh?.id == session.id ? fresh ?? session : session)
        case .needsFirstFactor, .needsSecondFactor:
            guard !offered.isEmpty else {
                let listed = isSecondFactor ? updated.supportedSecondFactors : updated.supportedFirstFactors
                throw calls.withoutWay(listed.compactMap(\.factor).filter { $0.key != .emailLink }, answer)
            }
            return .choose(offered)
        default:
            throw answer.failure(.unknown, status: updated.status.rawValue)
        }
    }
}

extension ClerkReverificationMachine: RecalledFields {
    static let name = "reverification"

    static var fields: [RememberedField<ClerkReverificationMachine>] {
        [
            .init("session", \.session), .init("level", \.level), .init("verification", \.verification),
            .init("code_limit", \.codeLimit), .init("early_answers", \.early.count),
            .init("early_factor", \.early.factor),
        ]
    }
}
