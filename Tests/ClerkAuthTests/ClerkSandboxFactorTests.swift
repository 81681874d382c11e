import AuthRecovery
import AuthSandbox
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing
import WebAuthnTesting

/// What somebody can prove themselves with is set up and taken away, against a server that keeps its own books.
@Suite("Clerk's factors at the sandbox")
struct ClerkSandboxFactorTests {
    @Test func whoHasNoAccountIsSignedUpByTheProofOfTheirSignIn() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.requiredFields = ["password", "legal_accepted"] })
        let person = SandboxPerson(bench, [.newPassword: ["correct horse battery"], .text: ["yes"]])
        let session = try await bench.clerk.signInOrUp(identifier: "new@example.com", answering: person)
        #expect(
            session.status == .active && person.keys == [.emailCode, .newPassword, .text] && person.notices.isEmpty
        )
        #expect(bench.forms("POST client/sign_ins") == ["identifier=new%40example.com&sign_up_if_missing=true"])
        #expect(bench.forms("POST client/sign_ups") == ["transfer=true"])
        try await bench.clerk.signOut()
        let known = SandboxPerson(bench, choosing: ["email_code"])
        _ = try await bench.clerk.signInOrUp(identifier: "new@example.com", answering: known)
        #expect(known.keys == [.emailCode] && bench.count("POST client/sign_ups") == 1)
    }

    /// The code is spent, and where the sign-in stands tells the rest.
    @Test func aLostWordOfTheTransferIsReadAgain() async throws {
        let bench = try ClerkSandboxBench()
        bench.add(SandboxFault(.closeAfter, method: "POST", path: "*/attempt_first_factor"))
        let person = SandboxPerson(bench, [.newPassword: ["correct horse battery"]])
        _ = try await bench.clock.skippingWaits {
            try await bench.clerk.signInOrUp(identifier: "new@example.com", answering: person)
        }
        #expect(person.keys == [.emailCode, .newPassword] && bench.count("POST client/sign_ups") == 1)
    }

    @Test func whereNobodySignsUpByThemselvesTheSignInEnds() async throws {
        let bench = try ClerkSandboxBench(settings: { $0.signUpMode = "restricted" })
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signInOrUp(identifier: "new@example.com", answering: SandboxPerson(bench))
        }
        #expect(error?.kind == .misconfigured && error?.outcome.code == "sign_up_if_missing_not_allowed")
    }

    @Test func anAuthenticatorAndItsBackupCodes() async throws {
        let bench = try ClerkSandboxBench()
        _ = try await bench.signIn(SandboxPerson(bench))
        let totp = try await bench.clerk.createTOTP()
        let wrong = await #expect(throws: RecoveryError.self) { try await bench.clerk.verifyTOTP(code: "000000") }
        #expect(wrong?.kind == .challengeIncorrect)
        let first = try await bench.clerk.verifyTOTP(code: Secret(bench.code(ofAuthenticator: totp.uri)))
        try #require(first.count == 10)
        let conflict = await #expect(throws: RecoveryError.self) { try await bench.clerk.createTOTP() }
        #expect(conflict?.kind == .conflict && conflict?.outcome.code == "totp_already_enabled")
        let second = try await bench.clerk.createBackupCodes()
        try #require(second.count > 1)
        try await bench.clerk.signOut()
        // The codes before are good no more; a code is good once.
        let person = SandboxPerson(bench, [.backupCode: [first[0], second[0]]], choosing: ["backup_code"])
        #expect(try await bench.signIn(person).status == .active && person.keys == [.backupCode, .backupCode])
        try await bench.clerk.removeTOTP()
        try await bench.clerk.signOut()
        let other = SandboxPerson(bench, [.backupCode: [second[0], second[1]]])
        #expect(try await bench.signIn(other).status == .active && other.keys == [.backupCode, .backupCode])
    }

    @Test func aNumber() async throws {
        let bench = try ClerkSandboxBench()
        _ = try await bench.signIn(SandboxPerson(bench))
        let refused = await #expect(throws: RecoveryError.self) { try await bench.clerk.addPhoneNumber("12") }
        #expect(refused?.kind == .invalidRequest && refused?.outcome.parameter == "phone_number")
        let id = try await bench.clerk.addPhoneNumber("+4930123999")
        // Another code is to be had after half a minute, which is waited for.
        try await bench.clock.skippingWaits { try await bench.clerk.sendCode(toPhoneNumber: id) }
        #expect(bench.clock.requestedDelays.contains { $0 >= .seconds(30) })
        #expect(bench.count("POST me/phone_numbers/{id}/prepare_verification") == 3)
        try await bench.clerk.verifyPhoneNumber(id, code: Secret(bench.code), forSecondFactor: true)
        try await bench.clerk.signOut()
        let person = SandboxPerson(bench, choosing: ["phone_code"])
        #expect(try await bench.signIn(person).status == .active && person.keys == [.phoneCode])
        try await bench.clerk.removePhoneNumber(id)
        let gone = await #expect(throws: RecoveryError.self) { try await bench.clerk.removePhoneNumber(id) }
        #expect(gone?.kind == .notFound)
    }

    @Test func aPasskey() async throws {
        let bench = try ClerkSandboxBench(configuration: ClerkConfiguration(authenticator: PaperKey()))
        _ = try await bench.signIn(SandboxPerson(bench))
        let id = try await bench.clerk.createPasskey()
        try await bench.clerk.signOut()
        let session = try await bench.clerk.signInWithPasskey(answering: SandboxPerson(bench))
        #expect(session.identifiers.contains(ClerkSandboxBench.name))
        try await bench.clerk.removePasskey(id)
        try await bench.clerk.signOut()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.signInWithPasskey(answering: SandboxPerson(bench))
        }
        #expect(error?.kind == .factorUnavailable && error?.outcome.code == "passkey_not_registered")
    }

    #if Cryptography
    /// Clerk verifies what was signed with the key that it has seen.
    @Test func aForgedSignatureIsRefused() async throws {
        let real = SoftwareAuthenticator()
        let bench = try ClerkSandboxBench(configuration: ClerkConfiguration(authenticator: real))
        _ = try await bench.signIn(SandboxPerson(bench))
        _ = try await bench.clerk.createPasskey()
        try await bench.clerk.signOut()
        let forger = try Clerk(
            frontendAPI: "https://clerk.example.com",
            client: bench.client,
            tokens: InMemoryTokenStore(),
            configuration: ClerkConfiguration(authenticator: ForgingAuthenticator(real))
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await forger.signInWithPasskey(answering: SandboxPerson(bench))
        }
        #expect(error?.kind == .challengeIncorrect, "\(String(describing: error))")
        #expect(error?.outcome.code == "passkey_authentication_failure")
        let session = try await bench.clerk.signInWithPasskey(answering: SandboxPerson(bench))
        #expect(session.identifiers.contains(ClerkSandboxBench.name))
    }
    #endif

    // MARK: E-mail addresses

    @Test func anAddress() async throws {
        let bench = try ClerkSandboxBench()
        let clerk = bench.clerk
        _ = try await bench.signIn(SandboxPerson(bench))
        let refused = await #expect(throws: RecoveryError.self) { try await clerk.addEmailAddress("nobody") }
        #expect(refused?.kind == .invalidRequest && refused?.outcome.parameter == "email_address")
        let name = ClerkSandboxBench.name
        let taken = await #expect(throws: RecoveryError.self) { try await clerk.addEmailAddress(name) }
        #expect(taken?.kind == .conflict)
        let id = try await clerk.addEmailAddress("ada@example.org")
        let wrong = await #expect(throws: RecoveryError.self) { try await clerk.verifyEmailAddress(id, code: "0") }
        #expect(wrong?.kind == .challengeIncorrect)
        let first = try #require(try await clerk.emailAddresses().first)
        #expect(first.address == ClerkSandboxBench.name && first.isPrimary && first.isVerified)
        let early = await #expect(throws: RecoveryError.self) { try await clerk.makePrimary(emailAddress: id) }
        #expect(early?.kind == .stateConflict && early?.outcome.code == "form_verification_needed")
        try await bench.clock.skippingWaits { try await clerk.sendCode(toEmailAddress: id) }
        try await clerk.verifyEmailAddress(id, code: Secret(bench.code))
        try await clerk.makePrimary(emailAddress: id)
        let both = try await clerk.emailAddresses()
        #expect(both.map(\.address) == ["ada@example.org", ClerkSandboxBench.name])
        #expect(both.map(\.isPrimary) == [true, false] && both.allSatisfy(\.isVerified))
        // It signs in, and the one before does not any more.
        try await clerk.removeEmailAddress(first.id)
        let last = await #expect(throws: RecoveryError.self) { try await clerk.removeEmailAddress(id) }
        #expect(last?.kind == .conflict)
        try await clerk.signOut()
        let session = try await bench.clock.skippingWaits {
            try await clerk.signIn(
                identifier: "ada@example.org",
                password: ClerkSandboxBench.password,
                answering: SandboxPerson(bench)
            )
        }
        #expect(session.identifiers.contains("ada@example.org"))
        // What nobody has proved goes too, and is listed as that.
        let other = try await clerk.addEmailAddress("ada@example.net")
        #expect(try await clerk.emailAddresses().map(\.isVerified) == [true, false])
        try await clerk.removeEmailAddress(other)
        #expect(try await clerk.emailAddresses().count == 1)
        let gone = await #expect(throws: RecoveryError.self) { try await clerk.makePrimary(emailAddress: other) }
        #expect(gone?.kind == .invalidRequest && gone?.outcome.code == "form_resource_not_found")
    }

    @Test func theNumbersThatThereAre() async throws {
        let bench = try ClerkSandboxBench({ $0.phones = ["+4930123456"] })
        _ = try await bench.signIn(SandboxPerson(bench))
        let id = try await bench.clerk.addPhoneNumber("+4930123999")
        try await bench.clerk.verifyPhoneNumber(id, code: Secret(bench.code))
        try await bench.clerk.makePrimary(phoneNumber: id)
        let numbers = try await bench.clerk.phoneNumbers()
        #expect(numbers.map(\.address) == ["+4930123999", "+4930123456"] && numbers.map(\.isPrimary) == [true, false])
        #expect(numbers.allSatisfy { !$0.isSecondFactor })
    }

    // MARK: Other providers

    private static let visiting = ClerkConfiguration(redirectURL: "myapp://callback")

    @Test func aVisitProvesSomebodyAgain() async throws {
        let bench = try ClerkSandboxBench(
            { $0.firstFactors = ["password", "enterprise_sso"] },
            configuration: Self.visiting
        )
        _ = try await bench.signIn(SandboxPerson(bench))
        bench.clock.advance(by: .seconds(700))
        let person = SandboxPerson(bench, choosing: ["enterprise_sso"])
        let session = try await bench.clerk.reverify(.firstFactor, answering: person)
        #expect(session.factorVerificationAge.first == .zero && person.keys == [.redirect])
        // Somebody else's account there proves nothing here.
        bench.clock.advance(by: .seconds(700))
        let decision = "decision=allow&email=mallory%40example.com"
        let other = SandboxPerson(bench, choosing: ["enterprise_sso"], deciding: decision)
        await #expect(throws: RecoveryError.self) { try await bench.clerk.reverify(.firstFactor, answering: other) }
        let form: FormFields = ["new_password": "correct horse battery"]
        let stale = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.send(.post, path: "/v1/me/change_password", body: .form(form))
        }
        #expect(stale?.kind == .stepUpRequired)
    }

    @Test func oneOfSeveralConnectionsIsVisited() async throws {
        let bench = try ClerkSandboxBench(
            { $0.firstFactors = ["enterprise_sso", "enterprise_sso"] },
            configuration: Self.visiting
        )
        let person = SandboxPerson(bench, choosing: ["enterprise_sso"])
        #expect(try await bench.signIn(person, password: nil).status == .active && person.keys == [.redirect])
        let prepared = bench.forms("POST client/sign_ins/{id}/prepare_first_factor")
        #expect(prepared.first?.contains("enterprise_connection_id=ec_1") == true)
    }

    @Test func whoVisitsAProviderWithAnotherAddressIsSignedUp() async throws {
        let bench = try ClerkSandboxBench(
            { $0.firstFactors = ["password", "oauth_google"] },
            configuration: Self.visiting
        )
        let decision = "decision=allow&email=new%40example.com"
        let person = SandboxPerson(bench, choosing: ["oauth_google"], deciding: decision)
        let session = try await bench.signIn(person, password: nil)
        #expect(session.identifiers.contains("new@example.com"))
    }

    @Test func somethingSensitiveWantsAProofOfLate() async throws {
        let bench = try ClerkSandboxBench()
        _ = try await bench.signIn(SandboxPerson(bench))
        bench.clock.advance(by: .seconds(700))
        let form: FormFields = ["new_password": "correct horse battery"]
        let alone = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.send(.post, path: "/v1/me/change_password", body: .form(form))
        }
        #expect(alone?.kind == .stepUpRequired)
        let person = SandboxPerson(bench, [.password: [ClerkSandboxBench.password]])
        let response = try await bench.clerk.send(
            .post,
            path: "/v1/me/change_password",
            body: .form(form),
            answering: person
        )
        #expect(response.status == .ok && person.keys == [.password])
        #expect(bench.count("POST me/change_password") == 3)
    }
}

/// A passkey for the sandbox's host, whose signature nobody checks.
private struct PaperKey: WebAuthn.Authenticator {
    /// The SHA-256 of `clerk.example.com`.
    private static let party: [UInt8] = [
        0xAA, 0x8E, 0x3A, 0x60, 0x64, 0xC4, 0x42, 0x0C, 0xED, 0x11, 0xFF, 0x32, 0x5B, 0x3C, 0x18, 0x29,
        0xF9, 0x8C, 0x44, 0xC0, 0x59, 0xD0, 0xF4, 0xD4, 0x33, 0xB7, 0x6B, 0xA2, 0xE5, 0xCE, 0xD9, 0x23,
    ]

    func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        WebAuthn.Attestation(
            credentialID: Array("key-1".utf8),
            clientDataJSON: WebAuthn.ClientData(.create, challenge: request.challenge, origin: request.origin).json,
            attestationObject: [1]
        )
    }

    func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        WebAuthn.Assertion(
            credentialID: Array("key-1".utf8),
            clientDataJSON: WebAuthn.ClientData(.get, challenge: request.challenge, origin: request.origin).json,
            authenticatorData: Self.party + [0x05, 0, 0, 0, 1],
            signature: [1]
        )
    }
}
