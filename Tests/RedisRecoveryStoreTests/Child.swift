#if Redis
import Glibc
import HTTPRecovery
import ProcessSupport

/// A child process with pipes on standard input and output; other children do not inherit them.
final class Child: Sendable {
    let identifier: pid_t
    private let input: Int32
    private let output: Int32
    private let status = Locked<Int32?>(nil)

    init(_ name: String, _ arguments: [String]) throws {
        // One at a time, so that no other child inherits an end of a pipe before it is marked.
        (identifier, input, output) = try Self.spawning.withLock { _ in try Self.spawn(name, arguments) }
    }

    // No `()`: see `Locked`.
    private static let spawning = Locked(false)

    private static func spawn(_ name: String, _ arguments: [String]) throws -> (pid_t, Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        var others: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0, unsafe pipe(&others) == 0 else {
            throw RedisServer.Failure(what: "no pipe")
        }
        for end in ends + others { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, others[1], 1)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        unsafe InheritedFiles.close(in: &actions)
        var pointers = unsafe ([name] + arguments).map { unsafe strdup($0) } + [nil]
        var identifier: pid_t = 0
        let result = unsafe posix_spawnp(&identifier, name, &actions, nil, &pointers, environ)
        for index in unsafe pointers.indices { unsafe free(pointers[index]) }
        unsafe posix_spawn_file_actions_destroy(&actions)
        close(ends[0])
        close(others[1])
        guard result == 0 else {
            close(ends[1])
            close(others[0])
            throw RedisServer.Failure(what: "\(name) does not start")
        }
        return (identifier, ends[1], others[0])
    }

    deinit {
        end()
        close(input)
        close(output)
    }

    /// Whether it has ended by itself.
    func hasExited() -> Bool {
        status.withLock { status in
            if status != nil { return true }
            var result: Int32 = 0
            guard unsafe waitpid(identifier, &result, WNOHANG) == identifier else { return false }
            status = result
            return true
        }
    }

    /// Waits for its end without holding up other tasks.
    ///
    /// - Returns: The status as `waitpid` gives it.
    func exit() async throws -> Int32 {
        while !hasExited() { try await Task.sleep(for: .milliseconds(5)) }
        return waitForExit()
    }

    /// Waits for its end; the result is its status as `waitpid` gives it.
    @discardableResult
    func waitForExit() -> Int32 {
        status.withLock { present in
            if let present { return present }
            var result: Int32 = 0
            while unsafe waitpid(identifier, &result, 0) < 0, errno == EINTR {}
            present = result
            return result
        }
    }

    /// Kills it, unless it has ended.
    func end() {
        guard !hasExited() else { return }
        // It inherits the blocked signals of its maker; this one cannot be blocked.
        kill(identifier, SIGKILL)
        waitForExit()
    }
}
#endif
