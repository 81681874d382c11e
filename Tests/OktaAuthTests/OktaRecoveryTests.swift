import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Recovering an Okta account")
struct OktaRecoveryTests {
    private static let first = "/authn {username:ada@example.com,password:hunter2}"
    private static let exchange = "/sessions {sessionToken:20111st}"
    private static let resend = OktaJSON.link("resend", "/recovery/factors/SMS/resend", name: "sms")

    /// A challenge by text message; its resend is a single object.
    private static func challenge(_ type: String = "UNLOCK") -> ScriptedTransport.Step {
        .answer(
            OktaJSON.state(
                "RECOVERY_CHALLENGE",
                links: [OktaJSON.link("next", "/recovery/factors/SMS/verify", name: "verify"), resend],
                more: #","factorType":"SMS","recoveryType":"\#(type)""#
            )
        )
    }

    private static func mail(_ type: String) -> ScriptedTransport.Step {
        .answer(
            #"{"status":"RECOVERY_CHALLENGE","factorResult":"WAITING","factorType":"EMAIL","recoveryType":"\#(type)"}"#
        )
    }

    private static func question(_ type: String) -> ScriptedTransport.Step {
        .answer(
            #"{"stateToken":"00st1","status":"RECOVERY","recoveryType":"\#(type)","_embedded":{"user":{"recovery_question":{"question":"First pet?"}}},"_links":{\#(OktaJSON.link("next", "/recovery/answer", name: "answer"))}}"#
        )
    }

