import Glibc
import HTTPRecovery
import Testing

@testable import CommandLineSupport

@Suite("What people read")
struct TextTests {
    @Test(arguments: [
        (Duration.zero, "0 s"), (.milliseconds(1), "0.1 s"), (.milliseconds(400), "0.4 s"), (.seconds(2), "2 s"),
        (.milliseconds(9949), "10 s"), (.milliseconds(12_001), "13 s"), (.seconds(60), "1 min"),
        (.seconds(125), "2 min 5 s"), (.seconds(3600), "1 h"), (.seconds(3601), "1 h 1 min"),
        (.seconds(200_000), "3 days"), (.seconds(-5), "0 s"),
    ])
    func durations(duration: Duration, text: String) {
        #expect(HumanTime.text(duration) == text)
    }

    /// RFC 4648, section 10; padding may be missing.
    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
        ("Zm9vYmFy", "foobar"), ("Zm9vYg", "foob"), ("Zm9v\n", nil), ("Z", nil), ("Zm=v", nil), ("Zm9_", nil),
    ])
    func base64(text: String, bytes: String?) {
        #expect(Base64.decode(text.utf8) == bytes.map { Array($0.utf8) })
        if let bytes, text.utf8.count % 4 == 0 { #expect(Base64.encode(Array(bytes.utf8)) == text) }
    }

    @Test func aDurationBeyondAllBoundsIsATextToo() {
        #expect(HumanTime.text(.longest).hasSuffix(" days"))
        #expect(!HumanTime.clock(Timestamp(sinceEpoch: .longest), now: .system()).isEmpty)
    }

    @Test(arguments: [
        ("ada@example.com", "a***@e***.com"), ("a***@example.com", "a***@example.com"), ("+4930123456", "***56"),
        ("+49 xxx 56", "+49 xxx 56"), ("12", "***"), ("xaver@x.org", "x***@x***.org"), ("b@localhost", "b***@l***"),
    ])
    func destinationsAreMasked(text: String, masked: String) {
        #expect(Masking.destination(text) == masked)
    }

    @Test func aServerCannotSteerTheTerminal() {
        #expect(Masking.printable("a\u{1B}[2Jb\r\nc\u{202E}d") == "a [2Jb c d")
        #expect(Masking.printable(String(repeating: "x", count: 1000)).count == 500)
    }

    @Test func aFailureIsToldWithWhatCanBeDoneAndWhen() {
        var error = RecoveryError(
            outcome: Outcome(.rateLimited, retryAfter: .seconds(300), status: 429),
            reason: .waitExceedsLimit
        )
        error.retryAfter = .seconds(300)
        let now = Timestamp(secondsSinceEpoch: 1_893_456_000)
        error.retryAt = now.advanced(by: .seconds(300))
        let lines = FailureText.lines(error, request: "GET http://h/", now: now)
        #expect(lines[0].hasPrefix("GET http://h/: HTTP 429. There were too many requests."))
        #expect(lines[1] == "Not tried again: the wait is longer than allowed.")
        #expect(lines[2].hasSuffix("in 5 min."))
        #expect(lines[3] == "--max-wait sets the longest wait.")
    }

    @Test(arguments: [
        History.StopReason.methodNotIdempotent, .budgetExhausted, .deadlineWouldPass, .attemptsExhausted,
        .bodyNotReplayable,
        .tooManyRedirects, .redirectRefused, .redirectInvalid, .notRecoverable, .responseDelivered,
    ])
    func everyReasonHasAText(reason: History.StopReason) {
        var outcome = Outcome(.transport)
        outcome.transportError = TransportError(.connectionLost, .unknown, message: "reset")
        let lines = FailureText.lines(
            RecoveryError(outcome: outcome, reason: reason),
            request: "GET http://h/",
            now: .system()
        )
        #expect(lines[0] == "GET http://h/: the connection was lost before an answer came (reset).")
        #expect(lines.allSatisfy { !$0.isEmpty && !$0.contains("_") })
    }

    /// Another authority helps where none is known, and not where the key is another.
    @Test(arguments: [
        ("SSL public key does not match pinned public key", "--pinnedpubkey says which keys are accepted."),
        ("unable to get local issuer certificate", "--cacert FILE trusts another authority."),
    ])
    func aCertificateThatIsRejected(message: String, advice: String) {
        var outcome = Outcome(.transport)
        outcome.transportError = TransportError(.certificateRejected, .neverSent, message: message)
        let error = RecoveryError(outcome: outcome, reason: .notRecoverable)
        #expect(FailureText.lines(error, request: "GET https://h/", now: .system()).last == advice)
    }

    @Test func theStatusLineCountsDown() {
        let now = TimeSource.Instant(sinceStart: .seconds(10))
        let waiting = Progress.Activity.waiting(reason: .accountLocked, until: now.advanced(by: .milliseconds(61_200)))
        let sending = Progress.Activity.sending(attempt: 2, since: .init(sinceStart: .seconds(7)))
        let clock = { (_: TimeSource.Instant) in "12:04:05" }
        #expect(
            Progress.line([waiting], done: 0, of: 1, now: now, clock: clock)
                == "account locked: 1 min 2 s left, until 12:04:05"
        )
        #expect(
            Progress.line([sending], done: 0, of: 1, now: now, clock: clock) == "attempt 2: no answer yet, 3 s"
        )
        #expect(
            Progress.line([waiting, sending, waiting], done: 4, of: 9, now: now, clock: clock)
                == "4 of 9 done · 1 running · 2 waiting, the next until 12:04:05, 62 s left"
        )
        #expect(Progress.line([], done: 0, of: 1, now: now, clock: clock) == nil)
    }

    @Test func theStatusLineTellsHowMuchHasPassed() {
        let now = TimeSource.Instant(sinceStart: .seconds(10))
        let sending = Progress.Activity.sending(attempt: 1, since: .init(sinceStart: .seconds(7)))
        let receiving = Progress.Activity.receiving(since: .init(sinceStart: .seconds(8)))
        func line(_ activity: Progress.Activity, _ transfer: MessageBody.Progress?) -> String? {
            Progress.line([activity], transfer, done: 0, of: 1, now: now) { _ in "" }
        }
        #expect(
            line(sending, .init(byteCount: 1 << 20, length: 10 << 20)) == "attempt 1: 1 MiB of 10 MiB (10 %) sent, 3 s"
        )
        #expect(line(sending, .init(byteCount: 1 << 20)) == "attempt 1: 1 MiB sent, 3 s")
        #expect(line(sending, .init(byteCount: 10, length: 10)) == "attempt 1: no answer yet, 3 s")
        #expect(line(receiving, .init(byteCount: 812)) == "receiving the answer, 812 B, 2 s")
        #expect(line(receiving, nil) == "receiving the answer, 2 s")
    }

    @Test(arguments: [
        (-1, "0 B"), (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (1_048_575, "1023 KiB"),
        (1_048_576, "1 MiB"), (5_000_000, "4.7 MiB"), (125_829_120, "120 MiB"), (1 << 40, "1 TiB"),
        (Int.max, "8388607 TiB"),
    ])
    func anAmountIsCutAndNotRounded(count: Int, text: String) {
        #expect(HumanSize.text(count) == text)
    }
}

