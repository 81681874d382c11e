import Glibc
import HTTPRecovery
import Testing

/// The scenario files of this package, with the built programs.
@Suite("Scenario files of the package", .timeLimit(.minutes(30)), .bounded)
struct ScenarioFileProgramTests {
    private static let directory: String =
        #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Scenarios"

    private func withSandbox(_ scenario: String, _ body: (String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(Self.directory)/\(scenario).json"
            let sandbox = try BuiltProgram("auth-sandbox", ["--scenario", file], in: directory)
            defer { sandbox.signal(SIGKILL) }
            while !sandbox.output.contains("\n") { try await Task.sleep(for: .milliseconds(5)) }
            try await body(String(sandbox.output.prefix { $0 != "\n" }.dropFirst("listening on ".count)))
            sandbox.signal(SIGTERM)
            #expect(await sandbox.end().status == 0)
        }
    }

    private func signIn(
        _ provider: String,
        _ url: String,
        _ user: String,
        _ more: [String] = []
    ) async throws -> JSONValue {
        let end = try await BuiltProgram.run(
            "auth-client",
            ["--provider", provider, "--base-url", url, "--json", "--password-stdin"] + more
                + ["sign-in", "--identifier", user],
            input: "open-sesame-42\n"
        )
        return try JSONValue(parsing: String(try #require(end.output.split(separator: "\n").last, "\(end.errors)")))
    }

    @Test(arguments: ["clerk", "okta", "forgerock"])
    func aBadDayIsGotThrough(provider: String) async throws {
        try await withSandbox("bad-day") { url in
            let options = provider == "forgerock" ? ["--realm", "alpha"] : []
            let user = provider == "forgerock" ? "ada" : "ada@example.com"
            let report = try await signIn(provider, url, user, options)
            #expect(report["outcome"]?.string == "ok", "\(report)")
        }
    }

    @Test func aLockIsWaitedOutOrNot() async throws {
        try await withSandbox("lockouts") { url in
            let hurried = try await signIn("clerk", url, "locked@example.com", ["--max-wait", "0"])
            #expect(hurried["failure"]?["kind"]?.string == "account_locked")
            let patient = try await signIn("clerk", url, "locked@example.com", ["--max-wait", "60"])
            #expect(patient["outcome"]?.string == "ok", "\(patient)")
            let banned = try await signIn("clerk", url, "banned@example.com")
            #expect(banned["failure"]?["kind"]?.string == "account_blocked")
        }
    }
}
