import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Whose the session and the sign-in under way are, as the credentials keep it beside their ids.
///
/// A process that has seen no answer yet knows them by that, so that a lockout in the store holds for what it spends.
enum AccountNames {
    private static let key = "accounts"
    /// The oldest are forgotten first.
    private static let capacity = 8

    /// The account that a session or a sign-in is of.
    static func account(of id: String, in credentials: Credentials) -> String? {
        members(credentials).last { $0.key == id }?.value.string?.nonEmpty
    }

    /// Keeps whose a session or a sign-in is.
    static func write(_ account: String?, of id: String, to credentials: inout Credentials) {
        guard let account, account != self.account(of: id, in: credentials) else { return }
        let kept = members(credentials).filter { $0.key != id }.suffix(capacity - 1)
        replace(Array(kept) + [JSONValue.Member(id, .string(account))], in: &credentials)
    }

    /// Forgets whose a session or a sign-in is.
    static func remove(_ id: String, from credentials: inout Credentials) {
        replace(members(credentials).filter { $0.key != id }, in: &credentials)
    }

    static func clear(_ credentials: inout Credentials) {
        replace([], in: &credentials)
    }

    private static func replace(_ members: [JSONValue.Member], in credentials: inout Credentials) {
        credentials.others.removeAll { $0.key == key }
        if !members.isEmpty { credentials.others.append(JSONValue.Member(key, .object(members))) }
    }

    private static func members(_ credentials: Credentials) -> [JSONValue.Member] {
        Array((credentials.others.last { $0.key == key }?.value.members ?? []).suffix(capacity))
    }
}

extension ClerkAPI {
    /// Whose lockout holds for a request of the caller's own; nil if it spends nothing, or nobody knows.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - session: The session that it is made for.
    func account(of request: ProviderRequest, session: String?) async throws -> String? {
        let endpoint = ClerkEndpoint(method: request.method, path: request.path)
        guard request.resend == .spending || endpoint.isCountedAgainstAccount else { return nil }
        let form = (request.body?.body.bytesInMemory).map { FormFields(parsing: $0) } ?? FormFields()
        func first(_ name: String) -> Secret? { form[name].first.flatMap { $0.reveal().isEmpty ? nil : $0 } }
        if let name = first("identifier") { return LockoutLedger.account(for: name.reveal()) }
        if endpoint.completesLink { return first("approval_token").map { ClerkSignInMethod.account(ofLink: $0) } }
        if endpoint.isSignIn, endpoint.flowID == nil {
            if first("transfer")?.reveal() == "true" { return try await accountToTransfer() }
            // What is presented tells of one person, though not of whom.
            let method: ClerkSignInMethod? =
                first("ticket").map { .ticket($0) } ?? first("token").map { .token($0, strategy: "") }
                ?? first("trusted_device_id").map { .trustedDevice(id: $0.reveal()) }
            return method?.account
        }
        let credentials = try await tokens.read().credentials
        let known = mirror.known(ClientToken.lineage(of: credentials)) ?? nil
        if endpoint.isFlow {
            // Whose session there is says nothing of who signs in.
            guard let id = endpoint.flowID else { return nil }
            let told = known?.signIn.flatMap { $0.id == id ? $0.identifier : nil }
            return told.map { LockoutLedger.account(for: $0) } ?? AccountNames.account(of: id, in: credentials)
                ?? first("public_key_credential").flatMap { ClerkFactorCalls.account(ofPasskey: $0) }
        }
        guard let id = endpoint.sessionID ?? session else { return nil }
        return known?.sessions.first { $0.id == id }?.account ?? AccountNames.account(of: id, in: credentials)
    }

    /// Whose the proof is that a sign-in takes over from the sign-up under way; nil if nobody knows.
    func accountToTransfer() async throws -> String? {
        let credentials = try await tokens.read().credentials
        guard let signUp = (mirror.known(ClientToken.lineage(of: credentials)) ?? nil)?.signUp else { return nil }
        return (signUp.emailAddress ?? signUp.phoneNumber).map { LockoutLedger.account(for: $0) }
    }

    /// Keeps whose sign-in an answer shows, for the steps that are taken by other requests.
    ///
    /// The answer is the caller's even if the store cannot be written.
    func keepAccount(of response: RecoveredResponse, to request: ProviderRequest) async {
        guard ClerkEndpoint(method: request.method, path: request.path).isSignIn,
            let bytes = response.body.bytesInMemory, let json = try? JSONValue(parsing: bytes),
            let signIn = ClerkAnswer(json: json).signIn, signIn.status != .complete, let name = signIn.identifier
        else { return }
        _ = try? await tokens.keep { credentials in
            AccountNames.write(LockoutLedger.account(for: name), of: signIn.id, to: &credentials)
        }
    }
}
