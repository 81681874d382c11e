import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Signing in to Okta")
struct OktaSignInTests {
    private static let first = "/authn {username:ada@example.com,password:hunter2}"
    private static let exchange = "/sessions {sessionToken:20111st}"
    private static let totp = OktaJSON.factor("token:software:totp")
    private static let sms = OktaJSON.factor("sms", profile: #"{"phoneNumber":"+15551234567"}"#)

    @Test func aPasswordAloneIsExchangedForASession() async throws {
        let bench = try OktaBench([.success(), .session])
        let session = try await bench.signIn()
        #expect(session.id == "sid1")
        #expect(session.userID == "00u1")
        #expect(try await bench.credentials.sessionID == "sid1")
        #expect(bench.sent == [Self.first, Self.exchange])
    }

    /// Nothing is sent for nobody: the name is asked for, and the lockouts of its account hold.
    @Test func whoIsNotNamedIsAskedFor() async throws {
        let bench = try OktaBench([.error(4, 401), .success(), .session])
        let person = Person([.text: [.text(""), .text("eva"), .text("ada@example.com")], .password: [.text("right")]])
        _ = try await bench.skippingWaits { try await bench.okta.signIn(password: "hunter2", answering: person) }
        #expect(person.keys == [.text, .text, .text, .password])
        #expect(person.questions[0].prompt?.isEmpty == false && person.questions[2].previousFailure != nil)
        #expect(
            bench.sent == [
                "/authn {username:eva,password:hunter2}", "/authn {username:ada@example.com,password:right}",
                Self.exchange,
            ]
        )
    }

