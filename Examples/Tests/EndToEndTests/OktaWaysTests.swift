import AuthSandbox
import HTTPRecovery
import Testing

/// The ways that an org has beside its Authentication API, and what it remembers of a device.
@Suite("auth-client --provider okta: ways", .timeLimit(.minutes(30)), .bounded)
struct OktaWaysTests {
    private static let app = ["--client-id", "cli", "--redirect-uri", "com.example.cli:/callback"]

    private static func engine(
        _ factors: [SandboxOktaUser.Factor] = [],
        options: [String] = app,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.okta(Bench.person(factors)) { bench in
            var bench = bench
            bench.options = options
            bench.sandbox.updateSettings { $0.okta.isIdentityEngine = true }
            try await body(bench)
        }
    }

    @Test func theWayIsChosen() async throws {
        try await Self.engine([.push("WAITING", "SUCCESS", number: "42")]) { bench in
            let direct = try await bench.signIn(
                Bench.eva,
                "--way",
                "direct",
                answers: Bench.answers(#""choice": "push""#)
            )
            #expect(direct.status == 0)
            #expect(direct.errors.contains("Choose the number 42 on your phone"))
            #expect(!bench.routes.contains { $0.hasPrefix("POST /idp/idx") })
            #expect(try bench.tokens["refresh_token"] != nil)
            let engine = try await bench.signIn(Bench.eva, "--way", "identity-engine", answers: Bench.answers())
            #expect(engine.status == 0 && bench.routes.contains("POST /idp/idx/challenge/answer"))
            let before = bench.routes.count
            let classic = try await bench.signIn(Bench.eva, "--way", "authentication", answers: Bench.answers())
            #expect(classic.status == 0 && bench.routes[before] == "POST /api/v1/authn")
        }
    }

    /// How the program ends that is told something it cannot take.
    private static func refusal(of bench: Bench) async throws -> Int32? {
        let program = try bench.start(["sign-in", "--identifier", Bench.eva], answers: Bench.answers())
        return await program.end().status
    }

    @Test(arguments: [
        ["--acr-values", "urn:okta:loa:2fa:any", "--max-age", "-1"],
        ["--recovery-token-env", "A", "--activation-token-env", "B"], ["--way", "sideways"], ["--way", "browser"],
        ["--remember-device", "--way", "direct", "--issuer"],
    ])
    func aWayThatIsNoneIsRefused(options: [String]) async throws {
        try await Self.engine { bench in
            var bench = bench
            bench.options += options
            let status = try await Self.refusal(of: bench)
            #expect(status == 64 && bench.routes.isEmpty)
        }
    }

    @Test func directNeedsAnApp() async throws {
        try await Self.engine(options: ["--way", "direct"]) { bench in
            let status = try await Self.refusal(of: bench)
            #expect(status == 64 && bench.routes.isEmpty)
        }
    }

    @Test func theDeviceIsRemembered() async throws {
        try await Bench.okta(.init("token:software:totp")) { bench in
            let file = bench.directory + "/device"
            let code = try #require(bench.sandbox.oktaTOTP(for: Bench.eva))
            let first = try await bench.signIn(
                Bench.eva,
                "--remember-device",
                "--device-token",
                file,
                answers: Bench.answers(#""totp": "\#(code)""#)
            )
            #expect(first.status == 0 && permissions(of: file) == 0o600)
            let token = contents(of: file)
            #expect(token.count == 33)
            let second = try await bench.signIn(Bench.eva, "--device-token", file, answers: Bench.answers())
            #expect(second.status == 0 && contents(of: file) == token)
            // From another device the factor is wanted, and nobody has an answer.
            let other = try await bench.signIn(Bench.eva, answers: Bench.answers())
            #expect(other.status == 65)
            try write("a;b\n", to: file)
            let spoilt = try await bench.signIn(Bench.eva, "--device-token", file, answers: Bench.answers())
            #expect(spoilt.status == 65)
        }
    }

    @Test func anotherIssuerIsNamed() async throws {
        try await Self.engine(options: Self.app + ["--issuer", "https://id.example.com"]) { bench in
            let run = try await bench.signIn(Bench.eva, answers: Bench.answers())
            #expect(run.status != 0 && run.report["failure"]?["code"]?.string == "issuer_mismatch")
            #expect(!names(in: bench.directory).contains("tokens.json"))
        }
    }

    @Test func consentIsAsked() async throws {
        try await Self.engine { bench in
            bench.sandbox.updateSettings { $0.okta.asksConsent = true }
            let run = try await bench.signIn(Bench.eva, answers: Bench.answers(#""text": "no""#))
            #expect(run.status == 77 && run.kind == "declined")
            let given = try await bench.signIn(Bench.eva, answers: Bench.answers(#""text": "yes""#))
            #expect(given.status == 0)
        }
    }

    /// The page of another provider leads back to the app, which listens there if that is on this machine.
    @Test func anotherProviderIsVisited() async throws {
        let port = Int.random(in: 20_000...30_000)
        let app = ["--client-id", "cli", "--redirect-uri", "http://127.0.0.1:\(port)/callback"]
        try await Self.engine(options: app) { bench in
            bench.sandbox.updateSettings { ($0.okta.identityProvider, $0.okta.providerUser) = ("only", Bench.eva) }
            var bench = bench
            let program = bench.directory + "/browser"
            try await BuiltProgram.make("#!/bin/sh\nexec curl -s -L -o /dev/null \"$1\"\n", at: program)
            bench.environment["BROWSER"] = program
            let run = try await bench.signIn(Bench.eva, answers: "{}")
            #expect(run.status == 0, "\(run.errors)")
            #expect(bench.routes.contains { $0.hasPrefix("GET /sso/idps/") })
        }
    }

    /// A link that an administrator has sent stands in the place of the password.
    @Test(arguments: ["recovery", "activation"])
    func aLinkIsFollowed(purpose: String) async throws {
        try await Self.engine { bench in
            var bench = bench
            let order: JSONValue = ["user": .string(Bench.eva), "for": .string(purpose)]
            let sent = try await BuiltProgram.run(
                "http-recover",
                ["-X", "POST", "--json", order.description, bench.sandbox.url + "/_sandbox/okta/link"]
            )
            let token = try #require(try JSONValue(parsing: sent.output)["token"]?.string)
            bench.environment["LINK"] = token
            let option = "--\(purpose)-token-env"
            let answers = #"{"new_password": "a-new-sesame-43"}"#
            let program = try bench.start(["sign-in", option, "LINK"], answers: answers)
            let run = try await bench.finish(program, secrets: [token])
            #expect(run.status == 0, "\(run.errors)")
            #expect(!bench.routes.contains("POST /idp/idx/identify"))
            let missing = try await bench.finish(bench.start(["sign-in", option, "NO_SUCH_LINK"], answers: answers))
            #expect(missing.status == 65)
        }
    }

    @Test func howStronglyIsSaid() async throws {
        try await Self.engine([.push("SUCCESS")]) { bench in
            let run = try await bench.signIn(
                Bench.eva,
                "--acr-values",
                "urn:okta:loa:2fa:any",
                "--max-age",
                "300",
                answers: Bench.answers(#""choice": "push""#)
            )
            #expect(run.status == 0, "\(run.errors)")
            let begun = try #require(bench.sandbox.requests().first { $0.path.hasSuffix("/interact") })
            #expect(begun.fields.contains("acr_values=urn:okta:loa:2fa:any"), "\(begun.fields)")
            #expect(begun.fields.contains("max_age=300"))
        }
    }
}
