public import HTTPRecovery
import HTTPTypes

extension Simulation {
    /// Reads a scenario, as `http-recover simulate` takes it.
    ///
    /// - Parameters:
    ///   - scenario: A JSON object with `options`, `random` and `calls`; a key that is not known is refused.
    ///   - classifier: Who tells what answers of a provider mean; nil for one that is not known. By default none is.
    /// - Throws: ``Failure`` for what is no valid scenario, with a sentence that says where.
    public init(
        scenario: JSONValue,
        classifier: (String) -> (any OutcomeClassifier)? = { _ in nil }
    ) throws(Failure) {
        let options: SettingsReader?
        let reader: SettingsReader
        do throws(RecoveringClient.Settings.Invalid) {
            let keys: Set<String> = ["name", "options", "random", "calls"]
            reader = try SettingsReader(scenario, at: "the scenario", keys: keys, isRoot: true)
            options = try reader.object("options", keys: SettingsReader.optionKeys.union(["provider"]))
            // What is absent is off: there are retries then whose number nothing bounds.
            self.init(try options?.settings(base: nil) ?? .nothing)
            if let options, ["preset", "max_attempts"].allSatisfy({ options.value($0) == nil }),
                ["backoff", "budget", "hedge"].contains(where: { options.value($0) != nil })
            {
                settings.maxAttempts = .max
            }
            if let problem = settings.problem { throw SettingsReader.Failure(key: nil, problem) }
            random = try reader.random()
            calls = try reader.calls()
        } catch {
            throw Failure(error.description)
        }
        if let name = options?.value("provider") {
            guard let name = name.string, let classifier = classifier(name) else {
                throw Failure("options.provider \(name) is not known")
            }
            self.classifier = classifier
        }
    }

    /// Lives through a scenario that is a line of text, on the caller's thread.
    ///
    /// - Parameters:
    ///   - line: The scenario as JSON.
    ///   - classifier: Who tells what answers of a provider mean; nil for one that is not known. By default none is.
    ///   - draw: Is given the calls over time, as SVG, if the scenario is one. Default: nothing is drawn.
    /// - Returns: The answer as JSON: what has become of the calls, or why the scenario is none.
    public static func answer(
        to line: some Collection<UInt8>,
        classifier: (String) -> (any OutcomeClassifier)? = { _ in nil },
        drawing draw: ((String) -> Void)? = nil
    ) -> JSONValue {
        guard let scenario = try? JSONValue(parsing: line) else {
            return ["name": nil, "invalid": "the line is no JSON"]
        }
        return answer(to: scenario, classifier: classifier, drawing: draw)
    }

    /// Lives through a scenario, on the caller's thread.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - classifier: Who tells what answers of a provider mean; nil for one that is not known. By default none is.
    ///   - draw: Is given the calls over time, as SVG, if the scenario is one. Default: nothing is drawn.
    /// - Returns: The answer as JSON: what has become of the calls, or why the scenario is none.
    public static func answer(
        to scenario: JSONValue,
        classifier: (String) -> (any OutcomeClassifier)? = { _ in nil },
        drawing draw: ((String) -> Void)? = nil
    ) -> JSONValue {
        let name = scenario["name"] ?? .null
        do throws(Failure) {
            let report = try Simulation(scenario: scenario, classifier: classifier).runOnThisThread()
            draw?(report.plot(title: name.string ?? ""))
            return report.json(name: name)
        } catch {
            return ["name": name, "invalid": .string(error.description)]
        }
    }
}

extension Simulation.Report {
    /// The report as `http-recover simulate` writes it.
    ///
    /// - Parameter name: The scenario's name.
    public func json(name: JSONValue = .null) -> JSONValue {
        [
            "name": name, "calls": .array(calls.map(\.json)), "budget_left": Self.json(budgetLeft),
            "breaker": breaker.map { .string($0.rawValue) } ?? .null, "rate_per_s": Self.json(rate),
        ]
    }

    /// To the nanosecond.
    static func json(_ number: Double?) -> JSONValue {
        number.map { .number(JSONValue.Number(($0 * 1e9).rounded() / 1e9)) } ?? .null
    }

    static func json(_ duration: Duration) -> JSONValue { json(duration.inSeconds) }
}

extension Simulation.Report.Call {
    fileprivate var json: JSONValue {
        typealias Report = Simulation.Report
        return [
            "attempts": .array(
                attempts.map {
                    [
                        "at_s": Report.json($0.time),
                        "status": $0.status.map { .number(JSONValue.Number($0)) } ?? .null,
                        "error": $0.error.map { .string($0.rawValue) } ?? .null,
                        "budget_left": Report.json($0.budgetLeft),
                        "breaker": $0.breaker.map { .string($0.rawValue) } ?? .null,
                    ]
                }
            ),
            "waits": .array(
                waits.map {
                    [
                        "at_s": Report.json($0.time), "seconds": Report.json($0.duration),
                        "reason": .string($0.reason.rawValue),
                    ]
                }
            ),
            "outcome": .string(end.rawValue), "kind": kind.map { .string($0.rawValue) } ?? .null,
            "reason": reason.map { .string($0.rawValue) } ?? .null,
            "status": status.map { .number(JSONValue.Number($0)) } ?? .null, "ended_at_s": Report.json(time),
        ]
    }
}
