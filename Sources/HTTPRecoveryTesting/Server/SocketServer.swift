import Glibc
import HTTPRecovery

/// Listens, and serves each connection on a thread of its own.
package final class SocketServer: Sendable {
    /// Where it listens.
    package let address: SocketAddress
    let log = ServerLog()
    /// Opened when everything ends, so that what waits on a connection's thread can wait for this too.
    private let stopping = FaultServer.Gate()
    /// Opened when nobody holds what the server is for.
    let retired = FaultServer.Gate()
    /// Opened when the port is free again.
    private let ended = FaultServer.Gate()
    private let serve: @Sendable (FaultServer.Connection, FaultServer.Gate) -> Void
    private let state: Locked<State>

    private struct State {
        var listener: Int32
        var isStopped = false
        var open: [Int: FaultServer.Connection] = [:]
    }

    /// Listens and serves from now on.
    ///
    /// - Parameters:
    ///   - address: Where.
    ///   - serve: What is done with a connection, on its own thread, before the gate opens; it is closed then.
    package init(
        _ address: SocketAddress,
        serve: @escaping @Sendable (FaultServer.Connection, FaultServer.Gate) -> Void
    ) throws(SocketError) {
        Self.raiseDescriptorLimit()
        let (listener, own) = try address.listen()
        self.address = own
        self.serve = serve
        state = Locked(State(listener: listener))
        guard SystemThread.run({ self.acceptConnections(listener) }) else {
            close(listener)
            throw SocketError(number: EAGAIN)
        }
    }

    /// Ends every connection and frees the port; a second call does nothing.
    package func stop() {
        stopping.open()
        let open = state.withLock { state in
            state.isStopped = true
            // Makes the accept return; the accepting thread closes the socket.
            if state.listener >= 0 { _ = Glibc.shutdown(state.listener, Int32(SHUT_RDWR)) }
            return Array(state.open.values)
        }
        for connection in open { connection.interrupt() }
        ended.wait()
    }

    /// Ends every connection there is, and goes on.
    func hangUp() {
        for connection in state.withLock({ Array($0.open.values) }) { connection.interrupt() }
    }

    /// As many descriptors as this process may have.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(kind, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(kind, &limit)
    }

    private func acceptConnections(_ listener: Int32) {
        while waitForClient(listener) {
            var socket: Int32 = -1
            let peer = unsafe SocketAddress.read { address, length in
                socket = unsafe accept(listener, address, length)
                return socket >= 0
            }
            if socket < 0, errno == EINTR || errno == ECONNABORTED { continue }
            if socket < 0, errno == EMFILE || errno == ENFILE {
                // The clients stay in the queue for a moment.
                usleep(50_000)
                continue
            }
            if socket < 0 { break }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            SocketAddress.setOption(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
            let connection = FaultServer.Connection(
                id: log.addConnection(),
                socket: socket,
                peer: peer?.host ?? "unknown",
                server: self
            )
            let isStopped = state.withLock { state in
                state.open[connection.id] = connection
                return state.isStopped
            }
            let isRunning =
                !isStopped
                && SystemThread.run {
                    self.serve(connection, self.stopping)
                    connection.close()
                    self.state.withLock { _ = $0.open.removeValue(forKey: connection.id) }
                }
            if !isRunning {
                connection.reset()
                state.withLock { _ = $0.open.removeValue(forKey: connection.id) }
            }
        }
        state.withLock { $0.listener = -1 }
        close(listener)
        ended.open()
    }

    /// Whether to accept; false when the server is stopped, or retired for long enough.
    private func waitForClient(_ listener: Int32) -> Bool {
        var descriptors = [
            pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
            pollfd(fd: retired.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        // Two descriptors first; once retired, the listener alone and for a while.
        let count = unsafe poll(&descriptors, 2, -1)
        if count > 0, descriptors[0].revents == 0, descriptors[1].revents != 0 {
            return unsafe poll(&descriptors, 1, 10_000) != 0 && !state.withLock { $0.isStopped }
        }
        return !state.withLock { $0.isStopped }
    }
}
