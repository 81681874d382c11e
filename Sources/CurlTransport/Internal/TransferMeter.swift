import CCurl
import HTTPRecovery

/// What is measured of one transfer, for a transport that is asked to.
///
/// The loop writes, whoever has the response reads.
final class TransferMeter: Sendable {
    /// When the attempt was handed to the transport.
    private let submission = Monotonic.now()
    private let values = Locked(History.AttemptMetrics())

    var metrics: History.AttemptMetrics { values.withLock { $0 } }

    /// Notes that the transfer has its place.
    func begin() {
        let now = Monotonic.now()
        let waited = Duration.nanoseconds(Int64(clamping: now - min(now, submission)))
        values.withLock { $0.waited = waited }
    }

    /// Notes the connection on which the request goes out: what libcurl opens from here on serves to send it again, which is
    /// prevented.
    func goesOut(_ easy: EasyHandle) {
        let info = unsafe Info(handle: easy.handle)
        values.withLock { info.readConnection(into: &$0) }
    }

    /// Asks libcurl; on the loop's thread, while the handle carries the transfer.
    func read(_ easy: EasyHandle, _ facts: TransferFacts, isOver: Bool) {
        // Of a connection that is none there is nothing to say.
        if easy.readsSavedAnswer { return }
        let info = unsafe Info(handle: easy.handle)
        values.withLock { metrics in
            if facts.wireAttempts == 0 { info.readConnection(into: &metrics) }
            metrics.wireAttempts = facts.wireAttempts
            metrics.requestStart = info.time(CURLINFO_PRETRANSFER_TIME_T)
            metrics.firstByte = info.time(CURLINFO_STARTTRANSFER_TIME_T)
            if isOver { metrics.total = info.time(CURLINFO_TOTAL_TIME_T) }
            metrics.bodyBytesReceived = info.count(CURLINFO_SIZE_DOWNLOAD_T)
            metrics.bodyBytesSent = info.count(CURLINFO_SIZE_UPLOAD_T)
            metrics.httpVersion = Self.versions[info.number(CURLINFO_HTTP_VERSION)]
        }
    }

    private static let versions = [
        Int(CURL_HTTP_VERSION_1_0): "1.0", Int(CURL_HTTP_VERSION_1_1): "1.1", Int(CURL_HTTP_VERSION_2_0): "2",
        Int(CURL_HTTP_VERSION_3): "3",
    ]

    /// libcurl's answers about a handle.
    @safe
    private struct Info {
        let handle: UnsafeMutableRawPointer

        func readConnection(into metrics: inout History.AttemptMetrics) {
            metrics.connectionsOpened = number(CURLINFO_NUM_CONNECTS)
            if metrics.connectionsOpened != 0 {
                metrics.nameLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
                metrics.connect = time(CURLINFO_CONNECT_TIME_T)
                metrics.tlsHandshake = time(CURLINFO_APPCONNECT_TIME_T)
            }
            metrics.localAddress = text(CURLINFO_LOCAL_IP)
            metrics.remoteAddress = text(CURLINFO_PRIMARY_IP)
            if metrics.localAddress != nil { metrics.localPort = number(CURLINFO_LOCAL_PORT) }
            if metrics.remoteAddress != nil { metrics.remotePort = number(CURLINFO_PRIMARY_PORT) }
        }

        func number(_ info: CURLINFO) -> Int {
            var value = 0
            unsafe ccurl_get_long(handle, info, &value)
            return value
        }

        func count(_ info: CURLINFO) -> Int {
            var value: curl_off_t = 0
            unsafe ccurl_get_offset(handle, info, &value)
            return Int(value)
        }

        /// A time in microseconds; 0 is one that has not come.
        func time(_ info: CURLINFO) -> Duration? {
            let microseconds = count(info)
            return microseconds > 0 ? .microseconds(microseconds) : nil
        }

        func text(_ info: CURLINFO) -> String? {
            // The text is the handle's; it is copied before anything else is asked of it.
            guard let text = unsafe ccurl_get_string(handle, info), unsafe text.pointee != 0 else { return nil }
            return unsafe String(cString: text)
        }
    }
}
