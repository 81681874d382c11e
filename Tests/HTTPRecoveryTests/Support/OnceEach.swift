import Testing

/// What the sources say is what is checked: whoever needs one of these takes the one that is there.
@Suite("Once each")
struct OnceEach {
    @Test(
        arguments: [
            ("pthread_create(", "HTTPRecovery/Support/SystemThread.swift"),
            ("pthread_sigmask(", "HTTPRecovery/Support/SystemThread.swift"),
            ("pthread_mutex_init(", "HTTPRecovery/Support/UnsafeMutablePointer+Mutex.swift"),
            ("clock_gettime(", "HTTPRecovery/Time/SystemClock.swift"),
            ("mkdir(", "HTTPRecovery/Support/Directory.swift"),
            ("rename(", "AuthRecovery/Tokens/PrivateFile.swift"),
            ("0123456789abcdef", "HTTPRecovery/Support/Hexadecimal.swift"),
            ("\"0123456789ABCDEF\"", "HTTPRecovery/Support/PercentEncoding.swift"),
            ("abcdefghijklmnopqrstuvwxyz0123456789", "HTTPRecovery/Support/Base64.swift"),
            ("repeating: \"0\"", "HTTPRecovery/Support/DecimalNumber.swift"),
            ("subtractingReportingOverflow(", "HTTPRecovery/Support/Saturating.swift"),
        ]
    )
    func itStandsInOnePlace(text: String, place: String) throws {
        let places = try LibrarySources.all().filter { $0.text.contains(text) }.map(\.path)
        #expect(places.filter { !Self.others.contains([$0, text]) } == [place])
    }

    /// What looks like one of these and is none: a number that is too large on purpose.
    private static let others: Set<[String]> = [
        ["AuthSandbox/World/FaultRendering.swift", "repeating: \"0\""]
    ]
}
