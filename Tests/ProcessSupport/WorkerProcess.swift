import HTTPRecovery

#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// A program of this package that a test runs, and may kill.
package final class WorkerProcess: Sendable {
    /// How it ended.
    package enum End: Sendable, Equatable {
        case exited(Int32)
        case killed(Int32)
    }

    private struct State {
        var lines: [String] = []
        var rest: [UInt8] = []
    }

    package let id: pid_t
    private let output: Int32
    private let state = Locked(State())
    private let end = Flight<End>()

    /// Starts a program that lies beside the tests'.
    package init(_ name: String, _ arguments: [String]) throws {
        var pipes: [Int32] = [0, 0]
        guard unsafe pipe(&pipes) == 0 else { throw SharedState.StoreError("no pipe: \(errno)") }
        for descriptor in pipes { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO)
        unsafe InheritedFiles.close(in: &actions)
        let path = "\(Self.directory)/\(name)"
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
        var id: pid_t = 0
        let status = unsafe posix_spawn(&id, path, &actions, nil, pointers, environ)
        close(pipes[1])
        guard status == 0 else {
            close(pipes[0])
            throw SharedState.StoreError("\(path) cannot be started: \(status)")
        }
        self.id = id
        output = pipes[0]
        // Its own thread: it blocks until the process is gone.
        guard SystemThread.run({ self.readToEnd() }) else { throw SharedState.StoreError("no thread") }
    }

    private static var directory: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) {
                unsafe readlink("/proc/self/exe", $0.baseAddress!, $0.count)
            }
        }
        let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// The lines that it has printed so far, whole ones only.
    package var lines: [String] { state.withLock { $0.lines } }

    /// Ends it in the middle of whatever it does.
    package func kill() {
        _ = Self.send(SIGKILL, to: id)
    }

    /// Waits for its end; when this returns, all that it printed has been read.
    @discardableResult
    package func wait() async throws -> End {
        try await end.value
    }

    private static func send(_ signal: Int32, to id: pid_t) -> Int32 {
        systemKill(id, signal)
    }

    private func readToEnd() {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            state.withLock { state in
                state.rest += buffer[..<count]
                while let line = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
                    state.lines.append(String(decoding: state.rest[..<line], as: UTF8.self))
                    state.rest.removeSubrange(...line)
                }
            }
        }
        close(output)
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        end.land(.success(signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal)))
    }
}

private func systemKill(_ id: pid_t, _ signal: Int32) -> Int32 { kill(id, signal) }
