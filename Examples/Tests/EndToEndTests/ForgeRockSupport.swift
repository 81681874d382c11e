import AuthRecovery
import AuthSandbox
import CurlTransport
import ForgeRockAuth
import HTTPRecovery
import Testing

/// PingAM in the sandbox, for the program and for the library.
enum AM {
    static let authenticate = "/json/realms/root/realms/alpha/authenticate"
    static let sessions = "/json/realms/root/realms/alpha/sessions"
    static let tokens = "/oauth2/realms/root/realms/alpha/access_token"
    static let password = #"{"password": "open-sesame-42"}"#

    /// A bench whose program signs in to the realm `alpha`.
    static func run(
        users: [SandboxUser] = SandboxScenario.defaultUsers,
        _ settings: (inout SandboxForgeRockSettings) -> Void = { _ in },
        _ body: (Bench) async throws -> Void
    ) async throws {
        var scenario = SandboxScenario.unlimited
        scenario.users = users
        settings(&scenario.settings.forgerock)
        let log = LogLines()
        let sandbox = try await AuthSandbox.start(scenario: scenario) { log.add($0) }
        defer { sandbox.stop() }
        try await withTemporaryDirectory { directory in
            var bench = Bench(sandbox: sandbox, directory: directory)
            bench.provider = "forgerock"
            bench.options = ["--realm", "alpha"]
            bench.log = log
            try await body(bench)
            // A step's proof is a JWT.
            #expect(!log.withoutCodes.contains("eyJ"))
        }
    }

    /// An answer in place of the true one.
    static func fault(
        _ kind: SandboxFault.Kind,
        _ path: String,
        status: Int? = nil,
        times: Int64 = 1,
        skip: Int64 = 0
    ) -> SandboxFault {
        var fault = SandboxFault(kind, path: path, times: times)
        fault.status = status
        fault.skip = skip
        return fault
    }
}

extension Bench {
    /// Signs Ada in at PingAM.
    func signInAtAM(_ options: String...) async throws {
        let arguments = options + ["sign-in", "--identifier", "ada"]
        let run = try await finish(start(arguments, answers: AM.password))
        try #require(run.status == 0, "\(run.errors)")
    }

    /// A journey by name, with answers.
    func journey(_ name: String, _ identifier: String = "ada", answers: String) async throws -> Run {
        let run = try await finish(start(["--journey", name, "sign-in", "--identifier", identifier], answers: answers))
        #expect(!run.output.contains("eyJ") && !run.errors.contains("eyJ") && !run.eventText.contains("eyJ"))
        return run
    }

    /// How often a step was posted.
    var stepCount: Int { sandbox.requests(method: "POST", path: AM.authenticate).count }

    /// The library as a service uses it, over real sockets, with the token file.
    func library(
        journey: String? = "Login",
        oauth: Bool = false,
        authenticator: (any WebAuthn.Authenticator)? = nil,
        deadline: Duration = .seconds(30),
        transport: CurlTransport
    ) throws -> ForgeRock {
        let client = RecoveringClient(transport: transport) {
            Deadline(deadline)
            Recovery {
                RateLimitBackoff()
                LockoutWait(atMost: .seconds(10))
                TransientRetry()
            }
        }
        return try library(client: client, journey: journey, oauth: oauth, authenticator: authenticator)
    }

    /// The same with a client of the test's own.
    func library(
        at url: String? = nil,
        client: RecoveringClient,
        journey: String? = "Login",
        oauth: Bool = false,
        authenticator: (any WebAuthn.Authenticator)? = nil
    ) throws -> ForgeRock {
        try ForgeRock(
            baseURL: url ?? sandbox.url,
            client: client,
            tokens: FileTokenStore(path: tokenFile),
            configuration: ForgeRockConfiguration(
                realm: "alpha",
                journey: journey,
                oauth: oauth ? OAuthSettings(clientID: "cli", redirectURI: "com.example.cli:/callback") : nil,
                authenticator: authenticator
            )
        )
    }

    /// Runs the function with a transport that is shut down afterwards.
    static func withTransport(_ body: (CurlTransport) async throws -> Void) async throws {
        let transport = CurlTransport()
        do {
            try await body(transport)
        } catch {
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
    }
}

/// Answers by key, each as often as it is asked for.
struct Person: ChallengeResponder {
    var answers: [Factor.Key: Secret] = [.password: "open-sesame-42"]

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        // A refused answer is not given twice.
        if let failure = challenge.previousFailure { throw RecoveryError(outcome: failure, reason: .notRecoverable) }
        guard let answer = answers[challenge.key] else { throw Challenge.NoAnswer(challenge.key) }
        return .text(answer)
    }

    func choose(among factors: [Factor]) async throws -> Factor? { nil }
    func notice(_ outcome: Outcome) async {}
}
