#if Configuration
import Configuration
import HTTPRecovery

extension ConfigSnapshotReader {
    /// The options of a policy that a configuration has, as the JSON that policies are read from.
    func policy(_ options: [String: SettingsOption] = SettingsOption.all) -> JSONValue {
        .object(members(options, below: []))
    }

    /// One option of a policy, an object, whose members stand at the top of the configuration.
    func policy(of key: String) -> JSONValue {
        guard case .object(let members) = SettingsOption.all[key] else { return [:] }
        return .object([JSONValue.Member(key, policy(members))])
    }

    private func members(_ options: [String: SettingsOption], below path: [String]) -> [JSONValue.Member] {
        options.sorted { $0.key < $1.key }.compactMap { key, option in
            value(option, at: path + [key]).map { JSONValue.Member(key, $0) }
        }
    }

    /// What stands at a key, in whatever type it is there; who reads the policy judges whether it is the right one.
    private func value(_ option: SettingsOption, at path: [String]) -> JSONValue? {
        let key = ConfigKey(path)
        switch option {
        case .object(let options):
            // A value in the place of a group is none, whatever else stands there.
            if let value = any(key) { return value }
            let members = members(options, below: path)
            return members.isEmpty ? nil : .object(members)
        case .bool: return bool(forKey: key).map { .bool($0) } ?? any(key)
        case .text: return any(key)
        case .number, .seconds: return any(key).map(Self.number)
        // Environment and command line make a list of any text, of a word too, which is none.
        case .jitter:
            if let numbers = doubleArray(forKey: key), numbers.count > 1 { return Self.json(numbers) }
            return any(key).map(Self.number)
        case .delays:
            if let texts = stringArray(forKey: key), texts.count > 1 { return Self.json(texts) }
            return any(key)
        }
    }

    /// The number that a text is: environment and command line have texts alone.
    private static func number(_ value: JSONValue) -> JSONValue {
        guard let text = value.string, let json = try? JSONValue(parsing: text), json.number != nil else {
            return value
        }
        return json
    }

    private func any(_ key: ConfigKey) -> JSONValue? {
        if let text = string(forKey: key) { return .string(text) }
        if let number = int(forKey: key) { return .number(JSONValue.Number(number)) }
        if let number = double(forKey: key) { return .number(JSONValue.Number(number)) }
        if let bool = bool(forKey: key) { return .bool(bool) }
        if let numbers = doubleArray(forKey: key) { return Self.json(numbers) }
        if let numbers = intArray(forKey: key) { return Self.json(numbers.map { Double($0) }) }
        return stringArray(forKey: key).map(Self.json)
    }

    private static func json(_ texts: [String]) -> JSONValue {
        // A number among texts with a unit is one of seconds.
        .array(texts.map { number(.string($0)) })
    }

    private static func json(_ numbers: [Double]) -> JSONValue {
        .array(numbers.map { .number(JSONValue.Number($0)) })
    }
}
#endif
