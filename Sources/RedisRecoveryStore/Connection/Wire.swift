#if Redis
import Glibc
import HTTPRecovery

/// A connected or connecting stream socket that never blocks, with TLS or without.
///
/// It is confined to the connection's thread.
final class Wire {
    /// How a step went.
    enum Progress {
        /// So many bytes were moved; 0 for a step that moves none.
        case done(Int)
        /// It goes on when the socket can be read.
        case wantsRead
        /// It goes on when the socket can be written.
        case wantsWrite
        /// The other side has closed.
        case closed
        case failed(SharedState.StoreError)
    }

    let socket: Int32
    private let tls: TLSSession?

    /// Begins to connect.
    init(to address: Address, tls context: TLSContext?) throws(SharedState.StoreError) {
        let socket = Glibc.socket(
            address.family,
            Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue),
            0
        )
        guard socket >= 0 else { throw .system("open a socket", errno) }
        if address.family != AF_UNIX {
            Self.switchOn(TCP_NODELAY, Int32(IPPROTO_TCP), of: socket)
            Self.switchOn(SO_KEEPALIVE, SOL_SOCKET, of: socket)
        }
        let result = unsafe address.bytes.withUnsafeBytes { buffer in
            guard let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return -1 as Int32
            }
            return unsafe Glibc.connect(socket, start, socklen_t(buffer.count))
        }
        if result != 0, errno != EINPROGRESS {
            let error = errno
            Glibc.close(socket)
            throw .system("connect to the Redis server", error)
        }
        do {
            tls = try context?.session(on: socket)
        } catch {
            Glibc.close(socket)
            throw error
        }
        self.socket = socket
    }

    deinit {
        tls?.end()
        Glibc.close(socket)
    }

    private static func switchOn(_ option: Int32, _ level: Int32, of socket: Int32) {
        var one: Int32 = 1
        _ = unsafe setsockopt(socket, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether the connection stands, asked when the socket can be written.
    func finishConnecting() -> Progress {
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        if unsafe getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0 { error = errno }
        return error == 0 ? .done(0) : .failed(.system("connect to the Redis server", error))
    }

    /// One step of the TLS handshake; done at once without TLS.
    func secure() -> Progress {
        tls?.handshake() ?? .done(0)
    }

    /// Reads what is there into the buffer.
    func read(into buffer: inout [UInt8]) -> Progress {
        if let tls { return tls.read(into: &buffer) }
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        if count > 0 { return .done(count) }
        if count == 0 { return .closed }
        return Self.progress(after: errno, waiting: .wantsRead)
    }

    /// Writes as much as the socket takes.
    func write(_ bytes: ArraySlice<UInt8>) -> Progress {
        if let tls { return tls.write(bytes) }
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
        }
        if count >= 0 { return .done(count) }
        return Self.progress(after: errno, waiting: .wantsWrite)
    }

    private static func progress(after error: Int32, waiting: Progress) -> Progress {
        switch error {
        case EAGAIN, EINTR: waiting
        case ECONNRESET, EPIPE: .closed
        default: .failed(.system("reach the Redis server", error))
        }
    }
}

extension SharedState.StoreError {
    /// What the operating system does not let happen.
    static func system(_ what: String, _ error: Int32) -> SharedState.StoreError {
        let reason = unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
        return SharedState.StoreError("cannot \(what): \(reason); check that it runs and can be reached")
    }
}
#endif
