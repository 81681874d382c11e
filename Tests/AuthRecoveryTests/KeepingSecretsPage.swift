import AuthRecovery
import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The page about secrets: what it shows does what it says.
@Suite struct KeepingSecretsPage {
    /// Turns bytes around: no secrecy, but they cannot be read in passing.
    private struct Reversing: CredentialSealing {
        func seal(_ plaintext: [UInt8], at place: String) throws -> [UInt8] { plaintext.reversed() }
        func open(_ sealed: [UInt8], at place: String) throws -> [UInt8] { sealed.reversed() }
    }

    @Test func aSecretIsNotPrinted() {
        var output = ""
        func print(_ items: Any...) { output += items.map { "\($0)" }.joined(separator: " ") }
        let password: Secret = "open-sesame-42"
        print(password, [password])  // [secret] [[secret]]
        #expect(output == "[secret] [[secret]]")
    }

    @Test func aSharedStoreHoldsNoPlainToken() async throws {
        let store = InMemoryRecoveryStore()
        let client = RecoveringClient(transport: ScriptedTransport(), runtime: Runtime(store: store))
        let (id, sealing) = ("ada", Reversing())
        let tokens = SharedTokenStore(client.runtime.state, name: "user/\(id)", sealing: sealing)
        _ = try await tokens.replace(version: 0, with: Credentials(accessToken: "the-token"))
        let held = store.records.values.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(held.count == 1 && !held[0].contains("the-token"))
        #expect(try await tokens.read().credentials.accessToken == "the-token")
    }

    @Test func noOtherOriginIsShownTheToken() async throws {
        let transport = ScriptedTransport()
        let tokens = InMemoryTokenStore(Credentials(accessToken: "T"))
        let audience: Set<Origin> = [try Origin(url: "https://api.example.com")]
        let client = RecoveringClient(transport: transport) {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: audience)
        }
        for url in ["https://api.example.com/a", "https://api.example.com.evil.example/a", "http://api.example.com/a"] {
            _ = try await client.send(HTTPRequest(url: url))
        }
        #expect(transport.received.map { $0.request.headerFields[.authorization] } == ["Bearer T", nil, nil])
    }

    @Test func thePageHoldsWhatIsCompiledHere() throws {
        let root = (0..<3).reduce(URL(filePath: #filePath)) { directory, _ in directory.deletingLastPathComponent() }
        let path = root.appending(path: "Sources/AuthRecovery/AuthRecovery.docc/KeepingSecrets.md")
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).filter { !$0.isWhitespace }
        let parts = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
        #expect(parts.count == 3)
        for part in parts {
            let code = try #require(part.components(separatedBy: "```").first).filter { !$0.isWhitespace }
            let isCompiled = source.contains(code)
            #expect(isCompiled, "\(code.prefix(60))")
        }
    }
}
