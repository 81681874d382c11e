import AuthRecovery
import HTTPRecovery

/// A sign-in at the identity engine as a machine: the org's policy offers forms, and the person fills them in.
///
/// Whatever the policy wants is asked for as it comes: nothing is known beforehand but the name and, perhaps, the
/// password. The password is typed by the machine once; after that it is asked for.
struct OktaEngineMachine: SignInMachine {
    var api: OktaAPI
    private(set) var context: SignInContext?
    var app: OktaApp
    var goal: OktaSignInMachine.Goal
    var identifier: String

    /// The password until it was sent.
    var password: Secret?
    var interaction: OktaInteraction?
    /// The answer that stands.
    var answer: OktaEngineAnswer?
    /// The proof of a captcha, until a form has taken it along.
    var captcha: Secret?
    /// What was filled in of a form with several fields.
    var entries: [String: Secret] = [:]
    /// The option that waits for a phone number.
    var pending: String?
    /// How often the code of a factor was sent.
    var sent: [String: Int] = [:]
    /// Whether a new password is wanted in place of a forgotten one.
    var recovers = false
    /// How many codes were exchanged.
    var exchanges = 0
    /// Whether what is proved lifts a lockout, which holds back everything else.
    var lifts = false
    /// Whether somebody wants Okta Verify on their device asked, by its address.
    var wantsDevice = false
    /// How many steps were taken since the person was asked.
    var unattended = 0
    var patience: Duration?
    var polling: OktaEnginePolling?
    /// What has ended the sign-in so that another beginning is no help: it has gone on elsewhere.
    private var end: RecoveryError?

    init(api: OktaAPI, app: OktaApp, goal: OktaSignInMachine.Goal, identifier: String, password: Secret?) {
        self.api = api
        self.app = app
        self.goal = goal
        self.identifier = identifier
        self.password = password
    }

    mutating func enter(_ context: SignInContext) {
        self.context = context
        api = api.within(context.operation)
        api.account = LockoutLedger.account(for: identifier)
        api.transactionEndsAt = answer?.endsAt
    }

    mutating func abandon() async throws {
        guard let answer, let cancel = answer.body["cancel"].flatMap({ OktaForm($0) }) else { return }
        _ = try await api.post(cancel, cancel.body(base(answer)), resend: .replayable)
    }

    static let passwordFactor = OktaSignInMachine.passwordFactor
    /// The form that has Okta Verify opened on the person's device.
    static let launch = "launch-authenticator"

    var openingFactor: Factor? { password.map { _ in Self.passwordFactor } }

    var unlockFactors: [Factor] {
        answer?.form("unlock-account").map { [Factor(key: .text, providerName: $0.name, id: "form/\($0.name)")] } ?? []
    }

    mutating func begin() async throws -> SignInStep<OktaSession> {
        if let end { throw end }
        answer = nil
        api.transactionEndsAt = nil
        (entries, pending, sent, polling, captcha) = ([:], nil, [:], nil, nil)
        if case .recover = goal { recovers = true } else { recovers = false }
        let token = goal.token
        (lifts, wantsDevice) = (recovers || token != nil, false)
        let interaction = try await api.interact(for: app, name: identifier.nonEmpty, with: token)
        self.interaction = interaction
        return try await take { try await $0.introspect(interaction, nil) }
    }

