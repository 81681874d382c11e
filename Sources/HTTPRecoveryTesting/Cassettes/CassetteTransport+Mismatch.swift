import HTTPRecovery
import HTTPTypes

extension CassetteTransport {
    /// A request that fits no exchange of a cassette that is left.
    public struct Mismatch: Error, Sendable, Hashable, CustomStringConvertible {
        /// The request: method, URL and body, redacted as the cassette is.
        public let request: String
        /// The recorded request that is most like it, in the same form; nil if the cassette is empty.
        public let nearest: String?
        /// In what they differ, as sentences.
        public let differences: [String]
        /// The number of the nearest exchange, counted from 1; 0 without any.
        public let number: Int

        init(of asked: Cassette.Exchange, with cassette: Cassette, left: [Int], _ bindings: StandIn.Bindings) {
            request = asked.description
            // Of those that are alike, one that is left is nearer, then the earlier one.
            let rated = cassette.exchanges.enumerated().map { index, exchange in
                let differences = exchange.differences(from: asked, bindings).found
                return (index, differences, differences.map(\.weight).reduce(left.contains(index) ? 0 : 1, +))
            }
            guard let best = rated.min(by: { $0.2 < $1.2 }) else {
                (nearest, differences, number) = (nil, [], 0)
                return
            }
            nearest = cassette.exchanges[best.0].description
            number = best.0 + 1
            differences =
                best.1.isEmpty ? ["it has been played already"] : best.1.map(\.sentence)
        }

        /// The request, the nearest one, and in what they differ.
        public var description: String {
            guard let nearest else { return "the cassette is empty, and was asked for \(request)" }
            return """
                no exchange is left that fits \(request)
                the nearest is number \(number), \(nearest): \(differences.joined(separator: "; "))
                """
        }
    }

    /// Exchanges of a cassette that nobody has asked for.
    public struct Unplayed: Error, Sendable, Hashable, CustomStringConvertible {
        /// The exchanges.
        public let exchanges: [Cassette.Exchange]

        /// How many there are, and their requests.
        public var description: String {
            "\(exchanges.count) of the cassette's exchanges were not asked for: "
                + exchanges.prefix(10).map(\.description).joined(separator: ", ")
        }
    }
}

extension Cassette.Exchange {
    typealias Difference = (sentence: String, weight: Int)

    /// In what the request differs from one that is asked; empty if it fits.
    ///
    /// - Returns: The differences, how many segments of the path may be the same without anybody knowing, and what is known of
    ///   the stand-ins if it fits.
    func differences(
        from asked: Cassette.Exchange,
        _ known: StandIn.Bindings = StandIn.Bindings()
    ) -> (found: [Difference], guesses: Int, bindings: StandIn.Bindings) {
        var (found, bindings, guesses): ([Difference], StandIn.Bindings, Int) = ([], known, 0)
        func note(_ what: String, _ recorded: String, _ asked: String, _ weight: Int) {
            let shown = recorded.isEmpty ? "empty" : String(recorded.prefix(500))
            found.append(("its \(what) is \(shown), not \(asked.prefix(500))", weight))
        }
        if method != asked.method { note("method", method.rawValue, asked.method.rawValue, 40) }
        if origin != asked.origin { note("origin", origin, asked.origin, 40) }
        let (mine, theirs) = (Self.parts(path), Self.parts(asked.path))
        let count = max(mine.segments.count, theirs.segments.count)
        var same = 0
        for (one, other) in zip(mine.segments, theirs.segments) {
            let (fits, isSure) = bindings.fits(segment: one, other)
            if fits { same += 1 }
            if !isSure { guesses += 1 }
        }
        if same < count {
            let weight = 20 + 4 * (count - same)
            note("path", mine.segments.joined(separator: "/"), theirs.segments.joined(separator: "/"), weight)
        }
        if !bindings.fits(mine.query, theirs.query) { note("query", mine.query, theirs.query, 10) }
        if !bindings.fits(body, asked.body) { note("body", body, asked.body, 10) }
        return (found, guesses, bindings)
    }

    private static func parts(_ path: String) -> (segments: [Substring], query: String) {
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let segments = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
        return (segments, parts.count == 2 ? String(parts[1]) : "")
    }
}
