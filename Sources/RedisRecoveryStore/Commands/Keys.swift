#if Redis
import HTTPRecovery

/// The names under which the server keeps things.
///
/// Keys are spread over parts by what they are about. The braces make namespace and part a hash tag: a cluster keeps
/// all keys of a part on one node, and the parts on all its nodes.
struct Keys: Sendable {
    /// A key, and the part that it belongs to.
    struct Key: Sendable, Hashable {
        let name: String
        let part: UInt8
    }

    private let tags: [String]
    private let salt: Fingerprint.Salt

    /// The channel on which gates that close and open are told of.
    let channel: String

    /// - Parameters:
    ///   - namespace: What keeps the store's keys apart from others'.
    ///   - secret: What the names of gates are hashed with beside it; empty for nothing.
    init(namespace: String, secret: String) {
        tags = (0...UInt8.max).map { "{\(namespace):\(Hexadecimal.encode([$0]))}:" }
        channel = "{\(namespace):gates}"
        salt = Fingerprint.Salt(Array(namespace.utf8) + [0] + Array(secret.utf8))
    }

    var probe: Key { Key(name: tags[0] + "probe", part: 0) }

    func gate(_ key: SharedState.Gate.Key) -> Key { self.key("gate", about: key.stableText(salt: salt)) }
    func lease(_ name: String) -> Key { key("lease", about: name) }
    func fence(_ name: String) -> Key { key("fence", about: name) }
    func budget(_ key: String) -> Key { self.key("budget", about: key) }
    func record(_ key: String) -> Key { self.key("record", about: key) }

    /// Which gates of a part are closed.
    func closed(in part: UInt8) -> Key { Key(name: tags[Int(part)] + "closed", part: part) }
    var allClosed: [Key] { (0...UInt8.max).map(closed) }

    /// On which server the leases of a part were granted last.
    func home(of key: Key) -> Key { Key(name: tags[Int(key.part)] + "home", part: key.part) }

    private func key(_ kind: String, about subject: String) -> Key {
        // FNV-1a, folded: the same for all processes, and even.
        var hash: UInt32 = 2_166_136_261
        for byte in subject.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        hash ^= hash >> 16
        let part = UInt8(truncatingIfNeeded: hash ^ (hash >> 8))
        return Key(name: "\(tags[Int(part)])\(kind):\(subject)", part: part)
    }
}
#endif
