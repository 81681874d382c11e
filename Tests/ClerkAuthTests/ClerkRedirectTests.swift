import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// Identity providers that the person visits in a browser.
@Suite struct ClerkRedirectTests {
    private typealias Step = ScriptedTransport.Step

    private static let page = "https://idp.example.com/authorize?state=s3cret"
    private static let back = "myapp://callback"
    private static let create = "POST /client/sign_ins strategy=oauth_google&redirect_url=myapp%3A%2F%2Fcallback"

    private static func verification(_ status: String, error: String? = nil) -> String {
        let url = status == "unverified" ? "\"\(page)\"" : "null"
        let reason = error.map { #"{"code":"\#($0)","message":"m","long_message":"Long words."}"# } ?? "null"
        return """
            {"object":"verification_oauth","status":"\(status)","strategy":"oauth_google",\
            "external_verification_redirect_url":\(url),"error":\(reason)}
            """
    }

    private static func signIn(_ status: String, error: String? = nil, first: String? = nil) -> Step {
        let state = first == nil ? "needs_identifier" : "needs_first_factor"
        return .status(
            200,
            [:],
            body: """
                {"response":{"object":"sign_in_attempt","id":"sia_1","status":"\(state)",\
                "supported_first_factors":\(first.map { "[\($0)]" } ?? "null"),\
                "first_factor_verification":\(verification(status, error: error))},"client":null}
                """
        )
    }

    private static func signUp(_ status: String, error: String? = nil) -> Step {
        .status(
            200,
            [:],
            body: """
                {"response":{"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements",\
                "email_address":"ada@example.com","verifications":{"external_account":\
                \(verification(status, error: error))}},"client":null}
                """
        )
    }

    private static let signedUp = Step.status(
        200,
        ["authorization": "T1"],
        body: """
            {"response":{"object":"sign_up_attempt","id":"sua_1","status":"complete","created_session_id":"sess_1"},\
            "client":\(ClerkJSON.client(["sess_1"]))}
            """
    )

    private func bench(_ steps: Step..., redirectURL: String? = back) throws -> ClerkBench {
        try ClerkBench(steps, configuration: ClerkConfiguration(redirectURL: redirectURL))
    }

    private func visitor(_ answers: Secret...) -> Person {
        Person([.redirect: answers.map { .text($0) }])
    }

    @Test func aVisitMakesASession() async throws {
        let bench = try bench(Self.signIn("unverified"), .complete())
        let person = visitor("myapp://callback?rotating_token_nonce=n%2B1")
        let session = try await bench.clerk.signIn(at: .oauth("google"), answering: person)
        #expect(session.id == "sess_1")
        #expect(person.questions.map(\.url) == [Secret(Self.page)])
        #expect(bench.sent == [Self.create, "GET /client/sign_ins/sia_1"])
        #expect(bench.transport.received.last?.request.path?.contains("rotating_token_nonce=n%2B1") == true)
        #expect(try await bench.credentials == Credentials(clientToken: "T1", sessionID: "sess_1"))
    }

    @Test func aWebBackendStepsIt() async throws {
        let bench = try bench(Self.signIn("unverified"), .complete())
        let flow = bench.clerk.signInFlow(.redirect(.oauth("google")))
        let walk = SuspendedWalk(bench.clerk, bench.clock, bench.transport)
        let person = visitor("myapp://callback?rotating_token_nonce=n1")
        #expect(try await walk.signIn(flow, answering: person).id == "sess_1")
        #expect(bench.sent.count == 2)
    }

    @Test func whoHasNoAccountIsSignedUp() async throws {
        let bench = try bench(
            Self.signIn("unverified"),
            Self.signIn("transferable", error: "external_account_not_found"),
            Self.signedUp
        )
        var redirect = ClerkRedirect.oauth("google")
        redirect.legalAccepted = true
        _ = try await bench.clerk.signIn(at: redirect, answering: visitor("myapp://callback"))
        #expect(bench.sent.last == "POST /client/sign_ups legal_accepted=true&transfer=true")
        #expect(try await bench.credentials.sessionID == "sess_1")
    }

    @Test func nobodyIsSignedUpAgainstTheAppsWill() async throws {
        let bench = try bench(Self.signIn("unverified"), Self.signIn("transferable"))
        let redirect = ClerkRedirect(strategy: "oauth_google", signsUp: false)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(at: redirect, answering: visitor("myapp://callback"))
        }
        #expect(error?.kind == .notFound && bench.sent.count == 2)
    }

