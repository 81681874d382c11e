import AuthRecovery
import HTTPRecovery
import HTTPTypes
import Testing

@testable import Auth0Auth

@Suite struct Auth0ClassifierTests {
    typealias Case = (
        status: Int, body: String, presented: Outcome.CredentialKind?, kind: Outcome.Kind, remedies: [Outcome.Remedy],
        action: Outcome.TokenAction
    )

    private func classify(
        _ status: Int,
        _ body: String,
        presented: Outcome.CredentialKind? = nil,
        path: String = "/oauth/token",
        fields: HTTPFields = [:]
    ) -> Outcome {
        Auth0Classifier().classify(
            Exchange(
                method: .post,
                path: path,
                presented: presented,
                result: .response(
                    HTTPResponse(status: .init(code: status), headerFields: fields),
                    body: Array(body.utf8)
                ),
                now: Timestamp(secondsSinceEpoch: 1_700_000_000)
            )
        )
    }

    /// What no code of the tenant's says: an outage, whatever word comes with it.
    @Test(arguments: [
        (500, error("server_error")), (503, error("temporarily_unavailable")), (502, "<html></html>"), (504, ""),
        (500, error("invalid_grant", "Wrong email or password.")), (408, ""), (502, error("too_many_attempts")),
        (500, error("access_denied", "Not on weekends.")), (503, error("mfa_required")), (500, error("slow_down")),
        (500, error("invalid_client")),
    ])
    func anOutageRefusesNothing(status: Int, body: String) {
        for presented in [Outcome.CredentialKind?.none, .refresh, .state] {
            let outcome = classify(status, body, presented: presented)
            #expect(outcome.kind == .unavailable && outcome.tokenAction != .clear, "\(outcome)")
            // Nothing shows that a password or a code was not looked at.
            #expect(outcome.processed != .no || status == 408)
        }
    }

    @Test(arguments: [400, 401]) func aNonceIsPresentedAgain(status: Int) {
        let fields: HTTPFields = [.init("DPoP-Nonce")!: "n"]
        let outcome = classify(status, Self.error("use_dpop_nonce"), presented: .refresh, fields: fields)
        #expect(outcome.kind == .nonceRequired && outcome.remedies == [.newNonce] && outcome.tokenAction != .clear)
    }

