import AuthRecovery
import HTTPRecovery

/// A question for what proves that somebody is no robot, and what waits for the answer.
struct AbuseQuestion: RememberedFields {
    /// Where a proof can go beside the client: along with what begins a flow, or to the flow.
    enum Place: Equatable {
        case creation
        case flow(path: String)
    }

    /// The refusal for which it is asked.
    var refusal = RecoveryError(outcome: Outcome(.challengeRequired), reason: .notRecoverable)
    /// What Clerk's protection wants to have proved; nil if a captcha is to be solved.
    var check: JSONValue?
    /// Where the proof is presented; nil if it goes along with the call that was refused.
    var path: String?
    /// What is done behind it; nil to follow what the server says to it.
    var deferred: ClerkMove?
    /// How the instance shows captchas, as far as that is known.
    var captcha: ClerkEnvironment.Captcha?

    init() {}

    static var fields: [RememberedField<AbuseQuestion>] {
        [
            .init("refusal", \.refusal), .init("check", \.check), .init("path", \.path),
            .init("deferred", \.deferred), .init("captcha", \.captcha),
        ]
    }

    /// What a refused move asks for.
    ///
    /// - Parameter place: Where the flow stands; nil if it takes no proofs of its own.
    /// - Returns: Nil if it was refused for something else, or cannot wait.
    init?(_ refusal: RecoveryError, of move: ClerkMove, at place: Place?) {
        guard let deferred = move.deferred, refusal.outcome.provesNothingSpent else { return nil }
        self.refusal = refusal
        guard isRefused else { return nil }
        self.deferred = deferred
        switch (refusal.outcome.code, place) {
        case ("requires_captcha", _): path = "/client/verify"
        case ("captcha_missing_token", .creation), ("captcha_invalid", .creation): break
        case ("requires_protect_check", let place?):
            check = refusal.outcome.details?["protect_check"] ?? .object([])
            if case .flow(let flow) = place { path = Self.path(of: flow) }
        default: return nil
        }
    }

    /// What a flow waits for, as its own answer tells.
    init(_ refusal: RecoveryError, check: JSONValue, of flow: String) {
        self.refusal = refusal
        self.check = check
        path = Self.path(of: flow)
    }

    private static func path(of flow: String) -> String { "\(flow)/protect_check" }

    // MARK: The question

    /// The question, with what Clerk says that an app needs to have the proof made.
    var challenge: Challenge {
        let code = refusal.outcome.code ?? ClerkSignInStatus.needsProtectCheck.rawValue
        let told = (check?.members ?? captcha?.members ?? []).prefix(16).filter {
            $0.value.description.utf8.count <= 4096
        }
        var challenge = Challenge(
            factor: Factor(key: .captcha, providerName: check == nil ? "captcha" : "protect_check"),
            hint: JSONValue.object([JSONValue.Member("code", .string(code))] + told).description
        )
        if code == Self.wrong {
            challenge.previousFailure = refusal.outcome
            challenge.occasion = refusal.outcome
        }
        return challenge
    }

    private static let wrong = "captcha_invalid"

    /// Whether a call was refused for it; else a flow tells in its answer what it waits for.
    var isRefused: Bool { (refusal.outcome.status ?? 0) >= 400 }

    /// Whether it asks for what was asked for before.
    func isSame(as other: AbuseQuestion) -> Bool {
        path == other.path && (check?["token"] ?? check) == (other.check?["token"] ?? other.check)
    }

    /// The refusal of the proof that was given: the question is asked again.
    ///
    /// Clerk uses the same word for those it does not want to see, whatever they solve.
    var ofWrongProof: RecoveryError {
        var error = refusal
        error.outcome.kind = .challengeIncorrect
        error.outcome.remedies = [.solveChallenge, .contactAdmin]
        return error
    }

    // MARK: The answer

    /// What an answer holds: the proof alone, or a captcha's token in JSON with the widget that it comes from.
    func evidence(in answer: Secret) -> AbuseEvidence {
        var evidence = AbuseEvidence()
        guard check == nil else {
            evidence.proof = answer
            return evidence
        }
        let parts = try? JSONValue(parsing: answer.reveal())
        evidence.captcha = ClerkConfiguration.Captcha(
            token: (parts?["token"]?.string).map { Secret($0) } ?? answer,
            widgetType: parts?["widget_type"]?.string ?? captcha?.widgetType ?? "smart"
        )
        return evidence
    }

    /// Whether what it asks for is too old to be proved.
    func isExpired(at now: Timestamp) -> Bool {
        check?["expires_at"]?.milliseconds.map { $0 <= now } ?? false
    }
}
