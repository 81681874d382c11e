import AuthSandbox
import Glibc
import Testing

/// What the documents show of the programs is what they do.
@Suite("Sessions in the documents", .timeLimit(.minutes(30)), .bounded)
struct DocumentedSessionTests {
    static let documents = ["README.md", "Sources/HTTPRecovery/HTTPRecovery.docc/CommandLine.md"]

    @Test(arguments: documents) func theyCanBeRepeated(path: String) async throws {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let session = DocumentedSession(document: contents(of: "\(root)/\(path)"))
        #expect(session.commands.count > 5)
        let sandbox = try await AuthSandbox.start(scenario: .standard, seed: 7)
        defer { sandbox.stop() }
        try await withTemporaryDirectory { try await session.replay(with: sandbox, in: $0) }
    }

    @Test func theyShowAllProviders() {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let session = DocumentedSession(document: contents(of: root + "/README.md"))
        for provider in ["clerk", "okta", "forgerock", "facebook", "auth0", "oauth"] {
            #expect(session.commands.contains { $0.line.contains("--provider \(provider) ") })
        }
    }

    @Test func aDocumentThatIsNotTrueIsFound() async throws {
        let document = """
            ```console
            $ http-recover --help
            USAGE: something else
            ```
            """
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        try await withTemporaryDirectory { directory in
            await withKnownIssue {
                try await DocumentedSession(document: document).replay(with: sandbox, in: directory)
            }
        }
    }
}
