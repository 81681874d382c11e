import HTTPRecovery

/// What a policy wants before it lets a request pass.
enum ForgeRockAdvice: Sendable, Equatable {
    /// A transaction has to be confirmed.
    case transaction(String)
    /// A journey has to be completed, such as `/alpha:StepUp`.
    case journey(String)

    var name: String {
        switch self {
        case .transaction: "TransactionConditionAdvice"
        case .journey: "AuthenticateToServiceConditionAdvice"
        }
    }

    var value: String {
        switch self {
        case .transaction(let value), .journey(let value): value
        }
    }

    /// The advice as a challenge and a decision carry it.
    var json: JSONValue { .object([.init(name, [.string(value)])]) }

    /// The advice as the authenticate endpoint takes it.
    var xml: String {
        "<Advices><AttributeValuePair><Attribute name=\"\(name)\"/><Value>\(value)</Value></AttributeValuePair></Advices>"
    }

    /// Reads the XML; the texts that the sandbox makes need no entities.
    init?(parsing text: String) {
        guard text.utf8.count <= 16_384, text.contains("<Advices>"),
            let name = Self.between("<Attribute name=\"", "\"", in: text),
            let value = Self.between("<Value>", "</Value>", in: text), !value.isEmpty
        else { return nil }
        switch name {
        case "TransactionConditionAdvice": self = .transaction(value)
        case "AuthenticateToServiceConditionAdvice": self = .journey(value)
        default: return nil
        }
    }

    private static func between(_ start: String, _ end: String, in text: String) -> String? {
        guard let opening = text.firstRange(of: start) else { return nil }
        let rest = text[opening.upperBound...]
        return rest.firstRange(of: end).map { String(rest[..<$0.lowerBound]) }
    }
}
