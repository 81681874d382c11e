import HTTPTypes
import RawStructuredFieldValues

/// The fields `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers: structured lists (RFC 9651)
/// of named policies.
struct RateLimitFields {
    /// What tells two items apart.
    struct Key: Hashable {
        var policy: String
        var partition: String?
    }

    /// What is left of one policy.
    struct Limit: Hashable {
        var key: Key
        var remaining: Int64
        /// Seconds until more is available.
        var reset: Int64?
    }

    /// One policy.
    struct Policy: Hashable {
        var key: Key
        var quota: Int64
        var unit: String
        /// The window in seconds.
        var window: Int64?
    }

    /// The items of `RateLimit`; empty if the field is absent or malformed.
    var limits: [Limit] = []

    /// The items of `RateLimit-Policy`; empty if the field is absent or malformed.
    var policies: [Policy] = []

    /// The most bytes of a field that are read: the parser looks up parameters one by one.
    private static let maximumLength = 8192

    /// Reads the fields of a response; those of a cached response, which has an age, say nothing about the present.
    init(_ fields: HTTPFields) {
        if Self.isCached(fields) { return }
        limits = Self.items(of: "ratelimit", in: fields, Self.limit) ?? []
        policies = Self.items(of: "ratelimit-policy", in: fields, Self.policy) ?? []
    }

    /// Whether a response has an age.
    static func isCached(_ fields: HTTPFields) -> Bool {
        fields.lines("age").contains { DelayText.seconds($0, allowsFraction: false).map { $0 > .zero } ?? false }
    }

    /// The longest time until a used-up policy is available again; nil if none is used up or no time is stated.
    var delay: Duration? {
        let times = limits.filter { $0.remaining == 0 }.compactMap(\.reset)
        return times.max().map { .seconds($0) }
    }

    /// Whether a policy is used up.
    var isExhausted: Bool {
        limits.contains { $0.remaining == 0 }
    }

    /// The longest window of the policies with one of the names, or of the used-up ones.
    func window(ofPolicies names: [String]) -> Duration? {
        let exhausted = Set(limits.filter { $0.remaining == 0 }.map(\.key))
        let windows = policies.filter { names.contains($0.key.policy) || exhausted.contains($0.key) }
        return windows.compactMap(\.window).max().map { .seconds($0) }
    }

    /// Parses all lines as one list; a field with anything malformed in it is ignored whole.
    private static func items<Element>(
        of name: String,
        in fields: HTTPFields,
        _ make: (Item) -> Element?
    ) -> [Element]? {
        let bytes = Array(fields.lines(name).joined(separator: ",").utf8)
        guard !bytes.isEmpty, bytes.count <= maximumLength else { return nil }
        var parser = StructuredFieldValueParser(bytes)
        guard let list = try? parser.parseListFieldValue() else { return nil }
        var elements: [Element] = []
        for member in list {
            guard case .item(let item) = member, let element = make(item) else { return nil }
            elements.append(element)
        }
        return elements
    }

    private static func limit(_ item: Item) -> Limit? {
        guard let key = key(item), let remaining = integer(item, "r"), let remaining else { return nil }
        guard let reset = integer(item, "t") else { return nil }
        return Limit(key: key, remaining: remaining, reset: reset)
    }

    private static func policy(_ item: Item) -> Policy? {
        guard let key = key(item), let quota = integer(item, "q"), let quota else { return nil }
        guard let window = integer(item, "w"), window != 0 else { return nil }
        guard let parameter = item.rfc9651Parameters["qu"] else {
            return Policy(key: key, quota: quota, unit: "requests", window: window)
        }
        guard case .string(let unit) = parameter else { return nil }
        return Policy(key: key, quota: quota, unit: unit, window: window)
    }

    private static func key(_ item: Item) -> Key? {
        guard case .string(let name) = item.rfc9651BareItem else { return nil }
        guard let parameter = item.rfc9651Parameters["pk"] else { return Key(policy: name) }
        guard case .undecodedByteSequence(let partition) = parameter else { return nil }
        return Key(policy: name, partition: partition)
    }

    /// A non-negative whole parameter; nil inside if it is absent, nil outside if it is something else.
    private static func integer(_ item: Item, _ name: String) -> Int64?? {
        guard let parameter = item.rfc9651Parameters[name] else { return .some(nil) }
        guard case .integer(let value) = parameter, value >= 0 else { return nil }
        return value
    }
}
