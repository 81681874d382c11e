import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Scalars that join their neighbours to one character of a `String`, at every place of what a server may send.
@Suite("Joined characters in what Clerk sends")
struct ClerkGraphemeTests {
    private let mutator = ByteMutator(seed: 3)

    @Test(arguments: ClerkHostileInputTests.bodies.indices)
    func bodies(_ index: Int) {
        for text in mutator.joined(ClerkHostileInputTests.bodies[index], limit: 384) {
            for status in [200, 422] {
                let outcome = Clerked(status: status, body: text).outcome
                #expect(outcome.status == status)
                #expect((try? JSONValue(parsing: outcome.json(name: nil).description)) != nil)
            }
        }
    }

    @Test(arguments: ClerkCodeTests.passwords + ClerkCodeTests.flows + ClerkCodeTests.policies)
    func codes(row: CodeRow) {
        for text in mutator.joined(Clerked.error(row.code), limit: 48) {
            #expect(Clerked(status: row.status, body: text, path: row.path).outcome.isFailure)
        }
    }

    @Test func pathsAndFields() {
        for path in ClerkHostileInputTests.paths {
            for text in mutator.joined(path, limit: 384) {
                #expect(!ClerkClassifier().endpointClass(method: .post, path: text).isEmpty)
                let outcome = Clerked(status: 401, body: "{}", lines: [("WWW-Authenticate", text)], path: text).outcome
                #expect(outcome.isFailure)
            }
        }
    }

    @Test func addressesOfEmailLinks() async throws {
        let address = "https://app.example.com/back?__clerk_status=verified&flow_id=f1&approval_token=t1#x"
        let link = ClerkEmailLink(
            proof: try #require(OAuthClient.ProofKey(verifier: Secret(String(repeating: "v", count: 43))))
        )
        for text in mutator.joined(address, limit: 256) {
            let bench = try ClerkBench([])
            await #expect(throws: RecoveryError.self) {
                try await bench.clerk.signIn(link: link, ledTo: Secret(text), answering: Person())
            }
            #expect(bench.transport.received.count <= 1)
        }
    }

    /// The fragment is the browser's, whatever it begins with.
    @Test func aSignThatJoinsTheFragmentIsNoPartOfTheApproval() async throws {
        let link = ClerkEmailLink(
            proof: try #require(OAuthClient.ProofKey(verifier: Secret(String(repeating: "v", count: 43))))
        )
        let bench = try ClerkBench([])
        await #expect(throws: RecoveryError.self) {
            let address: Secret = "app://back?flow_id=f1&approval_token=t1#\u{301}x"
            return try await bench.clerk.signIn(link: link, ledTo: address, answering: Person())
        }
        #expect(bench.sent.first?.contains("flow_id=f1&approval_token=t1&code_verifier=") == true, "\(bench.sent)")
    }

    @Test func keys() {
        for text in mutator.joined("pk_test_ZXhhbXBsZS5jbGVyay5hY2NvdW50cy5kZXYk") {
            if let key = try? PublishableKey(text) { #expect(!"\(key)".isEmpty) }
        }
    }
}
