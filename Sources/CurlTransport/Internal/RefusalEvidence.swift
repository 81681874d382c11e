import Glibc

/// What proves that an HTTP/2 server did not process a stream.
///
/// libcurl hides both ways a server says so. A stream refused on a new connection is named in its log, and from version
/// 8.19 on any refused stream. Before that, on a reused connection (where libcurl takes any early end for a stale
/// connection) the proof is by exclusion, checked against the sources of 8.14: the stream ended without a byte and without
/// a logged failure while the connection lives on; only `RST_STREAM` with `REFUSED_STREAM` does that. In 7.88 so does a
/// frame that HTTP/2 does not allow, of which it says nothing: there nothing is proven. A `GOAWAY` is logged with its last
/// stream (RFC 9113, section 6.8).
struct RefusalEvidence {
    /// The local port of the connection that the request went out on.
    var localPort: Int32 = 0
    /// The stream's identifier, as logged.
    var stream: Int?
    /// The loop's count of logged failures when the request went out.
    var failuresBefore = 0
    /// Whether the refusal is proven.
    var isProven = false
    /// Whether the server has sent what HTTP/2 does not allow.
    var hasInvalidFrame = false
    /// What the server has chosen, if the connection was made for this request.
    var negotiatesHTTP2: Bool?

    /// Only this version is known to behave as described above: Debian 13's.
    ///
    /// In 8.14 a stream of a reused connection is tried again only after `CURLE_RECV_ERROR` or, when the request could
    /// not be written at all, `CURLE_SEND_ERROR`. All that leads to these is logged as a failure or ends the
    /// connection, except a refused stream; a closed connection is `CURLE_HTTP2` and not tried again.
    static let canExclude: Bool = Libcurl.number >> 8 == 0x080e
}

/// The loop's knowledge of its HTTP/2 connections, by local port.
struct ConnectionLedger {
    private var sockets: [Int32: Int32] = [:]
    private var unresolved: Set<Int32> = []
    private var lastStreams: [Int32: Int] = [:]
    /// How many failures libcurl has logged; a count that stands still proves that none came.
    var failures = 0

    mutating func opened(_ socket: Int32) {
        unresolved.insert(socket)
    }

    mutating func closed(_ socket: Int32) {
        unresolved.remove(socket)
        for (port, owner) in sockets where owner == socket {
            sockets[port] = nil
            lastStreams[port] = nil
        }
    }

    mutating func goAway(port: Int32, lastStream: Int) {
        lastStreams[port] = min(lastStream, lastStreams[port] ?? .max)
    }

    func lastStream(port: Int32) -> Int? {
        lastStreams[port]
    }

    /// Notes which sockets have which local ports; to be called when a request goes out.
    mutating func resolve() {
        for socket in unresolved {
            guard let port = Self.localPort(of: socket) else { continue }
            if port == 0 { continue }
            // Two sockets may share a port toward different peers; then neither is known.
            sockets[port] = sockets[port] == nil ? socket : -1
            unresolved.remove(socket)
        }
    }

    /// The port at this side; 0 if the socket has none, nil if it is no socket any more.
    static func localPort(of socket: Int32) -> Int32? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // The storage is large enough for every family; the port stands at the same place in both IP families.
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(socket, $0, &length)
            }
        }
        guard result == 0 else { return nil }
        guard [sa_family_t(AF_INET), sa_family_t(AF_INET6)].contains(address.ss_family) else { return 0 }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                unsafe Int32($0.pointee.sin_port.bigEndian)
            }
        }
    }

    /// The socket with the local port, if it is known and the only one.
    func socket(port: Int32) -> Int32? {
        guard let socket = sockets[port], socket >= 0 else { return nil }
        return socket
    }

    /// Makes the connection read as if the server had ended it; what is to be sent still goes out.
    func endReceiving(port: Int32) {
        guard let socket = socket(port: port) else { return }
        shutdown(socket, Int32(SHUT_RD))
    }

    /// Whether the connection is known, and neither side has closed it.
    func isAlive(port: Int32) -> Bool {
        guard let socket = socket(port: port) else { return false }
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return false }
        return info.tcpi_state == UInt8(TCP_ESTABLISHED)
    }
}
