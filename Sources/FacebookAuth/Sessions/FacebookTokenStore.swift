import AuthRecovery
import HTTPRecovery

/// Keeps the person's profile beside the token, and lets it go with the token, whoever takes that away.
struct FacebookTokenStore: TokenStore {
    let base: any TokenStore

    var identity: String? { base.identity }
    var readsWait: Bool { base.readsWait }

    func read() async throws -> Credentials.Stored {
        try await base.read()
    }

    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        var credentials = credentials
        if credentials.accessToken == nil {
            credentials.facebookProfile = nil
            credentials.facebookDataAccess = nil
            credentials.idToken = nil
        }
        return try await base.replace(version: version, with: credentials)
    }

    func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any Credentials.Lease)? {
        try await base.acquireLease(for: duration, time: time)
    }

    /// Removes the token, if it is still the one that was refused.
    ///
    /// - Parameters:
    ///   - version: The version of the token that was refused.
    ///   - keepsProfile: Whether the person stays known, as when only the app's access to their data has expired.
    /// - Returns: Whether it was removed.
    func clear(ifVersion version: UInt64, keepsProfile: Bool) async throws -> Bool {
        while true {
            let present = try await base.read()
            guard present.credentials.version(of: .access) == version else { return false }
            var changed = present.credentials
            changed.remove(.access)
            if !keepsProfile { changed.facebookProfile = nil }
            changed.facebookDataAccess = nil
            if !keepsProfile { changed.idToken = nil }
            if try await base.replace(version: present.version, with: changed) != nil { return true }
        }
    }
}
