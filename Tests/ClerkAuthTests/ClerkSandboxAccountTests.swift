import AuthRecovery
import AuthSandbox
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Proofs against abuse, devices, sessions and accounts, against a server that keeps its own books.
@Suite("Clerk's accounts at the sandbox")
struct ClerkSandboxAccountTests {
    // MARK: Proofs against abuse

    /// Solves everything, each captcha with a token of its own.
    private final class Prover: ClerkConfiguration.Proving {
        private let captchas: Locked<[Secret]>
        private let isHonest: Bool

        init(_ captchas: [Secret] = ["solved-1", "solved-2"], isHonest: Bool = true) {
            self.captchas = Locked(captchas)
            self.isHonest = isHonest
        }

        func captcha() async throws -> ClerkConfiguration.Captcha? {
            captchas.withLock { $0.isEmpty ? nil : ClerkConfiguration.Captcha(token: $0.removeFirst()) }
        }

        func proof(for check: JSONValue) async throws -> Secret? {
            (check["token"]?.string).map { Secret(isHonest ? "proof-of-\($0)" : "x") }
        }
    }

    private static let newcomer = ClerkSignUpRequest(emailAddress: "new@example.com", password: "correct horse battery")

    private static func bench(
        _ proofs: Prover?,
        _ settings: (inout SandboxSettings) -> Void,
        user: (inout SandboxUser) -> Void = { _ in }
    ) throws -> ClerkSandboxBench {
        try ClerkSandboxBench(user, settings: settings, configuration: ClerkConfiguration(proofs: proofs))
    }

