import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import SignInSupport
import Testing

@testable import AuthSandbox

@Suite("Okta: how strongly people prove themselves, and the tokens of links")
struct OktaAssuranceTests {
    private static let eva = OktaSandboxBench.eva
    private static let strong = "urn:okta:loa:2fa:any"
    private static let assurance = OktaAssurance(acrValues: "\(strong) urn:okta:loa:1fa:any", maxAge: .seconds(300))
    private static let new: Secret = "Correct-horse-9"

    /// The forms of the requests to an endpoint.
    private static func forms(_ bench: OktaSandboxBench, _ path: String) -> [[String: String]] {
        bench.transport.received.filter { ($0.request.path ?? "").hasSuffix(path) }.map { received in
            let fields = FormFields(parsing: received.body)
            return Dictionary(fields.names.map { ($0, fields[$0].first?.reveal() ?? "") }) { first, _ in first }
        }
    }

    @Test func anInteractionTellsWhatIsWanted() async throws {
        let bench = try OktaSandboxBench(configuration: { $0.app?.assurance = Self.assurance })
        let session = try await bench.signIn(Reader(bench))
        #expect(session.idToken?.level == Self.strong)
        let form = try #require(Self.forms(bench, "/interact").first)
        #expect(form["acr_values"] == Self.assurance.acrValues && form["max_age"] == "300")
        #expect(form["login_hint"] == Self.eva && form["recovery_token"] == nil && form["activation_token"] == nil)
    }

    @Test func nothingIsWantedUnlessItIsSaid() async throws {
        let bench = try OktaSandboxBench()
        let session = try await bench.clock.skippingWaits {
            try await bench.okta.signIn(
                identifier: nil,
                password: Secret(OktaSandboxBench.password),
                answering: Reader(bench, [.text: [.text(Secret(Self.eva))]])
            )
        }
        #expect(session.idToken?.level == nil)
        let form = try #require(Self.forms(bench, "/interact").first)
        #expect(form["acr_values"] == nil && form["max_age"] == nil && form["login_hint"] == nil)
    }

    /// The server refuses a sign-in whose requests differ.
    @Test(arguments: ["push", "sms", "otp"])
    func eachDirectRequestWantsTheSame(factor: String) async throws {
        let bench = try OktaSandboxBench(
            { $0.okta.factors = [.push("WAITING", "SUCCESS"), .init("sms"), .init("token:software:totp")] },
            configuration: {
                $0.way = .directAuthentication
                $0.app?.assurance = Self.assurance
            }
        )
        let session = try await bench.signIn(Reader(bench, choosing: [factor]))
        #expect(session.idToken?.level == Self.strong)
        let all = Self.forms(bench, "/token") + Self.forms(bench, "/challenge")
        #expect(all.count >= 2 && all.allSatisfy { $0["acr_values"] == Self.assurance.acrValues })
        #expect(all.allSatisfy { $0["max_age"] == nil && $0["grant_types_supported"] == nil })
    }

    /// Whoever cannot go on learns that from the first request, before anything is sent to the person.
    @Test func theGrantsThatAnAppKnows() async throws {
        let mfa = "http://auth0.com/oauth/grant-type/mfa-"
        func bench(_ grants: [String]) throws -> OktaSandboxBench {
            try OktaSandboxBench(
                { $0.okta.factors = [.init("sms"), .init("token:software:totp")] },
                configuration: {
                    $0.way = .directAuthentication
                    $0.app?.grantTypesSupported = grants
                }
            )
        }
        let weak = try bench(["password"])
        let error = await #expect(throws: RecoveryError.self) { try await weak.signIn(Reader(weak)) }
        #expect(error?.kind == .misconfigured && weak.count("/oauth2") == 1)
        let enough = try bench(["password", mfa + "otp"])
        let reader = Reader(enough)
        _ = try await enough.signIn(reader)
        #expect(reader.keys == [.totp] && reader.offers.withLock { $0.isEmpty })
        #expect(Self.forms(enough, "/token").allSatisfy { $0["grant_types_supported"] == "password \(mfa)otp" })
    }

