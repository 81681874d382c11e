import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// Whatever an instance answers in the middle of a sign-in: it ends soon, with an error that says why, nothing is spent
/// twice, and the client token is kept.
@Suite("A Clerk instance that answers anything", .timeLimit(.minutes(30)))
struct ClerkHostileTests {
    typealias Step = ScriptedTransport.Step

    @Test(arguments: ClerkWay.all) func itEndsSoonAndSpendsNothingTwice(way: ClerkWay) async throws {
        var share = Share(oneIn: 25, for: way.testDescription)
        for index in way.steps.indices {
            for hostile in ClerkHostile.all {
                for isOnce in [true, false] {
                    guard share.takesNext() else { continue }
                    let rest =
                        isOnce ? [hostile.step] + way.steps[index...] : Array(repeating: hostile.step, count: 200)
                    let run = try await ClerkRun(way, way.steps[..<index] + rest, hostileFrom: index)
                    let faults = run.faults(hostile)
                    if faults.isEmpty { continue }
                    let place = "\(way.testDescription), \(index), \(hostile.name), \(isOnce ? "once" : "for ever")"
                    Issue.record("\(place): \(faults) \(run.bench.sent) \(run.end)")
                }
            }
        }
    }
}

/// A sign-in with a person who has nine answers to everything, and how it ends.
private struct ClerkRun {
    let bench: ClerkBench
    private(set) var end = "session"
    private var isKnown = true
    private let keepsToken: Bool
    private let index: Int
    private let goesAgain: String?

    init(_ way: ClerkWay, _ steps: [ScriptedTransport.Step], hostileFrom index: Int) async throws {
        bench = try ClerkBench(steps, credentials: way.credentials, configuration: way.configuration)
        (self.index, goesAgain) = (index, way.goesAgain)
        let keys: [Factor.Key] = [
            .password, .newPassword, .totp, .backupCode, .phoneCode, .emailCode, .text, .phoneNumber, .redirect,
            .emailLink, .webauthn,
        ]
        var answers: [Factor.Key: [Challenge.Answer]] = [:]
        for key in keys { answers[key] = (1...9).map { .text(Self.answer(key, "answer-\(key.rawValue)-\($0)")) } }
        let person = Person(answers, choosing: way.choice)
        do {
            try await bench.skippingWaits { [bench] in try await way.signIn(bench.clerk, person) }
        } catch {
            isKnown = error is RecoveryError || error is Challenge.NoAnswer
            end = "\(error)"
        }
        keepsToken = try await bench.credentials.clientToken != nil
    }

    private static func answer(_ key: Factor.Key, _ text: String) -> Secret {
        switch key {
        case .redirect: Secret("myapp://callback?rotating_token_nonce=\(text)")
        case .emailLink: Secret("myapp://callback?flow_id=f&approval_token=\(text)")
        case .webauthn: Secret(#"{"id":"\#(text)"}"#)
        default: Secret(text)
        }
    }

    /// What is wrong about it.
    func faults(_ hostile: ClerkHostile) -> [String] {
        // Whoever waits for a link asks every few seconds.
        let polls = Int(bench.clock.now.offset.components.seconds / 3)
        let spent = bench.transport.received.enumerated().compactMap { (number, received) -> String? in
            let text = "\(received.request.path ?? "") \(received.text)"
            guard text.contains("answer-"), received.request.method != .patch else { return nil }
            // A password that was right, or that nobody looked at, serves again for a new sign-in; a sign-up spends none.
            let isPassword = text.contains("&password=answer-")
            if isPassword, number < index || hostile.isRefusal || text.contains("/sign_ups?") { return nil }
            return goesAgain.map(text.contains) == true ? nil : text
        }
        return [
            isKnown ? nil : "unknown error", bench.sent.count <= 40 + polls ? nil : "endless",
            hostile.provesNothingDone || Set(spent).count == spent.count ? nil : "spent twice",
            hostile.clearsToken || keepsToken ? nil : "token gone", end.contains("answer-") ? "secret" : nil,
        ].compactMap(\.self)
    }
}

/// An answer that nobody should give.
struct ClerkHostile: Sendable {
    var name: String
    var step: ScriptedTransport.Step
    /// Whether it proves that nothing was done.
    var provesNothingDone = false
    /// Whether it says that the request was refused, or has led to nothing that goes on.
    var isRefusal = false
    /// Whether a header says that the client token is to be dropped.
    var clearsToken = false

