public import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Clerk {
    // MARK: E-mail addresses

    /// The e-mail addresses of who is signed in, those that are not proved among them.
    ///
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if nobody is signed in. `CancellationError` as soon as
    ///   the task is cancelled.
    public func emailAddresses() async throws -> [ClerkContact] {
        try await contacts(.emailAddress)
    }

    /// Adds an e-mail address, and has a code sent to it.
    ///
    /// - Parameters:
    ///   - emailAddress: The address.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Returns: Clerk's id of the address, for ``verifyEmailAddress(_:code:answering:)``.
    /// - Throws: `RecoveryError`; of the kind `conflict` if somebody has the address. `CancellationError` as soon as the task is
    ///   cancelled.
    public func addEmailAddress(
        _ emailAddress: String,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws -> String {
        try await add(emailAddress, .emailAddress, responder)
    }

    /// Has a code sent to an e-mail address that is not proved yet.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the address.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `rate_limited` if the last code is too young. `CancellationError` as soon as the
    ///   task is cancelled.
    public func sendCode(
        toEmailAddress id: String,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws {
        try await sendCode(to: id, .emailAddress, responder)
    }

    /// Proves an e-mail address by the code that was sent to it.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the address.
    ///   - code: The code; it is sent once.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `challenge_incorrect` for a wrong code. `CancellationError` as soon as the task is
    ///   cancelled.
    public func verifyEmailAddress(
        _ id: String,
        code: Secret,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws {
        _ = try await verify(id, code, .emailAddress, responder)
    }

    /// Makes an e-mail address that is proved the one that Clerk writes to first.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the address.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `state_conflict` if it is not proved. `CancellationError` as soon as the task is
    ///   cancelled.
    public func makePrimary(
        emailAddress id: String,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws {
        try await makePrimary(id, .emailAddress, responder)
    }

    /// Takes an e-mail address away.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the address.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `conflict` if it is the last that the account has to have. `CancellationError` as
    ///   soon as the task is cancelled.
    public func removeEmailAddress(_ id: String, answering responder: (any ChallengeResponder)? = nil) async throws {
        try await remove(id, .emailAddress, responder)
    }

    // MARK: Phone numbers

    /// The phone numbers of who is signed in, those that are not proved among them.
    ///
    /// - Throws: As ``emailAddresses()``.
    public func phoneNumbers() async throws -> [ClerkContact] {
        try await contacts(.phoneNumber)
    }

    /// Adds a phone number, and has a code sent to it.
    ///
    /// - Parameters:
    ///   - phoneNumber: The number, in the form `+15555550100`.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Returns: Clerk's id of the number, for ``verifyPhoneNumber(_:code:forSecondFactor:answering:)``.
    /// - Throws: `RecoveryError`; of the kind `conflict` if somebody has the number, `factor_unavailable` if no code can be sent
    ///   to it. `CancellationError` as soon as the task is cancelled.
    public func addPhoneNumber(
        _ phoneNumber: String,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws -> String {
        try await add(phoneNumber, .phoneNumber, responder)
    }

    /// Has a code sent to a number that is not proved yet.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the number.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `rate_limited` if the last code is too young. `CancellationError` as soon as the
    ///   task is cancelled.
    public func sendCode(
        toPhoneNumber id: String,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws {
        try await sendCode(to: id, .phoneNumber, responder)
    }

    /// Proves a number by the code that was sent to it.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the number.
    ///   - code: The code; it is sent once.
    ///   - isSecondFactor: Whether the number is a second factor from now on. Default: no.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Returns: The backup codes that come with the first second factor, and never again; mostly none.
    /// - Throws: `RecoveryError`; of the kind `challenge_incorrect` for a wrong code. `CancellationError` as soon as the task is
    ///   cancelled.
    @discardableResult
    public func verifyPhoneNumber(
        _ id: String,
        code: Secret,
        forSecondFactor isSecondFactor: Bool = false,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws -> [Secret] {
        let proved = try await verify(id, code, .phoneNumber, responder)
        guard isSecondFactor else { return Self.codes(proved) }
        let reserved: FormFields = ["reserved_for_second_factor": "true"]
        let path = Self.path(of: id, .phoneNumber)
        return Self.codes(try await manage(.patch, path, reserved, resend: .replayable, responder))
    }

    /// Makes a number that is proved the one that Clerk writes to first.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the number.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: As ``makePrimary(emailAddress:answering:)``.
    public func makePrimary(
        phoneNumber id: String,
        answering responder: (any ChallengeResponder)? = nil
    ) async throws {
        try await makePrimary(id, .phoneNumber, responder)
    }

    /// Takes a number away.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the number.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func removePhoneNumber(_ id: String, answering responder: (any ChallengeResponder)? = nil) async throws {
        try await remove(id, .phoneNumber, responder)
    }

    // MARK: Both

    /// The user says more than the list does: which is the primary one.
    private func contacts(_ kind: ClerkContactKind) async throws -> [ClerkContact] {
        ClerkContact.list(kind, of: try await manage(.get, "/v1/me", FormFields(), nil))
    }

    private func add(
        _ address: String,
        _ kind: ClerkContactKind,
        _ responder: (any ChallengeResponder)?
    ) async throws -> String {
        var form = FormFields()
        form.add(kind.name, address)
        let json = try await manage(.post, "/v1/me/\(kind.path)", form, responder)
        guard let id = json["id"]?.string?.nonEmpty else { throw RecoveryError(.unreadable, in: nil) }
        try await sendCode(to: id, kind, responder)
        return id
    }

    private func sendCode(
        to id: String,
        _ kind: ClerkContactKind,
        _ responder: (any ChallengeResponder)?
    ) async throws {
        let path = "\(Self.path(of: id, kind))/prepare_verification"
        _ = try await manage(.post, path, ["strategy": kind.strategy], resend: .spending, responder)
    }

    private func verify(
        _ id: String,
        _ code: Secret,
        _ kind: ClerkContactKind,
        _ responder: (any ChallengeResponder)?
    ) async throws -> JSONValue {
        var form = FormFields()
        form.add("code", secret: code)
        let path = "\(Self.path(of: id, kind))/attempt_verification"
        return try await manage(.post, path, form, resend: .spending, responder)
    }

    private func makePrimary(
        _ id: String,
        _ kind: ClerkContactKind,
        _ responder: (any ChallengeResponder)?
    ) async throws {
        _ = try await manage(.patch, "/v1/me", ["primary_\(kind.name)_id": id], resend: .replayable, responder)
    }

    private func remove(
        _ id: String,
        _ kind: ClerkContactKind,
        _ responder: (any ChallengeResponder)?
    ) async throws {
        _ = try await manage(.delete, Self.path(of: id, kind), FormFields(), responder)
    }

    private static func path(of id: String, _ kind: ClerkContactKind) -> String {
        "/v1/me/\(kind.path)/\(FormFields.encode(segment: id))"
    }
}
