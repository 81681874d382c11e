import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("What Okta's other answers mean")
struct OktaAnswerTests {
    static let authn = "/api/v1/authn"
    static let poll = #""_links":{"next":{"name":"poll","href":"https://o/p"}}"#
    private static let verify = #""_links":{"next":{"name":"verify","href":"https://o/v"}}"#

    private static func live(
        _ status: String,
        _ more: String = "",
        _ kind: Outcome.Kind = .continue,
        _ remedies: [Outcome.Remedy] = [.askUser],
        _ action: Outcome.TokenAction = .keep,
        token: String? = "00st1",
        presenting presented: Outcome.CredentialKind? = .state,
        delay: Duration? = nil
    ) -> Row {
        let body = Recorded.state(status, more, token: token)
        return Row(
            "\(status) \(more)",
            Recorded(status: 200, body: body, presented: presented, path: authn),
            kind,
            remedies,
            action,
            delay: delay
        )
    }

    private static func factor(_ type: String) -> String { #""_embedded":{"factors":[{"factorType":"\#(type)"}]}"# }

    private static func result(_ result: String) -> String { #""factorResult":"\#(result)",\#(verify)"# }

    static let states: [Row] = [
        live("UNAUTHENTICATED"),
        live("PASSWORD_WARN", "", .continue, [.changePassword]),
        live("PASSWORD_EXPIRED", "", .passwordExpired, [.changePassword]),
        live("PASSWORD_RESET", "", .continue, [.changePassword]),
        live("RECOVERY"),
        live("RECOVERY_CHALLENGE", #""factorType":"SMS",\#(verify)"#),
        live(
            "RECOVERY_CHALLENGE",
            #""factorType":"EMAIL","factorResult":"WAITING""#,
            .continue,
            [.visitProvider],
            token: nil
        ),
        live(
            "LOCKED_OUT",
            #""_links":{"next":{"name":"unlock","href":"https://o/u"}}"#,
            .accountLocked,
            [.unlock, .contactAdmin],
            .clear,
            token: nil
        ),
        live("LOCKED_OUT", "", .accountLocked, [.contactAdmin], .keep, token: nil, presenting: nil),
        live("MFA_ENROLL"),
        live("MFA_ENROLL_ACTIVATE", #""_links":{"next":{"name":"activate","href":"https://o/a"}}"#),
        live("MFA_ENROLL_ACTIVATE", poll, .continue, [.poll]),
        // A factor that is enrolled and not active yet: what is wanted is told by the status and the link.
        live("MFA_ENROLL_ACTIVATE", #""factorResult":"PENDING_ACTIVATION",\#(poll)"#, .continue, [.poll]),
        live("MFA_ENROLL_ACTIVATE", #""factorResult":"PENDING_ACTIVATION",\#(verify)"#),
        live(
            "MFA_ENROLL_ACTIVATE",
            #""_embedded":{"factor":{"_embedded":{"activation":{"factorResult":"TIMEOUT"}}}}"#,
            .challengeExpired,
            [.newChallenge, .switchFactor]
        ),
        live("MFA_REQUIRED"),
        live("MFA_REQUIRED", factor("token:software:totp")),
        live("MFA_REQUIRED", factor("question")),
        live("MFA_REQUIRED", factor("sms"), .continue, [.newChallenge, .askUser]),
        live("MFA_CHALLENGE", verify),
        live("MFA_CHALLENGE", #""factorResult":"WAITING",\#(poll)"#, .continue, [.poll]),
        live("MFA_CHALLENGE", result("CHALLENGE")),
        live("MFA_CHALLENGE", result("REJECTED"), .declined, []),
        live("MFA_CHALLENGE", result("CANCELLED"), .declined, []),
        live("MFA_CHALLENGE", result("TIMEOUT"), .challengeExpired, [.newChallenge, .switchFactor]),
        live("MFA_CHALLENGE", result("ERROR"), .unavailable, [.newChallenge, .switchFactor]),
        live("MFA_CHALLENGE", result("FAILED"), .challengeIncorrect, [.newChallenge, .switchFactor]),
        live("MFA_CHALLENGE", result("PASSCODE_REPLAYED"), .challengeIncorrect, [.askUser]),
        live("MFA_CHALLENGE", result("TIME_WINDOW_EXCEEDED"), .challengeIncorrect, [.askUser]),
        live("MFA_CHALLENGE", result("OF_TOMORROW"), .continue, []),
        live("MFA_ENROLL_ACTIVATE", #""factorResult":"ACTIVE",\#(verify)"#),
        live("MFA_ENROLL_ACTIVATE", #""factorResult":"SUCCESS",\#(verify)"#),
        live("SUCCESS", #""sessionToken":"s""#, .ok, [], .clear, token: nil),
        live("SUCCESS", #""sessionToken":"s""#, .ok, [], .keep, token: nil, presenting: nil),
        live("SUCCESS", #""_links":{"next":{"name":"original","href":"https://o/r"}}"#, .ok, []),
        live("SUCCESS", #""recoveryType":"UNLOCK""#, .ok, [], .clear, token: nil),
        live(
            "POLL",
            #""_embedded":{"transaction":{"profile":{"refresh":4000}}}"#,
            .continue,
            [.poll],
            delay: .seconds(4)
        ),
        live("PROFILE_REQUIRED"), live("CONSENT_REQUIRED"),
        live("ADMIN_CONSENT_REQUIRED", "", .continue, [.contactAdmin]),
        live("DEVICE_ACTIVATE"), live("FACTOR_REQUIRED"), live("FACTOR_ENROLL"), live("FACTOR_ENROLL_ACTIVATE"),
        live("STATUS_OF_TOMORROW", "", .continue, []),
    ]

    @Test(arguments: states)
    func everyStatusAndResultHasItsMeaning(row: Row) {
        let outcome = row.check()
        #expect(outcome.statusType.map { row.name.hasPrefix($0) } == true)
        #expect(outcome.processed == .yes)
        let stated = row.name.split(separator: "\"").drop { $0 != "factorResult" }.dropFirst(2).first.map(String.init)
        #expect(outcome.factorResult == stated)
    }

    static func quiet(
        _ path: String,
        _ body: String,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        _ action: Outcome.TokenAction = .keep,
        status: Int = 200,
        presenting presented: Outcome.CredentialKind? = .state,
        _ method: HTTPRequest.Method = .post,
        lines: [(String, String)] = [],
        _ credential: Outcome.CredentialKind? = nil
    ) -> Row {
        let recorded = Recorded(
            status: status,
            body: body,
            lines: lines,
            presented: presented,
            method: method,
            path: path
        )
        return Row("\(status) \(path) \(body)", recorded, kind, remedies, action, credential)
    }

    /// The exchange of a session token by a redirect.
    private static func exchange(
        _ presented: Outcome.CredentialKind,
        _ location: String,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        _ credential: Outcome.CredentialKind? = nil
    ) -> Row {
        quiet(
            "/oauth2/v1/authorize?client_id=c&sessionToken=20111",
            "",
            kind,
            remedies,
            .clear,
            status: 302,
            presenting: presented,
            .get,
            lines: [("location", location)],
            credential
        )
    }

    private static let wantsMore =
        "The+client+specified+not+to+prompt%2C+but+the+client+app+requires+re-authentication+or+MFA."

    static let successes: [Row] = [
        quiet("/api/v1/authn/cancel", #"{"relayState":""}"#, .ok, [], .clear),
        quiet("/api/v1/authn/cancel", #"{"_embedded":{}}"#, .ok, [], .clear),
        quiet("/api/v1/authn/cancel", "{}", .ok, [], .clear),
        quiet("/api/v1/authn/cancel", "", .ok, [], .clear),
        quiet("/api/v1/authn/cancel", "", .ok, [], .keep, presenting: nil),
        quiet("/api/v1/authn/factors/1/lifecycle/resend", #"{"_embedded":{"factor":{}}}"#, .continue, [.askUser]),
        quiet("/api/v1/authn/factors/1/verify/resend", "{}", .continue, [.askUser]),
        quiet("/api/v1/authn/factors/1/verify", "{}", .unreadable),
        quiet("/api/v1/authn/factors/1/verify", "", .unreadable),
        quiet("/api/v1/authn/factors/1/verify/resend", "", .ok),
        quiet("/api/v1/authn/credentials/change_password", "", .unreadable),
        quiet("/api/v1/authn/recovery/answer", "", .unreadable),
        quiet("/api/v1/authn/recovery/unlock", "", .unreadable, presenting: nil),
        quiet("/api/v1/authn", "", .unreadable, status: 302, presenting: nil, lines: [("location", "https://o/login")]),
        quiet("/api/v1/authn/factors", #"{"factorResult":"PENDING_ACTIVATION","_links":{}}"#, .continue, [.askUser]),
        quiet("/api/v1/users/1/factors", #"{"factorResult":"PENDING_ACTIVATION"}"#, .ok, presenting: .access),
        quiet("/api/v1/authn", "", .unreadable, presenting: nil),
        quiet("/api/v1/authn", "<html>", .unreadable, presenting: nil),
        quiet("/api/v1/authn", #"{"status":"MFA_REQ"#, .unreadable),
        quiet("/api/v1/sessions/me", "", .ok, [], .clear, status: 204, presenting: .session, .delete),
        quiet("/api/v1/sessions/me", #"{"id":"1","status":"ACTIVE"}"#, .ok, [], presenting: .session, .get),
        quiet("/api/v1/sessions", #"{"id":"1","status":"ACTIVE"}"#, .ok, [], .clear, presenting: .code),
        quiet("/api/v1/users/me", "[]", .ok, presenting: .access, .get),
        // A browser's page, or where it is sent; what was ended with it is of no use any more.
        quiet("/oauth2/v1/logout", "<html>", .ok, [], .clear, presenting: .id, .get),
        quiet("/oauth2/v1/logout", "", .ok, [], .clear, presenting: .id, .get),
        quiet("/oauth2/default/v1/logout", "", .ok, [], .clear, status: 302, presenting: .id, .get),
        quiet("/oauth2/v1/logout", "<html>", .unreadable, status: 403, presenting: .id, .get),
        quiet("/oauth2/v1/authorize", "<html>", .unreadable, presenting: nil, .get),
        quiet("/oauth2/v1/token", #"{"access_token":"a"}"#, .ok, [], .keep, presenting: .refresh),
        quiet("/oauth2/v1/token", #"{"access_token":"a","refresh_token":"r"}"#, .ok, [], .rotate, presenting: .refresh),
        quiet("/oauth2/v1/token", #"{"access_token":"a"}"#, .ok, [], .clear, presenting: .code),
        quiet("/oauth2/v1/token", "{}", .unreadable, presenting: .refresh),
        quiet("/oauth2/v1/token", "", .unreadable, presenting: .refresh),
        quiet("/oauth2/v1/token", "{}", .unreadable, presenting: nil),
        quiet("/oauth2/v1/token", #"{"access_token":7}"#, .unreadable),
        quiet("/oauth2/v1/token", #"{"access_token":""}"#, .unreadable, presenting: .client),
        quiet("/idp/idx/challenge/answer", "", .unreadable),
        quiet("/idp/idx/challenge/answer", "{}", .unreadable),
        quiet("/idp/idx/challenge/answer", "[]", .unreadable),
        quiet("/idp/idx/cancel", "", .ok, [], .clear),
        quiet("/idp/idx/cancel", "{}", .ok, [], .clear),
        quiet("/api/v1/authn", "[1,2]", .unreadable, presenting: nil),
        quiet("/api/v1/authn/factors/1/verify", "[]", .unreadable),
        quiet("/api/v1/authn/factors/questions", "[]", .ok),
        // The one-time token may be called a session too.
        quiet("/api/v1/sessions", #"{"id":"1","status":"ACTIVE"}"#, .ok, [], .clear, presenting: .session),
        exchange(.session, "app:/cb?code=c", .ok),
        exchange(.session, "app:/cb?error=login_required", .credentialRejected, [.reauthenticate], .session),
        exchange(.session, "https://o/login/login.htm", .credentialRejected, [.reauthenticate], .session),
        exchange(.code, "https://o/login/login.htm", .credentialRejected, [.restartFlow], .code),
        exchange(.code, "app:/cb#error=login_required", .credentialRejected, [.restartFlow], .code),
        exchange(.code, "app:/cb?error=login_required&error_description=\(wantsMore)", .stepUpRequired, [.stepUp]),
        exchange(.session, "app:/cb?error=login_required&error_description=\(wantsMore)", .stepUpRequired, [.stepUp]),
        // A session is no token of one use: it stays.
        quiet(
            "/oauth2/v1/authorize?prompt=none",
            "",
            .stepUpRequired,
            [.stepUp],
            .keep,
            status: 302,
            presenting: .session,
            .get,
            lines: [("location", "app:/cb?error=login_required&error_description=\(wantsMore)")]
        ),
        quiet(
            "/oauth2/v1/authorize?sessionToken=1",
            "<html>",
            .credentialRejected,
            [.reauthenticate],
            .clear,
            presenting: .session,
            .get,
            .session
        ),
        // A session that is not enough for the app.
        quiet(
            "/oauth2/v1/authorize?prompt=none",
            "",
            .credentialRejected,
            [.reauthenticate],
            .keep,
            status: 302,
            presenting: .session,
            .get,
            lines: [("location", "app:/cb?error=login_required")],
            .session
        ),
        // A definite no, whatever text stands beside it.
        quiet(
            "/api/v1/users/me",
            "Unauthorized",
            .credentialRejected,
            [.refreshCredential, .reauthenticate],
            .clear,
            status: 401,
            presenting: .access,
            .get,
            lines: [("www-authenticate", #"Bearer error="invalid_token""#)],
            .access
        ),
        quiet("/api/v1/users/me", "Unauthorized", .unreadable, status: 401, presenting: .access, .get),
        quiet("/oauth2/v1/revoke", "", .ok, [], .clear, presenting: .refresh),
        quiet("/oauth2/v1/introspect", #"{"active":true}"#, .ok, presenting: .access),
        quiet("/oauth2/v1/introspect", #"{"active":false}"#, .ok, presenting: .client),
        quiet(
            "/oauth2/v1/introspect",
            #"{"active":false}"#,
            .credentialRejected,
            [.refreshCredential, .reauthenticate],
            .clear,
            presenting: .access,
            .post,
            .access
        ),
        quiet(
            "/oauth2/v1/authorize",
            "",
            .ok,
            [],
            .clear,
            status: 302,
            presenting: .code,
            .get,
            lines: [("location", "app:/cb?code=c&state=s")]
        ),
        quiet(
            "/oauth2/v1/authorize",
            "",
            .credentialRejected,
            [.restartFlow],
            .clear,
            status: 302,
            presenting: .code,
            .get,
            lines: [("location", "app:/cb?error=login_required&state=s")],
            .code
        ),
        quiet(
            "/oauth2/v1/authorize",
            "<html>",
            .credentialRejected,
            [.restartFlow],
            .clear,
            presenting: .code,
            .get,
            .code
        ),
        quiet(
            "/idp/idx/identify",
            #"{"remediation":{"value":[{"name":"challenge-authenticator"}]}}"#,
            .continue,
            [.askUser]
        ),
        quiet("/idp/idx/challenge", #"{"remediation":{"value":[{"name":"challenge-poll"}]}}"#, .continue, [.poll]),
        quiet("/idp/idx/challenge", #"{"successWithInteractionCode":{}}"#, .ok),
    ]

    /// What the query says counts in a recorded line and in a live call alike, and is seen in neither.
    @Test(arguments: [
        (200, "<html>", "", Outcome.CredentialKind.session), (302, "", "app:/cb?error=login_required", .session),
        (302, "", "app:/cb?error=login_required", .code),
    ])
    func aSessionTokenInTheQueryIsSeen(
        status: Int,
        body: String,
        location: String,
        presented: Outcome.CredentialKind
    ) async throws {
        let path = "/oauth2/v1/authorize?client_id=app&sessionToken=20111secret"
        let fields: [String: String] = location.isEmpty ? [:] : ["location": location]
        let line = JSONValue.object([
            .init("request", ["method": "GET", "path": .string(path), "presented": .string(presented.rawValue)]),
            .init("status", .number(JSONValue.Number(status))), .init("body", .string(body)),
            .init("headers", .object(fields.map { .init($0.key, .string($0.value)) })),
        ])
        let text = Array(line.description.utf8)
        let answer = RecordedExchange.answer(to: text, by: OktaClassifier(), systemTime: .system())
        #expect(answer["kind"] == "credential_rejected" && answer["token_action"] == "clear")
        #expect(answer["credential"]?.string == presented.rawValue)
        let bench = try OktaBench([.status(status, fields, body: body)])
        let options = RequestOptions(classifier: OktaClassifier(), presents: presented, followsRedirects: false)
        let request = try HTTPRequest(url: OktaBench.url + path)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(request, options: options)
        }
        #expect(error?.kind == .credentialRejected && error?.outcome.tokenAction == .clear)
        let record = try RecordedExchange(line: text, systemTime: .system())
        var seen = "\(record.exchange) \(bench.events.events) \(answer)"
        if let error { seen += "\(error) \(error.outcome)" }
        dump(record.exchange, to: &seen)
        #expect(record.exchange.path == "/oauth2/v1/authorize")
        #expect(record.exchange.query?.contains("20111secret") == true)
        #expect(!seen.contains("20111secret"))
    }

    @Test(arguments: successes)
    func successesWithoutATransactionAreReadToo(row: Row) {
        _ = row.check()
    }

    @Test func messagesOfTheIdentityEngineSpeakToThePerson() {
        let body =
            #"{"messages":{"value":[{"message":"Wait a little.","i18n":{"key":"unknown.key"},"class":"ERROR"}]}}"#
        let outcome = Recorded(status: 400, body: body, path: "/idp/idx/identify").outcome
        #expect(outcome.userMessage == "Wait a little.")
        #expect(outcome.code == "unknown.key")
        #expect(outcome.kind == .unknown && outcome.remedies == [.restartFlow])
    }

    @Test func noAnswerIsTheTransports() {
        let exchange = Exchange(
            method: .post,
            path: "/api/v1/authn",
            result: .failure(TransportError(.connectionLost, .unknown)),
            now: Timestamp(secondsSinceEpoch: 0)
        )
        #expect(OktaClassifier().classify(exchange).kind == .transport)
    }
}
