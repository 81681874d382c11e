import CCurl
import Glibc

/// An answer that was taken out of a socket, behind a listener of its own that libcurl connects to.
///
/// The listener is one of this machine's, without a name in the file system; who is not this process gets nothing from it.
/// (A pair of sockets would do, but libcurl 7.88 connects what it is told is connected.)
final class SavedAnswer {
    /// More is left alone: a socket's buffer might not hold it.
    static let longest = 128 * 1024

    /// The name that the system has chosen, to be used in its abstract form.
    let name: String
    private let bytes: [UInt8]
    private let listener: Int32
    private var connection: Int32 = -1

    /// Listens with the bytes; nil if the system has no socket left.
    init?(_ bytes: [UInt8]) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        listener = socket(AF_UNIX, type, 0)
        guard listener >= 0, let name = Self.listen(on: listener) else {
            if listener >= 0 { close(listener) }
            return nil
        }
        self.name = name
        self.bytes = bytes
    }

    deinit {
        close(listener)
        if connection >= 0 { close(connection) }
    }

    private static func listen(on listener: Int32) -> String? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let family = socklen_t(MemoryLayout<sa_family_t>.size)
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        // The address is as long as is said, and an address that ends with its family has the system choose the rest.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, family) == 0 && Glibc.listen(listener, 8) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        // A zero byte stands before an abstract name.
        guard isBound, length > family + 1 else { return nil }
        return unsafe withUnsafeBytes(of: &address.sun_path) { path in
            unsafe String(decoding: path[1..<Int(length - family)], as: UTF8.self)
        }
    }

    /// Writes the answer to libcurl's connection, which is then at its end; false if there is none.
    func serve() -> Bool {
        while true {
            let accepted = accept(listener, nil, nil)
            guard accepted >= 0 else { return false }
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
            guard Self.isOwn(accepted) else {
                close(accepted)
                continue
            }
            // Kept open: libcurl writes a request to it, which nobody reads.
            connection = accepted
            // The array lives until the call has returned.
            let count = unsafe send(accepted, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            return count == bytes.count && shutdown(accepted, Int32(SHUT_WR)) == 0
        }
    }

    private static func isOwn(_ connection: Int32) -> Bool {
        // The system's `ucred`, which Glibc's module does not have.
        var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: peer))
        return unsafe getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.process == getpid()
    }

    /// Whether the connection is gone in both directions: what has come is all that there will be.
    static func isOver(_ socket: Int32) -> Bool {
        var descriptor = pollfd(fd: socket, events: 0, revents: 0)
        return unsafe poll(&descriptor, 1, 0) == 1 && descriptor.revents & Int16(POLLHUP) != 0
    }

    /// What has come on a socket and was not read; nothing if that is too much.
    static func unread(on socket: Int32) -> [UInt8] {
        var count: Int32 = 0
        guard unsafe ioctl(socket, UInt(FIONREAD), &count) == 0, (1...Int32(longest)).contains(count) else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, filled in
            // The buffer has room for as many bytes as are asked for.
            let received = unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            filled = max(0, received)
        }
    }
}
