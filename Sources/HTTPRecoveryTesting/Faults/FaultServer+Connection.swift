import Glibc
import HTTPRecovery

extension FaultServer {
    /// A connection as the server sees it; its calls block the connection's own thread.
    public final class Connection: Sendable {
        /// Its number, counted from 0.
        public let id: Int
        private let state: Locked<State>
        let log: ServerLog

        private struct State {
            var socket: Int32
            var buffer: [UInt8] = []
        }

        init(id: Int, socket: Int32, log: ServerLog) {
            self.id = id
            self.state = Locked(State(socket: socket))
            self.log = log
        }

        // Linux's POLLRDHUP, which the Glibc module leaves out: the other side has closed its half.
        private static let remoteHangup: Int16 = 0x2000

        private var socket: Int32 { state.withLock { $0.socket } }

        /// Whether neither side has ended the connection, as far as this side has noticed.
        public var isOpen: Bool { socket >= 0 }

        /// The next bytes, at most `limit`; nil when the client has closed or reset the connection.
        public func read(upTo limit: Int = 65_536) -> [UInt8]? {
            let kept: [UInt8] = state.withLock { state in
                let part = Array(state.buffer.prefix(limit))
                state.buffer.removeFirst(part.count)
                return part
            }
            return kept.isEmpty ? receive(limit) : kept
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

        /// Resets the connection.
        public func reset() { end(byReset: true) }

        /// Waits until the client has left.
        public func waitForHangup() {
            while wait(for: nil, milliseconds: -1) == .nothing {}
        }

        /// Adds a request to the server's record.
        public func record(_ request: Request) { log.add(request) }

        // MARK: Internal

        enum Event {
            case gate
            case hangup
            case nothing
        }

        /// Waits for the gate, the client's leaving, or the time.
        func wait(for gate: Gate?, milliseconds: Int32) -> Event {
            let socket = self.socket
            guard socket >= 0 else { return .hangup }
            var descriptors = [
                pollfd(fd: socket, events: Self.remoteHangup, revents: 0),
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

        /// Puts bytes back that were read too far.
        func unread(_ bytes: ArraySlice<UInt8>) {
            state.withLock { $0.buffer = Array(bytes) + $0.buffer }
        }

        /// Makes all that blocks on the connection return; from any thread.
        func interrupt() {
            state.withLock { state in
                if state.socket >= 0 { _ = Glibc.shutdown(state.socket, Int32(SHUT_RDWR)) }
            }
        }

        private func receive(_ limit: Int) -> [UInt8]? {
            let socket = self.socket
            guard socket >= 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: limit)
            let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            if count <= 0 {
                noteHangup()
                return nil
            }
            bytes.removeLast(limit - count)
            return bytes
        }

        private func noteHangup() {
            log.addHangup(of: id)
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
