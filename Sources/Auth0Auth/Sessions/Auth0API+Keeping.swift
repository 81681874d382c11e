import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The end of a sign-in: what was obtained is checked, and stored before anyone uses it.
extension Auth0API {
    /// Stores the tokens; what belongs to somebody else goes.
    ///
    /// - Parameters:
    ///   - answer: The tokens.
    ///   - mark: What tells the session from others that the tokens go on with; nil for that of a new sign-in.
    /// - Throws: ``Auth0UnkeptRecoveryCode`` if there is a new recovery code, and it could not be stored with what;
    ///   `RecoveryError` for an ID token that is not the tenant's, or not for the app, and of the kind `state_conflict` if
    ///   another has signed in while the session was to go on.
    func keep(_ answer: OAuthClient.TokenAnswer, goingOn mark: JSONValue? = nil) async throws -> Auth0Session {
        let recoveryCode = answer.others.first { $0.key == "recovery_code" }?.value.string.map { Secret($0) }
        let now = time.wallTime
        do {
            if let token = answer.idToken { try await verify(token) }
            let kept = try await store.keep { stored in
                guard mark == nil || stored.auth0Mark ?? .null == mark else { return }
                var base = stored
                if mark == nil {
                    base = Credentials(others: stored.others)
                    // Tells this sign-in from the next, however often its tokens are renewed.
                    base.auth0Mark = .string(now.rfc3339)
                    base.idToken = nil
                }
                // What stands there is kept up to date by renewals.
                if let token = answer.idToken { base.idToken = token }
                stored = answer.merged(into: base)
            }
            guard kept.credentials.accessToken == answer.accessToken else { throw RecoveryError.signedInElsewhere }
        } catch {
            // It is told nowhere else, and the old one is used up.
            throw recoveryCode.map { Auth0UnkeptRecoveryCode($0, cause: error) } ?? error
        }
        return Auth0Session(answer, recoveryCode: recoveryCode)
    }

    /// The tokens in an answer that was accepted.
    func tokens(in response: RecoveredResponse) async throws -> OAuthClient.TokenAnswer {
        let clock = ServerClock(response.headerFields, receivedAt: time.wallTime)
        guard let answer = OAuthClient.TokenAnswer(try await response.json(), date: clock.now) else {
            throw RecoveryError(.unreadable, in: response)
        }
        return answer
    }

    /// Checks that an ID token is the tenant's, for the app, still good, and, if the app wants that, signed by the tenant.
    func verify(_ token: Secret) async throws {
        try await knownKeys.check(
            token,
            issuer: issuer,
            clientID: configuration.clientID,
            at: clocks.time(at: base.origin, wallTime: time.wallTime),
            signatures: configuration.signatures
        ) {
            try await send(Call(method: .get, path: "/.well-known/jwks.json", resend: .byMethod))
        }
    }
}

extension Credentials {
    /// What tells the sign-in that they are of from others.
    var auth0Mark: JSONValue? {
        get { others.last { $0.key == Self.auth0MarkKey }?.value }
        set {
            others.removeAll { $0.key == Self.auth0MarkKey }
            if let newValue { others.append(JSONValue.Member(Self.auth0MarkKey, newValue)) }
        }
    }

    private static let auth0MarkKey = "auth0_signed_in_at"

    /// Whether the session's own end has come, which no renewal puts off (claim `session_expiry`), or is half a minute away.
    func isOverAtAuth0(at now: Timestamp) -> Bool {
        guard let end = auth0Identity?.claims["session_expiry"]?.lenientNumber?.seconds, end > .zero else {
            return false
        }
        return now.advanced(by: .seconds(30)) >= Timestamp(sinceEpoch: end)
    }

    /// Takes away what the session consists of.
    mutating func endAuth0Session() {
        remove(.refresh)
        remove(.access)
        idToken = nil
        auth0Mark = nil
    }

    /// What the ID token that is held tells.
    var auth0Identity: UnverifiedJWT? { idToken.flatMap { UnverifiedJWT($0) } }
}

extension RecoveryError {
    /// Another has signed in meanwhile: what was obtained for the session before is of no use.
    fileprivate static var signedInElsewhere: RecoveryError {
        let outcome = Outcome(.stateConflict, processed: .yes, remedies: [.useExistingSession])
        return RecoveryError(outcome: outcome, reason: .identityChanged)
    }
}
