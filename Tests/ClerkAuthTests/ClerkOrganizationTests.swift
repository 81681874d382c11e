import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// The organizations that a session can be pending for.
@Suite struct ClerkOrganizationTests {
    private typealias Step = ScriptedTransport.Step

    private static func session(_ status: String, _ tasks: String) -> String {
        """
        {"object":"session","id":"sess_1","status":"\(status)","tasks":[\(tasks)],"user":{"id":"user_1",\
        "create_organization_enabled":true,"email_addresses":[{"email_address":"ada@example.com"}]}}
        """
    }

    private static func answer(_ response: String, client: String = "null") -> Step {
        .status(200, [:], body: #"{"response":\#(response),"client":\#(client)}"#)
    }

    private static let pending = answer(
        #"{"object":"sign_in_attempt","id":"sia_1","status":"complete","created_session_id":"sess_1"}"#,
        client: """
            {"object":"client","id":"client_1","sessions":[\(session("pending", #"{"key":"choose-organization"}"#))],\
            "sign_in":null,"last_active_session_id":"sess_1"}
            """
    )
    private static let own = answer(
        #"{"data":[{"organization":{"object":"organization","id":"org_1","name":"Acme","slug":"acme"}}]}"#
    )
    private static let none = answer(#"{"data":[]}"#)

    @Test func whoIsInOneAlreadyMayNameANewOne() async throws {
        let bench = try ClerkBench([
            Self.pending, Self.own, Self.none, Self.none,
            Self.answer(#"{"object":"organization","id":"org_9","name":"Beta"}"#),
            Self.answer(Self.session("active", "")),
        ])
        let person = Person([.text: "Beta"], choosing: .text)
        #expect(try await bench.signIn("hunter2", person).status == .active)
        #expect(person.questions.map(\.prompt) == ["Name of the new organization"])
        #expect(
            bench.sent.suffix(2) == [
                "POST /organizations name=Beta",
                "POST /client/sessions/sess_1/touch intent=select_org&active_organization_id=org_9",
            ]
        )
    }

    /// Whoever leaves the choice to the sign-in stays among their own.
    @Test func nobodyGetsANewOneUnasked() async throws {
        let bench = try ClerkBench([
            Self.pending, Self.own, Self.none, Self.none, Self.answer(Self.session("active", "")),
        ])
        #expect(try await bench.signIn("hunter2", Person()).status == .active)
        #expect(bench.sent.last?.hasSuffix("active_organization_id=org_1") == true)
    }
}