    @Test func whoIsNotNamedHasNoOtherWay() async throws {
        let bench = try OktaBench()
        let person = Person([.text: [.useAnotherFactor, .resend]])
        let error = await #expect(throws: Challenge.NoAnswer.self) {
            _ = try await bench.okta.recoverPassword(identifier: "", answering: person)
        }
        #expect(error?.key == .text && person.questions.count == 3 && bench.sent.isEmpty)
        #expect(person.questions.allSatisfy { $0.prompt == Challenge.identifier.prompt })
    }

    @Test func aLockOfWhoeverWasNamedHolds() async throws {
        let bench = try OktaBench([.error(69), .success(), .session])
        for _ in 0..<2 {
            let person = Person([.text: "ada@example.com"])
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.skippingWaits { try await bench.okta.signIn(password: "hunter2", answering: person) }
            }
            #expect(error?.kind == .accountLocked && bench.sent.count == 1)
        }
    }

    @Test func anExpiredPasswordIsChangedAndAFactorVerified() async throws {
        let bench = try OktaBench([
            .expired(policy: #","policy":{"complexity":{"minLength":8,"minNumber":1,"excludeUsername":"true"}}"#),
            .required(Self.totp), .success(), .session,
        ])
        let person = Person([.newPassword: "better", .totp: "123456"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.newPassword, .totp])
        #expect(person.notices == [.passwordExpired] && person.told == ["notice", "new_password", "totp"])
        #expect(person.texts == ["The password has expired and has to be changed."])
        #expect(person.questions.first?.hint == "at least 8 characters, 1 digits; no part of the user name")
        #expect(
            bench.sent == [
                Self.first, "/authn/credentials/change_password {oldPassword:hunter2,newPassword:better}",
                "/authn/factors/f1/verify {passCode:123456}", Self.exchange,
            ]
        )
        #expect(bench.events.words.filter { $0.hasPrefix("giving_up") }.isEmpty)
    }

    @Test func aRejectedNewPasswordIsAskedForAgain() async throws {
        let bench = try OktaBench([.expired(), .error(80, causes: ["Too short."]), .success(), .session])
        let person = Person([.newPassword: [.text("a"), .text("better")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.last?.previousFailure?.userMessage == "Too short.")
        #expect(person.questions.map(\.round) == [1, 2])
    }

    @Test func aWrongOldPasswordIsAskedForInItsTurn() async throws {
        let bench = try OktaBench([.expired(), .error(14), .success(), .session])
        let person = Person([.newPassword: [.text("b1"), .text("b2")], .password: [.text("old2")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.newPassword, .newPassword, .password])
        #expect(bench.sent[2] == "/authn/credentials/change_password {oldPassword:old2,newPassword:b2}")
    }

    @Test func aWarningIsSkippedUnlessItWasAskedFor() async throws {
        let skip = OktaJSON.link("skip", "/skip")
        let bench = try OktaBench([.expired("PASSWORD_WARN", links: [skip]), .success(), .session])
        _ = try await bench.signIn()
        #expect(bench.sent[1] == "/authn/skip")
        let asking = try OktaBench(
            [.expired("PASSWORD_WARN", links: [skip]), .success(), .session],
            configuration: OktaConfiguration(warnsOfExpiry: true)
        )
        _ = try await asking.signIn("hunter2", Person([.newPassword: [.useAnotherFactor]]))
        #expect(
            asking.sent[0]
                == "/authn {username:ada@example.com,password:hunter2,options:{warnBeforePasswordExpired:true}}"
        )
        #expect(asking.sent[1] == "/authn/skip")
        let changing = try OktaBench(
            [.expired("PASSWORD_WARN", links: [skip]), .success(), .session],
            configuration: OktaConfiguration(warnsOfExpiry: true)
        )
        _ = try await changing.signIn("hunter2", Person([.newPassword: "better"]))
        #expect(changing.sent[1] == "/authn/credentials/change_password {oldPassword:hunter2,newPassword:better}")
    }

    @Test(arguments: [
        (#","policy":{"expiration":{"passwordExpireDays":5}}"#, "The password expires in 5 days."),
        (#","policy":{"expiration":{"passwordExpireDays":1}}"#, "The password expires in a day."),
        (#","policy":{"expiration":{"passwordExpireDays":0}}"#, "The password expires today."),
        (#","policy":{"expiration":{"passwordExpireDays":-3}}"#, "The password expires soon."),
        ("", "The password expires soon."),
    ])
    func whenThePasswordExpiresIsToldBeforeANewOneIsAskedFor(policy: String, text: String) async throws {
        let bench = try OktaBench(
            [.expired("PASSWORD_WARN", policy: policy, links: [OktaJSON.link("skip", "/skip")]), .success(), .session],
            configuration: OktaConfiguration(warnsOfExpiry: true)
        )
        let person = Person([.newPassword: "better"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.texts == [text] && person.notices == [.continue] && person.told == ["notice", "new_password"])
    }

    @Test func aPasswordThatThePersonResetsIsAskedForWithoutAReason() async throws {
        let bench = try OktaBench([.expired("PASSWORD_RESET"), .success(), .session])
        let person = Person([.newPassword: "better"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.told == ["new_password"])
    }

    @Test func aWrongPasswordIsAskedForAgainAndNotRepeated() async throws {
        let bench = try OktaBench([.error(4, 401), .success(), .session])
        _ = try await bench.signIn("wrong", Person([.password: "hunter2"]))
        #expect(bench.sent == ["/authn {username:ada@example.com,password:wrong}", Self.first, Self.exchange])
    }

    @Test func aCodeIsSentAskedForAndResentAsTheArrayOfLinksSays() async throws {
        let resend =
            #""resend":[{"name":"call","href":"https://example.okta.com/wrong"},{"name":"sms","href":"\#(OktaJSON.org)/factors/f1/verify/resend","hints":{"allow":["POST"]}}]"#
        let bench = try OktaBench([
            .required(Self.sms), .challenge(Self.sms, resend: resend), .answer(#"{"factorResult":"CHALLENGE"}"#),
            .error(68, causes: ["Wrong."]), .success(), .session,
        ])
        let person = Person([.phoneCode: [.resend, .text("1"), .text("2")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.first?.factor.destination == "•••67")
        #expect(
            bench.sent.dropFirst() == [
                "/authn/factors/f1/verify", "/authn/factors/f1/verify/resend", "/authn/factors/f1/verify {passCode:1}",
                "/authn/factors/f1/verify {passCode:2}", Self.exchange,
            ]
        )
    }

    @Test func aQuestionIsAskedInTheProvidersWords() async throws {
        let question = OktaJSON.factor("question", profile: #"{"questionText":"First pet?"}"#)
        let bench = try OktaBench([.required(question), .success(), .session])
        let person = Person([.securityAnswer: "Rex"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.first?.prompt == "First pet?")
        #expect(bench.sent[1] == "/authn/factors/f1/verify {answer:Rex}")
    }

    @Test func aQuestionIsShownWhereItIsOneOfSeveralFactors() async throws {
        let question = OktaJSON.factor("question", id: "f2", profile: #"{"questionText":"First pet?"}"#)
        let bench = try OktaBench([.required(Self.totp, question), .success(), .session])
        let person = Person([.securityAnswer: "Rex"], choosing: "question")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.destinations == [[nil, "First pet?"]])
        #expect(bench.events.words.contains("challenge security_answer"))
        #expect(bench.sent[1] == "/authn/factors/f2/verify {answer:Rex}")
    }

    @Test func thePersonMayWantAnotherFactor() async throws {
        let bench = try OktaBench([
            .required(Self.sms, OktaJSON.factor("question", id: "f2")), .challenge(Self.sms),
            .required(Self.sms, OktaJSON.factor("question", id: "f2")), .success(), .session,
        ])
        let person = Person([.phoneCode: [.useAnotherFactor], .securityAnswer: [.text("Rex")]], choosing: "sms")
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.sent[2] == "/authn/previous")
        #expect(bench.sent[3] == "/authn/factors/f2/verify {answer:Rex}")
    }

    @Test func aReusedCodeWaitsForTheNextWindow() async throws {
        let bench = try OktaBench([.required(Self.totp), .error(82), .success(), .session])
        bench.clock.advance(by: .seconds(10))
        let person = Person([.totp: [.text("1"), .text("2")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.events.words.contains("wait challenge_incorrect 20.0"))
        #expect(person.questions.map(\.round) == [1, 2])
    }

    @Test func aWindowForMessagesIsWaitedOutAndHoldsNothingElse() async throws {
        let bench = try OktaBench([.required(Self.sms), .error(109, 429), .challenge(Self.sms), .success(), .session])
        _ = try await bench.signIn("hunter2", Person([.phoneCode: "1"]))
        #expect(bench.events.words.contains { $0.hasPrefix("wait rate_limited 3") })
        #expect(bench.sent.filter { $0 == "/authn/factors/f1/verify" }.count == 2)
    }

    @Test func whereTheWindowIsTooLongTheEarlierCodeServes() async throws {
        let bench = try OktaBench([.required(Self.sms), .error(109, 429), .success(), .session]) {
            Recovery(maxWait: .seconds(10)) { RateLimitBackoff() }
        }
        _ = try await bench.signIn("hunter2", Person([.phoneCode: "1"]))
        #expect(bench.sent.last == Self.exchange)
    }

    @Test func aUsedUpLimitOfMessagesIsNotWaitedFor() async throws {
        for code in [146, 204] {
            let bench = try OktaBench([.required(Self.sms), .error(code, 429, ["x-rate-limit-remaining": "9"])])
            let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
            #expect(error?.remedies.first == .switchFactor)
            #expect(bench.transport.received.count == 2)
        }
    }

    /// Neither the limits of the org nor those of the person, with a 429 or a 403, keep anybody from another factor.
    @Test(arguments: [(146, 429), (147, 429), (186, 429), (204, 429), (205, 429), (150, 403), (151, 403)])
    func whereAMessageCannotBeSentAnotherFactorIsTaken(code: Int, status: Int) async throws {
        let totp = OktaJSON.factor("token:software:totp", id: "f2")
        let bench = try OktaBench([
            .required(Self.sms, totp), .error(code, status, ["x-rate-limit-remaining": "9"]), .success(), .session,
        ])
        _ = try await bench.signIn("hunter2", Person([.totp: "1"], choosing: "sms"))
        #expect(bench.events.words.contains("fallback phone_code totp"))
        #expect(bench.sent[2] == "/authn/factors/f2/verify {passCode:1}")
    }

    @Test func aWrongStateIsReadAgain() async throws {
        let bench = try OktaBench([.required(Self.totp), .error(79), .required(Self.totp), .success(), .session])
        _ = try await bench.signIn("hunter2", Person([.totp: [.text("1"), .text("2")]]))
        #expect(bench.sent[2] == "/authn")
        #expect(bench.sent[3] == "/authn/factors/f1/verify {passCode:2}")
    }

    @Test func aDeadTransactionIsBegunAgainOnce() async throws {
        let bench = try OktaBench([.required(Self.totp), .error(11, 401), .required(Self.totp), .success(), .session])
        _ = try await bench.signIn("hunter2", Person([.totp: [.text("1"), .text("2")]]))
        #expect(bench.sent[2] == Self.first)
        let dying = try OktaBench([.required(Self.totp), .error(11, 401), .required(Self.totp), .error(11, 401)])
        let error = await #expect(throws: RecoveryError.self) {
            try await dying.signIn("hunter2", Person([.totp: [.text("1"), .text("2")]]))
        }
        #expect(error?.kind == .flowExpired)
    }

    @Test func aStatusThatIsNotKnownIsKeptWhole() async throws {
        let bench = try OktaBench([.answer(OktaJSON.state("OF_TOMORROW"))])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unknown)
        #expect(error?.outcome.statusType == "OF_TOMORROW")
    }

    @Test func aTokenDeviceMayWantMore() async throws {
        let bench = try OktaBench([.required(OktaJSON.factor("token")), .error(113, 409), .success(), .session])
        let person = Person([.totp: [.text("1"), .text("new-pin")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.last?.previousFailure?.userMessage == "s")
    }
}
