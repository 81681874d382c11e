import AuthRecovery
package import HTTPRecovery

extension ForgeRockSignInMachine: RecalledFields {
    static let name = "journey"

    var memory: JSONValue { [Self.name: recalled] }

    static var fields: [RememberedField<ForgeRockSignInMachine>] {
        [
            .init("restart", \.restart), .init("journey", \.journey.recalledMemory), .init("answers", \.answers),
            .init("has_begun", \.hasBegun), .init("needs_pause", \.needsPause), .init("step", \.step),
            .init("answered", \.answered), .init("asked", \.asked), .init("is_prepared", \.isPrepared),
            .init("is_showing", \.isShowing), .init("has_shown", \.hasShown), .init("fell_back", \.fellBack),
            .init("polling_since", \.pollingSince), .init("unattended", \.unattended),
        ]
    }
}

/// The step with the answers that are filled in already.
extension JourneyStep: Remembered {
    package var memory: JSONValue { json }

    package init?(memory: JSONValue) {
        self.init(memory)
    }
}

extension JourneyStart: Remembered {
    package var memory: JSONValue {
        switch self {
        case .standard: [:]
        case .service(let name): ["service": .string(name)]
        case .advice(let advice): ["advice": advice.json]
        case .suspended(let id): ["suspended": id.memory]
        case .index(let type, let value): ["index": .string(type), "value": .string(value)]
        }
    }

    package init?(memory: JSONValue) {
        if let name = memory["service"]?.string {
            self = .service(name)
        } else if let advice = memory["advice"].flatMap({ PolicyAdvice($0) }) {
            self = .advice(advice)
        } else if let id = memory["suspended"].flatMap({ Secret(memory: $0) }) {
            self = .suspended(id: id)
        } else if let type = memory["index"]?.string, let value = memory["value"]?.string {
            self = .index(type: type, value: value)
        } else if memory.members?.isEmpty == true {
            self = .standard
        } else {
            return nil
        }
    }
}

extension JourneyQuestion: RememberedFields {
    init() {
        self.init(place: Place(), name: Name(), key: .text, form: .text)
    }

    static var fields: [RememberedField<JourneyQuestion>] {
        [
            .init("place", \.place), .init("name", \.name), .init("key", \.key), .init("form", \.form),
            .init("prompt", \.prompt), .init("hint", \.hint), .init("url", \.url), .init("given", \.given),
        ]
    }
}

extension JourneyQuestion.Given: Remembered {}

extension JourneyQuestion.Place: RememberedFields {
    init() { self.init(callback: 0, input: 0) }

    static var fields: [RememberedField<JourneyQuestion.Place>] {
        [.init("callback", \.callback), .init("input", \.input)]
    }
}

extension JourneyQuestion.Name: RememberedFields {
    init() { self.init(type: "", occurrence: 0, input: 0) }

    static var fields: [RememberedField<JourneyQuestion.Name>] {
        [
            .init("type", \.type), .init("stage", \.stage), .init("prompt", \.prompt),
            .init("occurrence", \.occurrence), .init("input", \.input),
        ]
    }
}

extension JourneyQuestion.Form: Remembered {
    var memory: JSONValue {
        switch self {
        case .text: "text"
        case .number: "number"
        case .agreement: "agreement"
        case .ceremony: "ceremony"
        case .redirect: "redirect"
        case .options(let options, let defaultIndex):
            [
                "options": .array(options.map { [.string($0.label), $0.value] }),
                "default": defaultIndex.memory,
            ]
        }
    }

    init?(memory: JSONValue) {
        switch memory.string {
        case "text": self = .text
        case "number": self = .number
        case "agreement": self = .agreement
        case "ceremony": self = .ceremony
        case "redirect": self = .redirect
        default:
            guard let pairs = memory["options"]?.array, let index = Int?(memory: memory["default"] ?? .null)
            else { return nil }
            let options = pairs.compactMap { pair in
                pair[0]?.string.flatMap { label in pair[1].map { (label: label, value: $0) } }
            }
            guard options.count == pairs.count, index.map(options.indices.contains) ?? true else { return nil }
            self = .options(options, defaultIndex: index)
        }
    }
}
