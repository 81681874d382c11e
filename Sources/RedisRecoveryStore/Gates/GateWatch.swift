#if Redis
import HTTPRecovery

/// What is known without asking: that no gate among some is closed.
///
/// It listens to the servers for gates that close and open, knows from their lists which were closed before, and makes
/// sure by a `PING` on the same connection that nothing said before it was missed. Nothing is sent while nobody calls.
/// Where it does not know, it says that a gate may be closed, and the store is asked.
final class GateWatch: Sendable {
    private struct State {
        /// The closed gates by their names, and when they open at the latest.
        var closed: [String: UInt64] = [:]
        /// As of when it knows all; nil while it does not.
        var knowsAsOf: UInt64?
        /// Whether a question is under way that brings it up to date.
        var isBusy = false
        /// Before this it does not try to listen again.
        var pausesUntil: UInt64 = 0
        var listeners: [RedisStore.Endpoint: Connection] = [:]
        var isStopped = false
    }

    /// The most closed gates that it remembers; beyond it the store is asked.
    static let mostGates = 50_000
    /// How much longer than it was told a gate is taken for closed: the server counts for itself.
    private static let tolerance: UInt64 = 1_000_000_000
    private static let pause: Duration = .seconds(1)

    private let router: Router
    private let keys: Keys
    private let configuration: RedisStore.Configuration
    private let freshness: UInt64
    private let state = Locked(State())

    init(_ router: Router, keys: Keys, configuration: RedisStore.Configuration) {
        self.router = router
        self.keys = keys
        self.configuration = configuration
        freshness = Monotonic.nanoseconds(configuration.gateFreshness)
    }

    // MARK: Answering

    /// Whether a gate among these may be closed; false means that none is, as of ``RedisStore/Configuration/gateFreshness``
    /// ago at the most.
    ///
    /// - Parameter names: The names of gates, which cost something to find out; nil for any gate.
    func mayHold(_ names: () -> [String]?) -> Bool {
        guard freshness > 0 else { return true }
        let now = Monotonic.now()
        let (step, isFresh, isEmpty) = state.withLock { state in
            let age = state.knowsAsOf.map { now > $0 ? now - $0 : 0 }
            let step: Step? =
                switch age {
                case _ where state.isBusy || state.isStopped: nil
                case nil: state.pausesUntil <= now ? .begin : nil
                case let age?: age >= freshness / 4 ? .confirm : nil
                }
            if step != nil { state.isBusy = true }
            return (step, age.map { $0 < freshness } ?? false, state.closed.isEmpty)
        }
        if let step { Task { await take(step) } }
        guard isFresh else { return true }
        if isEmpty { return false }
        guard let names = names() else { return true }
        return state.withLock { state in
            names.contains { name in
                guard let end = state.closed[name] else { return false }
                if end > now { return true }
                state.closed[name] = nil
                return false
            }
        }
    }

    // MARK: Listening

    private enum Step {
        /// Begins to listen.
        case begin
        /// Makes sure that it still hears all.
        case confirm
    }

    private func take(_ step: Step) async {
        let moment = Monotonic.now()
        // What cannot be had now is asked for again later; until then each call asks for itself.
        let hearsAll = (try? await (step == .begin ? begin() : hearsAll())) ?? false
        let isOver = state.withLock { state in
            state.isBusy = false
            if hearsAll, !state.isStopped {
                state.knowsAsOf = moment
                return false
            }
            state.knowsAsOf = nil
            state.pausesUntil = step == .begin ? Monotonic.deadline(after: Self.pause) : 0
            return true
        }
        if isOver { endListening() }
    }

    /// Listens to all servers, and reads what was closed before; false if it cannot know all.
    private func begin() async throws -> Bool {
        endListening()
        // A store that was not asked yet does not know its servers.
        _ = try await router.ask(Scripts.allClosed, over: keys.allClosed, arguments: [Digits.text(0)])
        for _ in 0..<3 {
            let servers = router.servers
            for server in servers { try await listen(to: server) }
            guard try await readLists() else { return false }
            // Keys that have moved meanwhile may have been closed where nobody listened.
            if isAtAllServers { return true }
        }
        return false
    }

