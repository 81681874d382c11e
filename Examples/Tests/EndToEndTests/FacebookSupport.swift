import AuthRecovery
import AuthSandbox
import CurlTransport
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

extension Bench {
    static let ada = "ada@example.com"

    /// Runs the function with a sandbox that `auth-client --provider facebook` talks to, and looks for secrets in the
    /// sandbox's log.
    static func facebook(
        _ settings: (inout SandboxFacebookSettings) -> Void = { _ in },
        users: [SandboxUser] = SandboxScenario.defaultUsers,
        _ body: (Bench) async throws -> Void
    ) async throws {
        var scenario = SandboxScenario.unlimited
        scenario.users = users
        scenario.settings.facebook.deviceInterval = 1000
        settings(&scenario.settings.facebook)
        let log = LogLines()
        let sandbox = try await AuthSandbox.start(scenario: scenario) { log.add($0) }
        defer { sandbox.stop() }
        let app = scenario.settings.facebook
        try await withTemporaryDirectory { directory in
            var bench = Bench(sandbox: sandbox, directory: directory, provider: "facebook")
            bench.options = ["--app-id", app.appID, "--client-token-env", "FACEBOOK_CLIENT_TOKEN"]
            bench.environment = [
                "FACEBOOK_CLIENT_TOKEN": app.clientToken, "FACEBOOK_APP_SECRET": app.appSecret,
                "FACEBOOK_WRONG_SECRET": "another-secret",
            ]
            bench.heldSecrets = { sandbox.facebookSecrets }
            bench.log = log
            try await body(bench)
        }
    }

    /// The same for an app that has its secret.
    var withSecret: Bench {
        var bench = self
        bench.options += ["--app-secret-env", "FACEBOOK_APP_SECRET"]
        return bench
    }

    /// Puts a token into the token file as if Ada had signed in.
    @discardableResult
    func plantToken(_ behaviour: SandboxFacebookBehaviour = .good, lifetime: Duration? = nil) throws -> String {
        let token = try sandbox.facebookToken(for: Self.ada, behaviour, lifetime: lifetime)
        let id = sandbox.facebookID(of: Self.ada) ?? ""
        let json: JSONValue = [
            "access_token": .string(token), "facebook_profile": ["id": .string(id), "name": "Ada Example"],
            "note": "kept",
        ]
        try write(json.description, to: tokenFile)
        return token
    }

    /// The keys that the token file holds.
    var tokenKeys: [String] {
        get throws { try tokens.members?.map(\.key) ?? [] }
    }

    /// What the program has shown until now.
    var shown: String { contents(of: directory + "/err") }

    /// The paths below the version that have arrived, with their methods.
    var calls: [String] {
        sandbox.requests().map { record in
            let parts = record.path.split(separator: "/").map(String.init)
            let path = parts.first?.hasPrefix("v2") == true ? parts.dropFirst() : parts[...]
            return "\(record.method) \(path.joined(separator: "/"))"
        }
    }
}

/// The library, by way of curl, and a sandbox that behaves like Graph and can be told to fail.
struct FacebookLine: Sendable {
    static let ada = "ada@example.com"

    let sandbox: AuthSandbox
    let transport: CurlTransport
    let tokens: InMemoryTokenStore
    let facebook: Facebook
    let events: EventRecorder

    /// Runs the function with both; Ada has signed in.
    ///
    /// - Parameters:
    ///   - behaviour: How her token behaves.
    ///   - hasSecret: Whether the app has its secret.
    ///   - configuration: What the program wants beside.
    ///   - settings: How Facebook behaves.
    ///   - middlewares: The client's layers.
    static func run(
        _ behaviour: SandboxFacebookBehaviour = .good,
        hasSecret: Bool = false,
        configuration: FacebookConfiguration = FacebookConfiguration(),
        settings: SandboxFacebookSettings = SandboxFacebookSettings(),
        @RecoveringClient.PipelineBuilder middlewares: () -> [any ClientLayer] = {
            RecoveringClient.defaultMiddlewares
        },
        body: (FacebookLine) async throws -> Void
    ) async throws {
        var scenario = SandboxScenario.unlimited
        scenario.settings.facebook = settings
        scenario.settings.facebook.deviceInterval = 1000
        let own = scenario.settings.facebook
        let sandbox = try await AuthSandbox.start(scenario: scenario)
        defer { sandbox.stop() }
        let transport = CurlTransport()
        let client = RecoveringClient(transport: transport, middlewares: middlewares)
        let token = try sandbox.facebookToken(for: ada, behaviour)
        let tokens = InMemoryTokenStore(Credentials(accessToken: Secret(token)))
        let app = FacebookApp(
            id: own.appID,
            secret: hasSecret ? Secret(own.appSecret) : nil,
            clientToken: Secret(own.clientToken),
            prover: hasSecret ? HMACAppSecretProver(appSecret: Secret(own.appSecret)) : nil
        )
        let facebook = try Facebook(
            app: app,
            graph: sandbox.url,
            client: client,
            tokens: tokens,
            configuration: configuration
        )
        let line = FacebookLine(
            sandbox: sandbox,
            transport: transport,
            tokens: tokens,
            facebook: facebook,
            events: EventRecorder(client.runtime.events)
        )
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(line))
        } catch {
            result = .failure(error)
        }
        await facebook.tokens.finish()
        await transport.shutdown()
        try result.get()
    }

    /// How many requests have arrived.
    var count: Int { sandbox.requests().count }

    /// The token that is held.
    var held: Secret? { get async { await tokens.read().credentials.accessToken } }

    /// Posts something.
    func post(_ message: String = "hello") async throws {
        _ = try await facebook.send(.post, path: "me/feed", body: .form(["message": message]))
    }

    /// Waits until the events hold one that begins so.
    func event(_ beginning: String) async throws {
        while !events.words.contains(where: { $0.hasPrefix(beginning) }) {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

extension SandboxFacebookSettings {
    /// The usual behaviour with changes.
    static func with(_ change: (inout SandboxFacebookSettings) -> Void) -> SandboxFacebookSettings {
        var settings = SandboxFacebookSettings()
        change(&settings)
        return settings
    }
}

/// A person who enters no code.
struct Absent: ChallengeResponder {
    func answer(_ challenge: Challenge) async throws -> Challenge.Answer { throw Challenge.NoAnswer(challenge.key) }
}
