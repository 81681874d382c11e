import Dispatch
import Glibc
import Testing

/// A built program of this package, running.
struct BuiltProgram: Sendable {
    /// How it ended and what it wrote.
    struct End: Sendable {
        var status: Int32
        var output: String
        var errors: String
    }

    private let process: pid_t
    private let directory: String

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - name: Its name; with a slash in front, the path of a program of the system.
    ///   - arguments: Its arguments.
    ///   - directory: Where its output goes, as the files `out` and `err`.
    ///   - input: Its standard input; nil for one that stays open and silent.
    ///   - closed: The standard descriptors that it begins without.
    ///   - environment: What its environment holds beside that of the tests.
    init(
        _ name: String,
        _ arguments: [String],
        in directory: String,
        input: String? = "",
        closed: [Int32] = [],
        environment: [String: String] = [:]
    ) throws {
        self.directory = directory
        if let input {
            try write(input, to: directory + "/in")
        } else {
            try #require(unsafe mkfifo(directory + "/in", 0o600) == 0)
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 0, directory + "/in", input == nil ? O_RDWR : O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, directory + "/out", flags, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, directory + "/err", flags, 0o600)
        for descriptor in closed { unsafe posix_spawn_file_actions_addclose(&actions, descriptor) }
        let path = name.hasPrefix("/") ? name : Self.products + "/" + name
        // The C copies of the arguments live until the program has been started.
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe strings.indices { unsafe free(strings[index]) } }
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe Self.variables(adding: environment, stateIn: directory)
        defer { for index in unsafe variables.indices { unsafe free(variables[index]) } }
        var process = pid_t()
        let code = unsafe posix_spawn(&process, path, &actions, nil, &strings, &variables)
        try #require(code == 0, "\(path) cannot be started")
        self.process = process
    }

    /// Copies of the variables of this process and of more, as C wants them.
    ///
    /// What a program keeps by itself belongs to its test alone, and what it is set up with.
    static func variables(
        adding more: [String: String],
        stateIn directory: String
    ) -> [UnsafeMutablePointer<CChar>?] {
        let more = more.merging(["XDG_STATE_HOME": directory, "XDG_CONFIG_HOME": directory]) { named, _ in named }
        var all: [UnsafeMutablePointer<CChar>?] = unsafe []
        // The list belongs to the system and ends with a null pointer; nothing here changes it.
        var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = unsafe environ
        while let variable = unsafe next.pointee {
            let text = unsafe String(cString: variable)
            if !more.keys.contains(where: { text.hasPrefix("\($0)=") }) { unsafe all.append(strdup(variable)) }
            unsafe next = unsafe next.successor()
        }
        for (name, value) in more { unsafe all.append(strdup("\(name)=\(value)")) }
        return unsafe all + [nil]
    }

    /// Sends a signal.
    func signal(_ number: Int32) {
        kill(process, number)
    }

    /// What it has written to standard output until now.
    var output: String { contents(of: directory + "/out") }

    /// Runs a program to its end.
    static func run(_ name: String, _ arguments: [String], input: String = "") async throws -> End {
        var end: End?
        try await withTemporaryDirectory { end = try await BuiltProgram(name, arguments, in: $0, input: input).end() }
        return try #require(end)
    }

    /// Makes a program of a script.
    ///
    /// By another process: what this one has open for writing, a process that starts at the same moment has too, and the system
    /// runs no program that somebody may be writing.
    static func make(_ script: String, at path: String) async throws {
        let end = try await run("/bin/sh", ["-c", #"cat > "$1" && chmod 700 "$1""#, "sh", path], input: script)
        try #require(end.status == 0, "\(end.errors)")
    }

    /// Waits for the end.
    func end() async -> End {
        let status = await exitStatus()
        return End(
            status: status,
            output: contents(of: directory + "/out"),
            errors: contents(of: directory + "/err")
        )
    }

    /// Waits for the end, without a look at what was written.
    func exitStatus() async -> Int32 { await Self.exitStatus(of: process) }

    /// Waits for the end of a process.
    static func exitStatus(of process: pid_t) async -> Int32 {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var status: Int32 = 0
                // The call fills the local value.
                while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f))
            }
        }
    }

    /// Where the programs are that the tests run: beside the tests, or where `EXAMPLE_PROGRAMS` says.
    ///
    /// With the variable tests that were built for debugging check release programs.
    static var products: String {
        if let named = unsafe getenv("EXAMPLE_PROGRAMS"), unsafe named.pointee != 0 {
            // The text is allocated by the C library, copied, and freed. What is not there is told when it is started.
            guard let path = unsafe realpath(named, nil) else { return unsafe String(cString: named) }
            defer { unsafe free(path) }
            return unsafe String(cString: path)
        }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    }
}

/// Runs the function with a directory that is removed afterwards.
func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
    var template = Array("/tmp/end-to-end-test-XXXXXX".utf8CString)
    // The system fills in the name.
    let path = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
        guard let base = buffer.baseAddress, unsafe mkdtemp(base) != nil else { return nil }
        return unsafe String(cString: base)
    }
    let directory = try #require(path)
    defer { removeDirectory(directory) }
    try await body(directory)
}

/// Removes a directory with all that is in it.
private func removeDirectory(_ directory: String) {
    for name in names(in: directory) {
        let path = "\(directory)/\(name)"
        if unsafe unlink(path) != 0 { removeDirectory(path) }
    }
    unsafe rmdir(directory)
}

/// The names of the files in a directory.
func names(in directory: String) -> [String] {
    guard let handle = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(handle) }
    var names: [String] = []
    while let entry = unsafe readdir(handle) {
        // The entry is valid until the next call; the name is copied.
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// The contents of a file as text; empty where there is none.
func contents(of path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(contentsOf: buffer[..<count])
    }
}

/// Writes a file.
func write(_ text: String, to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
}

/// The permissions of a file.
func permissions(of path: String) -> UInt32 {
    var status = stat()
    // The call fills the local value.
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
}
