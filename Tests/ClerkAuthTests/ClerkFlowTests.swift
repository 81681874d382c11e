import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// Tickets, links, passkeys and forgotten passwords.
@Suite struct ClerkFlowTests {
    private static let create = "POST /client/sign_ins"
    private static let step = "POST /client/sign_ins/sia_1/"
    private static let link = #"{"strategy":"email_link","email_address_id":"idn_1","safe_identifier":"a***@x"}"#
    private static let passkey = #"{"strategy":"passkey"}"#

    // MARK: Tickets

    @Test func aTicketMakesASession() async throws {
        let bench = try ClerkBench([.complete()])
        #expect(try await bench.clerk.signIn(ticket: "t&1", answering: Person()).id == "sess_1")
        #expect(bench.sent == [Self.create + " strategy=ticket&ticket=t%261"])
        #expect(try await bench.credentials.sessionID == "sess_1")
    }

    @Test func aTicketMayWantASecondFactor() async throws {
        let bench = try ClerkBench([.signIn("needs_second_factor", second: ClerkJSON.totp), .complete()])
        _ = try await bench.clerk.signIn(ticket: "t", answering: Person([.totp: "123456"]))
        #expect(bench.sent.last == Self.step + "attempt_second_factor strategy=totp&code=123456")
    }

