public import AuthRecovery
import HTTPRecovery

/// What is sent to verify or activate a factor.
public struct OktaFactorAnswer: Sendable, Hashable {
    private var fields: [String: Secret] = [:]
    /// Whether the device is to be remembered, so that it is not asked again; nil leaves it to the org.
    public var remembersDevice: Bool?
    /// Whether pushes are to be sent without asking from now on; nil leaves it to the org.
    public var autoPush: Bool?

    private init(_ fields: [String: Secret]) {
        self.fields = fields
    }

    /// Nothing: the first step of a factor, which has a code or a push sent or a challenge made.
    public static var start: OktaFactorAnswer { OktaFactorAnswer([:]) }

    /// A code.
    public static func passCode(_ code: Secret) -> OktaFactorAnswer { OktaFactorAnswer(["passCode": code]) }

    /// The answer to a security question.
    public static func answer(_ answer: Secret) -> OktaFactorAnswer { OktaFactorAnswer(["answer": answer]) }

    /// A WebAuthn assertion.
    public static func assertion(_ assertion: WebAuthn.Assertion) -> OktaFactorAnswer {
        OktaFactorAnswer([
            "clientData": Secret(Base64.encode(assertion.clientDataJSON)),
            "authenticatorData": Secret(Base64.encode(assertion.authenticatorData)),
            "signatureData": Secret(Base64.encode(assertion.signature)),
        ])
    }

    /// A new WebAuthn credential.
    public static func attestation(_ attestation: WebAuthn.Attestation) -> OktaFactorAnswer {
        OktaFactorAnswer([
            "clientData": Secret(Base64.encode(attestation.clientDataJSON)),
            "attestation": Secret(Base64.encode(attestation.attestationObject)),
        ])
    }

    /// Whatever a factor of another sort wants, by Okta's names: `signatureData` and `clientData` of a U2F key,
    /// `sig_response` of Duo's page.
    public static func fields(_ fields: [String: Secret]) -> OktaFactorAnswer { OktaFactorAnswer(fields) }

    /// Fields that another program has prepared, as a JSON object of texts; nil if it is none.
    init?(json text: Secret) {
        guard let members = (try? JSONValue(parsing: text.reveal()))?.members, !members.isEmpty else { return nil }
        for member in members.prefix(16) {
            guard let value = member.value.string else { return nil }
            fields[member.key] = Secret(value)
        }
    }

    /// The answer to a question, if it is one.
    var text: Secret? { fields["answer"] }

    var members: [JSONValue.Member] {
        fields.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value.reveal())) }
    }

    var query: [String] {
        var query: [String] = []
        if let remembersDevice { query.append("rememberDevice=\(remembersDevice)") }
        if let autoPush { query.append("autoPush=\(autoPush)") }
        return query
    }
}
