import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The examples of the articles, compiled and run.
@Suite struct DocumentationExamples {
    @Test func signingIn() async throws {
        let transport = ScriptedTransport([
            .complete(), .client(["sess_1"]), .status(200, [:], body: "{}"), .status(200),
        ])
        let client = RecoveringClient(transport: transport)
        let key = "pk_test_Y2xlcmsuZXhhbXBsZS5jb20k"
        let store = InMemoryTokenStore()
        let (email, password, prompts) = ("ada@example.com", Secret("hunter2"), Person())

        let clerk = try Clerk(publishableKey: key, client: client, tokens: store)
        let session = try await clerk.signIn(identifier: email, password: password, answering: prompts)

        if let session = try await clerk.currentSession() {
            print("signed in until", session.expireAt?.rfc3339 ?? "further notice")
        }
        let me = try await clerk.send(path: "/v1/me")
        try await clerk.signOut()

        #expect(session.id == "sess_1")
        #expect(me.status == .ok)
        #expect(await store.read().credentials == Credentials(clientToken: "T1"))
    }
}
