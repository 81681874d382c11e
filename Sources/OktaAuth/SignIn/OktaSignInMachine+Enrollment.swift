import AuthRecovery
import HTTPRecovery

/// Enrolling and activating factors.
extension OktaSignInMachine {
    /// What tells a security question that is chosen for enrollment from one that is answered.
    static var newQuestion: String { "question/new" }

    /// Says what is wanted if a factor has to be enrolled.
    mutating func follow(_ enrolling: OktaEnrolling) async throws -> SignInStep<OktaSession> {
        enrollment = nil
        if !api.configuration.enrollsOptionalFactors, let skip = enrolling.skip {
            return try await goOn { _ in try await skip.perform(()) }
        }
        let factors = open(enrolling)
        guard !factors.isEmpty else { throw failure(.factorUnavailable, [.contactAdmin]) }
        return .choose(factors)
    }

    /// The factors that can be enrolled now: those that have to be, else all.
    func open(_ enrolling: OktaEnrolling) -> [Factor] {
        let open = enrolling.factors.filter(\.isOpenForEnrollment)
        let required = open.filter { $0.enrollment == "REQUIRED" }
        return (required.isEmpty ? open : required).compactMap(\.factor)
    }

    /// Begins to enroll a factor that was chosen.
    mutating func enroll(_ factor: Factor, _ enrolling: OktaEnrolling) async throws -> SignInStep<OktaSession> {
        if factor.id == Self.newQuestion { return .ask(Challenge(factor: factor, prompt: factor.destination)) }
        let chosen = enrolling.factors.first { $0.isOpenForEnrollment && $0.factor?.isSame(as: factor) == true }
        guard let chosen, let step = enrolling.enroll(chosen) else { throw missing("enroll") }
        hasUsedFactors = true
        enrollment = chosen
        switch chosen.type {
        case .sms, .call:
            let number = Factor(key: .phoneNumber, providerName: chosen.type.rawValue, id: chosen.provider)
            return .ask(Challenge(factor: number))
        case .question:
            let questions = try await enrolling.questions(for: chosen) ?? []
            guard !questions.isEmpty else { throw missing("questions") }
            return .choose(
                questions.map { question in
                    Factor(
                        key: .securityAnswer,
                        providerName: question.id,
                        destination: question.text,
                        id: Self.newQuestion
                    )
                }
            )
        case .email:
            // The code is sent with it.
            guard !sent.contains(where: factor.isSame) else { return .ask(Challenge(factor: factor)) }
            sent.append(factor)
            return try await follow { _ in try await step.perform(OktaFactorEnrollment(chosen)) }
        default:
            return try await follow { _ in try await step.perform(OktaFactorEnrollment(chosen)) }
        }
    }

    /// Enrolls a phone.
    mutating func enroll(phoneNumber: Secret) async throws -> SignInStep<OktaSession> {
        guard case .enrolling(let enrolling) = state, let factor = enrollment, let step = enrolling.enroll(factor)
        else {
            throw missing("enroll")
        }
        let input = OktaFactorEnrollment(factor, phoneNumber: phoneNumber)
        return try await follow { _ in try await step.perform(input) }
    }

    /// Enrolls a security question.
    mutating func enroll(
        _ answer: OktaFactorAnswer,
        to question: Factor,
        _ enrolling: OktaEnrolling
    ) async throws -> SignInStep<OktaSession> {
        guard let factor = enrollment, let step = enrolling.enroll(factor), let text = answer.text else {
            throw missing("enroll")
        }
        let input = OktaFactorEnrollment(factor, question: question.providerName, answer: text)
        return try await follow { _ in try await step.perform(input) }
    }

    /// Says what is wanted if a factor has to be activated.
    mutating func follow(_ activating: OktaActivating) async throws -> SignInStep<OktaSession> {
        guard let enrolled = activating.factor, let factor = enrolled.factor else {
            throw failure(.factorUnavailable, [.switchFactor])
        }
        switch enrolled.type {
        case .push: return try await awaitPush(.activating(activating), factor)
        case .webAuthn: return try await register(activating, enrolled, factor)
        default: return .ask(Challenge(factor: factor, setup: activating.setup))
        }
    }
}
