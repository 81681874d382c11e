import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The name of the session's cookie is the server's to tell; until it has, no refusal says anything about the session.
@Suite("The name of the session's cookie")
struct ForgeRockCookieNameTests {
    private let held = Credentials(ssoToken: "S1")

    /// What stands in the place of the server's information and says nothing about the cookie's name.
    static let uninformed: [(String, ScriptedTransport.Step)] = [
        ("maintenance page", .status(200, ["content-type": "text/html"], body: "<html>Back soon</html>")),
        ("403 page", .status(403, ["content-type": "text/html"], body: "<html>Blocked</html>")),
        ("403", .error(403, "Forbidden")), ("404", .error(404, "Not Found")),
        ("unreadable", .status(200, [:], body: "{")),
        ("no name", .status(200, [:], body: #"{"domains":[]}"#)),
        ("no name of a cookie", .status(200, [:], body: #"{"cookieName":"a b"}"#)),
    ]

    /// Under a wrong name the server has not seen the session that it seems to refuse.
    @Test(arguments: uninformed.indices)
    func aSessionIsNotClearedUnderANameThatTheServerDidNotTell(index: Int) async throws {
        let (name, page) = Self.uninformed[index]
        let told = ScriptedTransport.Step.status(200, [:], body: #"{"cookieName":"a1b2"}"#)
        let bench = try ForgeRockBench(
            [page, .error(401, "Access Denied"), told, .information, .information],
            credentials: held,
            cookieName: nil
        )
        let error = await #expect(throws: RecoveryError.self, "\(name)") {
            try await bench.forgeRock.session()
        }
        #expect(error?.kind == .credentialRejected && error?.outcome.tokenAction == .keep, "\(name)")
        #expect(try await bench.credentials == held, "\(name)")
        #expect(!bench.events.words.contains("clear session"), "\(name)")
        // As soon as the server tells the name, it holds.
        #expect(try await bench.forgeRock.session()?.username == "ada", "\(name)")
        #expect(try await bench.forgeRock.session()?.username == "ada", "\(name)")
        let cookies = bench.transport.received.map { $0.request.headerFields[.cookie] }
        #expect(cookies == [nil, "iPlanetDirectoryPro=S1", nil, "a1b2=S1", "a1b2=S1"], "\(name)")
    }

    @Test func nothingThatIsAskedUnderAnAssumedNameEndsTheSession() async throws {
        let page = Self.uninformed[0].1
        let denied = ScriptedTransport.Step.error(401, "Access Denied")
        let steps = [page, denied, page, denied, page, denied, page, denied, page, denied]
        let calls: [(String, @Sendable (ForgeRock) async throws -> Void)] = [
            ("send", { _ = try await $0.send(path: "/json/realms/root/users/ada") }),
            ("extend", { _ = try await $0.extendSession() }), ("refresh", { try await $0.refresh() }),
            ("sign out", { try await $0.signOut() }),
        ]
        for (name, call) in calls {
            let bench = try ForgeRockBench(steps, credentials: held, cookieName: nil)
            let error = await #expect(throws: RecoveryError.self, "\(name)") { try await call(bench.forgeRock) }
            #expect(error?.kind == .credentialRejected, "\(name)")
            #expect(error?.outcome.tokenAction == .keep, "\(name)")
            #expect(try await bench.credentials == held, "\(name)")
        }
        let oauth = try ForgeRockBench(steps, credentials: held, oauth: ForgeRockBench.oauth, cookieName: nil)
        await #expect(throws: RecoveryError.self) {
            try await oauth.skippingPauses { try await oauth.forgeRock.accessToken() }
        }
        #expect(try await oauth.credentials == held)
    }
}
