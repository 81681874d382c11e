#if Redis
import HTTPRecovery

/// Where a command belongs that a server has not carried out.
enum Redirection: Sendable, Hashable {
    /// The keys are on another node of the cluster from now on.
    case moved(Place)
    /// The keys are on their way to another node, which is to be asked this time.
    case asks(Place)
    /// The keys of the command are on two nodes at present, and together again soon.
    case isSplit
    /// The keys of the command are in several slots of the cluster, as long as it is one.
    case isSpread

    /// A host, empty if it is the one that was asked, and a port.
    struct Place: Sendable, Hashable {
        var host: String
        var port: Int
    }

    /// Reads the first line of an error; nil if it says nothing of another place.
    init?(_ line: ArraySlice<UInt8>) {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
        switch words.first.map({ String(decoding: $0, as: UTF8.self) }) {
        case "TRYAGAIN": self = .isSplit
        case "CROSSSLOT": self = .isSpread
        case "MOVED":
            guard let place = Place(words) else { return nil }
            self = .moved(place)
        case "ASK":
            guard let place = Place(words) else { return nil }
            self = .asks(place)
        default: return nil
        }
    }
}

extension Redirection.Place {
    /// Reads the place behind a word and a slot; before it may be a name (`host:port`), an address of IPv6, or nothing.
    fileprivate init?(_ words: [ArraySlice<UInt8>]) {
        guard words.count >= 3, let colon = words[2].lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let digits = words[2][(colon + 1)...]
        guard (1...5).contains(digits.count), digits.allSatisfy(\.isDigit),
            let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port),
            let name = String(validating: words[2][..<colon], as: UTF8.self), name.utf8.count <= 255
        else { return nil }
        // A server that does not know the other's name says so.
        self.init(host: name == "?" ? "" : name, port: port)
    }
}
#endif
