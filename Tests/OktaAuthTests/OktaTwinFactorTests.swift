import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@testable import AuthSandbox

/// Somebody has two of a sort: they are asked which, and that one is used.
@Suite("Okta: two factors of one sort")
struct OktaTwinFactorTests {
    private static func bench(
        _ type: String,
        _ destinations: [String],
        _ configuration: (inout OktaConfiguration) -> Void = { _ in }
    ) throws -> OktaSandboxBench {
        try OktaSandboxBench(
            { user in
                user.okta.factors = destinations.map { destination in
                    var factor = SandboxOktaUser.Factor(type)
                    (factor.name, factor.destination) = (destination, destination)
                    return factor
                }
            },
            configuration: configuration
        )
    }

    /// The one whose label holds a text; of several the first.
    private final class Choosing: ChallengeResponder {
        let reader: Reader
        let label: String

        init(_ reader: Reader, _ label: String) { (self.reader, self.label) = (reader, label) }

        func answer(_ challenge: Challenge) async throws -> Challenge.Answer { try await reader.answer(challenge) }

        func choose(among factors: [Factor]) async throws -> Factor? {
            _ = try await reader.choose(among: factors)
            return wanted(among: factors)
        }

        func wanted(among factors: [Factor]) -> Factor? {
            factors.first { $0.destination?.contains(label) == true }
        }
    }

    @Test(arguments: ["sms", "email"], [0, 1])
    func aCodeGoesToTheOneThatIsChosen(type: String, index: Int) async throws {
        let destinations =
            type == "sms" ? ["+4930111111", "+4930222222"] : ["eva@home.example", "eva@work.example"]
        let bench = try Self.bench(type, destinations)
        let reader = Reader(bench)
        // What is masked of a destination is its beginning.
        let person = Choosing(reader, String(destinations[index].suffix(type == "sms" ? 4 : 12)))
        let session = try await bench.clock.skippingWaits {
            try await bench.okta.signIn(
                identifier: OktaSandboxBench.eva,
                password: Secret(OktaSandboxBench.password),
                answering: person
            )
        }
        #expect(session.login == OktaSandboxBench.eva && bench.counters.codes == 1)
        let sentTo = bench.world.withLock { $0.world.context.outbox.messages.last?.to }
        #expect(sentTo == destinations[index])
        let offered = try #require(reader.offers.withLock { $0.first })
        let labels = offered.map { "\($0.providerName) \($0.destination ?? "")" }
        #expect(offered.count == (type == "sms" ? 4 : 2) && Set(labels).count == offered.count, "\(labels)")
        // What is asked for says where the code went.
        #expect(reader.asked.withLock { $0.last?.factor.destination } == person.wanted(among: offered)?.destination)
    }

    /// Somebody who does not choose gets a code all the same, and is asked for it.
    @Test func whoDoesNotChooseGetsOneCode() async throws {
        let bench = try Self.bench("sms", ["+4930111111", "+4930222222"])
        _ = try await bench.signIn(Reader(bench))
        #expect(bench.counters.codes == 1)
    }

    #if Cryptography
    /// Takes down which credentials may sign first.
    private struct Witness: WebAuthn.Authenticator {
        let allowed = Locked<[[UInt8]]>([])

        func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
            throw WebAuthn.Failure.unsupported()
        }

        func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
            // What comes after that is another key's turn.
            allowed.withLock { if $0.isEmpty { $0 = request.allowedCredentials } }
            throw WebAuthn.Failure.unsupported()
        }
    }

    @Test(arguments: [0, 1])
    func theKeyThatIsChosenSigns(index: Int) async throws {
        let (witness, names) = (Witness(), ["Key at home", "Key at work"])
        let bench = try Self.bench("webauthn", names) { $0.authenticator = witness }
        let reader = Reader(bench)
        _ = await #expect(throws: (any Error).self) {
            try await bench.clock.skippingWaits {
                try await bench.okta.signIn(
                    identifier: OktaSandboxBench.eva,
                    password: Secret(OktaSandboxBench.password),
                    answering: Choosing(reader, names[index])
                )
            }
        }
        #expect(reader.offers.withLock { $0.first?.map(\.destination) } == names)
        let factor = bench.world.withLock { $0.world.okta.account(named: OktaSandboxBench.eva)?.factors[index] }
        #expect(witness.allowed.withLock { $0.map { Base64.encodeForURL($0) } } == [factor?.credential])
    }
    #endif

    /// Where only what an option is related to tells two apart, they are two all the same.
    @Test(arguments: ["home", "work"])
    func optionsAreToldApartByWhatTheyAreRelatedTo(place: String) async throws {
        let places = ["home", "work"]
        let options = places.enumerated().map { index, place in
            let fields = [("id", "aut1"), ("methodType", "email"), ("reference", place)].map { name, value in
                #"{"name":"\#(name)","required":true,"value":"\#(value)","mutable":false}"#
            }
            return
                #"{"label":"Email","value":{"form":{"value":[\#(fields.joined(separator: ","))]}},"relatesTo":"$.authenticatorEnrollments.value[\#(index)]"}"#
        }
        let enrollments = places.map { place in
            #"{"type":"email","key":"okta_email","id":"eae-\#(place)","profile":{"email":"e***a@\#(place).example"}}"#
        }
        let select = Ion.form(
            "select-authenticator-authenticate",
            "challenge",
            #"{"name":"authenticator","type":"object","options":[\#(options.joined(separator: ","))]}"#
        )
        let owned = #""authenticatorEnrollments":{"type":"array","value":[\#(enrollments.joined(separator: ","))]}"#
        let bench = try OktaBench.engine([
            .ion(Ion.identify), .ion(Ion.answer, more: Ion.password), .ion(select, more: owned),
            .ion(Ion.answer, more: Ion.current("okta_email", "email")),
        ])
        var flow = bench.okta.signInFlow(identifier: OktaBench.identifier, password: "hunter2")
        guard case .choose(let factors) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        #expect(factors.map(\.destination) == ["e***a@home.example", "e***a@work.example"])
        let chosen = try #require(factors.first { $0.destination?.contains(place) == true })
        guard case .ask = try await flow.step(.choose(chosen)).step else { return #expect(Bool(false)) }
        #expect(bench.steps.last?.contains("reference:\(place)") == true, "\(bench.steps)")
    }
}
