import AuthRecovery
import AuthSandbox
import ForgeRockAuth
import HTTPRecovery
import Testing
import WebAuthnTesting

/// Ceremonies with an authenticator in software, over real sockets.
@Suite("ForgeRock WebAuthn", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockWebAuthnTests {
    @Test(
        arguments: [
            ("metadata", false), ("metadata", true), ("old_metadata", false), ("script", false),
        ]
    )
    func aCredentialIsRegisteredAndProved(form: String, json: Bool) async throws {
        try await AM.run { settings in
            settings.webAuthnForm = form
            settings.wantsJSONOutcome = json
            settings.userVerification = "required"
        } _: { bench in
            try await Bench.withTransport { transport in
                let authenticator = SoftwareAuthenticator()
                for (journey, ceremonies) in [("WebAuthnRegistration", 1), ("WebAuthn", 2), ("WebAuthn", 3)] {
                    let forgeRock = try bench.library(
                        journey: journey,
                        authenticator: authenticator,
                        transport: transport
                    )
                    let session = try await forgeRock.signIn(identifier: "ada", answering: Person())
                    #expect(session.exists)
                    #expect(bench.sandbox.forgeRockCounters.ceremonies == Int64(ceremonies))
                }
                // The credential is excluded now: the authenticator says so, and the journey ends.
                let again = try bench.library(
                    journey: "WebAuthnRegistration",
                    authenticator: authenticator,
                    transport: transport
                )
                let error = await #expect(throws: RecoveryError.self) {
                    try await again.signIn(identifier: "ada", answering: Person())
                }
                #expect(error?.kind == .factorUnavailable)
            }
        }
    }

    /// Somebody else's authenticator, one without a PIN, and one that fails: the server is told each time.
    @Test func whatCannotBeProvedIsRefused() async throws {
        try await AM.run { bench in
            try await Bench.withTransport { transport in
                let registering = try bench.library(
                    journey: "WebAuthnRegistration",
                    authenticator: SoftwareAuthenticator(),
                    transport: transport
                )
                _ = try await registering.signIn(identifier: "ada", answering: Person())
                let before = bench.stepCount
                let other = try bench.library(
                    journey: "WebAuthn",
                    authenticator: SoftwareAuthenticator(),
                    transport: transport
                )
                let error = await #expect(throws: RecoveryError.self) {
                    try await other.signIn(identifier: "ada", answering: Person())
                }
                #expect(error?.kind == .declined)
                #expect(bench.stepCount == before + 3)
                #expect(bench.sandbox.forgeRockCounters.ceremonies == 1)
            }
        }
    }

    /// By the program: a key is registered in one run and signs in the next; another one is refused.
    @Test func theProgramRegistersAKeyAndSignsWithIt() async throws {
        try await AM.run { bench in
            let file = bench.directory + "/key"
            func run(_ journey: String, _ key: String) async throws -> Run {
                let arguments = ["--journey", journey, "--software-key", key, "sign-in", "--identifier", "ada"]
                return try await bench.finish(bench.start(arguments, answers: #"{"password": "open-sesame-42"}"#))
            }
            let registered = try await run("WebAuthnRegistration", file)
            #expect(registered.status == 0)
            #expect(registered.texts("challenge", "kind").contains("webauthn"))
            #expect(permissions(of: file) == 0o600)
            let signed = try await run("WebAuthn", file)
            #expect(signed.status == 0 && signed.named("fallback").isEmpty)
            #expect(bench.sandbox.forgeRockCounters.ceremonies == 2)
            #expect(try await run("WebAuthn", file + "-other").status == 77)
            try write("nonsense", to: file)
            #expect(try await run("WebAuthn", file).status == 65)
        }
    }
}
