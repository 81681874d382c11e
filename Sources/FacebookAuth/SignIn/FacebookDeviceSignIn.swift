import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Device logins at Facebook.
struct FacebookDeviceSignIn: DeviceLoginServer {
    var api: GraphAPI
    var permissions: [String]

    var wish: JSONValue {
        get { permissions.memory }
        set { permissions = [String](memory: newValue) ?? permissions }
    }

    var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    var rules: DeviceLoginRules {
        DeviceLoginRules(expired: Self.expired) { $0.subcode == "1349172" }
    }

    /// What a login comes to that has lasted too long.
    private static var expired: Outcome {
        var outcome = Outcome(.flowExpired, processed: .no, remedies: [.restartFlow])
        outcome.tokenAction = .clear
        return outcome
    }

    /// Begins a login.
    func begin() async throws -> OAuthClient.DeviceAuthorization {
        guard let token = api.app.identification else { throw RecoveryError.missing("client_token") }
        var form = FormFields()
        form.add("access_token", secret: token)
        if !permissions.isEmpty { form.add("scope", permissions.joined(separator: ",")) }
        let response = try await api.send(
            GraphAPI.Call(
                method: .post,
                path: "device/login",
                body: .form(form),
                token: .none,
                // A code that nobody has seen does no harm.
                resend: .replayable,
                presents: .client
            )
        )
        guard let device = OAuthClient.DeviceAuthorization(facebook: try api.json(in: response), receivedAt: time.now)
        else {
            throw RecoveryError(.unreadable, in: response)
        }
        return device
    }

    func poll(_ device: OAuthClient.DeviceAuthorization) async throws -> RecoveredResponse {
        guard let token = api.app.identification else { throw RecoveryError.missing("client_token") }
        var form = FormFields()
        form.add("access_token", secret: token)
        form.add("code", secret: device.deviceCode)
        return try await api.send(
            GraphAPI.Call(
                method: .post,
                path: "device/login_status",
                body: .form(form),
                token: .none,
                // The next question comes at its own time.
                resend: .spending,
                sendBy: RequestOptions.SendBy(time.wallTime(at: device.expiresAt), orElse: Self.expired),
                presents: .device,
                purpose: .poll
            )
        )
    }

    /// Stores the token before anyone uses it, even if the caller has lost patience; then reads whose it is.
    func finish(_ response: RecoveredResponse) async throws -> FacebookSession {
        let clock = ServerClock(response.headerFields, receivedAt: api.client.runtime.time.wallTime)
        guard let answer = OAuthClient.TokenAnswer(try api.json(in: response), date: clock.now) else {
            throw RecoveryError(.unreadable, in: response)
        }
        return try await api.signedIn(with: answer, permissions: api.asked(permissions))
    }
}

extension OAuthClient.DeviceAuthorization {
    /// Reads Facebook's answer; nil if one of the codes or the address is missing.
    fileprivate init?(facebook json: JSONValue, receivedAt: TimeSource.Instant) {
        guard let deviceCode = json["code"]?.codeText?.bounded(to: 1024),
            let userCode = json["user_code"]?.codeText?.bounded(to: 64),
            let uri = json["verification_uri"]?.string?.nonEmpty?.bounded(to: 2048)
        else { return nil }
        func span(_ value: JSONValue?) -> Duration? {
            value?.lenientNumber.map(\.seconds).flatMap { $0 > .zero ? $0 : nil }
        }
        let lifetime = min(span(json["expires_in"]) ?? .seconds(420), .seconds(86_400))
        // One that leaves no time for a question is no interval.
        let stated = span(json["interval"]).flatMap { $0 < lifetime ? $0 : nil }
        self.init(
            deviceCode: Secret(deviceCode),
            userCode: userCode,
            verificationURI: uri,
            interval: min(max(stated ?? .seconds(5), .seconds(1)), .seconds(3600)),
            expiresAt: receivedAt.advanced(by: lifetime)
        )
    }
}

extension GraphAPI {
    /// Stores a token that a sign-in has brought, in place of all that was held of another; then reads whose it is, and
    /// what they have said about the permissions if the sign-in has not told.
    ///
    /// - Parameters:
    ///   - answer: The token.
    ///   - permissions: What was asked for, and what the person has said about it.
    func signedIn(
        with answer: OAuthClient.TokenAnswer,
        permissions: [FacebookPermission]
    ) async throws -> FacebookSession {
        let stored = try await store.keep { credentials in
            var fresh = credentials
            fresh.facebookProfile = nil
            fresh.facebookDataAccess = nil
            fresh.idToken = answer.idToken
            fresh.facebookPermissions = permissions
            credentials = fresh.taking(answer)
        }
        var session = stored.credentials.facebookSession
        do {
            session.user = try await profile()
        } catch is RecoveryError {
            // The sign-in has succeeded all the same; who it is can be asked later.
        }
        if permissions.contains(where: \.mayBeDeclinedUnheard) {
            do {
                session.permissions = try await keepPermissions(of: stored.credentials.accessToken)
            } catch is RecoveryError {
                // Nobody knows then, and nothing is said about them.
            }
        }
        return session
    }

    /// Reads what the person has said about the permissions that were asked for, and keeps it beside the token, if
    /// that is still the one of the sign-in.
    private func keepPermissions(of token: Secret?) async throws -> [FacebookPermission] {
        let read = try await readPermissions(FacebookAuthorization(self, token: .stored))
        let stored = try await store.keep { credentials in
            guard credentials.accessToken == token, token != nil else { return }
            credentials.facebookPermissions = credentials.facebookPermissions.map { asked in
                read.last { $0.name == asked.name } ?? asked
            }
        }
        return stored.credentials.facebookSession.permissions
    }

    /// What the person of a token has said about each permission.
    func readPermissions(_ authorization: FacebookAuthorization) async throws -> [FacebookPermission] {
        let response = try await send(Call(path: "me/permissions"), authorization: authorization)
        let list = try json(in: response)["data"]?.array ?? []
        return list.prefix(1024).compactMap { FacebookPermission($0) }
    }

    /// Permissions that were asked for, if nobody has told what the person said about them.
    func asked(_ permissions: [String]) -> [FacebookPermission] {
        permissions.map { FacebookPermission(name: $0, status: .unknown) }
    }

    /// Reads who is signed in, and keeps it beside the token.
    func profile(_ authorization: FacebookAuthorization? = nil) async throws -> FacebookUser {
        var query = FormFields()
        if !configuration.profileFields.isEmpty {
            query.add("fields", configuration.profileFields.joined(separator: ","))
        }
        let authorization = authorization ?? FacebookAuthorization(self, token: .stored)
        let response = try await send(Call(path: "me", query: query), authorization: authorization)
        return try await keepProfile(in: response, token: authorization.presented?.token)
    }
}
