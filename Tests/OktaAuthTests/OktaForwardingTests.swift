import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@testable import AuthSandbox

@Suite("Okta: what a server tells of the person, and what a person says yes to")
struct OktaForwardingTests {
    @Test(arguments: [OktaConfiguration.Way.identityEngine, .directAuthentication, .authentication])
    func eachRequestIsMadeForTheirAddress(way: OktaConfiguration.Way) async throws {
        let bench = try OktaSandboxBench(
            { $0.okta.factors = [.init("token:software:totp")] },
            configuration: { $0.way = way }
        )
        let okta = bench.okta.acting(forAddress: "192.0.2.7", deviceToken: "dev1")
        _ = try await bench.clock.skippingWaits {
            try await okta.signIn(
                identifier: OktaSandboxBench.eva,
                password: Secret(OktaSandboxBench.password),
                answering: Reader(bench)
            )
        }
        _ = try await okta.session()
        let sent = bench.transport.received.map(\.request.headerFields)
        #expect(sent.count > 2)
        for (name, value) in [("X-Forwarded-For", "192.0.2.7"), ("X-Device-Token", "dev1")] {
            let field = try #require(HTTPField.Name(name))
            #expect(sent.allSatisfy { $0[field] == value }, "\(name)")
        }
        guard way != .authentication else { return }
        // What renews is nobody's call in particular.
        let count = bench.transport.received.count
        try await okta.refresh()
        let renewals = bench.transport.received.dropFirst(count).map(\.request)
        #expect(renewals.contains { $0.path?.hasSuffix("/token") ?? false })
        let names = renewals.filter { $0.path?.hasSuffix("/token") ?? false }.flatMap(\.headerFields).map(
            \.name.canonicalName
        )
        #expect(!names.contains("x-forwarded-for") && !names.contains("x-device-token"))
    }

    @Test func aProgramOnThePersonsMachineTellsNothing() async throws {
        let bench = try OktaSandboxBench()
        _ = try await bench.signIn(Reader(bench))
        let names = bench.transport.received.flatMap(\.request.headerFields).map(\.name.canonicalName)
        #expect(!names.contains("x-forwarded-for") && !names.contains("x-device-token"))
    }

    /// Terms that have to be agreed to are a question like any other; what is neither a yes nor a no is asked again.
    @Test(arguments: [#""type":"boolean""#, #""type":"boolean","value":false"#])
    func aYesIsAskedFor(field: String) async throws {
        let terms = Ion.field("terms", #"\#(field),"label":"I agree""#)
        let form = Ion.form("enroll-profile-update", "enroll/update", Ion.object("userProfile", terms))
        let bench = try OktaBench.engine([.ion(form), .interactionCode, .tokens])
        let answers: [Factor.Key: [Challenge.Answer]] = [.text: [.text("perhaps"), .text("Yes")]]
        let person = Person(answers)
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.map(\.prompt) == ["I agree", "I agree"])
        #expect(person.questions.map(\.hint) == ["yes or no", "yes or no"])
        #expect(bench.steps.contains("enroll/update {userProfile:{terms:true}}"), "\(bench.steps)")
    }

    /// What stands there as a yes is not asked for.
    @Test func aYesThatIsGivenIsSentBack() async throws {
        let terms = Ion.field("terms", #""type":"boolean","value":true"#)
        let form = Ion.form("enroll-profile-update", "enroll/update", Ion.field("city"), terms)
        let bench = try OktaBench.engine([.ion(form), .interactionCode, .tokens])
        let answers: [Factor.Key: Secret] = [.text: "Bonn"]
        let person = Person(answers)
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.text])
        #expect(bench.steps.contains { $0.contains("terms:true") }, "\(bench.steps)")
    }
}
