/// Which credential an attempt presented, without the credential itself.
public struct PresentedCredential: Sendable, Hashable {
    /// The sort of the credential.
    public var kind: Outcome.CredentialKind
    /// What tells it from those before and after it: a late refusal of an older one never clears a newer one.
    public var version: UInt64
    /// Whose it is; a call is never repeated under another identity than that of its first attempt.
    public var identity: String?

    /// Creates the description of a presented credential.
    public init(kind: Outcome.CredentialKind, version: UInt64, identity: String? = nil) {
        self.kind = kind
        self.version = version
        self.identity = identity
    }
}

/// What the layers of an attempt say of the credential that it presents.
enum Presentation: Sendable {
    /// Nothing: it presents what the call says.
    case asCalled
    /// That it presents none.
    case nothing
    /// Which it presents.
    case credential(PresentedCredential)

    var credential: PresentedCredential? {
        if case .credential(let credential) = self { credential } else { nil }
    }
}
