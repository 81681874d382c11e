import AuthRecovery
import AuthSandbox
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import SignInSupport
import Testing
import WebAuthnTesting

/// What becomes of a sign-in whose WebAuthn ceremony has failed on the person's side.
@Suite("WebAuthn ceremonies that fail")
struct ForgeRockFailedCeremonyTests {
    #if Cryptography
    // MARK: At the sandbox

    /// The key that is there is somebody else's: the server says the same as of a wrong password.
    @Test func aKeyThatDoesNotFitIsNoWrongPassword() async throws {
        let bench = ForgeRockSandboxBench()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("WebAuthn", bench.person()) { $0.authenticator = SoftwareAuthenticator() }
        }
        #expect(error?.kind == .declined && error?.outcome.remedies == [.restartFlow])
        #expect(error?.userMessage.contains("NotAllowedError") == true)
        #expect(error?.outcome.factorResult == "NotAllowedError" && error?.outcome.message == "Login failure")
        #expect(bench.counters.sessions == 0 && bench.steps <= 3)
    }

    @Test func aKeyThatIsThereAlreadyIsNoWrongPassword() async throws {
        let bench = ForgeRockSandboxBench()
        let authenticator = SoftwareAuthenticator()
        let registered = try await bench.signIn("WebAuthnRegistration", bench.person()) {
            $0.authenticator = authenticator
        }
        #expect(registered.exists)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("WebAuthnRegistration", bench.person()) { $0.authenticator = authenticator }
        }
        #expect(error?.kind == .factorUnavailable && error?.outcome.factorResult == "InvalidStateError")
        #expect(bench.counters.ceremonies == 1)
    }

    /// A signature that the server refuses is no wrong password either, and nobody is asked for one.
    @Test func aSignatureThatIsRefusedIsARefusal() async throws {
        let bench = ForgeRockSandboxBench()
        let authenticator = SoftwareAuthenticator()
        let registered = try await bench.signIn("WebAuthnRegistration", bench.person()) {
            $0.authenticator = authenticator
        }
        #expect(registered.exists)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("WebAuthn", bench.person()) {
                $0.authenticator = ForgingAuthenticator(authenticator)
            }
        }
        #expect(error?.kind == .factorUnavailable && bench.counters.ceremonies == 1)
        #expect(error?.userMessage == "The passkey was not accepted." && error?.outcome.factorResult == nil)
    }
    #endif

    // MARK: What servers are told

    @Test(
        arguments: [
            ("ERROR::NotAllowedError:The operation was cancelled", Outcome.Kind.declined, "NotAllowedError"),
            ("ERROR::AbortError:x", .declined, "AbortError"),
            ("ERROR::TimeoutError:", .challengeExpired, "TimeoutError"),
            ("ERROR::DataError:", .factorUnavailable, "DataError"),
            ("ERROR::UnknownError:::", .factorUnavailable, "UnknownError"),
            ("ERROR::SecurityError:null", .factorUnavailable, "SecurityError"),
            ("ERROR::NotSupportedError:x", .factorUnavailable, "NotSupportedError"),
            ("unsupported", .factorUnavailable, "NotSupportedError"), ("ERROR::", .factorUnavailable, "UnknownError"),
            ("ERROR::::x", .factorUnavailable, "UnknownError"), ("ERROR::<script>", .factorUnavailable, "UnknownError"),
            // No failure on this side.
            ("{}::3,-128::48::AQI", .factorUnavailable, nil), ("false", .factorUnavailable, nil),
            // Nothing was carried out.
            ("", .invalidCredentials, nil),
        ] as [(String, Outcome.Kind, String?)]
    )
    func theEndOfACeremonyIsWhatItHasFailedFor(outcome: String, kind: Outcome.Kind, name: String?) async throws {
        for last in [
            ScriptedTransport.Step.error(401, "Login failure"), .status(401, [:], body: ""),
            .status(200, [:], body: #"{"code":401,"reason":"Unauthorized","message":"Login failure"}"#),
        ] {
            let error = try await end(last, telling: outcome)
            #expect(error?.kind == kind && error?.outcome.factorResult == name)
            if let name { #expect(error?.userMessage.contains(name) == true) }
            #expect(error?.userMessage.contains("cancelled") == false, "what a platform says stays with the server")
        }
    }

    /// What the server does say counts more, and the words of the journey's author.
    @Test(
        arguments: [
            ("Your account has been locked.", Outcome.Kind.accountLocked, nil),
            ("User not Active", .accountBlocked, nil),
            ("Bring the key that you were given.", .declined, "Bring the key that you were given."),
        ] as [(String, Outcome.Kind, String?)]
    )
    func whatTheServerSaysCountsMore(text: String, kind: Outcome.Kind, shown: String?) async throws {
        let error = try await end(.error(401, text), telling: "ERROR::NotAllowedError:")
        #expect(error?.kind == kind)
        if let shown { #expect(error?.userMessage == shown) }
    }

    /// A page that asks for a password beside the ceremony has refused that one.
    @Test func aPasswordBesideACeremonyIsRefusedAsOne() async throws {
        let error = try await end(.error(401, "Login failure"), telling: "ERROR::NotAllowedError:", beside: AM.code)
        #expect(error?.kind == .invalidCredentials)
    }

    /// How a journey ends with the outcome of its ceremony.
    private func end(
        _ last: ScriptedTransport.Step,
        telling outcome: String,
        beside callback: String? = nil
    ) async throws -> RecoveryError? {
        let bench = try ForgeRockBench([
            .step(([AM.authentication, AM.hidden] + [callback].compactMap(\.self)).joined(separator: ",")), last,
        ])
        let begun = bench.forgeRock.journey(.service("Login"))
        return await #expect(throws: RecoveryError.self) {
            var journey = begun
            guard case .step(var step) = try await journey.begin() else { return }
            step.callbacks[1].setInput(.string(outcome))
            _ = try await journey.submit(step)
        }
    }
}
