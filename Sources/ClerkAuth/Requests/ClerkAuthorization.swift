import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Presents the client token and keeps what the answer says about it, before anyone uses the answer.
///
/// Clerk's native rules: the token goes out raw in `Authorization`, which is empty without one; an `Authorization` field in the answer replaces
/// it, on any status; a blank one, or the bare word `Bearer`, clears it, unless the answer is an outage, a limit or not
/// Clerk's; no status and no error code does. What an answer tells of the client, on any status, is taken over in order.
struct ClerkAuthorization: ClientLayer {
    let api: ClerkAPI
    let progress: CallProgress

    private var tokens: any TokenStore { api.tokens }

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let stored = try await tokens.read(for: context)
        let presented = ClientToken.presented(stored.credentials)
        if let first = context.record.presented, first.identity != presented.identity {
            var outcome = Outcome(.stateConflict, processed: .no, remedies: [.resync])
            outcome.tokenAction = .keep
            throw RecoveryError(outcome: outcome, reason: .identityChanged, history: context.record.history)
        }
        let ticket = api.mirror.begin(ClientToken.lineage(of: stored.credentials))
        progress.ticket = ticket
        var (request, context) = (request, context)
        // Without a token the field is there all the same, and empty: it is what tells Clerk of a native client.
        request.headerFields.setAuthorization(stored.credentials.clientToken?.reveal() ?? "")
        context.present(presented)
        let result: Result<RecoveredResponse, any Error>
        do {
            result = .success(try await next(request, body: progress.proved(body), context: context))
        } catch {
            result = .failure(error)
        }
        var own: String?
        // The head counts even if the body broke off behind it.
        if let head = context.record.receivedHead {
            api.clocks.keep(head.headerFields, from: api.base.origin, receivedAt: context.runtime.time.wallTime)
            // A blank field takes a token away only if the answer has been read and judged to do so.
            let mayClear = (try? result.get())?.outcome.tokenAction == .clear
            if let change = ClientToken.change(statedBy: head.headerFields), change != .clear || mayClear {
                // Not the caller's to cancel: a token that is replaced and not kept would be lost for good.
                own = try await Task { [context] in try await keep(change, since: stored, context: context) }.value
            }
        }
        let response = try result.get()
        try await take(response, to: request, ticket: ticket, own: own, context: context)
        return response
    }

    /// Stores what the answer says about the token.
    ///
    /// - Returns: The lineage of the token that was stored; nil if none was.
    private func keep(
        _ change: ClientToken.Change,
        since sent: Credentials.Stored,
        context: CallContext
    ) async throws -> String? {
        var present = sent
        while true {
            // Another call has stored a newer token meanwhile: an answer to the older one does not touch it.
            guard present.credentials.clientToken == sent.credentials.clientToken else { return nil }
            var changed = present.credentials
            switch change {
            case .clear: changed.remove(.client)
            case .replace(let token): changed.clientToken = token
            }
            if changed == present.credentials { return nil }
            if let stored = try await tokens.replace(version: present.version, with: changed) {
                if change == .clear { context.emit(.clear(.client)) }
                // The server itself has changed the token in this call: a repeat with the new one is the same client's.
                context.record.presented = ClientToken.presented(stored.credentials)
                return ClientToken.lineage(of: stored.credentials)
            }
            present = try await tokens.read()
        }
    }

    /// Takes over what the answer tells of the client.
    private func take(
        _ response: RecoveredResponse,
        to request: HTTPRequest,
        ticket: ClientMirror.Ticket,
        own: String?,
        context: CallContext
    ) async throws {
        guard let bytes = response.body.bytesInMemory, bytes.first == UInt8(ascii: "{"),
            let json = try? JSONValue(parsing: bytes)
        else { return }
        let client = ClerkClient.find(in: json)
        if client == nil {
            // Only who asks for the client is told that there is none; elsewhere an empty place says nothing.
            let endpoint = ClerkEndpoint(method: request.method, path: request.pathWithoutQuery)
            guard endpoint.isClient, !response.outcome.isFailure, json["response"]?.isNull == true else { return }
        }
        let present = try await tokens.read().credentials
        let clock = ServerClock(response.headerFields, receivedAt: context.runtime.time.wallTime)
        let isTaken = api.mirror.take(
            client,
            ticket: ticket,
            present: ClientToken.lineage(of: present),
            own: own,
            date: clock.offset == nil ? nil : clock.now
        )
        if isTaken { api.sessionTokens.follow(client, now: api.now) }
    }
}

/// Clerk's client token.
enum ClientToken {
    /// What an answer's `Authorization` field asks for.
    enum Change: Equatable {
        case clear
        case replace(Secret)
    }

    /// What the answer's `Authorization` fields ask for, if a token counts more than a blank; nil without a field.
    static func change(statedBy fields: HTTPFields) -> Change? {
        let changes = fields[values: .authorization].map { change(stated: $0) }
        return changes.last { $0 != .clear } ?? changes.last
    }

    private static func change(stated field: String) -> Change {
        let words = field.split { $0 == " " || $0 == "\t" }
        let token = words.first?.lowercased() == "bearer" ? words.dropFirst() : words[...]
        return token.isEmpty ? .clear : .replace(Secret(token.joined(separator: " ")))
    }

    /// The token that is held as a call presents it.
    static func presented(_ credentials: Credentials) -> PresentedCredential {
        PresentedCredential(
            kind: .client,
            version: credentials.version(of: .client) ?? 0,
            identity: identity(of: credentials)
        )
    }

    /// Which client the stored token belongs to: the id it claims, else the session that hangs on it, else a
    /// fingerprint of the token.
    ///
    /// The claim is a hint that is read without checking the signature; a wrong one can only stop a repeat.
    static func identity(of credentials: Credentials) -> String? {
        guard let token = credentials.clientToken else { return nil }
        if let id = UnverifiedJWT(token)?.claims["id"]?.string { return id }
        return credentials.sessionID ?? lineage(of: credentials)
    }

    /// Which client a token is of: the id it claims, else a fingerprint of the token, which a rotation changes.
    static func lineage(of credentials: Credentials) -> String? {
        guard let token = credentials.clientToken else { return nil }
        return UnverifiedJWT(token)?.claims["id"]?.string ?? String(UInt(bitPattern: token.hashValue), radix: 36)
    }
}
