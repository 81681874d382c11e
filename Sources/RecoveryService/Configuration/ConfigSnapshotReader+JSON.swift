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
            let members = members(options, below: path)
            return members.isEmpty ? nil : .object(members)
        case .bool: return bool(forKey: key).map { .bool($0) } ?? any(key)
        case .text: return any(key)
        case .number, .seconds:
            guard let value = any(key) else { return nil }
            // Environment and command line have texts alone.
            guard let text = value.string, let json = try? JSONValue(parsing: text), json.number != nil else {
                return value
            }
            return json
        case .jitter, .delays: return doubleArray(forKey: key).map(Self.json) ?? any(key)
        }
    }

    private func any(_ key: ConfigKey) -> JSONValue? {
        if let text = string(forKey: key) { return .string(text) }
        if let number = int(forKey: key) { return .number(JSONValue.Number(number)) }
        if let number = double(forKey: key) { return .number(JSONValue.Number(number)) }
        if let bool = bool(forKey: key) { return .bool(bool) }
        if let numbers = doubleArray(forKey: key) { return Self.json(numbers) }
        if let numbers = intArray(forKey: key) { return Self.json(numbers.map { Double($0) }) }
        return stringArray(forKey: key).map { .array($0.map { .string($0) }) }
    }

    private static func json(_ numbers: [Double]) -> JSONValue {
        .array(numbers.map { .number(JSONValue.Number($0)) })
    }
}
#endif