    @Test(
        arguments: [
            ("oauth_access_denied", .declined), ("not_allowed_access", .permissionDenied),
            ("user_banned", .accountBlocked), ("saml_response_invalid", .flowExpired),
            ("captcha_invalid", .policyBlocked),
        ] as [(String, Outcome.Kind)]
    )
    func whatTheProviderHasRefusedIsSaid(code: String, kind: Outcome.Kind) async throws {
        let bench = try bench(
            Self.signIn("unverified"),
            Self.signIn("failed", error: code),
            Self.signIn("unverified"),
            Self.signIn("failed", error: code)
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(
                at: .oauth("google"),
                answering: visitor("myapp://callback", "myapp://callback")
            )
        }
        #expect(error?.kind == kind && error?.outcome.code == code && error?.userMessage == "Long words.")
        #expect(try await bench.credentials == Credentials(clientToken: "T0"))
    }

    @Test func whoComesBackWithoutHavingBeenThereIsSentAgain() async throws {
        let bench = try bench(Self.signIn("unverified"), Self.signIn("unverified"), .complete())
        let person = visitor("myapp://callback", "myapp://callback?rotating_token_nonce=n1")
        _ = try await bench.clerk.signIn(at: .oauth("google"), answering: person)
        #expect(person.questions.map(\.url) == [Secret(Self.page), Secret(Self.page)])
        #expect(person.notices == [.challengeIncorrect])
    }