    private func listen(to server: RedisStore.Endpoint) async throws {
        let connection = Connection(configuration.at(server), hearing: keys.channel) { [weak self] message in
            self?.hear(message, from: server)
        }
        let (previous, isStopped) = state.withLock { state in
            let previous = state.listeners[server]
            if !state.isStopped { state.listeners[server] = connection }
            return (previous, state.isStopped)
        }
        if isStopped { throw SharedState.StoreError("the Redis store is shut down") }
        previous?.abandon()
        let reply = try await connection.ask(Command("SUBSCRIBE", keys.channel), by: deadline)
        guard case .array = reply else { throw SharedState.StoreError.unexpectedReply }
    }

    /// Reads which gates are closed; false if they are too many.
    private func readLists() async throws -> Bool {
        let replies = try await router.ask(
            Scripts.allClosed,
            over: keys.allClosed,
            arguments: [Digits.text(Self.mostGates)]
        )
        for (_, reply) in replies {
            guard case .bytes(let list) = reply, let gates = Self.gates(in: list) else { return false }
            for (name, rest) in gates { note(name, closedFor: rest) }
        }
        return state.withLock { $0.closed.count <= Self.mostGates }
    }

    /// Reads a list as ``Scripts/allClosed`` writes it; nil for anything else.
    static func gates(in list: [UInt8]) -> [(name: String, rest: UInt64)]? {
        var gates: [(String, UInt64)] = []
        var left = list[...]
        func number() -> UInt64? {
            guard let space = left.firstIndex(of: UInt8(ascii: " ")) else { return nil }
            defer { left = left[(space + 1)...] }
            return UInt64(String(decoding: left[..<space], as: UTF8.self))
        }
        while !left.isEmpty {
            guard let rest = number(), let length = number(), length <= UInt64(left.count) else { return nil }
            gates.append((String(decoding: left.prefix(Int(length)), as: UTF8.self), rest))
            left = left.dropFirst(Int(length))
        }
        return gates
    }

    /// Whether it still hears all that is said.
    private func hearsAll() async throws -> Bool {
        guard isAtAllServers else { return false }
        for connection in state.withLock({ $0.listeners }).values {
            // A connection that was made again listens to nothing, and answers otherwise.
            guard case .array = try await connection.ask(Command("PING"), by: deadline) else { return false }
        }
        return true
    }

    private var isAtAllServers: Bool {
        let servers = router.servers
        return state.withLock { servers.isSubset(of: $0.listeners.keys) }
    }

    private var deadline: UInt64 { Monotonic.deadline(after: configuration.commandTimeout) }

    // MARK: Hearing

    private func hear(_ message: [UInt8], from server: RedisStore.Endpoint) {
        switch message.first {
        case UInt8(ascii: "+"):
            guard let space = message.firstIndex(of: UInt8(ascii: " ")),
                let span = UInt64(String(decoding: message[1..<space], as: UTF8.self))
            else { return }
            note(String(decoding: message[(space + 1)...], as: UTF8.self), closedFor: span)
        case UInt8(ascii: "-"):
            // The nodes of a cluster pass messages on, and late ones may tell of an opening before the last closing.
            let name = String(decoding: message.dropFirst(), as: UTF8.self)
            state.withLock { if $0.listeners.count == 1, $0.listeners[server] != nil { $0.closed[name] = nil } }
        default: break
        }
    }

    private func note(_ name: String, closedFor milliseconds: UInt64) {
        let span = Duration.milliseconds(Int64(clamping: min(milliseconds, UInt64(Digits.most))))
        let end = Monotonic.deadline(after: span) &+ Self.tolerance
        state.withLock { state in
            state.closed[name] = max(end, state.closed[name] ?? 0)
            guard state.closed.count > Self.mostGates else { return }
            let now = Monotonic.now()
            state.closed = state.closed.filter { $0.value > now }
            if state.closed.count > Self.mostGates { state.knowsAsOf = nil }
        }
    }

    private func endListening() {
        let listeners = state.withLock { state in
            state.closed = [:]
            defer { state.listeners = [:] }
            return state.listeners
        }
        for connection in listeners.values { connection.abandon() }
    }

    // MARK: The end

    /// Listens no more, and returns when nothing does.
    func stop() async {
        let listeners = stopListening()
        for connection in listeners.values { await connection.stop() }
    }

    /// Listens no more.
    func abandon() {
        for connection in stopListening().values { connection.abandon() }
    }

    private func stopListening() -> [RedisStore.Endpoint: Connection] {
        state.withLock { state in
            state.isStopped = true
            state.knowsAsOf = nil
            defer { state.listeners = [:] }
            return state.listeners
        }
    }
}
#endif
