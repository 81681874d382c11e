import Glibc

/// An address to connect to, as the system wants it.
struct SocketAddress: Sendable, Equatable {
    let family: Int32
    /// A `sockaddr` of the family.
    let bytes: [UInt8]
    /// The address without the port.
    let host: String
    let port: Int

    /// The address and the port, for people.
    var text: String { family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Looks up a name, or takes an address apart; blocks while it asks.
    ///
    /// - Parameters:
    ///   - name: A name, or an address of either family.
    ///   - port: The port.
    /// - Returns: What to try, in this order; at least one.
    static func resolve(_ name: String, port: Int) throws(SandboxError) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(name, String(port), &hints, &list)
        defer { if let list = unsafe list { unsafe freeaddrinfo(list) } }
        var found: [SocketAddress] = []
        // The list belongs to the system until it is freed; what is needed of it is copied.
        var next = unsafe code == 0 ? list : nil
        while let entry = unsafe next {
            if let address = unsafe entry.pointee.ai_addr {
                let length = Int(unsafe entry.pointee.ai_addrlen)
                let bytes = unsafe Array(UnsafeRawBufferPointer(start: address, count: length))
                let family = unsafe entry.pointee.ai_family
                if let host = hostText(family, bytes) {
                    found.append(SocketAddress(family: family, bytes: bytes, host: host, port: port))
                }
            }
            unsafe next = entry.pointee.ai_next
        }
        guard !found.isEmpty else {
            let reason = unsafe code == 0 ? "it has no address" : String(cString: gai_strerror(code))
            throw SandboxError(.cannotResolve, "cannot look up the upstream \(name): \(reason)")
        }
        return found
    }

    private static func hostText(_ family: Int32, _ bytes: [UInt8]) -> String? {
        let (offset, length) = family == AF_INET ? (4, 4) : (8, 16)
        guard family == AF_INET || family == AF_INET6, bytes.count >= offset + length else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let written = unsafe bytes.withUnsafeBytes { bytes in
            unsafe inet_ntop(family, bytes.baseAddress?.advanced(by: offset), &text, socklen_t(INET6_ADDRSTRLEN)) != nil
        }
        guard written else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Sockets {
    /// Begins to connect, without waiting.
    ///
    /// - Parameter address: Where to.
    /// - Returns: A socket that is connected or will be, or the system's words for the reason.
    static func connect(_ address: SocketAddress) -> (descriptor: Int32, reason: String?) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { return (-1, lastError()) }
        setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        let result = unsafe address.bytes.withUnsafeBytes { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe Glibc.connect(
                descriptor,
                base.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        if result == 0 || errno == EINPROGRESS || errno == EINTR { return (descriptor, nil) }
        let reason = lastError()
        _ = close(descriptor)
        return (-1, reason)
    }

    /// What has become of a connection that was begun: 0, or an errno.
    static func connectionError(_ descriptor: Int32) -> Int32 {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        return result == 0 ? error : errno
    }
}
