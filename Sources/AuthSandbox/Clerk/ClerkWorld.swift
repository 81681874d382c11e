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
    /// When requests of a class came from an address.
    var arrivals: [String: [Int64]] = [:]
    let signingKey: [UInt8]
    let instance: String

    init(scenario: SandboxScenario, seed: UInt64, context: inout SandboxContext) {
        signingKey = Array(context.random.letters(32).utf8)
        instance = context.random.identifier("ins_")
    }

    /// Adds an account; one with the same identifier is replaced.
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
        return account.id
    }

    mutating func lock(_ user: String, _ lock: SandboxLock) {
        guard let id = account(named: user)?.id else { return }
        if lock == .open { unlock(id) } else { accounts[id]?.lock = lock }
    }

    func takes(_ request: SandboxRequest, context: SandboxContext) -> Bool { context.serves(Self.self) }

    mutating func answer(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse {
        guard var exchange = ClerkExchange(request) else {
            return errorResponse(.notFound("such path"), client: nil, context: &context)
        }
        var response: SandboxResponse
        do {
            try admit(exchange, context: &context)
            identify(&exchange, context: context)
            response = .json(try answer(&exchange, context: &context))
            if let target = exchange.redirect {
                response = .redirect(to: target)
            }
        } catch {
            response = errorResponse(error, client: exchange.client, context: &context)
        }
        if context.rotatesToken, let client = exchange.client { rotateToken(of: client, &exchange, context: &context) }
        if let token = exchange.tokenHeader {
            if exchange.isNative {
                response.setHeader("Authorization", token)
            } else {
                let end = token.isEmpty ? "; Max-Age=0" : ""
                response.setHeader("Set-Cookie", "__client=\(token); Path=/; HttpOnly; SameSite=Lax\(end)")
            }
        }
        response.setHeader("Clerk-Api-Version", "2026-05-12")
        return response
    }

    /// What is refused before anything else is looked at.
    private func admit(_ exchange: ClerkExchange, context: inout SandboxContext) throws(ClerkFailure) {
        let request = exchange.request
        if request.header("origin") != nil, ClerkExchange.bearer(request) != nil {
            throw ClerkFailure(
                400,
                "origin_authorization_headers_conflict",
                "Setting both the 'Origin' and 'Authorization' headers is forbidden",
                long: "For security purposes, only one of the 'Origin' and 'Authorization' headers should be provided, "
                    + "but not both."
            )
        }
        if exchange.isNative, !context.settings.isNativeAPIEnabled {
            throw ClerkFailure(
                400,
                "native_api_disabled",
                "The Native API is disabled for this instance.",
                long: "Go to Clerk Dashboard > Configure > Native applications to enable it."
            )
        }
        if let version = request.header("clerk-api-version"), !Self.isVersion(version) {
            throw ClerkFailure(400, "api_version_invalid", "Invalid API version", long: "There is no such API version.")
        }
        if !request.body.isEmpty, !Masking.isForm(request) {
            throw ClerkFailure(
                415,
                "unsupported_content_type",
                "Content-Type is unsupported",
                long: "Content-Type \(request.header("content-type")?.prefix(60) ?? "(none)") is unsupported. "
                    + "You should use application/x-www-form-urlencoded instead."
            )
        }
    }

    private static func isVersion(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.count) == [4, 2, 2] && parts.allSatisfy { Int($0) != nil }
    }

    /// Finds the client that the token stands for, and lets its sessions age.
    private mutating func identify(_ exchange: inout ClerkExchange, context: SandboxContext) {
        exchange.client = client(of: exchange, settings: context.settings, now: context.now)
        if let client = exchange.client { settle(client: client, now: context.now) }
    }

    private func client(of exchange: ClerkExchange, settings: SandboxSettings, now: Int64) -> String? {
        guard let token = exchange.presentedToken else { return nil }
        if let client = clientsByToken[token] { return client }
        guard let retired = retiredTokens[token], now - retired.at < settings.clientTokenGrace,
            clients[retired.client] != nil
        else { return nil }
        return retired.client
    }

    /// The resource of the client that a request belongs to, for error bodies that carry it.
    func clientJSON(for request: SandboxRequest, settings: SandboxSettings, now: Int64) -> JSONValue {
        guard let exchange = ClerkExchange(request), let client = client(of: exchange, settings: settings, now: now)
        else { return .null }
        return clientView(client)
    }

    private func errorResponse(
        _ failure: ClerkFailure,
        client: String?,
        context: inout SandboxContext
    ) -> SandboxResponse {
        var body: JSONValue = ["errors": .array(failure.items.map(\.json))]
        if context.settings.showsClientInErrors, let client {
            body = body.adding("meta", ["client": clientView(client)])
        }
        body = body.adding("clerk_trace_id", .string(context.random.letters(32).lowercased()))
        var response = SandboxResponse.json(body, status: failure.status)
        for header in failure.headers { response.setHeader(header.name, header.value) }
        return response
    }

    /// A resource with the client beside it.
    func wrapped(_ response: JSONValue, _ client: String?) -> JSONValue {
        ["response": response, "client": client.map(clientView) ?? .null]
    }

    private mutating func answer(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        switch exchange.route {
        case "GET environment": return environmentView(context.settings)
        case "GET client": return getClient(exchange, context: &context)
        case "PUT client", "POST client": return createClient(&exchange, context: &context)
        case "DELETE client": return try deleteClient(&exchange, context: context)
        case "POST client/sign_ins": return try createSignIn(&exchange, context: &context)
        case "GET client/sign_ins/{id}": return try getSignIn(&exchange, context: &context)
        case "POST client/sign_ins/{id}/prepare_first_factor": return try prepareFirst(exchange, context: &context)
        case "POST client/sign_ins/{id}/attempt_first_factor": return try attemptFirst(&exchange, context: &context)
        case "POST client/sign_ins/{id}/prepare_second_factor": return try prepareSecond(exchange, context: &context)
        case "POST client/sign_ins/{id}/attempt_second_factor": return try attemptSecond(&exchange, context: &context)
        case "POST client/sign_ins/{id}/reset_password": return try resetPassword(&exchange, context: &context)
        case "POST client/sign_ups": return try createSignUp(&exchange, context: &context)
        case "GET client/sign_ups/{id}": return try getSignUp(exchange)
        case "PATCH client/sign_ups/{id}": return try updateSignUp(&exchange, context: &context)
        case "POST client/sign_ups/{id}/prepare_verification": return try prepareSignUp(exchange, context: &context)
        case "POST client/sign_ups/{id}/attempt_verification": return try attemptSignUp(&exchange, context: &context)
        case "GET verify": return try openLink(&exchange, context: &context)
        case "POST client/magic_links/complete": return try completeLink(exchange, context: &context)
        case "POST client/sessions/{id}/verify": return try beginVerification(exchange, context: &context)
        case "POST client/sessions/{id}/verify/prepare_first_factor":
            return try prepareVerification(exchange, isSecond: false, context: &context)
        case "POST client/sessions/{id}/verify/prepare_second_factor":
            return try prepareVerification(exchange, isSecond: true, context: &context)
        case "POST client/sessions/{id}/verify/attempt_first_factor":
            return try attemptVerification(&exchange, isSecond: false, context: &context)
        case "POST client/sessions/{id}/verify/attempt_second_factor":
            return try attemptVerification(&exchange, isSecond: true, context: &context)
        case "POST me/change_password": return try changePassword(exchange, context: context)
        case "DELETE client/sessions": return try endAllSessions(exchange, context: context)
        case "POST client/sessions/{id}/touch": return try touch(exchange, context: &context)
        case "POST client/sessions/{id}/end": return try end(exchange, as: "ended", context: context)
        case "POST client/sessions/{id}/remove": return try end(exchange, as: "removed", context: context)
        case "POST client/sessions/{id}/tokens": return try sessionToken(exchange, template: nil, context: &context)
        case "GET me": return try me(exchange, context: context)
        case "POST me/sessions/{id}/revoke": return try revokeOwnSession(exchange, context: context)
        default:
            let prefix = "POST client/sessions/{id}/tokens/"
            guard exchange.route.hasPrefix(prefix) else { throw .notFound("such endpoint") }
            let template = String(exchange.route.dropFirst(prefix.count))
            return try sessionToken(exchange, template: template, context: &context)
        }
    }
}
