import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// Signing in to Okta at a terminal.
@Suite("auth-client --provider okta at a terminal", .timeLimit(.minutes(30)), .bounded)
struct OktaTerminalTests {
    private static func start(_ bench: Bench, _ name: String) throws -> TerminalProgram {
        try TerminalProgram(
            "auth-client",
            [
                "--provider", "okta", "--org", bench.sandbox.url, "--token-file", bench.tokenFile, "--json", "sign-in",
                "--identifier", name,
            ],
            in: bench.directory
        )
    }

    private static func password(_ program: TerminalProgram) async throws {
        try await program.sees("Password: ")
        program.type("open-sesame-42")
    }

    private static func ended(_ program: TerminalProgram) async throws -> (status: Int32, screen: String) {
        let end = await program.end()
        #expect(!end.errors.contains("open-sesame-42") && !end.output.contains("open-sesame-42"))
        return (end.status, end.errors)
    }

    @Test func aFactorIsChosenAndAWrongCodeAskedForAgain() async throws {
        try await Bench.okta { bench in
            let program = try Self.start(bench, "jean+clerk_test@example.com")
            try await Self.password(program)
            try await program.sees("Which one? [1-4] ")
            #expect(program.screen.contains("4  Code of the authenticator app"))
            #expect(program.screen.contains("2  Code by phone to "))
            program.type("4")
            try await program.sees("Code of the authenticator app: ")
            let code = try #require(bench.sandbox.oktaTOTP(for: "jean+clerk_test@example.com"))
            program.type(bench.wrongCode(code))
            try await program.sees("Code of the authenticator app (2 tries left): ")
            program.type(code)
            #expect(try await Self.ended(program).status == 0)
        }
    }

    @Test func anotherFactorIsTakenInItsPlace() async throws {
        try await Bench.okta { bench in
            let program = try Self.start(bench, "jean+clerk_test@example.com")
            try await Self.password(program)
            try await program.sees("Which one? [1-4] ")
            program.type("2")
            try await program.sees("Code by phone sent to ")
            program.type("other")
            try await program.sees("Which one? [1-3] ")
            program.type("1")
            try await program.sees("What is the name of your first pet? ")
            program.type("Rex")
            #expect(try await Self.ended(program).status == 0)
        }
    }

    @Test func thePersonSeesThePushAndItsNumber() async throws {
        try await Bench.okta { bench in
            let program = try Self.start(bench, "vint@example.com")
            try await Self.password(program)
            try await program.sees("A confirmation was sent to your phone. Please answer it there.")
            try await program.sees("Choose the number 42 on your phone.")
            // The wait is visible, on one line.
            try await program.sees("Waiting for the confirmation; asks again in ")
            let end = try await Self.ended(program)
            #expect(end.status == 0)
            #expect(!end.screen.contains("Waiting 2"))
        }
    }

    @Test func anotherPushIsSentOnWishAlone() async throws {
        try await Bench.okta { bench in
            let program = try Self.start(bench, "tim@example.com")
            try await Self.password(program)
            try await program.sees("Confirmation on the other device")
            #expect(bench.sandbox.oktaPushes() == 1)
            program.type("what?")
            try await program.sees("resend  has another confirmation sent to your phone")
            program.type("resend")
            try await program.sees("A confirmation was sent to your phone", times: 2)
            #expect(bench.sandbox.oktaPushes() == 2)
            program.signal(SIGINT)
            #expect(try await Self.ended(program).status == 130)
        }
    }

    /// Somebody at the identity engine, with an app.
    private static func engine(
        _ factors: [SandboxOktaUser.Factor],
        enrolling enrollments: [SandboxOktaUser.Enrollment] = [],
        _ body: (Bench, TerminalProgram) async throws -> Void
    ) async throws {
        var user = Bench.person(factors)
        user.okta.enrollments = enrollments
        try await Bench.okta(user) { bench in
            bench.sandbox.updateSettings { $0.okta.isIdentityEngine = true }
            let program = try TerminalProgram(
                "auth-client",
                [
                    "--provider", "okta", "--org", bench.sandbox.url, "--token-file", bench.tokenFile, "--client-id",
                    "cli", "--redirect-uri", "com.example.cli:/callback", "--json", "sign-in", "--identifier",
                    Bench.eva,
                ],
                in: bench.directory,
                environment: ["TMPDIR": bench.directory]
            )
            try await Self.password(program)
            try await body(bench, program)
            #expect(try await Self.ended(program).status == 0)
        }
    }

