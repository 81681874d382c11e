import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import Auth0Auth

/// A password that was leaked, and what takes its place, on a scripted server.
@Suite struct Auth0LeakTests {
    private static let name = "ada@example.com"
    private static let leaked = Auth0Bench.Step.error("password_leaked", "This password has been leaked.", 401)

    private static func configuration(_ ways: Auth0Configuration.Passwordless...) -> Auth0Configuration {
        Auth0Configuration(
            clientID: "app",
            realm: "people",
            passwordless: ways,
            redirectURI: "https://app.example.com/callback"
        )
    }

    /// The way out that the app has; where it has none, the error says that a new password is needed.
    @Test func aLeakedPasswordIsFollowedByACode() async throws {
        let bench = try Auth0Bench(
            [Self.leaked, .json("{}"), .tokens()],
            configuration: Self.configuration(.emailCode)
        )
        let person = Answers([.emailCode: ["1"]])
        _ = try await bench.signIn(person)
        #expect(bench.sent == ["/oauth/token password-realm hunter2", "/passwordless/start", "/oauth/token otp 1"])
        #expect(person.told.first == .passwordCompromised && person.asked == [.emailCode])
    }

    /// A tenant's own page sets a new password, whatever the app knows of connections: who has done so enters it.
    ///
    /// A mail is for those alone whose connection is known.
    @Test(arguments: ["ada@example.com", "+4930123456", "ada"])
    func withoutAConnectionALeakedPasswordIsReplacedByThePerson(name: String) async throws {
        let configuration = Auth0Configuration(clientID: "app")
        let bench = try Auth0Bench([Self.leaked, .tokens()], configuration: configuration)
        var flow = bench.auth0.signInFlow(.identifier(name, password: "hunter2"))
        // There is nothing else to choose.
        guard case .ask(let question) = try await flow.step(.begin).step,
            case .finished = try await flow.step(.answer(.text("better"))).step
        else { return #expect(Bool(false)) }
        #expect(question.factor.providerName == "changed_password")
        #expect(question.key == .password && question.prompt?.contains("Set a new password") == true)
        #expect(bench.sent == ["/oauth/token password hunter2", "/oauth/token password better"])
    }

    /// What stands in for a leaked password is for the person to choose: no mail is sent before.
    @Test func aLeakedPasswordIsReplacedByTheWayThatIsChosen() async throws {
        let mailed = Auth0Bench.Step.status(200, ["content-type": "text/html"], body: "We've just sent you an email.")
        let bench = try Auth0Bench(
            [Self.leaked, mailed, Self.leaked, .tokens()],
            configuration: Self.configuration(.emailCode)
        )
        var flow = bench.auth0.signInFlow(.identifier(Self.name, password: "hunter2"))
        guard case .choose(let ways) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        #expect(ways.map(\.providerName) == ["email", "browser", "changed_password", "reset_password"])
        let mail = try #require(ways.last)
        guard case .ask(let question) = try await flow.step(.choose(mail)).step else { return #expect(Bool(false)) }
        #expect(question.key == .password && question.prompt?.contains("sent to you") == true)
        #expect(
            bench.sent.last == "/dbconnections/change_password" && bench.transport.received[1].body.isEmpty == false
        )
        // One that is leaked, too, leaves the other ways.
        guard case .choose(let rest) = try await flow.step(.answer(.text("hunter3"))).step else {
            return #expect(Bool(false))
        }
        #expect(rest.map(\.providerName) == ["email", "browser", "changed_password"])
        guard case .ask = try await flow.step(.choose(rest[2])).step,
            case .finished = try await flow.step(.answer(.text("better"))).step
        else { return #expect(Bool(false)) }
        #expect(bench.sent.count == 4 && bench.sent.last == "/oauth/token password-realm better")
    }

    /// Where nobody chooses, no mail goes out; and who wants no stand-in has none.
    @Test func aLeakedPasswordHasNoMailSentByItself() async throws {
        let bench = try Auth0Bench([Self.leaked, .tokens()])
        let person = Answers([.password: ["better"]])
        _ = try await bench.signIn(person)
        #expect(person.told.first == .passwordCompromised && person.asked == [.password])
        #expect(bench.sent.map { $0.split(separator: " ").first } == ["/oauth/token", "/oauth/token"])
        let other = try Auth0Bench([Self.leaked])
        let error = await #expect(throws: RecoveryError.self) {
            try await other.auth0.signIn(
                .identifier(Self.name, password: "hunter2"),
                answering: Answers(),
                options: SignInOptions(compromisedPasswordFallback: [])
            )
        }
        #expect(error?.kind == .passwordCompromised && other.sent.count == 1)
    }
}
