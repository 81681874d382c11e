import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct ClerkSignUpTests {
    private static let create = "POST /client/sign_ups"
    private static let path = "/client/sign_ups/sua_1"
    private let request = ClerkSignUpRequest(emailAddress: "ada@example.com", password: "p4ss")

    private func signUp(missing: String = "", unverified: String = "", _ members: String = "") -> ScriptedTransport.Step
    {
        let body = """
            {"response":{"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements",\
            "missing_fields":[\(missing)],"unverified_fields":[\(unverified)],"email_address":"ada@example.com",\
            "phone_number":"+15555550100"\(members)},"client":{"object":"client","id":"client_1","sessions":[]}}
            """
        return .status(200, [:], body: body)
    }

    private var complete: ScriptedTransport.Step {
        let body = """
            {"response":{"object":"sign_up_attempt","id":"sua_1","status":"complete","created_session_id":"sess_1",\
            "created_user_id":"user_1"},"client":\(ClerkJSON.client(["sess_1"]))}
            """
        return .status(200, ["authorization": "T1"], body: body)
    }

    private func signUp(_ bench: ClerkBench, _ person: Person = Person()) async throws -> ClerkSession {
        try await bench.skippingWaits { try await bench.clerk.signUp(request, answering: person) }
    }

    @Test func anAddressIsProvedAndTheSessionStored() async throws {
        let unproved = signUp(unverified: #""email_address""#)
        let bench = try ClerkBench([unproved, unproved, .error("form_code_incorrect"), complete])
        let person = Person([.emailCode: [.text("1"), .text("424242")]])
        let session = try await signUp(bench, person)
        #expect(session.id == "sess_1" && session.userID == "user_1")
        #expect(
            bench.sent == [
                Self.create + " email_address=ada%40example.com&password=p4ss",
                "POST \(Self.path)/prepare_verification strategy=email_code",
                "POST \(Self.path)/attempt_verification strategy=email_code&code=1",
                "POST \(Self.path)/attempt_verification strategy=email_code&code=424242",
            ]
        )
        #expect(try await bench.credentials == Credentials(clientToken: "T1", sessionID: "sess_1"))
        #expect(person.questions.first?.factor.destination == "a•••@example.com")
    }

    @Test func anAddressThatALinkAloneProvesIsWaitedFor() async throws {
        let strategies = #""status":"unverified","strategy":"email_link","supported_strategies":["email_link"]"#
        let unproved = signUp(unverified: #""email_address""#, #","verifications":{"email_address":{\#(strategies)}}"#)
        let bench = try ClerkBench(
            [unproved, unproved, unproved, complete],
            configuration: ClerkConfiguration(redirectURL: "myapp://callback")
        )
        let person = Person()
        #expect(try await signUp(bench, person).id == "sess_1" && person.keys.isEmpty)
        #expect(
            bench.sent.dropFirst() == [
                "POST \(Self.path)/prepare_verification strategy=email_link&redirect_url=myapp%3A%2F%2Fcallback",
                "GET \(Self.path)", "GET \(Self.path)",
            ]
        )
        let without = try ClerkBench([unproved])
        let error = await #expect(throws: RecoveryError.self) { try await signUp(without) }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "redirect_url")
    }

    @Test func whatIsMissingIsAskedForFieldByField() async throws {
        let bench = try ClerkBench([
            signUp(missing: #""phone_number","username","legal_accepted","password""#),
            signUp(missing: #""username","legal_accepted","password""#),
            signUp(missing: #""legal_accepted","password""#),
            signUp(missing: #""password""#), signUp(unverified: #""phone_number""#),
            signUp(unverified: #""phone_number""#), complete,
        ])
        let person = Person([
            .phoneNumber: [.text("+15555550100")], .text: [.text("ada"), .text("true")], .newPassword: [.text("n3w")],
            .phoneCode: [.text("424242")],
        ])
        _ = try await signUp(bench, person)
        #expect(
            bench.sent.dropFirst().prefix(4) == [
                "PATCH \(Self.path) phone_number=%2B15555550100", "PATCH \(Self.path) username=ada",
                "PATCH \(Self.path) legal_accepted=true", "PATCH \(Self.path) password=n3w",
            ]
        )
        let consent = "Do you accept the terms of service (yes or no)?"
        #expect(person.questions.map(\.prompt) == [nil, "User name", consent, nil, nil])
    }

    @Test func aMessageThatIsNotSentYetIsWaitedFor() async throws {
        let unproved = signUp(unverified: #""phone_number""#)
        let early = ScriptedTransport.Step.error("sms_verification_not_yet_sent", status: 400)
        let bench = try ClerkBench([unproved, unproved, early, complete])
        let person = Person([.phoneCode: [.text("1"), .text("2")]])
        _ = try await signUp(bench, person)
        #expect(bench.sent.suffix(2).map { $0.suffix(6) } == ["code=1", "code=2"] && bench.sent.count == 4)
        #expect(bench.clock.requestedDelays.contains(.seconds(3)))
        let never = try ClerkBench([unproved, unproved] + Array(repeating: early, count: 20))
        let patient = Person([.phoneCode: Array(repeating: .text("1"), count: 20)])
        let error = await #expect(throws: RecoveryError.self) { try await signUp(never, patient) }
        #expect(error?.kind == .challengePending && never.sent.count == 2 + 3)
    }

    @Test func aPasswordThatIsNotTakenIsAskedForAgain() async throws {
        let bench = try ClerkBench([.error("form_password_pwned"), complete])
        let person = Person([.newPassword: "better"])
        _ = try await signUp(bench, person)
        #expect(bench.sent.last == Self.create + " email_address=ada%40example.com&password=better")
        #expect(person.questions.first?.previousFailure?.kind == .passwordRejected)
    }

    @Test(
        arguments: [
            ("form_identifier_exists", 422, Outcome.Kind.conflict), ("sign_up_mode_restricted", 403, .permissionDenied),
            ("user_quota_exceeded", 403, .quotaExhausted), ("not_allowed_access", 403, .permissionDenied),
        ] as [(String, Int, Outcome.Kind)]
    )
    func whatNoAnswerHelpsEndsIt(code: String, status: Int, kind: Outcome.Kind) async throws {
        let bench = try ClerkBench([.error(code, status: status)])
        let error = await #expect(throws: RecoveryError.self) { try await signUp(bench) }
        #expect(error?.kind == kind)
        #expect(bench.transport.received.count == 1)
    }

    /// A client token that Clerk does not know any more costs one look at the client, which brings another.
    @Test func aClientTokenThatIsRefusedIsSuperseded() async throws {
        let fresh = ScriptedTransport.Step.status(
            200,
            ["authorization": "T5"],
            body: #"{"response":null,"client":null}"#
        )
        let created = Self.create + " email_address=ada%40example.com&password=p4ss"
        let bench = try ClerkBench([.error("signed_out", status: 401), fresh, complete])
        _ = try await signUp(bench)
        #expect(bench.sent == [created, "GET /client", created] && bench.sentTokens == ["T0", "T0", "T5"])
        let dead = try ClerkBench([
            .error("signed_out", status: 401), fresh, .error("signed_out", status: 401), fresh, complete,
        ])
        let error = await #expect(throws: RecoveryError.self) { try await signUp(dead) }
        #expect(error?.kind == .credentialRejected && dead.sent == [created, "GET /client", created])
    }

    /// Whoever does not know whether the sign-up was made asks the server, and makes no second one.
    @Test func aCreationWhoseAnswerIsLostIsLookedFor() async throws {
        let lost = ScriptedTransport.Step.fail(.connectionLost, .unknown)
        func client(_ signUp: String) -> ScriptedTransport.Step {
            let body = #"{"response":{"object":"client","id":"client_1","sessions":[],"sign_up":\#(signUp)}}"#
            return .status(200, [:], body: body)
        }
        func found(_ address: String) -> ScriptedTransport.Step {
            client(
                """
                {"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements","missing_fields":[],\
                "unverified_fields":["email_address"],"email_address":"\(address)"}
                """
            )
        }
        let unproved = signUp(unverified: #""email_address""#)
        let bench = try ClerkBench([lost, found("ada@example.com"), unproved, complete])
        #expect(try await signUp(bench, Person([.emailCode: "1"])).id == "sess_1")
        #expect(bench.sent.filter { $0.hasPrefix(Self.create + " ") }.count == 1 && bench.sent[1] == "GET /client")
        for step in [found("grace@example.com"), client("null")] {
            let other = try ClerkBench([lost, step, complete])
            let error = await #expect(throws: RecoveryError.self) { try await signUp(other) }
            #expect(error?.reason == .processedUnknown && other.sent.count == 2)
        }
        let done = try ClerkBench([
            lost, .status(200, [:], body: #"{"response":\#(ClerkJSON.client(["sess_1"])),"client":null}"#),
        ])
        #expect(try await signUp(done).id == "sess_1")
        #expect(done.sent.count == 2)
    }

    @Test func aTicketIsPresentedOnce() async throws {
        let bench = try ClerkBench([.error("ticket_expired_code", status: 400), complete])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signUp(ClerkSignUpRequest(ticket: "t"), answering: Person())
        }
        #expect(error?.kind == .flowExpired)
        #expect(bench.sent == [Self.create + " strategy=ticket&ticket=t"])
    }

    /// What Clerk says beside a proof that belongs to the other flow: nothing, or why it does.
    private static func transferable(_ code: String?) -> String {
        let error = code.map { #"{"code":"\#($0)","message":"m","long_message":"l"}"# } ?? "null"
        return #"{"status":"transferable","strategy":"oauth_google","error":\#(error)}"#
    }

    @Test(arguments: [nil, "external_account_exists"])
    func whoHasAnAccountIsSignedIn(code: String?) async throws {
        let proved = #","verifications":{"external_account":\#(Self.transferable(code))}"#
        let bench = try ClerkBench([
            signUp(proved), .signIn("needs_second_factor", second: ClerkJSON.totp), .complete(),
        ])
        #expect(try await signUp(bench, Person([.totp: "1"])).id == "sess_1")
        #expect(bench.sent[1] == "POST /client/sign_ins transfer=true")
        #expect(bench.sent[2] == "POST /client/sign_ins/sia_1/attempt_second_factor strategy=totp&code=1")
    }

    @Test(arguments: [nil, "external_account_not_found"])
    func whoHasNoAccountIsTransferredToASignUp(code: String?) async throws {
        let body = """
            {"response":{"object":"sign_in_attempt","id":"sia_1","status":"needs_identifier",\
            "first_factor_verification":\(Self.transferable(code))},"client":null}
            """
        let bench = try ClerkBench([.status(200, [:], body: body), complete])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(ticket: "t", answering: Person())
        }
        #expect(error?.kind == .notFound)
        #expect(error?.outcome.code == code ?? "needs_identifier")
        _ = try await bench.clerk.signUp(ClerkSignUpRequest(transfersSignIn: true), answering: Person())
        #expect(bench.sent.last == Self.create + " transfer=true")
    }

    /// Where a sign-in signs up whoever has no account, that is told once they have proved that the address is theirs.
    @Test func whoHasNoAccountIsSignedUpOnceTheyHaveProvedThemselves() async throws {
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: ClerkJSON.email)
        let bench = try ClerkBench([first, first, .error("sign_up_if_missing_transfer", status: 404), complete])
        #expect(try await bench.signIn(nil, Person([.emailCode: "1"])).id == "sess_1")
        #expect(bench.sent.last == Self.create + " transfer=true" && bench.sent.count == 4)
    }

    @Test(arguments: [
        (#","verifications":7"#, Outcome.Kind.unknown), (#","status":"abandoned""#, .flowExpired),
        (#","unverified_fields":["web3_wallet"]"#, .factorUnavailable), (#","status":"of_the_future""#, .unknown),
    ])
    func whatLeadsNowhereIsAnError(members: String, kind: Outcome.Kind) async throws {
        let bench = try ClerkBench([signUp(members), signUp(members)])
        let error = await #expect(throws: RecoveryError.self) { try await signUp(bench) }
        #expect(error?.kind == kind)
    }
}
