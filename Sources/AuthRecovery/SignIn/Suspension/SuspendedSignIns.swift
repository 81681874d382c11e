public import HTTPRecovery

/// Keeps sign-ins between the requests of a web backend, whose user's next answer comes in another request, perhaps at
/// another machine.
///
/// ```swift
/// let signIns = SuspendedSignIns(client, sealing: sealing).held(by: browser, hasOwnTokens: true)
/// // The request that begins:
/// let turn = try await signIns.begin(clerk.signInFlow(.identifier(name, password: password)))
/// // turn.ticket goes into a cookie that scripts cannot read.
///
/// // Each request that answers, at any instance that shares the store and the key:
/// let next = try await signIns.step(ticket, .answer(.text(code)), at: clerk)
/// ```
///
/// All that a sign-in has to know is sealed and kept in the client's `RecoveryStore`; the browser gets a short ticket. It
/// says nothing, but whoever holds it can go on with the sign-in: it belongs into a cookie that scripts cannot read, and
/// ``held(by:hasOwnTokens:)`` makes it useless in another browser.
///
/// A step is taken once, whoever asks for it: a ticket that was used leads to what is wanted now, without a request, and
/// while another request takes the step, it is refused with the kind `state_conflict` and the time after which to try
/// again. If an instance has died within a step, nobody knows what became of it: nothing is sent again, but where the
/// sign-in stands is read at the server. That needs a store which answers: while it does not, the kind is `unavailable`.
///
/// Nobody is let in by what somebody else has proved. So each browser has a token store of its own at the provider, named by a
/// hash of what tells it from others, and never by the name that was typed; ``held(by:hasOwnTokens:)`` is told so. Without that
/// word a session that is there already is no sign-in that has finished, and ends it with the kind `already_signed_in`.
///
/// A sign-in that nobody goes on with has an end, after which its tickets are refused with the kind `flow_expired`.
public struct SuspendedSignIns: Sendable {
    private let client: RecoveringClient
    private let sealing: any CredentialSealing
    private let lifetime: Duration
    /// Whom tickets are of use to; nil is whoever holds them.
    private var holder: Secret?
    /// Whether a session that is found in the provider's token store is one of the holder's own.
    private var hasOwnTokens = false

    /// How long a step belongs to the request that takes it, without a sign of life.
    private static let lease: Duration = .seconds(30)

    /// Keeps sign-ins in a client's state.
    ///
    /// - Parameters:
    ///   - client: Its store keeps them; all instances have to share it.
    ///   - sealing: Seals them; all instances have to have the key.
    ///   - lifetime: How long somebody has for their next answer. Default: 10 min.
    public init(_ client: RecoveringClient, sealing: any CredentialSealing, lifetime: Duration = .seconds(600)) {
        self.client = client
        self.sealing = sealing
        self.lifetime = max(lifetime, .seconds(1))
    }

    /// The same, for one browser: its tickets are none in another's hands.
    ///
    /// - Parameters:
    ///   - holder: What tells the browser from all others, such as a random cookie of its own.
    ///   - hasOwnTokens: Whether the provider's token store is this browser's alone, so that a session in it is one that this
    ///     browser has signed in to: it is used then, as one whose answer was lost is. Default: nobody knows, so none is.
    public func held(by holder: Secret, hasOwnTokens: Bool = false) -> SuspendedSignIns {
        var signIns = self
        signIns.holder = holder
        signIns.hasOwnTokens = hasOwnTokens
        return signIns
    }

    /// Begins a sign-in, and keeps it.
    ///
    /// - Parameter flow: The sign-in, before its first step.
    /// - Returns: What is wanted, with the ticket for the next step.
    /// - Throws: As ``SignInFlow/step(_:)``; ``Credentials/SealingError`` if it could not be kept.
    public func begin<Session>(_ flow: SignInFlow<Session>) async throws -> SignInTurn<Session> {
        var flow = flow
        flow.options.acceptsExistingSession = flow.options.acceptsExistingSession && hasOwnTokens
        var turn = try await flow.step(.begin)
        if case .finished = turn.step { return turn }
        let id = SignInTicket.ID(client.runtime.random.token(), of: holder)
        let entry = SuspendedSignIn(.open, step: 1, endsAt: end)
        guard try await replace(nil, at: id, with: entry, try content(flow, turn.notices, id)) != nil else {
            throw SuspendedSignIn.unavailable
        }
        turn.ticket = SignInTicket(id: id, step: 1).text
        return turn
    }

