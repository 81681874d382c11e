import HTTPRecovery
import HTTPRecoveryTesting

extension SandboxProvider {
    /// Clerk's Frontend API.
    public static let clerk = SandboxProvider(ClerkWorld.self)
}

extension SandboxWorld {
    var clerk: ClerkWorld {
        get { self[ClerkWorld.self] }
        set { self[ClerkWorld.self] = newValue }
    }
}

/// Clerk's Frontend API as a value: users, clients, sign-ins and sessions, and what a request does to them.
struct ClerkWorld: ProviderWorld {
    static let name = "clerk"

    var accounts: [String: ClerkAccount] = [:]
    /// E-mail addresses, phones and user names in lower case.
    var accountsByIdentifier: [String: String] = [:]
    /// The accounts' ids in the order in which they were made.
    var accountOrder: [String] = []
    var clients: [String: ClerkClient] = [:]
    var clientsByToken: [String: String] = [:]
    /// Tokens that were rotated away, and when.
    var retiredTokens: [String: (client: String, at: Int64)] = [:]
    var signIns: [String: ClerkSignIn] = [:]
    var signUps: [String: ClerkSignUp] = [:]
    var sessions: [String: ClerkSession] = [:]
    var tickets: [String: ClerkTicket] = [:]
    var links: [String: ClerkLink] = [:]
    var organizations: [String: ClerkOrganization] = [:]
    var visits: [String: ClerkVisit] = [:]
    /// What another provider has told of somebody, by its tokens.
    var identities: [String: (email: String, provider: String)] = [:]
    /// The captchas that were presented, and the checks that are open.
    var captchas: Set<String> = []
    var checks: [String: ClerkProtectCheck] = [:]
    /// The ids of the entries by the addresses.
    var waitlist: [String: String] = [:]
    /// When requests of a class came from an address.
    var arrivals: [String: [Int64]] = [:]
    let signingKey: [UInt8]
    let instance: String

    init(scenario: SandboxScenario, seed: UInt64, context: inout SandboxContext) {
        signingKey = Array(context.random.letters(32).utf8)
        instance = context.random.identifier("ins_")
    }

    mutating func add(_ user: SandboxUser, context: inout SandboxContext) { _ = makeAccount(user, context: &context) }

    /// Makes an account and tells its id; one with the same identifier is replaced.
    mutating func makeAccount(_ user: SandboxUser, context: inout SandboxContext) -> String {
        let account = ClerkAccount(
            id: context.random.identifier("user_"),
            user: user,
            emails: user.emails.map { .init(id: context.random.identifier("idn_"), address: $0) },
            phones: user.phones.map { .init(id: context.random.identifier("idn_"), address: $0) },
            createdAt: context.now,
            backupCodes: user.backupCodes,
            lock: SandboxLock(user.initialLock, now: context.now)
        )
        accounts[account.id] = account
        accountOrder.append(account.id)
        for name in user.names {
            if let former = accountsByIdentifier.updateValue(account.id, forKey: name.lowercased()) {
                accounts[former] = nil
                accountOrder.removeAll { $0 == former }
            }
        }
        for name in user.organizations {
            let organization = organization(named: name, random: &context.random)
            organizations[organization]?.members.insert(account.id)
        }
        for name in user.organizationInvitations {
            let organization = organization(named: name, random: &context.random)
            organizations[organization]?.invitations[context.random.identifier("orginv_")] = account.id
        }
        return account.id
    }

    /// The account that an id, an e-mail address, a phone or a user name stands for.
    func account(named name: String) -> ClerkAccount? {
        accounts[name] ?? accountsByIdentifier[name.lowercased()].flatMap { accounts[$0] }
    }

    /// The account that somebody signs in to; nil if there is none.
    func account(of signIn: ClerkSignIn) -> ClerkAccount? { signIn.account.flatMap { accounts[$0] } }

    mutating func lock(_ user: String, _ lock: SandboxLock) {
        guard let id = account(named: user)?.id else { return }
        if lock == .open { unlock(id) } else { accounts[id]?.lock = lock }
    }

    // MARK: Requests

    func takes(_ request: SandboxRequest, context: SandboxContext) -> Bool { context.serves(Self.self) }

    mutating func answer(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse {
        guard let call = ClerkCall(request, context) else { return refusal(.notFound("such path"), nil, &context) }
        var response: SandboxResponse
        do {
            try admit(call)
            call.client = client(of: call)
            if let client = call.client { settle(client: client, now: call.now) }
            let body = try answer(call)
            if let page = call.page {
                response = .text(page, status: 200, type: "text/html; charset=utf-8")
            } else {
                response = call.redirect.map { .redirect(to: $0) } ?? .json(body)
            }
        } catch {
            response = refusal(error, call.client, &call.context)
        }
        if call.context.rotatesToken, let client = call.client { rotateToken(of: client, call) }
        if let token = call.tokenHeader {
            let cookie = "__client=\(token); Path=/; HttpOnly; SameSite=Lax\(token.isEmpty ? "; Max-Age=0" : "")"
            response.setHeader(call.isNative ? "Authorization" : "Set-Cookie", call.isNative ? token : cookie)
        }
        response.setHeader("Clerk-Api-Version", "2026-05-12")
        context = call.context
        return response
    }

    /// Refuses what is refused before anything else is looked at.
    private func admit(_ call: ClerkCall) throws(ClerkFailure) {
        let request = call.request
        if request.header("origin") != nil, ClerkCall.bearer(request) != nil { throw .originAndAuthorization }
        if call.isNative, !call.settings.isNativeAPIEnabled { throw .nativeAPIDisabled }
        if call.isNative, request.header("authorization") == nil { throw .authorizationMissing }
        if let version = request.header("clerk-api-version"), !Self.isVersion(version) { throw .versionInvalid }
        if !request.body.isEmpty, !Masking.isForm(request) {
            throw .unsupported(type: request.header("content-type") ?? "(none)")
        }
    }

    private static func isVersion(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.count) == [4, 2, 2] && parts.allSatisfy { Int($0) != nil }
    }

