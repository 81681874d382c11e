import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Synchronization
import Testing

@Suite struct P1NothingIsSpentTwice {
    private static let create = ScriptedTransport.Step.signIn("needs_first_factor", first: ClerkJSON.email)
    private static let newPassword = ScriptedTransport.Step.signIn("needs_new_password")

    /// The steps of a sign-in by code, so that each in turn can go wrong.
    private static let steps: [ScriptedTransport.Step] = [create, create, newPassword, .complete()]

    private func signIn(_ bench: ClerkBench) async throws -> ClerkSession {
        try await bench.signIn(nil, Person([.emailCode: "424242", .newPassword: "new"]))
    }

    @Test(arguments: 0..<4)
    func aStepWhoseAnswerWasLostIsNotRepeatedAndSaysSo(lost: Int) async throws {
        for failure in [
            ScriptedTransport.Step.fail(.connectionLost, .unknown), .fail(.timedOut, .unknown),
            .fail(.truncated, .answered), .status(500), .status(502, [:], body: "<html>"), .status(503), .status(504),
        ] {
            // Nobody tells what has become of it either.
            let bench = try ClerkBench(Self.steps.prefix(lost) + [failure])
            let error = await #expect(throws: RecoveryError.self) { try await signIn(bench) }
            #expect(error?.reason == .processedUnknown)
            #expect(bench.sent.filter { $0.hasPrefix("POST ") }.count == lost + 1)
            #expect(bench.sent.dropFirst(lost + 1).allSatisfy { $0.hasPrefix("GET ") })
            #expect(error?.outcome.processed != .no)
        }
    }

    @Test(arguments: 0..<4)
    func aStepThatTheServerHasNotSeenIsRepeated(lost: Int) async throws {
        for failure in [
            ScriptedTransport.Step.fail(.cannotConnect, .neverSent), .fail(.cannotResolve, .neverSent),
            .fail(.streamRefused, .notProcessed), .status(503, ["retry-after": "1"]), .status(429),
        ] {
            var steps = Self.steps
            steps.insert(failure, at: lost)
            let bench = try ClerkBench(steps)
            #expect(try await signIn(bench).id == "sess_1")
            #expect(bench.transport.received.count == 5)
            #expect(bench.sent[lost] == bench.sent[lost + 1])
        }
    }

    /// What else is spent: tickets, approvals of links, signatures, answers within a session and at a sign-up.
    private enum Spending: CaseIterable {
        case ticket, approval, passkey, reverification, signUp, signUpCode
    }

    private func spend(_ what: Spending, _ bench: ClerkBench) async throws {
        let person = Person([.emailCode: "1", .password: "p"])
        try await bench.skippingWaits {
            switch what {
            case .ticket: _ = try await bench.clerk.signIn(ticket: "t", answering: person)
            case .approval:
                let address: Secret = "app://x?flow_id=f&approval_token=a"
                let link = ClerkEmailLink(proof: OAuthClient.ProofKey())
                _ = try await bench.clerk.signIn(link: link, ledTo: address, answering: person)
            case .passkey: _ = try await bench.clerk.signInWithPasskey(answering: person)
            case .reverification: try await bench.clerk.reverify(answering: person)
            case .signUp, .signUpCode:
                _ = try await bench.clerk.signUp(ClerkSignUpRequest(emailAddress: "a@b"), answering: person)
            }
        }
    }

    private static func before(_ what: Spending) -> [ScriptedTransport.Step] {
        let options = #"{\"challenge\":\"AQID\",\"rpId\":\"example.com\"}"#
        let unproved =
            #"{"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements","unverified_fields":["email_address"]}"#
        func answer(_ resource: String) -> ScriptedTransport.Step {
            .status(200, [:], body: "{\"response\":\(resource),\"client\":null}")
        }
        return switch what {
        case .ticket, .approval, .signUp: []
        case .passkey:
            [
                answer(
                    #"{"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor","first_factor_verification":{"status":"unverified","strategy":"passkey","nonce":"\#(options)"}}"#
                )
            ]
        case .reverification:
            [
                .client(["sess_1"]),
                answer(
                    #"{"object":"session_verification","status":"needs_first_factor","supported_first_factors":[{"strategy":"password"}]}"#
                ),
            ]
        case .signUpCode: [answer(unproved), answer(unproved)]
        }
    }

    private static func bench(_ what: Spending, _ steps: [ScriptedTransport.Step]) throws -> ClerkBench {
        try ClerkBench(
            before(what) + steps,
            credentials: Credentials(clientToken: "T0", sessionID: what == .reverification ? "sess_1" : nil),
            configuration: ClerkConfiguration(authenticator: Authenticator())
        )
    }

    @Test(arguments: Spending.allCases)
    private func whateverIsSpentIsNotRepeatedOnDoubt(what: Spending) async throws {
        for failure in [
            ScriptedTransport.Step.fail(.connectionLost, .unknown), .fail(.timedOut, .unknown),
            .fail(.truncated, .answered), .status(500), .status(502, [:], body: "<html>"), .status(504),
        ] {
            let bench = try Self.bench(what, [failure])
            let error = await #expect(throws: RecoveryError.self) { try await spend(what, bench) }
            #expect(error?.reason == .processedUnknown)
            // What has become of it is asked, where that can be asked; it is not sent again.
            let after = bench.sent.dropFirst(Self.before(what).count)
            #expect(after.dropFirst().allSatisfy { $0.hasPrefix("GET ") } && !after.isEmpty)
        }
    }