    /// Goes on with a sign-in.
    ///
    /// - Parameters:
    ///   - ticket: The ticket of the turn before.
    ///   - input: What the person has answered.
    ///   - provider: The provider that it was begun at, as it is set up on this instance.
    /// - Returns: What is wanted next, with a new ticket; the session, without one.
    /// - Throws: As ``SignInFlow/step(_:)``; `RecoveryError` of the kind `flow_expired` if the sign-in is over, or never
    ///   was, `already_signed_in` if it has led to a session, `state_conflict` while another request takes the step,
    ///   `unavailable` while the store does not answer. ``Credentials/SealingError``.
    public func step<Provider: SignInProvider>(
        _ ticket: Secret,
        _ input: SignInInput,
        at provider: Provider
    ) async throws -> SignInTurn<Provider.Session> {
        try await holding(ticket) { ticket, lease in
            let (record, entry, sealed) = try await read(ticket.id)
            var (flow, notices): (SignInFlow<Provider.Session>, [Outcome]) = try open(sealed, ticket.id, provider)
            let isOld = ticket.step < entry.step
            if isOld || (entry.state == .open && flow.isEarly(for: input, at: client.runtime.time.wallTime)) {
                guard let step = flow.present(at: client.runtime.time.wallTime) else { throw SuspendedSignIn.over }
                let ticket = SignInTicket(id: ticket.id, step: entry.step)
                return SignInTurn(step, notices: notices, ticket: ticket.text)
            }
            guard ticket.step == entry.step else { throw SuspendedSignIn.over }
            // Who has taken the step before has died within it.
            let input = entry.state == .taken ? .resync : input
            let taken = SuspendedSignIn(.taken, step: entry.step, endsAt: end)
            let version = try await replace(record.version, at: ticket.id, with: taken, sealed)
            guard let version else { throw SuspendedSignIn.busy }
            return try await take(input, of: &flow, from: entry, version, ticket, lease)
        }
    }

    /// Ends a sign-in that nobody goes on with: here, and at the server if it knows such an end.
    ///
    /// One that is over is left alone.
    ///
    /// - Throws: `RecoveryError` if the server could not be told; it is over here all the same. Of the kind `unavailable` if
    ///   the store does not answer: nothing has ended then.
    public func abandon<Provider: SignInProvider>(_ ticket: Secret, at provider: Provider) async throws {
        try await holding(ticket) { ticket, _ in
            let (record, entry, sealed): (SharedState.Record, SuspendedSignIn, [UInt8])
            do {
                (record, entry, sealed) = try await read(ticket.id)
            } catch let error as RecoveryError where [.flowExpired, .alreadySignedIn].contains(error.kind) {
                return
            }
            let over = SuspendedSignIn(.over, step: entry.step, endsAt: entry.endsAt)
            guard try await replace(record.version, at: ticket.id, with: over, []) != nil else {
                throw SuspendedSignIn.busy
            }
            var (flow, _): (SignInFlow<Provider.Session>, [Outcome]) = try open(sealed, ticket.id, provider)
            try await flow.abandon()
        }
    }

    // MARK: A step

    /// Takes a step that is this request's alone, and keeps what comes of it.
    private func take<Session>(
        _ input: SignInInput,
        of flow: inout SignInFlow<Session>,
        from entry: SuspendedSignIn,
        _ version: UInt64,
        _ ticket: SignInTicket,
        _ lease: any Credentials.Lease
    ) async throws -> SignInTurn<Session> {
        var turn: SignInTurn<Session>
        let asked = flow.question
        do {
            turn = try await lease.kept(for: Self.lease, client.runtime.time) { try await flow.step(input) }
        } catch {
            // A step that was never taken, because its input does not fit, can be taken again. Whatever else has broken one
            // off, such as a store that does not take the tokens, the server may have seen it: where it stands is read by
            // the next request.
            var next = SuspendedSignIn(.over, step: entry.step, endsAt: end)
            if !flow.isOver { next.state = error is RecoveryError ? entry.state : .taken }
            let content = next.state == .over ? [] : try content(flow, [], ticket.id)
            // Written also by a task that is cancelled.
            _ = try? await replace(version, at: ticket.id, with: next, content)
            throw error
        }
        if case .finished = turn.step {
            // The session exists, whatever the store says.
            let finished = SuspendedSignIn(.finished, step: entry.step, endsAt: end)
            _ = try? await replace(version, at: ticket.id, with: finished, [])
            return turn
        }
        // Who looks while somebody types does not take their ticket away.
        let isLook = if case .poll = input, case .ask(let same) = turn.step { same.isSame(as: asked) } else { false }
        let next = SuspendedSignIn(.open, step: isLook ? entry.step : entry.step + 1, endsAt: end)
        guard try await replace(version, at: ticket.id, with: next, try content(flow, turn.notices, ticket.id)) != nil
        else { throw SuspendedSignIn.busy }
        turn.ticket = SignInTicket(id: ticket.id, step: next.step).text
        return turn
    }