    private static let junk = [
        "", "null", "[]", "{}", "7", "<html></html>", "plain text", "{", #"{"errors":[]}"#, #"{"errors":null}"#,
        #"{"errors":"signed_out"}"#, #"{"errors":[null,7,[]]}"#,
        #"{"errors":[{"code":7,"message":[],"meta":"x"}]}"#, #"{"errors":[{"code":""}]}"#,
        #"{"errors":[{"meta":{"client":7}}],"meta":{"client":7}}"#, #"{"error":"invalid_grant"}"#,
        #"{"error":{"code":"form_code_incorrect"}}"#, #"{"clerk_error":{"reason":"reverification-error"}}"#,
        #"{"response":null,"client":null}"#, #"{"response":7,"client":[]}"#, #"{"response":{"id":"sia_1"}}"#,
        #"{"object":"token","jwt":7}"#, String(repeating: "[", count: 3000),
        String(repeating: #"{"errors":"#, count: 3000),
    ]

    /// Resources that say where something stands, and nothing that leads on.
    private static let signIns: [String] = [
        #""id":"","status":"complete""#, #""id":"x","status":7"#, #""id":"x","status":"of_tomorrow""#,
        #""id":"x","status":"complete""#, #""id":"x","status":"complete","created_session_id":7"#,
        #""id":"x","status":"complete","created_session_id":"sess_404""#, #""id":"x","status":"abandoned""#,
        #""id":"x","status":"needs_identifier""#, #""id":"x","status":"needs_protect_check""#,
        #""id":"x","status":"needs_first_factor","protect_check":{"status":"pending"}"#,
        #""id":"x","status":"needs_first_factor","supported_first_factors":null"#,
        #""id":"x","status":"needs_first_factor","supported_first_factors":[7,{"strategy":"blood"}]"#,
        #""id":"x","status":"needs_first_factor","supported_first_factors":[{"strategy":"password"}]"#,
        #""id":"x","status":"needs_second_factor","supported_second_factors":[{"strategy":"totp"}]"#,
        #""id":"x","status":"needs_new_password""#,
        #""id":"x","status":"needs_first_factor","first_factor_verification":{"status":"transferable"}"#,
        #""id":"x","status":"needs_first_factor","first_factor_verification":{"status":"failed"}"#,
        #""id":"x","status":"needs_second_factor","second_factor_verification":{"error":{"code":"user_locked"}}"#,
    ]

    private static let resources: [String] =
        signIns.map { #"{"response":{"object":"sign_in_attempt",\#($0)},"client":null}"# } + [
            #"{"response":{"object":"sign_up_attempt","id":"x","status":"missing_requirements"},"client":null}"#,
            #"{"response":{"object":"sign_up_attempt","id":"x","status":"complete"},"client":null}"#,
            #"{"response":{"object":"session","id":"sess_1","status":"pending","tasks":[7]}}"#,
            #"{"response":{"object":"session","id":"sess_1","status":"ended"},"client":{"sessions":[]}}"#,
            #"{"response":{"object":"session_verification","status":"complete","session":7}}"#,
            #"{"response":{"object":"client","id":"c","sessions":[],"sign_in":null},"client":null}"#,
            #"{"response":{"object":"client","id":"c","sessions":[{"id":"sess_2"}]},"client":null}"#,
        ]

    private static let codes = [
        "form_password_incorrect", "form_code_incorrect", "form_password_compromised", "form_identifier_not_found",
        "password_reset_required", "verification_expired", "verification_missing", "verification_already_verified",
        "user_locked", "session_exists", "client_not_found", "signed_out", "authentication_invalid",
        "resource_not_found", "requires_captcha", "requires_protect_check", "session_reverification_required",
        "account_transfer_invalid", "sms_verification_not_yet_sent", "strategy_for_user_invalid", "resource_locked",
        "too_many_requests", "ticket_invalid_code", "internal_clerk_error", "of_tomorrow",
    ]

    /// What says that nothing was looked at, with a status of the 4xx.
    private static let unprocessed = [
        "resource_locked", "too_many_requests", "internal_clerk_error", "signed_out", "authentication_invalid",
        "client_not_found", "resource_not_found",
    ]

    private static func answered(_ status: Int) -> [ClerkHostile] {
        let bodies = junk + codes.map { Clerked.error($0) } + (status == 200 ? resources : [])
        return bodies.map { body in
            ClerkHostile(
                name: "\(status) \(body.prefix(120))",
                step: .status(status, [:], body: body),
                provesNothingDone: status == 429 || status == 401
                    || status == 422 && unprocessed.contains(where: body.contains),
                isRefusal: (400..<500).contains(status) || body.contains("abandoned")
            )
        }
    }

    static let all: [ClerkHostile] = [200, 401, 422, 429, 500].flatMap(answered) + others

    private static let others: [ClerkHostile] = [
        ClerkHostile(name: "302", step: .status(302, ["location": "https://example.com/"])),
        ClerkHostile(name: "403", step: .status(403, [:], body: "{}"), isRefusal: true),
        ClerkHostile(name: "404", step: .status(404, [:], body: "<html>"), isRefusal: true),
        ClerkHostile(name: "410", step: .status(410), isRefusal: true),
        ClerkHostile(name: "cleared", step: .status(200, ["authorization": "Bearer "]), clearsToken: true),
        ClerkHostile(
            name: "401 cleared",
            step: .status(401, ["authorization": ""]),
            provesNothingDone: true,
            clearsToken: true
        ),
        ClerkHostile(
            name: "429 for ages",
            step: .status(429, ["retry-after": "99999999999999999999"]),
            provesNothingDone: true
        ),
        ClerkHostile(name: "429 nan", step: .status(429, ["retry-after": "nan"]), provesNothingDone: true),
        ClerkHostile(
            name: "locked for ever",
            step: .error("user_locked", status: 403, meta: #"{"lockout_expires_in_seconds":1e400}"#)
        ),
        ClerkHostile(
            name: "locked for no time",
            step: .error("user_locked", status: 403, meta: #"{"lockout_expires_in_seconds":-7}"#),
            provesNothingDone: true
        ),
        ClerkHostile(name: "503", step: .status(503, ["retry-after": "2"]), provesNothingDone: true),
        ClerkHostile(name: "lost", step: .fail(.connectionLost, .unknown)),
        ClerkHostile(name: "cut", step: .fail(.truncated, .answered)),
        ClerkHostile(name: "unsent", step: .fail(.cannotConnect, .neverSent), provesNothingDone: true),
    ]
}
