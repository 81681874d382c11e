import AuthRecovery
import AuthSandbox
import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import Locking
import OktaAuth
import Testing

/// The library, by way of curl, and a sandbox that behaves like an Okta org and can be told to fail.
struct OktaLine: Sendable {
    let sandbox: AuthSandbox
    let transport: CurlTransport
    let tokens: InMemoryTokenStore
    let okta: Okta
    let events: EventRecorder

    static let password: Secret = "open-sesame-42"
    static let app = OktaApp(clientID: "cli", redirectURI: "com.example.cli:/callback")

    /// Runs the function with both.
    ///
    /// - Parameters:
    ///   - user: Somebody who is there beside the default people.
    ///   - app: The app that tokens are obtained for; nil for a session of the org.
    ///   - middlewares: The client's layers.
    static func run(
        _ user: SandboxUser? = nil,
        app: OktaApp? = nil,
        @RecoveringClient.PipelineBuilder middlewares: () -> [any ClientLayer] = {
            RecoveringClient.defaultMiddlewares
        },
        body: (OktaLine) async throws -> Void
    ) async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        if let user { try sandbox.add(user) }
        let transport = CurlTransport()
        let client = RecoveringClient(transport: transport, middlewares: middlewares)
        let tokens = InMemoryTokenStore()
        let okta = try Okta(
            org: sandbox.url,
            client: client,
            tokens: tokens,
            configuration: OktaConfiguration(pollInterval: .milliseconds(500), app: app)
        )
        let line = OktaLine(
            sandbox: sandbox,
            transport: transport,
            tokens: tokens,
            okta: okta,
            events: EventRecorder(client.runtime.events)
        )
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(line))
        } catch {
            result = .failure(error)
        }
        await okta.tokens.finish()
        await transport.shutdown()
        try result.get()
    }

    /// Signs in.
    @discardableResult
    func signIn(
        _ identifier: String = "ada@example.com",
        _ answers: [Factor.Key: [Challenge.Answer]] = [:]
    ) async throws -> OktaSession {
        try await okta.signIn(
            identifier: identifier,
            password: Self.password,
            answering: PreparedAnswers(answers)
        )
    }

    /// The steps below `/api/v1` that have arrived, in order.
    var steps: [String] {
        sandbox.requests().map { $0.path.dropPrefix("/api/v1/") }.map { step in
            step.split(separator: "/").map { $0.count == 20 ? "{id}" : String($0) }.joined(separator: "/")
        }
    }

    /// How many requests have arrived.
    var count: Int { sandbox.requests().count }

    /// Waits until the events hold one that begins so.
    func event(_ beginning: String) async throws {
        while !events.words.contains(where: { $0.hasPrefix(beginning) }) {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
    }
}

/// Answers that were prepared, each of which is given once.
final class PreparedAnswers: ChallengeResponder {
    private let answers: Locked<[Factor.Key: [Challenge.Answer]]>

    init(_ answers: [Factor.Key: [Challenge.Answer]]) {
        self.answers = Locked(answers)
    }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        let answer: Challenge.Answer? = answers.withLock { answers in
            guard var left = answers[challenge.key], !left.isEmpty else { return nil }
            let next = left.removeFirst()
            answers[challenge.key] = left
            return next
        }
        guard let answer else { throw Challenge.NoAnswer(challenge.key) }
        return answer
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        factors.first { factor in answers.withLock { $0[factor.key]?.isEmpty == false } }
    }
}
