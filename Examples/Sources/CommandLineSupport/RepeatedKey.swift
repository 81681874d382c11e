public import HTTPRecovery

extension JSONValue {
    /// A key that an object in it has twice, so that nobody can tell which is meant; nil if there is none.
    public var repeatedKey: String? {
        if let array { return array.lazy.compactMap(\.repeatedKey).first }
        var keys: Set<String> = []
        for member in members ?? [] {
            guard keys.insert(member.key).inserted else { return member.key }
            if let key = member.value.repeatedKey { return key }
        }
        return nil
    }
}
