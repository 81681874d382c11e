/// Reads the objects of a policy or a scenario strictly: each value is of its type, each key is known, and what is wrong
/// is named.
package struct SettingsReader {
    package typealias Failure = RecoveringClient.Settings.Invalid

    package let place: String
    /// What stands before the names of its keys.
    private let prefix: String
    private let members: [String: JSONValue]

    /// - Parameter isRoot: Whether keys are named by themselves, without the place.
    package init(_ json: JSONValue, at place: String, keys: Set<String>, isRoot: Bool = false) throws(Failure) {
        guard let members = json.members else { throw Failure(place, "is no object") }
        self.place = place
        self.prefix = isRoot ? "" : "\(place)."
        var values: [String: JSONValue] = [:]
        for member in members {
            guard keys.contains(member.key) else {
                let known = keys.sorted().joined(separator: ", ")
                throw Failure(
                    key: prefix + member.key,
                    "\(place) has the unknown key \"\(member.key)\"; known are \(known)"
                )
            }
            values[member.key] = member.value
        }
        self.members = values
    }

    /// The value of a key; nil for one that is absent or null.
    package func value(_ key: String) -> JSONValue? {
        guard let value = members[key], !value.isNull else { return Optional.none }
        return value
    }

    /// Whether a value or a group is switched off that would hold where nothing is said.
    func switchesOff(_ key: String) -> Bool { value(key)?.string == "off" }

    /// What a key says, what holds where it says nothing, or nil where it switches that off.
    func unlessOff<Value>(
        _ key: String,
        _ other: Value?,
        _ read: (String) throws(Failure) -> Value?
    ) throws(Failure) -> Value? {
        if switchesOff(key) { return nil }
        return try read(key) ?? other
    }

    /// The keys that have a value, in order.
    var given: [String] { members.filter { !$0.value.isNull }.map(\.key).sorted() }

    /// A key with the place where it stands.
    package func name(_ key: String) -> String { prefix + key }

    package func object(_ key: String, keys: Set<String>) throws(Failure) -> SettingsReader? {
        guard let value = value(key) else { return nil }
        guard value.members != nil else {
            let example = keys.contains("model") ? "model" : keys.contains("kind") ? "kind" : keys.sorted().first ?? ""
            throw Failure(name(key), "is no object: its values stand in it, such as \(name(key)).\(example)")
        }
        return try SettingsReader(value, at: name(key), keys: keys)
    }

    package func text(_ key: String) throws(Failure) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string else { throw Failure(name(key), "is no text") }
        return text
    }

    package func bool(_ key: String) throws(Failure) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let bool = value.bool else { throw Failure(name(key), "is neither true nor false") }
        return bool
    }

    package func number(_ key: String) throws(Failure) -> Double? {
        guard let value = value(key) else { return nil }
        guard let number = value.number else { throw Failure(name(key), "is no number") }
        return number.double
    }

    /// A number for which a condition holds.
    package func number(_ key: String, if condition: (Double) -> Bool, _ problem: String) throws(Failure) -> Double? {
        guard let number = try number(key) else { return nil }
        guard number.isFinite, condition(number) else { throw Failure(name(key), problem) }
        return number
    }

    package func whole(_ key: String, atLeast least: Int = 0) throws(Failure) -> Int? {
        guard let number = try number(key) else { return nil }
        guard number == number.rounded(), number >= Double(least) else {
            throw Failure(name(key), "is no whole number of at least \(least)")
        }
        return Int(min(number, 1e15))
    }

    /// A time: a number of seconds, to the nanosecond, or a text with a unit.
    package func seconds(_ key: String) throws(Failure) -> Duration? {
        guard let value = value(key) else { return nil }
        return try duration(value, key)
    }

    /// A time for which a condition holds.
    package func seconds(
        _ key: String,
        if condition: (Duration) -> Bool,
        _ problem: String
    ) throws(Failure) -> Duration? {
        guard let time = try seconds(key) else { return nil }
        guard condition(time) else { throw Failure(name(key), problem) }
        return time
    }

    /// At least one time in the same forms: an array, or a text with commas between them.
    func durations(_ key: String) throws(Failure) -> [Duration]? {
        guard let value = value(key) else { return nil }
        let text = value.string.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        guard let times = text?.map(Self.time) ?? value.array else { throw Failure(name(key), "is no array") }
        guard !times.isEmpty else { throw Failure(name(key), "is empty: it is at least one time") }
        var durations: [Duration] = []
        for time in times { durations.append(try duration(time, key)) }
        return durations
    }

    /// A part of a text, where a number of seconds is one too.
    private static func time(_ part: Substring) -> JSONValue {
        let text = String(part.trimming { $0 == " " })
        guard let json = try? JSONValue(parsing: text), json.number != nil else { return .string(text) }
        return json
    }

    private func duration(_ value: JSONValue, _ key: String) throws(Failure) -> Duration {
        if let text = value.string {
            guard let duration = Self.duration(text: text) else {
                let forms = "write seconds as a number, or \"500ms\", \"30s\", \"2m\", \"1h\""
                throw Failure(name(key), "\"\(text)\" is no time: \(forms)")
            }
            return duration
        }
        guard let number = value.number?.double else { throw Failure(name(key), "is no number") }
        guard number >= 0 else { throw Failure(name(key), "is below zero") }
        return Self.duration(number)
    }

    /// Reads a number with one of the units that people write.
    private static func duration(text: String) -> Duration? {
        var cursor = ByteCursor(Array(text.utf8)[...])
        guard let number = DecimalNumber(&cursor, allowsFraction: true) else { return nil }
        let unit = cursor.read { _ in true }
        if unit.elementsEqual("ms".utf8) { return number.milliseconds }
        for (name, factor) in [("s", 1), ("m", 60), ("h", 3600)] where unit.elementsEqual(name.utf8) {
            return number.seconds.scaled(by: Double(factor))
        }
        return nil
    }

    package static func duration(_ seconds: Double) -> Duration {
        seconds < 9e9 ? .nanoseconds(Int64((seconds * 1e9).rounded())) : .saturating(seconds: seconds)
    }

    package func array(_ key: String) throws(Failure) -> [JSONValue]? {
        guard let value = value(key) else { return nil }
        guard let array = value.array else { throw Failure(name(key), "is no array") }
        return array
    }

    package func numbers(_ key: String) throws(Failure) -> [Double]? {
        guard let array = try array(key) else { return nil }
        let numbers = array.compactMap { $0.number?.double }
        guard numbers.count == array.count else { throw Failure(name(key), "holds what is no number") }
        return numbers
    }

    /// One of the words, with what it stands for.
    package func word<Value>(_ key: String, _ words: [String: Value]) throws(Failure) -> Value? {
        guard let text = try text(key) else { return nil }
        guard let value = words[text] else { throw unknown(key, text, words.keys.sorted()) }
        return value
    }

    /// What is to be said of a word that is none of those that are known.
    package func unknown(_ key: String, _ text: String, _ words: [String]) -> Failure {
        Failure(name(key), "\"\(text)\" is not known: it is one of \(words.joined(separator: ", "))")
    }
}
