import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// Where several processes can keep their credentials.
enum SharedPlace: String, CaseIterable, Sendable {
    case file
    case sqlite
    case redis

    /// Runs the function with such a place, or says loudly that it cannot.
    func run(_ body: (SharedStore) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            switch self {
            case .file: try await body(SharedStore(directory, ["--token-file", directory + "/tokens.json"]))
            case .sqlite: try await body(SharedStore(directory, ["--state", "sqlite:" + directory + "/state.db"]))
            case .redis:
                guard let server = try await RedisProcess.start(in: directory) else {
                    print("NOTE: redis-server is not installed: what needs it is not tested")
                    return
                }
                defer { server.stop() }
                try await body(SharedStore(directory, ["--state", server.url]))
            }
        }
    }
}

/// Credentials that several workers share, and what a test asks them to do with it.
struct SharedStore: Sendable {
    let directory: String
    let options: [String]

    init(_ directory: String, _ options: [String]) {
        self.directory = directory
        self.options = options
    }

    /// Stores credentials.
    func seed(_ tokens: SandboxOAuthTokens) async throws {
        let refresh = try #require(tokens.refreshToken)
        let json: JSONValue = [
            "access_token": .string(tokens.accessToken), "refresh_token": .string(refresh), "mark": "kept",
        ]
        let end = try await BuiltProgram.run(
            "renewal-worker",
            options + ["--url", "http://127.0.0.1:1", "--token-url", "http://127.0.0.1:1", "--seed"],
            input: json.description + "\n"
        )
        try #require(end.status == 0, "\(end.errors)")
    }

    /// What is stored.
    func credentials() async throws -> JSONValue {
        let end = try await BuiltProgram.run(
            "renewal-worker",
            options + ["--url", "http://127.0.0.1:1", "--token-url", "http://127.0.0.1:1", "--dump"]
        )
        try #require(end.status == 0, "\(end.errors)")
        return try JSONValue(parsing: end.output)
    }

    /// Starts a worker.
    func worker(_ sandbox: AuthSandbox, _ more: String..., in directory: String) throws -> BuiltProgram {
        try BuiltProgram(
            "renewal-worker",
            options + ["--url", sandbox.url + "/api/items", "--token-url", sandbox.url + "/oauth/token"] + more,
            in: directory
        )
    }
}

/// A Redis server of a test's own.
struct RedisProcess: Sendable {
    let url: String
    private let process: pid_t

    /// Starts a server on a free port; nil where none is installed.
    static func start(in directory: String) async throws -> RedisProcess? {
        let places: [String] = [
            "/usr/bin/redis-server", "/usr/local/bin/redis-server", "/usr/bin/valkey-server",
        ]
        guard let path = places.first(where: { place in unsafe access(place, X_OK) == 0 }) else { return nil }
        for _ in 0..<20 {
            let port = Int.random(in: 20_000...50_000)
            let arguments: [String] = [
                path, "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
                directory, "--daemonize", "no", "--logfile", directory + "/redis.log",
            ]
            var strings: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
            defer { for index in unsafe strings.indices { unsafe free(strings[index]) } }
            var process = pid_t()
            try #require(unsafe posix_spawn(&process, path, nil, nil, &strings, environ) == 0)
            while true {
                let log = contents(of: directory + "/redis.log")
                if log.contains("Ready to accept connections") {
                    return RedisProcess(url: "redis://127.0.0.1:\(port)", process: process)
                }
                var status: Int32 = 0
                if unsafe waitpid(process, &status, WNOHANG) == process { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            unsafe unlink(directory + "/redis.log")
        }
        throw NoFreePort()
    }

    func stop() {
        kill(process, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    struct NoFreePort: Error {}
}
