import AuthRecovery
import AuthSandbox
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Signing in and limits at a server that behaves like Graph.
@Suite("Facebook at the sandbox", .timeLimit(.minutes(10)))
struct FacebookSandboxTests {
    private typealias Line = FacebookSandbox

    // MARK: Web login

    @Test func theDialogLeadsToASession() async throws {
        try await Line.run(holdsToken: false) { line in
            let browser = line.browser(declining: ["user_photos"])
            let session = try await line.facebook.signIn(
                permissions: ["public_profile", "email", "user_photos"],
                answering: browser
            )
            #expect(session.user?.id == line.sandbox.facebookID(of: Line.ada))
            #expect(session.permissions.filter { $0.status == .granted }.map(\.name) == ["public_profile", "email"])
            #expect(session.permissions.filter { $0.status == .declined }.map(\.name) == ["user_photos"])
            #expect(session.dataAccessExpiresAt != nil && line.sandbox.facebookCounters.codes == 1)
        }
    }

    /// An app without its secret is let in by the proof key alone.
    @Test func aProofKeyStandsForTheSecret() async throws {
        try await Line.run(holdsToken: false, hasSecret: false) { line in
            _ = try await line.facebook.signIn(answering: line.browser())
            #expect(try await line.facebook.session()?.user?.name != nil)
            let exchange = line.sandbox.requests().first { $0.path.hasSuffix("/oauth/access_token") }
            #expect(exchange != nil)
        }
    }

    /// The login errors of the vendor's SDK that only an answer over the wire can bring: each by its number, and nobody signed in.
    @Test(arguments: [
        ("unknown_error", FacebookLoginError.unknown, 0), ("other_state", .badChallengeString, 0),
        ("other_nonce", .invalidIDToken, 1), ("other_issuer", .invalidIDToken, 1),
        ("other_audience", .invalidIDToken, 1), ("ended_token", .invalidIDToken, 1),
    ])
    func aLoginErrorHasItsNumber(fault: String, expected: FacebookLoginError, exchanges: Int) async throws {
        var settings = SandboxFacebookSettings()
        settings.loginFault = fault
        try await Line.run(holdsToken: false, hasSecret: false, settings: settings) { line in
            let error = await line.outcome { try await line.facebook.signIn(answering: line.browser()) }
            #expect(error.flatMap { FacebookLoginError($0) } == expected)
            #expect(line.sandbox.facebookCounters.codes == exchanges)
            #expect(await line.tokens.read().credentials.accessToken == nil)
            // What was wrong was the answer: the next one, without a fault, signs in.
            line.sandbox.updateSettings { $0.facebook.loginFault = "none" }
            _ = try await line.facebook.signIn(answering: line.browser())
            #expect(await line.tokens.read().credentials.accessToken != nil)
        }
    }

    /// Where the dialog's answer does not tell what was declined, Facebook is asked; so it is after a device login.
    @Test(arguments: [true, false])
    func whatWasDeclinedIsKnownThoughTheAnswerDoesNotTell(isInBrowser: Bool) async throws {
        var settings = SandboxFacebookSettings()
        settings.loginFault = "no_scopes"
        settings.device = .init(polls: 0, user: Line.ada)
        let configuration = FacebookConfiguration(webLogin: isInBrowser ? .init(redirectURI: Line.back) : nil)
        try await Line.run(
            declines: ["user_photos"],
            holdsToken: false,
            settings: settings,
            configuration: configuration
        ) { line in
            let session = try await line.skippingWaits {
                try await line.facebook.signIn(
                    permissions: ["public_profile", "email", "user_photos"],
                    answering: isInBrowser ? line.browser(declining: ["user_photos"]) : Person()
                )
            }
            #expect(session.permissions.first { $0.name == "email" }?.status == .granted)
            #expect(session.permissions.first { $0.name == "user_photos" }?.status == .declined)
            #expect(line.count("/v25.0/me/permissions") == 1)
        }
    }

    /// The dialog skips silently what was declined before, unless it is asked for again.
    @Test func whatWasDeclinedIsAskedForAgain() async throws {
        try await Line.run(holdsToken: false) { line in
            func signIn(
                _ authType: FacebookConfiguration.WebLogin.AuthType?,
                _ browser: SandboxBrowser
            ) async throws -> FacebookPermission.Status? {
                let session = try await line.facebook.signIn(
                    permissions: ["email"],
                    authType: authType,
                    answering: browser
                )
                return session.permissions.first { $0.name == "email" }?.status
            }
            let first = try await signIn(nil, line.browser(declining: ["email"]))
            let second = try await signIn(nil, line.browser())
            let third = try await signIn(.rerequest, line.browser())
            #expect([first, second, third] == [.declined, .declined, .granted])
        }
    }

