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
    static let capacity = 128

    let multi: UnsafeMutableRawPointer
    /// The loop gives all its shards up before it ends.
    let loop: EventLoop
    var count = 0
    /// When libcurl wants to be called.
    var deadline = Monotonic.never
    /// Whether libcurl may have results to read.
    var isTouched = false

    init?(loop: EventLoop) {
        guard let multi = unsafe curl_multi_init() else { return nil }
        unsafe self.multi = multi
        self.loop = loop
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ccurl_multi_set_socket_callback(multi, socketCallback)
        unsafe ccurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
        unsafe ccurl_multi_set_timer_callback(multi, timerCallback)
        unsafe ccurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
        unsafe ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 2 * Self.capacity)
        unsafe ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }
}
