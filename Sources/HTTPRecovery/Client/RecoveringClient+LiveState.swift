extension RecoveringClient {
    /// What a client has learned of its servers while it ran: budgets, breakers, rates, limits, closed gates and lockouts.
    ///
    /// It can be looked at and written as JSON, and another client, in another process too, can go on with it, so that a
    /// command run twice or a service that is deployed anew does not ask a server again that has said no. It holds no
    /// secrets; the names of gates are those that every store keeps, among them those of locked accounts.
    public struct LiveState: Sendable, Hashable {
        /// What is known, with times as seconds from ``date``.
        public let json: JSONValue
        /// When that was.
        public let date: Timestamp

        /// By which form it is written.
        fileprivate static var version: Double { 1 }

        /// Reads what ``json`` was written as; nil if it is no state at all, or written by another form.
        ///
        /// What it holds is looked at when a client takes it over.
        public init?(json: JSONValue) {
            guard json["version"]?.number?.double == Self.version, let at = json["at"]?.number?.double, at.isFinite,
                abs(at) < 1e12, json["admissions"]?.members != nil
            else {
                return nil
            }
            self.json = json
            self.date = Timestamp(sinceEpoch: .saturating(seconds: at))
        }

        fileprivate init(_ json: JSONValue, date: Timestamp) {
            self.json = json
            self.date = date
        }
    }

    /// What the client has learned until now.
    ///
    /// What a store outside this process keeps is not in it: whoever shares that knows it already.
    public func liveState() -> LiveState {
        let (now, date) = (runtime.time.now, runtime.time.wallTime)
        let known = knowing.compactMap { name, admission in
            admission.knowledge(at: now).map { JSONValue.Member(name, $0) }
        }
        let gates = runtime.state.ownGates.compactMap { $0.knowledge(at: date) }
        let json: JSONValue = [
            "version": .number(JSONValue.Number(LiveState.version)),
            "at": .number(JSONValue.Number(date.elapsed(since: Timestamp(secondsSinceEpoch: 0)).inSeconds)),
            "admissions": .object(known), "gates": .array(gates),
        ]
        return LiveState(json, date: date)
    }

    /// Goes on with what another client has learned, in place of what this one knows of the same; a gate that is closed stays
    /// closed until the later of both times.
    ///
    /// The time between counts: what would have ended meanwhile has ended. A client is given it before its first call.
    ///
    /// - Returns: The parts that could not be taken over, by name: of a client that is made up otherwise, or malformed. What
    ///   could be read of those holds.
    @discardableResult
    public func restore(_ state: LiveState) async -> [String] {
        let age = max(.zero, runtime.time.wallTime.elapsed(since: state.date))
        let moment = runtime.time.now.advanced(by: .zero - age)
        let admissions = Dictionary(knowing.map { ($0.name, $0.admission) }) { first, _ in first }
        var left: [String] = []
        for member in state.json["admissions"]?.members ?? [] {
            if admissions[member.key]?.learn(member.value, from: moment) != true { left.append(member.key) }
        }
        let gates = state.json["gates"]?.array ?? []
        let date = runtime.time.wallTime.advanced(by: .zero - age)
        let read = gates.prefix(Self.mostGates).compactMap { SharedState.Gate(known: $0, from: date) }
        for gate in read where gate.isClosed(at: runtime.time.wallTime) { await runtime.state.close(gate) }
        if read.count < gates.count { left.append("gates") }
        return left
    }

    private static var mostGates: Int { 65_536 }

    /// Those who know something, by name: the type's, with a number behind it for the second and later ones.
    private var knowing: [(name: String, admission: any Admission)] {
        var counts: [String: Int] = [:]
        return layers.compactMap { $0 as? Recovery }.flatMap(\.all).map { admission in
            let type = "\(type(of: admission))"
            let count = counts[type, default: 0] + 1
            counts[type] = count
            return (count == 1 ? type : "\(type) \(count)", admission)
        }
    }
}
