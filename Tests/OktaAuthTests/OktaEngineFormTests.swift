import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import SignInSupport
import Testing

@testable import AuthSandbox

@Suite("The identity engine's forms about a person, and how Okta Verify is set up")
struct OktaEngineFormTests {
    private static let new = "newcomer@example.com"
    private static let password = "Correct-horse-9"

    // MARK: Okta Verify

    private static func verify(_ channels: [String] = ["qrcode", "email", "sms"]) throws -> OktaSandboxBench {
        try OktaSandboxBench(
            { $0.okta.enrollments = [.init("push")] },
            settings: { $0.okta.verifyChannels = channels }
        )
    }

    private static func message(_ bench: OktaSandboxBench) -> (to: String, channel: String)? {
        bench.world.withLock { $0.world.context.outbox.messages.last.map { ($0.to, $0.channel) } }
    }

    /// The person decides how Okta Verify is set up; a link goes to the address that they tell.
    @Test(
        arguments: [
            ("email", "phone@example.com", "EMAIL"), ("sms", "+4930777777", "SMS"),
        ]
    )
    func aLinkIsSentByTheChannel(channel: String, address: String, label: String) async throws {
        let bench = try Self.verify()
        let key: Factor.Key = channel == "email" ? .text : .phoneNumber
        let reader = Reader(bench, [key: [.text("nonsense"), .text(Secret(address))]], choosing: [channel])
        _ = try await bench.signIn(reader)
        let offered = reader.offers.withLock { $0.last ?? [] }
        #expect(offered.map(\.providerName) == ["qrcode", "email", "sms"])
        #expect(offered.first { $0.providerName == channel }?.destination == label)
        // A wrong address is asked for again, with what the server says.
        #expect(reader.keys == [key, key])
        #expect(reader.asked.withLock { $0.last?.previousFailure?.kind } == .invalidRequest)
        let sent = try #require(Self.message(bench))
        #expect(sent.to == address && sent.channel == (channel == "email" ? "email" : "phone"))
        #expect(bench.counters.codes == 1)
        let shown = try #require(reader.shown.withLock { $0.first })
        #expect(shown.prompt?.contains(address) == true && shown.setup == nil)
        let held = bench.world.withLock { $0.world.okta.account(named: OktaSandboxBench.eva)?.factors.map(\.type) }
        #expect(held == ["push"])
    }

    @Test func thePictureIsTheWayForWhoDoesNotChoose() async throws {
        let bench = try Self.verify()
        let reader = Reader(bench)
        _ = try await bench.signIn(reader)
        #expect(reader.keys.isEmpty && bench.counters.codes == 0)
        #expect(reader.shown.withLock { $0.first?.setup?.reveal().hasPrefix("data:image/png") } == true)
    }

    /// Without a picture the server asks for the channel; a single one is no question.
    @Test(arguments: [["email", "sms"], ["sms"]])
    func theServerAsksForTheChannel(channels: [String]) async throws {
        let bench = try Self.verify(channels)
        let reader = Reader(bench, [.phoneNumber: [.text("+4930777777")]], choosing: ["sms"])
        _ = try await bench.signIn(reader)
        #expect(reader.offers.withLock { $0.map { $0.map(\.providerName) } } == (channels.count > 1 ? [channels] : []))
        #expect(Self.message(bench)?.to == "+4930777777")
    }

    /// While the picture is shown another channel can be wished for, and the link once more.
    @Test func anotherChannelInPlaceOfThePicture() async throws {
        let bench = try Self.verify()
        var flow = bench.okta.signInFlow(
            identifier: OktaSandboxBench.eva,
            password: Secret(OktaSandboxBench.password)
        )
        guard case .choose(let channels) = try await flow.step(.begin).step else {
            Issue.record("no channel is offered")
            return
        }
        let picture = channels.first { $0.providerName == "qrcode" }
        guard case .pending = try await flow.step(.choose(picture)).step,
            case .choose(let others) = try await flow.step(.answer(.useAnotherFactor)).step
        else {
            Issue.record("nothing else is offered")
            return
        }
        #expect(others.filter { $0.id?.hasPrefix("channel/") == true }.map(\.providerName) == ["email", "sms"])
        let mail = others.first { $0.providerName == "email" }
        guard case .ask(let question) = try await flow.step(.choose(mail)).step else {
            Issue.record("no address is asked for")
            return
        }
        #expect(question.prompt == "Email" && question.key == .text)
        guard case .pending(let shown, _) = try await flow.step(.answer(.text("ada@example.org"))).step,
            case .pending = try await flow.step(.answer(.resend)).step
        else {
            Issue.record("nothing is waited for")
            return
        }
        #expect(shown.prompt?.contains("ada@example.org") == true && bench.counters.codes == 2)
        // It can be gone on with at another machine.
        bench.clock.advance(by: .seconds(10))
        guard case .pending = try await flow.step(.poll).step else {
            Issue.record("the first look finds it done")
            return
        }
        bench.clock.advance(by: .seconds(10))
        guard case .finished = try await flow.step(.poll).step else {
            Issue.record("the second look does not find it done")
            return
        }
    }

