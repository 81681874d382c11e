import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import SignInSupport
import Testing

@Suite("What PingAM shows once")
struct ForgeRockShownOnceTests {
    private let start = "authenticate?authIndexType=service&authIndexValue=Login"

    /// The script of the node that shows recovery codes.
    private static func codes(_ codes: [String], device: String = "<em>New Security Key</em>") -> String {
        let lines = codes.map {
            "    \"<div class=\\\"text-center\\\">\\n\" +\n    \"\($0)\\n\" +\n    \"</div>\\n\" +\n"
        }
        return AM.text(
            "var newLocation = document.getElementById(\"wrapper\");\n"
                + "newLocation.getElementsByTagName(\"fieldset\")[0].innerHTML = \"<h3>Your Recovery Codes</h3>\\n\" +\n"
                + lines.joined() + "    \"<p>which has been named: \(device)</p>\\n\" +\n    \"</div>\";\n",
            kind: "4"
        )
    }

    private static func hidden(_ id: String, _ value: String) -> String {
        #"{"type":"HiddenValueCallback","output":[{"name":"value","value":"\#(value)"},{"name":"id","value":"\#(id)"}],"#
            + #""input":[{"name":"IDToken3","value":"\#(id)"}]}"#
    }

    private static let uri = "otpauth://totp/Acme:ada?secret=JBSWY3DPEHPK3PXP&issuer=Acme"

    /// A person who writes down what is shown, and how many requests had gone out by then.
    private final class Reader: ChallengeResponder {
        let seen = Locked<[(Challenge, Int)]>([])
        let transport: ScriptedTransport
        let person: Person

        init(_ transport: ScriptedTransport, _ person: Person = Person()) {
            self.transport = transport
            self.person = person
        }

        func answer(_ challenge: Challenge) async throws -> Challenge.Answer { try await person.answer(challenge) }

        func show(_ challenge: Challenge) async {
            seen.withLock { $0.append((challenge, transport.received.count)) }
        }

        func notice(_ outcome: Outcome) async { await person.notice(outcome) }
    }

    private func shown(
        _ steps: [ScriptedTransport.Step],
        _ person: Person = Person()
    ) async throws -> (ForgeRockBench, [(challenge: Challenge, requests: Int)]) {
        let bench = try ForgeRockBench(steps)
        let reader = Reader(bench.transport, person)
        _ = try await bench.skippingWaits {
            try await bench.forgeRock.signIn(identifier: "ada", password: "hunter2", answering: reader)
        }
        return (bench, reader.seen.withLock { $0 }.map { (challenge: $0.0, requests: $0.1) })
    }

    @Test func recoveryCodesAreShownBeforeTheServerForgetsThem() async throws {
        let (bench, seen) = try await shown([
            .login, .step(Self.codes(["iZmEtxvQ00", "Eqw3GFVamY"]), id: "a2"), .success(),
        ])
        #expect(seen.map(\.requests) == [2], "the step was not sent yet")
        let challenge = try #require(seen.first?.challenge)
        #expect(challenge.key == .backupCode && challenge.setup?.reveal() == "iZmEtxvQ00\nEqw3GFVamY")
        #expect(challenge.prompt?.contains("New Security Key") == true)
        #expect(bench.sent.last == "authenticate a2")
        // Nobody else reads them.
        #expect(!bench.events.words.contains { $0.contains("iZmEtxvQ00") })
        #expect(!"\(challenge)".contains("iZmEtxvQ00"))
    }

