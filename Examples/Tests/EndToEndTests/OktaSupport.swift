import AuthSandbox
import HTTPRecovery
import Locking
import Testing

/// What the sandbox has written to its log.
final class SandboxLog: Sendable {
    private let lines = Locked<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    /// The lines, without those that show a code on purpose.
    var text: String { lines.withLock { $0.filter { !$0.hasPrefix("code ") }.joined(separator: "\n") } }
}

extension Bench {
    /// Runs the function with a sandbox that `auth-client --provider okta` talks to, and looks for secrets in the
    /// sandbox's log.
    static func okta(
        _ scenario: SandboxScenario = .unlimited,
        _ body: (Bench) async throws -> Void
    ) async throws {
        let log = SandboxLog()
        let sandbox = try await AuthSandbox.start(scenario: scenario, log: { log.add($0) })
        defer { sandbox.stop() }
        try await withTemporaryDirectory { directory in
            var bench = Bench(sandbox: sandbox, directory: directory, provider: "okta")
            bench.secretKeys.append("session_id")
            bench.heldSecrets = { sandbox.oktaSecrets }
            try await body(bench)
        }
        let planted = sandbox.oktaSecrets + sandbox.outbox().map(\.code) + ["open-sesame-42", "correct-horse-7"]
        for secret in planted { #expect(!log.text.contains(secret)) }
    }

    /// A bench with one person.
    static func okta(_ user: SandboxUser, _ body: (Bench) async throws -> Void) async throws {
        try await okta(SandboxScenario(users: [user], settings: SandboxScenario.unlimited.settings), body)
    }

    /// Somebody with these factors.
    static func okta(_ factors: SandboxOktaUser.Factor..., body: (Bench) async throws -> Void) async throws {
        try await okta(person(factors), body)
    }

    static func person(_ factors: [SandboxOktaUser.Factor] = []) -> SandboxUser {
        var user = SandboxUser(email: "eva+clerk_test@example.com", password: "open-sesame-42")
        user.phones = ["+12015550104"]
        user.totpSecret = "JBSWY3DPEHPK3PXP"
        user.secondFactors = []
        user.okta.factors = factors
        return user
    }

    static let eva = "eva+clerk_test@example.com"

    /// Answers with the password and more.
    static func answers(_ more: String = "") -> String {
        #"{"password": "open-sesame-42""# + (more.isEmpty ? "" : ", \(more)") + "}"
    }

    /// The steps that have arrived, below `/api/v1`.
    var steps: [String] {
        routes.map { route in
            let prefix = "POST /api/v1/"
            return route.hasPrefix(prefix) ? String(route.dropFirst(prefix.count)) : route
        }
    }

    /// A code that the authenticator does not show.
    func wrongCode(_ right: String) -> String { right == "000000" ? "111111" : "000000" }
}
