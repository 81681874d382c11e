import CSandboxEvents
import Glibc

/// The few system calls that the server needs, with their pointers kept in one place.
enum Sockets {
    /// An address to listen on.
    struct Address: Sendable, Equatable {
        var host: String
        var port: Int

        /// Reads `127.0.0.1:8080`, `localhost:0` or `[::1]:8080`.
        init?(_ text: String) {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
                return nil
            }
            var host = String(text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            if host == "localhost" { host = "127.0.0.1" }
            guard Sockets.isIPv4(host) || Sockets.isIPv6(host) else { return nil }
            self.host = host
            self.port = Int(port)
        }
    }

    static func isIPv4(_ host: String) -> Bool {
        var address = in_addr()
        return unsafe inet_pton(AF_INET, host, &address) == 1
    }

    static func isIPv6(_ host: String) -> Bool {
        var address = in6_addr()
        return unsafe inet_pton(AF_INET6, host, &address) == 1
    }

    /// Opens a listening socket and tells which port it got.
    static func listen(_ address: Address) throws(SandboxError) -> (descriptor: Int32, port: Int) {
        let family = isIPv4(address.host) ? AF_INET : AF_INET6
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw SandboxError(.cannotListen, "cannot open a socket: \(lastError())") }
        setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        _ = sandbox_stamp_arrivals(descriptor)
        let bound: Int32
        if family == AF_INET {
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = UInt16(truncatingIfNeeded: address.port).bigEndian
            _ = unsafe inet_pton(AF_INET, address.host, &name.sin_addr)
            bound = unsafe withUnsafePointer(to: name) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        } else {
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = UInt16(truncatingIfNeeded: address.port).bigEndian
            _ = unsafe inet_pton(AF_INET6, address.host, &name.sin6_addr)
            bound = unsafe withUnsafePointer(to: name) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        guard bound == 0, Glibc.listen(descriptor, 1024) == 0 else {
            let reason = lastError()
            _ = close(descriptor)
            throw SandboxError(.cannotListen, "cannot listen on \(address.host):\(address.port): \(reason)")
        }
        return (descriptor, localPort(descriptor) ?? address.port)
    }

    /// Takes one waiting connection; nil when there is none, an errno when the system refuses.
    static func accept(_ listener: Int32) -> (descriptor: Int32, peer: String, errno: Int32)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.accept(listener, $0, &length)
            }
        }
        guard descriptor >= 0 else {
            let code = errno
            return code == EAGAIN || code == ECONNABORTED || code == EINTR ? nil : (-1, "", code)
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        return (descriptor, hostText(storage), 0)
    }

    /// Makes the coming `close` send a RST.
    static func abortOnClose(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, size)
    }

    /// What one read brought.
    struct Received {
        /// How many bytes; 0 at the end of the stream, less when it would block or failed.
        var count: Int
        /// Why it failed.
        var errno: Int32
        /// When the newest of the bytes arrived, in milliseconds of the system's clock; nil where the kernel has not noted it.
        var arrival: Int64?
    }

    /// Reads what is there.
    static func receive(_ descriptor: Int32, into buffer: inout [UInt8]) -> Received {
        var arrival: Int64 = 0
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe sandbox_receive(descriptor, bytes.baseAddress, bytes.count, &arrival)
        }
        return Received(count: count, errno: count < 0 ? errno : 0, arrival: arrival > 0 ? arrival : nil)
    }

    /// Writes what the kernel takes.
    static func send(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> (count: Int, errno: Int32) {
        let count = unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        return (count, count < 0 ? errno : 0)
    }

    /// The system's words for the last error.
    static func lastError() -> String {
        guard let text = unsafe strerror(errno) else { return "error \(errno)" }
        return unsafe String(cString: text)
    }

    /// Milliseconds of a clock.
    static func milliseconds(_ clock: clockid_t) -> Int64 {
        // Read as two words: which C module owns the fields of `timespec` differs from build to build.
        var time = (seconds: 0, nanoseconds: 0)
        unsafe withUnsafeMutablePointer(to: &time) { words in
            unsafe words.withMemoryRebound(to: timespec.self, capacity: 1) { time in
                _ = unsafe clock_gettime(clock, time)
            }
        }
        return Int64(time.seconds) * 1000 + Int64(time.nanoseconds) / 1_000_000
    }

    /// As many descriptors as this process may have.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(kind, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(kind, &limit)
    }

    static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func localPort(_ descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard result == 0 else { return nil }
        // The port stands at the same place in both address families.
        return unsafe withUnsafeBytes(of: storage) { Int(unsafe $0[2]) << 8 | Int(unsafe $0[3]) }
    }

    private static func hostText(_ storage: sockaddr_storage) -> String {
        let family = Int32(storage.ss_family)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let offset = family == AF_INET ? 4 : 8
        let written = unsafe withUnsafeBytes(of: storage) { bytes in
            unsafe inet_ntop(family, bytes.baseAddress?.advanced(by: offset), &text, socklen_t(INET6_ADDRSTRLEN)) != nil
        }
        guard written else { return "unknown" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
