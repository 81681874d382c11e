public import HTTPRecovery

/// One question, text or task of a step.
///
/// ``content`` is what this version understands of it; a callback of an unknown type is there all the same, with its
/// inputs, and goes back untouched unless somebody sets them.
public struct JourneyCallback: Sendable, Hashable {
    /// The type as the server names it, such as `NameCallback`.
    public let type: String
    /// What it is about.
    public let content: Content
    /// What the server tells along with it, by name.
    public let outputs: [JSONValue.Member]
    /// The names of the inputs, such as `IDToken1`.
    public let inputNames: [String]

    private var members: [JSONValue.Member]
    private var inputs: [JSONValue]
    private var isChanged = false

    /// Reads a callback; every value is one, if only of an unknown type.
    public init(_ value: JSONValue) {
        type = value["type"]?.string ?? ""
        let outputs = CallbackOutputs(value["output"])
        self.outputs = outputs.members
        inputs = value["input"]?.array ?? []
        inputNames = inputs.prefix(64).map { $0["name"]?.string ?? "" }
        content = Content(type: type, outputs)
        if case .object(let members) = value { self.members = members } else { members = [] }
    }

    /// The value of an output.
    public subscript(output name: String) -> JSONValue? {
        outputs.last { $0.key == name }?.value
    }

    /// The present value of an input; nil if there is no such input.
    ///
    /// It may be an answer of the person: do not print it.
    public func input(_ index: Int = 0) -> JSONValue? {
        inputs.indices.contains(index) ? inputs[index]["value"] ?? .null : nil
    }

    /// Sets the value of an input; nothing happens if there is no such input.
    public mutating func setInput(_ value: JSONValue, at index: Int = 0) {
        guard inputs.indices.contains(index) else { return }
        var members = inputs[index].members ?? []
        if let place = members.firstIndex(where: { $0.key == "value" }) {
            members[place].value = value
        } else {
            members.append(JSONValue.Member("value", value))
        }
        inputs[index] = .object(members)
        isChanged = true
    }

    /// Sets the value of the input whose name ends so, such as `clientError`.
    ///
    /// - Returns: Whether there is such an input.
    @discardableResult
    public mutating func setInput(_ value: JSONValue, named suffix: String) -> Bool {
        guard let index = index(ofInput: suffix) else { return false }
        setInput(value, at: index)
        return true
    }

    /// The index of the input whose name ends so.
    public func index(ofInput suffix: String) -> Int? {
        let wanted = suffix.lowercased()
        return inputNames.firstIndex { $0.lowercased().hasSuffix(wanted) }
    }

    /// Whether nobody has set an input.
    var isUntouched: Bool { !isChanged }

    /// The callback with its answers, as it is sent back; without an answer it is what came.
    var json: JSONValue {
        guard isChanged else { return .object(members) }
        return .object(
            members.map { $0.key == "input" ? JSONValue.Member("input", .array(inputs)) : $0 }
        )
    }
}

extension JourneyCallback: Redacted {
    /// The type; no answer.
    public var description: String { "JourneyCallback(\(type.loggable ?? "other"))" }
}

/// The outputs of a callback by name.
struct CallbackOutputs {
    var members: [JSONValue.Member]

    init(_ value: JSONValue?) {
        members = (value?.array ?? []).prefix(256).compactMap { entry in
            guard let name = entry["name"]?.string else { return nil }
            return JSONValue.Member(name, entry["value"] ?? .null)
        }
    }

    subscript(name: String) -> JSONValue? {
        members.last { $0.key == name }?.value
    }

    func text(_ name: String) -> String? {
        self[name]?.string?.nonEmpty
    }

    /// A whole number, sent as a number or as text.
    func number(_ name: String) -> Int? {
        guard let text = self[name]?.codeText, let number = try? JSONValue(parsing: text).number else { return nil }
        return Int(exactly: number.saturatedInt)
    }

    func flag(_ name: String) -> Bool {
        self[name]?.bool ?? (self[name]?.string == "true")
    }

    func texts(_ name: String) -> [String] {
        (self[name]?.array ?? []).prefix(1024).map { $0.string ?? $0.description }
    }
}