    @Test(arguments: Spending.allCases)
    private func whateverIsSpentGoesOutAgainWhereTheServerHasNotTakenIt(what: Spending) async throws {
        for failure in [
            ScriptedTransport.Step.fail(.cannotConnect, .neverSent), .fail(.streamRefused, .notProcessed),
            .status(429, ["retry-after": "1"]), .status(503, ["retry-after": "1"]),
        ] {
            let bench = try Self.bench(what, [failure, .status(418)])
            await #expect(throws: RecoveryError.self) { try await spend(what, bench) }
            let sent = bench.sent.suffix(2)
            #expect(sent.count == 2 && sent.first == sent.last)
            #expect(bench.transport.received.count == Self.before(what).count + 2)
        }
    }

    @Test func twoSessionTokensForOneSpendNothing() async throws {
        for failure in [ScriptedTransport.Step.fail(.connectionLost, .unknown), .status(500)] {
            let bench = try ClerkBench(
                [failure, .token(1)],
                credentials: Credentials(clientToken: "T0", sessionID: "sess_1")
            )
            _ = try await bench.skippingWaits { try await bench.clerk.sessionToken() }
            #expect(bench.transport.received.count == 2)
        }
    }

    @Test func noRepeatGoesOutUnderAnotherIdentity() async throws {
        let tokens = InMemoryTokenStore(Credentials(clientToken: Secret(Token.of("client_1", 1))))
        let bench = try ClerkBench(
            [
                .run { _ in
                    // While the server is busy, somebody else signs in on this machine.
                    try await tokens.update { $0.clientToken = Secret(Token.of("client_2", 1)) }
                    return .scripted(503, ["retry-after": "1"])
                }
            ],
            tokens: tokens
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.reason == .identityChanged)
        #expect(error?.kind == .stateConflict)
        #expect(bench.transport.received.count == 1)
        #expect(await tokens.read().credentials.clientToken?.reveal() == Token.of("client_2", 1))
    }

    @Test func theSameClientsNewerTokenIsNoOtherIdentity() async throws {
        let tokens = InMemoryTokenStore(Credentials(clientToken: Secret(Token.of("client_1", 1))))
        let bench = try ClerkBench(
            [
                .run { _ in
                    try await tokens.update { $0.clientToken = Secret(Token.of("client_1", 2)) }
                    return .scripted(503, ["retry-after": "1"])
                }, .complete(token: nil),
            ],
            tokens: tokens
        )
        _ = try await bench.signIn()
        #expect(bench.sentTokens == [Token.of("client_1", 1), Token.of("client_1", 2)])
    }

    @Test(arguments: [nil, "opaque", Token.of("client_1", 1)])
    func aTokenThatTheServerItselfGivesWithARefusalIsNoOtherIdentity(token: String?) async throws {
        let bench = try ClerkBench(
            [.error("too_many_requests", status: 429, ["authorization": "T-new", "retry-after": "1"]), .complete()],
            credentials: Credentials(clientToken: token.map { Secret($0) })
        )
        _ = try await bench.signIn()
        #expect(bench.sentTokens == [token ?? "", "T-new"])
    }
}

@Suite struct P2NoAttemptWhileLocked {
    @Test func aSignInToAnAccountThatIsKnownToBeLockedSendsNothingAndAsksNothing() async throws {
        let bench = try ClerkBench([.error("user_locked", status: 403, meta: #"{"lockout_expires_in_seconds":600}"#)])
        await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        bench.clock.advance(by: .seconds(200))
        for password in [Secret("hunter2"), nil] {
            let person = Person([.password: "p"])
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.clerk.signIn(identifier: " ADA@example.com", password: password, answering: person)
            }
            #expect(error?.kind == .accountLocked)
            #expect(error?.retryAfter == .seconds(400))
            #expect(error?.outcome.code == "user_locked")
            #expect(person.keys.isEmpty)
        }
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(400))
        bench.transport.append([.complete()])
        #expect(try await bench.signIn().id == "sess_1")
    }

    @Test func nobodyElsesSignInIsHeld() async throws {
        let bench = try ClerkBench([.error("user_locked", status: 403)])
        await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        bench.transport.append([.complete()])
        _ = try await bench.clerk.signIn(identifier: "grace@example.com", password: "p", answering: Person())
    }
}

@Suite struct P3TheServersWordIsKept {
    @Test func afterALimitNoSessionTokenIsAskedForByAnyTask() async throws {
        let bench = try ClerkBench(
            [.status(429, ["retry-after": "30"])] + (1...20).map { .token($0, issuedAt: 40) },
            credentials: Credentials(clientToken: "T0", sessionID: "sess_1")
        )
        let waiting = (0..<20).map { number in
            Task { try await bench.clerk.sessionToken(template: number % 2 == 0 ? nil : "t\(number)") }
        }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .milliseconds(29_999))
        for _ in 0..<200 { await Task.yield() }
        let early = bench.sent.count { $0 == "POST /client/sessions/sess_1/tokens" }
        #expect(early <= 1)
        try await bench.skippingWaits { for task in waiting { _ = try await task.value } }
    }
}