    /// Okta Verify on the device is opened by its address, which stands below what the person has to do.
    @Test func oktaVerifyIsOpenedByItsAddress() async throws {
        var device = SandboxOktaUser.Factor("signed_nonce")
        device.script = ["WAITING", "SUCCESS"]
        try await Self.engine([device]) { _, program in
            try await program.sees("Okta Verify has to confirm on the device that the address is opened on.")
            try await program.sees("Please open this address on your device: com-okta-authenticator:")
        }
    }

    /// Of Duo's page the person sees all that it needs, and may take another way.
    @Test func duosPageIsDescribed() async throws {
        try await Self.engine([.init("web"), .init("question")]) { _, program in
            try await program.sees("Which one? [1-2] ")
            program.type("1")
            try await program.sees("  host: api-sandbox.duosecurity.com")
            try await program.sees("  signedToken: TX|")
            try await program.sees("Duo has to confirm the sign-in on a page of its own.")
            program.type("other")
            try await program.sees("What is the name of your first pet? ")
            program.type("Rex")
        }
    }

    /// While a code is asked for the server is asked too whether the link of the mail was opened; no countdown takes the
    /// question's place.
    @Test func aQuestionStaysUntilItsLinkIsOpened() async throws {
        try await Self.engine([.init("email")]) { bench, program in
            try await program.sees("Code by e-mail")
            let look = "POST /idp/idx/challenge/poll"
            while bench.routes.count(where: { $0 == look }) < 2 { try await Task.sleep(for: .milliseconds(5)) }
            // What stood there before the question was taken away when it was asked.
            let screen = program.screen
            let question = try #require(screen.firstRange(of: "Code by e-mail"))
            #expect(!screen[question.upperBound...].contains("asks again in"), "\(screen)")
            let order: JSONValue = ["user": .string(Bench.eva)]
            let url = bench.sandbox.url + "/_sandbox/okta/open_link"
            let opened = try await BuiltProgram.run("http-recover", ["-X", "POST", "--json", order.description, url])
            #expect(opened.status == 0, "\(opened.errors)")
        }
    }

    /// The engine hands the picture over within the answer, and no terminal shows it.
    @Test func aPictureToScanIsPutIntoAFile() async throws {
        try await Self.engine([], enrolling: [.init("push")]) { bench, program in
            // By a picture, or a link to an address or a phone.
            try await program.sees("Which one? [1-3] ")
            program.type("1")
            try await program.sees("To set it up, scan the picture in \(bench.directory)/auth-client-")
            let pictures = names(in: bench.directory).filter { $0.hasSuffix(".png") }
            let path = bench.directory + "/" + (try #require(pictures.first))
            #expect(pictures.count == 1 && contents(of: path).hasSuffix("PNG\r\n\u{1a}\n"))
            var state = stat()
            #expect(unsafe stat(path, &state) == 0 && state.st_mode & 0o777 == 0o600)
        }
    }

    @Test func aPasswordThatExpiresSoonIsKept() async throws {
        try await Bench.okta { bench in
            let program = try Self.start(bench, "whitfield@example.com")
            try await Self.password(program)
            try await program.sees("Press return to keep it for now.")
            try await program.sees("New password: ")
            program.type("")
            #expect(try await Self.ended(program).status == 0)
        }
    }

    @Test func anAuthenticatorIsSetUp() async throws {
        var user = Bench.person()
        user.totpSecret = nil
        user.okta.enrollments = [.init("token:software:totp")]
        try await Bench.okta(user) { bench in
            let program = try Self.start(bench, Bench.eva)
            try await Self.password(program)
            try await program.sees("To set it up: ")
            try await program.sees("Code of the authenticator app: ")
            program.type(try #require(bench.sandbox.oktaTOTP(for: Bench.eva)))
            #expect(try await Self.ended(program).status == 0)
        }
    }

    @Test func aLockedAccountIsUnlocked() async throws {
        try await Bench.okta { bench in
            let program = try Self.start(bench, "donald@example.com")
            try await Self.password(program)
            try await program.sees("Which one? [1-2] ")
            program.type("2")
            try await program.sees("Code by phone")
            try await program.sees("(? for help): ")
            program.type("424242")
            try await program.sees("Which volume is next? ")
            program.type("seven")
            #expect(try await Self.ended(program).status == 0)
        }
    }
}
