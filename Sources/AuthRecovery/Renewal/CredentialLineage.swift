import HTTPRecovery

/// Which tokens have followed each other by renewal, so that a limit of one holds the next.
///
/// Tokens are known by their fingerprints alone. Each token has a name of its own, which another process that has read
/// the same token finds too; the names of those before it are remembered beside it.
final class CredentialLineage: Sendable {
    private struct State {
        var latest: String?
        var former: [String] = []
        /// The refresh token that came with the latest access token.
        var refresh: String?
    }

    /// The most former names that are remembered: a stated wait seldom outlives more renewals.
    private static let limit = 4

    private let state = Locked(State())

    /// Remembers that a renewal has put credentials in the place of others.
    func note(_ renewed: Credentials, insteadOf sent: Credentials) {
        state.withLock { state in
            Self.see(sent, in: &state)
            guard let name = Self.name(of: renewed) else { return }
            Self.follow(name, in: &state)
            state.refresh = renewed.refreshToken.map { Fingerprint.text(of: $0.reveal()) }
        }
    }

    /// What the access token is known by; nil if there is none.
    func identity(of credentials: Credentials) -> PresentedCredential.Identity? {
        guard let name = Self.name(of: credentials) else { return nil }
        return state.withLock { state in
            Self.see(credentials, in: &state)
            return PresentedCredential.Identity(name: name, formerNames: state.former)
        }
    }

    /// Takes note of credentials as they are stored: the same grant's, or those of somebody who has signed in.
    private static func see(_ credentials: Credentials, in state: inout State) {
        guard let name = name(of: credentials), name != state.latest else { return }
        let refresh = credentials.refreshToken.map { Fingerprint.text(of: $0.reveal()) }
        if refresh != nil, refresh == state.refresh {
            follow(name, in: &state)
        } else {
            state = State(latest: name)
        }
        state.refresh = refresh
    }

    private static func follow(_ name: String, in state: inout State) {
        guard let latest = state.latest, latest != name else {
            state.latest = name
            return
        }
        state.former = Array(([latest] + state.former.filter { $0 != name }).prefix(limit))
        state.latest = name
    }

    private static func name(of credentials: Credentials) -> String? {
        guard let token = credentials.accessToken, !token.isEmpty else { return nil }
        return "token \(Fingerprint.text(of: token.reveal()))"
    }
}
