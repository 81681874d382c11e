import CCurl
import Glibc
import HTTPRecovery

/// One multi handle of a loop, with its connections and its timer.
///
/// libcurl walks all connections of a multi handle at the end of each transfer, so a loop has several handles of
/// bounded size. It is confined to the loop's thread.
@safe
final class Shard {
    /// The most transfers at a time.
    let capacity: Int
    /// Whether its transfers share connections.
    ///
    /// It then has as many as one connection carries: 100, unless a server allows less. Version 7.88 opens a
    /// connection for each further one, later ones a second, where the next shard's can do. A server
    /// that allows less gets a few connections, not one for each transfer that has no place; one that ends its
    /// connection (`GOAWAY`) while transfers are running on it does not stop those that follow.
    let isShared: Bool
    /// Whether it is kept without transfers, with its connections: the first of its kind, which the next requests use.
    let stays: Bool

    let multi: UnsafeMutableRawPointer
    /// The loop gives all its shards up before it ends.
    let loop: EventLoop
    var count = 0
    /// When it is closed if no transfer comes; `Monotonic.never` while it has any, and for those that stay.
    var closesAt = Monotonic.never
    /// When libcurl wants to be called.
    var deadline = Monotonic.never
    /// Whether libcurl may have results to read.
    var isTouched = false

    init?(loop: EventLoop, isShared: Bool, stays: Bool) {
        guard let multi = unsafe curl_multi_init() else { return nil }
        unsafe self.multi = multi
        self.loop = loop
        self.isShared = isShared
        self.stays = stays
        capacity = isShared ? 100 : 64
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ccurl_multi_set_socket_callback(multi, socketCallback)
        unsafe ccurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
        unsafe ccurl_multi_set_timer_callback(multi, timerCallback)
        unsafe ccurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
        // By itself libcurl closes connections after each burst, down to what runs at the moment.
        unsafe ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 2 * capacity)
        if isShared { unsafe ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 4) }
        // It is libcurl's own choice, and said because the loop counts on it: transfers of HTTP/2 share connections.
        unsafe ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        // From version 8.20 on a multi handle has threads for name lookups, at most 20, and waits for them at its end:
        // names that do not answer would hold up all others, and the shutdown. Before, each lookup had its own.
        unsafe ccurl_multi_set_resolver(multi, capacity)
    }
}
