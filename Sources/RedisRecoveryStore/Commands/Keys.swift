#if Redis
import HTTPRecovery

/// The names under which the server keeps things.
///
/// The braces make the namespace a hash tag: all keys of a store are in one slot of a cluster.
struct Keys: Sendable {
    let prefix: String
    private let salt: [UInt8]

    /// - Parameters:
    ///   - namespace: What keeps the store's keys apart from others'.
    ///   - secret: What the names of gates are hashed with beside it; empty for nothing.
    init(namespace: String, secret: String) {
        prefix = "{\(namespace)}:"
        salt = Array(namespace.utf8) + [0] + Array(secret.utf8)
    }

    var probe: String { prefix + "probe" }

    func gate(_ key: SharedState.Gate.Key) -> String { "\(prefix)gate:\(key.stableText(salt: salt))" }
    func lease(_ name: String) -> String { "\(prefix)lease:\(name)" }
    func fence(_ name: String) -> String { "\(prefix)fence:\(name)" }
    func budget(_ key: String) -> String { "\(prefix)budget:\(key)" }
    func record(_ key: String) -> String { "\(prefix)record:\(key)" }
}
#endif
