import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Proving oneself again within a session.
@Suite struct ClerkReverificationTests {
    private static let signedIn = Credentials(clientToken: "T0", sessionID: "sess_1")
    private static let base = "POST /client/sessions/sess_1/verify"

    private func verification(_ status: String, _ members: String = "") -> ScriptedTransport.Step {
        .status(
            200,
            [:],
            body: #"{"response":{"object":"session_verification","status":"\#(status)"\#(members)},"client":null}"#
        )
    }

    private var first: ScriptedTransport.Step {
        verification("needs_first_factor", ",\"supported_first_factors\":[\(ClerkJSON.password),\(ClerkJSON.email)]")
    }

    private var second: ScriptedTransport.Step {
        verification("needs_second_factor", ",\"supported_second_factors\":[\(ClerkJSON.totp),\(ClerkJSON.phone)]")
    }

    private var complete: ScriptedTransport.Step {
        let session = #"{"object":"session","id":"sess_1","status":"active","factor_verification_age":[0,-1]}"#
        return verification("complete", ",\"session\":\(session)")
    }

    private func bench(_ steps: ScriptedTransport.Step...) throws -> ClerkBench {
        try ClerkBench(steps, credentials: Self.signedIn)
    }

    @Test func bothFactorsMakeASessionFresh() async throws {
        let bench = try bench(.client(["sess_1"]), first, second, complete)
        let session = try await bench.clerk.reverify(.multiFactor, answering: Person([.password: "p", .totp: "1"]))
        #expect(session.factorVerificationAge.first == .zero && session.factorVerificationAge.second == nil)
        #expect(
            bench.sent.dropFirst() == [
                Self.base + " level=multi_factor", Self.base + "/attempt_first_factor strategy=password&password=p",
                Self.base + "/attempt_second_factor strategy=totp&code=1",
            ]
        )
        #expect(try await bench.credentials == Self.signedIn)
    }

    @Test func aCodeIsPreparedAndAskedForAgain() async throws {
        let bench = try bench(.client(["sess_1"]), second, second, .error("form_code_incorrect"), complete)
        let person = Person([.phoneCode: [.text("1"), .text("2")]], choosing: .phoneCode)
        try await bench.clerk.reverify(answering: person)
        #expect(bench.sent[2] == Self.base + "/prepare_second_factor strategy=phone_code&phone_number_id=idn_2")
        #expect(bench.sent.suffix(2).map { $0.suffix(6) } == ["code=1", "code=2"])
    }

    @Test func aMessageThatIsNotSentYetIsWaitedFor() async throws {
        let early = ScriptedTransport.Step.error("sms_verification_not_yet_sent", status: 400)
        let bench = try bench(.client(["sess_1"]), second, second, early, complete)
        let person = Person([.phoneCode: [.text("1"), .text("2")]], choosing: .phoneCode)
        _ = try await bench.skippingWaits { try await bench.clerk.reverify(answering: person) }
        #expect(bench.sent.suffix(2).map { $0.suffix(6) } == ["code=1", "code=2"] && bench.sent.count == 5)
    }

    @Test func aPasskeyDoes() async throws {
        let nonce = JSONValue.string(#"{"challenge":"AQID","rpId":"example.com"}"#).description
        let factors = #","supported_first_factors":[{"strategy":"passkey"}]"#
        let prepared =
            #"\#(factors),"first_factor_verification":{"status":"unverified","strategy":"passkey","nonce":\#(nonce)}"#
        let bench = try ClerkBench(
            [
                .client(["sess_1"]), verification("needs_first_factor", factors),
                verification("needs_first_factor", prepared), complete,
            ],
            credentials: Self.signedIn,
            configuration: ClerkConfiguration(authenticator: Authenticator())
        )
        try await bench.clerk.reverify(.firstFactor, answering: Person())
        #expect(bench.sent.last?.hasPrefix(Self.base + "/attempt_first_factor strategy=passkey&public_key") == true)
    }

    // MARK: At another provider

    private static let sso = #","supported_first_factors":[{"strategy":"enterprise_sso"}]"#
    private static let page = "https://idp.example.com/authorize?state=s3cret"

    private func visiting(_ status: String) -> ScriptedTransport.Step {
        let url = status == "unverified" ? "\"\(Self.page)\"" : "null"
        return verification(
            "needs_first_factor",
            """
            \(Self.sso),"first_factor_verification":{"status":"\(status)","strategy":"enterprise_sso",\
            "external_verification_redirect_url":\(url)}
            """
        )
    }

    @Test func aVisitToAnotherProviderDoes() async throws {
        let bench = try ClerkBench(
            [
                .client(["sess_1"]), verification("needs_first_factor", Self.sso), visiting("unverified"),
                visiting("unverified"), complete,
            ],
            credentials: Self.signedIn,
            configuration: ClerkConfiguration(redirectURL: "myapp://callback")
        )
        let person = Person([.redirect: [.text("not there yet"), .text("myapp://callback")]])
        try await bench.clerk.reverify(.firstFactor, answering: person)
        #expect(person.questions.map(\.url) == [Secret(Self.page), Secret(Self.page)])
        #expect(person.questions.last?.previousFailure?.kind == .challengeIncorrect)
        let begin = Self.base + " level=first_factor"
        let back = "redirect_url=myapp%3A%2F%2Fcallback"
        #expect(
            bench.sent.dropFirst() == [
                begin, Self.base + "/prepare_first_factor strategy=enterprise_sso&" + back, begin, begin,
            ]
        )
    }

    @Test func aBrowserThatWasClosedAndAWayBackThatIsMissing() async throws {
        let closed = try ClerkBench(
            [.client(["sess_1"]), verification("needs_first_factor", Self.sso), visiting("unverified")],
            credentials: Self.signedIn,
            configuration: ClerkConfiguration(redirectURL: "myapp://callback")
        )
        let declined = await #expect(throws: RecoveryError.self) {
            try await closed.clerk.reverify(.firstFactor, answering: Person([.redirect: [.text("")]]))
        }
        #expect(declined?.kind == .declined && closed.sent.count == 3)
        let without = try bench(.client(["sess_1"]), verification("needs_first_factor", Self.sso))
        let missing = await #expect(throws: RecoveryError.self) {
            try await without.clerk.reverify(.firstFactor, answering: Person([.redirect: [.text("x")]]))
        }
        #expect(missing?.kind == .misconfigured && missing?.outcome.parameter == "redirect_url")
        let both = #","supported_first_factors":[{"strategy":"enterprise_sso"},\#(ClerkJSON.password)]"#
        let other = try bench(.client(["sess_1"]), verification("needs_first_factor", both), complete)
        try await other.clerk.reverify(.firstFactor, answering: Person([.password: "p"]))
        #expect(other.sent.last == Self.base + "/attempt_first_factor strategy=password&password=p")
    }

    @Test func sessionTokensThatTellTheOldAgeAreDropped() async throws {
        let bench = try bench(.token(1), .client(["sess_1"]), first, complete, .token(2))
        _ = try await bench.clerk.sessionToken()
        try await bench.clerk.reverify(answering: Person([.password: "p"]))
        #expect(try await bench.clerk.sessionToken().jwt.reveal() == SessionJWT.of(2))
    }

    /// It is all that tells what the server has done.
    @Test func anAnswerThatHasComeIsHandedOutToWhoIsCancelled() async throws {
        let bench = try bench(
            .run { _ in
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return .scripted(200, [:], body: "{}")
            }
        )
        let call = Task { try await bench.clerk.send(.post, path: "/v1/me/x", answering: Person()) }
        #expect(try await call.value.status == .ok)
    }

    @Test func aRequestThatWantsItIsSentOnceMore() async throws {
        let meta = #"{"reverification":{"level":"first_factor"}}"#
        let refusal = ScriptedTransport.Step.error("session_reverification_required", status: 403, meta: meta)
        let bench = try bench(refusal, .client(["sess_1"]), first, complete, .status(200, [:], body: "{}"))
        let person = Person([.password: "p"])
        let form: FormFields = ["x": "1"]
        let response = try await bench.clerk.send(.post, path: "/v1/me/x", body: .form(form), answering: person)
        #expect(response.status == .ok)
        #expect(bench.sent.first == "POST /me/x x=1" && bench.sent.last == "POST /me/x x=1")
        #expect(bench.sent[2] == Self.base + " level=first_factor")
        #expect(Set(bench.events.events.map(\.call)).count == 1, "one operation, the reverification with it")
        #expect(bench.events.words.filter { $0.hasPrefix("done") } == ["done ok 5"])
        let again = try self.bench(refusal, .client(["sess_1"]), first, complete, refusal)
        let error = await #expect(throws: RecoveryError.self) {
            try await again.clerk.send(.post, path: "/v1/me/x", answering: Person([.password: "p"]))
        }
        #expect(error?.kind == .stepUpRequired)
        #expect(again.transport.received.count == 5)
    }

    @Test(arguments: [
        (#"{"level":"first_factor"}"#, "first_factor"),
        (#"{"level":"multi_factor","afterMinutes":10}"#, "multi_factor"),
        (#""strict_mfa""#, "multi_factor"), (#""strict""#, "second_factor"), ("{}", "second_factor"),
        ("7", "second_factor"),
    ])
    func theLevelIsWhatTheRefusalWants(advice: String, level: String) throws {
        var outcome = Outcome(.stepUpRequired)
        outcome.advice = try JSONValue(parsing: advice)
        #expect(ClerkReverification(wantedBy: outcome).rawValue == level)
        outcome.advice = nil
        #expect(ClerkReverification(wantedBy: outcome) == .secondFactor)
    }

    @Test func aSessionThatIsOverNeedsASignIn() async throws {
        let gone = try bench(.client([]))
        let error = await #expect(throws: RecoveryError.self) { try await gone.clerk.reverify(answering: Person()) }
        #expect(error?.kind == .reauthenticationRequired)
        let later = try bench(.client(["sess_1"]), first, .error("session_revoked", status: 401), .client([]))
        let second = await #expect(throws: RecoveryError.self) {
            try await later.clerk.reverify(answering: Person([.password: "p"]))
        }
        #expect(second?.kind == .reauthenticationRequired)
        #expect(try await later.credentials.sessionID == nil)
    }

    @Test func aLockoutHoldsHereToo() async throws {
        let bench = try bench(
            .client(["sess_1"]),
            first,
            .error("user_locked", status: 403, meta: #"{"lockout_expires_in_seconds":600}"#)
        )
        await #expect(throws: RecoveryError.self) {
            try await bench.clerk.reverify(answering: Person([.password: "p"]))
        }
        #expect(await bench.clerk.lockouts.lockout(of: "ada@example.com") == .remaining(.seconds(600)))
    }
}