    /// The profile's refusal is text, with the word in a field.
    @Test func aProfilesRefusal() {
        let fields: HTTPFields = [.wwwAuthenticate: #"Bearer error="invalid_token""#]
        let outcome = classify(401, "Unauthorized", presented: .access, path: "/userinfo", fields: fields)
        #expect(outcome.kind == .credentialRejected && outcome.credential == .access)
        #expect(outcome.tokenAction == .clear && outcome.remedies.first == .refreshCredential)
    }

    /// Of a new account the person chooses another password; of one that exists, it has to be replaced.
    @Test func aLeakedPasswordAtSignUp() {
        let body = Self.error("password_leaked", "This password has been leaked.")
        let outcome = classify(400, body, path: "/dbconnections/signup")
        #expect(outcome.kind == .passwordCompromised && outcome.remedies == [.askUser])
        #expect(outcome.userMessage == "This password has been leaked.")
    }

    /// One person's wrong codes hold nobody else back.
    @Test func aLimitOfOnePersonIsTheirs() {
        let outcome = classify(429, Self.error("too_many_attempts", "Too many failed codes"), presented: .state)
        #expect(outcome.scope == .account && outcome.lockout == nil)
    }

    /// Each envelope has a code, and a field where it names one.
    @Test(
        arguments: [
            (
                #"{"error":"a","error_description":"b","validation_errors":[{"field":"email","message":"m"}]}"#, "a",
                "email"
            ),
            (#"{"code":"bad.email","description":"x"}"#, "bad.email", "email"),
            (#"{"statusCode":400,"error":"Bad Request","message":"m","errorCode":"e"}"#, "e", nil),
            (
                #"{"error":"invalid_request","error_description":"missing username parameter"}"#, "invalid_request",
                "username"
            ),
            (#"{"error":"a whole sentence"}"#, "a whole sentence", nil),
            (
                #"{"error":"unauthorized","error_description":"Your profile is missing a phone"}"#, "unauthorized", nil
            ),
            (
                #"{"error":"invalid_request","error_description":"Missing required parameter: binding_code"}"#,
                "invalid_request", "binding_code"
            ),
        ] as [(String, String?, String?)]
    )
    func everyEnvelopeIsRead(body: String, code: String?, parameter: String?) {
        let outcome = classify(400, body)
        #expect(outcome.code == code && outcome.parameter == parameter, "\(outcome)")
    }

    @Test(arguments: passwords + factors + tokens + others + more + told)
    func everyCodeHasItsMeaning(row: Case) {
        let outcome = classify(row.status, row.body, presented: row.presented)
        #expect(outcome.kind == row.kind && outcome.remedies == row.remedies, "\(row.body) \(outcome)")
        let isUnknown = row.status == 500 && row.kind != .rateLimited
        let processed: Outcome.Processed = isUnknown ? .unknown : .no
        #expect(outcome.kind == .continue || outcome.processed == processed)
        // What is taken away is what was presented, and nothing where nothing was.
        #expect(outcome.tokenAction == row.action, "\(row.body) \(outcome)")
        if row.kind == .credentialRejected, let presented = row.presented { #expect(outcome.credential == presented) }
    }

    /// Which answers take a credential away: those that say so, and none of an outage.
    @Test(arguments: [
        (
            403, error("invalid_grant", "Unknown or invalid refresh token."), Outcome.CredentialKind?.some(.refresh),
            true
        ),
        (500, error("invalid_grant", "Unknown or invalid refresh token."), .refresh, false),
        (429, error("invalid_grant", "Unknown or invalid refresh token."), .refresh, false),
        (403, error("mfa_required"), .refresh, false),
        (501, error("unsupported_grant_type"), .refresh, false),
        (401, "Unauthorized", .access, true),
        (503, "", .access, false),
        (403, error("invalid_grant", "Invalid otp_code."), .state, false),
        (401, error("expired_token", "mfa_token is expired"), .state, true),
        (401, error("expired_token", "mfa_token is expired"), nil, false),
        (403, error("expired_token"), .refresh, false),
        (403, error("invalid_grant", "Unknown or invalid refresh token."), nil, false),
        (403, error("invalid_grant", "Unknown or invalid refresh token."), .client, false),
        (403, error("invalid_grant", "Wrong email or password."), .refresh, false),
        (403, error("access_denied", "User did not authorize the request"), .device, true),
    ])
    func tokensAreClearedByADefiniteWordAlone(
        status: Int,
        body: String,
        presented: Outcome.CredentialKind?,
        clears: Bool
    ) {
        #expect((classify(status, body, presented: presented).tokenAction == .clear) == clears)
    }

    /// A stated time counts; the tenant's bucket counts if it is empty, by the tenant's own clock, and never below zero.
    @Test(
        arguments: [
            (nil, "0", 60), (nil, nil, 60), (nil, "4", nil), ("7", "4", 7), ("7", "0", 7), (nil, "0", -60),
        ] as [(String?, String?, Int?)]
    )
    func aThrottleLastsAsItsFieldsSay(retryAfter: String?, remaining: String?, seconds: Int?) {
        var fields: HTTPFields = [.date: "Sun, 17 Mar 2030 17:46:40 GMT"]
        fields[.init("x-ratelimit-reset")!] = String(1_900_000_000 + (seconds ?? 60))
        fields[.init("x-ratelimit-remaining")!] = remaining
        fields[.retryAfter] = retryAfter
        let outcome = classify(429, Self.error("too_many_requests"), fields: fields)
        #expect(outcome.kind == .rateLimited)
        #expect(outcome.retryAfter == seconds.map { .seconds(max(0, $0)) }, "\(outcome)")
    }

    @Test func aLockoutHasNoTimeWhateverTheHeadersSay() {
        let fields: HTTPFields = [.init("x-ratelimit-reset")!: "1700000100", .init("x-ratelimit-remaining")!: "9"]
        let locked = classify(429, Self.error("too_many_attempts"), fields: fields)
        #expect(locked.lockout == .indefinite && locked.retryAfter == nil && locked.scope == .account)
        let throttled = classify(429, Self.error("too_many_requests"), fields: [.retryAfter: "7"])
        #expect(throttled.kind == .rateLimited && throttled.retryAfter == .seconds(7))
        let blocks: [(String, Outcome.CredentialKind?)] = [
            ("suspicious login behavior", nil), ("Too many failed codes", .state),
        ]
        for (text, presented) in blocks {
            let body = Self.error("too_many_attempts", text)
            let blocked = classify(429, body, presented: presented, fields: [.retryAfter: "1"])
            #expect(blocked.retryAfter == nil && blocked.processed == .no, "\(text)")
        }
        let person = classify(429, Self.error("too_many_logins"), fields: [.retryAfter: "60"])
        #expect(person.scope == .account && person.retryAfter == .seconds(60))
    }

    /// Beside a throttle the bucket's reset counts where the bucket is empty; a custom policy shows the tenant's, which is not.
    @Test(
        arguments: [
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000030"], Duration.seconds(30)),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1699999000"], .zero),
            (["x-ratelimit-remaining": "9", "x-ratelimit-reset": "1700000030"], nil),
            (["x-ratelimit-remaining": "9", "x-ratelimit-reset": "1700000030", "retry-after": "5"], .seconds(5)),
        ] as [([String: String], Duration?)]
    )
    func throttlesSayHowLong(fields: [String: String], wait: Duration?) {
        var all: HTTPFields = [.date: "Tue, 14 Nov 2023 22:13:20 GMT"]
        for (name, value) in fields { all[HTTPField.Name(name)!] = value }
        let outcome = classify(429, Self.error("too_many_requests", "Rate limit reached."), fields: all)
        #expect(outcome.kind == .rateLimited && outcome.retryAfter == wait, "\(outcome)")
    }

    @Test func weakPasswordsSayWhichRulesAreUnmet() {
        let body = """
            {"code":"invalid_password","name":"PasswordStrengthError","description":{"verified":false,"rules":[
            {"message":"At least %d characters in length","format":[8],"code":"lengthAtLeast","verified":false},
            {"message":"Contain letters","format":[],"code":"x","verified":true}]}}
            """
        let outcome = classify(400, body, path: "/dbconnections/signup")
        #expect(outcome.kind == .passwordRejected && outcome.subcode == "PasswordStrengthError")
        #expect(outcome.userMessage == "At least 8 characters in length")
        #expect(outcome.parameter == "password")
    }

    /// A rule with a list says what of it is missing.
    @Test func aRuleOfSeveralNamesWhatIsMissing() {
        let body = """
            {"code":"invalid_password","name":"PasswordStrengthError","description":{"verified":false,"rules":[
            {"message":"Contain at least %d of the following %d types of characters:","code":"containsAtLeast","format":[3,4],
            "verified":false,"items":[{"message":"lower case letters (a-z)","code":"lowerCase","verified":true},
            {"message":"upper case letters (A-Z)","code":"upperCase","verified":false},
            {"message":"at least %d numbers","format":[2],"code":"numbers","verified":false},{"verified":false},7]}]}}
            """
        #expect(
            classify(400, body, path: "/dbconnections/signup").userMessage
                == "Contain at least 3 of the following 4 types of characters: upper case letters (A-Z), at least 2 numbers"
        )
    }

    /// A limit holds where it was met, not all over the tenant; that of an app and that of the tenant do.
    @Test(arguments: [
        (error("too_many_requests"), Outcome.Scope.endpoint), ("", .endpoint), ("<html></html>", .endpoint),
        (error("access_denied", "Client quota exceeded"), .app),
        (error("access_denied", "Global limit has been reached"), .origin),
    ])
    func aThrottleHoldsWhereItWasMet(body: String, scope: Outcome.Scope) {
        #expect(classify(429, body, path: "/userinfo", fields: [.retryAfter: "7"]).scope == scope)
    }

    /// A page where an answer should be tells nothing, wherever it comes from.
    @Test(arguments: [
        "/oauth/token", "/passwordless/start", "/otp/challenge", "/mfa/challenge", "/mfa/associate",
        "/mfa/authenticators", "/oauth/device/code", "/dbconnections/signup", "/dbconnections/change_password",
        "/userinfo", "/oauth/revoke",
    ])
    func aPageIsNoAnswer(path: String) {
        let outcome = classify(200, "<!DOCTYPE html><html></html>", path: path)
        #expect(outcome.kind == .unreadable && outcome.tokenAction == .keep, "\(outcome)")
    }

    /// Who asks the tenant's support names the request, also one that was answered before it reached the tenant.
    @Test(arguments: [(502, "<html></html>"), (429, ""), (401, "Unauthorized"), (403, error("access_denied", "x"))])
    func everyRefusalHasItsName(status: Int, body: String) {
        let fields: HTTPFields = [.init("cf-ray")!: "8f1"]
        #expect(classify(status, body, fields: fields).traceID == "8f1")
        var both = fields
        both[.init("x-auth0-requestid")!] = "a0"
        #expect(classify(status, body, fields: both).traceID == "a0")
    }

    /// A browser is sent back with the tenant's words, one of which may be anything.
    @Test(arguments: [
        ("unauthorized", "user%20is%20blocked", Outcome.Kind.accountBlocked, [Outcome.Remedy.contactAdmin]),
        ("access_denied", "user%20is%20blocked", .accountBlocked, [.contactAdmin]),
        ("unauthorized", "Not%20on%20weekends", .permissionDenied, [.contactAdmin]),
        ("access_denied", "User%20did%20not%20authorize%20the%20request", .declined, [.restartFlow]),
        ("login_required", "Login%20required", .userActionRequired, [.visitProvider]),
        ("word_of_tomorrow", "x", .unknown, []),
    ])
    func aBrowserIsSentBack(word: String, text: String, kind: Outcome.Kind, remedies: [Outcome.Remedy]) {
        let location = "https://app/cb?error=\(word)&error_description=\(text)&state=1"
        let outcome = classify(302, "", path: "/authorize", fields: [.location: location])
        #expect(outcome.kind == kind && outcome.remedies == remedies, "\(outcome)")
        #expect(outcome.code == word && outcome.tokenAction == .keep && outcome.processed == .yes)
        #expect(classify(302, "", path: "/authorize", fields: [.location: "https://app/cb?code=c"]).kind == .ok)
    }

    @Test func aScopeThatIsMissingIsTheRequests() {
        let fields: HTTPFields = [.wwwAuthenticate: #"Bearer error="insufficient_scope", scope="openid""#]
        let outcome = classify(403, "Forbidden", presented: .access, path: "/userinfo", fields: fields)
        #expect(outcome.kind == .permissionDenied && outcome.remedies == [.fixRequest] && outcome.tokenAction == .keep)
    }

    @Test func textsOfTheTenantAreForThePerson() {
        #expect(classify(403, Self.error("access_denied", "Not on weekends.")).userMessage == "Not on weekends.")
        #expect(classify(403, Self.error("invalid_grant", "Wrong email or password.")).userMessage == nil)
    }

    @Test func aSuccessWithoutATokenIsNone() {
        #expect(classify(200, "<html></html>").kind == .unreadable)
        #expect(classify(200, "{}").kind == .unreadable)
        #expect(classify(200, Self.error("none")).kind == .unreadable)
        #expect(classify(403, Self.error("a\u{1B}b")).code == nil)
        #expect(classify(200, #"{"access_token":"a","expires_in":1}"#).kind == .ok)
        #expect(classify(200, "We've just sent you an email", path: "/dbconnections/change_password").kind == .ok)
    }

    /// A long answer says no less than a short one; of half of one nobody knows what it says.
    @Test func aLongRefusalIsReadToo() {
        let body = Self.error("invalid_grant", "Wrong email or password." + String(repeating: "x", count: 1_100_000))
        #expect(classify(403, body).kind == .invalidCredentials)
        #expect(classify(403, String(body.dropLast(2))).kind == .unreadable)
    }

    /// Bytes that no server should send lead to an outcome all the same.
    @Test func anyBytesLeadToAnOutcome() {
        var random = SystemRandomNumberGenerator()
        let words = ["{", "}", "\"error\"", ":", "\"invalid_grant\"", "[", "]", "null", "\u{0}", "é", "1e999", ","]
        for _ in 0..<2_000 {
            let body = (0..<Int.random(in: 0...12, using: &random)).map { _ in words.randomElement(using: &random) ?? ""
            }
            let status = [200, 400, 401, 403, 429, 500, 501].randomElement(using: &random) ?? 200
            let outcome = classify(status, body.joined(), presented: .refresh)
            #expect(status < 400 || outcome.isFailure || outcome.kind == .continue)
        }
    }
}
