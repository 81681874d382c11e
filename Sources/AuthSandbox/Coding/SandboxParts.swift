import HTTPRecovery

/// What one provider adds to the settings, to a person or to a scenario.
protocol SandboxPart: Described {
    /// The key under which it stands.
    static var key: String { get }

    init()
}

extension SandboxPart {
    static var blank: Self { Self() }
}

/// Where parts can stand, and which there are.
protocol PartPlace: Sendable {
    static var parts: [any SandboxPart.Type] { get }
}

/// In ``SandboxSettings``.
enum InSettings: PartPlace {
    static var parts: [any SandboxPart.Type] { SandboxProvider.all.compactMap { $0.world.settings } }
}

/// In a ``SandboxUser``.
enum InPerson: PartPlace {
    static var parts: [any SandboxPart.Type] { SandboxProvider.all.compactMap { $0.world.person } }
}

/// In a ``SandboxScenario``.
enum InScenario: PartPlace {
    static var parts: [any SandboxPart.Type] { SandboxProvider.all.compactMap { $0.world.scenario } }
}

/// The parts of all providers in one place.
struct SandboxParts<Place: PartPlace>: Flattened, Sendable, Equatable {
    private var values: [String: any SandboxPart] = [:]

    init() {}

    /// A part; what nobody has set is blank.
    subscript<Part: SandboxPart>(_ type: Part.Type) -> Part {
        get { values[Part.key] as? Part ?? Part() }
        set { values[Part.key] = newValue }
    }

    private func value(_ type: any SandboxPart.Type) -> any SandboxPart { values[type.key] ?? type.init() }

    /// Finds what contradicts itself.
    func check() throws(SandboxError) {
        for type in Place.parts { try value(type).check(path: type.key) }
    }

    static func == (one: SandboxParts, other: SandboxParts) -> Bool {
        func isSame<Part: SandboxPart>(_ part: Part, _ other: any SandboxPart) -> Bool { part == other as? Part }
        return Place.parts.allSatisfy { isSame(one.value($0), other.value($0)) }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: NamedKey.self)
        func read<Part: SandboxPart>(_ type: Part.Type) throws -> any SandboxPart {
            let key = NamedKey(type.key)
            return try container.contains(key) ? container.decode(type, forKey: key) : Part()
        }
        for type in Place.parts { values[type.key] = try read(type) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: NamedKey.self)
        for type in Place.parts { try container.encode(value(type), forKey: NamedKey(type.key)) }
    }
}

extension SandboxParts: CustomReflectable {
    /// The parts by their keys.
    var customMirror: Mirror {
        Mirror(self, children: Place.parts.map { ($0.key, value($0) as Any) }, displayStyle: .struct)
    }
}
