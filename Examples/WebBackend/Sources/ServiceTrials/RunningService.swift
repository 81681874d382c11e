import Foundation
import Glibc
import Synchronization

/// A service, or any program, as a process of its own.
public final class RunningService: Sendable {
    /// Why a program cannot be tried.
    public struct NotStarted: Error, CustomStringConvertible {
        /// What was written instead of an address.
        public let description: String

        /// Says why.
        public init(description: String) {
            self.description = description
        }
    }

    /// The process.
    public let id: Int32
    /// Where it listens; empty for a program that does not say so.
    public let url: String

    private let output: ProgramOutput
    private let exits: AsyncStream<Int32>

    /// Starts a program of the same build, or one of the system, and waits until it says where it listens.
    ///
    /// - Parameters:
    ///   - program: Its name, or its path.
    ///   - arguments: Its arguments.
    ///   - environment: What it finds in its environment beside what is there.
    ///   - announces: Whether it says where it listens; false waits for nothing.
    /// - Throws: ``NotStarted`` if it ends before.
    public init(
        _ program: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        announces: Bool = true
    ) async throws {
        let directory = Bundle.main.executableURL?.deletingLastPathComponent().path ?? "."
        let path = program.hasPrefix("/") ? program : "\(directory)/\(program)"
        let (addresses, address) = AsyncStream.makeStream(of: String.self)
        let (exits, exit) = AsyncStream.makeStream(of: Int32.self)
        let output = ProgramOutput { if let found = Self.address(in: $0) { address.yield(found) } }
        let (id, pipe) = try Self.spawn(
            path,
            arguments,
            ProcessInfo.processInfo.environment.merging(environment) { $1 }
        )
        (self.id, self.output, self.exits) = (id, output, exits)
        // Its own thread: it blocks until the process is gone.
        Thread.detachNewThread {
            output.read(from: pipe)
            address.finish()
            var status: Int32 = 0
            while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            exit.yield(signal == 0 ? (status >> 8) & 0xFF : -signal)
            exit.finish()
        }
        guard announces else {
            url = ""
            return
        }
        var found: String?
        for await url in addresses {
            found = url
            break
        }
        guard let found else { throw NotStarted(description: "\(program): \(output.lines.joined(separator: "\n"))") }
        url = found
    }

    /// Whether this machine has an address of its own in IPv6, `::1`.
    public static var hasIPv6: Bool {
        let addresses = try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8)
        return addresses?.contains("00000000000000000000000000000001") ?? false
    }

    /// The last thousand lines that it has written.
    public var lines: [String] { output.lines }

    /// The memory that it has, in bytes; nil if it has ended.
    public var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]), pages > 0 else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Sends it a signal.
    public func send(_ signal: Int32) {
        kill(id, signal)
    }

    /// Waits for its end, and until all that it has written is among its lines; only one may wait.
    ///
    /// - Returns: Its exit status, or the signal that has ended it, below zero; nil for a second one who asks.
    public func exit() async -> Int32? {
        for await status in exits { return status }
        return nil
    }

    deinit {
        kill(id, SIGKILL)
    }

    /// One at a time, so that no other program inherits an end of a pipe before it is marked: it then had no end.
    private static let spawning = Mutex(())

    private static func spawn(
        _ path: String,
        _ arguments: [String],
        _ environment: [String: String]
    ) throws -> (id: pid_t, output: Int32) {
        try spawning.withLock { _ in
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { throw NotStarted(description: "no pipe") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            var actions = unsafe posix_spawn_file_actions_t()
            unsafe posix_spawn_file_actions_init(&actions)
            defer { unsafe posix_spawn_file_actions_destroy(&actions) }
            for stream in [STDOUT_FILENO, STDERR_FILENO] {
                unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], stream)
            }
            // The concurrency runtime's threads block all signals, which a program would inherit.
            var attributes = posix_spawnattr_t()
            unsafe posix_spawnattr_init(&attributes)
            defer { unsafe posix_spawnattr_destroy(&attributes) }
            var none = sigset_t()
            unsafe sigemptyset(&none)
            unsafe posix_spawnattr_setsigmask(&attributes, &none)
            unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
            var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
            var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
            defer {
                for index in unsafe words.indices { unsafe free(words[index]) }
                for index in unsafe variables.indices { unsafe free(variables[index]) }
            }
            var id: pid_t = 0
            let status = unsafe posix_spawn(&id, path, &actions, &attributes, &words, &variables)
            close(ends[1])
            guard status == 0 else {
                close(ends[0])
                throw NotStarted(description: "\(path) cannot be started: \(status)")
            }
            return (id, ends[0])
        }
    }

    /// The address in a line that tells it.
    private static func address(in line: String) -> String? {
        guard line.contains("istening"), let start = line.range(of: "http://") else { return nil }
        return String(line[start.lowerBound...].prefix { $0 != "\"" })
    }
}
