public import HTTPTypes

/// What a request is for, by the names that the vendor's SDKs use.
public struct ForgeRockAction: Sendable, Hashable, RawRepresentable {
    /// The name.
    public let rawValue: String

    /// Creates an action from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A journey begins.
    public static let startAuthenticate = ForgeRockAction(rawValue: "START_AUTHENTICATE")
    /// A journey goes on.
    public static let authenticate = ForgeRockAction(rawValue: "AUTHENTICATE")
    /// A suspended journey is resumed.
    public static let resumeAuthenticate = ForgeRockAction(rawValue: "RESUME_AUTHENTICATE")
    /// The session is exchanged for a code.
    public static let authorize = ForgeRockAction(rawValue: "AUTHORIZE")
    /// The code is exchanged for tokens.
    public static let exchangeToken = ForgeRockAction(rawValue: "EXCHANGE_TOKEN")
    /// The refresh token is used.
    public static let refreshToken = ForgeRockAction(rawValue: "REFRESH_TOKEN")
    /// Tokens are revoked.
    public static let revokeToken = ForgeRockAction(rawValue: "REVOKE_TOKEN")
    /// The session is ended.
    public static let logout = ForgeRockAction(rawValue: "LOGOUT")
    /// The person's claims are read.
    public static let userInfo = ForgeRockAction(rawValue: "USER_INFO")
    /// The session is ended by OpenID Connect.
    public static let endSession = ForgeRockAction(rawValue: "END_SESSION")
    /// A device is registered for push messages.
    public static let pushRegister = ForgeRockAction(rawValue: "PUSH_REGISTER")
    /// A push message is answered.
    public static let pushAuthenticate = ForgeRockAction(rawValue: "PUSH_AUTHENTICATE")
    /// The address of a device is updated.
    public static let pushUpdate = ForgeRockAction(rawValue: "PUSH_UPDATE")
    /// The binding of a device is deleted.
    public static let deleteBinding = ForgeRockAction(rawValue: "DELETE_BINDING")
}

/// Changes requests before they go out, such as by an entry for a gateway.
///
/// It is asked for every attempt, in the order in which interceptors are registered. What it returns is sent as it is,
/// so it must not send credentials elsewhere.
public protocol ForgeRockInterceptor: Sendable {
    /// Returns the request as it is to be sent.
    ///
    /// - Parameters:
    ///   - request: The request so far, without the session's cookie.
    ///   - action: What it is for.
    ///   - journey: The journey, or the advice's name, if the request is part of one.
    func intercept(_ request: HTTPRequest, action: ForgeRockAction, journey: String?) async throws -> HTTPRequest
}
