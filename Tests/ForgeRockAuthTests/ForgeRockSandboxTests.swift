import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing
import WebAuthnTesting

@testable import AuthSandbox

/// What PingAM's nodes want, asked for by a server that behaves as they do.
@Suite("Journeys at the sandbox")
struct ForgeRockSandboxTests {
    #if Cryptography
    // MARK: WebAuthn

    @Test(arguments: ["metadata", "old_metadata", "script"], ["", "example.com", "am.example.com"])
    func aCeremonyIsForWhomTheNodeNamesOrLeavesOpen(form: String, party: String) async throws {
        for wantsJSON in [false, true] {
            let bench = ForgeRockSandboxBench {
                $0.webAuthnForm = form
                $0.relyingPartyID = party
                $0.wantsJSONOutcome = wantsJSON
                $0.origins = ["http://am.example.com"]
            }
            let authenticator = SoftwareAuthenticator()
            for journey in ["WebAuthnRegistration", "WebAuthn"] {
                let session = try await bench.signIn(journey, bench.person()) {
                    $0.authenticator = authenticator
                    $0.deviceName = "My :: key"
                }
                #expect(session.exists)
            }
            #expect(bench.counters.ceremonies == 2)
            #expect(bench.account("ada")?.credentials.map(\.name) == ["My : key"])
        }
    }

    /// Hands in what an authenticator elsewhere has made.
    private struct HandedIn: JourneyCallbackResponder {
        let authenticator: SoftwareAuthenticator
        let origin: Origin

        func answer(_ callback: inout JourneyCallback, in step: JourneyStep) async throws -> Bool {
            guard callback.isWebAuthnOutcome, let ceremony = step.webAuthn?.completed(for: origin) else { return false }
            let success: WebAuthnSuccess
            switch ceremony {
            case .registration(let request):
                success = WebAuthnSuccess(try await authenticator.register(request), deviceName: "elsewhere")
            case .authentication(let request): success = WebAuthnSuccess(try await authenticator.sign(request))
            case .unreadable: return false
            }
            callback.setInput(.string(success.outcome(for: step)))
            return true
        }
    }

    @Test func theAppHandsInWhatWasMadeElsewhere() async throws {
        let bench = ForgeRockSandboxBench {
            $0.relyingPartyID = ""
            $0.wantsJSONOutcome = true
        }
        let origin = Origin(of: try HTTPRequest(url: "http://am.example.com"))
        let handedIn = HandedIn(authenticator: SoftwareAuthenticator(), origin: origin)
        for journey in ["WebAuthnRegistration", "WebAuthn"] {
            #expect(try await bench.signIn(journey, bench.person(), callbacks: handedIn).exists)
        }
        #expect(bench.counters.ceremonies == 2 && bench.account("ada")?.credentials.map(\.name) == ["elsewhere"])
    }

