#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore

/// A client of one event loop, and who uses it.
///
/// `@unchecked` because it is touched on the loop alone.
///
/// It keeps a pool of some 4 KiB for each origin that it has ever had, and lets go of them when it ends. So one that has had
/// many is retired for another when most of these are not used any more, which have no connections then.
final class PooledClient: @unchecked Sendable {
    let client: HTTPClient
    /// When each origin was last asked for.
    var origins: [String: NIODeadline] = [:]
    /// How many requests have it that have not handed it back.
    var uses = 0
    /// Whether no further request gets it: it ends with the last that has it.
    var isRetired = false
    /// How many origins it may have had before it is looked at again.
    private var room = 128

    init(_ client: HTTPClient) {
        self.client = client
    }

    /// Makes room for a request to an origin, or tells that another client has to be taken for it.
    func makeRoom(for origin: String, idleTimeout: TimeAmount) -> Bool {
        guard origins.count >= room, origins[origin] == nil else { return true }
        let now = NIODeadline.now()
        let idle = origins.values.count { now - $0 > idleTimeout }
        guard idle * 2 < origins.count else { return false }
        room = origins.count * 2
        return true
    }
}
#endif
