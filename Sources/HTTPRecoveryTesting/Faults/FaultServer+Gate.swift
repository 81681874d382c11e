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

        /// Lets all pass, now and later.
        public func open() {
            var byte: UInt8 = 1
            _ = unsafe write(writer, &byte, 1)
        }
    }
}
