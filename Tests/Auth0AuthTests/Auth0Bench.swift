import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Synchronization

@testable import Auth0Auth

/// A client of a tenant on a manual clock and a scripted server.
struct Auth0Bench {
    typealias Step = ScriptedTransport.Step

    let clock = ManualClock()
    let transport: ScriptedTransport
    let tokens: InMemoryTokenStore
    let auth0: Auth0

    init(
        _ steps: [Step],
        credentials: Credentials = Credentials(),
        configuration: Auth0Configuration = Auth0Configuration(clientID: "app", realm: "people")
    ) throws {
        // A server that has no more to say has failed: no test goes on by accident.
        transport = ScriptedTransport(steps, then: .status(418))
        tokens = InMemoryTokenStore(credentials)
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            Recovery {
                RateLimitBackoff()
                LockoutWait(atMost: .seconds(3600))
                TransientRetry()
            }
        }
        auth0 = try Auth0(
            tenant: "https://example.eu.auth0.com/",
            client: client,
            tokens: tokens,
            configuration: configuration
        )
    }

    func signIn(_ person: Answers = Answers(), password: Secret? = "hunter2") async throws -> Auth0Session {
        try await clock.skippingWaits {
            try await auth0.signIn(identifier: "ada@example.com", password: password, answering: person)
        }
    }

    /// Each request as its path and, of a token request, its grant and what it spends.
    var sent: [String] {
        transport.received.map { received in
            let path = received.request.path ?? ""
            guard let json = try? JSONValue(parsing: received.body) else { return path }
            let grant = json["grant_type"]?.string?.split(separator: "/").last.map(String.init)
            let spent = ["password", "otp", "binding_code", "recovery_code", "refresh_token", "authenticator_id"]
                .compactMap { json[$0]?.string }
            return ([path] + (grant.map { [$0] } ?? []) + spent).joined(separator: " ")
        }
    }
}

extension ScriptedTransport.Step {
    static func json(_ body: String, _ status: Int = 200, _ fields: [String: String] = [:]) -> Self {
        .status(status, fields.merging(["content-type": "application/json"]) { one, _ in one }, body: body)
    }

    static func tokens(_ access: String = "A1", refresh: String = "R1", more: String = "") -> Self {
        .json(
            #"{"access_token":"\#(access)","refresh_token":"\#(refresh)","expires_in":86400,"token_type":"Bearer"\#(more)}"#
        )
    }

    static func error(_ code: String, _ text: String = "", _ status: Int = 403) -> Self {
        .json(#"{"error":"\#(code)","error_description":"\#(text)"}"#, status)
    }

    static let wantsMore = json(#"{"error":"mfa_required","error_description":"x","mfa_token":"M1"}"#, 403)

    /// What the person has enrolled, by id.
    static func enrolled(_ ids: String...) -> Self {
        let known = [
            "totp": #"{"id":"totp","authenticator_type":"otp","active":true}"#,
            "sms": #"{"id":"sms","authenticator_type":"oob","oob_channel":"sms","name":"+1XXX","active":true}"#,
            "push": #"{"id":"push","authenticator_type":"oob","oob_channel":"auth0","active":true}"#,
            "recovery": #"{"id":"recovery","authenticator_type":"recovery-code","active":true}"#,
            "old": #"{"id":"old","authenticator_type":"otp","active":false}"#,
        ]
        return json("[\(ids.compactMap { known[$0] }.joined(separator: ","))]")
    }

    static let smsSent = json(#"{"challenge_type":"oob","oob_code":"O1","binding_method":"prompt"}"#)
    static let pushSent = json(#"{"challenge_type":"oob","oob_code":"O1"}"#)
}

/// A person with prepared answers, who remembers what they were asked and told.
final class Answers: ChallengeResponder {
    private struct State {
        var answers: [Factor.Key: [String]]
        var choice: Factor.Key?
        var asked: [Factor.Key] = []
        var told: [Outcome.Kind] = []
    }

    private let state: Mutex<State>

    init(_ answers: [Factor.Key: [String]] = [:], choosing choice: Factor.Key? = nil) {
        state = Mutex(State(answers: answers, choice: choice))
    }

    var asked: [Factor.Key] { state.withLock { $0.asked } }
    var told: [Outcome.Kind] { state.withLock { $0.told } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        let answer = state.withLock { state in
            state.asked.append(challenge.key)
            guard state.answers[challenge.key]?.isEmpty == false else { return String?.none }
            return state.answers[challenge.key]?.removeFirst()
        }
        switch answer {
        case nil: throw Challenge.NoAnswer(challenge.key)
        case "resend": return .resend
        case "other": return .useAnotherFactor
        case let answer?: return .text(Secret(answer))
        }
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        let choice = state.withLock { $0.choice }
        return factors.first { $0.key == choice }
    }

    func notice(_ outcome: Outcome) async {
        state.withLock { $0.told.append(outcome.kind) }
    }
}
