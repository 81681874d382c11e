public import HTTPRecovery

/// Credentials as a store holds them.
public struct StoredCredentials: Sendable, Hashable {
    /// The credentials.
    public var credentials: Credentials
    /// What tells these credentials from those before and after them.
    public var version: UInt64

    /// Creates stored credentials.
    public init(_ credentials: Credentials, version: UInt64) {
        self.credentials = credentials
        self.version = version
    }
}

/// Keeps the credentials of one identity.
///
/// All changes are compare-and-swap: whoever changes credentials says which version it has read, and where another
/// change came first it reads again. That alone makes it impossible that a late answer wipes out a fresh token.
public protocol TokenStore: Sendable {
    /// The credentials now; empty ones where nothing is stored.
    ///
    /// - Throws: ``TokenStoreError`` when the store cannot be read.
    func read() async throws -> StoredCredentials

    /// Stores credentials, if the store still holds the version.
    ///
    /// - Returns: What is stored now; nil when another change came first, and nothing was stored.
    /// - Throws: ``TokenStoreError`` when the store cannot be written; then it holds what it held.
    func replace(version: UInt64, with credentials: Credentials) async throws -> StoredCredentials?
}

/// Why a token store failed; it never holds a credential.
public struct TokenStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong and what to do, without a credential.
    public let description: String

    /// Creates an error.
    public init(_ description: String) {
        self.description = description
    }
}

extension TokenStore {
    /// Changes the credentials, reading again whenever another change comes first.
    ///
    /// - Parameter change: Applied to the credentials of the moment, perhaps several times.
    /// - Returns: What is stored now.
    @discardableResult
    public func update(_ change: @Sendable (inout Credentials) -> Void) async throws -> StoredCredentials {
        while true {
            try Task.checkCancellation()
            let present = try await read()
            var changed = present.credentials
            change(&changed)
            if changed == present.credentials { return present }
            if let stored = try await replace(version: present.version, with: changed) { return stored }
        }
    }

    /// Removes a credential, if it is still the one that was refused.
    ///
    /// - Parameters:
    ///   - kind: The sort of the credential.
    ///   - version: The version that was presented when it was refused.
    /// - Returns: Whether it was removed.
    public func clear(_ kind: Outcome.CredentialKind, ifVersion version: UInt64) async throws -> Bool {
        let present = try await read()
        guard present.version == version else { return false }
        var changed = present.credentials
        changed.remove(kind)
        guard changed != present.credentials else { return false }
        return try await replace(version: version, with: changed) != nil
    }
}
