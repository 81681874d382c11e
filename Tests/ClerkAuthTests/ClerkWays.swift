import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A way to sign in, as it goes if all goes well.
struct ClerkWay: Sendable, CustomTestStringConvertible {
    typealias Step = ScriptedTransport.Step

    var testDescription: String
    var steps: [Step]
    var choice: Factor.Key?
    /// What is refused at first, for want of something else, and goes out once more.
    var goesAgain: String?
    var credentials = Credentials(clientToken: "T0")
    var configuration = ClerkConfiguration(redirectURL: "myapp://callback")
    var signIn: @Sendable (Clerk, Person) async throws -> Void

    private init(
        _ name: String,
        _ steps: Step...,
        choosing choice: Factor.Key? = nil,
        signIn: @escaping @Sendable (Clerk, Person) async throws -> Void = { clerk, person in
            _ = try await clerk.signIn(identifier: ClerkBench.identifier, password: "answer-0", answering: person)
        }
    ) {
        testDescription = name
        self.steps = steps
        self.choice = choice
        self.signIn = signIn
    }

    /// A sign-in by name alone.
    private static func named(_ name: String, _ steps: Step..., choosing choice: Factor.Key? = nil) -> ClerkWay {
        var way = ClerkWay(name, choosing: choice) { clerk, person in
            _ = try await clerk.signIn(identifier: ClerkBench.identifier, password: nil, answering: person)
        }
        way.steps = steps
        return way
    }

    /// What is done within a session.
    private static func held(_ name: String, _ steps: Step..., reverifying level: ClerkReverification) -> ClerkWay {
        var way = ClerkWay(name) { clerk, person in _ = try await clerk.reverify(level, answering: person) }
        way.steps = [.client(["sess_1"])] + steps
        way.credentials.sessionID = "sess_1"
        return way
    }

