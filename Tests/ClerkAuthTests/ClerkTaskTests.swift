import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What a session is pending for is a part of the sign-in.
@Suite struct ClerkTaskTests {
    typealias Step = ScriptedTransport.Step

    static let touch = "POST /client/sessions/sess_1/touch intent=select_session"
    private static let query = "_clerk_session_id=sess_1"

    private static func session(_ tasks: [String]) -> String {
        let list = tasks.map { #"{"key":"\#($0)"}"# }.joined(separator: ",")
        return """
            {"object":"session","id":"sess_1","status":"\(tasks.isEmpty ? "active" : "pending")","tasks":[\(list)],\
            "user":{"id":"user_1","email_addresses":[{"email_address":"ada@example.com"}]}}
            """
    }

    private static func client(_ tasks: [String]) -> String {
        """
        {"object":"client","id":"client_1","sessions":[\(session(tasks))],"sign_in":null,\
        "last_active_session_id":"sess_1"}
        """
    }

    /// A sign-in that has led to a session with tasks.
    static func complete(_ tasks: String...) -> Step {
        let signIn = #"{"object":"sign_in_attempt","id":"sia_1","status":"complete","created_session_id":"sess_1"}"#
        return .status(200, ["authorization": "T1"], body: #"{"response":\#(signIn),"client":\#(client(tasks))}"#)
    }

    /// The session as it is touched.
    static func touched(_ tasks: String...) -> Step {
        .status(200, [:], body: #"{"response":\#(session(tasks)),"client":\#(client(tasks))}"#)
    }

    static func answer(_ response: String) -> Step {
        .status(200, [:], body: #"{"response":\#(response),"client":null}"#)
    }

    static let user = answer(#"{"object":"user","id":"user_1"}"#)
    /// An instance that does not say what can be set up.
    static let silent = Step.status(200, [:], body: #"{"user_settings":{}}"#)

    static let strategies = [
        "authenticator_app": #""second_factors":["totp"]"#, "phone_number": #""second_factors":["phone_code"]"#,
        "backup_code": #""second_factors":["backup_code"]"#, "email_address": #""second_factors":[]"#,
    ]

    /// Whoever has nobody to ask is told what the session waits for.
    @Test(arguments: ["reset-password", "setup-mfa"])
    func aTaskThatNobodyDoesIsSaid(task: String) async throws {
        let app = Self.answer(#"{"object":"totp","secret":"ABC","uri":"otpauth://totp/x?secret=ABC"}"#)
        let bench = try ClerkBench([Self.complete(task)] + (task == "setup-mfa" ? [Self.silent, Self.user, app] : []))
        let error = await #expect(throws: Challenge.NoAnswer.self) {
            try await bench.clerk.signIn(identifier: ClerkBench.identifier, password: "hunter2", answering: Person())
        }
        #expect(error?.task == task && error?.description.contains(task) == true)
    }

    // MARK: A new password

    @Test func aCompromisedPasswordEndsInANewOne() async throws {
        let compromised = Step.error("form_password_compromised", meta: #"{"param_name":"password"}"#)
        let factors = "\(ClerkJSON.password),\(ClerkJSON.email)"
        let first = Step.signIn("needs_first_factor", first: factors)
        let bench = try ClerkBench([
            compromised, first, first, Self.complete("reset-password"), Self.user, Self.touched(),
        ])
        let person = Person([.emailCode: "424242", .newPassword: "n3w"])
        let session = try await bench.signIn("hunter2", person)
        #expect(session.status == .active && session.tasks.isEmpty)
        #expect(bench.sent.suffix(2) == ["POST /me/change_password new_password=n3w", Self.touch])
        #expect(bench.transport.received[4].request.path?.contains(Self.query) == true)
        #expect(person.keys == [.emailCode, .newPassword])
        #expect(person.questions.last?.occasion.kind == .passwordExpired)
        #expect(try await bench.credentials == Credentials(clientToken: "T1", sessionID: "sess_1"))
    }

    @Test func aNewPasswordThatIsRefusedIsAskedForAgain() async throws {
        let weak = Step.error("form_password_pwned", meta: #"{"param_name":"password"}"#)
        let bench = try ClerkBench([Self.complete("reset-password"), weak, Self.user, Self.touched()])
        let person = Person([.newPassword: [.text("weak"), .text("strong")]])
        #expect(try await bench.signIn("hunter2", person).status == .active)
        #expect(person.notices == [.passwordExpired, .passwordRejected])
        #expect(bench.sent.filter { $0.hasPrefix("POST /me/change_password") }.count == 2)
    }

    /// What ends the sign-in may be no word of the task's: whoever catches it knows what the session waits for.
    @Test func aRefusalThatEndsATaskNamesIt() async throws {
        let weak = Step.error("form_password_pwned", meta: #"{"param_name":"password"}"#)
        let bench = try ClerkBench([Self.complete("reset-password"), weak, weak, weak])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([.newPassword: [.text("weak"), .text("bad"), .text("poor")]]))
        }
        #expect(error?.kind == .passwordRejected && error?.outcome.code == "form_password_pwned")
        #expect(error?.outcome.openTask == "reset-password")
        #expect(error?.description.contains("open_task=reset-password") == true)
    }

    @Test func whoIsSignedOutMeanwhileHasNoTaskLeft() async throws {
        let lost = Step.fail(.connectionLost, .unknown)
        let nobody = Self.answer(#"{"object":"client","id":"client_1","sessions":[],"sign_in":null}"#)
        let bench = try ClerkBench([Self.complete("reset-password"), lost, nobody])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([.newPassword: "n3w"]))
        }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(error?.outcome.openTask == nil)
    }

    @Test func aNewPasswordWhoseAnswerIsLostIsLookedUpAndNotSentAgain() async throws {
        let client = { (tasks: [String]) in
            Step.status(200, [:], body: #"{"response":\#(Self.client(tasks)),"client":null}"#)
        }
        let lost = Step.fail(.connectionLost, .unknown)
        let bench = try ClerkBench([Self.complete("reset-password"), lost, client([])])
        let person = Person([.newPassword: [.text("n3w"), .text("other")]])
        #expect(try await bench.signIn("hunter2", person).status == .active)
        #expect(bench.sent.filter { $0.hasPrefix("POST /me/change_password") }.count == 1)
        // It has not arrived: the person decides about another.
        let again = try ClerkBench([
            Self.complete("reset-password"), lost, client(["reset-password"]), Self.user, Self.touched(),
        ])
        let second = Person([.newPassword: [.text("n3w"), .text("other")]])
        #expect(try await again.signIn("hunter2", second).status == .active)
        #expect(
            again.sent.filter { $0.hasPrefix("POST /me") } == [
                "POST /me/change_password new_password=n3w", "POST /me/change_password new_password=other",
            ]
        )
    }

    @Test func whoHasToProveThemselvesAgainDoesSoAndTheNewPasswordGoesOutThen() async throws {
        let stepUp = Step.error(
            "session_reverification_required",
            status: 403,
            meta: #"{"reverification":{"level":"first_factor"}}"#
        )
        let verification = { (status: String) in
            Self.answer(
                #"{"object":"session_verification","status":"\#(status)","supported_first_factors":[\#(ClerkJSON.password)]}"#
            )
        }
        let bench = try ClerkBench([
            Self.complete("reset-password"), stepUp, verification("needs_first_factor"), verification("complete"),
            Self.user, Self.touched(),
        ])
        let person = Person([.newPassword: "n3w", .password: "old"])
        #expect(try await bench.signIn("hunter2", person).status == .active)
        #expect(
            bench.sent.dropFirst() == [
                "POST /me/change_password new_password=n3w", "POST /client/sessions/sess_1/verify level=first_factor",
                "POST /client/sessions/sess_1/verify/attempt_first_factor strategy=password&password=old",
                "POST /me/change_password new_password=n3w", Self.touch,
            ]
        )
    }

    // MARK: An organization

    private static func list(_ entries: String...) -> Step {
        answer(#"{"data":[\#(entries.joined(separator: ","))],"total_count":\#(entries.count)}"#)
    }

    private static func organization(_ id: String, as member: String = "organization") -> String {
        #""\#(member)":{"id":"\#(id)","name":"Org \#(id)","slug":"\#(id)-slug"}"#
    }

    @Test func theOnlyOrganizationIsChosen() async throws {
        let bench = try ClerkBench([
            Self.complete("choose-organization"), Self.list("{\(Self.organization("org_1"))}"), Self.list(),
            Self.list(),
            Self.touched(),
        ])
        let person = Person()
        #expect(try await bench.signIn("hunter2", person).status == .active)
        #expect(person.questions.isEmpty)
        #expect(
            bench.sent.dropFirst() == [
                "GET /me/organization_memberships", "GET /me/organization_invitations",
                "GET /me/organization_suggestions",
                "POST /client/sessions/sess_1/touch intent=select_org&active_organization_id=org_1",
            ]
        )
    }

    @Test(arguments: ["organization_invitations", "organization_suggestions"])
    func ofSeveralThePersonChoosesAndWhatInvitesIsAccepted(list: String) async throws {
        let invited =
            #"{"id":"orginv_1","status":"pending",\#(Self.organization("org_2", as: "public_organization_data"))}"#
        let bench = try ClerkBench([
            Self.complete("choose-organization"), Self.list("{\(Self.organization("org_1"))}"),
            list == "organization_invitations" ? Self.list(invited) : Self.list(),
            list == "organization_suggestions" ? Self.list(invited) : Self.list(), Self.answer(invited), Self.touched(),
        ])
        var flow = bench.clerk.signInFlow(.identifier(ClerkBench.identifier, password: "hunter2"))
        guard case .choose(let factors) = try await flow.step(.begin).step else {
            Issue.record("no choice")
            return
        }
        #expect(factors.map(\.destination) == ["Org org_1", "Org org_2"])
        #expect(factors.map(\.providerName) == ["org_1-slug", "org_2-slug"])
        guard case .finished(let session) = try await flow.step(.choose(factors[1])).step else {
            Issue.record("not finished")
            return
        }
        #expect(session.status == .active)
        #expect(
            bench.sent.suffix(2) == [
                "POST /me/\(list)/orginv_1/accept",
                "POST /client/sessions/sess_1/touch intent=select_org&active_organization_id=org_2",
            ]
        )
    }

    @Test func whoHasNoOrganizationNamesANewOne() async throws {
        let bench = try ClerkBench([
            Self.complete("choose-organization"), Self.list(), Self.answer("[]"), Self.list(),
            Self.answer(#"{"object":"organization","id":"org_9","name":"Acme"}"#), Self.touched(),
        ])
        #expect(try await bench.signIn("hunter2", Person([.text: "Acme"])).status == .active)
        #expect(bench.sent.suffix(2).first == "POST /organizations name=Acme")
        #expect(bench.transport.received[4].request.path?.contains(Self.query) == true)
    }

    // MARK: All of them

    @Test func oneTaskComesAfterTheOther() async throws {
        let bench = try ClerkBench([
            Self.complete("reset-password", "choose-organization"), Self.user, Self.touched("choose-organization"),
            Self.list("{\(Self.organization("org_1"))}"), Self.list(), Self.list(), Self.touched(),
        ])
        #expect(try await bench.signIn("hunter2", Person([.newPassword: "n3w"])).status == .active)
    }

    @Test(arguments: ["sign-the-papers", ""])
    func aTaskThatNobodyKnowsIsSaid(task: String) async throws {
        let bench = try ClerkBench([Self.complete(task)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .userActionRequired && error?.remedies == [.visitProvider])
        #expect(error?.outcome.code == (task.isEmpty ? "" : task) && error?.outcome.statusType == "pending")
        // The session is there, to be finished later.
        #expect(try await bench.credentials.sessionID == "sess_1")
    }

    @Test func aSessionThatWasLeftBehindIsFinished() async throws {
        let held = Credentials(clientToken: "T0", sessionID: "sess_1")
        let client = Step.status(200, [:], body: #"{"response":\#(Self.client(["reset-password"])),"client":null}"#)
        let bench = try ClerkBench([client, Self.user, Self.touched()], credentials: held)
        let session = try await bench.clerk.finishTasks(answering: Person([.newPassword: "n3w"]))
        #expect(session.status == .active)
        let gone = try ClerkBench([.client([])], credentials: held)
        let error = await #expect(throws: RecoveryError.self) {
            try await gone.clerk.finishTasks(answering: Person())
        }
        #expect(error?.kind == .reauthenticationRequired)
    }

    @Test func whoComesBackToASessionWithTasksFinishesThem() async throws {
        let client = Step.status(200, [:], body: #"{"response":\#(Self.client(["reset-password"])),"client":null}"#)
        let bench = try ClerkBench([
            .error("session_exists", status: 400), client, Self.user, Self.touched(),
        ])
        #expect(try await bench.signIn("hunter2", Person([.newPassword: "n3w"])).status == .active)
    }

    @Test func aSignUpHasTasksToo() async throws {
        let signUp = #"{"object":"sign_up_attempt","id":"sua_1","status":"complete","created_session_id":"sess_1"}"#
        let bench = try ClerkBench([
            .status(200, [:], body: #"{"response":\#(signUp),"client":\#(Self.client(["choose-organization"]))}"#),
            Self.list("{\(Self.organization("org_1"))}"), Self.list(), Self.list(), Self.touched(),
        ])
        let request = ClerkSignUpRequest(emailAddress: "ada@example.com", password: "p")
        #expect(try await bench.clerk.signUp(request, answering: Person()).status == .active)
    }

    // MARK: What answers say

    @Test(
        arguments: [
            ("reset-password", [.changePassword]), ("choose-organization", [.askUser]), ("setup-mfa", [.askUser]),
            ("sign-the-papers", [.visitProvider]),
        ] as [(String, [Outcome.Remedy])]
    )
    func anAnswerSaysWhatIsWantedNext(task: String, remedies: [Outcome.Remedy]) {
        let signIn = #"{"object":"sign_in_attempt","id":"sia_1","status":"complete","created_session_id":"sess_1"}"#
        for (path, body) in [
            ("/v1/client/sign_ins", #"{"response":\#(signIn),"client":\#(Self.client([task]))}"#),
            ("/v1/client/sessions/sess_1/touch", #"{"response":\#(Self.session([task, "setup-mfa"])),"client":null}"#),
        ] {
            let outcome = Clerked(status: 200, body: body, path: path).outcome
            #expect(outcome.kind == .continue && outcome.remedies == remedies && outcome.code == task, "\(path)")
        }
        let done = Clerked(status: 200, body: #"{"response":\#(signIn),"client":\#(Self.client([]))}"#).outcome
        #expect(done.kind == .ok)
    }

    @Test func aTokenOfASessionWithTasksIsNoFailure() async throws {
        // {"alg":"none"} . {"sts":"pending","sid":"sess_1","iat":1893456000,"exp":1893456060}
        let claims = "eyJzdHMiOiJwZW5kaW5nIiwic2lkIjoic2Vzc18xIiwiaWF0IjoxODkzNDU2MDAwLCJleHAiOjE4OTM0NTYwNjB9"
        let jwt = "eyJhbGciOiJub25lIn0.\(claims).x"
        let body = #"{"object":"token","jwt":"\#(jwt)"}"#
        let outcome = Clerked(status: 200, body: body, path: "/v1/client/sessions/sess_1/tokens").outcome
        #expect(outcome.kind == .continue && outcome.statusType == "pending" && outcome.tokenAction == .keep)
        let held = Credentials(clientToken: "T0", sessionID: "sess_1")
        let bench = try ClerkBench([.status(200, [:], body: body)], credentials: held)
        let token = try await bench.clerk.sessionToken()
        #expect(token.isPending && token.jwt == Secret(jwt) && bench.transport.received.count == 1)
    }
}

/// A person who remembers what they were shown.
final class ShownPerson: ChallengeResponder {
    private let person: Person
    private let state = Locked<(setups: [Secret], shown: [Secret])>(([], []))

    init(_ answers: [Factor.Key: [Challenge.Answer]]) {
        person = Person(answers)
    }

    var setups: [Secret] { state.withLock { $0.setups } }
    var shown: [Secret] { state.withLock { $0.shown } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        if let setup = challenge.setup { state.withLock { $0.setups.append(setup) } }
        return try await person.answer(challenge)
    }

    func show(_ challenge: Challenge) async {
        if let setup = challenge.setup { state.withLock { $0.shown.append(setup) } }
    }
}
