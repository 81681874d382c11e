import ArgumentParser
import AuthRecovery
import CommandLineSupport
import CurlTransport
import Glibc
import HTTPRecovery
import HTTPTypes

/// A service that uses shared credentials, as a process that tests can stop and kill at a chosen moment.
@main
struct RenewalWorker: AsyncParsableCommand {
    @Option var tokenFile: String?
    @Option(transform: StateOption.parse) var state = StateOption.memory
    @Option var url: String
    @Option var tokenURL: String
    @Option var requests = 1
    /// The moment at which the worker says so and stops for good: before the renewal is sent, or when its answer is
    /// there and not stored.
    @Option var stopAt: Moment?
    /// How long the lease is granted, in milliseconds.
    @Option var leaseMs = 5000
    /// The grace that the server states, in seconds.
    @Option var grace: Double?

    enum Moment: String, ExpressibleByArgument {
        case leased
        case answered
    }

    /// Reads and writes the store's credentials as JSON, for the test that began it.
    @Flag var dump = false
    @Flag var seed = false

    func run() async throws {
        let transport = CurlTransport()
        let runtime = Runtime(store: try state.open(), storeTimeout: .seconds(10))
        let store: any TokenStore =
            tokenFile.map { FileTokenStore(path: $0) } ?? SharedTokenStore(runtime.state, name: "worker")
        if seed {
            let text = readLine() ?? ""
            let credentials = try Credentials(json: JSONValue(parsing: text))
            try await store.update { $0 = credentials }
            return
        }
        if dump { return print(try await store.read().credentials.json) }

        let oauth = OAuthClient(
            server: try OAuthServer(endpoints: [.token: tokenURL]),
            clientID: "cli",
            client: RecoveringClient(transport: transport)
        )
        let reuse = grace.map { RefreshTokenGrant.Reuse.rotating(grace: .seconds($0)) } ?? .undeclared
        let renewer = StoppingRenewer(base: RefreshTokenGrant(client: oauth, reuse: reuse), stopAt: stopAt)
        let options = TokenManager.RenewalOptions(lease: .milliseconds(leaseMs))
        let tokens = TokenManager(store: store, renewer: renewer, options: options)
        let request = try HTTPRequest(url: url)
        let client = RecoveringClient(transport: transport, runtime: runtime) {
            Deadline(.seconds(60))
            Recovery {
                RateLimitBackoff()
                SessionRenewal(tokens)
                TransientRetry()
            }
            Authorization(tokens, audience: [Origin(of: request)])
        }
        let failures = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<requests {
                group.addTask {
                    do {
                        _ = try await client.send(request)
                        return nil
                    } catch {
                        return "\(error)"
                    }
                }
            }
            return await group.reduce(into: []) { failures, failure in
                if let failure { failures.append(failure) }
            }
        }
        await tokens.finish()
        for failure in failures.prefix(3) { print(failure) }
        print("ok \(requests - failures.count) of \(requests)")
        // Not by returning: threads of libraries may still run.
        fflush(nil)
        _exit(failures.isEmpty ? 0 : 1)
    }
}

/// Stops the process at a chosen moment of a renewal.
struct StoppingRenewer: TokenRenewer {
    let base: RefreshTokenGrant
    let stopAt: RenewalWorker.Moment?

    var reuse: RefreshTokenGrant.Reuse { base.reuse }

    func canRenew(_ credentials: Credentials) -> Bool { base.canRenew(credentials) }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        if stopAt == .leased { try await stop() }
        let renewed = try await base.renew(credentials, in: operation)
        if stopAt == .answered { try await stop() }
        return renewed
    }

    private func stop() async throws {
        print("stopped")
        fflush(nil)
        try await Task.sleep(for: .seconds(3600))
    }
}
