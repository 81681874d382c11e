import Glibc
import HTTPRecovery

extension FaultServer {
    /// A connection as the server sees it; its calls block the connection's own thread.
    public final class Connection: Sendable {
        /// Its number, counted from 0.
        public let id: Int
        /// The client's address, without its port.
        package let peer: String
        private let state: Locked<State>
        private let server: SocketServer

        private struct State {
            var socket: Int32
            var arrival: Int64?
        }

        init(id: Int, socket: Int32, peer: String, server: SocketServer) {
            self.id = id
            self.peer = peer
            self.server = server
            self.state = Locked(State(socket: socket))
        }

        /// When the newest of the bytes that were read has arrived, in milliseconds of the system's clock; nil if the
        /// kernel has not noted it.
        package var arrival: Int64? { state.withLock { $0.arrival } }

        // Linux's POLLRDHUP, which the Glibc module leaves out: the other side has closed its half.
        private static let remoteHangup: Int16 = 0x2000

        private var socket: Int32 { state.withLock { $0.socket } }

        /// Whether neither side has ended the connection, as far as this side has noticed.
        public var isOpen: Bool { socket >= 0 }

        /// The next bytes, at most `limit`; nil when the client has closed or reset the connection.
        public func read(upTo limit: Int = 65_536) -> [UInt8]? {
            let socket = self.socket
            guard socket >= 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: limit)
            // What the kernel notes beside them: the header of a message, then a `timespec`.
            var note = [UInt64](repeating: 0, count: 8)
            let count = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe note.withUnsafeMutableBytes { note in
                    var part = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                    return unsafe withUnsafeMutablePointer(to: &part) { part in
                        var message = unsafe msghdr()
                        unsafe message.msg_iov = part
                        unsafe message.msg_iovlen = 1
                        unsafe message.msg_control = note.baseAddress
                        unsafe message.msg_controllen = note.count
                        return unsafe recvmsg(socket, &message, 0)
                    }
                }
            }
            if count <= 0 {
                noteHangup()
                return nil
            }
            let isTime = note[1] == UInt64(SOL_SOCKET) | 35 << 32
            state.withLock { $0.arrival = isTime ? Int64(clamping: note[2] * 1000 + note[3] / 1_000_000) : nil }
            bytes.removeLast(limit - count)
            return bytes
        }

        /// Exactly so many bytes; nil when the client leaves before.
        public func read(exactly count: Int) -> [UInt8]? {
            var bytes: [UInt8] = []
            while bytes.count < count {
                guard let more = read(upTo: count - bytes.count) else { return nil }
                bytes += more
            }
            return bytes
        }

        /// Sends bytes; false when the client is gone.
        @discardableResult
        public func write(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                // The pointer stays within the array's bounds and within the closure.
                let count = unsafe bytes.withUnsafeBytes { buffer in
                    let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                    return unsafe send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 {
                    noteHangup()
                    return false
                }
                sent += count
            }
            return true
        }

        /// Ends the connection in an orderly way.
        public func close() { end(byReset: false) }

        /// Ends the connection so that what was sent arrives: closing at once with unread input would send a RST.
        package func finish() {
            let socket = self.socket
            guard socket >= 0 else { return }
            _ = Glibc.shutdown(socket, Int32(SHUT_WR))
            let end = ContinuousClock.now + .milliseconds(500)
            var descriptors = [pollfd(fd: socket, events: Int16(POLLIN), revents: 0)]
            var left = Int32(500)
            while left > 0, unsafe poll(&descriptors, 1, left) > 0, read() != nil {
                let (seconds, attoseconds) = (end - .now).components
                left = Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
            }
            close()
        }

        /// Resets the connection.
        public func reset() { end(byReset: true) }

        /// Waits until the client has left.
        public func waitForHangup() {
            while wait(for: nil, milliseconds: -1) == .nothing {}
        }

        /// Adds a request to the server's record.
        public func record(_ request: Request) { server.log.add(request) }

        // MARK: Internal

        /// Adds the head of a request, whose body may not have come, to what the server has seen.
        func recordHead(ofCall call: String?) { server.log.addHead(ofCall: call) }

        enum Event {
            case gate
            case hangup
            case nothing
        }

        /// Waits for the gate, the client's leaving, or the time.
        ///
        /// - Parameters:
        ///   - gate: The gate; nil for none.
        ///   - milliseconds: The time; negative for ever.
        ///   - isHalfEnough: Whether a client that has sent everything has left.
        func wait(for gate: Gate?, milliseconds: Int32, isHalfEnough: Bool = true) -> Event {
            let socket = self.socket
            guard socket >= 0 else { return .hangup }
            var descriptors = [
                pollfd(fd: socket, events: isHalfEnough ? Self.remoteHangup : 0, revents: 0),
                pollfd(fd: gate?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&descriptors, 2, milliseconds)
            if count > 0, descriptors[1].revents != 0 { return .gate }
            if count > 0, descriptors[0].revents != 0 {
                noteHangup()
                return .hangup
            }
            return .nothing
        }

        /// Makes all that blocks on the connection return; from any thread.
        func interrupt() {
            state.withLock { state in
                if state.socket >= 0 { _ = Glibc.shutdown(state.socket, Int32(SHUT_RDWR)) }
            }
        }

        private func noteHangup() {
            server.log.addHangup(of: id)
        }

        private func end(byReset: Bool) {
            let socket = state.withLock { state in
                let socket = state.socket
                state.socket = -1
                return socket
            }
            guard socket >= 0 else { return }
            if byReset {
                var option = linger(l_onoff: 1, l_linger: 0)
                let size = socklen_t(MemoryLayout<linger>.size)
                _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, size)
            }
            Glibc.close(socket)
        }
    }
}
