import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

@Suite("auth-sandbox", .timeLimit(.minutes(30)), .bounded)
struct SandboxProgramTests {
    @Test(arguments: [(SIGTERM, 0), (SIGINT, 130)] as [(Int32, Int32)])
    func itSaysWhenItIsReadyAndEndsWithASignal(signal: Int32, status: Int32) async throws {
        try await withTemporaryDirectory { directory in
            let sandbox = try BuiltProgram("auth-sandbox", ["--listen", "127.0.0.1:0", "--seed", "1"], in: directory)
            while !sandbox.output.contains("\n") { try await Task.sleep(for: .milliseconds(5)) }
            let line = String(sandbox.output.prefix { $0 != "\n" })
            try #require(line.hasPrefix("listening on http://127.0.0.1:"))
            let url = String(line.dropFirst("listening on ".count))
            let outbox = try await BuiltProgram.run("http-recover", [url + "/_sandbox/outbox"])
            #expect(outbox.status == 0)
            #expect(try JSONValue(parsing: outbox.output)["messages"]?.array?.isEmpty == true)
            let client = try await BuiltProgram.run(
                "auth-client",
                [
                    "--provider", "clerk", "--base-url", url, "sign-in", "--identifier", "ada@example.com",
                    "--password-stdin",
                ],
                input: "open-sesame-42\n"
            )
            #expect(client.status == 0)
            #expect(client.output.hasPrefix("Signed in: sess_"))
            sandbox.signal(signal)
            let end = await sandbox.end()
            #expect(end.status == status)
            #expect(end.output.contains("\nin a browser: \(url)/_sandbox/\n"))
            #expect(end.output.contains("POST /v1/client/sign_ins -> 200"))
            #expect(!end.output.contains("open-sesame-42"))
        }
    }

    @Test func itServesTheProvidersThatItIsToldTo() async throws {
        try await withTemporaryDirectory { directory in
            let arguments = ["--listen", "127.0.0.1:0", "--provider", "oauth"]
            let sandbox = try BuiltProgram("auth-sandbox", arguments, in: directory)
            while !sandbox.output.contains("\n") { try await Task.sleep(for: .milliseconds(5)) }
            let url = String(sandbox.output.prefix { $0 != "\n" }.dropFirst("listening on ".count))
            let path = "/.well-known/openid-configuration"
            let discovery = try await BuiltProgram.run("http-recover", [url + path])
            #expect(try JSONValue(parsing: discovery.output)["issuer"]?.string == url)
            let clerk = try await BuiltProgram.run("http-recover", ["--max-attempts", "1", url + "/v1/environment"])
            #expect(clerk.status == 22)
            sandbox.signal(SIGTERM)
            #expect(await sandbox.end().status == 0)
        }
    }

    @Test(arguments: ["{", #"{"user": []}"#, #"{"faults": [{"kind": "explode"}]}"#])
    func aScenarioThatIsNoneIsRefused(scenario: String) async throws {
        try await withTemporaryDirectory { directory in
            try write(scenario, to: directory + "/scenario")
            let end = try await BuiltProgram("auth-sandbox", ["--scenario", directory + "/scenario"], in: directory)
                .end()
            #expect(end.status == 65)
            #expect(end.errors.contains("/scenario: "))
            #expect(end.output.isEmpty)
        }
    }

    /// What the sandbox itself says there is, when it is asked for what is not.
    @Test(arguments: [
        #"{"kind": "html", "key": 1}"#, #"{"kind": "x"}"#, #"{"kind": "envelope", "envelope": "x"}"#,
        #"{"kind": "html", "match": {"key": 1}}"#,
    ])
    func theHelpListsWhatFaultsThereAre(fault: String) async throws {
        let error = try #require(#expect(throws: SandboxError.self) { try SandboxFault(json: fault) })
        let known = error.message.replacing("known keys: ", with: "one of ").split(separator: "one of ").last
        let help = try await BuiltProgram.run("auth-sandbox", ["--help"]).output
        let words = Set(help.split { $0.isWhitespace || ",:;()\"".contains($0) })
        let list = try #require(known?.split(separator: ", "))
        #expect(list.count > 2)
        for word in list { #expect(words.contains(word), "\(word)") }
    }

    @Test(arguments: [
        ["--listen", "nowhere"], ["--provider", "acme"], ["--seed", "-1"], ["--seed", "x"], ["--frobnicate"], ["extra"],
    ])
    func wrongUsageIsRefused(arguments: [String]) async throws {
        let end = try await BuiltProgram.run("auth-sandbox", arguments)
        #expect(end.status == 64)
        #expect(!end.errors.isEmpty)
    }
}