    @Test func aSignUpBringsItsCaptcha() async throws {
        let bench = try Self.bench(Prover()) { $0.captcha = "sign_up" }
        _ = try await bench.clerk.signUp(Self.newcomer, answering: SandboxPerson(bench))
        let forms = bench.forms("POST client/sign_ups")
        #expect(forms.count == 2 && forms[1] == forms[0] + "&captcha_token=solved-1&captcha_widget_type=smart")
        let none = try Self.bench(nil) { $0.captcha = "sign_up" }
        let error = await #expect(throws: RecoveryError.self) {
            try await none.clerk.signUp(Self.newcomer, answering: SandboxPerson(none))
        }
        #expect(error?.kind == .challengeRequired && none.routes == ["POST client/sign_ups", "GET environment"])
        let wrong = try Self.bench(Prover(["wrong"])) { $0.captcha = "sign_up" }
        let second = await #expect(throws: RecoveryError.self) {
            try await wrong.clerk.signUp(Self.newcomer, answering: SandboxPerson(wrong))
        }
        // What the program could not solve is a person's to solve.
        #expect(second?.kind == .challengeRequired && second?.outcome.details?["code"] == "captcha_invalid")
        #expect(wrong.count("POST client/sign_ups") == 2)
    }

    @Test func aClientThatHasProvedItselfIsNotAskedAgain() async throws {
        let bench = try Self.bench(Prover()) { $0.captcha = "always" }
        #expect(try await bench.signIn(SandboxPerson(bench)).status == .active)
        #expect(bench.routes == ["POST client/sign_ins", "POST client/verify", "POST client/sign_ins"])
        try await bench.clerk.signOut()
        _ = try await bench.signIn(SandboxPerson(bench))
        #expect(bench.count("POST client/verify") == 1)
    }

    @Test func whatWantsAProofToBeginBringsIt() async throws {
        let bench = try Self.bench(Prover()) {
            $0.protects = ["sign_in", "sign_up"]
            $0.captcha = "sign_up"
        }
        #expect(try await bench.signIn(SandboxPerson(bench)).status == .active)
        #expect(bench.routes == ["POST client/sign_ins", "POST client/sign_ins"])
        #expect(bench.forms("POST client/sign_ins").last?.contains("&proof_token=proof-of-") == true)
        try await bench.clerk.signOut()
        // A captcha and a proof, one after the other.
        _ = try await bench.clerk.signUp(Self.newcomer, answering: SandboxPerson(bench))
        #expect(bench.count("POST client/sign_ups") == 3)
        let wrong = try Self.bench(Prover(isHonest: false)) { $0.protects = ["sign_in"] }
        let error = await #expect(throws: RecoveryError.self) { try await wrong.signIn(SandboxPerson(wrong)) }
        #expect(error?.kind == .challengeRequired && wrong.routes.count == 2)
    }

    @Test func aFlowThatWaitsForAProofGetsIt() async throws {
        let bench = try Self.bench(
            Prover(),
            { $0.protects = ["sign_up_flow"] },
            user: { $0.statusAfterFirstFactor = "needs_protect_check" }
        )
        #expect(try await bench.signIn(SandboxPerson(bench)).status == .active)
        #expect(bench.routes == ["POST client/sign_ins", "PATCH client/sign_ins/{id}/protect_check"])
        try await bench.clerk.signOut()
        _ = try await bench.clerk.signUp(Self.newcomer, answering: SandboxPerson(bench))
        #expect(bench.count("PATCH client/sign_ups/{id}/protect_check") == 1)
        let none = try Self.bench(nil) { $0.protects = ["sign_up_flow"] }
        let error = await #expect(throws: RecoveryError.self) {
            try await none.clerk.signUp(Self.newcomer, answering: SandboxPerson(none))
        }
        #expect(error?.kind == .challengeRequired && error?.outcome.details?["token"] != nil)
    }

    // MARK: What the instance has

    @Test func onlyWhatTheInstanceHasIsSetUp() async throws {
        let bench = try ClerkSandboxBench(
            { $0.tasks = ["setup-mfa"] },
            settings: {
                $0.secondFactorAttributes = ["authenticator_app"]
            }
        )
        let person = SandboxPerson(bench, choosing: ["phone_number"])
        #expect(try await bench.signIn(person).status == .active)
        // There was nothing to choose, and no backup codes to show.
        #expect(person.keys == [.totp] && person.offers.isEmpty && person.shown.isEmpty)
        let phones = try ClerkSandboxBench(
            { $0.tasks = ["setup-mfa"] },
            settings: {
                $0.secondFactorAttributes = ["phone_number"]
            }
        )
        let caller = SandboxPerson(phones, [.phoneNumber: ["+4930123999"]])
        #expect(try await phones.signIn(caller).status == .active && caller.keys == [.phoneNumber, .phoneCode])
        let none = try ClerkSandboxBench({ $0.tasks = ["setup-mfa"] }, settings: { $0.secondFactorAttributes = [] })
        let error = await #expect(throws: RecoveryError.self) { try await none.signIn(SandboxPerson(none)) }
        #expect(error?.kind == .userActionRequired && error?.outcome.code == "setup-mfa")
    }

    @Test func theConsentIsAskedForAndARefusalIsOne() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.requiredFields = ["password", "legal_accepted"] })
        let person = SandboxPerson(bench, [.text: ["yes"]])
        _ = try await bench.clerk.signUp(Self.newcomer, answering: person)
        let consent = "Do you accept the terms of service (yes or no)?"
        #expect(person.asked.first { $0.key == .text }?.prompt == consent)
        var refused = Self.newcomer
        refused.emailAddress = "other@example.com"
        refused.legalAccepted = false
        try await bench.clerk.signOut()
        let second = SandboxPerson(bench, [.text: ["yes"]])
        _ = try await bench.clerk.signUp(refused, answering: second)
        #expect(second.notices.isEmpty && second.asked.first?.prompt == consent)
    }

    @Test func whoMayNotSignUpJoinsTheWaitlist() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.signUpMode = "waitlist" })
        #expect(try await bench.clerk.environment().signUpMode == "waitlist")
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signUp(Self.newcomer, answering: SandboxPerson(bench))
        }
        #expect(error?.kind == .permissionDenied && error?.outcome.code == "sign_up_restricted_waitlist")
        let first = try await bench.clerk.joinWaitlist(emailAddress: "new@example.com")
        #expect(try await bench.clerk.joinWaitlist(emailAddress: "NEW@example.com") == first)
        let closed = try ClerkSandboxBench()
        let refusal = await #expect(throws: RecoveryError.self) {
            try await closed.clerk.joinWaitlist(emailAddress: "new@example.com")
        }
        #expect(refusal?.outcome.code == "waitlist_not_accepting_entries")
    }

    // MARK: Sessions and devices

    /// The same person on another device.
    private static func secondDevice(_ bench: ClerkSandboxBench) async throws -> (Clerk, ClerkSession) {
        let clerk = try Clerk(
            frontendAPI: "https://clerk.example.com",
            client: bench.client,
            tokens: InMemoryTokenStore()
        )
        let session = try await clerk.signIn(
            identifier: ClerkSandboxBench.name,
            password: ClerkSandboxBench.password,
            answering: SandboxPerson(bench)
        )
        return (clerk, session)
    }

    @Test func theSessionsOfOtherDevicesAreSeenAndEnded() async throws {
        let bench = try ClerkSandboxBench()
        let own = try await bench.signIn(SandboxPerson(bench))
        let (other, theirs) = try await Self.secondDevice(bench)
        let all = try await bench.clerk.sessionsOnAllDevices()
        #expect(Set(all.map(\.id)) == [own.id, theirs.id] && all.allSatisfy { $0.device?.type == "Linux" })
        try await bench.clerk.revoke(sessionID: theirs.id)
        #expect(try await other.session() == nil && bench.sessionStatuses == ["active", "revoked"])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.revoke(sessionID: "sess_nobodys")
        }
        #expect(error?.kind == .notFound)
        #expect(try await bench.clerk.session()?.id == own.id)
        try await bench.clerk.revoke(sessionID: own.id)
        #expect(await bench.tokens.read().credentials.sessionID == nil)
    }

    @Test func whatIsAskedForAPersonNamesTheirSession() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.isSingleSession = false })
        let own = try await bench.signIn(SandboxPerson(bench))
        var other = Self.newcomer
        other.emailAddress = "lin@example.com"
        _ = try await bench.clerk.signUp(other, answering: SandboxPerson(bench))
        // The server would take the session that was used last.
        try await bench.clerk.activate(sessionID: own.id)
        _ = try await bench.clerk.send(.post, path: "/v1/client/sessions/\(own.id)/touch", body: .form([:]))
        let newest = try await bench.clerk.currentClient()?.sessions.first { $0.id != own.id }
        _ = try await bench.clerk.send(
            .post,
            path: "/v1/client/sessions/\(newest?.id ?? "")/touch",
            body: .form(["intent": "select_session"])
        )
        let me = try await bench.clerk.send(path: "/v1/me").json()
        #expect(me["response"]?["id"]?.string == own.userID)
        let made = try await bench.clerk.send(.post, path: "/v1/organizations", body: .form(["name": "Acme"])).json()
        let organization = try #require(made["response"]?["id"]?.string)
        let session = try await bench.clerk.activate(sessionID: own.id, organizationID: organization)
        #expect(session.lastActiveOrganizationID == organization)
    }

    @Test func aDeviceIsForgottenAndTheNextSignInIsANewOnes() async throws {
        let bench = try ClerkSandboxBench({ $0.hasDeviceTrust = true })
        _ = try await bench.signIn(SandboxPerson(bench))
        let first = bench.count("POST client/sign_ins/{id}/prepare_second_factor")
        try await bench.clerk.signOut()
        _ = try await bench.signIn(SandboxPerson(bench))
        #expect(bench.count("POST client/sign_ins/{id}/prepare_second_factor") == first)
        let token = await bench.tokens.read().credentials.clientToken
        try await bench.clerk.forgetDevice()
        #expect(
            await bench.tokens.read().credentials == Credentials() && bench.sessionStatuses == ["ended", "removed"]
        )
        // Whoever held the token still is made a client without sessions.
        try await bench.tokens.update { $0.clientToken = token }
        #expect(try await bench.clerk.sessions().isEmpty)
        #expect(await bench.tokens.read().credentials.clientToken != token)
        _ = try await bench.signIn(SandboxPerson(bench))
        #expect(bench.count("POST client/sign_ins/{id}/prepare_second_factor") == first + 1)
    }

    @Test func aClientTokenThatIsRefusedIsSuperseded() async throws {
        let bench = try ClerkSandboxBench()
        _ = try await bench.signIn(SandboxPerson(bench))
        try await bench.clerk.signOut()
        var fault = SandboxFault(.envelope, method: "POST", path: "*/client/sign_ins")
        fault.status = 401
        fault.errorCode = "signed_out"
        bench.add(fault)
        let person = SandboxPerson(bench)
        #expect(try await bench.signIn(person).status == .active)
        #expect(bench.routes.suffix(3) == ["POST client/sign_ins", "GET client", "POST client/sign_ins"])
        #expect(person.notices == [.credentialRejected])
    }

    @Test func aKeyOfTheDeviceSignsIn() async throws {
        let signed = Locked<[String]>([])
        let point = Base64.encodeForURL([UInt8](repeating: 7, count: 32))
        let key = ClerkConfiguration.TrustedDeviceKey(
            platform: "android",
            appIdentifier: "com.example.cli",
            name: "Eva's laptop",
            publicKey: ["kty": "EC", "crv": "P-256", "x": .string(point), "y": .string(point), "alg": "ES256"]
        ) { data in
            signed.withLock { $0.append(data) }
            return [0x30, 6, 2, 1, 1, 2, 1, 1]
        }
        let bench = try ClerkSandboxBench(configuration: ClerkConfiguration(trustedDevice: key))
        _ = try await bench.signIn(SandboxPerson(bench))
        let id = try await bench.clerk.enrollTrustedDevice()
        #expect(try await bench.clerk.trustedDevices().map(\.name) == ["Eva's laptop"])
        let conflict = await #expect(throws: RecoveryError.self) { try await bench.clerk.enrollTrustedDevice() }
        #expect(conflict?.kind == .conflict)
        try await bench.clerk.signOut()
        let session = try await bench.clerk.signIn(trustedDeviceID: id, answering: SandboxPerson(bench))
        #expect(session.identifiers.contains(ClerkSandboxBench.name) && signed.withLock { $0.count } == 2)
        #expect(try await bench.clerk.trustedDevices().first?.lastUsedAt != nil)
        #expect(try await bench.clerk.isTrustedDevice(id))
        try await bench.clerk.removeTrustedDevice(id)
        #expect(try await !bench.clerk.isTrustedDevice(id))
        try await bench.clerk.signOut()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signIn(trustedDeviceID: id, answering: SandboxPerson(bench))
        }
        #expect(error?.kind == .factorUnavailable)
        let without = try ClerkSandboxBench()
        let missing = await #expect(throws: RecoveryError.self) {
            try await without.clerk.signIn(trustedDeviceID: id, answering: SandboxPerson(without))
        }
        #expect(missing?.kind == .misconfigured && without.routes.isEmpty)
    }

    // MARK: Answers

    @Test func everyRuleThatANewPasswordBreaksIsSaid() async throws {
        let bench = try ClerkSandboxBench(settings: {
            $0.passwordPolicy.requiresNumber = true
            $0.passwordPolicy.requiresUppercase = true
        })
        var request = Self.newcomer
        request.password = "short"
        let error = await #expect(throws: (any Error).self) {
            try await bench.clerk.signUp(request, answering: SandboxPerson(bench))
        }
        #expect(error is Challenge.NoAnswer)
        _ = try await bench.signIn(SandboxPerson(bench))
        let refused = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.send(
                .post,
                path: "/v1/me/change_password",
                body: .form(["new_password": "short"])
            )
        }
        let text = refused?.outcome.clerkFieldMessages["password"] ?? ""
        #expect(refused?.kind == .passwordRejected)
        #expect(text.contains("8 characters") && text.contains("a number") && text.contains("an uppercase letter"))
    }

    @Test(arguments: [SandboxFault.Kind.resetAfter, .resetBefore])
    func aLostAnswerIsLookedUpBeforeAnythingIsSaid(kind: SandboxFault.Kind) async throws {
        let bench = try ClerkSandboxBench(
            { $0.totpSecret = "JBSWY3DPEHPK3PXP" },
            settings: { $0.clientTokenGrace = 60_000 }
        )
        bench.add(SandboxFault(kind, method: "POST", path: "*/attempt_second_factor"))
        let person = SandboxPerson(bench)
        #expect(try await bench.signIn(person).status == .active)
        // What has arrived is not asked for again; what has not is.
        let count = kind == .resetAfter ? 1 : 2
        #expect(person.keys.count == count)
        #expect(bench.count("POST client/sign_ins/{id}/attempt_second_factor") == count && bench.failures == 0)
    }

    @Test(
        arguments: [
            ("saml_jit_provisioning_disabled", 404, .permissionDenied),
            ("enterprise_sso_hosted_domain_mismatch", 400, .permissionDenied),
            ("too_many_unverified_identifications", 400, .quotaExhausted),
            ("user_settings_invalid", 409, .misconfigured),
            ("code_of_tomorrow", 403, .permissionDenied), ("code_of_tomorrow", 410, .flowExpired),
            ("code_of_tomorrow", 415, .misconfigured),
        ] as [(String, Int, Outcome.Kind)]
    )
    func aCodeHasItsKindAndItsWords(code: String, status: Int, kind: Outcome.Kind) async throws {
        let bench = try ClerkSandboxBench()
        var fault = SandboxFault(.envelope, method: "POST", path: "*/client/sign_ins", times: 0)
        fault.status = status
        fault.errorCode = code
        fault.errorMessage = "Words of the server's."
        bench.add(fault)
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(SandboxPerson(bench)) }
        #expect(
            error?.kind == kind && error?.outcome.code == code && error?.outcome.message == "Words of the server's."
        )
        let isForThePerson = kind != .misconfigured && !(code == "code_of_tomorrow" && status != 403)
        #expect((error?.userMessage == "Words of the server's.") == isForThePerson)
    }
}
