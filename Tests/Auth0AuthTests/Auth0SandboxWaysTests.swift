import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import Auth0Auth

/// Every way in, from its first question to the profile, at a server that behaves like a tenant.
@Suite("Auth0 at the sandbox: ways in", .timeLimit(.minutes(10)))
struct Auth0SandboxWaysTests {
    private typealias Line = Auth0SandboxTests.Line
    private static let name = Auth0SandboxTests.name
    private static let back = "http://127.0.0.1:8123/callback"

    private static func configuration(_ ways: Auth0Configuration.Passwordless...) -> Auth0Configuration {
        Auth0Configuration(
            clientID: "cli",
            realm: Auth0SandboxTests.realm,
            passwordless: ways,
            redirectURI: back
        )
    }

    private static func settings<Value>(
        _ path: WritableKeyPath<SandboxAuth0Settings, Value>,
        _ value: Value
    ) -> SandboxAuth0Settings {
        var settings = SandboxAuth0Settings()
        settings[keyPath: path] = value
        return settings
    }

    private func signIn(
        _ line: Line,
        _ method: Auth0SignInMethod,
        _ person: any ChallengeResponder
    ) async throws -> Auth0Session {
        try await line.clock.skippingWaits { try await line.auth0.signIn(method, answering: person) }
    }

    @Test(arguments: [
        (Auth0Configuration.Passwordless.emailCode, name), (.phoneCode, "+12015550100"), (.databaseEmailCode, name),
        (.databasePhoneCode, "+12015550100"),
    ])
    func aCode(way: Auth0Configuration.Passwordless, address: String) async throws {
        try await Auth0SandboxTests.run(configuration: Self.configuration()) { line in
            let session = try await signIn(line, .passwordless(way, to: address), Mailbox(line.sandbox, address))
            #expect(session.identity?.claims["email"]?.string == Self.name && session.subject != nil)
            #expect(try await line.auth0.session()?.identity == session.identity)
            #expect(try await line.auth0.refresh().email == Self.name)
            #expect(line.sandbox.auth0Presentations.values.allSatisfy { $0 == 1 })
        }
    }

    /// The password is presented once, and the code takes its place.
    @Test func aLeakedPasswordIsFollowedByACode() async throws {
        var person = Auth0SandboxTests.user()
        person.passwordState = "compromised"
        try await Auth0SandboxTests.run(person, configuration: Self.configuration(.databaseEmailCode)) { line in
            let mailbox = Mailbox(line.sandbox, Self.name)
            _ = try await signIn(line, .identifier(Self.name, password: "right"), mailbox)
            #expect(line.sandbox.auth0Grants == ["password-realm": 1, "passwordless/otp": 1])
        }
    }

    @Test(arguments: [["sms"], ["email"]]) func aFactorIsSetUp(factors: [String]) async throws {
        var person = Auth0SandboxTests.user()
        person.auth0.enrollments = factors
        try await Auth0SandboxTests.run(person, configuration: Self.configuration()) { line in
            let answers = Enrolling(line.sandbox, Self.name)
            _ = try await signIn(line, .identifier(Self.name, password: "right"), answers)
            // From now on it is asked for, and the recovery code is good.
            let code = try #require(answers.recoveryCode)
            let again = Answers([.backupCode: [code.reveal()]], choosing: .backupCode)
            #expect(try await line.signIn(again).recoveryCode != nil)
        }
    }

    /// A factor that the tenant does not offer is left aside, and another one set up.
    @Test func whatIsNotOfferedIsLeftAside() async throws {
        var person = Auth0SandboxTests.user()
        person.auth0.enrollments = ["email"]
        try await Auth0SandboxTests.run(person, configuration: Self.configuration()) { line in
            let answers = Enrolling(line.sandbox, Self.name, choosing: .push)
            _ = try await signIn(line, .identifier(Self.name, password: "right"), answers)
            #expect(line.sandbox.requests().filter { $0.path == "/auth0/mfa/associate" }.count > 1)
        }
    }

    private static func legacy(_ name: String) -> Auth0SignInMethod {
        .token(.init(Secret("legacy:\(name)"), type: .init(rawValue: "urn:example:legacy-token")))
    }

