import AuthSandbox
import CommandLineSupport
import Foundation
import HTTPRecovery
import Testing

/// How a journey is begun by the program, and what it is told beside.
@Suite("auth-client at PingAM: how a journey begins", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockOptionsTests {
    private func signIn(_ bench: Bench, _ options: String..., answers: String = AM.password) async throws -> Run {
        try await bench.finish(bench.start(options + ["sign-in", "--identifier", "ada"], answers: answers))
    }

    @Test func nameAndPasswordComeWithTheFirstRequest() async throws {
        try await AM.run { bench in
            let run = try await signIn(bench, "--journey", "Login", "--zero-page")
            #expect(run.status == 0 && bench.stepCount == 1)
        }
    }

    @Test func aSessionIsConfirmedForcedAndMadeStronger() async throws {
        try await AM.run { bench in
            // Only confirmed: there is nothing to keep.
            let confirmed = try await signIn(bench, "--no-session")
            #expect(confirmed.status == 0 && confirmed.output.contains(#""session":null"#))
            #expect(try await bench.run("status").status != 0)
            // There is none that could be made stronger.
            #expect(try await signIn(bench, "--journey", "StepUp", "--upgrade-session").status == 77)
            #expect(try await signIn(bench).status == 0)
            let before = bench.stepCount
            #expect(try await signIn(bench, "--force-auth").status == 0)
            #expect(bench.stepCount == before + 2)
            let stronger = try await signIn(bench, "--journey", "StepUp", "--upgrade-session")
            #expect(stronger.status == 0 && bench.sandbox.forgeRockCounters.sessions == 3)
            #expect(try await bench.run("status").status == 0)
        }
    }

    @Test func anotherIndexThanAJourneysName() async throws {
        try await AM.run { bench in
            let named = try await signIn(
                bench,
                "--auth-index",
                "service=OneTimeCode",
                answers: #"{"email_code": "000000"}"#
            )
            #expect(named.texts("challenge", "kind").first == "email_code")
            // The sandbox has no levels, and says so.
            let level = try await signIn(bench, "--auth-index", "level=2")
            #expect(level.status == 77 && level.kind == "misconfigured")
            let paths = bench.sandbox.requests(method: "POST", path: AM.authenticate).map(\.fields)
            #expect(paths.last?.contains("authIndexType=level") == true)
        }
    }

    /// Who solves it elsewhere needs what the server says of it, and no JSON.
    @Test func aCaptchaIsDescribedToThePerson() async throws {
        try await AM.run { bench in
            let program = try TerminalProgram(
                "auth-client",
                ["--provider", "forgerock", "--base-url", bench.sandbox.url, "--no-token-file", "--realm", "alpha"]
                    + ["--journey", "Captcha", "sign-in", "--identifier", "ada"],
                in: bench.directory
            )
            try await program.sees("Password")
            program.type("open-sesame-42")
            try await program.sees("Proof that the captcha gave")
            #expect(program.screen.contains("  recaptchaSiteKey: sandbox-key") && !program.screen.contains("{"))
            program.type("a-person")
            #expect(await program.end().status == 0)
        }
    }

    @Test func theCaptchasProofIsTakenFromTheAnswers() async throws {
        try await AM.run { bench in
            let answers = #"{"password": "open-sesame-42", "captcha": "a-person"}"#
            let run = try await signIn(bench, "--journey", "Captcha", answers: answers)
            #expect(run.status == 0 && run.texts("challenge", "kind").contains("captcha"))
            let none = try await signIn(bench, "--journey", "Captcha")
            #expect(none.status == 77 && none.kind == "challenge_required")
        }
    }

    /// Also where nobody can be asked.
    @Test func whatIsShownOnceIsShown() async throws {
        try await AM.run { bench in
            let answers = #"{"password": "open-sesame-42", "totp": "000000"}"#
            let run = try await signIn(bench, "--journey", "RegisterAuthenticator", answers: answers)
            #expect(run.status != 0 && run.errors.contains("To set it up: otpauth://totp/"))
        }
    }

    /// Standard error belongs to the events then.
    @Test func whatIsShownOnceIsShownBesideEventsToo() async throws {
        try await AM.run { bench in
            let answers = bench.directory + "/answers"
            try write(#"{"password": "open-sesame-42", "totp": "000000"}"#, to: answers)
            let place = ["--provider", "forgerock", "--base-url", bench.sandbox.url, "--realm", "alpha"]
            let way = ["--journey", "RegisterAuthenticator", "--no-token-file", "--answers", answers]
            let command = ["--events", "-", "--json", "sign-in", "--identifier", "ada"]
            let end = try await BuiltProgram("auth-client", place + way + command, in: bench.directory).end()
            let lines = end.output.split(separator: "\n")
            #expect(lines.dropLast().contains { $0.hasPrefix("To set it up: otpauth://totp/") }, "\(end.output)")
            #expect(try JSONValue(parsing: String(lines.last ?? ""))["outcome"]?.string == "failed")
            for line in end.errors.split(separator: "\n") {
                #expect(try JSONValue(parsing: String(line))["event"]?.string != nil)
            }
        }
    }

    /// The app on the phone reads it from the screen.
    @Test func atATerminalThereIsAPictureToScan() async throws {
        try await AM.run { bench in
            let program = try TerminalProgram(
                "auth-client",
                ["--provider", "forgerock", "--base-url", bench.sandbox.url, "--no-token-file", "--realm", "alpha"]
                    + ["--journey", "RegisterAuthenticator", "sign-in", "--identifier", "ada"],
                in: bench.directory
            )
            try await program.sees("Password")
            program.type("open-sesame-42")
            try await program.sees("Code of the authenticator app")
            let address = try #require(program.screen.firstMatch(of: /otpauth:\S+/)).output
            let picture = try #require(QRCode(String(address))).lines
            #expect(picture.allSatisfy(program.screen.contains))
            program.interrupt()
            #expect(await program.end().status == 130)
        }
    }

    /// Whatever the server says beside it.
    @Test func theNumberForThePhoneIsSaid() async throws {
        try await AM.run {
            $0.pushNumber = "73"
            $0.pollWait = 50
        } _: { bench in
            let run = try await signIn(bench, "--journey", "Push")
            #expect(run.status == 0 && run.errors.contains("Choose the number 73 on your phone."))
        }
    }

    @Test func aKeyHasTheNameThatItIsGiven() async throws {
        try await AM.run { bench in
            let key = bench.directory + "/key"
            let options = ["--journey", "WebAuthnRegistration", "--software-key", key, "--device-name", "Ada's key"]
            let run = try await bench.finish(
                bench.start(options + ["sign-in", "--identifier", "ada"], answers: AM.password)
            )
            #expect(run.status == 0 && bench.sandbox.forgeRockCounters.ceremonies == 1)
            let end = try await BuiltProgram.run("http-recover", [bench.sandbox.url + "/_sandbox/forgerock"])
            #expect(end.output.contains("Ada's key"))
        }
    }

    /// A browser that goes where it is sent, and comes back to the program.
    ///
    /// What has to be posted there is taken on from a page of the program's, which only a browser with scripts does by itself.
    @Test(arguments: ["Social", "SAML", "NativeSocial"], ["GET", "POST"])
    func aBrowserComesBackToTheProgram(journey: String, method: String) async throws {
        let port = Int.random(in: 20_000...30_000)
        try await AM.run {
            ($0.providerUser, $0.redirectMethod) = ("grace", method)
            $0.redirectURI = "http://127.0.0.1:\(port)/callback"
        } _: { bench in
            var bench = bench
            let program = bench.directory + "/browser"
            let script = method == "POST" ? Self.posting : "#!/bin/sh\nexec curl -s -L -o /dev/null \"$1\"\n"
            try await BuiltProgram.make(script, at: program)
            bench.environment["BROWSER"] = program
            let provider = "sandbox=\(bench.sandbox.url)/idp/authorize"
            // A page for SAML does not say where it comes back.
            let place = ["--return-uri", "http://127.0.0.1:\(port)/callback"]
            let options =
                ["--journey", journey, "--identity-provider", provider] + (journey == "SAML" ? place : []) + ["sign-in"]
            let run = try await bench.finish(bench.start(options, answers: #"{"choice": "sandbox"}"#))
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("grace"))
        }
    }

    /// A browser that posts the form of the page that it is sent to, if there is one.
    private static let posting = #"""
        #!/bin/sh
        page=$(curl -s -L "$1")
        action=$(printf '%s' "$page" | sed -n 's/.*action="\([^"]*\)".*/\1/p')
        [ -n "$action" ] || exit 0
        set --
        for field in $(printf '%s' "$page" | grep -o 'name="[^"]*" value="[^"]*"' | tr ' ' '|'); do
            name=$(printf '%s' "$field" | cut -d'"' -f2)
            set -- "$@" --data-urlencode "$name=$(printf '%s' "$field" | cut -d'"' -f4)"
        done
        exec curl -s -L -o /dev/null "$@" "$action"
        """#
}
