import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import SignInSupport
import Testing

/// The examples of the articles, compiled and run.
@Suite struct DocumentationExamples {
    @Test func signingIn() async throws {
        let transport = ScriptedTransport([
            .complete(), .client(["sess_1"]), .status(200, [:], body: "{}"), .status(200),
        ])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let key = "pk_test_Y2xlcmsuZXhhbXBsZS5jb20k"
        let directory = TemporaryDirectory()
        let path = directory.file("tokens")
        let (email, password, prompts) = ("ada@example.com", Secret("hunter2"), Person())

        let clerk = try Clerk(publishableKey: key, client: client, tokens: FileTokenStore(path: path))
        let session = try await clerk.signIn(identifier: email, password: password, answering: prompts)

        if let session = try await clerk.session() {
            print("signed in until", session.expireAt?.rfc3339 ?? "further notice")
        }
        let me = try await clerk.send(path: "/v1/me")
        try await clerk.signOut()

        #expect(session.id == "sess_1")
        #expect(me.status == .ok)
        #expect(try await FileTokenStore(path: path).read().credentials == Credentials(clientToken: "T1"))
    }

    /// Compiled alone: the key is none.
    private func inShort(
        _ client: RecoveringClient,
        path: String,
        _ email: String,
        _ password: Secret,
        _ prompts: Person
    ) async throws -> ClerkSession {
        let clerk = try Clerk(publishableKey: "pk_test_…", client: client, tokens: FileTokenStore(path: path))
        let session = try await clerk.signIn(identifier: email, password: password, answering: prompts)
        return session
    }

    @Test func steppedSignIn() async throws {
        let transport = ScriptedTransport([
            .error("form_password_incorrect"), .signIn("needs_second_factor", second: ClerkJSON.totp), .complete(),
        ])
        let clerk = try Self.clerk(transport)
        let (password, form) = (Secret("hunter2"), Form())

        func signIn() async throws -> ClerkSession {
            var flow = clerk.signInFlow(.identifier("ada@example.com", password: password))
            var turn = try await flow.step(.begin)
            while true {
                for notice in turn.notices { form.tell(notice.userMessage) }
                switch turn.step {
                case .finished(let session): return session
                case .ask(let challenge): turn = try await flow.step(.answer(.text(await form.answer(to: challenge))))
                case .choose(let factors): turn = try await flow.step(.choose(await form.choice(among: factors)))
                case .pending(let challenge, let pause):
                    form.show(challenge)
                    try await Task.sleep(for: pause.duration)
                    turn = try await flow.step(.poll)
                @unknown default: throw NotSupported()
                }
            }
        }
        #expect(try await signIn().id == "sess_1")
    }

    @Test func signInByQuestionsAlone() async throws {
        let transport = ScriptedTransport([
            .signIn("needs_second_factor", second: ClerkJSON.totp), .complete(),
        ])
        let clerk = try Self.clerk(transport)
        let (name, password, form) = ("ada@example.com", Secret("hunter2"), Form())

        var flow = clerk.signInFlow(.identifier(name, password: password))
        var turn = try await flow.step(.begin)
        while case .ask(let challenge) = turn.step {
            turn = try await flow.step(.answer(.text(await form.answer(to: challenge))))
        }

        guard case .finished(let session) = turn.step else { throw NotSupported() }
        #expect(session.id == "sess_1")
    }

    /// Compiled alone: it is several requests, and the ticket is the browser's.
    private func betweenRequests(
        _ client: RecoveringClient,
        _ sealing: MarkingSealing,
        _ clerk: Clerk,
        at browser: Secret,
        ticket: Secret,
        _ name: String,
        _ password: Secret,
        _ code: Secret
    ) async throws -> [SignInTurn<ClerkSession>] {
        let signIns = SuspendedSignIns(client, sealing: sealing).held(by: browser, hasOwnTokens: true)

        // The request that begins:
        let turn = try await signIns.begin(clerk.signInFlow(.identifier(name, password: password)))
        // turn.ticket goes into a cookie that scripts cannot read.

        // Each request that answers, at any instance that shares the store and the key:
        let next = try await signIns.step(ticket, .answer(.text(code)), at: clerk)
        return [turn, next]
    }

    @Test func suspendedSignIn() async throws {
        let transport = ScriptedTransport([
            .signIn("needs_second_factor", second: ClerkJSON.totp), .complete(),
        ])
        let clerk = try Self.clerk(transport)
        let (client, sealing, browser) = (clerk.client, MarkingSealing(), Secret("a cookie"))
        let (name, password, code) = ("ada@example.com", Secret("hunter2"), Secret("123456"))

        let signIns = SuspendedSignIns(client, sealing: sealing).held(by: browser, hasOwnTokens: true)
        let turn = try await signIns.begin(clerk.signInFlow(.identifier(name, password: password)))
        let ticket = try #require(turn.ticket)
        let next = try await signIns.step(ticket, .answer(.text(code)), at: clerk)

        guard case .finished(let session) = next.step else { throw NotSupported() }
        #expect(session.id == "sess_1")
    }

