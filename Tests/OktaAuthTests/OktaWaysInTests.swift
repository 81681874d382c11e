import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Okta's rarer ways in")
struct OktaWaysInTests {
    private static let sms = OktaJSON.factor("sms", profile: #"{"phoneNumber":"+1 XXX-XXX-1337"}"#)

    private static func waiting(_ factors: String..., links: [String] = []) -> ScriptedTransport.Step {
        .answer(
            OktaJSON.state(
                "UNAUTHENTICATED",
                embedded: #","factors":[\#(factors.joined(separator: ","))]"#,
                links: links
            )
        )
    }

    // MARK: Without a password

    @Test func anotherFactorStandsInThePlaceOfThePassword() async throws {
        let bench = try OktaBench(
            [Self.waiting(Self.sms), .challenge(Self.sms), .success(), .session],
            configuration: OktaConfiguration(beginsWithoutPassword: true)
        )
        _ = try await bench.signIn(nil, Person([.phoneCode: "1"]))
        #expect(
            bench.sent == [
                "/authn {username:ada@example.com}", "/authn/factors/f1/verify",
                "/authn/factors/f1/verify {passCode:1}",
                "/sessions {sessionToken:20111st}",
            ]
        )
    }

    @Test func thePasswordIsOneOfTheFactorsWhereTheServerTakesIt() async throws {
        let bench = try OktaBench(
            [Self.waiting(Self.sms, links: [OktaJSON.link("next", "", name: "authenticate")]), .success(), .session],
            configuration: OktaConfiguration(beginsWithoutPassword: true)
        )
        let person = Person([.password: "hunter2"], choosing: "password")
        _ = try await bench.signIn(nil, person)
        #expect(person.offers == [["sms", "password"]])
        // In the same transaction.
        #expect(bench.transport.received[1].text.contains(#""stateToken":"00st1""#))
        #expect(bench.sent[1] == "/authn {username:ada@example.com,password:hunter2}")
    }

    // MARK: Begun elsewhere

    @Test func aStepUpEndsWithWhereTheBrowserGoesOn() async throws {
        let end = ScriptedTransport.Step.answer(
            OktaJSON.state(
                "SUCCESS",
                links: [
                    #""next":{"name":"redirect","href":"https://example.okta.com/login/step-up/redirect?stateToken=00st1","hints":{"allow":["GET"]}}"#
                ],
                more: #","type":"SESSION_STEP_UP""#
            )
        )
        let bench = try OktaBench([.required(OktaJSON.factor("token:software:totp")), end])
        var flow = bench.okta.signInFlow(continuing: "00st1", identifier: OktaBench.identifier)
        let session = try await flow.run(answering: Person([.totp: "1"]))
        #expect(session.redirect == "https://example.okta.com/login/step-up/redirect?stateToken=00st1")
        #expect(session.id == nil && session.userID == "00u1")
        #expect(bench.sent == ["/authn", "/authn/factors/f1/verify {passCode:1}"])
    }

    // MARK: Any state, any factor

    @Test func aStateThatNobodyKnowsOffersItsLinks() async throws {
        let accept = OktaJSON.link("next", "/consent", name: "consent")
        let bench = try OktaBench([
            .answer(OktaJSON.state("CONSENT_REQUIRED", links: [accept, OktaJSON.link("skip", "/skip")])), .success(),
        ])
        guard case .unknown(let state) = try await bench.okta.resume(stateToken: "00st1") else {
            Issue.record("known")
            return
        }
        #expect(state.transaction.links.names == ["cancel", "next", "skip"])
        #expect(state.step("next", named: "other") == nil && state.step("skip") != nil)
        let step = try #require(state.step("next", named: "consent"))
        guard case .success = try await step([.init("consent", ["expiration": "2030"])]) else {
            Issue.record("no success")
            return
        }
        #expect(bench.sent.last == "/authn/consent {consent:{expiration:2030}}")
    }