    @Test func theAuthorizationEndpointIsToldToo() async throws {
        let bench = try OktaSandboxBench(configuration: {
            $0.way = .authentication
            $0.app?.assurance = Self.assurance
        })
        let session = try await bench.signIn(Reader(bench))
        #expect(session.idToken?.level == Self.strong)
        #expect(bench.transport.received.contains { ($0.request.path ?? "").contains("max_age=300") })
    }

    /// A sign-in that is taken up where nothing of its demand is known keeps to it.
    @Test(arguments: [OktaConfiguration.Way.automatic, .directAuthentication, .authentication])
    func whatWasWantedStaysWanted(way: OktaConfiguration.Way) async throws {
        let bench = try OktaSandboxBench(
            { $0.okta.factors = [.init("token:software:totp")] },
            configuration: { $0.way = way }
        )
        let walk = SuspendedWalk(bench.okta, bench.clock, bench.transport)
        let flow = bench.okta.demanding(Self.assurance).signInFlow(identifier: nil)
        let answers: [Factor.Key: [Challenge.Answer]] = [
            .text: [.text(Secret(Self.eva))], .password: [.text(Secret(OktaSandboxBench.password))],
        ]
        let session = try await walk.signIn(flow, answering: Reader(bench, answers))
        #expect(session.idToken?.level == Self.strong)
    }

    // MARK: Links

    /// A bench, and the token of a link that its administrator has sent.
    private static func linked(
        _ purpose: String,
        _ change: (inout OktaConfiguration) -> Void = { _ in },
        isEngine: Bool = true
    ) throws -> (OktaSandboxBench, Secret) {
        let bench = try OktaSandboxBench(configuration: change, settings: { $0.okta.isIdentityEngine = isEngine })
        let order: JSONValue = ["user": .string(eva), "for": .string(purpose)]
        let answer = bench.world.withLock { harness in
            harness.send(
                SandboxRequest(
                    method: "POST",
                    target: "/_sandbox/okta/link",
                    headers: [],
                    body: Array(order.description.utf8)
                )
            )
        }
        return (bench, Secret(try #require(answer.jsonBody?["token"]?.string)))
    }

    private static func follow(_ bench: OktaSandboxBench, _ token: OktaLinkToken, _ reader: Reader) async throws
        -> OktaAuth.OktaSession
    {
        var flow = bench.okta.signInFlow(redeeming: token)
        return try await bench.clock.skippingWaits { try await flow.run(answering: reader) }
    }

    @Test(arguments: [true, false], ["recovery", "activation"])
    func aLinkLeadsToANewPassword(isEngine: Bool, purpose: String) async throws {
        let (bench, token) = try Self.linked(purpose, isEngine: isEngine)
        let link: OktaLinkToken = purpose == "recovery" ? .recovery(token) : .activation(token)
        let reader = Reader(bench, [.newPassword: [.text(Self.new)]])
        let session = try await Self.follow(bench, link, reader)
        #expect(session.userID != nil && reader.keys == [.newPassword])
        #expect(Self.forms(bench, "/interact").first?["\(purpose)_token"] == (isEngine ? token.reveal() : nil))
        // It is used up.
        try await Self.expectRefusal(of: link, bench)
    }

    /// Whoever follows a link that is worth nothing reads what to do about it, whatever is wrong with it.
    @Test(arguments: [true, false], ["recovery", "activation"])
    func aLinkThatIsWorthNothing(isEngine: Bool, purpose: String) async throws {
        let (bench, token) = try Self.linked(purpose, isEngine: isEngine)
        // Of the other sort, or nonsense.
        for token in [token, "nonsense"] {
            try await Self.expectRefusal(of: purpose == "recovery" ? .activation(token) : .recovery(token), bench)
        }
        bench.clock.advance(by: .seconds(90 * 86_400))
        try await Self.expectRefusal(of: purpose == "recovery" ? .recovery(token) : .activation(token), bench)
    }

    private static func expectRefusal(of link: OktaLinkToken, _ bench: OktaSandboxBench) async throws {
        let count = bench.transport.received.count
        let error = await #expect(throws: RecoveryError.self) { try await follow(bench, link, Reader(bench)) }
        #expect(
            error?.kind == .challengeExpired && error?.outcome.remedies == [.newChallenge],
            "\(String(describing: error))"
        )
        #expect(
            error?.userMessage
                == "This link cannot be used: it is too old, was used before, or is not complete. Please ask for a new one."
        )
        // Presenting it again would help nobody.
        let tries = bench.transport.received.dropFirst(count).filter { $0.request.method == .post }
        #expect(tries.count == 1)
    }

