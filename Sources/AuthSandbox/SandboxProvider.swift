/// A provider that a sandbox can serve.
public struct SandboxProvider: Sendable, Hashable {
    let world: any ProviderWorld.Type

    init(_ world: any ProviderWorld.Type) {
        self.world = world
    }

    /// Every provider there is.
    public static let all: [SandboxProvider] = [clerk, oauth, okta, forgerock, facebook, auth0]

    /// The provider's word on the command line.
    public var name: String { world.name }

    /// Whether both are the same provider.
    public static func == (one: SandboxProvider, other: SandboxProvider) -> Bool { one.name == other.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
