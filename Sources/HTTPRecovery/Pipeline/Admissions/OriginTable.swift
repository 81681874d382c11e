import HTTPTypes
import Synchronization

/// What an admission keeps for each origin, found quickly: many clients have one origin only, which is found without a
/// lock, and of several mostly the one that was asked for last is asked for again.
///
/// Bounded against endless hosts: one too many takes the place of any other but the first, which begins anew when it comes
/// again.
@safe
final class OriginTable<Value: Sendable>: Sendable {
    /// An origin as requests name it, and what is kept for it.
    private final class Place: Sendable {
        let scheme: String?
        let authority: String?
        let value: Value

        init(_ scheme: String?, _ authority: String?, _ value: Value) {
            self.scheme = scheme
            self.authority = authority
            self.value = value
        }
    }

    private struct State {
        var values: [Origin: Value] = [:]
        var last: Place?
    }

    /// The address of the first place, which the table holds from then on; 0 at first.
    ///
    /// `AtomicLazyReference` is the same, at the price of a look-up of metadata each time.
    private let first = Atomic<UInt>(0)
    private let state = Locked(State())
    private let make: @Sendable (Origin) -> Value
    private static var limit: Int { 1024 }

    /// - Parameter make: What is kept for an origin at first.
    init(_ make: @escaping @Sendable (Origin) -> Value) {
        self.make = make
    }

    /// What is kept for the origin of an attempt, which has read its request once for all who ask.
    subscript(attempt: PlannedAttempt) -> Value {
        value(attempt.scheme, attempt.authority, attempt.origin)
    }

    /// What is kept for the origin of a request.
    subscript(request: HTTPRequest) -> Value {
        value(request.scheme, request.authority, Origin(of: request))
    }

    @inline(__always)
    private func value(_ scheme: String?, _ authority: String?, _ origin: @autoclosure () -> Origin) -> Value {
        if let value = value(at: first.load(ordering: .acquiring), scheme, authority) { return value }
        return state.withLock { state in
            if let last = state.last, last.authority == authority, last.scheme == scheme { return last.value }
            let origin = origin()
            let value = state.values[origin] ?? make(origin)
            if state.values[origin] == nil, state.values.count >= Self.limit {
                spare(among: state.values.keys).map { state.values[$0] = nil }
            }
            state.values[origin] = value
            let place = Place(scheme, authority, value)
            state.last = place
            if self.first.load(ordering: .relaxed) == 0 {
                let address = unsafe UInt(bitPattern: Unmanaged.passRetained(place).toOpaque())
                self.first.store(address, ordering: .releasing)
            }
            return value
        }
    }

    /// One that can be given up: the first is found without the lock for good.
    private func spare(among origins: Dictionary<Origin, Value>.Keys) -> Origin? {
        let place = place(at: first.load(ordering: .relaxed))
        let first = place.map { Origin(scheme: $0.scheme ?? "https", authority: $0.authority ?? "") }
        return origins.first { $0 != first }
    }

    /// The value of the place at an address, if it is that of the origin.
    ///
    /// The place is not retained for the look, which all calls have: the table holds it.
    @inline(__always)
    private func value(at address: UInt, _ scheme: String?, _ authority: String?) -> Value? {
        guard let address = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        return unsafe Unmanaged<Place>.fromOpaque(address)._withUnsafeGuaranteedRef { place in
            place.authority == authority && place.scheme == scheme ? place.value : nil
        }
    }

    /// The place at an address that was stored in the table, which holds it as long as it lives itself.
    @inline(__always)
    private func place(at address: UInt) -> Place? {
        guard let address = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        return unsafe Unmanaged<Place>.fromOpaque(address).takeUnretainedValue()
    }

    deinit {
        let address = unsafe UnsafeRawPointer(bitPattern: first.load(ordering: .acquiring))
        if let address = unsafe address { unsafe Unmanaged<Place>.fromOpaque(address).release() }
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
