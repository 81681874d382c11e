import AuthRecovery
import HTTPRecovery

/// The session tokens that are held, one for each session, template and organization, and those that are being minted.
final class SessionTokenCache: Sendable {
    /// What a token is made for.
    struct Key: Sendable, Hashable {
        var sessionID: String
        var template: String?
        /// Empty for the personal account; nil for whichever is active.
        var organizationID: String?
    }

    private struct State {
        var tokens: [Key: ClerkSessionToken] = [:]
        var flights: [Key: Flight<ClerkSessionToken>] = [:]
        /// The last token of each session, expired or not: what the next one may be minted from.
        var seeds: [String: Secret] = [:]
        /// Counts what makes tokens that are on their way void.
        var generation: UInt64 = 0
    }

    /// Beyond this many tokens those that have expired are dropped, and then any.
    private static let capacity = 256

    private let state = Locked(State())

    /// A token that lives on for the leeway; minted once for all who want it at a time.
    ///
    /// - Parameters:
    ///   - key: What it is made for.
    ///   - leeway: How much life it must have left.
    ///   - api: Mints a new one. That goes on when the caller is cancelled, and its failure is not remembered.
    func token(
        for key: Key,
        leeway: Duration,
        api: ClerkAPI
    ) async throws -> ClerkSessionToken {
        let new = Flight<ClerkSessionToken>()
        enum Way {
            case held(ClerkSessionToken)
            case joined(Flight<ClerkSessionToken>)
            case begun(UInt64)
        }
        let time = api.now
        let way: Way = state.withLock { state in
            if let token = state.tokens[key], token.lives(leeway, at: time) { return .held(token) }
            if let flight = state.flights[key] { return .joined(flight) }
            state.flights[key] = new
            return .begun(state.generation)
        }
        let generation: UInt64
        switch way {
        case .held(let token): return token
        case .joined(let flight): return try await flight.value
        case .begun(let present): generation = present
        }
        // Not a child of the caller's task: its cancellation is not the others'.
        Task {
            let result: Result<ClerkSessionToken, any Error>
            do {
                result = .success(try await api.mint(key))
            } catch {
                result = .failure(error)
            }
            state.withLock { state in
                // Before anyone is told, so that whoever comes next begins anew.
                if state.flights[key] === new { state.flights[key] = nil }
            }
            if case .success(let token) = result { keep(token, for: key, since: generation, now: api.now) }
            new.land(result)
        }
        return try await new.value
    }

    /// What ``keep(_:for:since:now:)`` needs to know of the present.
    var generation: UInt64 {
        state.withLock { $0.generation }
    }

    /// Keeps a token, unless a fresher one is held or its session has ended since.
    func keep(_ token: ClerkSessionToken, for key: Key, since generation: UInt64, now: Timestamp) {
        state.withLock { state in
            guard state.generation == generation else { return }
            Self.keep(token, for: key, now: now, in: &state)
        }
    }

    private static func keep(_ token: ClerkSessionToken, for key: Key, now: Timestamp, in state: inout State) {
        if let held = state.tokens[key], !token.supersedes(held, at: now) { return }
        state.seeds[key.sessionID] = token.jwt
        guard token.expiresAt != nil else { return }
        state.tokens[key] = token
        guard state.tokens.count > capacity else { return }
        state.tokens = state.tokens.filter { $0.key == key || $0.value.lives(.zero, at: now) }
        if state.tokens.count > capacity { state.tokens = [key: token] }
    }

    /// The token that is held, if it has not expired.
    func held(for key: Key, now: Timestamp) -> ClerkSessionToken? {
        state.withLock { $0.tokens[key] }.flatMap { $0.lives(.zero, at: now) ? $0 : nil }
    }

    /// The last token of a session, expired or not.
    func seed(of sessionID: String) -> Secret? {
        state.withLock { $0.seeds[sessionID] }
    }

    /// Drops the tokens of a session, and those that are on their way; nil drops those of all.
    func drop(session sessionID: String?) {
        state.withLock { state in
            state.generation += 1
            state.tokens = state.tokens.filter { sessionID != nil && $0.key.sessionID != sessionID }
            state.flights = state.flights.filter { sessionID != nil && $0.key.sessionID != sessionID }
            if let sessionID { state.seeds[sessionID] = nil } else { state.seeds = [:] }
        }
    }

    /// Drops the tokens of a session because what they say has changed; the last one stays as a seed.
    func expire(session sessionID: String) {
        state.withLock { state in
            state.generation += 1
            state.tokens = state.tokens.filter { $0.key.sessionID != sessionID }
            state.flights = state.flights.filter { $0.key.sessionID != sessionID }
        }
    }

    /// Follows what the server tells of the client: the tokens of sessions that have ended go, and those that came with
    /// the sessions are kept.
    func follow(_ client: ClerkClient?, now: Timestamp) {
        let live = (client?.sessions ?? []).filter(\.status.isLive)
        let ids = Set(live.map(\.id))
        state.withLock { state in
            let gone = Set(state.tokens.keys.map(\.sessionID)).union(state.seeds.keys).subtracting(ids)
            if !gone.isEmpty {
                state.generation += 1
                state.tokens = state.tokens.filter { !gone.contains($0.key.sessionID) }
                for id in gone { state.seeds[id] = nil }
            }
            for session in live {
                guard let jwt = session.lastActiveToken, let token = ClerkSessionToken(jwt, sessionID: session.id)
                else { continue }
                Self.keep(token, for: Key(sessionID: session.id), now: now, in: &state)
            }
        }
    }
}
