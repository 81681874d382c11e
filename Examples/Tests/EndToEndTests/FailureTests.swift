import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Servers that fail, and connections that break.
@Suite("auth-client failures", .timeLimit(.minutes(30)), .bounded)
struct FailureTests {
    private static let password = #"{"password": "open-sesame-42"}"#
    private static let create = "/v1/client/sign_ins"

    private static func fault(_ kind: SandboxFault.Kind, status: Int? = nil) -> SandboxFault {
        var fault = SandboxFault(kind, path: create, times: 0)
        fault.status = status
        return fault
    }

    /// A message names what it is about, once.
    @Test(arguments: [
        ("--provider auth0 --base-url URL --client-id cli --way database_email sign-in", "needs --connection"),
        ("--provider clerk --base-url URL?x=1 status", "Error: --base-url: leave the query"),
        ("--provider clerk --base-url URL --tls-max 1.2 --tlsv1.3 status", "--tls-max and --tlsv1.3"),
        ("--provider clerk --base-url URL request -H Host:evil /v1/me", "-H Host: the host is the URL's"),
        ("--provider clerk --base-url URL request -d a -H Content-Length:5 /v1/me", "-H Content-Length: how the body"),
    ])
    func aMessageNamesWhatItIsAbout(line: String, words: String) async throws {
        let arguments = line.split(separator: " ").map { String($0).replacing("URL", with: "http://127.0.0.1:1") }
        let end = try await BuiltProgram.run("auth-client", arguments)
        #expect(end.status == 64 && end.errors.contains(words), "\(end.errors)")
    }

    /// What may have been processed spends a password, so it is not sent again; the server is asked what became of it.
    @Test(
        arguments: [
            (SandboxFault.Kind.status, 500), (.status, 502), (.html, 502), (.empty, 500), (.garbage, nil),
            (.closeBefore, nil), (.resetBefore, nil), (.resetAfter, nil), (.truncate, nil),
        ] as [(SandboxFault.Kind, Int?)]
    )
    func aFailureWhoseEffectIsUnknownEndsTheSignIn(kind: SandboxFault.Kind, status: Int?) async throws {
        try await Bench.run { bench in
            bench.sandbox.add(Self.fault(kind, status: status))
            let run = try await bench.signIn("ada@example.com", answers: Self.password)
            // The head of a body that breaks off has brought the client, which has the session.
            #expect(run.status == (kind == .truncate ? 0 : 69))
            #expect(bench.routes == ["POST /v1/client/sign_ins", "GET /v1/client"])
        }
    }

    @Test func aServiceThatSaysWhenIsAskedAgain() async throws {
        try await Bench.run { bench in
            var fault = SandboxFault(.status, path: Self.create)
            fault.status = 503
            fault.retryAfter = "1"
            bench.sandbox.add(fault)
            let run = try await bench.signIn("ada@example.com", answers: Self.password)
            #expect(run.status == 0)
            #expect(run.texts("failure", "processed") == ["no"])
            #expect(bench.routes.count == 2)
        }
    }

    @Test func aLostAnswerToACodeIsNeverReplayed() async throws {
        try await Bench.run { bench in
            bench.sandbox.add(SandboxFault(.resetAfter, path: "*/attempt_second_factor"))
            let code = try #require(bench.sandbox.totp(for: "grace@example.com"))
            let answers = #"{"password": "open-sesame-42", "totp": ["\#(code)", "\#(code)"]}"#
            let run = try await bench.signIn("grace@example.com", answers: answers)
            #expect(run.status == 69)
            #expect(run.kind == "transport")
            // The lost answer held the client's new token: to the old one the server does not tell what became of it.
            #expect(run.texts("failure", "processed") == ["unknown", "no"])
            let attempts = bench.sandbox.requests(path: "*/attempt_second_factor")
            #expect(attempts.count == 1)
            #expect(attempts.first?.isProcessed == true)
            #expect(!run.eventText.contains(code))
        }
    }

    @Test func aConnectionThatIsRefusedIsUnavailable() async throws {
        try await Bench.run { bench in
            var bench = bench
            let nobody = try RefusingPort()
            // The last one counts.
            bench.options += ["--base-url", "http://\(nobody.authority)"]
            let run = try await bench.signIn("ada@example.com", "--deadline", "3", answers: Self.password)
            #expect(run.status == 69)
            #expect(run.texts("failure", "processed").allSatisfy { $0 == "no" })
            #expect(run.named("response").isEmpty)
        }
    }

    @Test func aHangEndsWithTheDeadline() async throws {
        try await Bench.run { bench in
            bench.sandbox.add(Self.fault(.hang))
            let run = try await bench.signIn("ada@example.com", "--deadline", "5", answers: Self.password)
            #expect(run.status == 69)
            #expect(run.kind == "timed_out")
            #expect(run.isOverBeforeAttemptsTimeOut)
            #expect(bench.routes.count <= 1)
        }
    }

    /// A kind alone helps nobody who has to change something.
    @Test(
        arguments: [
            (
                "--provider oauth --base-url URL/nope --client-id cli sign-in", 77,
                "Does --base-url name what stands before the server's paths?"
            ),
            (
                "--provider clerk --base-url URL --at nope --redirect-uri http://127.0.0.1/cb sign-in --identifier ada",
                65,
                "It is about strategy."
            ),
            (
                "--provider oauth --base-url URL --client-id cli --redirect-uri URL/cb sign-in", 65,
                "cannot be listened at: Address already in use"
            ),
        ] as [(String, Int32, String)]
    )
    func whatHasToBeChangedIsTold(line: String, status: Int32, text: String) async throws {
        try await Bench.run { bench in
            let words = line.split(separator: " ").map { String($0).replacing("URL", with: bench.sandbox.url) }
            try write(Self.password, to: bench.directory + "/answers")
            let answers = ["--no-token-file", "--answers", bench.directory + "/answers"]
            let end = try await BuiltProgram("auth-client", words + answers, in: bench.directory).end()
            #expect(end.status == status)
            #expect(end.errors.contains(text), "\(end.errors)")
        }
    }
}