    /// A token of another issuer, and the second factor after it.
    @Test func aTokenOfAnotherIssuer() async throws {
        try await Auth0SandboxTests.run(Auth0SandboxTests.user(backupCodes: ["FIRST"])) { line in
            let person = Answers([.backupCode: ["FIRST"]])
            let session = try await signIn(line, Self.legacy(Self.name), person)
            #expect(session.email == Self.name && session.recoveryCode != nil)
            #expect(line.sandbox.auth0Presentations.filter { $0.key.hasPrefix("subject_token") }.map(\.value) == [1])
        }
    }

    /// One that the tenant does not take is presented once, and nobody is asked for a name.
    @Test func aTokenThatIsRefused() async throws {
        try await Auth0SandboxTests.run { line in
            let person = Answers()
            let error = await #expect(throws: RecoveryError.self) {
                try await signIn(line, Self.legacy("nobody@example.com"), person)
            }
            #expect(error?.kind == .invalidRequest && person.asked.isEmpty)
            #expect(line.sandbox.auth0Grants.values.reduce(0, +) == 1)
        }
    }

    /// As little, where the word for it is that of a wrong password.
    @Test func aTokenThatIsRefusedInAnotherWord() async throws {
        let bench = try Auth0Bench([.error("invalid_grant", "Invalid token")])
        let person = Answers()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.auth0.signIn(Self.legacy(Self.name), answering: person)
        }
        #expect(error?.kind == .credentialRejected && person.asked.isEmpty && bench.sent.count == 1)
    }

    @Test func aDevice() async throws {
        try await Auth0SandboxTests.run { line in
            var flow = line.auth0.signInFlow(.device)
            guard case .pending(let shown, _) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
            line.clock.advance(by: .seconds(5))
            guard case .pending = try await flow.step(.poll).step else { return #expect(Bool(false)) }
            line.clock.advance(by: .seconds(5))
            // To the sandbox it is too soon, since its clock stands still.
            guard case .pending(_, let slower) = try await flow.step(.poll).step else { return #expect(Bool(false)) }
            #expect(slower.duration == .seconds(10))
            try line.sandbox.answerAuth0Device(as: Self.name, userCode: shown.number)
            line.clock.advance(by: .seconds(10))
            guard case .finished(let session) = try await flow.step(.poll).step else { return #expect(Bool(false)) }
            #expect(session.email == Self.name)
        }
    }

    @Test func aDeviceThatIsRefused() async throws {
        try await Auth0SandboxTests.run { line in
            var flow = line.auth0.signInFlow(.device)
            _ = try await flow.step(.begin)
            try line.sandbox.answerAuth0Device(as: Self.name, approving: false)
            line.clock.advance(by: .seconds(5))
            let error = await #expect(throws: RecoveryError.self) { try await flow.step(.poll) }
            #expect(error?.kind == .declined && error?.remedies == [.restartFlow])
        }
    }

    // MARK: Browsers

    /// Does what a browser does with a page: the answer to the form, and where it leads.
    private func browse(_ url: String, _ line: Line, _ fields: KeyValuePairs<String, String>) async throws -> String {
        let page = try await line.auth0.client.send(HTTPRequest(url: url))
        #expect(page.status == .ok)
        let form = try HTTPRequest(
            method: .post,
            url: line.sandbox.url + "/auth0/u/login",
            headerFields: [.contentType: "application/x-www-form-urlencoded"]
        )
        var body = FormFields(parsing: url.split(separator: "?", maxSplits: 1)[1].utf8)
        for field in fields { body.add(field.key, field.value) }
        var options = RequestOptions()
        options.followsRedirects = false
        let answer = try await line.auth0.client.send(form, body: MessageBody(body.encoded), options: options)
        return answer.headerFields[.location] ?? ""
    }

    /// The tenant's own page, with a second factor of its own; the code comes back to the app, and is used once.
    @Test func theLoginPage() async throws {
        try await Auth0SandboxTests.run(configuration: Self.configuration()) { line in
            var flow = line.auth0.signInFlow(.browser(loginHint: Self.name))
            guard case .ask(let question) = try await flow.step(.begin).step, let url = question.url?.reveal() else {
                return #expect(Bool(false))
            }
            let back = try await browse(url, line, ["username": Self.name, "password": "right"])
            #expect(back.hasPrefix(Self.back + "?code="))
            guard case .finished(let session) = try await flow.step(.answer(.text(Secret(back)))).step else {
                return #expect(Bool(false))
            }
            #expect(session.email == Self.name && session.identity?.claims["nonce"] != nil)
            _ = try await line.auth0.refresh()
            #expect(line.sandbox.auth0Grants == ["authorization_code": 1, "refresh_token": 1])
        }
    }

    @Test func whoDeclinesOnThePage() async throws {
        try await Auth0SandboxTests.run(
            settings: Self.settings(\.detectsBots, true),
            configuration: Self.configuration()
        ) {
            line in
            var flow = line.auth0.signInFlow(.identifier(Self.name, password: "right"))
            guard case .ask(let question) = try await flow.step(.begin).step, let url = question.url?.reveal() else {
                return #expect(Bool(false))
            }
            let back = try await browse(url, line, ["decision": "deny"])
            let error = await #expect(throws: RecoveryError.self) { try await flow.step(.answer(.text(Secret(back)))) }
            #expect(error?.kind == .declined)
        }
    }

    @Test func aLink() async throws {
        try await Auth0SandboxTests.run(configuration: Self.configuration()) { line in
            var flow = line.auth0.signInFlow(.passwordless(.emailLink, to: Self.name))
            _ = try await flow.step(.begin)
            let link = try #require(line.sandbox.outbox(to: Self.name).last?.code)
            var options = RequestOptions()
            options.followsRedirects = false
            let opened = try await line.auth0.client.send(HTTPRequest(url: link), options: options)
            let back = Secret(opened.headerFields[.location] ?? "")
            guard case .finished(let session) = try await flow.step(.answer(.text(back))).step else {
                return #expect(Bool(false))
            }
            #expect(session.email == Self.name)
        }
    }

    // MARK: Accounts

    /// What is wrong with a password is told in a sentence; nobody learns who has an account.
    @Test func anAccountIsMade() async throws {
        try await Auth0SandboxTests.run(configuration: Self.configuration()) { line in
            let cases: [(String, Secret, Outcome.Kind)] = [
                ("new@example.com", "short", .passwordRejected),
                ("new@example.com", "AUTH0-TEST-1", .passwordCompromised),
                (Self.name, "long enough", .conflict),
            ]
            for (email, password, kind) in cases {
                let error = await #expect(throws: RecoveryError.self) {
                    try await line.auth0.signUp(email: email, password: password)
                }
                #expect(error?.kind == kind && error?.remedies.first == .askUser)
                if kind == .passwordRejected {
                    #expect(error?.outcome.userMessage == "At least 8 characters in length")
                }
            }
            let id = try await line.auth0.signUp(email: "new@example.com", password: "long enough")
            let session = try await signIn(line, .identifier("new@example.com", password: "long enough"), Answers())
            #expect(session.subject == id)
            line.sandbox.updateSettings { $0.auth0.allowsSignUp = false }
            let error = await #expect(throws: RecoveryError.self) {
                try await line.auth0.signUp(email: "other@example.com", password: "long enough")
            }
            #expect(error?.kind == .permissionDenied && error?.remedies == [.contactAdmin])
        }
    }

    /// An answer that is lost leaves open whether there is an account: it is not made twice.
    @Test func anAccountIsMadeOnce() async throws {
        try await Auth0SandboxTests.run(configuration: Self.configuration()) { line in
            line.sandbox.add(SandboxFault(.resetAfter, path: "/auth0/dbconnections/signup", times: 0))
            await #expect(throws: RecoveryError.self) {
                try await line.clock.skippingWaits {
                    try await line.auth0.signUp(email: "new@example.com", password: "long enough")
                }
            }
            #expect(line.sandbox.requests().count == 1)
        }
    }

    // MARK: Blocks

    /// The person says what they have done about the block; until then nothing is sent.
    @Test(arguments: [Auth0Unlocking.mail, .newPassword]) func aBlockIsLifted(way: Auth0Unlocking) async throws {
        try await Auth0SandboxTests.run(threshold: 1, configuration: Self.configuration()) { line in
            var flow = line.auth0.signInFlow(.identifier(Self.name, password: "wrong"))
            guard case .ask = try await flow.step(.begin).step,
                case .choose(let ways) = try await flow.step(.answer(.text("right"))).step
            else { return #expect(Bool(false)) }
            #expect(ways.map(\.providerName) == ["blocked_account", "reset_password"])
            let sent = line.sandbox.requests().count
            let other = await #expect(throws: RecoveryError.self) { try await line.signIn() }
            #expect(other?.kind == .accountLocked && line.sandbox.requests().count == sent)
            let chosen = try #require(ways.first { $0.providerName == way.rawValue })
            guard case .ask(let question) = try await flow.step(.choose(chosen)).step else {
                return #expect(Bool(false))
            }
            #expect(question.key == .password && question.prompt?.isEmpty == false)
            let link = try #require(line.sandbox.outbox(to: Self.name).last?.code)
            if way == .mail {
                #expect(try await line.auth0.client.send(HTTPRequest(url: link)).status == .ok)
            } else {
                let form = try HTTPRequest(
                    method: .post,
                    url: String(link.prefix { $0 != "?" }),
                    headerFields: [.contentType: "application/x-www-form-urlencoded"]
                )
                let ticket = link.split(separator: "=").last ?? ""
                _ = try await line.auth0.client.send(form, body: MessageBody("ticket=\(ticket)&password=brighter"))
            }
            let password: Secret = way == .mail ? "right" : "brighter"
            guard case .finished = try await flow.step(.answer(.text(password))).step else {
                return #expect(Bool(false))
            }
        }
    }

    /// A server is blocked for the person it asks for, from where they are, and for nobody else.
    @Test func aBlockIsThatOfAnAddress() async throws {
        var configuration = Auth0Configuration(clientID: "cli", clientSecret: "s")
        configuration.realm = Auth0SandboxTests.realm
        try await Auth0SandboxTests.run(
            threshold: 1,
            settings: Self.settings(\.clientSecret, "s"),
            configuration: configuration
        ) { line in
            let guesser = line.auth0.acting(forAddress: "192.0.2.1")
            let owner = line.auth0.acting(forAddress: "192.0.2.2")
            for _ in 0..<2 {
                _ = try? await guesser.signIn(.identifier(Self.name, password: "wrong"), answering: Answers())
            }
            #expect(await guesser.lockouts.lockout(of: guesser.lockoutAccount(for: Self.name)) == .indefinite)
            _ = try await owner.signIn(.identifier(Self.name, password: "right"), answering: Answers())
            let asked = try #require(line.sandbox.requests().last { $0.path.hasSuffix("/oauth/token") })
            #expect(asked.status == 200)
        }
    }

    /// The address that guesses at many is held back, and no account is blamed for it.
    @Test func anAddressThatGuesses() async throws {
        try await Auth0SandboxTests.run(settings: Self.settings(\.addressThreshold, 1)) { line in
            _ = try? await line.signIn(password: "wrong")
            let error = await #expect(throws: RecoveryError.self) { try await line.signIn() }
            #expect(error?.kind == .policyBlocked && error?.outcome.retryAfter == nil)
            #expect(await line.auth0.lockouts.lockout(of: Self.name) == nil)
        }
    }

    /// An app that may not sign people in by password says so; it is no wrong password.
    @Test func whatTheAppMayNot() async throws {
        try await Auth0SandboxTests.run(settings: Self.settings(\.grants, ["refresh_token"])) { line in
            let person = Answers([.password: ["right"]])
            let error = await #expect(throws: RecoveryError.self) { try await line.signIn(person) }
            #expect(error?.kind == .misconfigured && person.asked.isEmpty)
        }
    }
}

/// Sets up a factor with what the sandbox has sent, and keeps the recovery code.
private final class Enrolling: ChallengeResponder {
    private let mailbox: Mailbox
    private let phone: Mailbox
    private let kept = Locked<Secret?>(nil)
    private let choice: Factor.Key?

    init(_ sandbox: AuthSandbox, _ address: String, choosing choice: Factor.Key? = nil) {
        mailbox = Mailbox(sandbox, address)
        phone = Mailbox(sandbox, "+12015550199")
        self.choice = choice
    }

    var recoveryCode: Secret? { kept.withLock { $0 } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        switch challenge.key {
        case .text:
            kept.withLock { $0 = challenge.setup }
            return .text("noted")
        case .phoneNumber: return .text("+12015550199")
        case .phoneCode: return try await phone.answer(challenge)
        default: return try await mailbox.answer(challenge)
        }
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        factors.first { $0.key == choice } ?? factors.first { $0.key.isSent }
    }
}
