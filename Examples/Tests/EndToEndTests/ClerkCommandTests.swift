import AuthRecovery
import AuthSandbox
import ClerkAuth
import CurlTransport
import HTTPRecovery
import HTTPTypes
import Testing

/// What auth-client does at Clerk alone.
@Suite("auth-client at Clerk", .timeLimit(.minutes(30)), .bounded)
struct ClerkCommandTests {
    private static let name = "linus+clerk_test@example.com"

    /// Somebody with a password.
    private static var person: SandboxUser { SandboxUser(email: name, password: "open-sesame-42") }

    /// Somebody who signs in by a link.
    private static var linked: SandboxUser {
        var user = person
        user.firstFactors = ["email_link"]
        return user
    }

    /// An instance with one person, and a browser that is none of the program's.
    private static func run(
        _ user: SandboxUser = person,
        mode: String = "public",
        _ body: (Bench, RecoveringClient) async throws -> Void
    ) async throws {
        var scenario = SandboxScenario(users: [user], settings: SandboxScenario.unlimited.settings)
        scenario.settings.signUpMode = mode
        try await Bench.run(scenario) { bench in
            let browser = RecoveringClient(transport: CurlTransport())
            try await body(bench, browser)
            await browser.shutdown()
        }
    }

    /// Nobody who could be asked.
    private struct Nobody: ChallengeResponder {
        func answer(_ challenge: Challenge) async throws -> Challenge.Answer { throw Challenge.NoAnswer(challenge.key) }
    }

    @Test func whatWasLeftBehindIsFinished() async throws {
        var user = Self.person
        user.passwordState = "compromised"
        try await Self.run(user) { bench, _ in
            let first = try await bench.signIn(
                Self.name,
                answers: #"{"password":"open-sesame-42","email_code":"424242"}"#
            )
            #expect(first.status == 65 && first.kind == "challenge_required")
            #expect(first.report["failure"]?["code"]?.string == "reset-password")
            let status = try await bench.run("status")
            // There is a session, as was asked; what it lacks stands in its status.
            #expect(status.status == 0 && status.outcome == "ok")
            #expect(status.report["session"]?["status"]?.string == "pending")
            let token = try await bench.start(["token"]).end()
            #expect(token.status == 0 && token.errors.contains("finish-tasks"), "a JWT that no app lets in")
            // What the service does not take leaves the session as it is, and that is said.
            let refused = try await bench.run("finish-tasks", answers: #"{"new_password":["short","short","short"]}"#)
            #expect(refused.kind == "password_rejected" && refused.status != 0)
            let message = refused.report["failure"]?["message"]?.string
            let end = " The session is there, and waits for reset-password."
            #expect(message?.hasSuffix(end) == true, "\(refused.errors)")
            let second = try await bench.run("finish-tasks", answers: #"{"new_password":"correct-horse-7"}"#)
            #expect(second.status == 0, "\(second.errors)")
            #expect(second.report["session"]?["status"]?.string == "active")
            #expect(second.session == status.session)
        }
    }

    @Test func theSessionsOfOtherDevicesAreToldAndEnded() async throws {
        try await Self.run { bench, browser in
            let own = try await bench.signIn(Self.name, answers: #"{"password":"open-sesame-42"}"#)
            let other = try Clerk(frontendAPI: bench.sandbox.url, client: browser, tokens: InMemoryTokenStore())
            let theirs = try await other.signIn(
                identifier: Self.name,
                password: "open-sesame-42",
                answering: Nobody()
            )
            let list = try await bench.run("sessions")
            let lines = list.output.split(separator: "\n").dropLast()
            #expect(lines.count == 2 && list.status == 0)
            #expect(lines.first { $0.hasPrefix(own.session ?? "?") }?.hasSuffix("(this one)") == true)
            #expect(lines.contains { $0.hasPrefix("\(theirs.id), active") && !$0.hasSuffix("(this one)") })
            #expect(try await bench.run("revoke", theirs.id).status == 0)
            #expect(try await other.session() == nil)
            let unknown = try await bench.run("revoke", "sess_nobodys")
            #expect(unknown.kind == "not_found")
            #expect(try await bench.run("status").session == own.session)
        }
    }

    @Test func aDeviceIsForgotten() async throws {
        try await Self.run { bench, _ in
            try #require(await bench.signIn(Self.name, answers: #"{"password":"open-sesame-42"}"#).status == 0)
            #expect(try await bench.run("forget-device").status == 0)
            #expect(try bench.tokens.members?.map(\.key) == [])
            #expect(bench.routes.last == "DELETE /v1/client")
            #expect(try await bench.run("status").status == 77)
        }
    }

    @Test func theInstanceIsToldAndItsWaitlistJoined() async throws {
        try await Self.run(mode: "waitlist") { bench, _ in
            let told = try await bench.run("environment")
            let environment = try JSONValue(parsing: String(told.output.split(separator: "\n").first ?? ""))
            #expect(environment["user_settings"]?["sign_up"]?["mode"] == "waitlist")
            let first = try await bench.run("join-waitlist", "new@example.com")
            #expect(first.status == 0 && first.output.hasPrefix("On the waitlist: wle_"))
            bench.sandbox.updateSettings { $0.signUpMode = "public" }
            let second = try await bench.run("join-waitlist", "new@example.com")
            #expect(second.status == 77 && second.code == "waitlist_not_accepting_entries")
        }
    }

    // MARK: Links

    /// The link that was sent, once it was.
    private static func link(_ bench: Bench) async throws -> String {
        while true {
            if let link = bench.sandbox.outbox().last?.code { return link }
            try bench.requireRunning()
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Where opening a link leads.
    private static func open(_ link: String, _ browser: RecoveringClient) async throws -> String {
        try await browser.send(HTTPRequest(url: link)).headerFields[.location] ?? ""
    }

    @Test func aLinkThatIsOpenedElsewhereIsWaitedFor() async throws {
        try await Self.run(Self.linked) { bench, browser in
            let page = "https://www.example.com/done"
            let program = try bench.start(["sign-in", "--identifier", Self.name, "--link-page", page])
            let target = try await Self.open(Self.link(bench), browser)
            #expect(target.hasPrefix(page))
            let run = try await bench.finish(program)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.errors.contains("A link was sent to l***@example.com. Please open it, on any device."))
            #expect(try await bench.run("status").session == run.session)
        }
    }

    @Test func aLinkComesBackToThisMachine() async throws {
        try await Self.run(Self.linked) { bench, browser in
            var bench = bench
            bench.options += ["--redirect-uri", "http://127.0.0.1/done"]
            let program = try bench.start(["sign-in", "--identifier", Self.name])
            let target = try await Self.open(Self.link(bench), browser)
            #expect(target.hasPrefix("http://127.0.0.1:"))
            _ = try await browser.send(HTTPRequest(url: target))
            let run = try await bench.finish(program, secrets: [target])
            #expect(run.status == 0, "\(run.errors)")
            #expect(bench.routes.contains("POST /v1/client/magic_links/complete"))
        }
    }
}
