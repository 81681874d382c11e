import CommandLineSupport
import Glibc
import HTTPRecovery
import Testing

@Suite("Events")
struct EventTests {
    private static func event(_ kind: RecoveryEvent.Kind, call: Int = 3) -> RecoveryEvent {
        RecoveryEvent(call: call, time: .init(sinceStart: .milliseconds(1234) + .microseconds(999)), kind: kind)
    }

    private static var limited: Outcome {
        var outcome = Outcome(.rateLimited, scope: .origin, processed: .no, retryAfter: .milliseconds(1500))
        outcome.code = "too_many_requests"
        return outcome
    }

    private static var locked: Outcome {
        var outcome = Outcome(.accountLocked, scope: .account, processed: .no)
        outcome.lockout = .remaining(.seconds(90))
        return outcome
    }

    private static var hostile: Outcome {
        var outcome = Outcome(.unknown)
        outcome.code = "Bearer s3cret\n\u{1B}[2J"
        return outcome
    }

    private static let until = Timestamp(sinceEpoch: .seconds(1_893_456_001) + .milliseconds(5))

    private static let lines: [(RecoveryEvent.Kind, [String])] = [
        (
            .attempt(number: 1, method: "GET", url: "https://h/a\"b", transport: "curl"),
            [#""attempt","t_ms":1234,"call":3,"n":1,"method":"GET","url":"https://h/a\"b","#, #""transport":"curl""#]
        ),
        (
            .response(number: 2, status: 429, elapsed: .milliseconds(17)),
            [#""response","t_ms":1234,"call":3,"n":2,"status":429,"elapsed_ms":17"#]
        ),
        (
            .failure(number: 2, limited),
            [
                #""failure","t_ms":1234,"call":3,"n":2,"kind":"rate_limited","#,
                #""code":"too_many_requests","scope":"origin","retry_after_s":1.5,"processed":"no""#,
            ]
        ),
        (
            .failure(number: 1, locked),
            [
                #""failure","t_ms":1234,"call":3,"n":1,"kind":"account_locked","code":null,"#,
                #""scope":"account","retry_after_s":90,"processed":"no""#,
            ]
        ),
        (
            .failure(number: 1, hostile),
            [
                #""failure","t_ms":1234,"call":3,"n":1,"kind":"unknown","code":null,"scope":"endpoint","#,
                #""retry_after_s":null,"processed":"unknown""#,
            ]
        ),
        (
            .wait(reason: .rateLimited, duration: .milliseconds(1001) + .nanoseconds(1), until: until),
            [
                #""wait","t_ms":1234,"call":3,"reason":"rate_limited","seconds":1.002,"#,
                #""until":"2030-01-01T00:00:01.005Z""#,
            ]
        ),
        (
            .line(reason: .unavailable, atMost: .seconds(300), until: until),
            [
                #""wait","t_ms":1234,"call":3,"reason":"unavailable","seconds":300,"#,
                #""until":"2030-01-01T00:00:01.005Z""#,
            ]
        ),
        (
            .retry(number: 2, reason: .unavailable),
            [#""retry","t_ms":1234,"call":3,"n":2,"reason":"unavailable""#]
        ),
        (
            .refresh(.joined),
            [#""refresh","t_ms":1234,"call":3,"outcome":"joined""#]
        ),
        (
            .clear(.session),
            [#""clear","t_ms":1234,"call":3,"credential":"session""#]
        ),
        (
            .fallback(from: "password", to: "email_code"),
            [#""fallback","t_ms":1234,"call":3,"from":"password","to":"email_code""#]
        ),
        (
            .challenge(kind: "email_code", destination: "ada@example.com"),
            [#""challenge","t_ms":1234,"call":3,"kind":"email_code","destination":"a***@e***.com""#]
        ),
        (
            .challenge(kind: "totp", destination: nil),
            [#""challenge","t_ms":1234,"call":3,"kind":"totp","destination":null"#]
        ),
        (
            .givingUp(limited, reason: .waitExceedsLimit, retryAfter: .seconds(600), until: until),
            [
                #""giving_up","t_ms":1234,"call":3,"kind":"rate_limited","reason":"wait_exceeds_limit","#,
                #""retry_after_s":600,"until":"2030-01-01T00:00:01.005Z""#,
            ]
        ),
        (
            .givingUp(hostile, reason: .notRecoverable, retryAfter: nil, until: nil),
            [
                #""giving_up","t_ms":1234,"call":3,"kind":"unknown","reason":"not_recoverable","#,
                #""retry_after_s":null,"until":null"#,
            ]
        ),
        (
            .done(.failed, attempts: 3, waited: .milliseconds(250), elapsed: .milliseconds(999)),
            [#""done","t_ms":1234,"call":3,"outcome":"failed","attempts":3,"waited_s":0.25,"#, #""elapsed_ms":999"#]
        ),
    ]

    @Test(arguments: lines.indices)
    func areExactlyTheseLines(index: Int) {
        let (kind, text) = Self.lines[index]
        #expect(EventLine.text(Self.event(kind)) == "{\"event\":" + text.joined() + "}")
    }

    @Test func timesBeyondAllBoundsAreStillJSON() throws {
        let text = EventLine.text(
            Self.event(
                .givingUp(
                    Self.limited,
                    reason: .waitExceedsLimit,
                    retryAfter: .longest,
                    until: Timestamp(sinceEpoch: .longest)
                )
            )
        )
        let line = try #require(text)
        let value = try JSONValue(parsing: Array(line.utf8))
        #expect(value["until"]?.string?.hasPrefix("9999-12-31T23:59:59") == true)
        #expect(value["retry_after_s"]?.number != nil)
    }

    @Test func theFileIsForItsOwnerAndBeginsEmpty() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/events"
            for _ in 0..<2 {
                let log = try EventLog(path)
                log.write(Self.event(.retry(number: 2, reason: .unavailable)))
                // Nothing waits for the end of the program.
                #expect(contents(of: path).split(separator: "\n").count == 1)
            }
            var status = stat()
            #expect(unsafe stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
        #expect(throws: FileError.self) { try EventLog("/nonexistent/events") }
    }

    @Test func linesOfManyTasksStayWhole() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/events"
            let log = try EventLog(path)
            await withTaskGroup(of: Void.self) { group in
                for call in 1...20 {
                    group.addTask {
                        for _ in 0..<50 { log.write(Self.event(.retry(number: 2, reason: .unavailable), call: call)) }
                    }
                }
            }
            let lines = contents(of: path).split(separator: "\n")
            #expect(lines.count == 1000)
            #expect(lines.allSatisfy { $0.hasPrefix("{\"event\":\"retry\"") && $0.hasSuffix("}") })
        }
    }

    @Test func anInterruptionEndsEveryCallOnce() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/events"
            let log = try EventLog(path)
            func at(_ seconds: Int, _ call: Int, _ kind: RecoveryEvent.Kind) {
                log.write(RecoveryEvent(call: call, time: .init(sinceStart: .seconds(seconds)), kind: kind))
            }
            at(0, 1, .done(.ok, attempts: 1, waited: .zero, elapsed: .zero))
            at(1, 2, .attempt(number: 1, method: "GET", url: "http://h/", transport: "curl"))
            at(2, 2, .wait(reason: .rateLimited, duration: .seconds(60), until: Self.until))
            log.cancelOpenCalls(upTo: 3, at: .init(sinceStart: .seconds(5)))
            log.cancelOpenCalls(upTo: 3, at: .init(sinceStart: .seconds(6)))
            at(7, 2, .done(.cancelled, attempts: 1, waited: .zero, elapsed: .zero))
            let done = contents(of: path).split(separator: "\n").filter { $0.contains("\"done\"") }
            #expect(
                done.map(String.init) == [
                    #"{"event":"done","t_ms":0,"call":1,"outcome":"ok","attempts":1,"waited_s":0,"elapsed_ms":0}"#,
                    #"{"event":"done","t_ms":5000,"call":2,"outcome":"cancelled","attempts":1,"waited_s":3,"#
                        + #""elapsed_ms":4000}"#,
                    #"{"event":"done","t_ms":5000,"call":3,"outcome":"cancelled","attempts":0,"waited_s":0,"#
                        + #""elapsed_ms":0}"#,
                ]
            )
        }
    }
}
