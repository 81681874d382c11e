import HTTPRecovery
import HTTPTypes

/// Reads a scenario's objects strictly: each value is of its type, each key is known, and what is wrong is named.
struct ScenarioReader {
    typealias Failure = Simulation.Failure

    let place: String
    private let members: [String: JSONValue]

    init(_ json: JSONValue, at place: String, keys: Set<String>) throws(Failure) {
        guard let members = json.members else { throw Failure("\(place) is no object") }
        self.place = place
        var values: [String: JSONValue] = [:]
        for member in members {
            guard keys.contains(member.key) else { throw Failure("\(place) has the unknown key \"\(member.key)\"") }
            values[member.key] = member.value
        }
        self.members = values
    }

    /// The value of a key; nil for one that is absent or null.
    private func value(_ key: String) -> JSONValue? {
        guard let value = members[key], !value.isNull else { return Optional.none }
        return value
    }

    private func name(_ key: String) -> String {
        place == "the scenario" ? key : "\(place).\(key)"
    }

    func object(_ key: String, keys: Set<String>) throws(Failure) -> ScenarioReader? {
        guard let value = value(key) else { return nil }
        return try ScenarioReader(value, at: name(key), keys: keys)
    }

    func text(_ key: String) throws(Failure) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string else { throw Failure("\(name(key)) is no text") }
        return text
    }

    func bool(_ key: String) throws(Failure) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let bool = value.bool else { throw Failure("\(name(key)) is neither true nor false") }
        return bool
    }

    func number(_ key: String) throws(Failure) -> Double? {
        guard let value = value(key) else { return nil }
        guard let number = value.number else { throw Failure("\(name(key)) is no number") }
        return number.double
    }

    func whole(_ key: String, atLeast least: Int = 0) throws(Failure) -> Int? {
        guard let number = try number(key) else { return nil }
        guard number == number.rounded(), number >= Double(least) else {
            throw Failure("\(name(key)) is no whole number of at least \(least)")
        }
        return Int(min(number, 1e15))
    }

    /// A time in seconds, to the nanosecond.
    func seconds(_ key: String) throws(Failure) -> Duration? {
        guard let number = try number(key) else { return nil }
        guard number >= 0 else { throw Failure("\(name(key)) is below zero") }
        return Self.duration(number)
    }

    static func duration(_ seconds: Double) -> Duration {
        seconds < 9e9 ? .nanoseconds(Int64((seconds * 1e9).rounded())) : .saturating(seconds: seconds)
    }

    func array(_ key: String) throws(Failure) -> [JSONValue]? {
        guard let value = value(key) else { return nil }
        guard let array = value.array else { throw Failure("\(name(key)) is no array") }
        return array
    }

    func numbers(_ key: String) throws(Failure) -> [Double]? {
        guard let array = try array(key) else { return nil }
        let numbers = array.compactMap { $0.number?.double }
        guard numbers.count == array.count else { throw Failure("\(name(key)) holds what is no number") }
        return numbers
    }

    /// One of the words, with what it stands for.
    func word<Value>(_ key: String, _ words: [String: Value]) throws(Failure) -> Value? {
        guard let text = try text(key) else { return nil }
        guard let value = words[text] else { throw Failure("\(name(key)) \"\(text)\" is not known") }
        return value
    }

    func random() throws(Failure) -> [Double] {
        let numbers: [Double]
        switch value("random") {
        case nil: return [0.5]
        case .number(let number): numbers = [number.double]
        default: numbers = try self.numbers("random") ?? []
        }
        guard numbers.allSatisfy({ $0 >= 0 && $0 <= 1 }) else { throw Failure("random numbers are 0 to 1") }
        return numbers
    }

    func calls() throws(Failure) -> [Simulation.Call] {
        guard let calls = try array("calls") else { throw Failure("the scenario has no calls") }
        var result: [Simulation.Call] = []
        for (index, call) in calls.enumerated() {
            result.append(try ScenarioReader(call, at: "calls[\(index)]", keys: Self.callKeys).call())
        }
        return result
    }

    private static let callKeys: Set<String> = [
        "at_s", "method", "origin", "key", "replayable", "priority", "cancel_at_s", "answers",
    ]
    private static let answerKeys: Set<String> = ["status", "headers", "body", "error", "after_s"]

    private func call() throws(Failure) -> Simulation.Call {
        var call = Simulation.Call(at: try seconds("at_s") ?? .zero)
        if let text = try text("method") {
            guard let method = HTTPRequest.Method(text) else { throw Failure("\(name("method")) is no method") }
            call.method = method
        }
        call.origin = try text("origin") ?? call.origin
        call.idempotencyKey = try text("key")
        call.isReplayable = try bool("replayable") ?? false
        if let priority = try number("priority") { call.priority = Int(max(-1e9, min(priority, 1e9))) }
        call.cancellation = try seconds("cancel_at_s")
        if let cancellation = call.cancellation, cancellation < call.start {
            throw Failure("\(place) is cancelled before it begins")
        }
        for (index, answer) in (try array("answers") ?? []).enumerated() {
            let place = "\(name("answers"))[\(index)]"
            call.answers.append(try ScenarioReader(answer, at: place, keys: Self.answerKeys).answer())
        }
        return call
    }

    private func answer() throws(Failure) -> Simulation.Answer {
        let delay = try seconds("after_s") ?? .zero
        if let word = try text("error") {
            for key in ["status", "headers", "body"] where value(key) != nil {
                throw Failure("\(place) has both an error and a \(key)")
            }
            guard let certainty = TransportError.Certainty(rawValue: word) else {
                throw Failure("\(name("error")) \"\(word)\" is not known")
            }
            return .failure(certainty, after: delay)
        }
        guard let status = try whole("status") else { throw Failure("\(place) has neither status nor error") }
        guard (100...999).contains(status) else { throw Failure("\(name("status")) is no status") }
        var fields = HTTPFields()
        let headers = value("headers") ?? .object([])
        guard let members = headers.members else { throw Failure("\(name("headers")) is no object") }
        for member in members {
            guard let field = HTTPField.Name(member.key) else {
                throw Failure("\(name("headers")) has \"\(member.key)\", which is no name")
            }
            for value in member.value.array ?? [member.value] {
                guard let text = value.codeText ?? value.string else {
                    throw Failure("\(name("headers")).\(member.key) is no text")
                }
                fields.append(HTTPField(name: field, value: text))
            }
        }
        return .status(status, fields, body: try text("body") ?? "", after: delay)
    }
}
