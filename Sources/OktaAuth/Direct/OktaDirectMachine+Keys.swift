import AuthRecovery
import HTTPRecovery

/// WebAuthn in Direct Authentication, and what is written down of the machine.
extension OktaDirectMachine {
    /// Begins a ceremony: nobody is disturbed by a second challenge.
    mutating func challengeKey(_ factor: Factor) async throws -> SignInStep<OktaSession> {
        let answer = try await challenge("webauthn", channel: nil, resend: .replayable)
        guard let options = answer["publicKey"],
            let request = WebAuthn.SigningRequest(
                options: options,
                relyingPartyID: Self.host(options["extensions"]?["appid"]?.string) ?? api.org.domain,
                origin: api.org.origin.description
            )
        else { throw failure(.unreadable) }
        keyOptions = options
        guard let authenticator = api.configuration.authenticator else {
            return .ask(Challenge(factor: factor, hint: options["challenge"]?.string))
        }
        do {
            let assertion = try await authenticator.sign(request, on: api.client.runtime.time)
            var form = FormFields()
            form.add("clientDataJSON", Base64.encodeForURL(assertion.clientDataJSON))
            form.add("authenticatorData", Base64.encodeForURL(assertion.authenticatorData))
            form.add("signature", Base64.encodeForURL(assertion.signature))
            form.add("userHandle", assertion.userHandle.map { Base64.encodeForURL($0) })
            return try await token(grant("webauthn"), form)
        } catch let error as WebAuthn.Failure {
            var refusal = failure(.factorUnavailable, [.switchFactor])
            refusal.cause = error
            throw refusal
        }
    }

    /// Submits what the responder brings: the fields of a ceremony as a JSON object.
    mutating func submit(webAuthn text: Secret) async throws -> SignInStep<OktaSession> {
        guard let members = (try? JSONValue(parsing: text.reveal()))?.members, !members.isEmpty else {
            throw failure(.factorUnavailable, [.switchFactor])
        }
        var form = FormFields()
        for member in members.prefix(16) { form.add(member.key, member.value.string) }
        return try await token(grant("webauthn"), form)
    }

    private static func host(_ url: String?) -> String? {
        guard let url, let scheme = url.utf8.range(of: "://".utf8) else { return nil }
        let rest = url[scheme.upperBound...]
        return String(rest.prefix { $0 != "/" && $0 != ":" }).nonEmpty
    }
}

extension OktaDirectMachine: RecalledFields {
    static let name = "direct"

    var memory: JSONValue { [Self.name: recalled] }

    static var fields: [RememberedField<OktaDirectMachine>] {
        [
            .init("identifier", \.identifier), .init("password", \.password), .init("mfa_token", \.mfaToken),
            .init("challenge_types", \.challengeTypes), .init("transaction", \.transaction),
            .init("key_options", \.keyOptions), .init("polling", \.pollingMemory), .init("recovers", \.recovers),
            .init("reach", \.reach), .init("recovery_token", \.recoveryToken),
            .init("assurance", \.app.rememberedAssurance),
        ]
    }

    private var pollingMemory: OktaDirectPolling.Memory? {
        get { polling.map(OktaDirectPolling.Memory.init) }
        set { polling = newValue.map { OktaDirectPolling($0) } }
    }
}
