import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import OktaAuth
import Testing

@Suite("Okta's identity engine: what is proved by an app, a page or a browser elsewhere")
struct OktaEngineDeviceTests {
    private static let poll = Ion.form("device-challenge-poll", "authenticators/poll", more: #","refresh":2000"#)
    private static let launch = Ion.form("launch-authenticator", "authenticators/okta-verify/launch")
    private static let cancel = #","cancel":\#(Ion.form("cancel-polling", "authenticators/poll/cancel"))"#

    private static func device(_ method: String, _ address: String? = nil, more: String = "") -> String {
        let href = address.map { #","href":"\#($0)""# } ?? ""
        return #""authenticatorChallenge":{"value":{"challengeMethod":"\#(method)"\#(href)\#(more)}}"#
    }

    /// An app that only a page in a browser can reach, or that nobody names a way to, ends with what is wanted and what helps.
    @Test(arguments: [
        (device("LOOPBACK"), "LOOPBACK"), (device("CHROME_DTC"), "CHROME_DTC"), ("", "device-challenge-poll"),
    ])
    func anAppThatNobodyReachesIsNamed(challenge: String, code: String) async throws {
        let bench = try OktaBench.engine([.ion(Self.poll, more: challenge)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .factorUnavailable && error?.remedies == [.contactAdmin, .visitProvider])
        #expect(error?.outcome.code == code)
        let text = error?.outcome.userMessage ?? ""
        #expect(text.hasPrefix("Okta Verify on this device has to confirm the sign-in"))
        #expect(text.hasSuffix("Please sign in in a browser, or ask your administrator for another way."))
        #expect(bench.transport.received.count == 2)
    }

    /// What stands beside it is offered.
    @Test func otherWaysBesideAnAppThatNobodyReaches() async throws {
        let other = Ion.select("select-authenticator-authenticate", ("aut1", "otp", "$.nothing"))
        let bench = try OktaBench.engine([
            .ion(Self.poll, other, more: Self.device("LOOPBACK")),
            .ion(Ion.answer, more: Ion.current("google_otp", "otp")), .interactionCode, .tokens,
        ])
        let person = Person([.totp: "1"])
        _ = try await bench.signIn(nil, person)
        #expect(person.keys == [.totp] && bench.steps[2] == "challenge {authenticator:{id:aut1,methodType:otp}}")
    }

    /// An app that is the only way is opened by its address, with a text for the person, and polled for.
    @Test(arguments: ["CUSTOM_URI", "UNIVERSAL_LINK", "APP_LINK"])
    func theOnlyWayIsShown(method: String) async throws {
        let bench = try OktaBench.engine([
            .ion(Self.launch), .ion(Self.poll, more: Self.device("LOOPBACK", more: Self.cancel)),
            .ion(Self.poll, more: Self.device(method, "com.okta:/open", more: Self.cancel)), .interactionCode, .tokens,
        ])
        let person = Person()
        _ = try await bench.signIn(nil, person)
        #expect(person.shown.map { $0.url?.reveal() } == ["com.okta:/open"])
        #expect(person.shown.first?.prompt == "Okta Verify has to confirm on the device that the address is opened on.")
        #expect(
            bench.steps.dropFirst(2) == [
                "authenticators/okta-verify/launch", "authenticators/poll/cancel", "authenticators/poll",
                "/oauth2/v1/token",
            ]
        )
    }

    /// Without a way around it, nobody has to wish for it.
    @Test func anAddressWithoutAWayAroundIsShown() async throws {
        let bench = try OktaBench.engine([
            .ion(Self.poll, more: Self.device("CUSTOM_URI", "com.okta:/open")), .interactionCode, .tokens,
        ])
        let person = Person()
        _ = try await bench.signIn(nil, person)
        #expect(person.shown.map { $0.url?.reveal() } == ["com.okta:/open"])
    }

    /// A page for smart cards is a page like any other provider's, under either name.
    @Test(arguments: [("piv-idp", "X509"), ("redirect-idp", "X509"), ("redirect-idp", "GOOGLE")])
    func aPageIsVisited(form: String, type: String) async throws {
        let link =
            #"{"name":"\#(form)","type":"\#(type)","idp":{"id":"0oa9","name":"Given"},"href":"https://example.okta.com/sso/idps/0oa9","method":"GET"}"#
        let bench = try OktaBench.engine([.ion(link)])
        var flow = bench.okta.signInFlow(identifier: nil)
        guard case .ask(let question) = try await flow.step(.begin).step else {
            Issue.record("no question")
            return
        }
        #expect(question.key == .redirect && question.url == "https://example.okta.com/sso/idps/0oa9")
        #expect(question.factor.destination == "Given" && question.factor.providerName == type)
        #expect((question.prompt?.contains("smart card") ?? false) == (type == "X509"))
    }

    /// Duo's page is for an app to show: the question says so, and holds what the page needs.
    @Test func duosQuestionSaysWhatItWants() async throws {
        let context = #""contextualData":{"host":"api-1.duosecurity.com","signedToken":"TX"}"#
        let field = Ion.object("credentials", Ion.field("signatureData"))
        let form = Ion.form("challenge-authenticator", "challenge/answer", field)
        let bench = try OktaBench.engine([
            .ion(form, more: Ion.current("duo", "duo", context)), .interactionCode, .tokens,
        ])
        let person = Person([.text: "AUTH:APP"])
        _ = try await bench.signIn(nil, person)
        let question = try #require(person.questions.first)
        let prompt = question.prompt ?? ""
        #expect(prompt.contains("a page of its own") && prompt.contains("sig_response"))
        #expect(prompt.contains("choose another way"))
        #expect(try JSONValue(parsing: question.setup?.reveal() ?? "")["signedToken"] == "TX")
        #expect(bench.steps[2] == "challenge/answer {credentials:{signatureData:AUTH:APP}}")
    }

    /// The proof of a captcha goes along with a form of several fields, which are typed once, also in another process.
    @Test func aCaptchaBelowAForm() async throws {
        let verify =
            #"{"name":"captchaVerify","form":{"value":[{"name":"captchaId","required":true,"value":"cap1","visible":false,"mutable":false},{"name":"captchaToken","required":true,"visible":false}]}}"#
        let form = Ion.form("enroll-profile", "enroll/new", Ion.field("lastName", #""label":"Last name""#), verify)
        let captcha = #""captcha":{"value":{"id":"cap1","type":"RECAPTCHA_V2","siteKey":"key"}}"#
        let bench = try OktaBench.engine([.ion(form, more: captcha), .interactionCode, .tokens])
        let person = Person([.text: "Lovelace", .captcha: "solved"])
        _ = try await bench.signIn(nil, person)
        #expect(person.keys == [.text, .captcha])
        #expect(
            bench.steps[2] == "enroll/new {lastName:Lovelace,captchaVerify:{captchaId:cap1,captchaToken:solved}}"
        )
    }
}