    mutating func resync() async throws -> SignInStep<OktaSession> {
        guard let interaction else { return try await begin() }
        let handle = answer?.stateHandle
        return try await take { try await $0.introspect(interaction, handle) }
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<OktaSession> {
        unattended = 0
        guard let answer else { return try await resync() }
        if factor.isSame(as: .identifier) { return .ask(.identifier) }
        let parts = (factor.id ?? "").split(separator: "/", maxSplits: 1).map(String.init)
        wantsDevice = [Self.launch, OktaAuthenticator.device].contains(factor.providerName)
        switch parts.first {
        case "form":
            guard let form = answer.form(parts.last ?? "") else { throw missing(parts.last ?? "") }
            lifts = lifts || !wantsDevice
            return try await post(form, resend: .replayable)
        case "action":
            guard let form = answer.current?.action(parts.last ?? "") else { throw missing(parts.last ?? "") }
            (recovers, lifts) = (false, true)
            return try await post(form, resend: .replayable)
        case "link": return visit(answer, factor)
        case "channel": return try await choose(channel: factor, answer)
        case "question": return .ask(Challenge(factor: factor, prompt: factor.destination))
        default: return try await choose(factor, answer)
        }
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<OktaSession> {
        unattended = 0
        patience = limit
        defer { patience = nil }
        guard let form = answer?.current?.action("resend") ?? answer?.current?.action("send") else {
            return try await choose(factor)
        }
        return try await post(form, resend: .spending, purpose: .engineSending)
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<OktaSession> {
        guard let answer else {
            if let refusal { throw refusal }
            return .choose([factor])
        }
        if refusal == nil, factor.key == .newPassword, let skip = answer.form("skip") {
            // A password that expires soon is good for now.
            return try await post(skip, resend: .spending)
        }
        var others = alternatives(answer)
        // By themselves nobody is sent to an app on their device.
        if refusal != nil { others.removeAll { $0.providerName == Self.launch } }
        if others.isEmpty, let refusal { throw refusal }
        return .choose(others.isEmpty ? [factor] : others)
    }

    // MARK: Steps

    /// What every form wants of the flow.
    func base(_ answer: OktaEngineAnswer) -> [String: JSONValue] {
        answer.stateHandle.map { ["stateHandle": .string($0.reveal())] } ?? [:]
    }

    /// More steps than a sign-in takes by itself; beyond it something goes round in circles.
    private static let maximumUnattended = 32

    /// Posts a form with what is filled in.
    mutating func post(
        _ form: OktaForm,
        _ values: [String: JSONValue] = [:],
        choosing choices: [String: Int] = [:],
        resend: RequestOptions.ResendPermission,
        purpose: OktaCallPurpose = .engine,
        isAttempt: Bool = false
    ) async throws -> SignInStep<OktaSession> {
        guard let answer else { throw missing(form.name) }
        if let question = unsolved(form) { return question }
        let values = values.merging(takeProof(for: form)) { $1 }
        let body = form.body(base(answer).merging(values) { $1 }, choosing: choices)
        let isLifting = lifts
        return try await take {
            try await $0.post(form, body, resend: resend, purpose: purpose, isAttempt: isAttempt && !isLifting)
        }
    }

    /// Takes a step, and says what the answer wants that it leads to.
    mutating func take(_ step: (OktaAPI) async throws -> OktaEngineStep) async throws -> SignInStep<OktaSession> {
        unattended += 1
        guard unattended <= Self.maximumUnattended else { throw circles }
        do {
            return try await follow(step(api.waiting(atMost: patience)))
        } catch let error as RecoveryError {
            note(error)
            throw error
        }
    }

    /// Takes into account what an error leaves behind: the answer that was not taken may come with a new handle.
    mutating func note(_ error: RecoveryError) {
        if let left = api.engineAnswer(leftBy: error) { stand(at: left) }
        if error.kind == .flowExpired, error.outcome.code != nil, !error.remedies.contains(.restartFlow) { end = error }
        if error.outcome.tokenAction == .clear, error.outcome.code != nil {
            answer = nil
            interaction = nil
        }
    }

    mutating func stand(at answer: OktaEngineAnswer) {
        self.answer = answer
        polling?.stand(at: answer)
        api.transactionEndsAt = answer.endsAt
    }

    // MARK: Errors

    func failure(_ kind: Outcome.Kind, _ remedies: [Outcome.Remedy] = []) -> RecoveryError {
        var outcome = Outcome(kind, processed: .yes, remedies: remedies)
        outcome.statusType = answer?.forms.first?.name
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }

    func missing(_ form: String) -> RecoveryError {
        var error = failure(.stateConflict, [.resync])
        error.cause = OktaLinkError.missing(form)
        return error
    }

    /// The end of a sign-in that leads nowhere.
    var circles: RecoveryError {
        var error = failure(.stateConflict)
        error.reason = .attemptsExhausted
        return error
    }
}
