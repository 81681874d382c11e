import ArgumentParser
import AuthRecovery
import AuthSandbox
import CurlTransport
import Foundation
import HTTPRecovery
import HTTPTypes
import RedisRecoveryStore

/// One of the processes of ``Kills``: calls as one person, about several accounts, until it is killed.
///
/// It renews the token that all share, backs off, and waits out lockouts; it prints each call that failed all the same.
struct FleetWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fleet-worker", shouldDisplay: false)

    static let tokens = "fleet"
    static let accounts = ["ann", "bob", "cy"]

    /// An API that locks accounts with 423.
    private struct Locks: OutcomeClassifier {
        func classify(_ exchange: Exchange) -> Outcome {
            var outcome = HTTPClassifier().classify(exchange)
            guard case .response(let head, _) = exchange.result, head.status.code == 423 else { return outcome }
            (outcome.kind, outcome.scope, outcome.processed) = (.accountLocked, .account, .no)
            outcome.lockout = outcome.retryAfter.map { .remaining($0) } ?? .indefinite
            outcome.remedies = [.wait]
            return outcome
        }
    }

    private static let worker = HTTPField.Name("X-Worker")

    @Option var url: String
    @Option var redis: String
    @Option var number: Int

    /// The worker that has asked for a token.
    static func asker(of request: SandboxRequestRecord) -> Int? {
        request.fields.first { $0.hasPrefix("user=") }.flatMap { Int($0.dropFirst("user=".count)) }
    }

    /// - Parameter number: The worker's, which its requests for tokens tell.
    static func manager(before url: String, _ client: RecoveringClient, number: Int? = nil) throws -> TokenManager {
        // A word that the sandbox shows.
        let query = number.map { "?user=\($0)" } ?? ""
        let oauth = OAuthClient(
            server: try OAuthServer(endpoints: [.token: "\(url)/oauth/token\(query)"]),
            clientID: "cli",
            client: client
        )
        return TokenManager(
            store: SharedTokenStore(client.runtime.state, name: tokens),
            renewer: RefreshTokenGrant(client: oauth),
            options: TokenManager.RenewalOptions(leeway: .seconds(1), lease: Kills.lease)
        )
    }

    func run() async throws {
        let runtime = Runtime(
            store: try RedisStore(url: redis),
            storeTimeout: .seconds(2),
            classifier: Locks()
        )
        let client = RecoveringClient(transport: CurlTransport(), runtime: runtime)
        let tokens = try Self.manager(before: url, client, number: number)
        let audience = try Origin(of: HTTPRequest(url: url))
        var turn = number
        while true {
            turn += 1
            let account = Self.accounts[turn % Self.accounts.count]
            var options = RequestOptions()
            options.account = account
            options.attemptLayers = [Authorization(tokens, audience: [audience])]
            options.policies = [SessionRenewal(tokens)]
            do {
                var request = try HTTPRequest(url: "\(url)/api/\(account)")
                if let name = Self.worker { request.headerFields[name] = "\(number)" }
                let response = try await client.send(request, options: options)
                _ = try await response.body.collect(upTo: 1 << 20)
            } catch {
                FileHandle.standardOutput.write(Data("failed: \(error)\n".utf8))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