    @Test(arguments: ["", "  "])
    func aBrowserThatWasClosedHasDoneNothing(answer: Secret) async throws {
        let bench = try bench(Self.signIn("unverified"))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(at: .oauth("google"), answering: visitor(answer))
        }
        #expect(error?.kind == .declined && bench.sent.count == 1)
    }

    @Test func theWayBackIsUsedOnce() async throws {
        let bench = try bench(Self.signIn("unverified"), .fail(.connectionLost, .unknown))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(
                at: .oauth("google"),
                answering: visitor("myapp://callback?rotating_token_nonce=n1")
            )
        }
        #expect(error?.reason == .processedUnknown)
        #expect(
            bench.transport.received.filter { $0.request.path?.contains("rotating_token_nonce") == true }.count == 1
        )
    }

    @Test func aWayBackThatTheInstanceDoesNotAllowIsSaid() async throws {
        let bench = try bench(Self.signIn("unverified"), Self.signIn("verified"))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(at: .oauth("google"), answering: visitor("myapp://callback"))
        }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "redirect_url")
        let without = try self.bench(redirectURL: nil)
        let missing = await #expect(throws: RecoveryError.self) {
            try await without.clerk.signIn(at: .oauth("google"), answering: Person())
        }
        #expect(missing?.kind == .misconfigured && without.sent.isEmpty)
    }

    @Test func whereNoBrowserComesBackTheErrorSaysWhereToGo() async throws {
        let opened = Self.signIn("unverified", first: #"{"strategy":"enterprise_sso"}"#)
        let bench = try bench(opened, redirectURL: nil)
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(nil) }
        #expect(error?.kind == .userActionRequired && error?.remedies == [.visitProvider])
        #expect(error?.outcome.advice?["url"]?.string == Self.page)
        #expect(error.map { "\($0)".contains("s3cret") } == false)
    }

    @Test func anEnterprisesConnectionIsPreparedIfItIsNotThereYet() async throws {
        let listed = Step.signIn("needs_first_factor", first: #"{"strategy":"enterprise_sso"}"#)
        let prepared = Self.signIn("unverified", first: #"{"strategy":"enterprise_sso"}"#)
        let bench = try bench(listed, prepared, .complete())
        let person = visitor("myapp://callback?rotating_token_nonce=n1")
        _ = try await bench.clerk.signIn(at: .enterprise("ada@example.com"), answering: person)
        #expect(
            bench.sent == [
                "POST /client/sign_ins strategy=enterprise_sso&identifier=ada%40example.com"
                    + "&redirect_url=myapp%3A%2F%2Fcallback",
                "POST /client/sign_ins/sia_1/prepare_first_factor strategy=enterprise_sso"
                    + "&redirect_url=myapp%3A%2F%2Fcallback",
                "GET /client/sign_ins/sia_1",
            ]
        )
    }

    @Test func aProviderIsOneOfSeveralFactors() async throws {
        let factors = #"{"strategy":"oauth_google"},\#(ClerkJSON.password)"#
        let bench = try bench(
            .signIn("needs_first_factor", first: factors),
            Self.signIn("unverified", first: factors),
            .complete()
        )
        let person = Person([.redirect: "myapp://callback?rotating_token_nonce=n1"], choosing: .redirect)
        _ = try await bench.signIn(nil, person)
        #expect(person.questions.first?.url == Secret(Self.page) && bench.sent.count == 3)
    }

    /// Each connection of an enterprise is a factor of its own.
    @Test func ofSeveralConnectionsThePersonChoosesOne() async throws {
        let factors = [("ec_1", "Acme"), ("ec_2", "Beta")].map { id, name in
            #"{"strategy":"enterprise_sso","enterprise_connection_id":"\#(id)","enterprise_connection_name":"\#(name)"}"#
        }
        .joined(separator: ",")
        let listed = Step.signIn("needs_first_factor", first: factors)
        let bench = try bench(listed, Self.signIn("unverified", first: factors))
        var redirect = ClerkRedirect.enterprise("ada@example.com")
        (redirect.prompt, redirect.loginHint) = ("login", "ada")
        var flow = bench.clerk.signInFlow(.redirect(redirect))
        guard case .choose(let offered) = try await flow.step(.begin).step else {
            Issue.record("no choice")
            return
        }
        #expect(offered.map(\.id) == ["ec_1", "ec_2"] && offered.map(\.destination) == ["Acme", "Beta"])
        _ = try await flow.step(.choose(offered.last))
        #expect(
            bench.sent.last == "POST /client/sign_ins/sia_1/prepare_first_factor strategy=enterprise_sso"
                + "&enterprise_connection_id=ec_2&redirect_url=myapp%3A%2F%2Fcallback&oidc_prompt=login"
                + "&oidc_login_hint=ada"
        )
    }

    // MARK: Signing up

    @Test func whoChoosesAProviderAndHasNoAccountThereIsSignedUp() async throws {
        let factors = #"{"strategy":"oauth_google"},\#(ClerkJSON.password)"#
        let bench = try bench(
            .signIn("needs_first_factor", first: factors),
            Self.signIn("unverified", first: factors),
            Self.signIn("transferable", error: "external_account_not_found"),
            Self.signedUp
        )
        let person = Person([.redirect: "myapp://callback"], choosing: .redirect)
        #expect(try await bench.signIn(nil, person).id == "sess_1")
        #expect(bench.sent.last == "POST /client/sign_ups transfer=true")
    }

    @Test func aVisitSignsUp() async throws {
        let bench = try bench(Self.signUp("unverified"), Self.signedUp)
        let person = visitor("myapp://callback?rotating_token_nonce=n1")
        _ = try await bench.clerk.signUp(ClerkSignUpRequest(redirect: .oauth("google")), answering: person)
        #expect(
            bench.sent == [
                "POST /client/sign_ups strategy=oauth_google&redirect_url=myapp%3A%2F%2Fcallback",
                "GET /client/sign_ups/sua_1",
            ]
        )
    }

    /// A sign-up has no `identifier`: the connection of an enterprise is found by the address.
    @Test(arguments: [nil, "ada@example.com"])
    func aVisitOfAnEnterpriseSignsUp(besides address: String?) async throws {
        let bench = try bench(Self.signUp("unverified"), Self.signedUp)
        let request = ClerkSignUpRequest(emailAddress: address, redirect: .enterprise("ada@example.com"))
        _ = try await bench.clerk.signUp(request, answering: visitor("myapp://callback?rotating_token_nonce=n1"))
        let parts = bench.sent.first?.dropFirst("POST /client/sign_ups ".count).split(separator: "&").sorted()
        #expect(
            parts == [
                "email_address=ada%40example.com", "redirect_url=myapp%3A%2F%2Fcallback", "strategy=enterprise_sso",
            ]
        )
    }

    @Test func whoHasAnAccountIsSignedIn() async throws {
        let bench = try bench(
            Self.signUp("unverified"),
            Self.signUp("transferable", error: "external_account_exists"),
            .complete()
        )
        let request = ClerkSignUpRequest(redirect: .oauth("google"))
        _ = try await bench.clerk.signUp(request, answering: visitor("myapp://callback"))
        #expect(bench.sent.last == "POST /client/sign_ins transfer=true")
    }

    @Test func aProofIsNotHandedToAndFro() async throws {
        let bench = try bench(
            Self.signUp("unverified"),
            Self.signUp("transferable"),
            Self.signIn("transferable")
        )
        let request = ClerkSignUpRequest(redirect: .oauth("google"))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signUp(request, answering: visitor("myapp://callback"))
        }
        #expect(error?.kind == .notFound && bench.sent.count == 3)
    }

    // MARK: Without a browser

    @Test func aTokenOfAnotherProvidersIsPresentedOnce() async throws {
        let bench = try bench(.complete())
        let flow = bench.clerk.signInFlow(.token("t0k", strategy: "oauth_token_apple"))
        var first = flow
        _ = try await first.run(answering: Person())
        #expect(bench.sent == ["POST /client/sign_ins strategy=oauth_token_apple&token=t0k"])
        let dead = try self.bench(.error("google_one_tap_token_invalid", status: 400))
        var second = dead.clerk.signInFlow(.token("t0k", strategy: "google_one_tap"))
        let error = await #expect(throws: RecoveryError.self) { try await second.run(answering: Person()) }
        #expect(error?.kind == .flowExpired && dead.sent.count == 1)
    }

    @Test func nothingOfTheWayIsPrinted() throws {
        let question = Challenge(factor: Factor(key: .redirect, providerName: "oauth_google"), url: Secret(Self.page))
        #expect(!"\(question)".contains("s3cret") && !String(reflecting: question).contains("s3cret"))
    }
}