    @Test(arguments: ["ticket_expired_code", "ticket_invalid_code", "sign_in_token_already_used_code"])
    func aDeadTicketIsPresentedOnce(code: String) async throws {
        let bench = try ClerkBench([.error(code, status: 400), .complete()])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(ticket: "t", answering: Person())
        }
        #expect(error?.kind == .flowExpired && error?.outcome.code == code)
        #expect(bench.transport.received.count == 1)
    }

    @Test(arguments: [
        ScriptedTransport.Step.error("verification_already_verified", status: 400), .status(410),
    ])
    func aTicketThatIsUsedUpIsPresentedOnce(refusal: ScriptedTransport.Step) async throws {
        let bench = try ClerkBench([refusal, .client([]), .complete()])
        await #expect(throws: RecoveryError.self) { try await bench.clerk.signIn(ticket: "t", answering: Person()) }
        #expect(bench.sent.count { $0.contains("ticket=t") } == 1)
    }

    @Test func nobodyKnowsWhoseTicketItIsWhereSomebodyIsSignedIn() async throws {
        let bench = try ClerkBench([.error("session_exists", status: 400)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(ticket: "t", answering: Person())
        }
        #expect(error?.kind == .alreadySignedIn)
        #expect(bench.transport.received.count == 1)
    }

    // MARK: A web backend

    /// Whose store two browsers share by mistake: what one has proved lets nobody else in.
    @Test func aSessionThatIsFoundIsNoSignInOfABackend() async throws {
        let bench = try ClerkBench([.error("session_exists", status: 400), .client(["sess_5"])])
        let signIns = SuspendedSignIns(bench.client, sealing: MarkingSealing()).held(by: "another browser")
        let error = await #expect(throws: RecoveryError.self) {
            try await signIns.begin(bench.clerk.signInFlow(.identifier(ClerkBench.identifier, password: "wrong")))
        }
        #expect(error?.kind == .alreadySignedIn && error?.remedies == [.useExistingSession])
        #expect(bench.transport.received.count == 1)
        #expect(try await bench.credentials.sessionID == nil)
    }

    /// Who says that the tokens are the browser's own has it used, unless the sign-in's options forbid that.
    @Test(arguments: [true, false]) func aBrowsersOwnSessionIsUsedIfItMayBe(isAccepted: Bool) async throws {
        let bench = try ClerkBench([.error("session_exists", status: 400), .client(["sess_5"])])
        let signIns = SuspendedSignIns(bench.client, sealing: MarkingSealing())
            .held(by: "this browser", hasOwnTokens: true)
        let options = SignInOptions(acceptsExistingSession: isAccepted)
        let turn = try? await signIns.begin(
            bench.clerk.signInFlow(.identifier(ClerkBench.identifier, password: "p"), options: options)
        )
        let isFinished = if case .finished = turn?.step { true } else { false }
        #expect(isFinished == isAccepted)
    }

    /// Nor after a lost answer, of which nobody knows what it was.
    @Test func aSessionThatIsFoundAfterALostAnswerIsNoneEither() async throws {
        let bench = try ClerkBench([.fail(.connectionLost, .unknown), .client(["sess_5"]), .client(["sess_5"])])
        let signIns = SuspendedSignIns(bench.client, sealing: MarkingSealing()).held(by: "another browser")
        await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits {
                try await signIns.begin(bench.clerk.signInFlow(.identifier(ClerkBench.identifier, password: "wrong")))
            }
        }
        #expect(try await bench.credentials.sessionID == nil)
    }

    // MARK: Links

    private func linkBench(_ steps: ScriptedTransport.Step...) throws -> ClerkBench {
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: Self.link)
        return try ClerkBench(
            [first, first] + steps,
            configuration: ClerkConfiguration(redirectURL: "myapp://callback")
        )
    }

    @Test func aLinkIsSentAndItsWayBackIsBoundToThisClient() async throws {
        let bench = try linkBench(
            .status(200, [:], body: #"{"response":{"flow_id":"f1","ticket":"t1"},"client":null}"#),
            .complete()
        )
        let person = Person([.emailLink: "myapp://callback?flow_id=f1&approval_token=a%2B1#x"])
        _ = try await bench.signIn(nil, person)
        let prepared = FormFields(parsing: bench.transport.received[1].body)
        #expect(
            prepared.names == [
                "strategy", "email_address_id", "redirect_uri", "code_challenge", "code_challenge_method",
            ]
        )
        #expect(prepared["redirect_uri"] == ["myapp://callback"] && prepared["code_challenge_method"] == ["S256"])
        let completed = FormFields(parsing: bench.transport.received[2].body)
        #expect(
            bench.sent[2].hasPrefix("POST /client/magic_links/complete flow_id=f1&approval_token=a%2B1&code_verifier=")
        )
        let proof = OAuthClient.ProofKey(verifier: try #require(completed["code_verifier"].first))
        #expect(prepared["code_challenge"].first?.reveal() == proof?.challenge)
        #expect(bench.sent[3] == Self.create + " strategy=ticket&ticket=t1")
        #expect(person.questions.first?.factor.destination == "a***@x")
    }

    @Test func aLinkThatWasOpenedElsewhereIsSeenToo() async throws {
        let bench = try linkBench(
            .signIn("needs_first_factor", first: Self.link),
            .signIn("needs_second_factor", second: ClerkJSON.totp),
            .complete()
        )
        let person = Person([.emailLink: [.text("opened"), .text("opened")], .totp: [.text("1")]])
        _ = try await bench.signIn(nil, person)
        #expect(bench.sent[2] == "GET /client/sign_ins/sia_1")
        #expect(person.keys == [.emailLink, .emailLink, .totp])
        #expect(person.questions[1].previousFailure?.kind == .challengeIncorrect)
    }

    @Test(arguments: [
        "approval_token_consumed", "approval_token_expired", "approval_token_invalid", "pkce_verification_failed",
        "flow_not_approved",
    ])
    func aDeadLinkIsPresentedOnceAndANewOneIsSent(code: String) async throws {
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: Self.link)
        let bench = try linkBench(
            .error(code),
            first,
            first,
            .status(200, [:], body: #"{"response":{"ticket":"t1"}}"#),
            .complete()
        )
        let callback = "myapp://callback?flow_id=f1&approval_token=a1"
        let second = "myapp://callback?flow_id=f2&approval_token=a2"
        _ = try await bench.signIn(
            nil,
            Person([.emailLink: [.text(Secret(callback)), .text(Secret(second))]])
        )
        #expect(bench.sent.count { $0.contains("approval_token=a1") } == 1)
        let challenges = [1, 4].map { FormFields(parsing: bench.transport.received[$0].body)["code_challenge"] }
        #expect(challenges[0] != challenges[1])
    }

    @Test(arguments: [
        ScriptedTransport.Step.error("form_password_incorrect"), .error("form_code_incorrect"),
        .error("form_code_incorrect", status: 500),
    ])
    func theTicketOfALinkIsPresentedOnce(refusal: ScriptedTransport.Step) async throws {
        let bench = try linkBench(
            .status(200, [:], body: #"{"response":{"ticket":"t1"}}"#),
            refusal,
            .signIn("needs_second_factor", second: ClerkJSON.totp),
            .complete()
        )
        let back = Challenge.Answer.text("myapp://callback?flow_id=f1&approval_token=a1")
        _ = try await bench.signIn(nil, Person([.emailLink: [back, back], .totp: [.text("1")]]))
        #expect(bench.sent.count { $0.contains("ticket=t1") } == 1)
        #expect(bench.sent[4] == "GET /client/sign_ins/sia_1")
    }

    @Test func withoutAPlaceToComeBackToNoLinkIsOffered() async throws {
        let bench = try ClerkBench([.signIn("needs_first_factor", first: Self.link)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(nil) }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "redirect_url")
        await #expect(throws: RecoveryError.self) { try await bench.clerk.sendEmailLink(identifier: "ada") }
    }

    @Test func aServiceSendsALinkAndAnotherProcessSignsIn() async throws {
        let bench = try linkBench(
            .status(200, [:], body: #"{"response":{"ticket":"t1"}}"#),
            .complete()
        )
        let sent = try await bench.clerk.sendEmailLink(identifier: "ada@example.com")
        let kept = try #require(OAuthClient.ProofKey(verifier: sent.proof.verifier))
        let session = try await bench.clerk.signIn(
            link: ClerkEmailLink(proof: kept),
            ledTo: "https://app.example.com/back?x=1&flow_id=f&approval_token=a",
            answering: Person()
        )
        #expect(session.id == "sess_1")
        #expect(bench.sent[2].hasSuffix("code_verifier=\(kept.verifier.reveal())"))
    }

    @Test(arguments: [
        "", "nonsense", "https://x/?flow_id=f", "https://x/?approval_token=a", "https://x/?flow_id=&approval_token=a",
        "https://x/?flow_id=f&approval_token=a&flow_id=g",
    ])
    func anAddressWithoutAnApprovalGoesNowhere(address: String) async throws {
        let bench = try ClerkBench()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(
                link: ClerkEmailLink(proof: OAuthClient.ProofKey()),
                ledTo: Secret(address),
                answering: Person()
            )
        }
        #expect(error?.kind == .invalidRequest)
        #expect(bench.transport.received.isEmpty)
    }

    // MARK: Passkeys

    private static func challenged(_ nonce: String) -> ScriptedTransport.Step {
        let nonce = JSONValue.string(nonce).description
        let body = """
            {"response":{"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor",\
            "supported_first_factors":null,"first_factor_verification":{"status":"unverified","strategy":"passkey",\
            "nonce":\(nonce)}},"client":null}
            """
        return .status(200, [:], body: body)
    }

    private static let options =
        #"{"challenge":"AQID","rpId":"example.com","timeout":30000,"userVerification":"required","allowCredentials":[{"type":"public-key","id":"BAU"}]}"#

    @Test func aPasskeySignsIn() async throws {
        let authenticator = Authenticator()
        let bench = try ClerkBench(
            [Self.challenged(Self.options), .complete()],
            configuration: ClerkConfiguration(authenticator: authenticator)
        )
        #expect(try await bench.clerk.signInWithPasskey(answering: Person()).id == "sess_1")
        let request = try #require(authenticator.requests.first)
        #expect(request.challenge == [1, 2, 3] && request.relyingPartyID == "example.com")
        #expect(request.origin == "https://example.com" && request.timeout == .seconds(30))
        #expect(request.allowedCredentials == [[4, 5]] && request.userVerification == .required)
        #expect(bench.sent.first == Self.create + " strategy=passkey")
        let form = FormFields(parsing: bench.transport.received[1].body)
        #expect(form["strategy"] == ["passkey"])
        let proof = try JSONValue(parsing: try #require(form["public_key_credential"].first).reveal())
        #expect(proof["id"] == "BAU" && proof["rawId"] == "BAU" && proof["type"] == "public-key")
        #expect(proof["response"]?["signature"] == "CQ" && proof["response"]?["userHandle"] == "BwY")
        #expect(proof["response"]?["clientDataJSON"]?.string?.isEmpty == false)
    }

    @Test func oneAmongOtherFactorsIsPreparedFirst() async throws {
        let factors = "\(Self.passkey),\(ClerkJSON.email)"
        let bench = try ClerkBench(
            [.signIn("needs_first_factor", first: factors), Self.challenged(Self.options), .complete()],
            configuration: ClerkConfiguration(authenticator: Authenticator(), origin: "https://app.example.com")
        )
        _ = try await bench.signIn(nil, Person([:] as [Factor.Key: Secret], choosing: .webauthn))
        #expect(bench.sent[1] == Self.step + "prepare_first_factor strategy=passkey")
    }

    @Test(
        arguments: [
            (WebAuthn.Failure.unsupported(), Outcome.Kind.factorUnavailable, "webauthn_unsupported"),
            (.notAllowed(), .factorUnavailable, "webauthn_not_allowed"),
            (.timeout(), .factorUnavailable, "webauthn_timeout"),
            (.badData(), .factorUnavailable, "webauthn_bad_data"), (.cancelled(), .declined, "webauthn_cancelled"),
        ] as [(WebAuthn.Failure, Outcome.Kind, String)]
    )
    func whatFailsHereIsTold(failure: WebAuthn.Failure, kind: Outcome.Kind, code: String) async throws {
        let bench = try ClerkBench(
            [Self.challenged(Self.options)],
            configuration: ClerkConfiguration(authenticator: Authenticator(failure))
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signInWithPasskey(answering: Person())
        }
        #expect(error?.kind == kind && error?.outcome.code == code)
        #expect(error?.cause is WebAuthn.Failure)
        #expect(bench.transport.received.count == 1)
    }

    @Test func whereNoPasskeyFitsAnotherFactorDoes() async throws {
        let factors = "\(Self.passkey),\(ClerkJSON.email)"
        let bench = try ClerkBench(
            [
                .signIn("needs_first_factor", first: factors), Self.challenged(Self.options),
                .signIn("needs_first_factor", first: factors), .signIn("needs_first_factor", first: factors),
                .complete(),
            ],
            configuration: ClerkConfiguration(authenticator: Authenticator(.unsupported()))
        )
        let person = Person([.emailCode: "1"], choosing: .webauthn)
        _ = try await bench.signIn(nil, person)
        #expect(person.keys == [.emailCode])
    }

    @Test(arguments: [
        "", "{}", "not json", #"{"challenge":"AQID"}"#, #"{"challenge":"!","rpId":"x"}"#, #"{"challenge":7,"rpId":[]}"#,
    ])
    func aChallengeThatCannotBeReadIsNotSigned(nonce: String) async throws {
        let authenticator = Authenticator()
        let again = Self.challenged(nonce)
        let bench = try ClerkBench(
            [again, again],
            configuration: ClerkConfiguration(authenticator: authenticator)
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signInWithPasskey(answering: Person())
        }
        #expect(error?.kind == .factorUnavailable)
        #expect(authenticator.requests.isEmpty)
    }

    @Test func withoutAnAuthenticatorTheResponderIsAsked() async throws {
        let bench = try ClerkBench([Self.challenged(Self.options), .complete()])
        let person = Person([.webauthn: "{\"id\":\"x\"}"])
        _ = try await bench.clerk.signInWithPasskey(answering: person)
        #expect(person.questions.first?.hint == Self.options)
        #expect(
            bench.sent.last == Self.step
                + "attempt_first_factor strategy=passkey&public_key_credential=%7B%22id%22%3A%22x%22%7D"
        )
        let none = try ClerkBench([Self.challenged(Self.options)])
        let error = await #expect(throws: RecoveryError.self) {
            try await none.clerk.signInWithPasskey(answering: Person([.webauthn: "unsupported"]))
        }
        #expect(error?.kind == .factorUnavailable)
    }

    @Test(.timeLimit(.minutes(30)))
    func aCeremonyThatTakesTooLongEnds() async throws {
        let bench = try ClerkBench(
            [Self.challenged(Self.options)],
            configuration: ClerkConfiguration(authenticator: Authenticator(hangs: true))
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.clerk.signInWithPasskey(answering: Person()) }
        }
        #expect(error?.outcome.code == "webauthn_timeout")
        #expect(bench.clock.now.offset == .seconds(30))
    }

    // MARK: Forgotten passwords

    @Test(arguments: [true, false])
    func aForgottenPasswordIsReplaced(endsOthers: Bool) async throws {
        let factors = "\(ClerkJSON.password),\(ClerkJSON.email),\(ClerkJSON.resetEmail)"
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: factors)
        let bench = try ClerkBench([first, first, .signIn("needs_new_password"), .complete()])
        let person = Person([.emailCode: "424242", .newPassword: "n3w"])
        let session = try await bench.clerk.resetPassword(
            identifier: "ada@example.com",
            endsOtherSessions: endsOthers,
            answering: person
        )
        #expect(session.id == "sess_1")
        #expect(person.notices.isEmpty, "the person has asked for it")
        let others = endsOthers ? "&sign_out_of_other_sessions=true" : ""
        #expect(
            bench.sent == [
                Self.create + " identifier=ada%40example.com",
                Self.step + "prepare_first_factor strategy=reset_password_email_code&email_address_id=idn_1",
                Self.step + "attempt_first_factor strategy=reset_password_email_code&code=424242",
                Self.step + "reset_password password=n3w\(others)",
            ]
        )
    }

    @Test func anAccountThatNoCodeCanReachKeepsItsPassword() async throws {
        let bench = try ClerkBench([.signIn("needs_first_factor", first: ClerkJSON.password)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.resetPassword(identifier: "ada", answering: Person())
        }
        #expect(error?.kind == .factorUnavailable)
    }
}
