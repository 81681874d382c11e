import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Clerk {
    /// A session token for an app's own backend, with life left in it.
    ///
    /// A token that is held is used while it has more than the leeway left; else one is minted, once for all who want it
    /// at a time. A caller who is cancelled cancels nobody else's, and a failure is not remembered. If minting fails
    /// for a passing reason (no network, an outage, a limit, a refusal that leaves it open whether the session lives) a
    /// token that has not expired still serves.
    ///
    /// If the server wants the previous token to mint the next one from, it is sent along, once. An answer without a
    /// token is a passing failure of the server's, and repeated.
    ///
    /// - Parameters:
    ///   - template: The template that the token is made by; nil for the default one.
    ///   - organizationID: The organization that it speaks for; empty for the personal account, nil for whichever is
    ///     active.
    ///   - sessionID: The session; nil for the one that the store names.
    ///   - leeway: How much life it must have left, 0 to 60 s; nil takes ``ClerkConfiguration/tokenLeeway``.
    ///   - skippingCache: Whether a new one is minted in any case, and no one else's is waited for.
    /// - Throws: `RecoveryError`: of the kind `reauthentication_required` if there is no session any more; without a
    ///   network one whose `isOffline` is true, and nothing is removed then. `CancellationError` as soon as the task is
    ///   cancelled.
    public func sessionToken(
        template: String? = nil,
        organizationID: String? = nil,
        of sessionID: String? = nil,
        leeway: Duration? = nil,
        skippingCache: Bool = false
    ) async throws -> ClerkSessionToken {
        let key = SessionTokenCache.Key(
            sessionID: try await api.heldSession(sessionID),
            template: template,
            organizationID: organizationID
        )
        let leeway = leeway.map { ClerkConfiguration.bounded($0) } ?? api.configuration.tokenLeeway
        let cache = api.sessionTokens
        if skippingCache { return try await cache.freshToken(for: key, api: api) }
        do {
            return try await cache.token(for: key, leeway: leeway, api: api)
        } catch let error as RecoveryError where error.mayPass {
            guard let token = cache.held(for: key, now: api.now) else { throw error }
            return token
        }
    }

    /// Session tokens as they are renewed, well before they expire: the present one first.
    ///
    /// While somebody iterates, the session is looked after every 5 s, and callers of
    /// ``sessionToken(template:organizationID:of:leeway:skippingCache:)`` find a fresh token without waiting. After a
    /// failure that may pass the next try waits for 5 s · 2ⁿ, at most 60 s, 20 % more or less, and for whatever the
    /// server states.
    ///
    /// - Parameters:
    ///   - template: The template; nil for the default one.
    ///   - organizationID: The organization; empty for the personal account, nil for whichever is active.
    ///   - interval: How often the session is looked after; at least 1 s, default: 5 s.
    ///   - leeway: How long before its expiry a token is renewed, 0 to 60 s; default: 17 s.
    /// - Returns: A sequence that ends with a `RecoveryError` when the session has ended, or can never be asked for. Who
    ///   stops to iterate ends the renewing.
    public func sessionTokens(
        template: String? = nil,
        organizationID: String? = nil,
        every interval: Duration = .seconds(5),
        leeway: Duration = .seconds(17)
    ) -> AsyncThrowingStream<ClerkSessionToken, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: ClerkSessionToken.self,
            throwing: (any Error).self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let task = Task {
            do {
                let plan = SessionTokenWatch(every: max(interval, .seconds(1)))
                try await api.client.looseOperation { operation in
                    try await operation.run(plan) { latest, _ in
                        let token = try await sessionToken(
                            template: template,
                            organizationID: organizationID,
                            leeway: leeway
                        )
                        if token != latest { continuation.yield(token) }
                        return token
                    }
                }
            } catch {
                continuation.finish(throwing: error is CancellationError ? nil : error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

extension ClerkAPI {
    /// Mints a session token.
    func mint(_ key: SessionTokenCache.Key) async throws -> ClerkSessionToken {
        var path = "/client/sessions/\(FormFields.encode(segment: key.sessionID))/tokens"
        var form = FormFields()
        if let template = key.template {
            path += "/\(FormFields.encode(segment: template))"
        } else {
            form.add("organization_id", key.organizationID)
            if configuration.sendsPreviousToken {
                form.add("token", secret: sessionTokens.seed(of: key.sessionID))
            }
        }
        let call = Call(
            method: .post,
            path: path,
            body: .form(form),
            // Who gets two tokens has two tokens: nothing is spent.
            resend: .replayable,
            concerns: key.sessionID,
            policies: [SeedReplay(api: self, sessionID: key.sessionID)]
        )
        let answer = try await perform(call)
        let jwt = (answer.json["jwt"] ?? answer.json["response"]?["jwt"])?.string ?? ""
        guard let token = ClerkSessionToken(Secret(jwt), sessionID: key.sessionID, template: key.template) else {
            throw answer.failure(.unreadable)
        }
        return token
    }
}

extension RecoveryError {
    /// Whether the same may succeed later, with nothing changed on this side.
    var mayPass: Bool {
        switch kind {
        case .transport: outcome.transportError?.isTransient ?? true
        case .timedOut, .unavailable, .rateLimited, .quotaExhausted, .unreadable, .conflict: true
        // That the session is over has another kind: here the client was not read, or shows that it lives.
        case .credentialRejected: remedies.contains(.resync) || reason == .alreadyRepaired
        // Somebody else has signed in meanwhile, whose turn is next.
        case .stateConflict: reason == .alreadyRepaired || reason == .identityChanged
        default: false
        }
    }
}
