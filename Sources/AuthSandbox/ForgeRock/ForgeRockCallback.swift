import HTTPRecovery

/// One callback of a page.
struct ForgeRockCallback: Sendable, Equatable {
    let type: String
    var outputs: [JSONValue.Member]
    /// The inputs: what their names end in, and what they hold beforehand.
    var inputs: [JSONValue.Member]
    /// Members that no client knows.
    var others: [JSONValue.Member] = []

    init(
        _ type: String,
        _ outputs: KeyValuePairs<String, JSONValue>,
        input: JSONValue? = nil,
        inputs: KeyValuePairs<String, JSONValue> = [:]
    ) {
        self.type = type
        self.outputs = outputs.map { JSONValue.Member($0.key, $0.value) }
        self.inputs =
            input.map { [JSONValue.Member("", $0)] }
            ?? inputs.map { JSONValue.Member($0.key, $0.value) }
    }

    /// The callback as it stands in a step.
    func json(_ index: Int) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("type", .string(type)),
            .init("output", .array(outputs.map { ["name": .string($0.key), "value": $0.value] })),
        ]
        if !inputs.isEmpty {
            let list = inputs.map { ["name": .string("IDToken\(index + 1)\($0.key)"), "value": $0.value] as JSONValue }
            members.append(.init("input", .array(list)))
        }
        members += others
        members.append(.init("_id", .int(Int64(index))))
        return .object(members)
    }

    // MARK: Often used ones

    static func name(_ prompt: String) -> ForgeRockCallback {
        ForgeRockCallback("NameCallback", ["prompt": .string(prompt)], input: "")
    }

    static func password(_ prompt: String) -> ForgeRockCallback {
        ForgeRockCallback("PasswordCallback", ["prompt": .string(prompt)], input: "")
    }

    static func text(_ message: String, kind: String = "0") -> ForgeRockCallback {
        ForgeRockCallback("TextOutputCallback", ["message": .string(message), "messageType": .string(kind)])
    }

    /// Buttons; `preset` is what the input holds until one is pressed.
    static func confirmation(_ options: [String], prompt: String = "", preset: Int64 = 0) -> ForgeRockCallback {
        ForgeRockCallback(
            "ConfirmationCallback",
            [
                "prompt": .string(prompt), "messageType": 0, "options": .array(options.map(JSONValue.string)),
                "optionType": -1, "defaultOption": 0,
            ],
            input: .int(preset)
        )
    }

    static func choice(_ prompt: String, _ choices: [String]) -> ForgeRockCallback {
        ForgeRockCallback(
            "ChoiceCallback",
            [
                "prompt": .string(prompt), "choices": .array(choices.map(JSONValue.string)), "defaultChoice": 0,
            ],
            input: 0
        )
    }

    /// A value for the client; `preset` is what the input holds, by default the id.
    static func hidden(_ id: String, _ value: String, preset: String? = nil) -> ForgeRockCallback {
        ForgeRockCallback(
            "HiddenValueCallback",
            ["value": .string(value), "id": .string(id)],
            input: .string(preset ?? id)
        )
    }
}

/// A page of a journey: what is shown and asked at once.
struct ForgeRockPage: Sendable {
    var stage: String?
    var header = ""
    var description = ""
    var callbacks: [ForgeRockCallback]
    /// Members that no client knows.
    var others: [JSONValue.Member] = []

    init(_ stage: String?, header: String = "", _ callbacks: [ForgeRockCallback]) {
        self.stage = stage
        self.header = header
        self.callbacks = callbacks
    }
}

/// What was answered to a page: the values by callback and input.
struct ForgeRockAnswers: Sendable {
    private let values: [[JSONValue]]
    /// The object that came, for pages that look at all of it.
    let body: JSONValue

    /// Reads the answers to the callbacks that were shown.
    ///
    /// The number of callbacks, their types and the number of inputs have to be those of the page; names do not count.
    init(_ body: JSONValue, to shown: [ForgeRockCallback]) throws(ForgeRockFailure) {
        guard let list = body["callbacks"]?.array, list.count == shown.count else { throw .badCallbacks }
        var values: [[JSONValue]] = []
        for (callback, expected) in zip(list, shown) {
            let inputs = callback["input"]?.array ?? []
            guard callback["type"]?.string == expected.type, inputs.count == expected.inputs.count else {
                throw .badCallbacks
            }
            values.append(inputs.map { $0["value"] ?? .null })
        }
        self.values = values
        self.body = body
    }

    func value(_ callback: Int, _ input: Int = 0) -> JSONValue {
        values.indices.contains(callback) && values[callback].indices.contains(input)
            ? values[callback][input] : .null
    }

    func text(_ callback: Int, _ input: Int = 0) -> String { value(callback, input).string ?? "" }

    /// A whole number, as one or as text.
    func number(_ callback: Int) -> Int64? {
        value(callback).int ?? value(callback).string.flatMap { Int64($0) }
    }

    func flag(_ callback: Int, _ input: Int = 0) -> Bool {
        value(callback, input).bool ?? (value(callback, input).string == "true")
    }
}
