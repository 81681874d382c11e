import AuthSandbox
import HTTPRecovery
import Testing

/// Signing in at Auth0 with the program.
@Suite("auth-client --provider auth0", .timeLimit(.minutes(30)), .bounded)
struct Auth0ClientTests {
    private static let ada = "ada@example.com"

    private static func run(
        _ person: (inout SandboxUser) -> Void,
        _ body: (Bench) async throws -> Void
    ) async throws {
        var user = SandboxUser(email: ada, password: "open-sesame-42")
        person(&user)
        var scenario = SandboxScenario.unlimited
        scenario.users = [user]
        scenario.settings.auth0.deviceInterval = 1000
        let log = LogLines()
        let sandbox = try await AuthSandbox.start(scenario: scenario) { log.add($0) }
        defer { sandbox.stop() }
        try await withTemporaryDirectory { directory in
            var bench = Bench(sandbox: sandbox, directory: directory, provider: "auth0")
            bench.options = ["--base-url", sandbox.url + "/auth0", "--client-id", "cli"]
            bench.secretKeys.append("id_token")
            try await body(bench)
        }
    }

    @Test func aPasswordForAnAPI() async throws {
        try await Self.run { _ in
        } _: { bench in
            var bench = bench
            bench.options += [
                "--connection", "Username-Password-Authentication", "--audience", "https://api.example.com",
            ]
            let run = try await bench.signIn(Self.ada, answers: #"{"password": "open-sesame-42"}"#)
            #expect(run.status == 0 && run.session?.hasPrefix("auth0|") == true, "\(run.errors)")
            #expect(bench.sandbox.auth0Grants == ["password-realm": 1])
            #expect(try await bench.run("get", "/userinfo").output.contains(Self.ada))
            #expect(try await bench.run("refresh").status == 0)
            #expect(try await bench.run("sign-out").status == 0)
        }
    }

    @Test(arguments: [true, false]) func aDevice(approving: Bool) async throws {
        try await Self.run { _ in
        } _: { bench in
            let program = try bench.start(["sign-in", "--way", "device"])
            try await bench.event("wait")
            try bench.sandbox.answerAuth0Device(as: Self.ada, approving: approving)
            let run = try await bench.finish(program)
            #expect(run.errors.contains("Open \(bench.sandbox.url)/auth0/activate and enter the code "))
            #expect(run.status == (approving ? 0 : 77) && run.kind == (approving ? nil : "declined"))
        }
    }

    private static let database = ["--connection", "Username-Password-Authentication"]

    @Test func anAccountIsMadeAndSignedInTo() async throws {
        try await Self.run { _ in
        } _: { bench in
            var bench = bench
            bench.options += Self.database
            let answers = #"{"password": "Correct-horse-8"}"#
            let run = try await bench.signIn("eve@example.com", "--way", "sign_up", answers: answers)
            #expect(run.status == 0 && run.session?.hasPrefix("auth0|") == true, "\(run.errors)")
            let again = try await bench.signIn("eve@example.com", "--way", "sign_up", answers: answers)
            #expect(again.status != 0 && again.outcome == "failed", "the address has an account by now")
        }
    }

    @Test func aPasswordThatIsRejectedIsAskedForAgain() async throws {
        try await Self.run { _ in
        } _: { bench in
            var bench = bench
            bench.options += Self.database
            let answers = #"{"password": ["short", "Correct-horse-8"]}"#
            let run = try await bench.signIn("eve@example.com", "--way", "sign_up", answers: answers)
            #expect(run.status == 0 && run.session?.hasPrefix("auth0|") == true, "\(run.errors)")
            let none = try await bench.signIn("joe@example.com", "--way", "sign_up", answers: #"{"password": "short"}"#)
            #expect(none.status == 77 && none.kind == "password_rejected")
        }
    }

    /// Nobody is signed in by it, and whether there is an account stays untold.
    @Test(arguments: [ada, "nobody@example.com"]) func aNewPasswordIsWrittenFor(address: String) async throws {
        try await Self.run { _ in
        } _: { bench in
            var bench = bench
            bench.options += Self.database
            let run = try await bench.signIn(address, "--way", "reset_password", answers: "{}")
            #expect(run.status == 0 && run.session == nil, "\(run.errors)")
            #expect(run.errors.contains("If \(address) has an account, a mail with a link to set a new password"))
            #expect(bench.routes.count { $0 == "POST /auth0/dbconnections/change_password" } == 1)
            #expect(bench.sandbox.outbox(to: address).count == (address == Self.ada ? 1 : 0))
        }
    }

    @Test func aPasskeyIsMadeAndUsed() async throws {
        try await Self.run { _ in
        } _: { bench in
            var bench = bench
            bench.options += Self.database + ["--software-key", bench.directory + "/key"]
            let made = try await bench.signIn("eve@example.com", "--way", "new_passkey", answers: "{}")
            #expect(made.status == 0 && made.session?.hasPrefix("auth0|") == true, "\(made.errors)")
            #expect(try await bench.run("sign-out").status == 0)
            let used = try await bench.run("sign-in", "--way", "passkey")
            #expect(used.status == 0 && used.session == made.session, "\(used.errors)")
        }
    }

    /// Who has no key is told what answers in its place; what a key has refused is no word of the server's.
    @Test func aPasskeyWithoutAKeySaysWhatHelps() async throws {
        try await Self.run { _ in
        } _: { bench in
            let none = try await bench.run("sign-in", "--way", "passkey")
            #expect(none.status == 65 && none.kind == "challenge_required", "\(none.errors)")
            #expect(none.errors.contains("--software-key FILE"))
            var bench = bench
            bench.options += ["--software-key", bench.directory + "/key"]
            let empty = try await bench.run("sign-in", "--way", "passkey")
            #expect(empty.status != 0, "\(empty.errors)")
            #expect(empty.errors.contains("This program calls it webauthn_not_allowed."), "\(empty.errors)")
            #expect(!empty.errors.contains("The server calls"))
        }
    }

    @Test func aWrongWayNamesAllThatThereAre() async throws {
        let end = try await BuiltProgram.run(
            "auth-client",
            [
                "--provider", "auth0", "--base-url", "http://127.0.0.1:1", "--client-id", "c", "sign-in", "--way",
                "fax",
            ]
        )
        #expect(end.status == 64)
        for way in ["password", "sign_up", "new_passkey", "email", "email_link", "sms", "database_phone", "passkey"] {
            #expect(end.errors.contains(way), "\(way): \(end.errors)")
        }
    }

    @Test func aWayThatNeedsADatabaseSaysSo() async throws {
        let end = try await BuiltProgram.run(
            "auth-client",
            [
                "--provider", "auth0", "--base-url", "http://127.0.0.1:1", "--client-id", "c", "sign-in", "--way",
                "sign_up",
            ]
        )
        #expect(end.status == 64 && end.errors.contains("--way sign_up needs --connection"))
    }

    /// The tenant wants a factor, and nobody has one: it is set up with the sign-in, and the recovery code shown before.
    @Test func aPushIsSetUp() async throws {
        try await Self.run {
            $0.auth0.enrollments = ["push"]
        } _: { bench in
            let answers = #"{"password": "open-sesame-42", "choice": "auth0", "text": "noted"}"#
            let program = try bench.start(["sign-in", "--identifier", Self.ada], answers: answers)
            try await bench.event("wait")
            try bench.sandbox.answerAuth0Push()
            let run = try await bench.finish(program)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.errors.contains("Write down this recovery code"))
            #expect(run.errors.contains("To set it up: otpauth://"))
        }
    }

    @Test func aRecoveryCodeIsReplaced() async throws {
        try await Self.run {
            $0.backupCodes = ["backup-0001"]
        } _: { bench in
            let answers = #"{"password": "open-sesame-42", "backup_code": "backup-0001"}"#
            let run = try await bench.signIn(Self.ada, answers: answers)
            #expect(run.status == 0 && run.errors.contains("Write down the new one: "))
        }
    }

    /// A tenant may want a factor before it renews: who can answer goes on, and who cannot keeps the session.
    @Test func aRenewalGoesOnWithTheFactor() async throws {
        try await Self.run {
            $0.backupCodes = ["backup-0001"]
        } _: { bench in
            let run = try await bench.signIn(
                Self.ada,
                answers: #"{"password": "open-sesame-42", "backup_code": "backup-0001"}"#
            )
            func code(in run: Run, behind text: String) -> String {
                let rest = run.errors.split(separator: text, maxSplits: 1).last ?? ""
                return String(rest.prefix { !$0.isWhitespace })
            }
            var held = code(in: run, behind: "Write down the new one: ")
            bench.sandbox.updateSettings { $0.auth0.wantsFactorOnRefresh = true }
            let refused = try await bench.run("refresh")
            #expect(refused.status == 77 && refused.kind == "step_up_required")
            // The new code is told once: after a renewal, and before a request that needed one.
            for (command, text) in [(["get", "/userinfo"], "is used up.\n  "), (["refresh"], "the new one: ")] {
                try bench.sandbox.endAuth0Tokens(of: Self.ada, accessOnly: true)
                let program = try bench.start(command, answers: #"{"backup_code": "\#(held)"}"#)
                let renewed = try await bench.finish(program)
                #expect(renewed.status == 0, "\(renewed.errors)")
                let next = code(in: renewed, behind: text)
                #expect(next.count == 24 && next != held)
                held = next
            }
        }
    }
}
