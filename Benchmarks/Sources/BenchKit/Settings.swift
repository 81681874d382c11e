/// What a contestant is to do, from its command line: a scenario, then `key=value` for each thing that is said.
///
///     transport-bench load url=http://127.0.0.1:8080/small concurrency=64 requests=60000 executor=loop
public struct Settings: Sendable {
    /// What is measured.
    public enum Scenario: String, Sendable {
        /// Requests, so many at a time: processor time of each, and how many a second.
        case load
        /// Requests that stay in flight: memory of each, processor time while nothing happens, time to cancel one.
        case flight
        /// Requests all at once by a client that has no connection yet.
        case burst
        /// A POST on a used connection that dies: how often the server sees it.
        case post
        /// Requests that are cancelled while their host's name is looked up: time until they return, and until another
        /// request that begins then is answered.
        case lookup
    }

    /// What is to be measured.
    public let scenario: Scenario
    private let values: [String: String]

    /// Reads the arguments behind the program's name; nil if they make no sense.
    public init?(arguments: some Collection<String>) {
        guard let scenario = arguments.first.flatMap(Scenario.init(rawValue:)) else { return nil }
        self.scenario = scenario
        var values: [String: String] = [:]
        for argument in arguments.dropFirst() {
            guard let mark = argument.firstIndex(of: "=") else { return nil }
            values[String(argument[..<mark])] = String(argument[argument.index(after: mark)...])
        }
        self.values = values
        guard values["url"] != nil, concurrency > 0, requests > 0 else { return nil }
    }

    /// A value that is the program's own.
    public subscript(key: String) -> String? { values[key] }

    /// `url`: what is asked for.
    public var url: String { values["url"] ?? "" }
    /// `idle-url`: of `load`, what the server holds; otherwise what is asked for once to begin with.
    public var idleURL: String { values["idle-url"] ?? url }
    /// `port`: where the benchmark's own server tells what it has seen.
    public var port: Int { number("port", 0) }
    /// `concurrency`: how many requests at a time; 1 by default.
    public var concurrency: Int { number("concurrency", 1) }
    /// `requests`: how many are measured; 1000 by default.
    public var requests: Int { number("requests", 1000) }
    /// `warmup`: how many come before those; none by default.
    public var warmup: Int { number("warmup", 0) }
    /// `idle`: how many requests to `idle-url` are in flight beside them; none by default.
    public var idle: Int { number("idle", 0) }
    /// `step`: how many of the requests that are held begin at once; 4000 by default, as the server's queue has 4096 places.
    public var step: Int { max(1, number("step", 4000)) }
    /// `seconds`: how long nothing happens in `flight`; 3 by default.
    public var seconds: Int { number("seconds", 3) }
    /// `bytes`: the size of each body; 200 by default.
    public var bytes: Int { number("bytes", 200) }
    /// `http=2`: HTTP/2 over TLS instead of HTTP/1.1.
    public var isHTTP2: Bool { values["http"] == "2" }
    /// `ca`: the path of the certificates to trust.
    public var caFile: String? { values["ca"] }
    /// `reading=streamed`: bodies are read piece by piece instead of being collected.
    public var isStreamed: Bool { values["reading"] == "streamed" }

    /// The most requests that are under way at a time.
    public var mostAtATime: Int { max(concurrency, idle) }

    private func number(_ key: String, _ fallback: Int) -> Int {
        guard let text = values[key] else { return fallback }
        return Int(text) ?? -1
    }
}