@Suite struct P7AmplificationIsBounded {
    @Test func inAnOutageTokensAndReadsStayWithinTheBudget() async throws {
        let bench = try ClerkBench(
            Array(repeating: .status(500), count: 400),
            credentials: Credentials(clientToken: "T0", sessionID: "sess_1")
        )
        for _ in 0..<100 {
            _ = try? await bench.skippingWaits { try await bench.clerk.sessionToken() }
        }
        #expect(bench.transport.received.count <= 130)
    }

    @Test func aServerThatRefusesEverythingCostsThreeRequestsACall() async throws {
        let bench = try ClerkBench(
            [],
            credentials: Credentials(clientToken: "T0", sessionID: "sess_1")
        )
        for _ in 0..<10 {
            let refusal = ScriptedTransport.Step.error("authentication_invalid", status: 401)
            bench.transport.append([refusal, .client(["sess_1"]), refusal])
            await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        }
        #expect(bench.transport.received.count == 30)
    }
}

@Suite struct P8CancellationIsPrompt {
    @Test(.timeLimit(.minutes(30)), arguments: 1...4)
    func itEndsASignInAtAnyRequest(number: Int) async throws {
        let create = ScriptedTransport.Step.signIn("needs_first_factor", first: ClerkJSON.email)
        var steps: [ScriptedTransport.Step] = [create, create, .signIn("needs_new_password"), .complete()]
        steps[number - 1] = .hang
        let bench = try ClerkBench(steps)
        let task = Task { try await bench.signIn(nil, Person([.emailCode: "1", .newPassword: "n"])) }
        await bench.transport.waitForRequests(number)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.events.words.last == "done cancelled \(number)")
    }

    @Test(.timeLimit(.minutes(30)))
    func itEndsAWaitWhateverTheResponderDoesWithIt() async throws {
        let bench = try ClerkBench([.status(429, ["retry-after": "60"])])
        let responder = Stubborn()
        let task = Task { try await bench.clerk.signIn(identifier: "ada", password: "p", answering: responder) }
        await bench.clock.waitForSleepers(1)
        await responder.shows.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await responder.release.open()
        await responder.ended.wait()
    }

    @Test(.timeLimit(.minutes(30)))
    func aResponderWhoHasAnotherWordForItIsNotBelieved() async throws {
        let bench = try ClerkBench([.signIn("needs_second_factor", second: ClerkJSON.totp)])
        let responder = Stubborn()
        let task = Task { try await bench.clerk.signIn(identifier: "ada", password: "p", answering: responder) }
        await responder.asked.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.transport.received.count == 1)
    }

    @Test(.timeLimit(.minutes(30)))
    func aTokenThatHasArrivedIsKeptAllTheSame() async throws {
        let tokens = SlowStore(Credentials(clientToken: "T0"))
        let bench = try ClerkBench([.complete("sess_1", token: "T1")], tokens: tokens)
        let task = Task { try await bench.clerk.signIn(identifier: "ada", password: "p", answering: Person()) }
        await tokens.replacing.wait()
        task.cancel()
        await tokens.release.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await tokens.read().credentials.clientToken == "T1")
    }
}

/// Shows waits until it is let go, whatever happens, and answers a cancellation in its own words.
private final class Stubborn: ChallengeResponder {
    let asked = Latch()
    let shows = Latch()
    let release = Latch()
    let ended = Latch()

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        await asked.open()
        try? await Task.sleep(for: .seconds(86_400))
        throw Challenge.NoAnswer(challenge.key)
    }

    func waiting(for reason: Outcome.Kind, duration: Duration, until: Timestamp) async {
        await shows.open()
        await release.wait()
        await ended.open()
    }
}

/// A store that takes its time to write.
private final class SlowStore: TokenStore {
    let replacing = Latch()
    let release = Latch()
    private let store: InMemoryTokenStore

    init(_ credentials: Credentials) {
        store = InMemoryTokenStore(credentials)
    }

    func read() async -> Credentials.Stored { await store.read() }

    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        await replacing.open()
        await release.wait()
        try Task.checkCancellation()
        return await store.replace(version: version, with: credentials)
    }

    func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? {
        await store.acquireLease(for: duration, time: time)
    }
}

/// Something that happens once and is awaited.
actor Latch {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}

/// Client tokens as Clerk makes them: a JWT with the client's id and a value that rotates.
enum Token {
    static func of(_ client: String, _ rotation: Int) -> String {
        let claims = Array("{\"id\":\"\(client)\",\"rotating_token\":\"r\(rotation)\"}".utf8)
        return "eyJhbGciOiJub25lIn0.\(base64(claims)).c2ln"
    }

    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0...group.count { text.append(alphabet[value >> (18 - 6 * index) & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