    @Test func aLockoutIsUnlockedByMessageAndTheSignInGoesOn() async throws {
        let bench = try OktaBench([
            .lockedOut, Self.challenge(), .answer("{}"), Self.question("UNLOCK"),
            .success(nil, more: #","recoveryType":"UNLOCK""#), .success(), .session,
        ])
        let person = Person([.phoneCode: [.resend, .text("1")], .securityAnswer: [.text("Rex")]], choosing: "SMS")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.offers.first == ["EMAIL", "SMS"])
        #expect(person.notices == [.accountLocked])
        #expect(
            bench.sent == [
                Self.first, "/authn/recovery/unlock {username:ada@example.com,factorType:SMS}",
                "/authn/recovery/factors/SMS/resend", "/authn/recovery/factors/SMS/verify {passCode:1}",
                "/authn/recovery/answer {answer:Rex}", Self.first, Self.exchange,
            ]
        )
    }

    @Test func withoutTheWishToUnlockItIsLocked() async throws {
        let bench = try OktaBench([.lockedOut])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .accountLocked)
        #expect(error?.remedies == [.unlock, .contactAdmin])
        #expect(bench.transport.received.count == 1)
    }

    @Test func anUnlockByMailLetsThePersonGoAndHoldsNothingBack() async throws {
        let bench = try OktaBench([.lockedOut, Self.mail("UNLOCK")])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([Factor.Key: Secret](), choosing: "EMAIL"))
        }
        #expect(error?.kind == .userActionRequired)
        #expect(error?.remedies == [.visitProvider])
        bench.transport.append([.success(), .session])
        _ = try await bench.signIn()
    }

    @Test func tooManyWrongCodesLeadToTheUnlockToo() async throws {
        let bench = try OktaBench([
            .required(OktaJSON.factor("token:software:totp")), .error(69), Self.challenge(),
            .success(nil, more: #","recoveryType":"UNLOCK""#), .required(OktaJSON.factor("token:software:totp")),
            .success(), .session,
        ])
        let person = Person([.totp: [.text("1"), .text("2")], .phoneCode: [.text("3")]], choosing: "SMS")
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.sent.filter { $0 == Self.first }.count == 2)
    }

    @Test func aForgottenPasswordIsRecoveredFromTheQuestionForIt() async throws {
        let bench = try OktaBench([
            Self.challenge("PASSWORD"), Self.question("PASSWORD"), .error(87, 400), .expired("PASSWORD_RESET"),
            .success(),
            .session,
        ])
        let person = Person(
            [
                .password: [.useAnotherFactor], .phoneCode: [.text("1")],
                .securityAnswer: [.text("Max"), .text("Rex")], .newPassword: [.text("better")],
            ],
            choosing: "CALL"
        )
        _ = try await bench.signIn(nil, person)
        #expect(
            bench.sent == [
                "/authn/recovery/password {username:ada@example.com,factorType:CALL}",
                "/authn/recovery/factors/SMS/verify {passCode:1}", "/authn/recovery/answer {answer:Max}",
                "/authn/recovery/answer {answer:Rex}", "/authn/credentials/reset_password {newPassword:better}",
                Self.exchange,
            ]
        )
        #expect(person.questions.first { $0.key == .securityAnswer }?.prompt == "First pet?")
    }

    @Test func aPasswordIsRecoveredByItself() async throws {
        let bench = try OktaBench([Self.challenge("PASSWORD"), .expired("PASSWORD_RESET"), .success(), .session])
        let person = Person([.phoneCode: "1", .newPassword: "better"])
        let session = try await bench.skippingWaits {
            try await bench.okta.recoverPassword(identifier: "ada", via: .sms, answering: person)
        }
        #expect(session.id == "sid1")
        let mailing = try OktaBench([Self.mail("PASSWORD")])
        let error = await #expect(throws: RecoveryError.self) {
            try await mailing.okta.recoverPassword(identifier: "ada", via: .email, answering: Person())
        }
        #expect(error?.kind == .userActionRequired)
    }

    // MARK: Enrollment

    @Test func anAuthenticatorAppIsEnrolledWithItsKey() async throws {
        let totp = OktaJSON.open("token:software:totp")
        let activation =
            #","factor":{"id":"f9","factorType":"token:software:totp","provider":"OKTA","_embedded":{"activation":{"sharedSecret":"JBSWY3DP","_links":{"qrcode":{"href":"https://x/qr","type":"image/png"}}}}}"#
        let bench = try OktaBench([
            .answer(OktaJSON.state("MFA_ENROLL", embedded: #","factors":[\#(totp)]"#)),
            .answer(
                OktaJSON.state(
                    "MFA_ENROLL_ACTIVATE",
                    embedded: activation,
                    links: [OktaJSON.link("next", "/factors/f9/lifecycle/activate", name: "activate")]
                )
            ),
            .answer(
                OktaJSON.state(
                    "MFA_ENROLL",
                    embedded: #","factors":[\#(OktaJSON.open("sms", "OPTIONAL"))]"#,
                    links: [OktaJSON.link("skip", "/skip")]
                )
            ), .success(), .session,
        ])
        let person = Person([.totp: "123456"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.first?.setup == "JBSWY3DP")
        #expect(
            bench.sent.dropFirst() == [
                "/authn/factors {factorType:token:software:totp,provider:OKTA}",
                "/authn/factors/f9/lifecycle/activate {passCode:123456}", "/authn/skip", Self.exchange,
            ]
        )
    }

    @Test func aPhoneIsEnrolledByItsNumber() async throws {
        let sms = OktaJSON.open("sms")
        let activate = OktaJSON.state(
            "MFA_ENROLL_ACTIVATE",
            embedded:
                #","factor":{"id":"f9","factorType":"sms","provider":"OKTA","profile":{"phoneNumber":"+15551234567"}}"#,
            links: [
                OktaJSON.link("next", "/factors/f9/lifecycle/activate", name: "activate"),
                #""resend":[\#(OktaJSON.link("x", "/factors/f9/lifecycle/resend", name: "sms").dropFirst(4))]"#,
            ]
        )
        let bench = try OktaBench([
            .answer(OktaJSON.state("MFA_ENROLL", embedded: #","factors":[\#(sms)]"#)), .error(98, 400),
            .answer(activate),
            .answer(#"{"_embedded":{}}"#), .success(), .session,
        ])
        let person = Person([.phoneNumber: [.text("x"), .text("+15551234567")], .phoneCode: [.resend, .text("1")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.sent[2] == "/authn/factors {factorType:sms,provider:OKTA,profile:{phoneNumber:+15551234567}}")
        #expect(bench.sent[3] == "/authn/factors/f9/lifecycle/resend {factorType:sms,provider:OKTA}")
        #expect(bench.sent[4] == "/authn/factors/f9/lifecycle/activate {passCode:1}")
    }

    @Test func aQuestionIsChosenAndEnrolled() async throws {
        let question = OktaJSON.open("question", links: ",\(OktaJSON.link("questions", "/factors/questions"))")
        let bench = try OktaBench([
            .answer(OktaJSON.state("MFA_ENROLL", embedded: #","factors":[\#(question)]"#)),
            .answer(
                #"[{"question":"pet","questionText":"First pet?"},{"question":"car","questionText":"First car?"}]"#
            ),
            .success(), .session,
        ])
        let person = Person([.securityAnswer: "Fiat"], choosing: "car")
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.first?.prompt == "First car?")
        #expect(
            bench.sent[2] == "/authn/factors {factorType:question,provider:OKTA,profile:{question:car,answer:Fiat}}"
        )
    }

    @Test(arguments: ["WAITING", "PENDING_ACTIVATION"])
    func aPushIsEnrolledByScanningAndPolling(pending: String) async throws {
        func activating(_ result: String) -> ScriptedTransport.Step {
            .answer(
                OktaJSON.state(
                    "MFA_ENROLL_ACTIVATE",
                    embedded:
                        #","factor":{"id":"f9","factorType":"push","provider":"OKTA","_embedded":{"activation":{"factorResult":"\#(result)","expiresAt":"2030-01-01T00:05:00.000Z","_links":{"qrcode":{"href":"https://x/qr","type":"image/png"},"send":[{"name":"sms","href":"https://x/s"}]}}}}"#,
                    links: [OktaJSON.link("next", "/factors/f9/lifecycle/activate/poll", name: "poll")]
                )
            )
        }
        let bench = try OktaBench([
            .answer(OktaJSON.state("MFA_ENROLL", embedded: #","factors":[\#(OktaJSON.open("push"))]"#)),
            activating(pending), activating(pending), .success(), .session,
        ])
        let person = Person()
        _ = try await bench.signIn("hunter2", person)
        #expect(person.shown.first?.setup == "https://x/qr")
        #expect(bench.sent[3] == "/authn/factors/f9/lifecycle/activate/poll")
    }

    // MARK: Locks

    @Test func theLinkThatComesWithALockIsFollowed() async throws {
        let link = OktaJSON.link("next", "/of/their/own", name: "unlock")
        let bench = try OktaBench([
            .answer(OktaJSON.state("LOCKED_OUT", links: [link], token: nil)), .error(4, 401),
        ])
        await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([:] as [Factor.Key: Secret], choosing: "SMS"))
        }
        #expect(bench.sent.count == 2 && bench.sent[1].hasPrefix("/authn/of/their/own {username:"))
    }

    @Test func aLockThatIsRememberedCanStillBeLifted() async throws {
        let bench = try OktaBench([.lockedOut, .error(4, 401)])
        let first = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(first?.kind == .accountLocked)
        // No further attempt goes out, but what lifts the lock does; and the person is told before they are asked.
        let person = Person([:] as [Factor.Key: Secret], choosing: "SMS")
        await #expect(throws: RecoveryError.self) { try await bench.signIn("hunter2", person) }
        #expect(bench.sent.count == 2 && bench.sent[1].hasPrefix("/authn/recovery/unlock "))
        #expect(person.notices.first == .accountLocked)
    }

    @Test func aLockThatIsRememberedIsLiftedOnlyOnTheWishOfThePersonAndOfTheProgram() async throws {
        for (options, choice, offers) in [
            (SignInOptions(maxRestarts: 0), "SMS", []), (.okta, nil, [["EMAIL", "SMS"]]),
        ] as [(SignInOptions, String?, [[String]])] {
            let bench = try OktaBench([.lockedOut])
            await #expect(throws: RecoveryError.self) { try await bench.signIn() }
            let person = Person([:] as [Factor.Key: Secret], choosing: choice)
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.signIn("hunter2", person, options: options)
            }
            #expect(error?.kind == .accountLocked && error?.remedies == [.unlock, .contactAdmin])
            #expect(person.offers == offers)
            #expect(bench.sent.count == 1)
        }
    }

    // MARK: WebAuthn

    private static let webAuthn = OktaJSON.factor(
        "webauthn",
        profile: #"{"credentialId":"AQID"}"#,
        challenge: #"{"challenge":"aGVsbG8"}"#
    )

    @Test func aChallengeIsSignedByTheAuthenticator() async throws {
        let key = Key()
        let bench = try OktaBench(
            [.required(Self.webAuthn), .challenge(Self.webAuthn, result: "CHALLENGE"), .success(), .session],
            configuration: OktaConfiguration(authenticator: key)
        )
        _ = try await bench.signIn()
        let request = key.signed.withLock { $0 }
        #expect(request?.challenge == Array("hello".utf8))
        #expect(request?.relyingPartyID == "example.okta.com")
        #expect(request?.allowedCredentials == [[1, 2, 3]])
        #expect(bench.sent[2] == "/authn/factors/f1/verify {authenticatorData:Yg==,clientData:YQ==,signatureData:Yw==}")
    }

    @Test func withoutAnAuthenticatorTheResponderSaysWhatToDo() async throws {
        let totp = OktaJSON.factor("token:software:totp", id: "f2")
        let bench = try OktaBench([
            .required(Self.webAuthn, totp), .challenge(Self.webAuthn, result: "CHALLENGE"),
            .required(Self.webAuthn, totp), .success(), .session,
        ])
        let person = Person([.webauthn: "unsupported", .totp: "1"], choosing: "webauthn")
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.events.words.contains("fallback webauthn totp"))
        #expect(bench.sent[2] == "/authn/previous")
        #expect(bench.sent[3] == "/authn/factors/f2/verify {passCode:1}")
        let raw = try OktaBench([
            .required(Self.webAuthn), .challenge(Self.webAuthn, result: "CHALLENGE"), .success(), .session,
        ])
        _ = try await raw.signIn("hunter2", Person([.webauthn: #"{"clientData":"x","signatureData":"y"}"#]))
        #expect(raw.sent[2] == "/authn/factors/f1/verify {clientData:x,signatureData:y}")
    }
}

/// An authenticator that always signs, with nothing.
private final class Key: WebAuthn.Authenticator {
    let signed = Locked<WebAuthn.SigningRequest?>(nil)

    func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        throw WebAuthn.Failure.unsupported()
    }

    func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        signed.withLock { $0 = request }
        return WebAuthn.Assertion(
            credentialID: [1, 2, 3],
            clientDataJSON: Array("a".utf8),
            authenticatorData: Array("b".utf8),
            signature: Array("c".utf8)
        )
    }
}
