import AuthSandbox
import HTTPRecovery
import Testing

/// Signing up at Clerk, beginning with what somebody else has given out, and what one proves oneself with.
@Suite("auth-client at Clerk: accounts", .timeLimit(.minutes(30)), .bounded)
struct ClerkAccountTests {
    private static let password = #"{"password": "open-sesame-42"}"#

    @Test func somebodySignsUp() async throws {
        try await Bench.run { bench in
            let name = "new+clerk_test@example.com"
            let answers = #"{"new_password": "correct-horse-7", "email_code": "424242"}"#
            let run = try await bench.finish(bench.start(["sign-up", "--identifier", name], answers: answers))
            #expect(run.status == 0 && run.session?.hasPrefix("sess_") == true, "\(run.report)")
            #expect(try await bench.run("get", "/v1/me").output.contains(name))
            let again = try await bench.finish(bench.start(["sign-out"]))
            #expect(again.status == 0)
            let taken = try await bench.finish(bench.start(["sign-up", "--identifier", name], answers: answers))
            #expect(taken.status == 77 && taken.kind == "conflict", "\(taken.report)")
        }
    }

    /// Whoever proves that an address is theirs signs in, and is signed up first if they have no account.
    @Test func aCodeSignsInOrUp() async throws {
        try await Bench.run { bench in
            var bench = bench
            bench.environment["AUTH_CLIENT_WAY"] = "sign_in_or_up"
            let name = "new+clerk_test@example.com"
            let answers = #"{"new_password": "correct-horse-7", "email_code": "424242"}"#
            let new = try await bench.signIn(name, answers: answers)
            #expect(new.status == 0 && new.session?.hasPrefix("sess_") == true, "\(new.report)")
            #expect(try await bench.run("get", "/v1/me").output.contains(name))
            #expect(try await bench.run("sign-out").status == 0)
            // An answer that is not needed stays where it is.
            let known = try await bench.signIn(name, answers: answers)
            #expect(known.status == 0 && known.session != new.session, "\(known.report)")
            #expect(bench.routes.count { $0 == "POST /v1/client/sign_ups" } == 1)
            #expect(try await bench.run("sign-out").status == 0)
            bench.sandbox.updateSettings { $0.signUpMode = "restricted" }
            let refused = try await bench.signIn("other+clerk_test@example.com", answers: answers)
            #expect(refused.status == 77 && refused.kind == "misconfigured", "\(refused.report)")
        }
    }