    /// The client that the token of a request stands for.
    func client(of call: ClerkCall) -> String? {
        guard let token = call.presentedToken else { return nil }
        if let client = clientsByToken[token] { return client }
        guard let retired = retiredTokens[token], call.now - retired.at < call.settings.clientTokenGrace,
            clients[retired.client] != nil
        else { return nil }
        return retired.client
    }

    private func refusal(_ failure: ClerkFailure, _ id: String?, _ context: inout SandboxContext) -> SandboxResponse {
        var body: JSONValue = ["errors": .array(failure.items)]
        if context.settings.showsClientInErrors, let id { body = body.adding("meta", ["client": clientView(id)]) }
        body = body.adding("clerk_trace_id", .string(context.random.letters(32).lowercased()))
        var response = SandboxResponse.json(body, status: failure.status)
        for header in failure.headers { response.setHeader(header.name, header.value) }
        return response
    }

    /// A resource with the client beside it.
    func wrapped(_ response: JSONValue, _ client: String?) -> JSONValue {
        ["response": response, "client": client.map(clientView) ?? .null]
    }

    /// What the path names and the client at hand has begun.
    func own<Possession: ClerkPossession>(
        _ all: [String: Possession],
        _ what: String,
        _ call: ClerkCall,
        orElse stranger: ClerkFailure = .clientNotFound
    ) throws(ClerkFailure) -> Possession {
        guard let client = call.client else { throw stranger }
        guard let found = all[call.id], found.client == client else { throw .notFound(what) }
        return found
    }

    private mutating func answer(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        switch call.route {
        case "GET environment": return environmentView(call.settings)
        case "GET client": return getClient(call)
        case "PUT client", "POST client":
            let client = ensureClient(call)
            return wrapped(clientView(client), nil)
        case "DELETE client": return try deleteClient(call)
        case "POST client/sign_ins": return try createSignIn(call)
        case "GET client/sign_ins/{id}": return try getSignIn(call)
        case "POST client/sign_ins/{id}/prepare_first_factor", "POST client/sign_ins/{id}/prepare_second_factor":
            return try prepare(openSignIn(call), call)
        case "POST client/sign_ins/{id}/attempt_first_factor", "POST client/sign_ins/{id}/attempt_second_factor":
            try limit(\.attemptSignIn, "attempt_sign_in", call)
            return try attempt(openSignIn(call), call)
        case "POST client/sign_ins/{id}/reset_password": return try resetPassword(call)
        case "POST client/sign_ups": return try createSignUp(call)
        case "GET client/sign_ups/{id}": return try getSignUp(call)
        case "PATCH client/sign_ups/{id}": return try updateSignUp(call)
        case "POST client/sign_ups/{id}/prepare_verification": return try prepareSignUp(call)
        case "POST client/sign_ups/{id}/attempt_verification": return try attemptSignUp(call)
        case "POST waitlist": return try joinWaitlist(call)
        case "POST client/verify": return try verifyCaptcha(call)
        case "PATCH client/sign_ins/{id}/protect_check": return try proveSignIn(call)
        case "PATCH client/sign_ups/{id}/protect_check": return try proveSignUp(call)
        case "POST client/trusted_devices/validate": return try validateDevice(call)
        case "GET verify": return try openLink(call)
        case "GET identity_provider", "POST identity_provider": return try visit(call)
        case "POST client/magic_links/complete": return try completeLink(call)
        case "POST client/sessions/{id}/verify": return try beginVerification(call)
        case "POST client/sessions/{id}/verify/prepare_first_factor",
            "POST client/sessions/{id}/verify/prepare_second_factor":
            return try prepare(openVerification(call), call)
        case "POST client/sessions/{id}/verify/attempt_first_factor",
            "POST client/sessions/{id}/verify/attempt_second_factor":
            return try attempt(openVerification(call), call)
        case "DELETE client/sessions": return try endAllSessions(call)
        case "POST client/sessions/{id}/touch": return try touch(call)
        case "POST client/sessions/{id}/end": return try end(call, as: "ended")
        case "POST client/sessions/{id}/remove": return try end(call, as: "removed")
        case "POST client/sessions/{id}/tokens": return try sessionToken(call, template: nil)
        case let route where route.hasSuffix(" me") || route.contains(" me/") || route == "POST organizations":
            return try answerSomebodySignedIn(call)
        default:
            let prefix = "POST client/sessions/{id}/tokens/"
            guard call.route.hasPrefix(prefix) else { throw .notFound("such endpoint") }
            return try sessionToken(call, template: String(call.route.dropFirst(prefix.count)))
        }
    }
}
