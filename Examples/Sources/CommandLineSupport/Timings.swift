public import HTTPRecovery

/// When the phases of an attempt were over, for a person.
public struct Timings: Sendable {
    private let result: String
    private let elapsed: Duration
    private let metrics: History.AttemptMetrics?

    /// Takes what is known of an attempt.
    ///
    /// - Parameters:
    ///   - result: What it came to, in a word or two.
    ///   - elapsed: How long it took until its head or its error was there.
    ///   - metrics: What the transport has measured; nil if nothing.
    public init(result: String, elapsed: Duration, metrics: History.AttemptMetrics?) {
        self.result = result
        self.elapsed = elapsed
        self.metrics = metrics
    }

    /// A line about the attempt, and one for each phase that took place.
    ///
    /// - Parameter number: Which attempt it is, from 1.
    public func lines(number: Int) -> [ScreenText] {
        guard let metrics else { return ["attempt \(number): \(result) after \(Self.milliseconds(elapsed)) ms"] }
        var head = "attempt \(number): \(result)"
        if let version = metrics.httpVersion { head += ", HTTP/\(version)" }
        if let isReused = metrics.isConnectionReused { head += isReused ? ", used connection" : ", new connection" }
        head += Self.place(" to ", metrics.remoteAddress, metrics.remotePort)
        head += Self.place(" from ", metrics.localAddress, metrics.localPort)
        let phases: [(String, Duration?)] = [
            ("waited", metrics.waited), ("name lookup", metrics.nameLookup), ("connection", metrics.connect),
            ("TLS handshake", metrics.tlsHandshake), ("request", metrics.requestStart),
            ("first byte", metrics.firstByte), ("end", metrics.total),
        ]
        var lines = [ScreenText(head)]
        for (name, time) in phases {
            guard let time else { continue }
            let padding = String(repeating: " ", count: 14 - name.utf8.count)
            let number = Self.milliseconds(time)
            let space = String(repeating: " ", count: max(0, 10 - number.utf8.count))
            lines.append("  \(name)\(padding)\(space)\(number) ms")
        }
        return lines
    }

    /// A word with an address and a port as they stand in a URL; nothing if they are not known.
    private static func place(_ word: String, _ address: String?, _ port: Int?) -> String {
        guard let address, let port else { return "" }
        return word + (address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)")
    }

    /// Milliseconds with three digits behind the point.
    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = max(duration, .zero).components
        let microseconds = attoseconds / 1_000_000_000_000
        let fraction = "\(microseconds % 1000)"
        let zeros = String(repeating: "0", count: 3 - fraction.utf8.count)
        return "\(min(seconds, 1 << 40) * 1000 + microseconds / 1000).\(zeros)\(fraction)"
    }
}
