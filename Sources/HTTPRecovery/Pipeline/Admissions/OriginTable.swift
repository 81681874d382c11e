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

    /// All that is kept.
    var all: [Origin: Value] {
        state.withLock { $0.values }
    }
}
