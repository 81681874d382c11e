import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A person whose browser comes back with what a test says; `STATE` stands for the state of the request.
final class Browser: ChallengeResponder {
    private let state: Locked<(answers: [String], asked: [Challenge], notices: [Outcome])>

    convenience init(_ answers: String...) { self.init(answers) }

    init(_ answers: [String]) { state = Locked((answers, [], [])) }

    var asked: [Challenge] { state.withLock { $0.asked } }
    var notices: [Outcome] { state.withLock { $0.notices } }

    /// The fields of the query of each dialog.
    var queries: [[String: String]] {
        asked.map { Self.fields($0.url?.reveal() ?? "") }
    }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        let answer: String? = state.withLock { state in
            state.asked.append(challenge)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer, challenge.key == .redirect, let url = challenge.url?.reveal() else {
            throw Challenge.NoAnswer(challenge.key)
        }
        let parts = answer.components("STATE")
        return .text(Secret(parts.joined(separator: Self.fields(url)["state"] ?? "")))
    }

    func notice(_ outcome: Outcome) async { state.withLock { $0.notices.append(outcome) } }

    static func fields(_ url: String) -> [String: String] {
        let query = url.split(separator: "?", maxSplits: 1).last ?? ""
        let pairs = query.split(separator: "&").map { pair -> (String, String) in
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (halves[0], halves.count > 1 ? halves[1] : "")
        }
        return Dictionary(pairs) { first, _ in first }
    }
}

extension String {
    /// The parts between a separator.
    fileprivate func components(_ separator: String) -> [String] {
        var parts = [""]
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(separator) {
                parts.append("")
                rest = rest.dropFirst(separator.count)
            } else {
                parts[parts.count - 1].append(rest.removeFirst())
            }
        }
        return parts
    }
}

@Suite("Signing in to Facebook in a browser")
struct FacebookWebLoginTests {
    private static let back = "http://127.0.0.1:5000/back"
    private static let good = "\(back)?code=c1&state=STATE#_=_"

    static let configuration = FacebookConfiguration(
        webLogin: .init(redirectURI: back),
        permissions: ["public_profile", "email"]
    )

    private static func bench(
        _ steps: [ScriptedTransport.Step],
        app: FacebookApp = FacebookBench.service,
        configuration: FacebookConfiguration = configuration,
        credentials: Credentials = Credentials()
    ) throws -> FacebookBench {
        try FacebookBench(steps, app: app, credentials: credentials, configuration: configuration)
    }

