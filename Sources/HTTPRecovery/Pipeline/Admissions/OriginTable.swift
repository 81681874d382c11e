import HTTPTypes

/// What an admission keeps for each origin, found quickly: mostly the one that was asked for last is asked for again.
///
/// Bounded against endless hosts: one too many takes the place of any other, which begins anew when it comes again.
final class OriginTable<Value: Sendable>: Sendable {
    private struct Last {
        var scheme: String?
        var authority: String?
        var value: Value
    }

    private struct State {
        var values: [Origin: Value] = [:]
        var last: Last?
    }

    private let state = Locked(State())
    private let make: @Sendable (Origin) -> Value
    private static var limit: Int { 1024 }

    /// - Parameter make: What is kept for an origin at first.
    init(_ make: @escaping @Sendable (Origin) -> Value) {
        self.make = make
    }

    subscript(request: HTTPRequest) -> Value {
        let (scheme, authority) = (request.scheme, request.authority)
        return state.withLock { state in
            if let last = state.last, last.authority == authority, last.scheme == scheme { return last.value }
            let origin = Origin(of: request)
            let value = state.values[origin] ?? make(origin)
            if state.values[origin] == nil, state.values.count >= Self.limit, let any = state.values.keys.first {
                state.values[any] = nil
            }
            state.values[origin] = value
            state.last = Last(scheme: scheme, authority: authority, value: value)
            return value
        }
    }

    /// What is known of each origin, as an object by their names; nil if nothing is.
    func knowledge(_ json: (Value) -> JSONValue?) -> JSONValue? {
        let members = all.compactMap { origin, value in json(value).map { JSONValue.Member("\(origin)", $0) } }
        return members.isEmpty ? nil : .object(members.sorted { $0.key < $1.key })
    }

    /// Takes over what was known of each origin.
    ///
    /// - Returns: Whether all of it could be read.
    func learn(_ knowledge: JSONValue, _ take: (Value, JSONValue) -> Bool) -> Bool {
        guard let members = knowledge.members, members.count <= Self.limit else { return false }
        return members.reduce(true) { isRead, member in
            guard let origin = Origin(text: member.key) else { return false }
            return take(self[HTTPRequest(origin)], member.value) && isRead
        }
    }

    /// All that is kept.
    var all: [Origin: Value] {
        state.withLock { $0.values }
    }
}

extension HTTPRequest {
    /// A request to an origin.
    fileprivate init(_ origin: Origin) {
        self.init(method: .get, scheme: origin.scheme, authority: origin.authority, path: "/")
    }
}
