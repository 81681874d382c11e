public import AuthRecovery
import HTTPRecovery

/// What is sent to enroll a factor.
public struct OktaFactorEnrollment: Sendable, Hashable {
    /// The factor, as the server offers it.
    public var factor: OktaFactor
    /// The phone number, for text messages and calls.
    public var phoneNumber: Secret?
    /// The id of the question, for a security question.
    public var question: String?
    /// The answer, for a security question.
    public var answer: Secret?
    /// The id of the credential, for a token that has one.
    public var credentialID: String?
    /// A code, for a token that is activated with its enrollment.
    public var passCode: Secret?
    /// What a factor of another sort wants in its profile beside, by Okta's names; default: nothing.
    public var profile: [String: Secret]

    /// Creates an enrollment.
    public init(
        _ factor: OktaFactor,
        phoneNumber: Secret? = nil,
        question: String? = nil,
        answer: Secret? = nil,
        credentialID: String? = nil,
        passCode: Secret? = nil,
        profile: [String: Secret] = [:]
    ) {
        self.factor = factor
        self.phoneNumber = phoneNumber
        self.question = question
        self.answer = answer
        self.credentialID = credentialID
        self.passCode = passCode
        self.profile = profile
    }

    var members: [JSONValue.Member] {
        let values: [(String, String?)] = [
            ("phoneNumber", phoneNumber?.reveal()), ("question", question), ("answer", answer?.reveal()),
            ("credentialId", credentialID),
        ]
        var profile = values.compactMap { name, value in value.map { JSONValue.Member(name, .string($0)) } }
        profile += self.profile.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value.reveal())) }
        var members: [JSONValue.Member] = [
            .init("factorType", .string(factor.type.rawValue)), .init("provider", .string(factor.provider)),
        ]
        if !profile.isEmpty { members.append(.init("profile", .object(profile))) }
        if let passCode { members.append(.init("passCode", .string(passCode.reveal()))) }
        return members
    }
}
