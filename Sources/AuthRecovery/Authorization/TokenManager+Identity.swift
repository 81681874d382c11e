public import HTTPRecovery

extension TokenManager {
    /// What limits of the access token are kept by: the account that the token or the store names, else the token and
    /// those it has replaced; nil if there is no token.
    ///
    /// What a token claims is taken for a hint: a wrong one can only make its holder share somebody's waits.
    public var identity: PresentedCredential.Identity? {
        get async {
            guard let credentials = try? await store.read().credentials else { return nil }
            return identity(of: credentials)
        }
    }

    /// The same for the coming attempt of a call, which presents what was read for it.
    func identity(for context: CallContext) async -> PresentedCredential.Identity? {
        if let foreseen = foreseen(in: context), foreseen.serves(context) {
            return identity(of: foreseen.stored.credentials)
        }
        guard let stored = try? await store.read(for: context) else { return nil }
        context.record.foreseen = Foreseen(stored, by: self, at: context.runtime.time.now)
        return identity(of: stored.credentials)
    }

    /// What was read for the coming attempt, to be presented by it; read now if nothing was, or too long ago.
    func takeForeseen(for context: CallContext) async throws -> Credentials.Stored {
        guard let foreseen = foreseen(in: context), foreseen.serves(context) else {
            return try await store.read(for: context)
        }
        foreseen.isTaken = true
        return foreseen.stored
    }

    /// Whose token the call's last attempt has presented, if it was the one that was read before.
    func presentedIdentity(in context: CallContext) -> PresentedCredential.Identity? {
        guard let presented = context.record.presented, presented.kind == .access,
            let foreseen = foreseen(in: context), foreseen.isTaken,
            foreseen.stored.credentials.version(of: .access) == presented.version
        else { return nil }
        return identity(of: foreseen.stored.credentials)
    }

    private func foreseen(in context: CallContext) -> Foreseen? {
        guard let foreseen = context.record.foreseen as? Foreseen, foreseen.tokens === self else { return nil }
        return foreseen
    }

    private func identity(of credentials: Credentials) -> PresentedCredential.Identity? {
        guard let token = credentials.accessToken, !token.isEmpty else { return nil }
        if let account = UnverifiedJWT(token)?.account {
            return PresentedCredential.Identity(name: "account \(Fingerprint.text(of: account))")
        }
        if let name = store.identity {
            return PresentedCredential.Identity(name: "store \(Fingerprint.text(of: name))")
        }
        return lineage.identity(of: credentials)
    }

    /// What was read to say whose token an attempt is going to present, and is presented by it.
    private final class Foreseen: Sendable {
        let stored: Credentials.Stored
        let tokens: TokenManager
        private let readAt: TimeSource.Instant
        private let taken = Locked(false)

        /// How old it may be: an attempt that had to wait is to carry the newest token.
        private static let age: Duration = .milliseconds(100)

        init(_ stored: Credentials.Stored, by tokens: TokenManager, at now: TimeSource.Instant) {
            (self.stored, self.tokens, readAt) = (stored, tokens, now)
        }

        /// Whether an attempt has taken it: the next one reads again.
        var isTaken: Bool {
            get { taken.withLock { $0 } }
            set { taken.withLock { $0 = newValue } }
        }

        func serves(_ context: CallContext) -> Bool {
            !isTaken && readAt.duration(to: context.runtime.time.now) <= Self.age
        }
    }
}

extension UnverifiedJWT {
    /// Whom the token speaks for at whose server, by which client, as it claims; nil if it does not say.
    fileprivate var account: String? {
        guard let subject, !subject.isEmpty else { return nil }
        let client = claims["client_id"]?.string ?? claims["azp"]?.string ?? ""
        return [issuer ?? "", subject, client].joined(separator: "\n")
    }
}
