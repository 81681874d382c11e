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
        /// The sessions of the tokens that are being minted, by the mint's number; what voids a token takes it out.
        var underway: [UInt64: String] = [:]
        var mints: UInt64 = 0

        /// Notes that a token is being minted.
        mutating func begin(_ key: Key) -> UInt64 {
            mints += 1
            underway[mints] = key.sessionID
            return mints
        }

        /// Notes that it is not any more, and keeps what came of it unless that is void.
        mutating func end(_ mint: UInt64, of key: Key, with token: ClerkSessionToken?, now: Timestamp) {
            let isVoid = underway.removeValue(forKey: mint) == nil
            if let token, !isVoid { keep(token, for: key, now: now) }
        }

        /// Keeps a token, unless a fresher one is held.
        mutating func keep(_ token: ClerkSessionToken, for key: Key, now: Timestamp) {
            if let held = tokens[key], !token.supersedes(held, at: now) { return }
            // A template's token says whatever the template says: the server mints from the session's own.
            if key.template == nil { seeds[key.sessionID] = token.jwt }
            guard token.expiresAt != nil else { return }
            tokens[key] = token
            guard tokens.count > capacity else { return }
            tokens = tokens.filter { $0.key == key || $0.value.lives(.zero, at: now) }
            if tokens.count > capacity { tokens = [key: token] }
        }

        /// Drops the tokens of sessions, and those that are on their way.
        mutating func drop(where isMeant: (String) -> Bool) {
            tokens = tokens.filter { !isMeant($0.key.sessionID) }
            flights = flights.filter { !isMeant($0.key.sessionID) }
            underway = underway.filter { !isMeant($0.value) }
        }
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
            return .begun(state.begin(key))
        }
        let mint: UInt64
        switch way {
        case .held(let token): return token
        case .joined(let flight): return try await flight.value
        case .begun(let number): mint = number
        }
        // Not a child of the caller's task: its cancellation is not the others'.
        Task {
            let result: Result<ClerkSessionToken, any Error>
            do {
                result = .success(try await api.mint(key))
            } catch {
                result = .failure(error)
            }
            let time = api.now
            state.withLock { state in
                // Before anyone is told, so that whoever comes next finds the token, or begins anew.
                if state.flights[key] === new { state.flights[key] = nil }
                state.end(mint, of: key, with: try? result.get(), now: time)
            }
            new.land(result)
        }
        return try await new.value
    }

    /// A token that is minted for this caller alone, and kept for all unless a fresher one is held or its session has
    /// ended since.
    func freshToken(for key: Key, api: ClerkAPI) async throws -> ClerkSessionToken {
        let mint = state.withLock { $0.begin(key) }
        var token: ClerkSessionToken?
        defer {
            let time = api.now
            state.withLock { $0.end(mint, of: key, with: token, now: time) }
        }
        let fresh = try await api.mint(key)
        token = fresh
        return fresh
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
            state.drop { sessionID == nil || $0 == sessionID }
            if let sessionID { state.seeds[sessionID] = nil } else { state.seeds = [:] }
        }
    }

    /// Drops the tokens of a session because what they say has changed; the last one stays as a seed.
    func expire(session sessionID: String) {
        state.withLock { $0.drop { $0 == sessionID } }
    }

    /// Follows what the server tells of the client: the tokens of sessions that have ended go, and those that came with
    /// the sessions are kept.
    func follow(_ client: ClerkClient?, now: Timestamp) {
        let live = (client?.sessions ?? []).filter(\.status.isLive)
        let ids = Set(live.map(\.id))
        state.withLock { state in
            state.drop { !ids.contains($0) }
            state.seeds = state.seeds.filter { ids.contains($0.key) }
            for session in live {
                guard let jwt = session.lastActiveToken, let token = ClerkSessionToken(jwt, sessionID: session.id)
                else { continue }
                state.keep(token, for: Key(sessionID: session.id), now: now)
            }
        }
    }
}
