import AuthRecovery
import HTTPRecovery

/// Passkeys: a challenge, and what an authenticator makes of it.
extension Auth0API {
    /// Asks for a challenge: one for any passkey of the tenant's, or one that makes an account.
    ///
    /// Nobody is disturbed by a second one.
    func passkeyChallenge(for account: Auth0NewAccount?) async throws -> Auth0Errand {
        var members = realm
        if let account {
            let profile: [(String, String?)] = [
                ("email", account.email), ("phone_number", account.phoneNumber), ("username", account.username),
                ("name", account.name),
            ]
            let given = profile.compactMap { name, value in value.map { JSONValue.Member(name, .string($0)) } }
            members.append(JSONValue.Member("user_profile", .object(given)))
        }
        let path = account == nil ? "/passkey/challenge" : "/passkey/register"
        let response = try await send(Call(path: path, members: members, resend: .replayable))
        let json = try await response.json()
        guard let session = json["auth_session"]?.string, !session.isEmpty,
            let options = json["authn_params_public_key"], options.members != nil
        else { throw RecoveryError(.unreadable, in: response) }
        var errand = Auth0Errand(.passwordless(.passkey), to: account?.email ?? "", session: Secret(session))
        errand.options = options
        return errand
    }

    /// Has the authenticator do what a challenge wants, within its time.
    ///
    /// - Returns: The credential as JSON (Web Authentication section 5.1).
    /// - Throws: `RecoveryError`: of the kind `declined` if the person has cancelled, else `factor_unavailable`.
    func credential(
        _ errand: Auth0Errand,
        of authenticator: any WebAuthn.Authenticator,
        isNew: Bool
    ) async throws -> JSONValue {
        let origin = base.origin.description
        do {
            if isNew {
                guard let request = WebAuthn.RegistrationRequest(options: errand.options, origin: origin) else {
                    throw WebAuthn.Failure.badData()
                }
                return try await authenticator.register(request, on: time).json
            }
            guard let request = WebAuthn.SigningRequest(options: errand.options, origin: origin) else {
                throw WebAuthn.Failure.badData()
            }
            return try await authenticator.sign(request, on: time).json
        } catch let failure as WebAuthn.Failure {
            throw failure.refusal
        }
    }

    /// Presents a credential; the challenge is spent by it.
    func passkey(_ credential: JSONValue, of errand: Auth0Errand) async throws -> RecoveredResponse {
        var members = [
            JSONValue.Member("auth_session", .string(errand.session?.reveal() ?? "")),
            JSONValue.Member("authn_response", credential),
        ]
        members += realm
        var call = grant("urn:okta:params:oauth:grant-type:webauthn", members + wish)
        call.reading = .passkey
        return try await send(call)
    }

    /// The database, as far as one is named.
    private var realm: [JSONValue.Member] {
        configuration.realm.map { [JSONValue.Member("realm", .string($0))] } ?? []
    }
}
