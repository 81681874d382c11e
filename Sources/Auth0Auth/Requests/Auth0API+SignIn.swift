import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The calls of a sign-in.
extension Auth0API {
    // MARK: First factors

    /// What tokens are asked for.
    var wish: [JSONValue.Member] {
        [JSONValue.Member("scope", .string(configuration.scope))]
            + (configuration.audience.map { [JSONValue.Member("audience", .string($0))] } ?? [])
    }

    /// Presents name and password; spent by every answer but a refusal that says so.
    func password(_ identifier: String, _ password: Secret) async throws -> RecoveredResponse {
        var members: [JSONValue.Member] = [
            JSONValue.Member("username", .string(identifier)), JSONValue.Member("password", .string(password.reveal())),
        ]
        members += wish
        var type = "password"
        if let realm = configuration.realm {
            type = Self.prefix + "password-realm"
            members.append(JSONValue.Member("realm", .string(realm)))
        }
        return try await send(grant(type, members))
    }

    /// Presents a token of another issuer, which may be good for one time.
    func exchange(_ token: Secret, type: String) async throws -> RecoveredResponse {
        let members = [
            JSONValue.Member("subject_token", .string(token.reveal())),
            JSONValue.Member("subject_token_type", .string(type)),
        ]
        var call = grant("urn:ietf:params:oauth:grant-type:token-exchange", members + wish)
        call.reading = .exchange
        return try await send(call)
    }

    /// Begins a way without a password: a code or a link is sent, or a challenge obtained.
    ///
    /// - Parameter account: The account that a passkey is to be made with; nil for one that is there.
    func sendCode(
        _ way: Auth0Configuration.Passwordless,
        to address: String,
        making account: Auth0NewAccount? = nil
    ) async throws -> Auth0Errand {
        let isPhone = way == .phoneCode || way == .databasePhoneCode
        let recipient = JSONValue.Member(isPhone ? "phone_number" : "email", .string(address))
        switch way {
        case .databaseEmailCode, .databasePhoneCode:
            guard let realm = configuration.realm else { throw RecoveryError.missing("realm") }
            var members = [JSONValue.Member("connection", .string(realm)), recipient]
            if let makes = configuration.allowsSignUp {
                members.append(JSONValue.Member("allow_signup", .bool(makes)))
            }
            let response = try await send(Call(path: "/otp/challenge", members: members))
            guard let session = try await response.json()["auth_session"]?.string, !session.isEmpty else {
                throw RecoveryError(.unreadable, in: response)
            }
            return Auth0Errand(.passwordless(way), to: address, session: Secret(session))
        case .emailCode, .phoneCode:
            // Without the word a link is sent.
            let members = [
                JSONValue.Member("connection", .string(isPhone ? "sms" : "email")), recipient,
                JSONValue.Member("send", "code"),
            ]
            _ = try await send(Call(path: "/passwordless/start", members: members))
            return Auth0Errand(.passwordless(way), to: address)
        case .emailLink: return try await sendLink(to: address)
        case .passkey: return try await passkeyChallenge(for: account)
        }
    }

    private func sendLink(to address: String) async throws -> Auth0Errand {
        guard let redirectURI = configuration.redirectURI else { throw RecoveryError.missing("redirect_uri") }
        var errand = Auth0Errand(.passwordless(.emailLink), to: address)
        errand.state = Secret(Base64.encodeForURL(client.runtime.random.bytes(32)))
        errand.redirectURI = redirectURI
        let parameters =
            wish + [
                JSONValue.Member("response_type", "code"), JSONValue.Member("redirect_uri", .string(redirectURI)),
                JSONValue.Member("state", .string(errand.state.reveal())),
            ]
        let members = [
            JSONValue.Member("connection", "email"), JSONValue.Member("email", .string(address)),
            JSONValue.Member("send", "link"), JSONValue.Member("authParams", .object(parameters)),
        ]
        _ = try await send(Call(path: "/passwordless/start", members: members))
        return errand
    }

    /// Presents a code that was sent in place of a password; each try counts.
    func code(_ code: Secret, of errand: Auth0Errand) async throws -> RecoveredResponse {
        var members = [JSONValue.Member("otp", .string(code.reveal()))]
        if let session = errand.session {
            members.append(JSONValue.Member("auth_session", .string(session.reveal())))
        } else {
            let realm = errand.way == .passwordless(.phoneCode) ? "sms" : "email"
            members.append(JSONValue.Member("username", .string(errand.address)))
            members.append(JSONValue.Member("realm", .string(realm)))
        }
        return try await send(grant(Self.prefix + "passwordless/otp", members + wish))
    }

    /// Creates an account.
    ///
    /// - Returns: The person's id as tokens have it.
    func signUp(
        email: String,
        password: Secret,
        username: String?,
        connection: String?
    ) async throws -> String? {
        guard let connection = connection ?? configuration.realm else { throw RecoveryError.missing("connection") }
        var members = [
            JSONValue.Member("email", .string(email)), JSONValue.Member("password", .string(password.reveal())),
            JSONValue.Member("connection", .string(connection)),
        ]
        if let username { members.append(JSONValue.Member("username", .string(username))) }
        let answer = try await send(Call(path: "/dbconnections/signup", members: members)).json()
        return (answer["_id"]?.string ?? answer["id"]?.string).map { "auth0|\($0)" }
    }

