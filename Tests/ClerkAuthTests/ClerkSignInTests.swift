import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@Suite struct ClerkSignInTests {
    private let create = "POST /client/sign_ins identifier=ada%40example.com"
    private let withPassword = "POST /client/sign_ins identifier=ada%40example.com&strategy=password&password=hunter2"
    private let step = "POST /client/sign_ins/sia_1/"

    @Test func identifierAndPasswordMakeASession() async throws {
        let bench = try ClerkBench([.complete()])
        let person = Person()
        let session = try await bench.signIn("hunter2", person)
        #expect(session.id == "sess_1")
        #expect(session.status == .active)
        #expect(session.userID == "user_1")
        #expect(session.expireAt == Timestamp(secondsSinceEpoch: 1_893_456_060))
        #expect(bench.sent == [withPassword])
        #expect(person.keys.isEmpty)
        #expect(try await bench.credentials == Credentials(clientToken: "T1", sessionID: "sess_1"))
    }

    @Test func withoutAPasswordTheFirstFactorIsChosenAndAsked() async throws {
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: "\(ClerkJSON.password),\(ClerkJSON.email)"), .complete(),
        ])
        let person = Person([.password: "hunter2"])
        _ = try await bench.signIn(nil, person)
        #expect(bench.sent == [create, step + "attempt_first_factor strategy=password&password=hunter2"])
        #expect(person.questions.map(\.round) == [1])
    }

    @Test func aFactorThatThePersonPrefersIsPrepared() async throws {
        let factors = "\(ClerkJSON.password),\(ClerkJSON.email),\(ClerkJSON.phone)"
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: factors), .signIn("needs_first_factor", first: factors), .complete(),
        ])
        let person = Person([.phoneCode: "424242"], choosing: .phoneCode)
        _ = try await bench.signIn(nil, person)
        #expect(
            bench.sent == [
                create, step + "prepare_first_factor strategy=phone_code&phone_number_id=idn_2",
                step + "attempt_first_factor strategy=phone_code&code=424242",
            ]
        )
        #expect(person.questions.first?.factor.destination == "+1 *** 55")
    }

    @Test(arguments: ["", "{}", #"{"errors":[]}"#, "<html>Request Timeout</html>"])
    func aCodeThatMeetsA408IsNotSentAgain(body: String) async throws {
        let second = ScriptedTransport.Step.signIn("needs_second_factor", second: ClerkJSON.totp)
        let late = ScriptedTransport.Step.status(408, [:], body: body)
        let bench = try ClerkBench([second, late, late, .complete()])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([.totp: [.text("1"), .text("2")]]))
        }
        #expect(error?.kind == .unavailable && error?.reason == .processedUnknown)
        #expect(bench.sent.prefix(2) == [withPassword, step + "attempt_second_factor strategy=totp&code=1"])
        #expect(bench.sent.dropFirst(2).allSatisfy { $0.hasPrefix("GET ") })
    }

    @Test func aWrongPasswordIsAskedForAgainAndNeverSentAgain() async throws {
        let bench = try ClerkBench([
            .error("form_password_incorrect", meta: #"{"param_name":"password"}"#), .complete(),
        ])
        let person = Person([.password: "right"])
        _ = try await bench.signIn("wrong", person)
        #expect(
            bench.sent == [
                create + "&strategy=password&password=wrong", create + "&strategy=password&password=right",
            ]
        )
        #expect(person.questions.map(\.round) == [2])
        #expect(person.notices == [.invalidCredentials])
    }

    @Test func aSignInThatTheRefusalLeftOpenIsUsed() async throws {
        let left = ClerkJSON.client([], signIn: ClerkJSON.signIn("needs_first_factor", first: ClerkJSON.password))
        let bench = try ClerkBench([
            .error("form_password_incorrect", top: #","meta":{"client":\#(left)}"#), .error("form_password_incorrect"),
            .complete(),
        ])
        let person = Person([.password: [.text("second"), .text("third")]])
        _ = try await bench.signIn("first", person)
        #expect(
            bench.sent == [
                create + "&strategy=password&password=first",
                step + "attempt_first_factor strategy=password&password=second",
                step + "attempt_first_factor strategy=password&password=third",
            ]
        )
    }

    @Test(arguments: [
        #"{"object":"sign_in_attempt","id":"sia_9","status":"needs_first_factor","identifier":"grace@example.com"}"#,
        #"{"object":"sign_in_attempt","id":"sia_9","status":"needs_first_factor","identifier":null}"#,
        #"{"object":"sign_in_attempt","id":"sia_9","status":"complete","identifier":"ada@example.com"}"#,
        #"{"id":""}"#, "17", "[]",
    ])
    func aSignInOfSomebodyElseOrOfAnotherStateIsNot(left: String) async throws {
        let client = ClerkJSON.client([], signIn: left)
        let bench = try ClerkBench([
            .error("form_password_incorrect", top: #","meta":{"client":\#(client)}"#), .complete(),
        ])
        _ = try await bench.signIn("wrong", Person([.password: "right"]))
        #expect(bench.sent.last == create + "&strategy=password&password=right")
    }

    @Test func threeWrongPasswordsEndIt() async throws {
        let bench = try ClerkBench(Array(repeating: .error("form_password_incorrect"), count: 5))
        let person = Person([.password: [.text("2"), .text("3"), .text("4")]])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("1", person) }
        #expect(error?.kind == .invalidCredentials)
        #expect(error?.outcome.code == "form_password_incorrect")
        #expect(error?.userMessage == "l")
        #expect(bench.transport.received.count == 3)
    }

    @Test func anUnknownIdentifierIsNotAnsweredWithMorePasswords() async throws {
        let bench = try ClerkBench([.error("form_identifier_not_found", meta: #"{"param_name":"identifier"}"#)])
        let person = Person([.password: "again"])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("hunter2", person) }
        #expect(error?.outcome.parameter == "identifier")
        #expect(person.keys.isEmpty)
        #expect(bench.transport.received.count == 1)
    }

    @Test func whereTheNameIsNotToBeToldApartAnotherPasswordMayBeTheRightOne() async throws {
        let vague = ScriptedTransport.Step.error(
            "form_password_or_identifier_incorrect",
            meta: #"{"param_name":"identifier"}"#
        )
        let bench = try ClerkBench([vague, .complete()])
        let person = Person([.password: "again"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.password])
    }

    @Test func aWrongCodeIsAskedForAgainAndAResendSendsANewOne() async throws {
        let factors = ClerkJSON.email
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: factors), .signIn("needs_first_factor", first: factors),
            .error("form_code_incorrect", meta: #"{"param_name":"code"}"#),
            .signIn("needs_first_factor", first: factors), .complete(),
        ])
        let person = Person([.emailCode: [.text("111111"), .resend, .text("424242")]])
        _ = try await bench.signIn(nil, person)
        let prepare = step + "prepare_first_factor strategy=email_code&email_address_id=idn_1"
        let attempt = step + "attempt_first_factor strategy=email_code&code="
        #expect(bench.sent == [create, prepare, attempt + "111111", prepare, attempt + "424242"])
        #expect(person.questions.map(\.round) == [1, 2, 2])
    }

    @Test(arguments: ["verification_expired", "verification_failed"])
    func aCodeThatIsUsedUpIsReplaced(code: String) async throws {
        let factors = ClerkJSON.email
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: factors), .signIn("needs_first_factor", first: factors),
            .error(code, status: 400), .signIn("needs_first_factor", first: factors), .complete(),
        ])
        _ = try await bench.signIn(nil, Person([.emailCode: [.text("1"), .text("2")]]))
        #expect(bench.sent.filter { $0.contains("prepare") }.count == 2)
    }

    @Test func anAttemptBeforeItsPreparationIsPrepared() async throws {
        let factors = ClerkJSON.email
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: factors), .signIn("needs_first_factor", first: factors),
            .error("verification_missing", status: 400), .signIn("needs_first_factor", first: factors), .complete(),
        ])
        _ = try await bench.signIn(nil, Person([.emailCode: [.text("1"), .text("2")]]))
        #expect(bench.sent.filter { $0.contains("prepare") }.count == 2)
    }

    @Test func aCodeThatWasVerifiedAlreadyGoesOnFromWhereTheServerIs() async throws {
        let factors = ClerkJSON.totp
        let current = ClerkJSON.client([], signIn: ClerkJSON.signIn("needs_second_factor", second: ClerkJSON.backup))
        let bench = try ClerkBench([
            .signIn("needs_second_factor", second: factors), .error("verification_already_verified", status: 400),
            .status(200, [:], body: #"{"response":\#(current),"client":null}"#), .complete(),
        ])
        _ = try await bench.signIn("hunter2", Person([.totp: "123456", .backupCode: "abcd"]))
        #expect(
            bench.sent == [
                withPassword, step + "attempt_second_factor strategy=totp&code=123456", "GET /client",
                step + "attempt_second_factor strategy=backup_code&code=abcd",
            ]
        )
    }

    @Test func anAbandonedSignInBeginsAgainOnce() async throws {
        let bench = try ClerkBench([.signIn("abandoned"), .complete()])
        _ = try await bench.signIn()
        #expect(bench.sent == [withPassword, withPassword])
        let dead = try ClerkBench([.signIn("abandoned"), .signIn("abandoned"), .complete()])
        let error = await #expect(throws: RecoveryError.self) { try await dead.signIn() }
        #expect(error?.kind == .flowExpired)
        #expect(dead.transport.received.count == 2)
    }

    @Test func aSignInThatIsGoneBeginsAgainWithThePasswordThatWasAccepted() async throws {
        let second = ClerkJSON.totp
        let bench = try ClerkBench([
            .error("form_password_incorrect"), .signIn("needs_second_factor", second: second),
            .error("resource_not_found", status: 404), .client([]), .signIn("needs_second_factor", second: second),
            .complete(),
        ])
        let person = Person([.password: [.text("right")], .totp: [.text("1"), .text("2")]])
        _ = try await bench.signIn("wrong", person)
        let right = create + "&strategy=password&password=right"
        let attempt = step + "attempt_second_factor strategy=totp&code="
        #expect(
            bench.sent == [
                create + "&strategy=password&password=wrong", right, attempt + "1", "GET /client", right, attempt + "2",
            ]
        )
    }

    @Test func aProofAgainstAbuseIsSurfaced() async throws {
        let byStatus = try ClerkBench([.signIn("needs_protect_check")])
        let first = await #expect(throws: RecoveryError.self) { try await byStatus.signIn() }
        #expect(first?.kind == .challengeRequired)
        #expect(first?.remedies == [.solveChallenge])
        #expect(first?.outcome.details?["code"] == "needs_protect_check" && byStatus.sent.count == 1)
        // Also behind the password, and where the server's state is read again.
        let later = try ClerkBench([
            .signIn("needs_first_factor", first: ClerkJSON.password), .signIn("needs_protect_check"),
        ])
        let third = await #expect(throws: RecoveryError.self) {
            try await later.signIn(nil, Person([.password: [.text("p")]]))
        }
        #expect(third?.kind == .challengeRequired)
        #expect(later.sent.count == 2)
        let byCode = try ClerkBench([.error("requires_captcha", status: 401)])
        let second = await #expect(throws: RecoveryError.self) { try await byCode.signIn() }
        #expect(second?.kind == .challengeRequired && second?.outcome.details?["code"] == "requires_captcha")
        #expect(try await byCode.credentials.clientToken == "T0")
    }

    @Test func anUnknownStatusIsKeptAsItIs() async throws {
        let bench = try ClerkBench([.signIn("needs_retina_scan", first: ClerkJSON.password)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unknown)
        #expect(error?.outcome.statusType == "needs_retina_scan")
        #expect(error?.history.attempts.count == 1)
    }

    @Test func aStatusThatWantsAnIdentifierNamesTheParameter() async throws {
        let bench = try ClerkBench([.signIn("needs_identifier")])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.outcome.parameter == "identifier")
    }

    @Test func factorsThatCannotBeCarriedOutAreAnError() async throws {
        let bench = try ClerkBench([.signIn("needs_first_factor", first: #"{"strategy":"web3"},{"x":1},7"#)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .factorUnavailable)
    }

    @Test(arguments: ["oauth_google", "enterprise_sso", "email_link"])
    func factorsThatWantTheWayBackAloneSayThatItIsMissing(strategy: String) async throws {
        let factor = #"{"strategy":"\#(strategy)"},{"strategy":"web3"}"#
        let bench = try ClerkBench([.signIn("needs_first_factor", first: factor)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "redirect_url")
        #expect(error?.remedies == [.fixRequest])
        // A password is reset by codes alone.
        let reset = try ClerkBench([.signIn("needs_first_factor", first: factor)])
        let without = await #expect(throws: RecoveryError.self) {
            try await reset.clerk.resetPassword(identifier: ClerkBench.identifier, answering: Person())
        }
        #expect(without?.kind == .factorUnavailable)
    }

    @Test(arguments: [
        "", "{}", "null", "17", "[]", "<html>", "{\"response\":null,\"client\":null}", "{\"response\":{\"id\":\"\"}}",
        "{\"response\":{\"id\":7,\"status\":\"complete\"}}", "{\"response\":{\"id\":\"sia_1\"}}", "\u{0}", "{\"a\":",
    ])
    func anAnswerThatIsNoSignInIsUnreadableAndNothingIsRepeated(body: String) async throws {
        let bench = try ClerkBench([.status(200, [:], body: body)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unreadable, "\(body)")
        #expect(bench.transport.received.count == 1)
        #expect(try await bench.credentials == Credentials(clientToken: "T0"))
    }

    @Test func aSessionThatACompleteSignInDoesNotShowIsRead() async throws {
        let body = #"{"response":{"object":"sign_in_attempt","id":"sia_1","status":"complete","#
        let complete = ScriptedTransport.Step.status(
            200,
            [:],
            body: body + #""created_session_id":"sess_7"},"client":null}"#
        )
        let bench = try ClerkBench([complete, .client(["sess_7"])])
        let session = try await bench.signIn()
        #expect(session.id == "sess_7" && session.status == .active && session.userID == "user_1")
        #expect(bench.sent.last == "GET /client")
        // One that is pending is not called active, whatever its task is.
        let pending = try ClerkBench([complete, .client(["sess_7"], status: "pending")])
        let left = await #expect(throws: RecoveryError.self) { try await pending.signIn() }
        #expect(left?.kind == .continue || left?.kind == .userActionRequired)
        let unseen = try ClerkBench([complete, .client(["sess_1"])])
        let unreadable = await #expect(throws: RecoveryError.self) { try await unseen.signIn() }
        #expect(unreadable?.kind == .unreadable)
        #expect(try await unseen.credentials == Credentials(clientToken: "T0"))
        let without = try ClerkBench([.status(200, [:], body: body + #""created_session_id":null},"client":null}"#)])
        let error = await #expect(throws: RecoveryError.self) { try await without.signIn() }
        #expect(error?.kind == .unreadable)
    }

    @Test func whatBelongsToTheSessionBeforeGoesWithIt() async throws {
        let old = Credentials(accessToken: "old", clientToken: "T0", sessionID: "sess_0")
        let bench = try ClerkBench([.complete(token: nil)], credentials: old)
        _ = try await bench.signIn()
        #expect(try await bench.credentials == Credentials(clientToken: "T0", sessionID: "sess_1"))
    }
}
