import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import SignInSupport
import Testing

/// Whatever an org answers in the middle of a sign-in: it ends soon, with an error that says why, and nothing is spent
/// twice.
@Suite("An Okta org that answers anything", .timeLimit(.minutes(30)))
struct OktaHostileTests {
    typealias Step = ScriptedTransport.Step

    struct Way: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [Step]
        var choice: String?
        var way: OktaConfiguration.Way

        init(
            _ name: String,
            _ steps: Step...,
            choosing choice: String? = nil,
            by way: OktaConfiguration.Way = .authentication
        ) {
            testDescription = name
            self.steps = way == .identityEngine ? [.interact, .ion(Ion.identify)] + steps : steps
            self.choice = choice
            self.way = way
        }
    }

    private static let totp = OktaJSON.factor("token:software:totp")
    private static let sms = OktaJSON.factor("sms")
    private static let push = OktaJSON.factor("push")
    private static let waiting = Step.challenge(push, result: "WAITING", next: "poll")
    private static let reached = Step.answer(
        OktaJSON.state(
            "RECOVERY_CHALLENGE",
            links: [OktaJSON.link("next", "/recovery/factors/sms/verify", name: "verify")],
            more: #","factorType":"SMS""#
        )
    )
    private static let unlocked = Step.success(nil, more: #","recoveryType":"UNLOCK""#)
    private static let typed = Step.ion(Ion.answer, more: Ion.password)
    private static let pushed = Step.ion(
        Ion.form("challenge-poll", "authenticators/poll", more: #","refresh":4000"#),
        more: Ion.current("okta_verify", "push")
    )
    private static let mailed = Step.ion(
        Ion.answer,
        more: Ion.current(
            "okta_email",
            "email",
            #""poll":\#(Ion.form("poll", "challenge/poll", more: #","refresh":4000"#)),\#(Ion.resend)"#
        )
    )
    private static let renewed = Step.ion(
        Ion.form("reenroll-authenticator", "challenge/answer", Ion.passcode),
        more: Ion.password
    )
    private static let second = Step.status(403, [:], body: #"{"error":"mfa_required","mfa_token":"fw1"}"#)
    private static let notYet = Step.status(400, [:], body: #"{"error":"authorization_pending"}"#)
    private static func oob(_ binding: String) -> Step {
        .answer(#"{"oob_code":"ft1","expires_in":300,"binding_method":"\#(binding)","interval":5}"#)
    }

    static let ways = [
        Way("password", .success(), .session),
        Way("app", .required(totp), .success(), .session),
        Way("text message", .required(sms), .challenge(sms), .success(), .session),
        Way("push", .required(push), waiting, waiting, .success(), .session),
        Way("new password", .expired(), .success(), .session),
        Way("unlock", .lockedOut, reached, unlocked, .success(), .session, choosing: "SMS"),
        Way("engine", typed, .interactionCode, .tokens, by: .identityEngine),
        Way("engine, push", typed, pushed, pushed, .interactionCode, .tokens, by: .identityEngine),
        Way("engine, mail", mailed, .interactionCode, .tokens, by: .identityEngine),
        Way("engine, new password", renewed, .interactionCode, .tokens, by: .identityEngine),
        Way("direct", .tokens, by: .directAuthentication),
        Way("direct, app", second, .tokens, choosing: "otp", by: .directAuthentication),
        Way("direct, push", second, oob("none"), notYet, .tokens, choosing: "push", by: .directAuthentication),
        Way("direct, text message", second, oob("prompt"), .tokens, choosing: "sms", by: .directAuthentication),
    ]

    private static let bodies =
        [
            "", "null", "[]", "{}", "7", "<html></html>", "plain text", "{", #"{"status":7}"#, #"{"status":""}"#,
            #"{"status":"SUCCESS","sessionToken":7}"#, #"{"status":"MFA_REQUIRED","stateToken":"00st1"}"#,
            #"{"status":"MFA_CHALLENGE","stateToken":"00st1"}"#, #"{"status":"OF_TOMORROW","stateToken":"00st1"}"#,
            #"{"errorCode":7}"#, #"{"error":null}"#, #"{"error":"access_denied"}"#, #"{"error":"invalid_grant"}"#,
            #"{"error":"mfa_required","mfa_token":7}"#, #"{"error":"slow_down"}"#, #"{"oob_code":7}"#,
            #"{"access_token":""}"#, #"{"interaction_handle":7}"#, #"{"version":"1.0.0","stateHandle":"H"}"#,
            #"{"version":"1.0.0","stateHandle":"H","remediation":{"value":[{"name":"challenge-authenticator"}]}}"#,
            #"{"version":"1.0.0","stateHandle":"H","remediation":{"value":[\#(Ion.skip)]}}"#,
            #"{"version":"1.0.0","successWithInteractionCode":{"name":"issue","value":[]}}"#,
            #"{"version":"1.0.0","stateHandle":"H",\#(Ion.message("idx.session.expired"))}"#,
            #"{"version":"1.0.0","stateHandle":"H","remediation":{"value":[\#(Ion.answer)]},"#
                + "\(Ion.message("of.tomorrow"))}",
            String(repeating: "[", count: 3000),
        ] + ["E0000004", "E0000011", "E0000068", "E0000069", "E0000079", "E9999999"].map { Recorded.error($0) }

    private static let hostile: [(name: String, step: Step, provesNothingDone: Bool)] =
        [200, 401, 403, 429, 500].flatMap { status in
            bodies.map { ("\(status) \($0.prefix(80))", .status(status, [:], body: $0), status == 429) }
        } + [
            ("302", .status(302, ["location": "https://example.com/"]), false),
            ("429 E0000047", .error(47, 429, ["x-rate-limit-reset": "99999999999999999999"]), true),
            ("429 at once", .error(47, 429, ["x-rate-limit-limit": "0", "x-rate-limit-remaining": "0"]), true),
            ("503", .status(503, ["retry-after": "2"]), true),
            ("lost", .fail(.connectionLost, .unknown), false), ("cut", .fail(.truncated, .answered), false),
            ("unsent", .fail(.cannotConnect, .neverSent), true),
        ]

    @Test(arguments: ways) func itEndsSoonAndSpendsNothingTwice(way: Way) async throws {
        var share = Share(oneIn: 7, for: way.testDescription)
        for index in way.steps.indices {
            for (name, step, provesNothingDone) in Self.hostile {
                for isOnce in [true, false] {
                    guard share.takesNext() else { continue }
                    let rest = isOnce ? [step] + way.steps[index...] : Array(repeating: step, count: 200)
                    let (isKnown, bench) = try await signIn(way, way.steps[..<index] + rest)
                    let spent = bench.transport.received.map { "\($0.request.path ?? "") \($0.text)" }
                        .filter { text in Self.spending(way).contains { text.contains($0) } }
                    // Whoever is asked if somebody has answered elsewhere is asked every few seconds.
                    let polls = Int(bench.clock.now.offset.components.seconds / 4)
                    let isBounded = bench.transport.received.count <= 40 + polls
                    let isSpentOnce = provesNothingDone || Set(spent).count == spent.count
                    if isKnown, isBounded, isSpentOnce { continue }
                    Issue.record("\(way.testDescription), \(index), \(name), \(isOnce): \(bench.sent)")
                }
            }
        }
    }

    /// What stands in requests that spend something; a password that was right serves again for a new session token.
    private static func spending(_ way: Way) -> [String] {
        let all = ["_code-", "totp-", "new_password-", "20111st", "=IC"]
        return way.way == .authentication ? all : all + ["answer-"]
    }

    /// Whether it ends in a session, or in an error that says why.
    private func signIn(_ way: Way, _ steps: [Step]) async throws -> (Bool, OktaBench) {
        let bench =
            way.way == .authentication
            ? try OktaBench(steps) : try OktaBench.engine(steps, begins: false) { $0.way = way.way }
        let keys: [Factor.Key] = [.password, .newPassword, .totp, .phoneCode, .emailCode, .text]
        var answers: [Factor.Key: [Challenge.Answer]] = [:]
        for key in keys { answers[key] = (1...9).map { .text(Secret("answer-\(key.rawValue)-\($0)")) } }
        let person = Person(answers, choosing: way.choice)
        do {
            _ = try await bench.skippingWaits {
                try await bench.okta.signIn(identifier: "ada", password: "answer-0", answering: person)
            }
            return (true, bench)
        } catch {
            return (error is RecoveryError || error is Challenge.NoAnswer, bench)
        }
    }
}
