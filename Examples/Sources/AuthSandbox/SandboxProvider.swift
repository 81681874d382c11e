/// A provider that a sandbox can serve.
public struct SandboxProvider: Sendable, Hashable {
    /// The provider's word on the command line.
    public let name: String

    /// Clerk's Frontend API.
    public static let clerk = SandboxProvider(name: "clerk")
    /// OAuth 2 and OpenID Connect.
    public static let oauth = SandboxProvider(name: "oauth")
    /// Okta: its Authentication API, its sessions, and OAuth 2 below `/oauth2`.
    public static let okta = SandboxProvider(name: "okta")
    /// PingAM (ForgeRock AM, OpenAM), with a gateway before an application.
    public static let forgerock = SandboxProvider(name: "forgerock")
    /// Facebook's Graph: below a version, and its own paths without one.
    public static let facebook = SandboxProvider(name: "facebook")

    /// Every provider there is.
    public static let all: [SandboxProvider] = [clerk, oauth, okta, forgerock, facebook]
}