    /// Has a mail sent with a link to set a new password.
    func sendPasswordReset(email: String, connection: String?) async throws {
        guard let connection = connection ?? configuration.realm else { throw RecoveryError.missing("connection") }
        let members = [
            JSONValue.Member("email", .string(email)), JSONValue.Member("connection", .string(connection)),
        ]
        _ = try await send(Call(path: "/dbconnections/change_password", members: members))
    }

    // MARK: Browsers

    /// The tenant's login page, for a browser.
    func loginRequest(hint: String?) throws(RecoveryError) -> OAuthClient.AuthorizationRequest {
        guard let redirectURI = configuration.redirectURI else { throw RecoveryError.missing("redirect_uri") }
        var parameters = FormFields()
        parameters.add("audience", configuration.audience)
        parameters.add("login_hint", hint)
        parameters.add(configuration.loginParameters)
        return try oauth.authorizationRequest(
            redirectURI: redirectURI,
            scope: configuration.scope,
            parameters: parameters
        )
    }

    /// Obtains tokens for what a browser, or a link, has come back with.
    ///
    /// - Throws: `RecoveryError`: if it is no answer to what was sent out, or a refusal.
    func tokens(for errand: Auth0Errand, redirectedTo url: String) async throws -> OAuthClient.TokenAnswer {
        let request = errand.request(issuer: issuer, client.runtime.random)
        let redirect = OAuthClient.AuthorizationRedirect(url: url)
        var grant: OAuthClient.Grant
        do {
            grant = try request.grant(for: redirect)
        } catch {
            throw redirect.error == nil ? error : error.toldByTenant
        }
        if errand.proofKey == nil, let code = redirect.code {
            grant = .authorizationCode(code, redirectURI: errand.redirectURI, proofKey: nil)
        }
        let answer = try await tokens(grant)
        try request.check(answer)
        return answer
    }

    // MARK: Second factors

    /// Presents the answer of a second factor, or asks whether it was given on another device.
    ///
    /// - Parameters:
    ///   - name: The grant's name, such as `mfa-otp`.
    ///   - token: The mfa token.
    ///   - members: What the grant has beside.
    ///   - isPoll: Whether nothing is spent by it.
    func factor(
        _ name: String,
        _ token: MFAToken,
        _ members: [JSONValue.Member],
        isPoll: Bool = false
    ) async throws -> RecoveredResponse {
        var call = grant(
            Self.prefix + name,
            [JSONValue.Member("mfa_token", .string(token.value.reveal()))] + members
        )
        call.presents = .state
        call.sendBy = token.sendBy
        if isPoll { (call.reading, call.resend) = (.poll, .replayable) }
        return try await send(call)
    }

    /// Asks whether the person has entered the code of a device login.
    func poll(_ device: OAuthClient.DeviceAuthorization, orElse expired: Outcome) async throws -> RecoveredResponse {
        var call = grant(
            "urn:ietf:params:oauth:grant-type:device_code",
            [JSONValue.Member("device_code", .string(device.deviceCode.reveal()))]
        )
        call.presents = .device
        call.sendBy = RequestOptions.SendBy(time.wallTime(at: device.expiresAt), orElse: expired)
        call.reading = .poll
        return try await send(call)
    }

    /// What the person has enrolled and proved, as the tenant lists it.
    func authenticators(_ token: MFAToken) async throws -> [JSONValue] {
        let response = try await send(
            Call(
                method: .get,
                path: "/mfa/authenticators",
                presents: .state,
                bearer: token.value,
                resend: .byMethod,
                sendBy: token.sendBy
            )
        )
        guard let list = try await response.json().array else { throw RecoveryError(.unreadable, in: response) }
        return list.prefix(64).filter { $0["active"]?.bool != false }
    }

    /// Has a code or a push sent.
    func challenge(_ authenticator: String, _ token: MFAToken) async throws -> Auth0Challenge {
        let response = try await send(
            Call(
                path: "/mfa/challenge",
                members: [
                    JSONValue.Member("mfa_token", .string(token.value.reveal())),
                    JSONValue.Member("challenge_type", "oob"),
                    JSONValue.Member("authenticator_id", .string(authenticator)),
                ],
                presents: .state,
                sendBy: token.sendBy
            )
        )
        guard let challenge = Auth0Challenge(try await response.json()) else {
            throw RecoveryError(.unreadable, in: response)
        }
        return challenge
    }

    /// Begins to set a factor up.
    func associate(_ members: [JSONValue.Member], _ token: MFAToken) async throws -> JSONValue {
        let call = Call(
            path: "/mfa/associate",
            members: members,
            presents: .state,
            bearer: token.value,
            sendBy: token.sendBy
        )
        return try await send(call).json()
    }

    private static let prefix = "http://auth0.com/oauth/grant-type/"

    func grant(_ type: String, _ members: [JSONValue.Member]) -> Call {
        Call(path: "/oauth/token", members: [JSONValue.Member("grant_type", .string(type))] + members)
    }
}

extension RecoveryError {
    /// The refusal that a browser came back with, by what the tenant means by its words.
    fileprivate var toldByTenant: RecoveryError {
        var error = self
        error.outcome = outcome.toldByTenant
        return error
    }
}