    static let all = [
        ClerkWay("password", .complete()),
        named("password, asked", first(ClerkJSON.password), .complete()),
        named("mail", first(ClerkJSON.email), first(ClerkJSON.email), .complete()),
        ClerkWay("app", second(ClerkJSON.totp), .complete()),
        ClerkWay("backup code", second(ClerkJSON.backup), .complete()),
        ClerkWay("text message", second(ClerkJSON.phone), second(ClerkJSON.phone), .complete()),
        ClerkWay("new device", trust, trust, .complete()),
        ClerkWay("compromised", compromised, first(both), first(both), .complete()),
        named("link", first(link), first(link), answer(#"{"flow_id":"f","ticket":"answer-t"}"#), .complete()),
        awaitedLink,
        ClerkWay("ticket", second(ClerkJSON.totp), .complete()) { clerk, person in
            _ = try await clerk.signIn(ticket: "answer-t", answering: person)
        },
        ClerkWay("token", .complete()) { clerk, person in
            let token = ClerkSignInMethod.token("answer-t", strategy: "google_one_tap")
            var flow = clerk.signInFlow(token)
            _ = try await flow.run(answering: person)
        },
        ClerkWay("passkey", passkey, .complete()) { clerk, person in
            _ = try await clerk.signInWithPasskey(answering: person)
        },
        ClerkWay("redirect", visit("unverified"), .complete(), signIn: redirected),
        ClerkWay("redirect to a sign-up", visit("unverified"), visit("transferable"), signedUp, signIn: redirected),
        ClerkWay("sign-up", unproved("email_address"), unproved("email_address"), signedUp, signIn: newcomer),
        ClerkWay("sign-up, field by field", lacking, unproved("phone_number"), sent, signedUp, signIn: newcomer),
        ClerkWay("sign-up of somebody known", transferable, .complete(), signIn: newcomer),
        ClerkWay("forgotten password", first(reset), first(reset), .signIn("needs_new_password"), .complete()) {
            clerk,
            person in
            _ = try await clerk.resetPassword(identifier: ClerkBench.identifier, answering: person)
        },
        ClerkWay("task: password", pending("reset-password"), user, touched),
        ClerkWay("task: organization", pending("choose-organization"), lists(member), lists(""), lists(""), touched),
        ClerkWay("task: new organization", pending("choose-organization"), none, none, none, founded, touched),
        ClerkWay("task: app", pending("setup-mfa"), environment, user, app, codes, touched),
        ClerkWay(
            "task: phone",
            pending("setup-mfa"),
            environment,
            user,
            phone,
            phone,
            phone,
            phone,
            touched,
            choosing: .phoneNumber
        ),
        proved,
        held(
            "again",
            verification("needs_first_factor", first: ClerkJSON.password),
            verified,
            reverifying: .firstFactor
        ),
        held("again, app", verifyingSecond(ClerkJSON.totp), verified, reverifying: .secondFactor),
        held(
            "again, text message",
            verifyingSecond(ClerkJSON.phone),
            verifyingSecond(ClerkJSON.phone),
            verified,
            reverifying: .secondFactor
        ),
    ]
}

// MARK: The answers if all goes well

extension ClerkWay {
    private static let both = "\(ClerkJSON.password),\(ClerkJSON.email)"
    private static let reset = "\(ClerkJSON.password),\(ClerkJSON.resetEmail)"
    private static let link = #"{"strategy":"email_link","email_address_id":"idn_1","safe_identifier":"a***@x"}"#
    private static let compromised = Step.error("form_password_compromised", meta: #"{"param_name":"password"}"#)
    private static let trust = Step.signIn("needs_client_trust", second: ClerkJSON.email)

    private static func first(_ factors: String) -> Step { .signIn("needs_first_factor", first: factors) }
    private static func second(_ factors: String) -> Step { .signIn("needs_second_factor", second: factors) }

    fileprivate static func answer(_ response: String, client: String = "null", token: String? = nil) -> Step {
        let fields = token.map { ["authorization": $0] } ?? [:]
        return .status(200, fields, body: #"{"response":\#(response),"client":\#(client)}"#)
    }

    // Links, passkeys, browsers

    private static var awaitedLink: ClerkWay {
        let sent = Step.status(
            200,
            [:],
            body: """
                {"response":{"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor",\
                "supported_first_factors":[\(link)],"first_factor_verification":{"status":"unverified",\
                "strategy":"email_link","expire_at":1893456000000}},"client":null}
                """
        )
        var way = named("link, awaited", first(link), sent, sent, .complete())
        way.configuration.waitsForLinks = true
        return way
    }

    private static var passkey: Step {
        let options = #"{"challenge":"AQID","rpId":"example.com"}"#
        return answer(
            """
            {"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor","first_factor_verification":\
            {"status":"unverified","strategy":"passkey","nonce":\(JSONValue.string(options))}}
            """
        )
    }

    private static func proof(_ status: String) -> String {
        let url = status == "unverified" ? #""https://idp.example.com/authorize""# : "null"
        return """
            {"status":"\(status)","strategy":"oauth_google","external_verification_redirect_url":\(url),"error":null}
            """
    }

    private static func visit(_ status: String) -> Step {
        answer(
            """
            {"object":"sign_in_attempt","id":"sia_1","status":"needs_identifier",\
            "first_factor_verification":\(proof(status))}
            """
        )
    }

    private static let redirected: @Sendable (Clerk, Person) async throws -> Void = { clerk, person in
        _ = try await clerk.signIn(at: .oauth("google"), answering: person)
    }

    // Sign-up

    private static let newcomer: @Sendable (Clerk, Person) async throws -> Void = { clerk, person in
        let request = ClerkSignUpRequest(emailAddress: "ada@example.com", password: "answer-0")
        _ = try await clerk.signUp(request, answering: person)
    }

    private static func signUp(missing: String = "", unverified: String = "", _ more: String = "") -> Step {
        answer(
            """
            {"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements","missing_fields":[\(missing)],\
            "unverified_fields":[\(unverified)],"email_address":"ada@example.com"\(more)}
            """
        )
    }

    private static func unproved(_ field: String) -> Step { signUp(unverified: "\"\(field)\"") }
    private static let sent = unproved("phone_number")
    private static let lacking = signUp(missing: #""phone_number""#)
    private static let transferable = signUp(#","verifications":{"external_account":\#(proof("transferable"))}"#)
    private static let signedUp = answer(
        #"{"object":"sign_up_attempt","id":"sua_1","status":"complete","created_session_id":"sess_1"}"#,
        client: ClerkJSON.client(["sess_1"]),
        token: "T1"
    )

    // Tasks

    private static func session(_ task: String? = nil) -> String {
        """
        {"object":"session","id":"sess_1","status":"\(task == nil ? "active" : "pending")","tasks":\
        [\(task.map { #"{"key":"\#($0)"}"# } ?? "")],"user":{"id":"user_1","email_addresses":\
        [{"email_address":"ada@example.com"}]}}
        """
    }

    private static func client(_ session: String) -> String {
        #"{"object":"client","id":"client_1","sessions":[\#(session)],"last_active_session_id":"sess_1"}"#
    }

    private static func pending(_ task: String) -> Step {
        answer(
            #"{"object":"sign_in_attempt","id":"sia_1","status":"complete","created_session_id":"sess_1"}"#,
            client: client(session(task)),
            token: "T1"
        )
    }

    private static let touched = answer(session(), client: client(session()))
    private static let user = answer(#"{"object":"user","id":"user_1"}"#)
    private static let member = #"{"organization":{"id":"org_1","name":"One","slug":"one"}}"#
    private static let none = lists("")
    private static let founded = answer(#"{"object":"organization","id":"org_9","name":"Acme"}"#)
    private static let environment = Step.status(200, [:], body: #"{"user_settings":{}}"#)
    private static let app = answer(#"{"object":"totp","secret":"ABC","uri":"otpauth://totp/x?secret=ABC"}"#)
    private static let codes = answer(#"{"object":"totp","verified":true,"backup_codes":["b1","b2"]}"#)
    private static let phone = answer(#"{"object":"phone_number","id":"idn_9"}"#)

    private static func lists(_ entries: String) -> Step { answer(#"{"data":[\#(entries)]}"#) }

    // Proving oneself again

    private static let stepUp = Step.error(
        "session_reverification_required",
        status: 403,
        meta: #"{"reverification":{"level":"first_factor"}}"#
    )
    private static let verifying = verification("needs_first_factor", first: ClerkJSON.password)
    private static let verified = verification("complete")

    private static var proved: ClerkWay {
        var way = ClerkWay("task behind a proof", pending("reset-password"), stepUp, verifying, verified, user, touched)
        way.goesAgain = "new_password="
        return way
    }

    private static func verifyingSecond(_ factor: String) -> Step {
        verification("needs_second_factor", second: factor)
    }

    private static func verification(_ status: String, first: String = "", second: String = "") -> Step {
        answer(
            """
            {"object":"session_verification","status":"\(status)","supported_first_factors":[\(first)],\
            "supported_second_factors":[\(second)]}
            """
        )
    }
}