    @Test func aWebBackendShowsThemAndGoesOnWhenThePersonDoes() async throws {
        let bench = try ForgeRockBench([.step(Self.codes(["iZmEtxvQ00"])), .success()])
        var flow = bench.forgeRock.signInFlow(identifier: "ada", password: nil, options: nil)
        guard case .pending(let challenge, let pause) = try await flow.step(.begin).step else {
            Issue.record("nothing is shown")
            return
        }
        #expect(challenge.setup?.reveal() == "iZmEtxvQ00" && pause.duration == .zero)
        #expect(bench.transport.received.count == 1)
        var resumed = try #require(
            SignInFlow(memory: flow.memory, client: bench.client, options: SignInOptions()) {
                bench.forgeRock.signInMachine(from: $0)
            }
        )
        guard case .finished = try await resumed.step(.poll).step else {
            Issue.record("it does not go on")
            return
        }
        #expect(bench.sent.last == "authenticate a1")
    }

    @Test(arguments: [
        AM.text("document.body.innerHTML = \"spinner\\n\" + \"x\";", kind: "4"),
        AM.text("// Recovery Codes\nalert(\"<h3>none</h3>\\n\")", kind: "4"), AM.text("Your Recovery Codes: abcdefgh"),
        hidden("mfaDeviceRegistration", "https://evil.example/"), hidden("other", uri),
        hidden("mfaDeviceRegistration", ""),
    ])
    func whatIsNoSuchThingIsNotShown(callback: String) async throws {
        let (bench, seen) = try await shown([.login, .step(callback, id: "a2"), .success()])
        #expect(seen.isEmpty && bench.transport.received.count == 3)
    }

    @Test func anAuthenticatorIsSetUpByItsAddress() async throws {
        let script = AM.text("window.QRCodeReader.createCode({ id: 'x', text: '\(Self.uri)' });", kind: "4")
        let hidden = Self.hidden("mfaDeviceRegistration", Self.uri)
        for callbacks in [[script, hidden], [hidden], [script]] {
            let page = ([AM.text("Scan it with your app")] + callbacks + [AM.confirmation("Next", index: 4)])
                .joined(separator: ",")
            let (bench, seen) = try await shown(
                [.login, .step(page, id: "a2"), .step(AM.code, id: "a3"), .success()],
                Person([.totp: "123456"])
            )
            #expect(seen.map(\.requests) == [2])
            #expect(seen.first?.challenge.key == .totp && seen.first?.challenge.setup?.reveal() == Self.uri)
            #expect(seen.first?.challenge.prompt == "Scan it with your app")
            let values = callbacks.contains(hidden) ? #""mfaDeviceRegistration" 0"# : "0"
            #expect(bench.sent.suffix(2) == ["authenticate a2 \(values)", #"authenticate a3 "123456""#])
        }
    }

    @Test(arguments: ["pushauth://push/forgerock:ada?a=b", "mfauth://totp/forgerock:ada?a=b"])
    func aPhoneIsSetUpWhileItIsWaitedFor(uri: String) async throws {
        let hidden = Self.hidden("mfaDeviceRegistration", uri)
        let (bench, seen) = try await shown([
            .login, .step(AM.poll("1000"), hidden, id: "a2"), .step(AM.poll("1000"), hidden, id: "a3"), .success(),
        ])
        #expect(seen.count == 1 && seen.first?.challenge.setup?.reveal() == uri)
        #expect(seen.first?.challenge.key == .push)
        #expect(
            bench.sent.suffix(2) == [
                #"authenticate a2 "mfaDeviceRegistration""#, #"authenticate a3 "mfaDeviceRegistration""#,
            ]
        )
    }

    @Test func theNumberForThePhoneStandsInTheChallenge() async throws {
        let number = Self.hidden("pushChallengeNumber", "73")
        let exit =
            #"{"type":"ConfirmationCallback","output":[{"name":"options","value":["Exit"]},{"name":"optionType","value":-1}],"#
            + #""input":[{"name":"IDToken4","value":100}]}"#
        let (bench, seen) = try await shown([
            .login, .step(AM.poll("1000", "Tap 73"), number, exit, id: "a2"),
            .step(AM.poll("1000", "Tap 73"), number, exit, id: "a3"), .success(),
        ])
        #expect(seen.map(\.challenge.number) == ["73"])
        #expect(seen.first?.challenge.prompt == "Tap 73" && seen.first?.challenge.key == .push)
        #expect(
            bench.sent.suffix(2) == [
                #"authenticate a2 "pushChallengeNumber" 100"#, #"authenticate a3 "pushChallengeNumber" 100"#,
            ]
        )
    }

    @Test func damagedScriptsNeverTrap() async throws {
        let mutator = ByteMutator(seed: 11)
        let seeds = [Self.codes(["iZmEtxvQ00", "Eqw3GFVamY"]), Self.hidden("mfaDeviceRegistration", Self.uri)]
        for _ in 0..<300 {
            let bytes = mutator.mutate(mutator.pick(seeds).utf8)
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            let body = JSONValue.object([.init("authId", "a"), .init("callbacks", [value])]).description
            let bench = try ForgeRockBench([.status(200, [:], body: body), .success()])
            var flow = bench.forgeRock.signInFlow(identifier: "ada", password: "p", options: nil)
            do {
                if case .pending(let challenge, _) = try await flow.step(.begin).step {
                    #expect(challenge.setup?.reveal().utf8.count ?? 0 <= 16_384)
                }
            } catch is RecoveryError {
                // It is no step any more, or wants something else.
            }
        }
    }
}