    /// What a call needs is asked for again although it was declined once, and nothing else that was.
    @Test func aCallThatNeedsWhatWasDeclinedHasItAskedForAgain() async throws {
        let table = #"[{"name":"login_recoverable","items":[{"code":200}]}]"#
        var configuration = FacebookConfiguration(webLogin: .init(redirectURI: Line.back))
        configuration.errors = FacebookErrorConfiguration(try JSONValue(parsing: table))
        try await Line.run(holdsToken: false, configuration: configuration) { line in
            let declined: Set = ["ads_management", "user_posts"]
            _ = try await line.facebook.signIn(
                permissions: ["email", "ads_management", "user_posts"],
                answering: line.browser(declining: declined)
            )
            let browser = line.browser()
            let response = try await line.skippingWaits {
                try await line.facebook.send(path: "act_1/insights", answering: browser)
            }
            #expect(response.status == .ok)
            #expect(browser.value("auth_type") == "rerequest")
            let scope = browser.value("scope")?.split(separator: ",").map(String.init) ?? []
            #expect(scope.contains("ads_management") && scope.contains("email") && !scope.contains("user_posts"))
        }
    }

    @Test func aNoIsANo() async throws {
        try await Line.run { line in
            let held = await line.tokens.read().credentials
            let error = await #expect(throws: RecoveryError.self) {
                try await line.facebook.signIn(answering: line.browser(saysNo: true))
            }
            #expect(error?.kind == .declined && error?.outcome.tokenAction == .keep)
            #expect(await line.tokens.read().credentials == held)
        }
    }

    /// Whoever is asked again is asked for what the dead token had, whatever the configuration says.
    @Test func aRecoveryAsksForTheDeadTokensPermissions() async throws {
        try await Line.run(permissions: ["public_profile", "email", "user_posts"]) { line in
            _ = try await line.facebook.session()
            try line.sandbox.setFacebookTokens(.passwordChanged, of: Line.ada)
            let browser = line.browser()
            let response = try await line.skippingWaits {
                try await line.facebook.send(path: "me/permissions", answering: browser)
            }
            #expect(response.status == .ok)
            let asked = Set(browser.value("scope")?.split(separator: ",").map(String.init) ?? [])
            #expect(asked == ["public_profile", "email", "user_posts"])
        }
    }

    /// A refused post goes out again for the person who is known to be the same, and for nobody else.
    @Test(arguments: [(Line.ada, ["hello"]), (Line.grace, [])])
    func aRefusedPostIsThatOfItsPerson(user: String, posts: [String]) async throws {
        try await Line.run { line in
            _ = try await line.facebook.session()
            try line.sandbox.setFacebookTokens(.expired, of: Line.ada)
            let error = await line.outcome {
                try await line.facebook.send(
                    .post,
                    path: "me/feed",
                    body: .form(["message": "hello"]),
                    answering: line.browser(user)
                )
            }
            #expect((error == nil) == (user == Line.ada))
            if user != Line.ada {
                #expect(error?.kind == .stateConflict && error?.reason == .identityChanged)
                #expect(error?.userMessage == FacebookLoginError.userMismatch.userMessage)
            }
            #expect(line.sandbox.facebookPosts(of: Line.ada) == posts)
            #expect(line.sandbox.facebookPosts(of: Line.grace).isEmpty)
        }
    }

    /// Why the token is of no use any more, the person is told in words of their own.
    @Test(arguments: [
        (SandboxFacebookBehaviour.passwordChanged, "password"), (.expired, "run out"), (.removed, "removed"),
        (.loggedOut, "logged out"), (.inactive, "your data"),
    ])
    func thePersonIsToldWhy(behaviour: SandboxFacebookBehaviour, word: String) async throws {
        try await Line.run { line in
            try line.sandbox.setFacebookTokens(behaviour, of: Line.ada)
            let error = await line.outcome { try await line.facebook.send(path: "me") }
            #expect(error?.kind == .reauthenticationRequired)
            #expect(error?.userMessage.contains(word) == true, "\(error?.userMessage ?? "")")
        }
    }

    // MARK: Limits

    /// A page's limit holds it whatever the path's form, and no other page.
    @Test func aPagesLimitHoldsAllItsPaths() async throws {
        try await Line.run(permissions: ["pages_read_engagement"]) { line in
            try line.sandbox.blockFacebook(80_001, for: .seconds(600), account: "500")
            let refused = await line.outcome { try await line.facebook.send(path: "500/feed") }
            #expect(refused?.kind == .rateLimited && refused?.retryAfter.map { $0 >= .seconds(540) } == true)
            let count = line.sandbox.requests().count
            for path in ["500/posts", "500_1/comments", "500"] {
                #expect(await line.outcome { try await line.facebook.send(path: path) }?.kind == .rateLimited)
            }
            #expect(line.sandbox.requests().count == count && line.sandbox.facebookCounters.earlyCalls == 0)
            _ = try await line.facebook.send(path: "600/feed")
            _ = try await line.facebook.send(path: "me")
        }
    }

    /// A limit of one object holds each call that is about it, and no object that stood beside it.
    @Test(arguments: [false, true]) func aLimitOfOneHoldsACallAboutSeveral(inBatch: Bool) async throws {
        try await Line.run(permissions: ["pages_read_engagement"]) { line in
            func read(_ path: String) async -> Outcome? {
                guard inBatch else { return await line.outcome { try await line.facebook.send(path: path) }?.outcome }
                let answers = try? await line.skippingWaits {
                    try await line.facebook.client.operation { operation in
                        var facebook = line.facebook.within(operation)
                        facebook.client = facebook.client.waiting(atMost: .seconds(1))
                        return try await facebook.batch([FacebookBatchRequest(path: path)])
                    }
                }
                return answers?.first?.outcome
            }
            #expect(await read("feed?ids=500,600")?.isFailure != true)
            #expect(await read("?ids=500,700")?.kind == .notFound)
            try line.sandbox.blockFacebook(80_001, for: .seconds(600), account: "600")
            #expect(await read("feed?ids=500,600")?.kind == .rateLimited)
            let count = line.sandbox.requests().count
            for path in ["?ids=500,600", "posts?ids=600", "600/feed", "600_1"] {
                #expect(await read(path)?.kind == .rateLimited, "\(path)")
            }
            #expect(line.sandbox.requests().count == count && line.sandbox.facebookCounters.earlyCalls == 0)
            for path in ["500/feed", "?ids=500", "feed?ids=500,500"] {
                #expect(await read(path)?.isFailure != true, "\(path)")
            }
            #expect(line.sandbox.requests().count == count + 3)
        }
    }

    /// What a success tells of several accounts, it tells of each.
    @Test func anAnswerAboutSeveralAccountsIsAboutEach() async throws {
        var settings = SandboxFacebookSettings()
        settings.businessUsage = .init(type: "ads_insights", percent: 100, regain: 10)
        try await Line.run(permissions: ["ads_read"], settings: settings) { line in
            let both = try await line.facebook.send(path: "insights", query: ["ids": "act_1,act_2"]).json()
            #expect(both["act_1"]?["data"]?.array?.count == 1 && both["act_2"]?["data"]?.array?.count == 1)
            let count = line.sandbox.requests().count
            for path in ["act_1/insights", "act_2/insights", "insights?ids=act_2,act_3"] {
                #expect(
                    await line.outcome { try await line.facebook.send(path: path) }?.kind == .rateLimited,
                    "\(path)"
                )
            }
            #expect(line.sandbox.requests().count == count)
            _ = try await line.facebook.send(path: "act_3/insights")
        }
    }

    /// The business of the header is the one whose calls are held, by its sort of use.
    @Test func anAdAccountsLimitIsItsOwn() async throws {
        try await Line.run(permissions: ["ads_read"]) { line in
            try line.sandbox.blockFacebook(80_000, for: .seconds(600), account: "act_1")
            #expect(await line.outcome { try await line.facebook.send(path: "act_1/insights") }?.kind == .rateLimited)
            let count = line.sandbox.requests().count
            #expect(await line.outcome { try await line.facebook.send(path: "act_1/insights") }?.kind == .rateLimited)
            #expect(line.sandbox.requests().count == count)
            _ = try await line.facebook.send(path: "act_2/insights")
        }
    }

    /// Of WhatsApp's limit for a pair of numbers, other customers know nothing.
    @Test func aPairsLimitHoldsNobodyElsesMessages() async throws {
        var settings = SandboxFacebookSettings()
        settings.pairLimit = SandboxSettings.Limit(count: 1, per: 600_000)
        try await Line.run(permissions: ["whatsapp_business_messaging"], settings: settings) { line in
            func write(to number: String) async -> RecoveryError? {
                await line.outcome {
                    try await line.facebook.send(
                        ProviderRequest(.post, path: "1055/messages", body: .json(Self.message(to: number))),
                        as: .stored,
                        counterpart: number
                    )
                }
            }
            for number in ["15550001", "15550002"] { line.sandbox.writeAtWhatsApp(from: number, to: "1055") }
            #expect(await write(to: "15550001") == nil)
            let refused = await write(to: "15550001")
            #expect(refused?.kind == .rateLimited && refused?.outcome.code == "131056")
            let count = line.sandbox.requests().count
            #expect(await write(to: "15550001")?.kind == .rateLimited)
            #expect(line.sandbox.requests().count == count, "nothing left for the pair")
            #expect(await write(to: "15550002") == nil)
        }
    }

    static func message(to number: String) -> JSONValue {
        ["messaging_product": "whatsapp", "to": .string(number), "type": "text", "text": ["body": "hello"]]
    }
}
