import Glibc

/// Opens pages for the person.
public enum Browser {
    /// Asks the person's browser to show a page: the program of `BROWSER`, or `xdg-open` on a desktop.
    ///
    /// - Returns: Whether a program was started; what it shows nobody knows.
    public static func open(_ url: String) -> Bool {
        if let program = Environment.text("BROWSER") { return start(program, url) }
        let hasDesktop = Environment.text("DISPLAY") != nil || Environment.text("WAYLAND_DISPLAY") != nil
        return hasDesktop && start("xdg-open", url)
    }

    /// Starts a program with a URL as its argument, without a shell in between, and without this program's screen.
    private static func start(_ program: String, _ url: String) -> Bool {
        // The URL is an argument: it must be none of the program's options.
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else { return false }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Ctrl-C ends this program and not the browser.
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        var process = pid_t()
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup(program), strdup(url), nil]
        // The C copies of the arguments live until the program has been started.
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        return unsafe posix_spawnp(&process, program, &actions, &attributes, &arguments, environ) == 0
    }
}
