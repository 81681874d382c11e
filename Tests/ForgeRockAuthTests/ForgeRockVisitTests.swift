import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Visits to other sites in the middle of a journey")
struct ForgeRockVisitTests {
    private let start = "authenticate?authIndexType=service&authIndexValue=Login"

    private static func redirect(
        _ url: String = "https://idp.example.com/auth?client_id=c&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcb&state=s1",
        more: String = ""
    ) -> String {
        callback(
            "RedirectCallback",
            #"{"name":"redirectUrl","value":"\#(url)"},{"name":"trackingCookie","value":true}\#(more)"#,
            inputs: 0
        )
    }

    private static let back = "http://127.0.0.1/cb?code=c%2B1&state=s1"

    @Test func theBrowserIsSentThereAndTheStepGoesBackWithWhatItBrings() async throws {
        let bench = try ForgeRockBench([
            .step(Self.redirect(), fields: ["set-cookie": "reentry=r1; Path=/; HttpOnly"]), .success(),
        ])
        let person = Person([.redirect: Secret(Self.back)])
        _ = try await bench.signIn(nil, person)
        let question = try #require(person.questions.first)
        #expect(question.key == .redirect && question.factor.providerName == "RedirectCallback")
        #expect(question.url?.reveal().hasPrefix("https://idp.example.com/auth?client_id=c") == true)
        #expect(bench.sent == [start, "\(start)&code=c%2B1&state=s1 a1"])
        // The step goes back as it came, with the cookie that tracks it.
        let sent = bench.transport.received[1]
        #expect(sent.text.contains(Self.redirect()) && sent.request.headerFields[.cookie] == "reentry=r1")
        #expect(!"\(question)".contains("s1") && !bench.events.words.contains { $0.contains("s1") })
    }

    @Test(arguments: [
        ("http://127.0.0.1/cb?responsekey=k&RelayState=r", "responsekey=k&RelayState=r"),
        ("https://app/cb#state=x&code=1", "code=1&state=x"), ("?code=1", "code=1"),
        (
            "https://app/cb?error=access_denied&error_description=no+way&x=y",
            "error=access_denied&error_description=no+way"
        ),
        ("https://app/cb?form_post_entry=f&evil=%26authIndexType%3Dmodule", "form_post_entry=f"),
    ])
    func whateverTheServerMayHaveSentAlongGoesBack(answer: String, query: String) async throws {
        let bench = try ForgeRockBench([.step(Self.redirect("https://idp/saml?SAMLRequest=x")), .success()])
        _ = try await bench.signIn(nil, Person([.redirect: Secret(answer)]))
        #expect(bench.sent.last == "\(start)&\(query) a1")
    }