    /// Works on a sign-in that no other request works on.
    private func holding<Result: Sendable>(
        _ ticket: Secret,
        _ body: (SignInTicket, any Credentials.Lease) async throws -> Result
    ) async throws -> Result {
        guard let ticket = SignInTicket(ticket, of: holder) else { throw SuspendedSignIn.over }
        let state = client.runtime.state
        guard let lease = await state.acquireLease("lease:\(ticket.id.key)", for: Self.lease) else {
            try Task.checkCancellation()
            throw SuspendedSignIn.busy
        }
        let held = StateLease(state: state, lease: lease)
        do {
            let result = try await body(ticket, held)
            await held.release()
            return result
        } catch {
            await held.release()
            throw error
        }
    }

    // MARK: The store

    private var end: Timestamp { client.runtime.time.wallTime.advanced(by: lifetime) }

    private func content<Session>(
        _ flow: SignInFlow<Session>,
        _ notices: [Outcome],
        _ id: SignInTicket.ID
    ) throws -> [UInt8] {
        let memory = SuspendedSignIn.Content(flow: flow.memory, options: flow.options, notices: notices).memory
        return try sealing.seal(Array(memory.description.utf8), at: id.key)
    }

    private func open<Provider: SignInProvider>(
        _ sealed: [UInt8],
        _ id: SignInTicket.ID,
        _ provider: Provider
    ) throws -> (SignInFlow<Provider.Session>, [Outcome]) {
        let opened = try sealing.open(sealed, at: id.key)
        guard let content = (try? JSONValue(parsing: opened)).flatMap({ SuspendedSignIn.Content(memory: $0) }),
            var flow = SignInFlow(
                memory: content.flow,
                client: provider.client,
                options: content.options,
                machine: provider.signInMachine
            )
        else {
            // Of another provider, or of another version.
            throw SuspendedSignIn.over
        }
        flow.options.acceptsExistingSession = flow.options.acceptsExistingSession && hasOwnTokens
        return (flow, content.notices)
    }

    /// The sign-in, if it can be gone on with.
    private func read(
        _ id: SignInTicket.ID
    ) async throws -> (record: SharedState.Record, entry: SuspendedSignIn, sealed: [UInt8]) {
        let record: SharedState.Record?
        do {
            record = try await client.runtime.state.record(id.key)
        } catch is SharedState.StoreError {
            throw SuspendedSignIn.unavailable
        }
        guard let record, let (entry, sealed) = SuspendedSignIn.read(record.bytes),
            entry.endsAt > client.runtime.time.wallTime
        else { throw SuspendedSignIn.over }
        switch entry.state {
        case .open, .taken: return (record, entry, sealed)
        case .finished: throw SuspendedSignIn.finished
        case .over: throw SuspendedSignIn.over
        }
    }

    /// Keeps a sign-in; nil if another request has changed it.
    private func replace(
        _ version: UInt64?,
        at id: SignInTicket.ID,
        with entry: SuspendedSignIn,
        _ sealed: [UInt8]
    ) async throws -> UInt64? {
        do {
            return try await client.runtime.state.replaceRecord(
                id.key,
                version: version,
                with: entry.bytes(sealed),
                lasting: max(entry.endsAt.elapsed(since: client.runtime.time.wallTime), .seconds(1))
            )?.version
        } catch is SharedState.StoreError {
            throw SuspendedSignIn.unavailable
        }
    }
}
