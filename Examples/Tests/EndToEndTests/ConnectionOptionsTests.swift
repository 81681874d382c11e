import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// How `auth-client` reaches a server: whom it trusts, what it shows, and by which way.
@Suite("auth-client's connections", .timeLimit(.minutes(30)), .bounded)
struct ConnectionOptionsTests {
    private static let openssl = "/usr/bin/openssl"
    private static var hasOpenSSL: Bool { unsafe access(openssl, X_OK) == 0 }

    /// A server that shows a certificate nobody has heard of, and wants one itself; it answers whatever it is asked.
    private func withServer(_ body: (_ url: String, _ directory: String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let (key, certificate) = (directory + "/key.pem", directory + "/cert.pem")
            let made = try await BuiltProgram.run(
                Self.openssl,
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
                ]
            )
            try #require(made.status == 0, "\(made.errors)")
            let serving = directory + "/server"
            try #require(unsafe mkdir(serving, 0o700) == 0)
            let server = try BuiltProgram(
                Self.openssl,
                [
                    "s_server", "-accept", "0", "-key", key, "-cert", certificate, "-CAfile", certificate, "-Verify",
                    "1",
                    "-verify_return_error", "-WWW",
                ],
                in: serving,
                input: nil
            )
            defer { server.signal(SIGKILL) }
            var port: Substring?
            while port == nil {
                try await Task.sleep(for: .milliseconds(5))
                let line = server.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().last {
                    $0.hasPrefix("ACCEPT")
                }
                port = line?.split(separator: ":").last
            }
            try await body("https://127.0.0.1:\(port ?? "")", directory)
        }
    }

    @Test(.enabled(if: hasOpenSSL, "openssl makes the certificates, and serves"))
    func aCertificateIsTrustedAndAnotherIsShown() async throws {
        try await withServer { url, directory in
            func ask(_ options: String...) async throws -> BuiltProgram.End {
                try await BuiltProgram.run(
                    "auth-client",
                    ["--provider", "clerk", "--base-url", url, "--no-token-file", "--deadline", "5", "--json"] + options
                        + ["environment"]
                )
            }
            func kind(_ end: BuiltProgram.End) -> String? {
                (try? JSONValue(parsing: end.output))?["failure"]?["kind"]?.string
            }
            let (key, certificate) = (directory + "/key.pem", directory + "/cert.pem")
            let unknown = try await ask()
            #expect(unknown.status == 69 && kind(unknown) == "transport")
            #expect(unknown.errors.contains("--cacert FILE"), "\(unknown.errors)")
            let unshown = try await ask("--cacert", certificate)
            #expect(unshown.status == 69 && !unshown.errors.contains("--cacert"), "\(unshown.errors)")
            // What it answers is nothing that Clerk would say; but it has answered.
            let shown = try await ask("--cacert", certificate, "-E", certificate, "--key", key)
            #expect(kind(shown) == "unreadable", "\(shown)")
        }
    }

    @Test func whatCannotBeIsSaidBeforeAnythingIsSent() async throws {
        for (options, word) in [
            (["--cert", "/nonexistent/c.pem"], "/nonexistent/c.pem"),
            (["--cacert", "/nonexistent"], "/nonexistent"),
            (["--key", "/dev/null"], "--cert"), (["-U", "a:b"], "--proxy"),
            (["--proxy", "http://a:1", "--proxy-env", "HOME"], "contradict"),
            (["--resolve", "a"], "HOST:PORT:ADDRESS"),
        ] {
            let end = try await BuiltProgram.run(
                "auth-client",
                ["--provider", "clerk", "--base-url", "http://127.0.0.1:1", "--no-token-file"] + options + ["status"]
            )
            // A file that is not there is no wrong usage.
            let status: Int32 = word.hasPrefix("/") ? 65 : 64
            #expect(end.status == status && end.errors.contains(word), "\(options) \(end)")
        }
    }

    /// The host of the base URL has no address; the option says where it is.
    @Test func aHostIsReachedElsewhere() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        let port = sandbox.url.split(separator: ":").last.map(String.init) ?? ""
        try await withTemporaryDirectory { directory in
            for options in [
                ["--connect-to", "auth.invalid:80:127.0.0.1:\(port)"], ["--proxy", sandbox.url],
            ] {
                let end = try BuiltProgram(
                    "auth-client",
                    ["--provider", "clerk", "--base-url", "http://auth.invalid", "--no-token-file"] + options
                        + ["environment"],
                    in: directory
                )
                let result = await end.end()
                #expect(result.status == 0, "\(options) \(result)")
            }
        }
    }

    @Test func aJourneyThatWantsACertificateSaysHowOneIsShown() async throws {
        try await AM.run { bench in
            let run = try await bench.finish(
                bench.start(["--journey", "Certificate", "sign-in"], answers: AM.password)
            )
            #expect(run.status != 0 && run.errors.contains("--cert FILE"), "\(run.errors)")
        }
    }
}
