#if Redis
import HTTPRecovery

/// An error reply, without its text: that may hold what was sent.
struct ServerError: Sendable, Hashable {
    /// Its code, such as `READONLY`; `ERR` if it has none.
    let code: String

    /// Where else the command belongs; nothing was done here.
    let redirection: Redirection?

    private let isAboutScripts: Bool

    init(_ text: [UInt8]) {
        let line = text.prefix { $0 != 10 && $0 != 13 }.prefix(512)
        var code = Self.word(line) ?? "ERR"
        // Before version 7 the error of a command in a script stands behind that of the script.
        if code == "ERR", let dash = Self.embedded(in: line) { code = dash }
        self.code = code
        redirection = Redirection(line)
        let words = String(decoding: line, as: UTF8.self).lowercased()
        isAboutScripts = code == "ERR" && words.holds("unknown command") && words.holds("eval")
    }

    /// Whether the server does not know the script: nothing was done.
    var isMissingScript: Bool { code == "NOSCRIPT" }

    /// Whether another connection may lead to a server that can do it: after a failover the name leads elsewhere.
    var asksForReconnection: Bool { code == "READONLY" || code == "MASTERDOWN" || code == "NOAUTH" }

    /// What it means and what to do.
    var storeError: SharedState.StoreError {
        SharedState.StoreError("the Redis server answers \(code): \(advice)")
    }

    private var advice: String {
        switch code {
        case "LOADING": "it is loading its data; it will answer when it is done"
        case "READONLY": "it is a read-only replica; connect to the primary"
        case "OOM": "its memory is full; raise maxmemory, or give the store a server that is not a cache"
        case "NOAUTH": "it wants a password; set one"
        case "WRONGPASS": "it does not accept the user and password; correct them"
        case "NOPERM":
            "the user may not do this; allow it ~{namespace:* &{namespace:* and +@read +@write +@scripting +@pubsub +ping "
                + "+select +time +info +role"
        case "MOVED", "ASK", "CROSSSLOT", "TRYAGAIN":
            "its cluster moves keys from node to node; it will answer when that is done"
        case "CLUSTERDOWN": "its cluster is down; it will answer when the cluster is complete"
        case "MISCONF": "it cannot save its data and takes no writes; look at its log and disk"
        case "MASTERDOWN": "it is a replica without its primary; connect to the primary"
        case "NOREPLICAS": "it has too few replicas to take writes"
        case "BUSY": "a script keeps it busy; it will answer when that ends"
        case "WRONGTYPE": "a key of the namespace belongs to another application; choose another namespace"
        case "NOPROTO": "it does not speak the protocol's version 2"
        case "ERR" where isAboutScripts: "it has no scripts; enable EVAL and EVALSHA"
        default: "check that it is Redis 5 or later, or Valkey, and that user, password and database are right"
        }
    }

    /// The capital letters that a text begins with, up to a space.
    private static func word(_ text: ArraySlice<UInt8>) -> String? {
        let letters = text.prefix { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
        guard (2...16).contains(letters.count) else { return nil }
        guard letters.endIndex == text.endIndex || text[letters.endIndex] == UInt8(ascii: " ") else { return nil }
        return String(decoding: letters, as: UTF8.self)
    }

    private static func embedded(in text: ArraySlice<UInt8>) -> String? {
        for index in text.indices.dropLast() where text[index] == UInt8(ascii: "-") {
            guard index > text.startIndex, text[index - 1] == UInt8(ascii: " ") else { continue }
            if let word = word(text[(index + 1)...]), word != "ERR" { return word }
        }
        return nil
    }
}
#endif
