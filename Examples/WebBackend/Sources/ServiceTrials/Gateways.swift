public import AuthSandbox

extension RunningService {
    /// The secret of the sandbox's client, which no log may hold.
    public static let gatewaySecret = "service-secret"

    /// Starts the gateway before a sandbox.
    ///
    /// - Parameters:
    ///   - sandbox: Where tokens and resources are.
    ///   - settings: Further variables of its environment.
    ///   - config: The file of `--config`. Default: none.
    public static func gateway(
        before sandbox: AuthSandbox,
        _ settings: [String: String] = [:],
        config: String? = nil
    ) async throws -> RunningService {
        let environment = [
            "LISTEN": "127.0.0.1:0", "OAUTH_TOKEN_URL": "\(sandbox.url)/oauth/token", "OAUTH_CLIENT_ID": "service",
            "OAUTH_CLIENT_SECRET": gatewaySecret, "API_URL": "\(sandbox.url)/api", "SHUTDOWN_NOTICE_S": "0",
        ]
        return try await RunningService(
            "resource-gateway",
            config.map { ["--config", $0] } ?? [],
            environment: environment.merging(settings) { $1 }
        )
    }

    /// Where browsers believe the sign-in backend to be, whatever the instance.
    public static let signInURL = "https://app.example.com"

    /// Starts the sign-in backend before the API at a URL; its state is in a file.
    public static func signInBackend(before frontendAPI: String, state: String) async throws -> RunningService {
        try await RunningService(
            "sign-in-backend",
            [
                "--listen", "127.0.0.1:0", "--frontend-api", frontendAPI, "--state", state, "--insecure-cookies",
                "--public-url", signInURL,
            ],
            environment: ["SIGN_IN_KEY": String(repeating: "ab", count: 32)]
        )
    }

    /// Starts a Redis that keeps what it is told, and waits until it answers.
    ///
    /// - Parameters:
    ///   - directory: Where its socket is, `redis.sock`, and what it keeps.
    ///   - program: Where `redis-server` is.
    /// - Throws: ``NotStarted`` if it ends at once.
    public static func redis(
        in directory: TemporaryDirectory,
        program: String = "/usr/bin/redis-server"
    ) async throws -> RunningService {
        let redis = try await RunningService(
            program,
            [
                "--port", "0", "--unixsocket", "\(directory.path)/redis.sock", "--dir", directory.path, "--save", "",
                "--appendonly", "yes", "--appendfsync", "always",
            ],
            announces: false
        )
        while !redis.lines.contains(where: { $0.contains("eady to accept connections") }) {
            guard redis.residentBytes != nil else {
                throw NotStarted(description: redis.lines.joined(separator: "\n"))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        return redis
    }
}
