import Dispatch
import Glibc
import HTTPRecovery
import Testing

/// A program of this package that a test runs.
struct RunningProgram: Sendable {
    /// How it ended and what it wrote.
    struct Result: Sendable {
        var status: Int32
        var output: String
        var errors: String
        var events: [JSONValue]

        /// The values of a field of all events of one kind.
        func all(_ event: String, _ field: String) -> [JSONValue] {
            events.filter { $0["event"]?.string == event }.compactMap { $0[field] }
        }
    }

    private let process: pid_t
    private let directory: String

    /// Starts `http-recover` with its events in a file.
    static func httpRecover(_ arguments: [String], in directory: String) throws -> RunningProgram {
        try RunningProgram("http-recover", ["--events", directory + "/events"] + arguments, in: directory)
    }

    /// Starts `http-recover replay`.
    static func replay(_ arguments: [String], in directory: String) throws -> RunningProgram {
        try RunningProgram("http-recover", ["replay"] + arguments, in: directory)
    }

    /// Runs `http-recover` to its end.
    static func httpRecover(_ arguments: String...) async throws -> Result {
        var result: Result?
        try await withTemporaryDirectory { result = try await httpRecover(arguments, in: $0).result() }
        return try #require(result)
    }

    private init(_ name: String, _ arguments: [String], in directory: String) throws {
        self.directory = directory
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, directory + "/out", flags, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, directory + "/err", flags, 0o600)
        let path = Self.products + "/" + name
        // The C copies of the arguments live until the program has been started.
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe strings.indices { unsafe free(strings[index]) } }
        var process = pid_t()
        let code = unsafe posix_spawn(&process, path, &actions, nil, &strings, environ)
        try #require(code == 0, "\(path) cannot be started")
        self.process = process
    }

    /// Sends a signal.
    func signal(_ number: Int32) {
        kill(process, number)
    }

    /// Waits until the events hold one of a kind.
    func event(_ name: String) async throws {
        while !contents(of: directory + "/events").contains("{\"event\":\"\(name)\"") {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits for the end.
    func result() async throws -> Result {
        let process = process
        let status: Int32 = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var status: Int32 = 0
                // The call fills the local value.
                while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f))
            }
        }
        let lines = contents(of: directory + "/events").split(separator: "\n")
        return Result(
            status: status,
            output: contents(of: directory + "/out"),
            errors: contents(of: directory + "/err"),
            events: try lines.map { try JSONValue(parsing: String($0)) }
        )
    }

    /// Where the programs are that the tests run: beside the tests, or where `EXAMPLE_PROGRAMS` says.
    private static var products: String {
        if let named = unsafe getenv("EXAMPLE_PROGRAMS"), unsafe named.pointee != 0 {
            return unsafe String(cString: named)
        }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    }
}