    @Test func aTicketBeginsASession() async throws {
        try await Bench.run { bench in
            var bench = bench
            let client = try await BuiltProgram.run(
                "http-recover",
                ["-d", #"{"user": "ada@example.com"}"#, bench.sandbox.url + "/_sandbox/clerk/ticket"]
            )
            let ticket = try #require(try JSONValue(parsing: client.output)["ticket"]?.string)
            bench.environment["TICKET"] = ticket
            let run = try await bench.run("sign-in", "--ticket-env", "TICKET", secrets: [ticket])
            #expect(run.status == 0 && run.session != nil, "\(run.report)")
            let missing = try await bench.run("sign-in", "--ticket-env", "NO_SUCH_VARIABLE")
            #expect(missing.status == 65)
        }
    }

    /// What another provider has given out signs in whoever has an account, and signs up who has none.
    @Test(arguments: ["google", "apple"]) func anIDTokenBeginsASession(place: String) async throws {
        try await Bench.run { bench in
            var bench = bench
            bench.sandbox.updateSettings { $0.socialStrategies = ["oauth_google", "oauth_apple"] }
            for email in ["ada@example.com", "new@example.com"] {
                let made = try await BuiltProgram.run(
                    "http-recover",
                    [
                        "-d", #"{"email": "\#(email)", "provider": "\#(place)"}"#,
                        bench.sandbox.url + "/_sandbox/clerk/identity",
                    ]
                )
                let token = try #require(try JSONValue(parsing: made.output)["token"]?.string)
                bench.environment["TOKEN"] = token
                let run = try await bench.run(
                    "sign-in",
                    "--at",
                    place,
                    "--id-token-env",
                    "TOKEN",
                    secrets: [token]
                )
                #expect(run.status == 0, "\(run.report)")
                #expect(try await bench.run("get", "/v1/me").output.contains(email))
                #expect(try await bench.run("sign-out").status == 0)
            }
            bench.environment["TOKEN"] = "made-up-token"
            let dead = try await bench.run("sign-in", "--at", place, "--id-token-env", "TOKEN")
            #expect(dead.status == 69 && dead.kind == "flow_expired", "\(dead.report)")
        }
    }

    /// What there is, what is added, and what is taken away again.
    @Test func factorsComeAndGo() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            func factors() async throws -> [String] {
                try await bench.run("factors").output.split(separator: "\n").dropLast().map(String.init)
            }
            let begin = try await factors()
            #expect(begin.first == "password" && begin.count == 2)
            #expect(begin.last?.hasPrefix("email_code  idn_") == true)
            #expect(begin.last?.hasSuffix("  ada@example.com (primary)") == true)
            let passkey = try await bench.run("add-factor", "webauthn", "--software-key", bench.directory + "/key")
            #expect(passkey.status == 0, "\(passkey.errors)")
            let phone = try await bench.finish(
                bench.start(
                    ["add-factor", "phone_code"],
                    answers: #"{"phone_number": "+12015550142", "phone_code": ["000000", "424242"]}"#
                )
            )
            #expect(phone.status == 0, "\(phone.report)")
            let codes = try await bench.run("add-factor", "backup_code")
            #expect(codes.status == 0 && codes.output.contains("Write down these backup codes:"), "\(codes.report)")
            let list = try await factors()
            #expect(list.contains("backup_code"))
            for (kind, text) in [("phone_code", "+12015550142 (primary, second factor)"), ("webauthn", "psk_")] {
                let line = try #require(list.first { $0.hasPrefix(kind) }, "\(list)")
                #expect(line.contains(text))
                let id = line.split(separator: " ")[1]
                #expect(try await bench.run("remove-factor", String(id)).status == 0)
            }
            #expect(try await factors() == ["password", "backup_code"] + begin.suffix(1))
            for wrong in [["remove-factor", "no-such"], ["add-factor", "charm"], ["make-primary", "no-such"]] {
                #expect(try await bench.finish(bench.start(wrong)).status == 65)
            }
        }
    }

    /// An e-mail address is proved, takes the place of the one before, and that is taken away.
    @Test func anAddressTakesThePlaceOfAnother() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let added = try await bench.finish(
                bench.start(
                    ["add-factor", "email_code"],
                    answers: #"{"text": "new+clerk_test@example.com", "email_code": ["000000", "424242"]}"#
                )
            )
            #expect(added.status == 0, "\(added.report)")
            func addresses() async throws -> [(id: String, text: String)] {
                try await bench.run("factors").output.split(separator: "\n").filter { $0.hasPrefix("email_code") }
                    .map { line in (String(line.split(separator: " ")[1]), String(line)) }
            }
            let both = try await addresses()
            #expect(both.map { $0.text.hasSuffix("(primary)") } == [true, false])
            #expect(try await bench.run("make-primary", #require(both.last).id).status == 0)
            #expect(try await bench.run("remove-factor", #require(both.first).id).status == 0)
            let left = try await addresses()
            #expect(left.map(\.id) == [both.last?.id] && left.first?.text.hasSuffix("(primary)") == true)
            let last = try await bench.run("remove-factor", #require(left.first).id)
            #expect(last.status == 77 && last.kind == "conflict", "\(last.report)")
        }
    }

    /// The person at the terminal sees the key, types what their app shows, and is asked again for a wrong code.
    @Test func anAuthenticatorAppIsSetUpAtATerminal() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let program = try TerminalProgram(
                "auth-client",
                ["--provider", "clerk", "--base-url", bench.sandbox.url, "--token-file", bench.tokenFile]
                    + ["add-factor", "totp"],
                in: bench.directory
            )
            try await program.sees("otpauth://")
            try await program.sees("Code of the authenticator app")
            program.type("000000")
            try await program.sees("ncorrect")
            try await program.sees("Code of the authenticator app", times: 2)
            program.interrupt()
            #expect(await program.end().status == 130)
        }
    }

    /// A code that did not come is sent once more on the person's wish.
    @Test func aCodeIsSentOnceMore() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let program = try TerminalProgram(
                "auth-client",
                ["--provider", "clerk", "--base-url", bench.sandbox.url, "--token-file", bench.tokenFile]
                    + ["add-factor", "phone_code"],
                in: bench.directory
            )
            try await program.sees("hone number")
            program.type("+12015550142")
            try await program.sees("Code")
            let sent = bench.routes.filter { $0.hasSuffix("/prepare_verification") }.count
            program.type("resend")
            // The server has no new one so soon, and is asked again when it has; nobody needs to wait for that here.
            while bench.routes.filter({ $0.hasSuffix("/prepare_verification") }).count == sent {
                try await Task.sleep(for: .milliseconds(20))
            }
            program.interrupt()
            #expect(await program.end().status == 130)
        }
    }

    /// A typing error in the name is told, and the name is asked for again.
    @Test func aNameThatNobodyHasIsAskedForAgain() async throws {
        try await Bench.run { bench in
            let program = try TerminalProgram(
                "auth-client",
                ["--provider", "clerk", "--base-url", bench.sandbox.url, "--token-file", bench.tokenFile, "sign-in"],
                in: bench.directory
            )
            let question = "E-mail address, phone number or user name"
            try await program.sees(question)
            program.type("adda@example.com")
            try await program.sees("Password")
            program.type("open-sesame-42")
            try await program.sees(question, times: 2)
            program.type("ada@example.com")
            try await program.sees("Password", times: 2)
            program.type("open-sesame-42")
            let end = await program.end()
            #expect(end.status == 0 && end.output.contains("Signed in"), "\(end.errors)")
        }
    }
}
