import Testing

/// What the sources say is what is checked: whoever needs one of these takes the one that is there.
@Suite("Once each")
struct OnceEach {
    @Test(
        arguments: [
            ("pthread_create(", "HTTPRecovery/Support/SystemThread.swift"),
            ("pthread_sigmask(", "HTTPRecovery/Support/SystemThread.swift"),
            ("pthread_mutex_init(", "HTTPRecovery/Support/Guarded.swift"),
            ("clock_gettime(", "HTTPRecovery/Time/SystemClock.swift"),
            ("mkdir(", "HTTPRecovery/Support/Directory.swift"),
            ("rename(", "AuthRecovery/Tokens/PrivateFile.swift"),
            ("0123456789abcdef", "HTTPRecovery/Support/Hexadecimal.swift"),
            ("0123456789ABCDEF", "HTTPRecovery/Support/PercentEncoding.swift"),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "HTTPRecovery/Support/Base64.swift"),
            ("repeating: \"0\"", "HTTPRecovery/Support/DecimalNumber.swift"),
            ("subtractingReportingOverflow(", "HTTPRecovery/Support/Saturating.swift"),
        ]
    )
    func itStandsInOnePlace(text: String, place: String) throws {
        // A sandbox stands for other people's servers and shares nothing with what it tries.
        let library = try LibrarySources.all().filter { !$0.path.hasPrefix("AuthSandbox/") }
        #expect(library.filter { $0.text.contains(text) }.map(\.path) == [place])
    }
}
