#if Redis
public import HTTPRecovery

extension RedisStore {
    /// Of the closed gates among the keys, the one that opens last, in one round trip.
    ///
    /// Without keys it asks whether the server can be written to.
    public func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async throws -> SharedState.Gate? {
        guard !keys.isEmpty else {
            _ = try await run(Scripts.probe, on: [self.keys.probe])
            return nil
        }
        var latest: SharedState.Gate?
        // Lua has room for a few thousand keys; nobody asks for that many.
        for start in stride(from: 0, to: keys.count, by: 1000) {
            let part = Array(keys[start..<min(start + 1000, keys.count)])
            guard let gate = try await closedGate(of: part, at: now) else { continue }
            if latest.map(gate.opensLater) ?? true { latest = gate }
        }
        return latest
    }

    private func closedGate(of keys: [SharedState.Gate.Key], at now: Timestamp) async throws -> SharedState.Gate? {
        var latest: SharedState.Gate?
        for (places, reply) in try await router.ask(Scripts.closedGate, over: keys.map(self.keys.gate)) {
            guard let gate = try gate(reply, of: places.map { keys[$0] }, at: now) else { continue }
            if latest.map(gate.opensLater) ?? true { latest = gate }
        }
        return latest
    }

    private func gate(
        _ reply: Reply,
        of keys: [SharedState.Gate.Key],
        at now: Timestamp
    ) throws(SharedState.StoreError) -> SharedState.Gate? {
        if reply == .null { return nil }
        let elements = try reply.elements(4)
        let index = try elements[0].integer() &- 1
        guard keys.indices.contains(index) else { throw SharedState.StoreError.unexpectedReply }
        let isEndless = try elements[2].integer() == 1
        let rest = Duration.milliseconds(max(0, min(try elements[1].integer(), Digits.most)))
        let payload = String(decoding: try elements[3].string(), as: UTF8.self)
        let end = now.advanced(by: rest)
        let (opensAt, forgottenAt) = isEndless ? (nil, end) : (end, nil)
        return SharedState.Gate(key: keys[index], payload: payload, opensAt: opensAt, forgottenAt: forgottenAt)
    }

    /// Closes a gate; one that is closed already stays closed until the later of the two times.
    ///
    /// The server is told a span, not a time: the gate opens after that span for every host, whatever its clock says.
    /// One that only a person can open is kept for `SharedState.Gate.indefiniteLifetime`.
    public func close(_ gate: SharedState.Gate, at now: Timestamp) async throws {
        let span = gate.opensAt.map { $0.sinceEpoch.saturatingSubtracting(now.sinceEpoch) }
        if let span, span <= .zero { return }
        // The server counts in whole milliseconds from the one that has begun: one more, and it is never early.
        let rest = Digits.milliseconds(span ?? SharedState.Gate.indefiniteLifetime) + 1
        let isEndless = Digits.text(span == nil ? 1 : 0)
        let payload = Array(gate.payload.description.utf8)
        let key = keys.gate(gate.key)
        let channel = Array(keys.channel.utf8)
        let lists = [key, keys.closed(in: key.part)]
        _ = try await run(Scripts.close, on: lists, Digits.text(rest), isEndless, payload, channel).integer()
    }

    /// Opens a gate before its time.
    public func open(_ key: SharedState.Gate.Key) async throws {
        let key = keys.gate(key)
        _ = try await run(Scripts.open, on: [key, keys.closed(in: key.part)], Array(keys.channel.utf8)).integer()
    }

    /// Counts one more caller at the gate and returns how many were counted before it; the count ends with the gate.
    public func joinQueue(at key: SharedState.Gate.Key) async throws -> Int {
        max(0, try await run(Scripts.joinQueue, on: [keys.gate(key)]).integer())
    }
}
#endif
