import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Where an answer is lost on the way, the server is asked what has become of the step before anything is said.
@Suite struct ClerkLostAnswerTests {
    private typealias Step = ScriptedTransport.Step

    private static let lost = Step.fail(.connectionLost, .unknown)
    private static let password =
        "POST /client/sign_ins identifier=ada%40example.com&strategy=password&password=hunter2"
    private static let attempt = "POST /client/sign_ins/sia_1/attempt_second_factor strategy=totp&code="

    private static func client(signIn: String = "null", sessions: [String] = []) -> Step {
        .status(200, [:], body: #"{"response":\#(ClerkJSON.client(sessions, signIn: signIn)),"client":null}"#)
    }

    @Test func aCodeThatHasArrivedMakesTheSession() async throws {
        let bench = try ClerkBench([
            .signIn("needs_second_factor", second: ClerkJSON.totp), Self.lost, Self.client(sessions: ["sess_1"]),
            .complete(token: nil),
        ])
        let person = Person([.totp: "1"])
        #expect(try await bench.signIn("hunter2", person).id == "sess_1")
        #expect(bench.sent == [Self.password, Self.attempt + "1", "GET /client", "GET /client/sign_ins/sia_1"])
        #expect(person.notices == [])
    }

    @Test func aCodeThatHasNotArrivedIsAskedForAnew() async throws {
        let waiting = ClerkJSON.signIn("needs_second_factor", second: ClerkJSON.totp)
        let bench = try ClerkBench([
            .signIn("needs_second_factor", second: ClerkJSON.totp), Self.lost, Self.client(signIn: waiting),
            .complete(),
        ])
        let person = Person([.totp: [.text("1"), .text("2")]])
        #expect(try await bench.signIn("hunter2", person).id == "sess_1")
        #expect(bench.sent == [Self.password, Self.attempt + "1", "GET /client", Self.attempt + "2"])
        #expect(person.notices == [.transport])
    }

    @Test func aPasswordThatHasArrivedLeadsOn() async throws {
        let waiting = ClerkJSON.signIn("needs_second_factor", second: ClerkJSON.totp)
        let bench = try ClerkBench([Self.lost, Self.client(signIn: waiting), .complete()])
        let person = Person([.totp: "1"])
        #expect(try await bench.signIn("hunter2", person).id == "sess_1")
        #expect(bench.sent == [Self.password, "GET /client", Self.attempt + "1"])
        #expect(person.notices == [])
    }

    @Test func aPasswordThatHasMadeTheSessionIsNotAskedForAgain() async throws {
        let bench = try ClerkBench([Self.lost, Self.client(sessions: ["sess_1"])])
        #expect(try await bench.signIn().id == "sess_1")
        #expect(bench.sent == [Self.password, "GET /client"])
    }

    /// Nobody knows whether the code was sent; the sign-in tells, and no second one is.
    @Test func aCodeThatWasSentIsNotSentAgain() async throws {
        let first = Step.signIn("needs_first_factor", first: ClerkJSON.email)
        let prepared = ClerkJSON.signIn("needs_first_factor", first: ClerkJSON.email).replacing(
            #""created_session_id""#,
            with: #""first_factor_verification":{"status":"unverified","strategy":"email_code"},"created_session_id""#
        )
        let bench = try ClerkBench([first, Self.lost, Self.client(signIn: prepared), .complete()])
        #expect(try await bench.signIn(nil, Person([.emailCode: "1"])).id == "sess_1")
        #expect(bench.sent.filter { $0.contains("prepare") }.count == 1 && bench.sent.count == 4)
        let unprepared = ClerkJSON.signIn("needs_first_factor", first: ClerkJSON.email)
        let again = try ClerkBench([first, Self.lost, Self.client(signIn: unprepared), first, .complete()])
        #expect(try await again.signIn(nil, Person([.emailCode: "1"])).id == "sess_1")
        #expect(again.sent.filter { $0.contains("prepare") }.count == 2)
    }

    @Test(arguments: ["{\"response\":null,\"client\":null}", "<html>", "{}"])
    func whereTheServerKnowsNothingTheDoubtStands(body: String) async throws {
        let bench = try ClerkBench([Self.lost, .status(200, [:], body: body)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .transport && error?.reason == .processedUnknown)
        #expect(bench.sent == [Self.password, "GET /client"])
    }

    @Test func somebodyElsesSignInIsNotFollowed() async throws {
        let other = ClerkJSON.signIn("needs_second_factor", second: ClerkJSON.totp)
            .replacing("ada@example.com", with: "grace@example.com")
        let bench = try ClerkBench([Self.lost, Self.client(signIn: other)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.reason == .processedUnknown && bench.sent.count == 2)
    }

    @Test func aTicketIsNotLookedFor() async throws {
        let bench = try ClerkBench([Self.lost])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(ticket: "t", answering: Person())
        }
        #expect(error?.reason == .processedUnknown && bench.sent.count == 1)
    }

    @Test func aSignUpThatIsCompleteIsFound() async throws {
        let open =
            #"{"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements","unverified_fields":["email_address"]}"#
        let done = #"{"object":"sign_up_attempt","id":"sua_1","status":"complete","created_session_id":"sess_1"}"#
        let signUp = { (body: String, client: String) in
            Step.status(200, [:], body: #"{"response":\#(body),"client":\#(client)}"#)
        }
        let bench = try ClerkBench([
            signUp(open, "null"), signUp(open, "null"), Self.lost, signUp(done, ClerkJSON.client(["sess_1"])),
        ])
        let request = ClerkSignUpRequest(emailAddress: "ada@example.com")
        #expect(try await bench.clerk.signUp(request, answering: Person([.emailCode: "1"])).id == "sess_1")
        #expect(bench.sent.last == "GET /client/sign_ups/sua_1" && bench.sent.count == 4)
    }

    /// A sign-in that meets a client token that Clerk does not know any more goes on with the one that it is given.
    @Test func aClientTokenThatIsRefusedIsSuperseded() async throws {
        let fresh = Step.status(200, ["authorization": "T5"], body: #"{"response":null,"client":null}"#)
        let bench = try ClerkBench([.error("signed_out", status: 401), fresh, .complete(token: "T6")])
        let person = Person()
        #expect(try await bench.signIn("hunter2", person).id == "sess_1")
        #expect(bench.sent == [Self.password, "GET /client", Self.password])
        #expect(bench.sentTokens == ["T0", "T0", "T5"] && person.notices == [.credentialRejected])
        let dead = try ClerkBench([.error("signed_out", status: 401), .error("signed_out", status: 401)])
        let error = await #expect(throws: RecoveryError.self) { try await dead.signIn() }
        #expect(error?.kind == .credentialRejected && dead.sent == [Self.password, "GET /client"])
        #expect(try await dead.credentials.clientToken == "T0")
    }

    /// A ticket that Clerk has not looked at is presented with the client token that takes the place of the refused one.
    @Test func aTicketGoesOnWithTheNewClientToken() async throws {
        let fresh = Step.status(200, ["authorization": "T5"], body: #"{"response":null,"client":null}"#)
        let redeemed = "POST /client/sign_ins strategy=ticket&ticket=t"
        let bench = try ClerkBench([.error("signed_out", status: 401), fresh, .complete(token: "T6")])
        #expect(try await bench.clerk.signIn(ticket: "t", answering: Person()).id == "sess_1")
        #expect(bench.sent == [redeemed, "GET /client", redeemed] && bench.sentTokens == ["T0", "T0", "T5"])
        let dead = try ClerkBench([.error("signed_out", status: 401), fresh, .error("signed_out", status: 401), fresh])
        let error = await #expect(throws: RecoveryError.self) {
            try await dead.clerk.signIn(ticket: "t", answering: Person())
        }
        #expect(error?.kind == .credentialRejected && dead.sent == [redeemed, "GET /client", redeemed])
    }

    /// An error that proves nothing leaves a password in doubt: with a new sign-in it is the person who gives it.
    @Test(
        arguments: [200, 500],
        [
            "signed_out", "resource_not_found", "client_not_found", "verification_already_verified",
            "ticket_invalid_code", "account_transfer_invalid",
        ]
    )
    func aPasswordInDoubtIsNotPresentedAgain(status: Int, code: String) async throws {
        let isRead = !["ticket_invalid_code", "account_transfer_invalid"].contains(code)
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: ClerkJSON.password)
        let bench = try ClerkBench(
            [.error(code, status: status)] + (isRead ? [.client([])] : []) + [first, .complete()]
        )
        _ = try await bench.signIn("hunter2", Person([.password: "again"]))
        #expect(bench.sent.count { $0.contains("password=hunter2") } == 1)
        #expect(bench.sent.last?.hasSuffix("attempt_first_factor strategy=password&password=again") == true)
    }
}