    @Test func theDialogIsOpenedAndItsCodeExchangedWithTheSecret() async throws {
        let bench = try Self.bench([.token(), .me])
        let browser = Browser("\(Self.back)?code=c1&granted_scopes=public_profile&denied_scopes=email&state=STATE#_=_")
        let session = try await bench.facebook.signIn(answering: browser)
        #expect(session.user?.name == "Ada")
        #expect(session.permissions.map(\.name) == ["public_profile", "email"])
        #expect(session.permissions.map(\.status) == [.granted, .declined])
        let url = browser.asked.first?.url?.reveal() ?? ""
        #expect(url.hasPrefix("https://www.facebook.com/v25.0/dialog/oauth?client_id=77&redirect_uri=http%3A%2F%2F127"))
        let query = try #require(browser.queries.first)
        #expect(query["scope"] == "public_profile%2Cemail" && query["response_type"] == "code")
        #expect(query["return_scopes"] == "true" && query["state"]?.isEmpty == false)
        #expect(query["code_challenge"] == nil && query["auth_type"] == nil)
        #expect(
            bench.sent[0]
                == "GET /v25.0/oauth/access_token?client_id=77&redirect_uri=http%3A%2F%2F127.0.0.1%3A5000%2Fback&client_secret=s3cret&code=c1"
        )
        #expect(try await bench.credentials.accessToken == "tok2")
        #expect("\(browser.asked)".contains(query["state"] ?? "") == false, "the state is not printed")
    }

    @Test(arguments: FacebookConfiguration.WebLogin.AuthType.allCases)
    func whoWasAskedBeforeIsAskedWhy(authType: FacebookConfiguration.WebLogin.AuthType) async throws {
        let bench = try Self.bench([.token(), .me])
        let browser = Browser(Self.good)
        _ = try await bench.facebook.signIn(permissions: ["email"], authType: authType, answering: browser)
        #expect(browser.queries[0]["auth_type"] == authType.rawValue)
        #expect(browser.queries[0]["scope"] == "email")
        #expect((browser.queries[0]["auth_nonce"] != nil) == (authType == .reauthenticate))
    }

    @Test func aTestsGraphHasItsSiteBesideIt() async throws {
        let facebook = try Facebook(
            app: FacebookBench.service,
            graph: "http://127.0.0.1:9/x",
            client: RecoveringClient(transport: ScriptedTransport(), runtime: .manual()),
            tokens: InMemoryTokenStore(),
            configuration: Self.configuration
        )
        var flow = facebook.signInFlow()
        guard case .ask(let challenge) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        #expect(challenge.url?.reveal().hasPrefix("http://127.0.0.1:9/x/v25.0/dialog/oauth?") == true)
        var configuration = Self.configuration
        configuration.webLogin?.site = "www.facebook.com?x"
        #expect(throws: Origin.InvalidURL.self) { try FacebookBench(configuration: configuration) }
    }

    // MARK: What comes back

    /// A redirect that is a refusal.
    static let refusals: [(String, Outcome.Kind, [Outcome.Remedy], String?)] = [
        (
            "error=access_denied&error_code=200&error_description=Permissions+error&error_reason=user_denied",
            .declined,
            [], "access_denied"
        ), ("error=access_denied", .declined, [], "access_denied"),
        (
            "error=access_denied&error_code=200&error_reason=app_blocked", .permissionDenied,
            [.reauthenticate, .contactAdmin], "200"
        ),
        ("error_code=191&error_message=URL+blocked", .misconfigured, [.fixRequest], "191"),
        ("error_code=100&error_message=Invalid+Scopes", .misconfigured, [.fixRequest], "100"),
        ("error=invalid_request&error_code=100&error_description=x", .misconfigured, [.fixRequest], "100"),
        ("error=invalid_scope&error_description=x", .invalidRequest, [.fixRequest], "invalid_scope"),
        ("error_code=4&error_message=x", .rateLimited, [.wait], "4"),
        ("error_code=987654&error_message=x", .unknown, [], "987654"), ("x=1", .unreadable, [], nil),
    ]

    @Test(arguments: refusals.indices)
    func aRefusalIsWhatItSays(index: Int) async throws {
        let (fields, kind, remedies, code) = Self.refusals[index]
        for joint in ["?", "#"] where !(joint == "#" && !fields.hasPrefix("error=")) {
            let bench = try Self.bench([], credentials: FacebookBench.held)
            let browser = Browser("\(Self.back)\(joint)\(fields)&state=STATE")
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.facebook.signIn(answering: browser)
            }
            #expect(error?.kind == kind, "\(fields)")
            #expect(error?.remedies == remedies, "\(fields)")
            #expect(error?.outcome.code == code)
            #expect(error.flatMap { FacebookLoginError($0) } == (kind == .unknown ? .unknown : nil))
            #expect(browser.asked.count == 1 && bench.transport.received.isEmpty)
            // Whoever was signed in stays so.
            #expect(try await bench.credentials.accessToken == "tok1")
        }
    }

    @Test func anOutageOfTheDialogIsTriedAgain() async throws {
        let bench = try Self.bench([.token(), .me])
        let browser = Browser("\(Self.back)?error=server_error&error_code=2&state=STATE", Self.good)
        _ = try await bench.facebook.signIn(answering: browser)
        #expect(browser.asked.count == 2)
        #expect(browser.notices.map(\.kind) == [.unavailable])
        #expect(browser.queries[0]["state"] != browser.queries[1]["state"])
    }

    /// Nothing in an address is believed before its state is: neither a code nor an error ends the sign-in.
    @Test(arguments: [
        "code=evil&state=x", "code=evil", "error=access_denied&error_code=200&state=x",
        "code=evil&state=STATE&state=STATE",
        "",
    ])
    func anAddressThatAnswersAnotherRequestIsAskedForAgain(fields: String) async throws {
        let bench = try Self.bench([.token(), .me])
        let browser = Browser("\(Self.back)?\(fields)", Self.good)
        _ = try await bench.facebook.signIn(answering: browser)
        #expect(browser.asked.count == 2)
        // The request is the same: its answer may still come.
        #expect(browser.asked[0].url == browser.asked[1].url)
        #expect(bench.sent.filter { $0.contains("oauth/access_token") }.count == 1)
        #expect(bench.sent[0].hasSuffix("code=c1"))

        let stubborn = try Self.bench([])
        let wrong = "\(Self.back)?\(fields)"
        let error = await #expect(throws: RecoveryError.self) {
            try await stubborn.facebook.signIn(answering: Browser(wrong, wrong, wrong, wrong))
        }
        #expect(error?.outcome.code == "state_mismatch")
        #expect(error.flatMap { FacebookLoginError($0) } == .badChallengeString)
        #expect(error?.userMessage == FacebookLoginError.badChallengeString.userMessage)
        #expect(stubborn.transport.received.isEmpty)
    }

    // MARK: The exchange

    /// A code is sent once: after a lost answer, and after a refusal of the code, the dialog begins again.
    @Test(
        arguments: [
            .fail(.connectionLost, .unknown), .status(502), .error(2, nil, 500), .error(1),
            .status(400, [:], body: Recorded.error(100, nil, "This authorization code has been used.")),
            .status(400, [:], body: Recorded.error(100, 36_009, "This authorization code has expired.")),
            .status(400, [:], body: Recorded.error(100, nil, "Error validating verification code.")),
        ] as [ScriptedTransport.Step]
    )
    func aCodeIsSentOnce(step: ScriptedTransport.Step) async throws {
        let bench = try Self.bench([step, .token(), .me])
        let browser = Browser(Self.good, "\(Self.back)?code=c2&state=STATE")
        let session = try await bench.skippingWaits { try await bench.facebook.signIn(answering: browser) }
        #expect(session.user?.id == "1")
        #expect(browser.asked.count == 2)
        #expect(browser.queries[0]["state"] != browser.queries[1]["state"])
        let codes = bench.sent.filter { $0.contains("oauth/access_token") }.map { $0.suffix(7) }
        #expect(codes == ["code=c1", "code=c2"])
    }

    @Test func whatProvesThatTheCodeWasNotLookedAtIsRepeated() async throws {
        for step in [
            ScriptedTransport.Step.fail(.cannotConnect, .neverSent), .error(4, nil, 403, ["retry-after": "2"]),
        ] {
            let bench = try Self.bench([step, .token(), .me])
            let browser = Browser(Self.good)
            _ = try await bench.skippingWaits { try await bench.facebook.signIn(answering: browser) }
            #expect(browser.asked.count == 1)
            #expect(bench.sent[0] == bench.sent[1])
        }
    }

    @Test func aWrongSecretIsASetting() async throws {
        let body = Recorded.error(1, nil, "Error validating client secret.")
        for step in [ScriptedTransport.Step.status(400, [:], body: body), .error(101)] {
            let bench = try Self.bench([step])
            let browser = Browser(Self.good)
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.facebook.signIn(answering: browser)
            }
            #expect(error?.kind == .misconfigured)
            #expect(browser.asked.count == 1)
        }
    }

    // MARK: Proof keys

    private static func idToken(_ claims: String) -> String {
        let parts = [#"{"alg":"RS256"}"#, claims].map { Base64.encodeForURL($0.utf8) }
        return "\(parts[0]).\(parts[1]).c2ln"
    }

    @Test func withoutASecretAProofKeyStandsForIt() async throws {
        let bench = try Self.bench([], app: FacebookApp(id: "77"))
        let browser = Browser(Self.good)
        let nonce = Locked("")
        bench.transport.append([
            .run { _ in
                let token = Self.idToken(
                    #"{"iss":"https://www.facebook.com","exp":9999999999,"nonce":"\#(nonce.withLock { $0 })","aud":"77"}"#
                )
                return .scripted(200, body: #"{"access_token":"tok2","expires_in":60,"id_token":"\#(token)"}"#)
            }, .me,
        ])
        var flow = bench.facebook.signInFlow()
        guard case .ask(let challenge) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        guard case .text(let answer) = try await browser.answer(challenge) else { return #expect(Bool(false)) }
        let query = Browser.fields(challenge.url?.reveal() ?? "")
        #expect(query["scope"] == "openid%2Cpublic_profile%2Cemail" && query["code_challenge_method"] == "S256")
        nonce.withLock { $0 = query["nonce"] ?? "" }
        guard case .finished(let session) = try await flow.step(.answer(.text(answer))).step else {
            return #expect(Bool(false))
        }
        #expect(session.user?.id == "1")
        let exchange = Browser.fields(bench.sent[0])
        #expect(exchange["client_secret"] == nil)
        let key = OAuthClient.ProofKey(verifier: Secret(exchange["code_verifier"] ?? ""))
        #expect(key?.challenge == query["code_challenge"])
    }

    @Test(arguments: [nil, idToken(#"{"nonce":"another"}"#), "no.token"] as [String?])
    func anIDTokenOfAnotherRequestIsNotBelieved(token: String?) async throws {
        let member = token.map { #","id_token":"\#($0)""# } ?? ""
        let bench = try Self.bench([.answer(#"{"access_token":"tok2"\#(member)}"#)], app: FacebookApp(id: "77"))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.signIn(answering: Browser(Self.good))
        }
        #expect(error.flatMap { FacebookLoginError($0) } == .invalidIDToken)
        #expect(try await bench.credentials.accessToken == nil)
    }

    @Test func whoHasNeitherIsToldBeforeAnybodyIsAsked() async throws {
        var configuration = Self.configuration
        configuration.webLogin?.usesProofKey = false
        let bench = try Self.bench([], app: FacebookApp(id: "77"), configuration: configuration)
        let browser = Browser(Self.good)
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.signIn(answering: browser) }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "client_secret")
        #expect(browser.asked.isEmpty)
    }

    // MARK: Between two requests of a backend

    @Test func itGoesOnAtAnotherMachineFromWhatWasWrittenDown() async throws {
        let bench = try Self.bench([.token(), .me])
        var flow = bench.facebook.signInFlow(permissions: ["email"], authType: .rerequest)
        guard case .ask(let challenge) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        guard case .text(let answer) = try await Browser(Self.good).answer(challenge) else {
            return #expect(Bool(false))
        }
        let memory = try JSONValue(parsing: flow.machine.memory.description)
        let other = try Self.bench([.token(), .me])
        var machine = try #require(other.facebook.signInMachine(from: memory))
        guard case .finished(let session) = try await machine.submit(answer, to: challenge) else {
            return #expect(Bool(false))
        }
        #expect(session.user?.id == "1")
        #expect(other.sent[0].hasSuffix("code=c1"))
        // A machine that has no way in by a browser takes none up.
        let device = try FacebookBench(credentials: Credentials())
        #expect(device.facebook.signInMachine(from: memory) == nil)
    }
}
