import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@Suite("What is known of Facebook's tokens")
struct FacebookTokenTests {
    private static func inspected(_ more: String) async throws -> FacebookTokenInfo {
        let body =
            #"{"data":{"app_id":"77","type":"USER","is_valid":true,"scopes":["email","pages_show_list"]\#(more)}}"#
        let bench = try FacebookBench([.answer(body)], app: FacebookBench.service)
        return try await bench.facebook.inspect()
    }

    @Test func aPermissionMayHoldForSomeObjectsOnly() async throws {
        let list =
            #"[{"scope":"pages_show_list","target_ids":["5",6]},{"scope":"pages_read","target_ids":[]},{"x":1},7]"#
        let info = try await Self.inspected(#","granular_scopes":\#(list)"#)
        #expect(
            info.granularScopes == [
                .init(name: "pages_show_list", targetIDs: ["5", "6"]), .init(name: "pages_read", targetIDs: []),
            ]
        )
        #expect(info.grants("pages_show_list"))
        #expect(info.grants("pages_show_list", for: "6"))
        #expect(!info.grants("pages_show_list", for: "7"))
        #expect(!info.grants("pages_read", for: "5"))
        #expect(info.grants("email") && info.grants("email", for: "5"))
        #expect(!info.grants("user_posts"))
    }

    @Test func withoutObjectsItHoldsForAll() async throws {
        let info = try await Self.inspected(#","granular_scopes":[{"scope":"pages_show_list"}]"#)
        #expect(info.granularScopes == [.init(name: "pages_show_list")])
        #expect(info.grants("pages_show_list", for: "7"))
        #expect(try await Self.inspected("").granularScopes.isEmpty)
    }

    private static let end = Timestamp(secondsSinceEpoch: 1_900_000_000)

    private static func token(_ name: String, _ more: String) -> ScriptedTransport.Step {
        .answer(#"{"access_token":"\#(name)","expires_in":5183999\#(more)}"#)
    }

    @Test func theEndOfTheAccessToDataIsKeptBesideTheToken() async throws {
        let bench = try FacebookBench(
            [
                .device, Self.token("tok2", #","data_access_expiration_time":1900000000"#), .me, Self.token("tok3", ""),
                .error(190, 463),
            ],
            app: FacebookBench.service,
            credentials: Credentials()
        )
        let session = try await bench.skippingWaits { try await bench.facebook.signIn(answering: Person()) }
        #expect(session.dataAccessExpiresAt == Self.end)
        // An exchange lets the token live longer, and says nothing of the data.
        let renewed = try await bench.facebook.refresh()
        #expect(renewed.dataAccessExpiresAt == Self.end)
        #expect(try await bench.credentials.accessToken == "tok3")
        // It goes with the token.
        _ = try await bench.facebook.currentUser()
        #expect(try await bench.credentials.others.map(\.key) == ["facebook_permissions"])
    }

    @Test(arguments: ["0", "null", "\"x\"", "-1"])
    func aTimeThatIsNoneLimitsNothing(value: String) async throws {
        let bench = try FacebookBench(
            [.device, Self.token("tok2", #","data_access_expiration_time":\#(value)"#), .me],
            credentials: Credentials()
        )
        let session = try await bench.skippingWaits { try await bench.facebook.signIn(answering: Person()) }
        #expect(session.dataAccessExpiresAt == nil)
    }
}
