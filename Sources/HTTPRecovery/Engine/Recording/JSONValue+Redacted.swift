extension JSONValue {
    /// The value's shape, with none of its texts and numbers: for decisions that depend on whether something is there.
    func redacted(depth: Int = 4) -> JSONValue {
        switch self {
        case .object(let members) where depth > 0:
            .object(
                members.prefix(32).map { Member($0.key.loggable ?? "redacted", $0.value.redacted(depth: depth - 1)) }
            )
        case .array(let elements) where depth > 0: .array(elements.prefix(32).map { $0.redacted(depth: depth - 1) })
        case .object, .array, .null, .bool: .null
        case .number: .number(JSONValue.Number(0))
        case .string(let text): .string(text.isEmpty ? "" : "redacted")
        }
    }
}
