import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// PingAM's REST API as a client calls it.
struct ForgeRockAPI: Sendable, ClientBound {
    let server: ForgeRockServer
    var client: RecoveringClient
    let tokens: any TokenStore
    let interceptors: [any ForgeRockInterceptor]
    /// The name of the session's cookie, as soon as it is known.
    let cookieName: Locked<String?>

    /// What one call is.
    struct Call {
        var method: HTTPRequest.Method = .post
        /// The path below the origin, with its query.
        var path: String
        /// The version of the resource; nil if the endpoint has none.
        var version: String?
        var json: JSONValue?
        var form: FormFields?
        var cookies: String?
        var action: ForgeRockAction?
        var journey: String?
        var presents = Outcome.CredentialKind.state
        var session: Secret?
        var layers: [any ClientLayer] = []
        var resend: RequestOptions.ResendPermission = .byMethod
        var account: String?
        var followsRedirects = true
        /// What the step waits for that is answered.
        var wait: JourneyWait?
    }

    /// Performs a call.
    func send(_ call: Call) async throws -> RecoveredResponse {
        var request = server.request(call.method, path: call.path)
        request.headerFields[.accept] = "application/json"
        request.headerFields[Self.requestedWith] = "forgerock-sdk"
        request.headerFields[Self.requestedPlatform] = "swift"
        if let version = call.version {
            request.headerFields[Self.apiVersion] = "resource=\(version),protocol=1.0"
        }
        var body: MessageBody?
        if let json = call.json {
            request.headerFields[.contentType] = "application/json"
            body = MessageBody(json.description)
        } else if let form = call.form {
            request.headerFields[.contentType] = "application/x-www-form-urlencoded"
            body = form.body
        }
        if let cookies = call.cookies { request.headerFields.setSecret(.cookie, cookies) }
        return try await client.send(
            request,
            body: body,
            options: RequestOptions(
                resend: call.resend,
                classifier: ForgeRockClassifier(wait: call.wait),
                account: call.account,
                // Steps of a journey present no credential that limits are counted by; a session does.
                credentialID: call.presents == .session ? nil : "",
                presents: call.presents,
                attemptLayers: try await layers(for: call),
                followsRedirects: call.followsRedirects
            )
        )
    }

    private func layers(for call: Call) async throws -> [any ClientLayer] {
        var layers = call.layers
        if let action = call.action { layers += interception(of: action, journey: call.journey) }
        if let token = call.session {
            layers.append(
                SessionCookieLayer(
                    origin: server.origin,
                    cookieName: try await sessionCookieName(),
                    token: token,
                    isPresented: call.presents == .session
                )
            )
        }
        return layers
    }

    func interception(of action: ForgeRockAction, journey: String? = nil) -> [any ClientLayer] {
        interceptors.isEmpty
            ? [] : [InterceptionLayer(interceptors: interceptors, action: action, journey: journey)]
    }

    /// The name of the session's cookie: as configured, as a journey has shown it, else as the server tells.
    ///
    /// If the server keeps its information to itself, or something else answers in its place, the name that
    /// deployments have by default is assumed, for this once: only what the server has said is kept. An outage is no
    /// such case: under a wrong name a good session would look like a dead one.
    func sessionCookieName() async throws -> SessionCookieName {
        if let known = cookieName.withLock({ $0 }) { return SessionCookieName(text: known) }
        do {
            let call = Call(
                method: .get,
                path: "\(server.prefix)/json/serverinfo/*",
                version: "1.1",
                presents: .client
            )
            let info = try await send(call).json()
            if let stated = info["cookieName"]?.string, HTTPField.Name(stated) != nil {
                let known = cookieName.withLock { known in
                    known = known ?? stated
                    return known ?? stated
                }
                return SessionCookieName(text: known)
            }
        } catch let error as RecoveryError where Self.keepsToItself.contains(error.kind) {
            // Then the default has to do.
        }
        return SessionCookieName(text: Self.defaultCookieName, isAssumed: true)
    }

    private static let keepsToItself: Set<Outcome.Kind> = [
        .notFound, .permissionDenied, .credentialRejected, .invalidRequest, .misconfigured, .unreadable,
    ]

    /// The name of the session's cookie in a deployment that was not set up otherwise.
    static let defaultCookieName = "iPlanetDirectoryPro"

    static let apiVersion = HTTPField.Name("Accept-API-Version")!
    private static let requestedWith = HTTPField.Name("X-Requested-With")!
    private static let requestedPlatform = HTTPField.Name("X-Requested-Platform")!
}