    @Test(arguments: [
        "https://app/cb?code=1&state=other", "https://app/cb?code=1", "https://app/cb", "", "nonsense",
        "https://app/cb?code=1&state=s1&state=s2", "https://app/cb?code=1&code=2&state=s1",
        "https://app/cb?code=1&state=s1#code=2", "https://app/cb?code=1&state=s1&iss=x&iss=y",
    ])
    func whatDoesNotBelongToTheVisitIsNotSent(answer: String) async throws {
        let bench = try ForgeRockBench([.step(Self.redirect()), .success()])
        let person = Person([.redirect: [.text(Secret(answer)), .text(Secret(Self.back))]])
        _ = try await bench.signIn(nil, person)
        #expect(bench.transport.received.count == 2)
        #expect(person.questions.map(\.round) == [1, 2])
        #expect(person.questions.last?.previousFailure?.kind == .invalidRequest)
        #expect(
            person.questions.map(\.url?.hashValue) == [
                person.questions[0].url?.hashValue, person.questions[0].url?.hashValue,
            ]
        )
    }

    @Test func aStepThatHasDiedMeanwhileBeginsTheJourneyAnew() async throws {
        let bench = try ForgeRockBench([
            .step(Self.redirect()), .error(401, "Session has timed out", number: "\"110\""),
            .step(Self.redirect("https://idp/?state=s2"), id: "b1"), .success(),
        ])
        let person = Person([.redirect: [.text(Secret(Self.back)), .text("https://app/cb?code=2&state=s2")]])
        _ = try await bench.signIn(nil, person)
        #expect(bench.sent == [start, "\(start)&code=c%2B1&state=s1 a1", start, "\(start)&code=2&state=s2 b1"])
    }

    /// A page that is posted to is handed over as a form, and as a page that posts it by itself.
    @Test(arguments: [
        (#"{"SAMLRequest":"PHg+","RelayState":"\"><script>"}"#, ["SAMLRequest", "RelayState"]),
        (#"{"n":1,"flag":true,"none":null,"deep":{"a":1}}"#, ["n", "flag", "deep"]), ("null", []), (#""x""#, []),
    ])
    func aFormThatHasToBePostedIsHandedOver(data: String, names: [String]) async throws {
        let more = #",{"name":"redirectMethod","value":"POST"},{"name":"redirectData","value":\#(data)}"#
        let bench = try ForgeRockBench([.step(Self.redirect("https://idp/saml?a=1&b='", more: more)), .success()])
        let person = Person([.redirect: "https://app/cb?responsekey=k"])
        _ = try await bench.signIn(nil, person)
        let question = try #require(person.questions.first)
        #expect(question.form?.names == names && question.hint == nil)
        let page = try #require(question.page?.reveal())
        #expect(page.contains(#"<form method="post" action="https://idp/saml?a=1&amp;b=&#39;">"#))
        if names.first == "SAMLRequest" {
            #expect(page.contains(#"name="SAMLRequest" value="PHg+">"#))
            #expect(page.contains(#"name="RelayState" value="&quot;&gt;&lt;script&gt;">"#))
        }
        #expect(page.split(separator: "<input").count == names.count + 1)
        #expect(!"\(question)".contains("PHg+"))
    }

    /// Its address would act in the name of who serves the page.
    @Test(arguments: ["javascript:alert(1)", "data:text/html,x", "nonsense", "/relative"])
    func aFormForNoSiteIsNoPage(url: String) async throws {
        let more = #",{"name":"redirectMethod","value":"post"},{"name":"redirectData","value":{"a":"b"}}"#
        let bench = try ForgeRockBench([.step(Self.redirect(url, more: more)), .success()])
        let person = Person([.redirect: "https://app/cb?responsekey=k"])
        _ = try await bench.signIn(nil, person)
        #expect(person.questions.first?.form != nil && person.questions.first?.page == nil)
    }

    @Test func aJourneyByHandIsResumed() async throws {
        let bench = try ForgeRockBench([.step(Self.redirect()), .success()])
        var journey = bench.forgeRock.journey(.service("Social"))
        guard case .step(let step) = try await journey.begin() else {
            Issue.record("no step")
            return
        }
        _ = try await journey.resume(step, with: ["code": "1", "state": "s1"])
        #expect(bench.sent.last == "authenticate?authIndexType=service&authIndexValue=Social&code=1&state=s1 a1")
    }

    // MARK: Providers that the app signs in at

    private static let provider =
        #"{"type":"IdPCallback","output":[{"name":"provider","value":"google"},{"name":"clientId","value":"c 1"},"#
        + #"{"name":"redirectUri","value":"https://app/cb"},{"name":"scopes","value":["openid","email"]},"#
        + #"{"name":"nonce","value":"n1"},{"name":"acrValues","value":[]},{"name":"request","value":""}],"#
        + #""input":[{"name":"IDToken1token","value":""},{"name":"IDToken1token_type","value":""}]}"#

    private func forgeRock(_ bench: ForgeRockBench) throws -> ForgeRock {
        try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: bench.client,
            tokens: bench.tokens,
            configuration: ForgeRockConfiguration(
                realm: "alpha",
                identityProviders: ["google": "https://accounts.example.com/auth?prompt=login"],
                cookieName: "sso"
            )
        )
    }

    /// A person whose browser comes back from where it was sent to.
    private struct Visitor: ChallengeResponder {
        let answer: String
        let seen = Locked<[String]>([])

        func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
            let url = challenge.url?.reveal() ?? ""
            seen.withLock { $0.append(url) }
            let state = url.split(separator: "state=").last ?? ""
            return .text(Secret("https://app/cb?\(answer)&state=\(state)"))
        }
    }

    @Test func anIdentityProviderIsVisitedWhereItsAddressIsKnown() async throws {
        let bench = try ForgeRockBench([.step(Self.provider), .success()])
        let visitor = Visitor(answer: "code=xyz")
        _ = try await forgeRock(bench).signIn(nil, answering: visitor)
        #expect(bench.sent.last == #"authenticate a1 "xyz" "authorization_code""#)
        let url = visitor.seen.withLock { $0.first } ?? ""
        #expect(
            url.hasPrefix(
                "https://accounts.example.com/auth?prompt=login&response_type=code&client_id=c+1"
                    + "&redirect_uri=https%3A%2F%2Fapp%2Fcb&nonce=n1&scope=openid+email&state="
            )
        )
        // What is no answer is not taken for one.
        for nonsense in ["", "scope=openid", "id_token="] {
            let none = try ForgeRockBench([.step(Self.provider), .success()])
            let error = await #expect(throws: RecoveryError.self) {
                try await forgeRock(none).signIn(nil, answering: Visitor(answer: nonsense))
            }
            #expect(error?.kind == .invalidRequest && none.transport.received.count == 1)
        }
        let refused = try ForgeRockBench([.step(Self.provider), .success()])
        let error = await #expect(throws: RecoveryError.self) {
            try await forgeRock(refused).signIn(nil, answering: Visitor(answer: "error=access_denied"))
        }
        #expect(error?.kind == .declined && error?.outcome.code == "access_denied")
        #expect(refused.transport.received.count == 1)
    }

    /// Whom a provider tells of beside its token, as Apple does, goes along in one text with it, where the server takes that.
    @Test(arguments: [
        (
            #"https://app/cb?code=c&id_token=t&state=s&user=%7B%22name%22%3A%7B%22firstName%22%3A%22A%22%7D%7D"#, true,
            #"{"code":"c","id_token":"t","state":"s","user":{"name":{"firstName":"A"}}}"#, "JSON"
        ),
        (
            // What a program has by itself: no URL at all.
            #"{"id_token":"t","user":{"email":"a@b"}}"#, true, #"{"id_token":"t","user":{"email":"a@b"}}"#, "JSON"
        ),
        (#"{"id_token":"t","user":{"email":"a@b"}}"#, false, "t", "id_token"),
        ("https://app/cb?id_token=t&user=nonsense", true, "t", "id_token"),
        ("https://app/cb?code=c", true, "c", "authorization_code"),
    ])
    func whomAProviderTellsOfGoesAlong(answer: String, takesJSON: Bool, token: String, kind: String) async throws {
        let callback = Self.provider.replacing(
            #"{"name":"request","value":""}"#,
            with: #"{"name":"acceptsJSON","value":\#(takesJSON)}"#
        )
        let bench = try ForgeRockBench([.step(callback), .success()])
        _ = try await bench.signIn(nil, Person([.redirect: Secret(answer)]))
        let sent = try JSONValue(parsing: bench.transport.received.last?.body ?? [])
        let inputs = sent["callbacks"]?[0]?["input"]?.array?.map { $0["value"]?.string }
        #expect(inputs == [token, kind])
    }

    @Test func anotherIdentityProviderIsNamed() async throws {
        let bench = try ForgeRockBench([.step(Self.provider)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .userActionRequired && error?.outcome.details?["provider"] == "google")
        #expect(bench.transport.received.count == 1)
    }
}
