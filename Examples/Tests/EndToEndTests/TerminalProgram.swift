import Dispatch
import Glibc
import Locking
import Testing

/// A built program of this package with a person at its terminal.
struct TerminalProgram: Sendable {
    /// `POSIX_SPAWN_SETSID`, which Swift does not see.
    private static let newSession: Int16 = 0x80

    private let process: pid_t
    private let master: Int32
    private let directory: String
    private let seen = Locked<[UInt8]>([])
    private let hasSeenAll = Locked(false)

    /// Starts a program whose input and errors are a terminal; its output goes to the file `out` in the directory.
    ///
    /// - Parameters:
    ///   - name: A program of this package, or the path of another.
    ///   - arguments: Its arguments.
    ///   - directory: Where its output goes.
    ///   - environment: What its environment holds beside.
    ///   - showsOutput: Whether the output goes to the terminal too, as a person has it.
    init(
        _ name: String,
        _ arguments: [String],
        in directory: String,
        environment: [String: String] = [:],
        showsOutput: Bool = false
    ) throws {
        self.directory = directory
        // The calls of the C library for this are not there in Swift; these are what they do.
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (lock, number) = (Int32(0), UInt32(0))
        let (unlock, ask) = (UInt(0x4004_5431), UInt(0x8004_5430))
        // Both read or fill the local values.
        try #require(unsafe ioctl(master, unlock, &lock) == 0)
        try #require(unsafe ioctl(master, ask, &number) == 0)
        let slave = "/dev/pts/\(number)"
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // In a session of its own what it opens first becomes its terminal, so that Ctrl-C there reaches it.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setflags(&attributes, Self.newSession)
        unsafe posix_spawn_file_actions_addopen(&actions, 0, slave, O_RDWR, 0)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        if showsOutput {
            unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 1, directory + "/out", flags, 0o600)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
        unsafe posix_spawn_file_actions_addclose(&actions, master)
        let path = name.hasPrefix("/") ? name : BuiltProgram.products + "/" + name
        // The C copies of the arguments live until the program has been started.
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe strings.indices { unsafe free(strings[index]) } }
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe BuiltProgram.variables(
            adding: environment,
            stateIn: directory
        )
        defer { for index in unsafe variables.indices { unsafe free(variables[index]) } }
        var process = pid_t()
        let code = unsafe posix_spawn(&process, path, &actions, &attributes, &strings, &variables)
        try #require(code == 0, "\(path) cannot be started")
        self.process = process
        read()
    }

    /// Reads the screen until the program is gone.
    private func read() {
        let (master, seen, hasSeenAll) = (master, seen, hasSeenAll)
        DispatchQueue.global().async {
            defer { hasSeenAll.withLock { $0 = true } }
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = unsafe Glibc.read(master, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                seen.withLock { $0 += buffer[..<count] }
            }
        }
    }

    /// All that was on the screen.
    var screen: String { seen.withLock { String(decoding: $0, as: UTF8.self) } }

    /// Waits until the screen holds a text so many times.
    func sees(_ text: String, times: Int = 1) async throws {
        while screen.ranges(of: text).count < times { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Types a line.
    func type(_ line: String) { press(Array((line + "\n").utf8)) }

    /// Presses Ctrl-C.
    func interrupt() { press([3]) }

    /// Presses Ctrl-D, which at the beginning of a line ends the input.
    func endInput() { press([4]) }

    private func press(_ keys: [UInt8]) {
        _ = unsafe Glibc.write(master, keys, keys.count)
    }

    /// Whether the terminal shows what is typed; as a shell may set it while the program is stopped.
    var echoes: Bool {
        get { (settings?.c_lflag ?? 0) & tcflag_t(ECHO) != 0 }
        nonmutating set {
            guard var settings else { return }
            settings.c_lflag = newValue ? settings.c_lflag | tcflag_t(ECHO) : settings.c_lflag & ~tcflag_t(ECHO)
            // The call reads the local value.
            unsafe tcsetattr(master, TCSANOW, &settings)
        }
    }

    /// The terminal's settings, which both its ends share.
    private var settings: termios? {
        var settings = termios()
        // The call fills the local value.
        return unsafe tcgetattr(master, &settings) == 0 ? settings : nil
    }

    func signal(_ number: Int32) { kill(process, number) }

    /// Waits for the end.
    func end() async -> BuiltProgram.End {
        let status = await BuiltProgram.exitStatus(of: process)
        // What was written last may still be on its way; the terminal tells when nobody has it open any more.
        while !hasSeenAll.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) }
        close(master)
        return BuiltProgram.End(status: status, output: contents(of: directory + "/out"), errors: screen)
    }
}
