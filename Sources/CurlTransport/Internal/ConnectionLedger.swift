import Glibc

/// The loop's knowledge of its connections: which socket is whose, and what was heard on those that are shared.
struct ConnectionLedger {
    /// The two ends of a connection, which no two that are open at a time have in common.
    ///
    /// A local port alone may be that of several, toward different peers.
    struct Ends: Hashable {
        var localPort: Int32
        var peerPort: Int32
        var localAddress: String
        var peerAddress: String

        /// The port tells nearly all apart.
        func hash(into hasher: inout Hasher) { hasher.combine(localPort) }
    }

    private var sockets: [Ends: Int32] = [:]
    private var ends: [Int32: Ends] = [:]
    /// Those on which nothing has gone out yet.
    private var unresolved: Set<Int32> = []
    private var lastStreams: [Int32: Int] = [:]
    /// How many failures libcurl has logged; a count that stands still proves that none came.
    var failures = 0

    mutating func opened(_ socket: Int32) {
        closed(socket)
        unresolved.insert(socket)
    }

    mutating func closed(_ socket: Int32) {
        unresolved.remove(socket)
        lastStreams[socket] = nil
        if let ends = ends.removeValue(forKey: socket) { sockets[ends] = nil }
    }

    /// The socket of the connection with these ends; to be asked when a request goes out on it.
    ///
    /// - Parameters:
    ///   - ends: What libcurl says of the connection.
    ///   - likely: The socket on which something was waited for when the connection was made.
    mutating func socket(of ends: Ends, likely: Int32) -> Int32? {
        if let known = sockets[ends] { return known }
        // What was closed without a word may be somebody else's by now, which has other ends.
        let isLikely = unresolved.contains(likely) && Self.ends(of: likely) == ends
        guard let socket = isLikely ? likely : unresolved.first(where: { Self.ends(of: $0) == ends }) else {
            return nil
        }
        unresolved.remove(socket)
        sockets[ends] = socket
        self.ends[socket] = ends
        return socket
    }

    mutating func goAway(_ socket: Int32, lastStream: Int) {
        lastStreams[socket] = min(lastStream, lastStreams[socket] ?? .max)
    }

    func lastStream(of socket: Int32) -> Int? { lastStreams[socket] }

    /// The ends of a socket; nil if it is not connected over IP, or no socket any more.
    static func ends(of socket: Int32) -> Ends? {
        guard let local = unsafe end({ unsafe getsockname(socket, $0, $1) }),
            let peer = unsafe end({ unsafe getpeername(socket, $0, $1) })
        else { return nil }
        return Ends(localPort: local.port, peerPort: peer.port, localAddress: local.address, peerAddress: peer.address)
    }

    private static func end(
        _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (address: String, port: Int32)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // The storage is large enough for every family, and a port stands at the same place in both of IP.
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let result = unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe ask($0, &length) }
            let family = unsafe Int32(pointer.pointee.ss_family)
            guard result == 0, [AF_INET, AF_INET6].contains(family) else { return nil }
            let bytes = UnsafeRawPointer(pointer)
            let port = unsafe Int32(UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)))
            let offset =
                family == AF_INET
                ? MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) : MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)
            // Room for the longest address there is.
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard let offset, unsafe inet_ntop(family, bytes + offset, &text, socklen_t(text.count)) != nil else {
                return nil
            }
            return (String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self), port)
        }
    }

    /// Makes the connection read as if the server had ended it; what is to be sent still goes out.
    func endReceiving(_ socket: Int32) {
        guard ends[socket] != nil else { return }
        shutdown(socket, Int32(SHUT_RD))
    }

    /// Whether the connection is known, and neither side has closed it.
    func isAlive(_ socket: Int32) -> Bool {
        guard ends[socket] != nil else { return false }
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return false }
        return info.tcpi_state == UInt8(TCP_ESTABLISHED)
    }
}
