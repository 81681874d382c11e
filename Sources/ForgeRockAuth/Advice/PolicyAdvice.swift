import AuthRecovery
public import HTTPRecovery
import HTTPTypes

/// What a policy wants before it lets a request pass: a transaction to be authorised, or a journey to be completed.
public struct PolicyAdvice: Sendable, Hashable {
    /// One attribute of the advice.
    public struct Attribute: Sendable, Hashable {
        /// The name, such as `TransactionConditionAdvice`.
        public var name: String
        /// The values, such as the transaction's id.
        public var values: [String]

        /// Creates an attribute.
        public init(name: String, values: [String]) {
            self.name = name
            self.values = values
        }
    }

    /// The attributes, in the order in which they came.
    public var attributes: [Attribute]

    /// Creates an advice.
    public init(_ attributes: [Attribute]) {
        self.attributes = attributes
    }

    /// Reads an advice as an outcome carries it: an object with a list of values for each name.
    ///
    /// - Returns: Nil if the value holds none.
    public init?(_ value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        attributes = members.prefix(32).compactMap { member in
            let values = (member.value.array ?? [member.value]).prefix(64).compactMap { $0.string?.nonEmpty }
            return values.isEmpty
                ? nil
                : Attribute(name: member.key.bounded(to: 256), values: values.map { $0.bounded(to: 4096) })
        }
        if attributes.isEmpty { return nil }
    }

    /// The values of an attribute.
    public subscript(name: String) -> [String] {
        attributes.filter { $0.name == name }.flatMap(\.values)
    }

    /// The id of the transaction that has to be authorised; it is good once, for one resource.
    public var transactionID: String? { self["TransactionConditionAdvice"].first }

    /// The journey that has to be completed, such as `/alpha:StepUp`.
    public var journey: String? { self["AuthenticateToServiceConditionAdvice"].first }

    /// The advice as an outcome carries it.
    public var json: JSONValue {
        .object(attributes.map { JSONValue.Member($0.name, .array($0.values.map { .string($0) })) })
    }

    /// The advice as the authenticate endpoint takes it, in `authIndexValue`.
    public var xml: String {
        let pairs = attributes.map { attribute in
            let values = attribute.values.map { "<Value>\(AdviceXML.escape($0))</Value>" }.joined()
            return "<AttributeValuePair><Attribute name=\"\(AdviceXML.escape(attribute.name))\"/>\(values)"
                + "</AttributeValuePair>"
        }
        return "<Advices>\(pairs.joined())</Advices>"
    }
}

extension PolicyAdvice {
    /// Reads the XML form.
    init?(xml: String) {
        guard let advice = AdviceXML.parse(xml), !advice.isEmpty else { return nil }
        attributes = advice
    }

    /// The advice of an answer, in any of its three carriers: the body, a challenge, the target of a redirect.
    static func find(in interpretation: ErrorInterpretation) -> PolicyAdvice? {
        switch interpretation.status {
        case 300..<400: return interpretation.fields.singleLine("location").flatMap { PolicyAdvice(location: $0) }
        case 400..<500: return inChallenge(interpretation) ?? interpretation.content.json.flatMap(inBody)
        case 200..<300: return interpretation.content.json.flatMap(inBody)
        default: return nil
        }
    }

    /// The advice of a policy's decision, or of the first of several that has one.
    private static func inBody(_ body: JSONValue) -> PolicyAdvice? {
        for decision in body.array?.prefix(64) ?? [body] {
            // A decision says whom it is about; `advices` alone may be anything.
            guard decision["resource"] != nil || decision["actions"] != nil else { continue }
            if let advice = decision["advices"].flatMap({ PolicyAdvice($0) }) { return advice }
        }
        return nil
    }

    private static func inChallenge(_ interpretation: ErrorInterpretation) -> PolicyAdvice? {
        for challenge in interpretation.challenges where challenge.isScheme("ssoadvice") {
            guard let text = challenge["advices"], let bytes = Base64.decode(text.utf8) else { continue }
            if let value = try? JSONValue(parsing: bytes, maximumDepth: 16), let advice = PolicyAdvice(value) {
                return advice
            }
            if let advice = PolicyAdvice(xml: String(decoding: bytes, as: UTF8.self)) { return advice }
        }
        return nil
    }

    /// Reads the target of a redirect to the authentication service.
    private init?(location: String) {
        let parts = location.prefix(65_536).split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "?" }
        guard parts.count == 2 else { return nil }
        let fields = FormFields(parsing: parts[1].split(separator: "#").joined(separator: "&").utf8)
        guard fields["authIndexType"].contains("composite_advice"), let value = fields["authIndexValue"].first else {
            return nil
        }
        let text = value.reveal()
        if let advice = PolicyAdvice(xml: text) {
            self = advice
            return
        }
        // In a query a plus stands for a space, also if it was meant for Base64.
        let encoded = text.utf8.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
        guard let bytes = Base64.decode(encoded), let advice = PolicyAdvice(xml: String(decoding: bytes, as: UTF8.self))
        else { return nil }
        self = advice
    }
}