    /// Duo's page is shown by the app; its answer is a form for the link that the challenge names.
    @Test func duosPageIsAStep() async throws {
        let callback = "https://example.okta.com/api/v1/authn/factors/f1/lifecycle/duoCallback"
        let duo =
            #"{"id":"f1","factorType":"web","provider":"DUO","vendorName":"DUO","_embedded":{"verification":{"host":"api.duo.test","signature":"TX|a:APP|b","factorResult":"WAITING","_links":{"complete":{"href":"\#(callback)","hints":{"allow":["POST"]}}}}}}"#
        let bench = try OktaBench([.challenge(duo, next: "poll"), .answer("{}"), .success()])
        guard case .factorChallenge(let challenge) = try await bench.okta.resume(stateToken: "00st1") else {
            Issue.record("no challenge")
            return
        }
        #expect(challenge.factor?.challenge?["host"] == "api.duo.test" && challenge.result == .waiting)
        let complete = try #require(challenge.complete)
        _ = try? await complete(.fields(["sig_response": "AUTH|c:APP|d"]))
        #expect(bench.transport.received[1].request.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(bench.transport.received[1].text == "stateToken=00st1&id=f1&sig_response=AUTH%7Cc%3AAPP%7Cd")
        let poll = try #require(challenge.poll)
        guard case .success = try await poll() else {
            Issue.record("no success")
            return
        }
    }

    @Test func aU2FKeySignsItsNonce() async throws {
        let key = OktaJSON.factor(
            "u2f",
            profile: #"{"credentialId":"c1","appId":"https://o","version":"U2F_V2"}"#,
            challenge: #"{"nonce":"n1","timeoutSeconds":20}"#
        )
        let bench = try OktaBench([.challenge(key, result: "CHALLENGE"), .success()])
        guard case .factorChallenge(let challenge) = try await bench.okta.resume(stateToken: "00st1") else {
            Issue.record("no challenge")
            return
        }
        #expect(challenge.factor?.type == .u2f && challenge.factor?.challenge?["nonce"] == "n1")
        let verify = try #require(challenge.verify)
        _ = try await verify(.fields(["clientData": "cd", "signatureData": "sd"]))
        #expect(bench.sent.last == "/authn/factors/f1/verify {clientData:cd,signatureData:sd}")
    }

    @Test func whateverAFactorWantsInItsProfileIsSent() async throws {
        let open = OktaJSON.open("token:hotp")
        let bench = try OktaBench([
            .answer(OktaJSON.state("MFA_ENROLL", embedded: #","factors":[\#(open)]"#)), .success(),
        ])
        guard case .enrolling(let enrolling) = try await bench.okta.resume(stateToken: "00st1") else {
            Issue.record("not enrolling")
            return
        }
        let enroll = try #require(enrolling.enroll(enrolling.factors[0]))
        _ = try await enroll(OktaFactorEnrollment(enrolling.factors[0], profile: ["sharedSecret": "s1"]))
        #expect(
            bench.sent.last == "/authn/factors {factorType:token:hotp,provider:OKTA,profile:{sharedSecret:s1}}"
        )
    }

    /// Two phones, two keys, two apps: what the person sees of them differs.
    @Test func factorsOfOneSortAreToldApart() async throws {
        let phones = ["Ada's phone", "Ada's tablet"].enumerated().map { index, name in
            OktaJSON.factor("push", id: "p\(index)", profile: #"{"name":"\#(name)","platform":"IOS"}"#)
        }
        let keys = ["YubiKey", "Touch ID"].enumerated().map { index, name in
            OktaJSON.factor("webauthn", id: "w\(index)", profile: #"{"authenticatorName":"\#(name)"}"#)
        }
        let google =
            #"{"id":"g1","factorType":"token:software:totp","provider":"GOOGLE","vendorName":"GOOGLE","_links":{\#(OktaJSON.link("verify", "/factors/g1/verify"))}}"#
        let factors = phones + keys + [google, OktaJSON.factor("token:software:totp", id: "t1")]
        let bench = try OktaBench([
            .answer(OktaJSON.state("MFA_REQUIRED", embedded: #","factors":[\#(factors.joined(separator: ","))]"#)),
            .success(), .session,
        ])
        let person = Person([.totp: "1"], choosing: "totp")
        _ = try await bench.signIn("hunter2", person)
        #expect(
            person.destinations == [["Ada's phone", "Ada's tablet", "YubiKey", "Touch ID", "GOOGLE", nil]]
        )
        #expect(bench.sent[1] == "/authn/factors/g1/verify {passCode:1}")
    }
}
