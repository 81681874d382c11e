import HTTPRecovery
import HTTPTypes

/// What a scenario has beside its options.
extension SettingsReader {
    func random() throws(Failure) -> [Double] {
        let numbers: [Double]
        switch value("random") {
        case nil: return [0.5]
        case .number(let number): numbers = [number.double]
        default: numbers = try self.numbers("random") ?? []
        }
        guard numbers.allSatisfy({ $0 >= 0 && $0 <= 1 }) else {
            throw Failure(key: "random", "random numbers are 0 to 1")
        }
        return numbers
    }

    func calls() throws(Failure) -> [Simulation.Call] {
        guard let calls = try array("calls") else { throw Failure(place, "has no calls") }
        var result: [Simulation.Call] = []
        for (index, call) in calls.enumerated() {
            result.append(try SettingsReader(call, at: "calls[\(index)]", keys: Self.callKeys).call())
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
            guard let method = HTTPRequest.Method(text) else { throw Failure(name("method"), "is no method") }
            call.method = method
        }
        call.origin = try text("origin") ?? call.origin
        call.idempotencyKey = try text("key")
        call.isReplayable = try bool("replayable") ?? false
        if let priority = try number("priority") { call.priority = Int(max(-1e9, min(priority, 1e9))) }
        call.cancellation = try seconds("cancel_at_s")
        if let cancellation = call.cancellation, cancellation < call.start {
            throw Failure(place, "is cancelled before it begins")
        }
        for (index, answer) in (try array("answers") ?? []).enumerated() {
            let place = "\(name("answers"))[\(index)]"
            call.answers.append(try SettingsReader(answer, at: place, keys: Self.answerKeys).answer())
        }
        return call
    }

    private func answer() throws(Failure) -> Simulation.Answer {
        let delay = try seconds("after_s") ?? .zero
        if let word = try text("error") {
            for key in ["status", "headers", "body"] where value(key) != nil {
                throw Failure(place, "has both an error and a \(key)")
            }
            guard let certainty = TransportError.Certainty(rawValue: word) else {
                throw unknown("error", word, TransportError.Certainty.allCases.map(\.rawValue))
            }
            return .failure(certainty, after: delay)
        }
        guard let status = try whole("status") else { throw Failure(place, "has neither status nor error") }
        guard (100...999).contains(status) else { throw Failure(name("status"), "is no status") }
        var fields = HTTPFields()
        let headers = value("headers") ?? .object([])
        guard let members = headers.members else { throw Failure(name("headers"), "is no object") }
        for member in members {
            guard let field = HTTPField.Name(member.key) else {
                throw Failure(name("headers"), "has \"\(member.key)\", which is no name")
            }
            for value in member.value.array ?? [member.value] {
                guard let text = value.codeText ?? value.string else {
                    throw Failure("\(name("headers")).\(member.key)", "is no text")
                }
                fields.append(HTTPField(name: field, value: text))
            }
        }
        return .status(status, fields, body: try text("body") ?? "", after: delay)
    }
}
