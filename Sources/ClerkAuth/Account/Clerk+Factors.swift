public import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Clerk {
    /// An authenticator app that is being set up.
    public struct TOTP: Sendable, Hashable {
        /// The key, in base32, for typing it in.
        public var secret: Secret
        /// The address that an authenticator app reads as a QR code.
        public var uri: Secret
    }

    // MARK: An authenticator app

    /// Begins to set up an authenticator app; one that was begun before and not proved is given up.
    ///
    /// - Parameter responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `conflict` if there is one. `CancellationError` as soon as the task is cancelled.
    public func createTOTP(answering responder: (any ChallengeResponder)? = nil) async throws -> TOTP {
        let json = try await manage(.post, "/v1/me/totp", FormFields(), resend: .replayable, responder)
        guard let secret = json["secret"]?.string?.nonEmpty else { throw RecoveryError(.unreadable, in: nil) }
        return TOTP(secret: Secret(secret), uri: Secret(json["uri"]?.string ?? ""))
    }

    /// Proves that the authenticator app is set up: it is a second factor from now on.
    ///
    /// - Parameters:
    ///   - code: What it shows; it is sent once.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Returns: The backup codes that come with the first second factor, and never again; mostly none.
    /// - Throws: `RecoveryError`; of the kind `challenge_incorrect` for a wrong code. `CancellationError` as soon as the task is
    ///   cancelled.
    @discardableResult
    public func verifyTOTP(code: Secret, answering responder: (any ChallengeResponder)? = nil) async throws -> [Secret]
    {
        var form = FormFields()
        form.add("code", secret: code)
        return Self.codes(
            try await manage(.post, "/v1/me/totp/attempt_verification", form, resend: .spending, responder)
        )
    }

    /// Takes the authenticator app away.
    ///
    /// - Parameter responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func removeTOTP(answering responder: (any ChallengeResponder)? = nil) async throws {
        _ = try await manage(.delete, "/v1/me/totp", FormFields(), responder)
    }

    // MARK: Backup codes

    /// Makes new backup codes in place of all others; they are shown this once.
    ///
    /// - Parameter responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; if the answer is lost, nobody knows whether the codes before are still good.
    ///   `CancellationError` as soon as the task is cancelled.
    public func createBackupCodes(answering responder: (any ChallengeResponder)? = nil) async throws -> [Secret] {
        Self.codes(try await manage(.post, "/v1/me/backup_codes", FormFields(), resend: .spending, responder))
    }

    // MARK: Passkeys

    /// Makes a passkey by the configuration's authenticator, and registers it.
    ///
    /// - Parameter responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Returns: Clerk's id of the passkey.
    /// - Throws: `RecoveryError`; of the kind `factor_unavailable` without an authenticator or if it holds one already,
    ///   `declined` if the person has cancelled. `CancellationError` as soon as the task is cancelled.
    public func createPasskey(answering responder: (any ChallengeResponder)? = nil) async throws -> String {
        guard let authenticator = api.configuration.authenticator else { throw WebAuthn.Failure.unsupported().refusal }
        let made = try await manage(.post, "/v1/me/passkeys", FormFields(), responder)
        guard let id = made["id"]?.string?.nonEmpty, let nonce = made["verification"]?["nonce"]?.string?.nonEmpty else {
            throw RecoveryError(.unreadable, in: nil)
        }
        let ceremony = PasskeyCeremony(authenticator: authenticator, time: api.client.runtime.time)
        var form = FormFields()
        form.add("strategy", "passkey")
        form.add(
            "public_key_credential",
            secret: try await ceremony.register(Secret(nonce), origin: api.configuration.origin)
        )
        let path = "/v1/me/passkeys/\(FormFields.encode(segment: id))/attempt_verification"
        _ = try await manage(.post, path, form, resend: .spending, responder)
        return id
    }

    /// Takes a passkey away.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the passkey.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func removePasskey(_ id: String, answering responder: (any ChallengeResponder)? = nil) async throws {
        _ = try await manage(.delete, "/v1/me/passkeys/\(FormFields.encode(segment: id))", FormFields(), responder)
    }

    // MARK: Calls

    func manage(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ form: FormFields,
        resend: RequestOptions.ResendPermission = .byMethod,
        _ responder: (any ChallengeResponder)?
    ) async throws -> JSONValue {
        let body = method == .delete || method == .get ? nil : ProviderRequest.Content.form(form)
        let request = ProviderRequest(method, path: path, body: body, resend: resend)
        let json = try await send(request, answering: responder).json()
        return json["response"] ?? json
    }

    static func codes(_ json: JSONValue) -> [Secret] {
        ((json["codes"] ?? json["backup_codes"])?.array ?? []).prefix(64).compactMap { $0.string?.nonEmpty }.map {
            Secret($0)
        }
    }
}