    @Test func aRecoveryCodeStandsInForAKeyThatFails() async throws {
        let bench = ForgeRockSandboxBench {
            $0.offersRecoveryCode = true
        } people: { users in
            for index in users.indices { users[index].backupCodes = ["rescue-1"] }
        }
        // Nothing is registered, so that it has nothing to sign with.
        let person = bench.person([.backupCode: ["rescue-1"]], choosing: "Use Recovery Code")
        let session = try await bench.signIn("WebAuthn", person) { $0.authenticator = SoftwareAuthenticator() }
        #expect(session.exists && person.offered == [["Use Recovery Code", "Go on without"]])
        // Who goes on without it meets the journey's own end.
        let other = bench.person(choosing: "Go on without", "Go on without", "Go on without")
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("WebAuthn", other) { $0.authenticator = SoftwareAuthenticator() }
        }
        #expect(error?.kind == .declined)
        // Where there is no authenticator at all, the journey has its own way.
        let third = bench.person()
        #expect(try await bench.signIn("WebAuthn", third).exists)
        #expect(third.keys == [.emailCode] && third.offered.isEmpty)
    }
    #endif

    // MARK: What is shown once

    @Test func whatIsShownOnceIsShownBeforeTheServerForgetsIt() async throws {
        let bench = ForgeRockSandboxBench()
        let forgeRock = try bench.forgeRock("RegisterAuthenticator")
        var flow = forgeRock.signInFlow(identifier: "ada", password: ForgeRockSandboxBench.password, options: nil)
        guard case .pending(let setup, _) = try await flow.step(.begin).step else {
            Issue.record("nothing is shown")
            return
        }
        #expect(setup.setup?.reveal().hasPrefix("otpauth://totp/Sandbox:ada?") == true && setup.key == .totp)
        let secret = try #require(bench.account("ada")?.user.totpSecret)
        guard case .ask(let question) = try await flow.step(.poll).step else {
            Issue.record("nothing is asked")
            return
        }
        #expect(question.key == .totp)
        let code = try #require(bench.code(of: secret))
        guard case .pending(let codes, _) = try await flow.step(.answer(.text(Secret(code)))).step else {
            Issue.record("no codes are shown")
            return
        }
        #expect(codes.key == .backupCode)
        #expect(codes.setup?.reveal().split(separator: "\n").count == 10)
        // The step that shows them is not sent yet.
        #expect(bench.counters.sessions == 0)
        guard case .finished(let session) = try await flow.step(.poll).step else {
            Issue.record("no session")
            return
        }
        #expect(session.exists)
    }

    @Test func aPhoneIsSetUpAndItsNumberShown() async throws {
        let bench = ForgeRockSandboxBench { $0.pushNumber = "73" }
        let first = bench.person()
        _ = try await bench.signIn("RegisterPush", first)
        #expect(
            first.shown.compactMap { $0.setup?.reveal().prefix(22) }
                == ["pushauth://push/Sandbox"].map { $0.prefix(22) }
        )
        let second = bench.person()
        _ = try await bench.signIn("Push", second)
        #expect(second.shown.map(\.number) == ["73"])
        #expect(bench.counters.earlyPolls == 0)
    }

    // MARK: Callbacks

    @Test func aDeviceIsDescribedBoundAndSigns() async throws {
        let bench = ForgeRockSandboxBench()
        #expect(try await bench.signIn("DeviceProfile", bench.person()).exists)
        #expect(bench.steps == 3)
        #if Cryptography
        let keys = SoftwareDeviceKeys(time: bench.clock.timeSource())
        #expect(try await bench.signIn("DeviceBinding", bench.person()) { $0.deviceKeys = keys }.exists)
        #expect(bench.account("ada")?.deviceKey != nil)
        #endif
    }

    /// What there is not on this machine is told to the node, which has a way without.
    @Test(arguments: ["DeviceBinding", "Integrity", "Protect"])
    func whatThereIsNotIsToldAndACodeStandsIn(journey: String) async throws {
        let bench = ForgeRockSandboxBench()
        let person = bench.person()
        #expect(try await bench.signIn(journey, person).exists)
        #expect(person.keys == [.emailCode])
    }

    @Test(arguments: ["Social", "SAML"], ["GET", "POST"])
    func aBrowserComesBackToItsJourney(journey: String, method: String) async throws {
        let bench = ForgeRockSandboxBench { ($0.providerUser, $0.redirectMethod) = ("grace", method) }
        let person = bench.person()
        #expect(try await bench.signIn(journey, person, identifier: nil, password: nil).exists)
        #expect(person.keys == [.redirect])
        #expect(try await bench.forgeRock().session()?.username == "grace")
    }

    @Test func theAppSignsInAtAProviderByItself() async throws {
        let bench = ForgeRockSandboxBench { $0.providerUser = "grace" }
        // A page for both ways wants nothing else of those who sign in elsewhere.
        let known = bench.person(choosing: "sandbox")
        let session = try await bench.signIn("NativeSocial", known, identifier: nil, password: nil) {
            $0.identityProviders = ["sandbox": "http://am.example.com/idp/authorize"]
        }
        #expect(session.exists && known.keys == [.redirect] && bench.counters.passwordAttempts == 0)
        let local = bench.person(choosing: "localAuthentication")
        #expect(try await bench.signIn("NativeSocial", local).exists)
        #expect(local.keys.isEmpty && bench.counters.passwordAttempts == 1)
    }

    /// Who has come is told beside the token, as Apple does at a first visit: both go on in one.
    @Test func whomAProviderTellsOfIsHandedOn() async throws {
        let bench = ForgeRockSandboxBench { ($0.providerUser, $0.providerWantsUser) = ("grace", true) }
        let person = bench.person(choosing: "sandbox")
        let session = try await bench.signIn("NativeSocial", person, identifier: nil, password: nil) {
            $0.identityProviders = ["sandbox": "http://am.example.com/idp/authorize"]
        }
        #expect(session.exists && bench.counters.passwordAttempts == 0)
    }

    /// Without a named endpoint the program that knows one goes there, by what the server says.
    @Test(arguments: ["code", "id_token", "token"])
    func aProviderWithoutAnEndpointIsLeftToTheApp(wanted: String) async throws {
        let bench = ForgeRockSandboxBench { $0.providerUser = "grace" }
        var flow = try bench.forgeRock("NativeSocial").signInFlow(identifier: nil, password: nil, options: nil)
        guard case .choose(let factors) = try await flow.step(.begin).step,
            case .ask(let question) = try await flow.step(.choose(factors.first)).step
        else {
            Issue.record("nothing is asked")
            return
        }
        let told = try JSONValue(parsing: question.hint ?? "")
        #expect(question.key == .redirect && question.url == nil && question.prompt == "sandbox")
        #expect(told["clientId"]?.string == "sandbox-app" && told["scopes"] == ["openid", "profile"])
        let target = try #require(told["redirectUri"]?.string)
        let back = try await bench.redirect(
            from: "http://am.example.com/idp/authorize?response_type=\(wanted)&state=own&redirect_uri=\(target)"
        )
        guard case .finished(let session) = try await flow.step(.answer(.text(Secret(back)))).step else {
            Issue.record("no session")
            return
        }
        #expect(session.exists)
    }

    @Test(arguments: ["plain", "enterprise"])
    func aCaptchaIsAskedForAndItsProofHandedIn(form: String) async throws {
        let bench = ForgeRockSandboxBench { $0.captchaForm = form }
        let person = bench.person([.captcha: ["a-person"]])
        #expect(try await bench.signIn("Captcha", person).exists)
        let question = try #require(person.questions.first)
        #expect(question.key == .captcha)
        #expect(try JSONValue(parsing: question.hint ?? "")["recaptchaSiteKey"]?.string == "sandbox-key")
        // Nobody has one: that is what the server wants, and nothing is sent in its place.
        let before = bench.steps
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("Captcha", bench.person())
        }
        #expect(error?.kind == .challengeRequired && error?.remedies == [.solveChallenge])
        #expect(error?.outcome.details?["recaptchaSiteKey"]?.string == "sandbox-key" && bench.steps == before + 2)
    }

    /// The action that a proof was solved for goes along with it.
    @Test(arguments: [(#"{"token":"a-person","action":"login"}"#, true), ("a-person", false)])
    func aProofTellsWhatItWasSolvedFor(answer: String, isTaken: Bool) async throws {
        let bench = ForgeRockSandboxBench { ($0.captchaForm, $0.captchaAction) = ("enterprise", "login") }
        let person = bench.person([.captcha: [Secret(answer)]])
        let session = try? await bench.signIn("Captcha", person)
        #expect((session != nil) == isTaken)
    }

    @Test func aLanguageGoesBackAsItCame() async throws {
        struct German: ForgeRockInterceptor {
            func intercept(_ request: HTTPRequest, action: ForgeRockAction, journey: String?) -> HTTPRequest {
                var request = request
                request.headerFields[.acceptLanguage] = "de-AT, en;q=0.5"
                return request
            }
        }
        let bench = ForgeRockSandboxBench()
        let person = bench.person()
        #expect(try await bench.signIn("Language", person) { $0.interceptors = [German()] }.exists)
        #expect(person.questions.isEmpty)
        let sent = try JSONValue(parsing: bench.transport.received.last?.body ?? [])
        let inputs = sent["callbacks"]?[0]?["input"]?.array?.map { $0["value"]?.string }
        #expect(inputs == ["de", "AT"])
    }

    /// A field of every request, as a proxy or an interceptor adds it.
    private struct Field: ForgeRockInterceptor {
        let name: String
        let value: String

        func intercept(_ request: HTTPRequest, action: ForgeRockAction, journey: String?) -> HTTPRequest {
            var request = request
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
            return request
        }
    }

    @Test func aCertificateComesWithTheRequestOrNotAtAll() async throws {
        let bench = ForgeRockSandboxBench()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("Certificate", bench.person())
        }
        #expect(error?.kind == .invalidRequest && error?.outcome.message?.contains("X509") == true && bench.steps == 1)
        let session = try await bench.signIn("Certificate", bench.person()) {
            $0.interceptors = [Field(name: "x-client-cert", value: "ada")]
        }
        #expect(session.exists)
    }

    @Test func aCredentialOfHTTPIsPassedOverWhereThereIsNone() async throws {
        let bench = ForgeRockSandboxBench()
        #expect(try await bench.signIn("Negotiate", bench.person()).exists)
        #expect(bench.steps == 3 && bench.counters.passwordAttempts == 1)
        let session = try await bench.signIn("Negotiate", bench.person()) {
            $0.interceptors = [Field(name: "authorization", value: "Negotiate \(Base64.encode("ada".utf8))")]
        }
        #expect(session.exists && bench.steps == 4)
    }

    @Test func whatNobodyKnowsEndsTheSignInByName() async throws {
        let bench = ForgeRockSandboxBench()
        for (journey, steps) in [("Hologram", 2), ("HologramLogin", 2)] {
            let before = bench.steps
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.signIn(journey, bench.person([.password: ["never", "never"]]))
            }
            #expect(error?.kind == .challengeRequired && error?.outcome.parameter == "HologramCallback")
            #expect(error?.userMessage.contains("HologramCallback") == true)
            #expect(bench.steps == before + steps)
        }
        // What only has to come back does, and the app is asked for the rest.
        #expect(try await bench.signIn("Unknown", bench.person()).exists)
        struct Seeing: JourneyCallbackResponder {
            func answer(_ callback: inout JourneyCallback, in step: JourneyStep) -> Bool {
                guard callback.type == "HologramCallback" else { return false }
                callback.setInput("seen")
                return true
            }
        }
        for journey in ["Hologram", "HologramLogin"] {
            #expect(try await bench.signIn(journey, bench.person(), callbacks: Seeing()).exists)
        }
    }

    @Test(arguments: [true, false]) func aSecurityQuestionMayBeOnesOwn(allowsOwn: Bool) async throws {
        let bench = ForgeRockSandboxBench { $0.allowsOwnQuestions = allowsOwn }
        let own = "A question of your own"
        let person = bench.person(
            [
                .text: ["Graz", "42", "What did the cat eat?"], .choice: ["yes", "yes"], .securityAnswer: ["fish"],
            ],
            choosing: allowsOwn ? own : "What is your favorite color?"
        )
        #expect(try await bench.signIn("Profile", person).exists)
        #expect(person.offered.contains { $0.contains(own) } == allowsOwn)
        let sent = try JSONValue(parsing: bench.transport.received.last?.body ?? [])
        #expect(
            person.questions.first { $0.key == .securityAnswer }?.prompt
                == (allowsOwn ? "What did the cat eat?" : "What is your favorite color?")
        )
        #expect(
            sent["callbacks"]?[3]?["input"]?[0]?["value"]?.string
                == (allowsOwn ? "What did the cat eat?" : "What is your favorite color?")
        )
    }
}
