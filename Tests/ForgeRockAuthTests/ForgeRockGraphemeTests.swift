import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Scalars that join their neighbours to one character of a `String`, at every place of what a server may send.
@Suite("Joined characters in what PingAM sends")
struct ForgeRockGraphemeTests {
    private let mutator = ByteMutator(seed: 3)

    /// The ceremony of a text output that is a script.
    private static func ceremony(_ script: String) -> WebAuthnCeremony? {
        guard let value = try? JSONValue(parsing: AM.text(script, kind: "4")) else { return nil }
        return JourneyCallback(value).webAuthn
    }

    @Test func aSignBeforeTheChallengeOfAScriptEndsNoProcess() async {
        await #expect(processExitsWith: .success) {
            let script = "\u{0600}challenge = [1]; navigator.credentials.get("
            guard case .authentication(let request)? = ForgeRockGraphemeTests.ceremony(script) else {
                preconditionFailure("no ceremony was read")
            }
            precondition(request.challenge == [1])
        }
    }

    static let scripts = [
        #"var x = { rpId: "example.com", challenge: new Int8Array([1, 2, -1]).buffer, timeout: 45000, allowCredentials: [{ "id": new Int8Array([5]).buffer }] }; navigator.credentials.get({})"#,
        #"challenge: new Int8Array([9]), rp: { id: "e.com", name: "E" }, user: { id: Uint8Array.from("QURB"), name: "ada" }, pubKeyCredParams: [ { "alg": -7 } ], authenticatorSelection: {requireResidentKey: true} navigator.credentials.create("#,
    ]

    @Test(arguments: scripts)
    func scriptsForBrowsers(_ script: String) {
        for text in mutator.joined(script, limit: 8192) {
            if let ceremony = Self.ceremony(text) { #expect(ceremony.timeout <= .seconds(3600)) }
        }
    }

    @Test(arguments: [
        #"{"_type":"WebAuthn","challenge":"AQL/","_relyingPartyId":"rpId: \"x\",","pubKeyCredParams":"[ { \"alg\": -257 }, { \"alg\": -7 } ]","_allowCredentials":"allowCredentials: [{ id: new Int8Array([1]) }]","timeout":"60000"}"#
    ])
    func metadata(_ data: String) {
        for text in mutator.joined(AM.metadata(data)) {
            guard let value = try? JSONValue(parsing: text) else { continue }
            if let ceremony = JourneyCallback(value).webAuthn { #expect(ceremony.timeout <= .seconds(3600)) }
        }
    }

    static let steps = [
        AM.name, AM.password, AM.code, AM.hidden, AM.poll("1000", "Wait 5 seconds"), AM.choice("A", "B"),
        AM.confirmation("Resend", "Go on"), AM.text("Locked for 5 minutes"), AM.authentication,
    ]

    @Test(arguments: steps.indices)
    func stepsOfAJourney(_ index: Int) {
        let body = #"{"authId":"a1","stage":"s","callbacks":["# + Self.steps[index] + "]}"
        for text in mutator.joined(body, limit: 768) {
            let outcome = Exchanged(status: 200, body: text).outcome
            #expect(outcome.kind == .continue || outcome.isFailure || outcome.kind == .ok)
            if let value = try? JSONValue(parsing: text) { _ = JourneyStep(value) }
        }
    }

    @Test func errors() {
        let rows = ForgeRockCodeTests.refusals
        for row in rows {
            for text in mutator.joined(Exchanged.error(row.status, row.message, number: row.number), limit: 96) {
                let outcome = Exchanged(status: row.status, body: text, presented: row.presented, path: row.path)
                    .outcome
                #expect(outcome.isFailure)
                #expect((try? JSONValue(parsing: outcome.json(name: nil).description)) != nil)
            }
        }
    }

    @Test func advices() {
        for text in mutator.joined(PolicyAdviceTests.xml, limit: 768) {
            let body = #"{"advices":{"a":["# + JSONValue.string(text).description + "]}}"
            _ = Exchanged(status: 401, body: body, presented: .session, method: .get, path: "/ig/txn").outcome
            let location =
                "https://am/?authIndexType=composite_advice&authIndexValue=" + Base64Text.encode(text, urlSafe: true)
            let outcome = Exchanged(
                status: 307,
                lines: [("Location", location)],
                presented: .session,
                method: .get,
                path: "/ig/txn"
            ).outcome
            if outcome.kind == .stepUpRequired { #expect(outcome.advice != nil) }
        }
    }

    @Test func targetsAndFields() {
        let location =
            "https://am.example.com/am/?goto=https%3A%2F%2Fapp%2F&authIndexType=composite_advice&authIndexValue=e30"
        for text in mutator.joined(location, limit: 1024) {
            let moved = Exchanged(status: 302, lines: [("Location", text)], method: .get, path: "/ig/txn").outcome
            #expect(moved.status == 302)
            let outcome = Exchanged(body: "{}", lines: [("WWW-Authenticate", text)], path: text).outcome
            #expect(outcome.isFailure)
        }
    }

    @Test func linksThatResumeAJourney() {
        for text in mutator.joined("https://id.example.com/am/?realm=/alpha&suspendedId=s.1#x", limit: 768) {
            if case .suspended(let id)? = try? JourneyStart.resuming(text) { #expect(!id.isEmpty) }
        }
    }

    @Test func cookiesOfAJourney() async throws {
        let cookie = "amlbcookie=01; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        for line in mutator.joined(cookie, limit: 200) {
            guard HTTPField.isValidValue(line) else { continue }
            let bench = try ForgeRockBench([
                .step(AM.name, AM.password, fields: ["set-cookie": line]), .success("S9", ["set-cookie": line]),
            ])
            #expect(try await bench.signIn().exists)
        }
    }
}
