import Glibc
import HTTPRecovery

extension FaultServer {
    /// The server proper; its threads hold it, so that the public object's end can stop them.
    final class Core: Sendable {
        let log = ServerLog()
        private let plan: @Sendable (Int) -> Plan
        private let reply: @Sendable (Request) -> Reply
        private let state: Locked<State>
        /// Opened when the public object is gone.
        let retired = Gate()

        private struct State {
            var listener: Int32
            var isStopped = false
            var open: [Int: Connection] = [:]
        }

        init(
            listener: Int32,
            plan: @escaping @Sendable (Int) -> Plan,
            reply: @escaping @Sendable (Request) -> Reply
        ) {
            self.state = Locked(State(listener: listener))
            self.plan = plan
            self.reply = reply
        }

        func stop() {
            let open = state.withLock { state in
                state.isStopped = true
                // Makes the accept return; the accepting thread closes the socket.
                if state.listener >= 0 { _ = Glibc.shutdown(state.listener, Int32(SHUT_RDWR)) }
                return Array(state.open.values)
            }
            for connection in open { connection.interrupt() }
        }

        func acceptConnections() {
            let listener = state.withLock { $0.listener }
            while waitForClient(listener) {
                let socket = accept(listener, nil, nil)
                if socket < 0, errno == EINTR || errno == ECONNABORTED { continue }
                if socket < 0 { break }
                _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
                var one: Int32 = 1
                _ = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
                let connection = Connection(id: log.addConnection(), socket: socket, log: log)
                let isStopped = state.withLock { state in
                    state.open[connection.id] = connection
                    return state.isStopped
                }
                let isRunning =
                    !isStopped
                    && SystemThread.run {
                        self.serve(connection)
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

        private func serve(_ connection: Connection) {
            switch plan(connection.id).choice {
            case .serve(let gate): serveRequests(connection, bodyGate: gate)
            case .serveHeads:
                var reader = RequestReader(connection: connection)
                while let request = reader.head() {
                    connection.record(request)
                    guard perform(reply(request), on: connection) else { return }
                }
            case .end(let count, let byReset):
                if count > 0 { _ = connection.read(exactly: count) }
                if byReset { connection.reset() } else { connection.close() }
            case .stall: connection.waitForHangup()
            case .raw(let body): body(connection)
            }
        }

        private func serveRequests(_ connection: Connection, bodyGate: Gate?) {
            var reader = RequestReader(connection: connection)
            while let head = reader.head() {
                if let bodyGate, connection.wait(for: bodyGate, milliseconds: -1) != .gate { return }
                guard let request = reader.body(of: head) else { return }
                // Decided first, so that a test that has seen the request can rely on the reply's state.
                let reply = reply(request)
                connection.record(request)
                guard perform(reply, on: connection) else { return }
            }
        }

        /// Carries out the steps; false when the connection is at its end.
        private func perform(_ reply: Reply, on connection: Connection) -> Bool {
            for step in reply.steps {
                switch step.kind {
                case .send:
                    guard connection.write(step.bytes) else { return false }
                case .trickle:
                    for byte in step.bytes {
                        guard connection.write([byte]) else { return false }
                        if connection.wait(for: nil, milliseconds: step.milliseconds) == .hangup { return false }
                    }
                case .repeatUntilHangup:
                    while connection.write(step.bytes) {}
                    return false
                case .wait:
                    guard connection.wait(for: step.gate, milliseconds: -1) == .gate else { return false }
                case .open: step.gate?.open()
                case .hold:
                    connection.waitForHangup()
                    return false
                case .close:
                    connection.close()
                    return false
                case .reset:
                    connection.reset()
                    return false
                }
            }
            return true
        }
    }
}