    @Test func aStoreForEachBrowser() async throws {
        let (sealing, frontendAPI) = (MarkingSealing(), "https://clerk.example.com")
        let client = RecoveringClient(transport: ScriptedTransport(), runtime: .manual())
        func hash(_ secret: Secret) -> Int { secret.reveal().count }

        func clerk(of browser: Secret) throws -> Clerk {
            let name = "browser \(hash(browser))"
            let tokens = SharedTokenStore(client.runtime.state, name: name, sealing: sealing)
            return try Clerk(frontendAPI: frontendAPI, client: client, tokens: tokens)
        }

        let (one, other) = (try clerk(of: "a"), try clerk(of: "bb"))
        try await one.tokens.store.update { $0.clientToken = "T" }
        #expect(try await other.tokens.store.read().credentials.clientToken == nil)
    }

    private struct NotSupported: Error {}

    private struct Form {
        func tell(_ text: String?) {}
        func show(_ challenge: Challenge) {}
        func answer(to challenge: Challenge) async -> Secret { "hunter3" }
        func choice(among factors: [Factor]) async -> Factor? { nil }
    }

    @Test func sessionTokens() async throws {
        let transport = ScriptedTransport([.token(1), .token(2), .status(200)])
        let clerk = try Self.clerk(transport)

        let token = try await clerk.sessionToken()
        let hasura = try await clerk.sessionToken(template: "hasura")

        let backendTokens = TokenManager(store: InMemoryTokenStore(), renewer: ClerkTokenRenewer(clerk))
        let backend = RecoveringClient(transport: transport, runtime: .manual()) {
            Recovery {
                RateLimitBackoff()
                SessionRenewal(backendTokens)
                TransientRetry()
            }
            Authorization(backendTokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
        }

        #expect(token.template == nil && hasura.template == "hasura")
        _ = try await backend.send(HTTPRequest(url: "https://api.example.com/x"))
        #expect(transport.received.last?.request.headerFields[.authorization] == "Bearer \(token.jwt.reveal())")
    }

    /// Compiled alone: on the system's clock, and the tokens end by the other.
    private func backend(of clerk: Clerk, _ transport: ScriptedTransport) -> RecoveringClient {
        let backendTokens = TokenManager(store: InMemoryTokenStore(), renewer: ClerkTokenRenewer(clerk))
        let backend = RecoveringClient(transport: transport) {
            Recovery {
                RateLimitBackoff()
                SessionRenewal(backendTokens)
                TransientRetry()
            }
            Authorization(backendTokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
        }
        return backend
    }

    @Test func otherWaysIn() async throws {
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: ClerkJSON.resetEmail)
        let byLink = ScriptedTransport.Step.signIn(
            "needs_first_factor",
            first: #"{"strategy":"email_link","email_address_id":"idn_1"}"#
        )
        let nonce = #"{\"challenge\":\"AQID\",\"rpId\":\"example.com\"}"#
        let challenge = """
            {"response":{"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor",\
            "first_factor_verification":{"status":"unverified","strategy":"passkey","nonce":"\(nonce)"}},"client":null}
            """
        let signedUp = """
            {"response":{"object":"sign_up_attempt","id":"sua_1","status":"complete","created_session_id":"sess_1"},\
            "client":\(ClerkJSON.client(["sess_1"]))}
            """
        let transport = ScriptedTransport([
            .complete(), first, first, .signIn("needs_new_password"), .complete(),
            .status(200, [:], body: challenge), .complete(), .status(200, [:], body: signedUp), byLink, byLink,
            .status(200, [:], body: #"{"response":{"ticket":"t"}}"#), .complete(), .status(200, [:], body: "{}"),
        ])
        let configuration = ClerkConfiguration(authenticator: Authenticator(), redirectURL: "app://back")
        let clerk = try Self.clerk(transport, configuration)
        let (email, password) = ("ada@example.com", Secret("hunter2"))
        let prompts = Person([.emailCode: "1", .newPassword: "n3w"])
        let ticket: Secret = "t"
        let address: Secret = "app://back?flow_id=f&approval_token=a"

        let invited = try await clerk.signIn(ticket: ticket, answering: prompts)
        let recovered = try await clerk.resetPassword(identifier: email, answering: prompts)
        let held = try await clerk.signInWithPasskey(answering: prompts)
        let new = try await clerk.signUp(
            ClerkSignUpRequest(emailAddress: email, password: password),
            answering: prompts
        )

        let link = try await clerk.sendEmailLink(identifier: email)
        // … later, with the address that the browser was sent to:
        let linked = try await clerk.signIn(link: link, ledTo: address, answering: prompts)

        let form: FormFields = ["new_password": "…"]
        _ = try await clerk.send(.post, path: "/v1/me/change_password", body: .form(form), answering: prompts)

        #expect(Set([invited, recovered, held, new, linked].map(\.id)) == ["sess_1"])
    }

    @Test func anotherProviderAndTheTasksOfASession() async throws {
        let verification = """
            {"status":"unverified","strategy":"oauth_google","external_verification_redirect_url":"https://idp.example.com"}
            """
        let visit = """
            {"response":{"object":"sign_in_attempt","id":"sia_1","status":"needs_identifier",\
            "first_factor_verification":\(verification)},"client":null}
            """
        let transport = ScriptedTransport([
            .status(200, [:], body: visit), .complete(), .client(["sess_1"]), .client(["sess_1"], status: "pending"),
        ])
        let clerk = try Self.clerk(transport, ClerkConfiguration(redirectURL: "app://back"))
        let prompts = Person([.redirect: "app://back?rotating_token_nonce=n"])

        let social = try await clerk.signIn(at: .oauth("google"), answering: prompts)
        if try await clerk.session()?.status == .pending { try await clerk.finishTasks(answering: prompts) }

        #expect(social.id == "sess_1" && prompts.questions.first?.url == "https://idp.example.com")
    }

    @Test func theAccountTheDeviceAndTheInstance() async throws {
        let transport = ScriptedTransport([
            .status(200, [:], body: #"{"response":{"object":"totp","secret":"ABC","uri":"otpauth://x"}}"#),
            .status(200, [:], body: #"{"response":{"object":"totp","backup_codes":["b1"]}}"#),
            .status(200, [:], body: #"{"user_settings":{"sign_up":{"mode":"waitlist"}}}"#),
            .status(200, [:], body: #"{"object":"waitlist_entry","id":"wle_1"}"#), .status(200, [:], body: "{}"),
        ])
        let clerk = try Self.clerk(transport)
        let (prompts, email, code) = (Person(), "ada@example.com", Secret("123456"))

        let totp = try await clerk.createTOTP(answering: prompts)  // show totp.uri as a QR code
        let backupCodes = try await clerk.verifyTOTP(code: code)
        let instance = try await clerk.environment()
        if instance.signUpMode == "waitlist" { try await clerk.joinWaitlist(emailAddress: email) }
        try await clerk.forgetDevice()  // ends all sessions; the next sign-in is a new device's

        #expect(totp.uri == "otpauth://x" && backupCodes == ["b1"] && transport.received.count == 5)
    }

    @Test func otherDevicesAndTheKeyOfThisOne() async throws {
        let activity = #""latest_activity":{"country":"elsewhere"}"#
        let other = #"[{"object":"session","id":"sess_2","status":"active",\#(activity)}]"#
        let challenge = #"{"object":"trusted_device_challenge","client_data":"sign this"}"#
        let begun = """
            {"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor","first_factor_verification":\
            {"status":"unverified","strategy":"trusted_device","trusted_device_challenge":\(challenge)}}
            """
        let transport = ScriptedTransport([
            .status(200, [:], body: other), .status(200, [:], body: "{}"),
            .status(200, [:], body: #"{"response":\#(challenge)}"#),
            .status(200, [:], body: #"{"response":{"object":"trusted_device","id":"tdc_1"}}"#),
            .status(200, [:], body: #"{"response":\#(begun)}"#), .complete(),
        ])
        let key = ClerkConfiguration.TrustedDeviceKey(
            platform: "android",
            appIdentifier: "com.example.cli",
            publicKey: ["kty": "EC"]
        ) { Array($0.utf8) }
        let clerk = try Self.clerk(transport, ClerkConfiguration(trustedDevice: key))
        let prompts = Person()

        for session in try await clerk.sessionsOnAllDevices() where session.device?.country == "elsewhere" {
            try await clerk.revoke(sessionID: session.id, answering: prompts)
        }
        let device = try await clerk.enrollTrustedDevice(answering: prompts)
        // … later, in place of a password:
        let known = try await clerk.signIn(trustedDeviceID: device, answering: prompts)

        #expect(known.id == "sess_1" && transport.received.count == 6)
        #expect(transport.received[1].request.path?.hasPrefix("/v1/me/sessions/sess_2/revoke?") == true)
        #expect(transport.received[5].text.contains("client_data=sign+this&signature=c2lnbiB0aGlz"))
    }

    @Test func pacing() {
        let configuration = ClerkConfiguration(pacing: .clerk())
        #expect(configuration.pacing != nil)
    }

    private static func clerk(
        _ transport: ScriptedTransport,
        _ configuration: ClerkConfiguration = ClerkConfiguration()
    ) throws -> Clerk {
        try Clerk(
            frontendAPI: "https://clerk.example.com",
            client: RecoveringClient(transport: transport, runtime: .manual()),
            tokens: InMemoryTokenStore(Credentials(clientToken: "T0", sessionID: "sess_1")),
            configuration: configuration
        )
    }
}
