import CSandboxEvents
import Glibc
import Locking

/// A listening socket with its event loop on a thread of its own.
final class SocketServer: Sendable {
    let port: Int
    private let wake: Int32
    private let thread: Locked<pthread_t?>

    /// Listens and serves from now on.
    init(
        _ address: Sockets.Address,
        handler: SandboxHandler
    ) throws(SandboxError) {
        Sockets.raiseDescriptorLimit()
        let (listener, port) = try Sockets.listen(address)
        self.port = port
        wake = sandbox_eventfd_create()
        let work = Work(listener: listener, wake: wake, handler: handler)
        var created = pthread_t()
        let result = unsafe pthread_create(
            &created,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let work = unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                var loop = EventLoop(listener: work.listener, wake: work.wake, handler: work.handler)
                loop.run()
                return nil
            },
            Unmanaged.passRetained(work).toOpaque()
        )
        guard result == 0 else { throw SandboxError(.cannotListen, "cannot start a thread: error \(result)") }
        thread = Locked(created)
    }

    /// Ends every connection and waits until the thread has gone; the second call does nothing.
    func stop() {
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let running else { return }
        var one: UInt64 = 1
        _ = unsafe write(wake, &one, 8)
        pthread_join(running, nil)
    }

    deinit {
        stop()
    }

    /// What the thread needs, handed over once.
    private final class Work: Sendable {
        let listener: Int32
        let wake: Int32
        let handler: SandboxHandler

        init(listener: Int32, wake: Int32, handler: SandboxHandler) {
            self.listener = listener
            self.wake = wake
            self.handler = handler
        }
    }
}
