import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A child process with its standard output on a pipe, and its standard input if that is wanted.
struct Program: Sendable {
    private let identifier: pid_t
    private let output: Int32
    private let input: Int32

    static func isAvailable(_ name: String) -> Bool {
        (try? Program(name, ["--help"]))?.waitForExit() != nil
    }

    init(_ name: String, _ arguments: [String], hasInput: Bool = false) throws {
        var ends: [Int32] = [-1, -1]
        var inputEnds: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0, unsafe !hasInput || pipe(&inputEnds) == 0 else {
            throw TLSFront.Failure(what: "no pipe")
        }
        for end in ends + inputEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        if hasInput { unsafe posix_spawn_file_actions_adddup2(&actions, inputEnds[0], 0) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        unsafe InheritedFiles.close(in: &actions)
        var pointers = unsafe ([name] + arguments).map { unsafe strdup($0) } + [nil]
        var identifier: pid_t = 0
        let result = unsafe posix_spawnp(&identifier, name, &actions, nil, &pointers, environ)
        for index in unsafe pointers.indices { unsafe free(pointers[index]) }
        unsafe posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        close(inputEnds[0])
        (output, input) = (ends[0], inputEnds[1])
        guard result == 0 else {
            close(output)
            close(input)
            throw TLSFront.Failure(what: "\(name) does not start")
        }
        self.identifier = identifier
    }

    /// Runs what waits for programs on a thread of its own: the concurrency pool has few, and all tests need them.
    package static func waiting<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            _ = SystemThread.run { continuation.resume(with: Result { try body() }) }
        }
    }

    func readLine() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    func write(line: String) {
        let bytes = Array(line.utf8) + [10]
        _ = unsafe bytes.withUnsafeBytes { unsafe systemWrite(input, $0.baseAddress, $0.count) }
    }

    /// The exit status.
    @discardableResult
    func waitForExit() -> Int32 {
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1 {}
        var status: Int32 = 0
        _ = unsafe waitpid(identifier, &status, 0)
        close(output)
        close(input)
        return status
    }

    func end() {
        // The child inherits the blocked signals of a dispatch thread; this one cannot be blocked.
        kill(identifier, SIGKILL)
        waitForExit()
    }
}

// The C function under a name that the one above does not hide.
private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, buffer, count)
}
