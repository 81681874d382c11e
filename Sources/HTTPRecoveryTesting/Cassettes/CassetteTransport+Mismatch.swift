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

        init(of asked: Cassette.Exchange, with cassette: Cassette, left: [Int]) {
            request = asked.description
            // Of those that are alike, one that is left is nearer, then the earlier one.
            let rated = cassette.exchanges.enumerated().map { index, exchange in
                let differences = exchange.differences(from: asked)
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
    /// In what the request differs from one that is asked; empty if it fits.
    func differences(from asked: Cassette.Exchange) -> [(sentence: String, weight: Int)] {
        var found: [(sentence: String, weight: Int)] = []
        func compare(_ what: String, _ recorded: String, _ asked: String, _ weight: Int) {
            guard recorded != asked else { return }
            found.append(("its \(what) is \(recorded.isEmpty ? "empty" : recorded), not \(asked.prefix(500))", weight))
        }
        compare("method", method.rawValue, asked.method.rawValue, 40)
        compare("origin", origin, asked.origin, 40)
        let (mine, theirs) = (Self.parts(path), Self.parts(asked.path))
        let count = max(mine.segments.count, theirs.segments.count)
        let same = zip(mine.segments, theirs.segments).count { Self.fits($0, $1) }
        if same < count || mine.segments.count != theirs.segments.count {
            let weight = 20 + 4 * (count - same)
            compare("path", mine.segments.joined(separator: "/"), theirs.segments.joined(separator: "/"), weight)
        }
        compare("query", mine.query, theirs.query, 10)
        compare("body", String(body.prefix(500)), body == asked.body ? String(body.prefix(500)) : asked.body, 10)
        return found
    }

    private static func parts(_ path: String) -> (segments: [Substring], query: String) {
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let segments = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
        return (segments, parts.count == 2 ? String(parts[1]) : "")
    }

    /// Whether a segment fits: what is not known fits all, and what stands for an answer's word fits a word.
    private static func fits(_ recorded: Substring, _ asked: Substring) -> Bool {
        if recorded == asked || [recorded, asked].contains(where: { $0 == Redactor.mark }) { return true }
        let mark = "\(Redactor.mark)-"
        return asked.utf8.starts(with: mark.utf8) && !recorded.utf8.starts(with: mark.utf8)
    }
}