    /// Whose account is active already has nothing left to activate: they sign in.
    @Test(arguments: ["hunter2", nil]) func anAccountThatIsActiveAlreadyIsSignedInTo(given: String?) async throws {
        let bench = try OktaBench([.error(16), .success(), .session])
        let answers: [Factor.Key: Secret] = [.text: "ada@example.com", .password: "hunter2"]
        let person = Person(answers)
        var flow = bench.okta.signInFlow(
            redeeming: .activation("at1"),
            identifier: given == nil ? nil : OktaBench.identifier
        )
        let session = try await bench.skippingWaits { try await flow.run(answering: person) }
        #expect(session.userID == "00u1" && person.notices == [.conflict])
        #expect(person.keys == (given == nil ? [.text, .password] : [.password]))
        #expect(
            bench.sent.prefix(2) == ["/authn {token:at1}", "/authn {username:ada@example.com,password:hunter2}"]
        )
        // Of any other link it is an error like others.
        let other = try OktaBench([.error(16)])
        var recovery = other.okta.signInFlow(redeeming: .recovery("rt1"))
        let error = await #expect(throws: RecoveryError.self) {
            try await other.skippingWaits { try await recovery.run(answering: Person()) }
        }
        #expect(error?.kind == .conflict && other.sent.count == 1)
    }

    /// And so it is at a server that keeps its own books.
    @Test(arguments: [OktaSandboxBench.eva, nil]) func aLinkOfAnAccountThatHasBecomeActive(name: String?) async throws {
        let (bench, token) = try Self.linked("activation", isEngine: false)
        _ = try await bench.signIn(Reader(bench))
        let count = bench.transport.received.count
        let answers: [Factor.Key: [Challenge.Answer]] = [
            .text: [.text(Secret(Self.eva))], .password: [.text(Secret(OktaSandboxBench.password))],
        ]
        let reader = Reader(bench, answers)
        let walk = SuspendedWalk(bench.okta, bench.clock, bench.transport)
        let flow = bench.okta.signInFlow(redeeming: .activation(token), identifier: name)
        let session = try await walk.signIn(flow, answering: reader)
        #expect(session.login == Self.eva && reader.keys == (name == nil ? [.text, .password] : [.password]))
        #expect(reader.notices.withLock { $0.map(\.code) } == ["E0000016"])
        let sent = bench.transport.received.dropFirst(count).filter { $0.request.path?.hasSuffix("/authn") == true }
        #expect(sent.count == 2 && sent.count { $0.text.contains(token.reveal()) } == 1)
    }

    /// Direct Authentication knows no tokens of links.
    @Test func aLinkAtADirectApp() async throws {
        let (bench, token) = try Self.linked("recovery") { $0.way = .directAuthentication }
        let reader = Reader(bench, [.newPassword: [.text(Self.new)]])
        _ = try await Self.follow(bench, .recovery(token), reader)
        #expect(bench.count("/oauth2/v1/interact") == 1 && reader.keys == [.newPassword])
    }

    @Test func aLinkIsFollowedAcrossRequests() async throws {
        let (bench, token) = try Self.linked("activation")
        let walk = SuspendedWalk(bench.okta, bench.clock, bench.transport)
        let reader = Reader(bench, [.newPassword: [.text("short"), .text(Self.new)]])
        let session = try await walk.signIn(bench.okta.signInFlow(redeeming: .activation(token)), answering: reader)
        #expect(session.login == Self.eva && reader.keys == [.newPassword, .newPassword])
    }

    // MARK: Step-up

    private static func guarded(
        _ demand: SandboxOAuthSettings.StepUp,
        scope: String = "openid offline_access email"
    ) throws -> OktaSandboxBench {
        try OktaSandboxBench(
            configuration: { $0.app?.scope = scope },
            settings: {
                $0.oauth.stepUp = demand
                $0.oauth.stepUp?.form = "okta"
            }
        )
    }

    private static func read(_ bench: OktaSandboxBench, _ reader: Reader?) async throws -> JSONValue {
        try await bench.clock.skippingWaits {
            try await bench.okta.send(ProviderRequest(path: "/api/v1/users/me"), answering: reader)
        }
        .json()
    }

    @Test func aStrongerSignInIsAskedForAndTheRequestSentOnceMore() async throws {
        let bench = try Self.guarded(.init(acrValues: Self.strong))
        _ = try await bench.signIn(Reader(bench))
        let refused = await #expect(throws: RecoveryError.self) { try await Self.read(bench, nil) }
        #expect(refused?.kind == .stepUpRequired && refused?.outcome.advice?["acr_values"]?.string == Self.strong)
        let reader = Reader(bench, [.password: [.text(Secret(OktaSandboxBench.password))]])
        let answer = try await Self.read(bench, reader)
        #expect(answer["request"] == 1 && reader.keys == [.password])
        #expect(reader.asked.withLock { $0.first?.occasion.kind } == .stepUpRequired)
        #expect(Self.forms(bench, "/interact").last?["acr_values"] == Self.strong)
        // What is strong enough now asks nobody.
        #expect(try await Self.read(bench, Reader(bench))["request"] == 2)
    }

    @Test func aFresherSignInIsAskedFor() async throws {
        let bench = try Self.guarded(.init(maximumAge: 60_000))
        _ = try await bench.signIn(Reader(bench))
        _ = try await Self.read(bench, Reader(bench))
        bench.clock.advance(by: .seconds(120))
        let reader = Reader(bench, [.password: [.text(Secret(OktaSandboxBench.password))]])
        #expect(try await Self.read(bench, reader)["request"] == 2)
        #expect(Self.forms(bench, "/interact").last?["max_age"] == "60" && reader.keys == [.password])
    }

    /// What no sign-in is strong enough for is asked for once, and not for ever.
    @Test func whatIsNeverStrongEnoughEnds() async throws {
        let bench = try Self.guarded(.init(acrValues: "urn:never"))
        _ = try await bench.signIn(Reader(bench))
        bench.world.withLock { $0.world.settings.oauth.stepUp?.maximumAge = -1 }
        let reader = Reader(bench, [.password: [.text(Secret(OktaSandboxBench.password))]])
        let error = await #expect(throws: RecoveryError.self) { try await Self.read(bench, reader) }
        #expect(error?.kind == .stepUpRequired && reader.keys == [.password])
    }

    /// The request is not sent as somebody else, whose tokens are given up.
    @Test func nobodyElseGetsThrough() async throws {
        let bench = try Self.guarded(.init(acrValues: Self.strong), scope: "openid offline_access")
        let session = try await bench.signIn(Reader(bench))
        bench.world.withLock { harness in
            _ = harness.send(
                SandboxRequest(
                    method: "POST",
                    target: "/_sandbox/users",
                    headers: [],
                    body: Array(#"{"emails":"max@example.com","password":"\#(OktaSandboxBench.password)"}"#.utf8)
                )
            )
        }
        let held = await bench.tokens.read().credentials
        let answers: [Factor.Key: [Challenge.Answer]] = [
            .text: [.text("max@example.com")], .password: [.text(Secret(OktaSandboxBench.password))],
        ]
        let error = await #expect(throws: RecoveryError.self) { try await Self.read(bench, Reader(bench, answers)) }
        #expect(error?.kind == .stepUpRequired && error?.reason == .identityChanged)
        #expect(await bench.tokens.read().credentials == held && session.userID != nil)
        #expect(bench.count("/oauth2/v1/revoke") == 2)
    }
}
