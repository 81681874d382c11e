import HTTPRecovery

/// What is peculiar to a person's account at PingAM: the key `forgerock` of a scenario's user.
public struct SandboxForgeRockUser: Sendable, Equatable {
    /// `name`: the name within the realm.
    ///
    /// Default: the user name, or else what stands before the `@` of the first e-mail address.
    public var name: String?
    /// `realms`: if there is an account, as paths.
    ///
    /// Default: in every realm.
    public var realms: [String]?
    /// `state`: `active`, `inactive` or `expired`.
    ///
    /// Default: `active`, unless the person's own state says otherwise.
    public var state = "active"

    /// Creates an account in every realm.
    public init() {}
}

extension SandboxForgeRockUser: SandboxPart {
    static let key = "forgerock"
    static let words = ["state": ["active", "inactive", "expired"]]
}

extension SandboxUser {
    /// `forgerock`: what is peculiar to the account at PingAM.
    ///
    /// Default: an account in every realm.
    public var forgerock: SandboxForgeRockUser {
        get { parts[SandboxForgeRockUser.self] }
        set { parts[SandboxForgeRockUser.self] = newValue }
    }
}