    // MARK: Registration

    private static func registering(
        _ configuration: (inout OktaConfiguration) -> Void = { _ in }
    ) throws -> OktaSandboxBench {
        try OktaSandboxBench(configuration: configuration, settings: { $0.okta.allowsRegistration = true })
    }

    private static func register(_ bench: OktaSandboxBench, _ answers: [Factor.Key: [Challenge.Answer]]) async throws
        -> (session: OktaAuth.OktaSession, reader: Reader)
    {
        var answers = answers
        answers[.password] = [.useAnotherFactor]
        let reader = Reader(bench, answers, choosing: ["select-enroll-profile"])
        return (try await bench.signIn(reader, password: nil), reader)
    }

    /// Each field is asked for by its label; what cannot be changed goes back as it came, what need not be told is left out.
    @Test func anAccountIsMadeByItsForm() async throws {
        let bench = try Self.registering()
        let (session, reader) = try await Self.register(
            bench,
            [
                .text: [.text(Secret(Self.new)), .text("Ada"), .text("Lovelace")],
                .newPassword: [.text(Secret(Self.password))],
            ]
        )
        #expect(session.login == Self.new)
        let questions = reader.asked.withLock { $0 }.dropFirst()
        #expect(questions.map(\.prompt) == ["Email", "First name", "Last name", "Password"])
        #expect(questions.last?.key == .newPassword && questions.last?.hint?.contains("8") == true)
        let body = try JSONValue(
            parsing: bench.transport.received.last { $0.request.path == "/idp/idx/enroll/new" }?.text ?? ""
        )
        #expect(
            body["userProfile"] == [
                "email": .string(Self.new), "firstName": "Ada", "lastName": "Lovelace", "organization": "Sandbox",
            ]
        )
    }

    /// Who has registered is somebody like anyone else: their tokens are renewed, and tell whose they are.
    @Test func whoHasRegisteredRenews() async throws {
        let bench = try Self.registering()
        let (session, _) = try await Self.register(
            bench,
            [
                .text: [.text(Secret(Self.new)), .text("Ada"), .text("Lovelace")],
                .newPassword: [.text(Secret(Self.password))],
            ]
        )
        let before = await bench.tokens.read().credentials
        let renewed = try await bench.clock.skippingWaits { try await bench.okta.refresh() }
        let after = await bench.tokens.read().credentials
        #expect(renewed.userID == session.userID && session.userID?.hasPrefix("00u") == true)
        #expect(after.accessToken != before.accessToken && after.idToken != nil)
        #expect(try await bench.okta.session()?.userID == session.userID)
    }

    /// The field that was refused is asked for again, with the reason, and no other but the password, which is not kept.
    @Test func theRefusedFieldIsAskedForAgain() async throws {
        let bench = try Self.registering()
        let answers: [Factor.Key: [Challenge.Answer]] = [
            .text: [.text(Secret(OktaSandboxBench.eva)), .text("Ada"), .text("Lovelace"), .text(Secret(Self.new))],
            .newPassword: [.text("Correct-horse-8"), .text(Secret(Self.password))],
        ]
        let (session, reader) = try await Self.register(bench, answers)
        #expect(session.login == Self.new)
        let questions = reader.asked.withLock { $0 }.dropFirst()
        #expect(
            questions.map(\.prompt) == ["Email", "First name", "Last name", "Password", "Email", "Password"]
        )
        let again = questions.first { $0.previousFailure != nil }
        #expect(again?.prompt == "Email" && again?.previousFailure?.kind == .conflict)
        #expect(again?.previousFailure?.parameter == "userProfile.email")
        #expect(reader.notices.withLock { $0.map(\.kind) } == [.conflict])
        #expect(bench.count("enroll/new") == 2)
    }

    /// What is optional is asked for where the app wants that: one of several, by its label or its value; an empty answer
    /// leaves it out.
    @Test(arguments: ["", "Germany", "gb", "Atlantis"])
    func whatIsOptionalIsAskedForIfItIsWanted(country: String) async throws {
        let bench = try Self.registering { $0.enrollsOptionalFactors = true }
        let isUnknown = country == "Atlantis"
        let (_, reader) = try await Self.register(
            bench,
            [
                .text: [.text(Secret(Self.new)), .text("Ada"), .text("L"), .text(Secret(country)), .text("FR")],
                .newPassword: [.text(Secret(Self.password))],
            ]
        )
        let asked = reader.asked.withLock { $0 }.filter { $0.prompt == "Country" }
        #expect(
            asked.map(\.hint)
                == Array(
                    repeating: "Germany, France, United Kingdom; may be left empty",
                    count: isUnknown ? 2 : 1
                )
        )
        let body = bench.transport.received.last { $0.request.path == "/idp/idx/enroll/new" }?.text ?? ""
        let sent = try JSONValue(parsing: body)["userProfile"]?["countryCode"]?.string
        #expect(sent == ["": nil, "Germany": "DE", "gb": "GB", "Atlantis": "FR"][country] ?? nil)
    }

    // MARK: Profiles

    private static func telling(
        _ profile: String,
        wantsAll: Bool = false
    ) throws -> OktaSandboxBench {
        try OktaSandboxBench(
            { $0.okta.profile = profile },
            configuration: { $0.enrollsOptionalFactors = wantsAll }
        )
    }

    @Test func whatTheOrgWantsToKnowIsToldOnce() async throws {
        let bench = try Self.telling("incomplete")
        let reader = Reader(bench, [.text: [.text(""), .text("Bonn")]])
        _ = try await bench.signIn(reader)
        // Nothing is no answer where one is wanted.
        #expect(reader.asked.withLock { $0.map(\.prompt) } == ["City", "City"])
        let again = Reader(bench)
        _ = try await bench.signIn(again)
        #expect(again.keys.isEmpty && bench.count("enroll/update") == 1)
    }

    @Test(arguments: [false, true])
    func whatMayBeLeftOutIsSkippedUnlessItIsWanted(wantsAll: Bool) async throws {
        let bench = try Self.telling("optional", wantsAll: wantsAll)
        let reader = Reader(bench, [.text: [.text(""), .text("old"), .text("36"), .text("de")]])
        _ = try await bench.signIn(reader)
        #expect(reader.asked.withLock { $0.map(\.prompt) } == (wantsAll ? ["City", "Age", "Age", "Country"] : []))
        #expect(bench.count("skip") == (wantsAll ? 0 : 1))
        let update = bench.transport.received.last { $0.request.path == "/idp/idx/enroll/update" }
        let told = try update.map { try JSONValue(parsing: $0.text)["userProfile"] ?? .null }
        #expect(told == (wantsAll ? ["age": 36, "countryCode": "DE"] : nil))
    }

    /// What stands there already goes back as it came, unless it is refused; nothing is no value.
    @Test func whatStandsThereIsAskedForIfItIsRefused() async throws {
        func form(_ message: String = "") -> String {
            let email = Ion.field("email", #""label":"Email","value":"a@b"\#(message)"#)
            let city = Ion.field("city", #""label":"City","value":"""#)
            return Ion.form("enroll-profile", "enroll/new", Ion.object("userProfile", email, city))
        }
        let bench = try OktaBench.engine([
            .ion(form()), .ion(form("," + Ion.message("registration.error.notUniqueWithinOrg")), status: 400),
            .interactionCode, .tokens,
        ])
        let person = Person([.text: [.text("Bonn"), .text("c@d")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.map(\.prompt) == ["City", "Email"])
        #expect(
            bench.steps.filter { $0.hasPrefix("enroll/new") } == [
                "enroll/new {userProfile:{email:a@b,city:Bonn}}", "enroll/new {userProfile:{email:c@d,city:Bonn}}",
            ]
        )
    }

    /// A server that refuses a form without an end is not asked without one.
    @Test func aFormThatIsRefusedForEverEnds() async throws {
        let refused = ScriptedTransport.Step.ion(
            Ion.form(
                "enroll-profile",
                "enroll/new",
                Ion.object(
                    "userProfile",
                    Ion.field("a", Ion.message("registration.error.doesNotMatchPattern")),
                    Ion.field("b")
                )
            ),
            status: 400
        )
        let bench = try OktaBench.engine(Array(repeating: refused, count: 100))
        let person = Person([.text: Array(repeating: .text("x"), count: 200)])
        await #expect(throws: (any Error).self) { try await bench.signIn("hunter2", person) }
        #expect(bench.steps.count { $0.hasPrefix("enroll/new") } < 20)
    }
}