@Suite("Files appear when they are complete")
struct AtomicFileTests {
    private static func bytes(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }

    @Test func andNotBefore() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/file"
            let file = try AtomicFile(path)
            try file.write(Self.bytes("first "))
            #expect(contents(of: path).isEmpty)
            #expect(try file.restart())
            try file.write(Self.bytes("second"))
            try file.commit()
            #expect(contents(of: path) == "second")
            #expect(names(in: directory) == ["file"])
        }
    }

    @Test func whatWasThereStaysUntilThenWithItsMode() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/file"
            let old = try AtomicFile(path, mode: 0o600)
            try old.write(Self.bytes("old"))
            try old.commit()
            do {
                let new = try AtomicFile(path)
                try new.write(Self.bytes("never finished"))
            }
            #expect(contents(of: path) == "old")
            #expect(names(in: directory) == ["file"])
            let new = try AtomicFile(path)
            try new.write(Self.bytes("new"))
            try new.commit()
            #expect(contents(of: path) == "new")
            var status = stat()
            #expect(unsafe stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test func aLinkStaysALink() async throws {
        try await withTemporaryDirectory { directory in
            let target = directory + "/target"
            let link = directory + "/link"
            let old = try AtomicFile(target)
            try old.commit()
            #expect(unsafe symlink(target, link) == 0)
            let file = try AtomicFile(link)
            try file.write(Self.bytes("through"))
            try file.commit()
            #expect(contents(of: target) == "through")
            var status = stat()
            #expect(unsafe lstat(link, &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFLNK)
        }
    }

    @Test func devicesAreWrittenTo() throws {
        let file = try AtomicFile("/dev/null")
        try file.write(Self.bytes("gone"))
        try file.commit()
        #expect(throws: FileError.self) { try AtomicFile("/tmp") }
        #expect(throws: FileError.self) { try AtomicFile("/nonexistent/file") }
    }
}
