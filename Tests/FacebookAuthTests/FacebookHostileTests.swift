import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// Whatever Graph answers in the middle of a sign-in: it ends soon, with an error that says why, nothing is spent twice, and
/// no token is lost that was not refused.
@Suite("A Graph that answers anything", .timeLimit(.minutes(30)))
struct FacebookHostileTests {
    typealias Step = ScriptedTransport.Step

    struct Way: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [Step]
        var app = FacebookBench.service
        var credentials = FacebookBench.ada
        var usesBrowser = false
        var perform: @Sendable (Facebook, any ChallengeResponder) async throws -> Void
    }

    private static let post = ProviderRequest(.post, path: "me/feed", body: .form(["message": "answer-x"]))
    private static let info = Step.answer(
        #"{"data":{"is_valid":false,"app_id":"77","user_id":"1","scopes":["email"],"error":{"code":190,"subcode":463}}}"#
    )
    private static let signIn: @Sendable (Facebook, any ChallengeResponder) async throws -> Void = {
        _ = try await $0.signIn(answering: $1)
    }
    private static let read: @Sendable (Facebook, any ChallengeResponder) async throws -> Void = {
        _ = try await $0.send(path: "me/feed", answering: $1)
    }
    private static let write: @Sendable (Facebook, any ChallengeResponder) async throws -> Void = {
        _ = try await $0.send(post, answering: $1)
    }

    static let ways = [
        Way(testDescription: "web", steps: [.token(), .me], usesBrowser: true, perform: signIn),
        Way(
            testDescription: "device",
            steps: [.device, .pending, .token(), .me, .permissions],
            app: FacebookBench.app,
            perform: signIn
        ),
        Way(testDescription: "exchange", steps: [.token()]) { facebook, _ in _ = try await facebook.refresh() },
        Way(testDescription: "whose token", steps: [.error(190), info]) { facebook, _ in
            _ = try await facebook.currentUser()
        },
        Way(testDescription: "no more", steps: [.answer(#"{"success":true}"#)]) { facebook, _ in
            try await facebook.signOut(revoking: true)
        },
        Way(
            testDescription: "again, device",
            steps: [.error(190, 463), .device, .token(), .me, .permissions, .answer("{}")],
            app: FacebookBench.app,
            perform: read
        ),
        Way(
            testDescription: "again, web, write",
            steps: [.error(190), info, info, .token(), .me, .answer(#"{"id":"9"}"#)],
            usesBrowser: true,
            perform: write
        ),
    ]

    /// An answer that nobody should give.
    private struct Hostile {
        var name: String
        var step: Step
        /// Whether it proves that nothing was done.
        var provesNothingDone = false
        /// Whether it says in a word that is known that the token is refused.
        var refusesToken = false
    }

    private static let junk = [
        "", "null", "true", "false", "[]", "{}", "7", "<html></html>", "<title>Facebook | Error</title>", "plain text",
        "Service Unavailable", "{", #"{"error":"text"}"#, #"{"error":"invalid_request","error_description":"d"}"#,
        #"{"error":null}"#, #"{"error":[]}"#, #"{"error":{}}"#, #"{"error":7}"#, #"{"error":{"code":""}}"#,
        #"{"error":{"code":99999999999999999999}}"#, #"{"error":{"code":-2}}"#, #"{"error":{"code":1e400}}"#,
        #"{"error":{"code":[190]}}"#, #"{"error":{"code":100,"is_transient":true}}"#,
        #"{"error":{"code":2,"is_transient":"yes"}}"#, #"{"error_code":1,"error_msg":"m"}"#,
        #"{"error_type":"OAuthException","code":400,"error_message":"m"}"#,
        #"for (;;);{"error":1357001,"errorSummary":"s"}"#, #"{"data":null}"#, #"{"data":{"is_valid":"perhaps"}}"#,
        #"{"data":{"is_valid":true,"user_id":7,"scopes":"email"}}"#, #"{"data":[null,7]}"#,
        "access_token=tok9&expires=5183999", "access_token=", #"{"access_token":7}"#, #"{"access_token":""}"#,
        #"{"access_token":"tok9","expires_in":"soon"}"#, #"{"access_token":"tok9","expires_in":-1}"#,
        #"{"access_token":"tok9","expires_in":1e400}"#, #"{"code":"dev1","user_code":7,"verification_uri":[]}"#,
        #"{"code":"d","user_code":"U","verification_uri":"u","expires_in":0,"interval":1e9}"#,
        #"{"code":"d","user_code":"U","verification_uri":"u","expires_in":1e400,"interval":-1}"#, #"{"id":7}"#,
        #"{"id":"2"}"#, #"{"success":false}"#, String(repeating: "[", count: 3000),
        String(repeating: #"{"error":"#, count: 3000),
    ]
    private static let refusals = [
        #"{"error":{"code":"190","error_subcode":{}}}"#, #"{"error":{"code":190,"error_subcode":"463"}}"#,
        #"{"data":{"is_valid":false}}"#, Recorded.error(102), Recorded.error(190, 467), Recorded.error(412),
        Recorded.error(2500, nil, "An active access token must be used"),
        // Nobody knows of these whose word they are.
        #"{"error":{"code":0,"type":"AuthException"}}"#,
    ]
    private static let limits =
        [4, 17, 613, 80_001].map { Recorded.error($0) } + [
            #"/**/ cb({"error":{"code":4}});"#, Recorded.error(17, 1_349_172),
        ]
    private static let codes =
        [1, 2, 10, 100, 104, 200, 368, 987_654].map { Recorded.error($0) } + [
            Recorded.error(190, 459), Recorded.error(190, 492), Recorded.error(31, 1_349_174),
            Recorded.error(31, 1_349_173), Recorded.error(463, 1_349_152),
            Recorded.error(100, nil, "This authorization code has been used."),
            Recorded.error(1, nil, "Error validating client secret."),
        ]

    private static let hostile: [Hostile] =
        [200, 400, 401, 429, 500].flatMap { status in
            let all =
                (junk + codes).map { ($0, false, false) } + refusals.map { ($0, false, true) }
                + limits.map { ($0, true, false) }
            return all.map { body, isLimit, refuses in
                Hostile(
                    name: "\(status) \(body.prefix(120))",
                    step: .status(status, ["content-type": "text/javascript; charset=UTF-8"], body: body),
                    provesNothingDone: isLimit || status == 429,
                    refusesToken: refuses
                )
            }
        } + [
            Hostile(name: "302", step: .status(302, ["location": "https://example.com/"])),
            Hostile(name: "403", step: .status(403, [:], body: "{}")),
            Hostile(name: "404", step: .status(404, [:], body: "<html>")),
            Hostile(
                name: "401 challenge",
                step: .status(401, ["www-authenticate": #"OAuth "Facebook Platform" "invalid_token" "text""#])
            ),
            Hostile(
                name: "429 for ages",
                step: .status(429, ["retry-after": "99999999999999999999"]),
                provesNothingDone: true
            ),
            Hostile(
                name: "blocked for ages",
                step: .error(
                    80_001,
                    nil,
                    400,
                    ["x-business-use-case-usage": #"{"1":[{"type":"pages","estimated_time_to_regain_access":1e300}]}"#]
                ),
                provesNothingDone: true
            ),
            Hostile(
                name: "usage",
                step: .status(400, ["x-app-usage": #"{"call_count":"1e9"}"#], body: "{}"),
                provesNothingDone: true
            ),
            Hostile(name: "503", step: .status(503, ["retry-after": "2"]), provesNothingDone: true),
            Hostile(name: "lost", step: .fail(.connectionLost, .unknown)),
            Hostile(name: "cut", step: .fail(.truncated, .answered)),
            Hostile(name: "unsent", step: .fail(.cannotConnect, .neverSent), provesNothingDone: true),
        ]

    @Test(arguments: ways) func itEndsSoonAndSpendsNothingTwice(way: Way) async throws {
        var share = Share(oneIn: 10, for: way.testDescription)
        for index in way.steps.indices {
            for hostile in Self.hostile {
                for isOnce in [true, false] {
                    guard share.takesNext() else { continue }
                    let rest =
                        isOnce ? [hostile.step] + way.steps[index...] : Array(repeating: hostile.step, count: 200)
                    let (faults, bench, end) = try await run(way, way.steps[..<index] + rest, hostile, at: index)
                    if faults.isEmpty { continue }
                    let place = "\(way.testDescription), \(index), \(hostile.name), \(isOnce ? "once" : "for ever")"
                    Issue.record("\(place): \(faults) \(bench.sent) \(end)")
                }
            }
        }
    }

    private func run(
        _ way: Way,
        _ steps: [Step],
        _ hostile: Hostile,
        at index: Int
    ) async throws -> (faults: [String], bench: FacebookBench, end: String) {
        let bench = try FacebookBench(
            steps,
            app: way.app,
            credentials: way.credentials,
            configuration: way.usesBrowser ? FacebookWebLoginTests.configuration : FacebookConfiguration()
        )
        let codes = (1...9).map { "http://127.0.0.1:5000/back?code=answer-\($0)&granted_scopes=email&state=STATE" }
        let person: any ChallengeResponder = way.usesBrowser ? Browser(codes) : Person()
        var isKnown = true
        var end = "done"
        do {
            try await bench.skippingWaits { try await way.perform(bench.facebook, person) }
        } catch {
            isKnown = error is RecoveryError || error is Challenge.NoAnswer
            end = "\(error)"
        }
        // Whoever waits for a person asks every few seconds.
        let polls = Int(bench.clock.now.offset.components.seconds / 5)
        // What met the dead token has done nothing.
        let spent = bench.sent.enumerated().filter { $0.offset >= index && $0.element.contains("answer-") }
            .map(\.element)
        let mayGoAgain = hostile.provesNothingDone || hostile.refusesToken
        let mayBeGone = index > 0 || hostile.refusesToken || end == "done"
        let isHeld = try await bench.credentials.accessToken != nil
        let faults = [
            isKnown ? nil : "unknown error", bench.sent.count <= 30 + polls ? nil : "endless",
            mayGoAgain || Set(spent).count == spent.count ? nil : "spent twice",
            mayBeGone || isHeld ? nil : "token gone",
            ["answer-", "tok1", "tok2", "s3cret"].contains(where: end.contains) ? "secret" : nil,
        ]
        return (faults.compactMap(\.self), bench, end)
    }
}
