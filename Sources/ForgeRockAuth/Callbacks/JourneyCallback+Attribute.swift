public import HTTPRecovery

extension JourneyCallback {
    /// An attribute of the profile that is asked for.
    public struct Attribute: Sendable, Hashable {
        /// The name of the attribute.
        public var name: String?
        /// The question.
        public var prompt: String?
        /// Whether it has to be there.
        public var isRequired: Bool
        /// The present value.
        public var value: JSONValue?
        /// The rules that a value has to keep, as the server describes them.
        public var policies: JSONValue?
        /// The rules that the last value broke.
        public var failedPolicies: [FailedPolicy]

        init(_ outputs: CallbackOutputs) {
            name = outputs.text("name")
            prompt = outputs.text("prompt")
            isRequired = outputs.flag("required")
            value = outputs["value"]
            policies = outputs["policies"]
            failedPolicies = (outputs["failedPolicies"]?.array ?? []).prefix(64).compactMap(FailedPolicy.init)
        }
    }
}

/// A rule that a value broke.
public struct FailedPolicy: Sendable, Hashable {
    /// The rule, such as `MIN_LENGTH`.
    public var requirement: String
    /// The parameters of the rule, such as `{"minLength":8}`.
    public var parameters: JSONValue

    /// Creates a broken rule.
    public init(requirement: String, parameters: JSONValue = .null) {
        self.requirement = requirement
        self.parameters = parameters
    }

    /// Reads a rule: a JSON text in a string, as the server sends it, or the object itself; nil if it names none.
    init?(_ value: JSONValue) {
        let object = value.string.flatMap { try? JSONValue(parsing: $0) } ?? value
        guard let requirement = (object["policyRequirement"]?.string ?? object.string)?.nonEmpty else { return nil }
        self.requirement = requirement.bounded(to: 256)
        parameters = object["params"] ?? .null
    }

    var json: JSONValue {
        ["policyRequirement": .string(requirement), "params": parameters]
    }

    /// A sentence that can be shown to a person.
    public var sentence: String {
        switch requirement {
        case "REQUIRED": "It cannot be left empty."
        case "UNIQUE": "It is taken already."
        case "MIN_LENGTH", "LENGTH_BASED":
            count("minLength", "min-password-length").map { "It needs at least \($0) characters." }
                ?? "It is too short or too long."
        case "MAX_LENGTH":
            count("maxLength").map { "It can have at most \($0) characters." } ?? "It is too long."
        case "AT_LEAST_X_CAPITAL_LETTERS":
            "It needs at least \(count("numCaps") ?? "one") capital letter(s)."
        case "AT_LEAST_X_NUMBERS":
            "It needs at least \(count("numNums") ?? "one") digit(s)."
        case "AT_LEAST_X_SPECIAL_CHARS", "AT_LEAST_X_SPECIAL_CHARACTERS":
            "It needs at least one special character."
        case "CHARACTER_SET": "It needs characters of more sorts."
        case "CANNOT_CONTAIN_OTHERS": "It cannot contain the name or the address."
        case "CANNOT_CONTAIN_CHARACTERS": "It contains characters that are not allowed."
        case "CANNOT_CONTAIN_DUPLICATES", "REPEATED_CHARACTERS": "It repeats a character too often."
        case "IS_NEW", "PASSWORD_HISTORY": "It has been used before."
        case "DICTIONARY": "It is too common."
        case "VALID_EMAIL_ADDRESS_FORMAT": "It is no e-mail address."
        case "VALID_PHONE_FORMAT": "It is no telephone number."
        case "VALID_DATE", "VALID_FORMATTED_DATE": "It is no date."
        case "VALID_NUMBER", "VALID_TYPE", "VALID_INT": "It is not of the right sort."
        case "MINIMUM_NUMBER_VALUE", "MAXIMUM_NUMBER_VALUE": "It is too small or too large."
        case "VALID_USERNAME", "VALID_NAME_FORMAT", "MATCH_REGEXP", "REGEXPMATCHES": "It is not in the right form."
        default: "It breaks a rule of the provider."
        }
    }

    private func count(_ names: String...) -> String? {
        for name in names {
            if let number = parameters[name]?.number { return String(number.saturatedInt) }
        }
        return nil
    }
}
