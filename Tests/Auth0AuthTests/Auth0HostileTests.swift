import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

@testable import Auth0Auth

/// Whatever a tenant answers in the middle of a sign-in: it ends soon, with an error that says why, and nothing is spent
/// twice.
@Suite struct Auth0HostileTests {
    typealias Step = Auth0Bench.Step

    struct Way: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [Step]
        var choice: Factor.Key?
        var method = Auth0SignInMethod.identifier("ada@example.com", password: "hunter2")

        init(_ name: String, _ steps: Step..., choosing choice: Factor.Key? = nil, by method: Auth0SignInMethod? = nil)
        {
            testDescription = name
            self.steps = steps
            self.choice = choice
            if let method { self.method = method }
        }
    }

    private static let app = Step.json(#"{"barcode_uri":"otpauth://totp/x","recovery_codes":["RC"]}"#)
    private static let pending = Step.error("authorization_pending", "", 400)
    private static let device = Step.json(
        #"{"device_code":"D","user_code":"U","verification_uri":"https://x/activate","interval":5,"expires_in":900}"#
    )
    private static let key = Step.json(#"{"auth_session":"AS","authn_params_public_key":{"challenge":"aGk"}}"#)
    private static let name = "ada@example.com"

    static let ways = [
        Way("password", .tokens()),
        Way("app", .wantsMore, .enrolled("totp"), .tokens()),
        Way("text message", .wantsMore, .enrolled("sms"), .smsSent, .tokens()),
        Way("push", .wantsMore, .enrolled("push"), .pushSent, pending, .tokens()),
        Way("recovery code", .wantsMore, .enrolled("recovery"), .tokens(more: #","recovery_code":"N""#)),
        Way("new app", .wantsMore, .enrolled(), app, .tokens(), choosing: .totp),
        Way("new phone", .wantsMore, .enrolled(), .smsSent, .tokens(), choosing: .phoneCode),
        Way("mail", .json("{}"), .tokens(), by: .passwordless(.emailCode, to: name)),
        Way(
            "mail of a database",
            .json(#"{"auth_session":"AS"}"#),
            .tokens(),
            by: .passwordless(.databaseEmailCode, to: name)
        ),
        Way("passkey", key, .tokens(), by: .passkey),
        Way("device", device, pending, .tokens(), by: .device),
        Way("renewal", .wantsMore, .enrolled("totp"), .tokens(), by: .renewal),
    ]

    private static let bodies = [
        "", "null", "[]", "{}", "7", "<html></html>", "plain text", "{", #"{"access_token":7}"#,
        #"{"access_token":""}"#,
        #"{"error":null}"#, #"{"error":["invalid_grant"]}"#, #"{"error":"access_denied"}"#,
        #"{"error":"mfa_required"}"#,
        #"{"error":"mfa_required","mfa_token":7}"#, #"{"error":"invalid_grant"}"#, #"{"error":"never_heard_of"}"#,
        #"{"error":"expired_token","error_description":"mfa_token is expired"}"#, #"{"error":"too_many_attempts"}"#,
        #"{"error":"slow_down"}"#, #"{"error":"authorization_pending"}"#, #"{"oob_code":7}"#, #"[{"id":null}]"#,
        #"{"statusCode":401,"error":"Unauthorized","message":"m"}"#, String(repeating: "[", count: 3000),
    ]

    private static let hostile: [(name: String, step: Step, provesNothingDone: Bool)] =
        [200, 401, 403, 429, 500].flatMap { status in
            bodies.map { ("\(status) \($0.prefix(80))", .json($0, status), status == 429) }
        } + [
            ("302", .json("", 302, ["location": "https://example.com/"]), false),
            ("401 bearer", .json("", 401, ["www-authenticate": #"Bearer error="invalid_token""#]), false),
            ("429 for ever", .json("", 429, ["retry-after": "99999999999999999999"]), true),
            ("429 passed", .json("", 429, ["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000000"]), true),
            (
                "429 for ages",
                .json("", 429, ["x-ratelimit-remaining": "0", "x-ratelimit-reset": "99999999999999999999"]), true
            ),
            ("503", .json("", 503, ["retry-after": "2"]), true),
            ("lost", .fail(.connectionLost, .unknown), false), ("cut", .fail(.truncated, .answered), false),
            ("unsent", .fail(.cannotConnect, .neverSent), true),
        ]

    @Test(arguments: ways) func itEndsSoonAndSpendsNothingTwice(way: Way) async throws {
        var share = Share(oneIn: 3, for: way.testDescription)
        for index in way.steps.indices {
            for (name, step, provesNothingDone) in Self.hostile {
                for isOnce in [true, false] {
                    guard share.takesNext() else { continue }
                    let rest = isOnce ? [step] + way.steps[index...] : Array(repeating: step, count: 200)
                    let (isKnown, bench) = try await signIn(way, way.steps[..<index] + rest)
                    let spent = bench.sent.filter { $0.split(separator: " ").last?.hasPrefix("answer") == true }
                    // Whoever is asked if somebody has answered elsewhere is asked every few seconds.
                    let polls = Int(bench.clock.now.offset.components.seconds / 4)
                    let isBounded = bench.transport.received.count <= 24 + polls
                    let isSpentOnce = provesNothingDone || Set(spent).count == spent.count
                    if isKnown, isBounded, isSpentOnce { continue }
                    Issue.record("\(way.testDescription), \(index), \(name), \(isOnce): \(bench.sent)")
                }
            }
        }
    }

    /// Whether it ends in a session, or in an error that says why.
    private func signIn(_ way: Way, _ steps: [Step]) async throws -> (Bool, Auth0Bench) {
        let bench = try Auth0Bench(
            steps,
            credentials: way.testDescription == "renewal"
                ? Credentials(accessToken: "A0", refreshToken: "R0") : Credentials()
        )
        let keys: [Factor.Key] = [.password, .totp, .phoneCode, .emailCode, .backupCode, .text, .phoneNumber]
        var answers: [Factor.Key: [String]] = [:]
        for key in keys { answers[key] = (1...9).map { "answer-\(key.rawValue)-\($0)" } }
        answers[.webauthn] = (1...9).map { #"{"id":"answer\#($0)"}"# }
        let person = Answers(answers, choosing: way.choice)
        do {
            _ = try await bench.clock.skippingWaits {
                try await bench.auth0.signIn(way.method, answering: person)
            }
            return (true, bench)
        } catch {
            return (error is RecoveryError || error is Challenge.NoAnswer, bench)
        }
    }
}
