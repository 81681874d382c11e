import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("A sign-in in place of a dead token at Facebook")
struct FacebookRecoveryTests {
    private static let post = ProviderRequest(.post, path: "me/feed", body: .form(["message": "x"]))

    private static func known(_ permissions: String, id: String? = "1") -> Credentials {
        var credentials = Credentials(accessToken: "tok1")
        if let id { credentials.others.append(.init("facebook_profile", ["id": .string(id)])) }
        if let list = try? JSONValue(parsing: permissions) {
            credentials.others.append(.init("facebook_permissions", list))
        }
        return credentials
    }

    private static let info = ScriptedTransport.Step.answer(
        #"{"data":{"is_valid":false,"app_id":"77","user_id":"1","scopes":["email","user_posts","openid"],"error":{"code":190,"subcode":463}}}"#
    )

    /// What the dead token was allowed is asked for, and not what the configuration says.
    @Test func theSignInAsksForWhatTheTokenHad() async throws {
        let list =
            #"[{"permission":"email","status":"granted"},{"permission":"user_posts","status":"unknown"},{"permission":"x","status":"declined"}]"#
        let bench = try FacebookBench(
            [.error(190, 463), .device, .token(), .me, .permissions, .answer("{}")],
            credentials: Self.known(list)
        )
        _ = try await bench.skippingWaits { try await bench.facebook.send(path: "me/feed", answering: Person()) }
        #expect(bench.sent[1].hasSuffix("scope=email%2Cuser_posts"))
    }

    @Test func whatASignInHasAskedForIsAskedForAgain() async throws {
        let bench = try FacebookBench(
            [
                .device, .token(), .me, .permissions, .error(190, 463), .device, .token("tok3"), .me, .permissions,
                .answer("{}"),
            ],
            credentials: Credentials()
        )
        try await bench.skippingWaits {
            _ = try await bench.facebook.signIn(permissions: ["email"], answering: Person())
            _ = try await bench.facebook.send(Self.post, answering: Person())
        }
        #expect(bench.sent[5].hasSuffix("scope=email"))
        // Whoever signs out is forgotten with it.
        try await bench.facebook.signOut()
        #expect(try await bench.credentials == Credentials())
    }

    @Test func ofATokenOfWhichNothingIsKnownFacebookIsAsked() async throws {
        let bench = try FacebookBench(
            [.error(190, 463), Self.info, .device, .token(), .me, .permissions, .answer(#"{"id":"9"}"#)],
            app: FacebookBench.service
        )
        let response = try await bench.skippingWaits { try await bench.facebook.send(Self.post, answering: Person()) }
        #expect(response.status == .ok)
        #expect(bench.sent[2].hasSuffix("scope=email%2Cuser_posts"))
        #expect(bench.sent.filter { $0.hasPrefix("POST /v25.0/me/feed") }.count == 2)
    }

    /// Without an answer the configuration's permissions are asked for, and a write is not made for who knows whom.
    @Test func whenNobodyKnowsTheWriteIsLeftToThePerson() async throws {
        for (app, steps) in [(FacebookBench.app, []), (FacebookBench.service, [ScriptedTransport.Step.error(100)])] {
            let bench = try FacebookBench(
                [.error(190, 463)] + steps + [.device, .token(), .me, .answer("{}")],
                app: app
            )
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.skippingWaits { try await bench.facebook.send(Self.post, answering: Person()) }
            }
            #expect(error?.reason == .identityChanged && error?.kind == .stateConflict)
            #expect(error?.userMessage == "You are signed in now. Please do this once more.")
            #expect(bench.sent.filter { $0.hasPrefix("POST /v25.0/me/feed") }.count == 1)
            #expect(bench.sent.contains { $0.hasSuffix("scope=public_profile") })
            #expect(try await bench.credentials.accessToken == "tok2")
            // Then it goes out.
            _ = try await bench.facebook.send(Self.post, answering: nil)
        }
    }

    @Test func aReadIsMadeForWhoeverSignsInUnlessItIsAnother() async throws {
        let bench = try FacebookBench([.error(190, 463), .device, .token(), .me, .answer("{}")])
        _ = try await bench.skippingWaits { try await bench.facebook.send(path: "me/feed", answering: Person()) }
        let other = try FacebookBench(
            [.error(190, 463), .device, .token(), .answer(#"{"id":"2"}"#), .answer("{}")],
            credentials: FacebookBench.ada
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await other.skippingWaits { try await other.facebook.send(path: "me/feed", answering: Person()) }
        }
        #expect(error?.reason == .identityChanged)
    }

    /// If it cannot be read who has signed in, nobody knows either.
    @Test func aProfileThatCannotBeReadProvesNobody() async throws {
        let bench = try FacebookBench(
            [.error(190, 463), .device, .token(), .error(100), .answer("{}")],
            credentials: FacebookBench.ada
        )
        await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.send(Self.post, answering: Person()) }
        }
        #expect(bench.sent.filter { $0.hasPrefix("POST /v25.0/me/feed") }.count == 1)
    }

    /// What was presented nothing for was made for nobody: whoever signs in makes it.
    @Test func aCallWithoutATokenGoesOutForWhoeverSignsIn() async throws {
        let bench = try FacebookBench([.device, .token(), .me, .answer("{}")], credentials: Credentials())
        _ = try await bench.skippingWaits { try await bench.facebook.send(Self.post, answering: Person()) }
        #expect(bench.sent.filter { $0.hasPrefix("POST /v25.0/me/feed") }.count == 1)
    }

    @Test func anotherProcessesTokenIsUsedForAWriteOnlyIfItIsKnownWhose() async throws {
        for (credentials, count) in [(FacebookBench.held, 1), (FacebookBench.ada, 2)] {
            let tokens = InMemoryTokenStore(credentials)
            let bench = try FacebookBench(
                [
                    .run { _ in
                        try await tokens.update { $0.accessToken = "tok9" }
                        return .scripted(400, body: Recorded.error(190, 463))
                    }, .answer("{}"),
                ],
                tokens: tokens
            )
            do {
                _ = try await bench.facebook.send(Self.post, answering: nil)
                #expect(count == 2)
            } catch let error as RecoveryError {
                #expect(count == 1 && error.reason == .identityChanged)
            }
            #expect(bench.transport.received.count == count)
        }
    }

    @Test(arguments: [(493, "reauthorize"), (463, nil)] as [(Int, String?)])
    func theDialogIsToldWhy(subcode: Int, authType: String?) async throws {
        let bench = try FacebookBench(
            [.error(190, subcode), .token(), .me, .permissions, .answer("{}")],
            app: FacebookBench.service,
            credentials: Self.known(#"[{"permission":"email","status":"granted"}]"#),
            configuration: FacebookWebLoginTests.configuration
        )
        let browser = Browser("http://127.0.0.1:5000/back?code=c1&state=STATE")
        _ = try await bench.facebook.send(Self.post, answering: browser)
        #expect(browser.queries[0]["auth_type"] == authType)
        #expect(browser.queries[0]["scope"] == "email")
        #expect(bench.presented.last == "Bearer tok2")
    }
}
