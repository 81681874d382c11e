import Glibc

/// An address to listen on or to connect to, as the system wants it.
package struct SocketAddress: Sendable, Equatable {
    package let family: Int32
    /// A `sockaddr` of the family.
    let bytes: [UInt8]
    /// The address without the port.
    package let host: String
    package let port: Int

    /// The loopback interface, with a port that is free.
    package static let loopback = SocketAddress(
        family: AF_INET,
        bytes: [UInt8(AF_INET), 0, 0, 0, 127, 0, 0, 1] + [UInt8](repeating: 0, count: 8),
        host: "127.0.0.1",
        port: 0
    )

    /// The address and the port, as they stand in a URL.
    package var text: String { family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private init(family: Int32, bytes: [UInt8], host: String, port: Int) {
        (self.family, self.bytes, self.host, self.port) = (family, bytes, host, port)
    }

    /// Reads `127.0.0.1:8080`, `localhost:0` or `[::1]:8080`.
    package init?(listening text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        guard !host.isEmpty, case .success(let found) = Self.find(host, port: Int(port), flags: AI_NUMERICHOST),
            let first = found.first
        else { return nil }
        self = first
    }

    /// Whether a text is an IPv6 address.
    package static func isIPv6(_ host: String) -> Bool {
        guard case .success(let found) = find(host, port: 0, flags: AI_NUMERICHOST) else { return false }
        return found.first?.family == AF_INET6
    }

    /// Looks up a name, or takes an address apart; blocks while it asks.
    ///
    /// - Parameters:
    ///   - name: A name, or an address of either family.
    ///   - port: The port.
    /// - Returns: What to try, in this order, or the system's words for the reason why there is nothing.
    package static func resolve(_ name: String, port: Int) -> Result<[SocketAddress], SocketError> {
        find(name, port: port, flags: 0)
    }

    private static func find(_ name: String, port: Int, flags: Int32) -> Result<[SocketAddress], SocketError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = flags
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
                if let address = SocketAddress(bytes) { found.append(address) }
            }
            unsafe next = entry.pointee.ai_next
        }
        if !found.isEmpty { return .success(found) }
        return .failure(
            SocketError(reason: unsafe code == 0 ? "it has no address" : String(cString: gai_strerror(code)))
        )
    }

    /// Reads a `sockaddr`; nil for one of another family than IPv4 and IPv6.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 8 else { return nil }
        family = Int32(UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
        let (offset, length) = family == AF_INET ? (4, 4) : (8, 16)
        guard family == AF_INET || family == AF_INET6, bytes.count >= offset + length else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = family
        let written = unsafe bytes.withUnsafeBytes { bytes in
            unsafe inet_ntop(family, bytes.baseAddress?.advanced(by: offset), &text, socklen_t(INET6_ADDRSTRLEN)) != nil
        }
        guard written else { return nil }
        self.bytes = bytes
        host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The port stands at the same place in both families.
        port = Int(bytes[2]) << 8 | Int(bytes[3])
    }

    // MARK: Sockets

    /// Opens a socket that is bound to the address.
    ///
    /// - Returns: The socket, and the address with the port that it got.
    package func bind() throws(SocketError) -> (socket: Int32, address: SocketAddress) {
        let descriptor = try open(0)
        Self.setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        let isBound = unsafe use { unsafe Glibc.bind(descriptor, $0, $1) == 0 }
        guard isBound, let address = Self.own(descriptor) else {
            throw SocketError.last(closing: descriptor)
        }
        return (descriptor, address)
    }

    /// Opens a socket that listens on the address.
    package func listen() throws(SocketError) -> (socket: Int32, address: SocketAddress) {
        let (descriptor, address) = try bind()
        // Linux's SO_TIMESTAMPNS, which the Glibc module leaves out; the connections inherit it.
        Self.setOption(descriptor, SOL_SOCKET, 35, 1)
        guard Glibc.listen(descriptor, 1024) == 0 else { throw SocketError.last(closing: descriptor) }
        return (descriptor, address)
    }

    /// Begins to connect, without waiting.
    ///
    /// - Returns: A socket that is connected or will be.
    package func connect() throws(SocketError) -> Int32 {
        let descriptor = try open(SOCK_NONBLOCK.rawValue)
        Self.setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        let result = unsafe use { unsafe Glibc.connect(descriptor, $0, $1) }
        if result == 0 || errno == EINPROGRESS || errno == EINTR { return descriptor }
        throw SocketError.last(closing: descriptor)
    }

    package static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func open(_ flags: UInt32) throws(SocketError) -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | flags), 0)
        guard descriptor >= 0 else { throw SocketError.last() }
        return descriptor
    }

    private func use<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        // A copy in memory that is aligned as the system wants it.
        var storage = sockaddr_storage()
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe UnsafeMutableRawPointer(pointer).copyMemory(from: bytes, byteCount: bytes.count)
            return unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(bytes.count))
            }
        }
    }

    private static func own(_ descriptor: Int32) -> SocketAddress? {
        unsafe read { unsafe getsockname(descriptor, $0, $1) == 0 }
    }

    /// What the system writes into a `sockaddr`; nil when it fails.
    static func read(_ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Bool)
        -> SocketAddress?
    {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isFilled = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe fill($0, &length) }
        }
        guard isFilled else { return nil }
        return SocketAddress(unsafe withUnsafeBytes(of: storage) { unsafe Array($0.prefix(Int(length))) })
    }
}

/// Why the system gave no socket, or knows no address.
package struct SocketError: Error, Sendable, Equatable {
    /// The system's words.
    package var reason: String
    var number: Int32 = 0

    /// The last error of this thread.
    static func last(closing descriptor: Int32 = -1) -> SocketError {
        let number = errno
        if descriptor >= 0 { _ = close(descriptor) }
        return SocketError(number: number)
    }

    /// What has become of a connection that was begun; nil when it is there.
    package init?(of socket: Int32) {
        var number: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        if unsafe getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &length) != 0 { number = errno }
        guard number != 0 else { return nil }
        self.init(number: number)
    }

    init(reason: String) {
        self.reason = reason
    }

    package init(number: Int32) {
        self.number = number
        reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }
}
