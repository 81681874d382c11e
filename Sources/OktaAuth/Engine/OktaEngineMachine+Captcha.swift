import AuthRecovery
import HTTPRecovery

/// Captchas, which only a browser can show: the person, or the app, brings the proof.
extension OktaEngineMachine {
    /// The question for the proof that a form wants before it is posted; nil if it wants none, or the proof is here.
    func unsolved(_ form: OktaForm) -> SignInStep<OktaSession>? {
        guard captcha == nil, form[OktaForm.captchaPath]?.isRequired == true else { return nil }
        let told = answer?.body["captcha"]?["value"]
        let factor = Factor(key: .captcha, providerName: told?["type"]?.string?.bounded(to: 256) ?? "captcha")
        let hint = told?.description
        return .ask(Challenge(factor: factor, hint: hint.flatMap { $0.utf8.count > 4096 ? nil : $0 }))
    }

    /// Takes the proof, which goes along with what was typed before.
    mutating func submit(captcha proof: Secret) async throws -> SignInStep<OktaSession> {
        captcha = proof
        guard let answer else { return try await begin() }
        return try await follow(answer)
    }

    /// The proof that a form wants, which is good once.
    mutating func takeProof(for form: OktaForm) -> [String: JSONValue] {
        guard let proof = captcha, form[OktaForm.captchaPath] != nil else { return [:] }
        captcha = nil
        return [OktaForm.captchaPath: .string(proof.reveal())]
    }
}

extension OktaForm {
    /// Where a form wants the proof of a captcha.
    fileprivate static let captchaPath = "captchaVerify.captchaToken"
}
