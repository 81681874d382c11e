import Glibc

extension FaultServer {
    /// Holds a server back until a test opens it.
    public final class Gate: Sendable {
        // A pipe: never read, so once written it stays readable for everybody.
        let descriptor: Int32
        private let writer: Int32

        /// Creates a closed gate.
        public init() {
            var ends: [Int32] = [-1, -1]
            // The array has room for both descriptors. Without descriptors the gate never opens, and tests say so.
            _ = unsafe pipe(&ends)
            for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (descriptor, writer) = (ends[0], ends[1])
        }

        deinit {
            close(descriptor)
            close(writer)
        }

        /// Waits until it is open, or for so long.
        package func wait(milliseconds: Int32 = -1) {
            var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
            while unsafe poll(&descriptors, 1, milliseconds) < 0, errno == EINTR {}
        }

        /// Waits until something can be done with a socket; false when the time is over, or this is open.
        package func wait(for socket: Int32, _ events: Int16, milliseconds: Int32) -> Bool {
            var descriptors = [
                pollfd(fd: socket, events: events, revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&descriptors, 2, milliseconds)
            // A signal ends no wait: the socket says itself that there is nothing.
            return count > 0 ? descriptors[1].revents == 0 : count < 0 && errno == EINTR
        }

        /// Lets all pass, now and later.
        public func open() {
            var byte: UInt8 = 1
            _ = unsafe write(writer, &byte, 1)
        }
    }
}
