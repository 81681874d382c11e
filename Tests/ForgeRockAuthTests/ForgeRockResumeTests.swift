import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@Suite("Suspended journeys and the links to them")
struct ForgeRockResumeTests {
    private let start = "authenticate?authIndexType=service&authIndexValue=Login"

    @Test func aSuspendedJourneyIsTakenUpByItsLink() async throws {
        let body = stepBody(
            callback("SuspendedTextOutputCallback", #"{"name":"message","value":"Mail sent"}"#, inputs: 0),
            authID: nil
        )
        let bench = try ForgeRockBench([.login, .status(200, [:], body: body)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .userActionRequired && error?.userMessage == "Mail sent")
        bench.transport.append([.step(AM.code, id: "r1"), .success()])
        _ = try await bench.forgeRock.resume(
            "https://id.example.com/am/XUI/?realm=/alpha&suspendedId=s%2B1#x",
            answering: Person([.totp: "7"])
        )
        #expect(bench.sent.suffix(2) == ["authenticate?suspendedId=s%2B1", #"authenticate r1 "7""#])
    }

    @Test func aLinkThatWasUsedBeginsTheJourneyAnew() async throws {
        let bench = try ForgeRockBench([
            .error(401, "x.SuspendedAuthSessionException: y"), .login, .success(),
        ])
        let person = Person([.password: "p"])
        _ = try await bench.forgeRock.resume(suspendedID: "s+1", identifier: "ada", answering: person)
        #expect(bench.sent.first == "authenticate?suspendedId=s%2B1")
        #expect(bench.sent.dropFirst().first == start)
    }

    @Test(arguments: [
        "https://id.example.com/?suspendedId=s1", "https://ID.example.com:443/am/?realm=/&suspendedId=s1",
        "https://id.example.com/am/XUI/#login?suspendedId=s1", "https://id.example.com?suspendedId=s1&suspendedId=s2",
        "https://id.example.com/am/XUI/?realm=/alpha#login&suspendedId=s1",
    ])
    func everyFormOfALinkIsRead(link: String) async throws {
        let bench = try ForgeRockBench([.success()])
        _ = try await bench.forgeRock.resume(link, answering: Person())
        #expect(bench.sent == ["authenticate?suspendedId=s1"])
    }

    @Test(arguments: [
        "", "s1", "not a link", "suspendedId=s1", "?suspendedId=s1", "/am/?suspendedId=s1", "org.app:/?suspendedId=s1",
        "https://", "https://user@id.example.com/?suspendedId=s1", "https://id.example.com/am/",
        "https://id.example.com?",
        "https://id.example.com/?suspendedId=", "https://id.example.com/?suspendedid=s1",
        "https://id.example.com/suspendedId=s1", "https://evil.example.com/?suspendedId=s1",
        "http://id.example.com/?suspendedId=s1", "https://id.example.com:8443/?suspendedId=s1",
        "https://id.example.com.evil.com/?suspendedId=s1",
    ])
    func whatIsNoLinkToThisServerIsRefusedBeforeAnythingIsSent(link: String) async throws {
        let bench = try ForgeRockBench([.success()])
        let error = await #expect(throws: Origin.InvalidURL.self) {
            try await bench.forgeRock.resume(link, answering: Person())
        }
        #expect(bench.transport.received.isEmpty)
        #expect(error?.description.contains("s1") == false, "the id is a secret")
    }

    @Test(arguments: ["https://x/am?x=1", "https://x?", "https://x/am#y", "https://x/json?realm=/alpha"])
    func aBaseURLHasNeitherQueryNorFragment(url: String) {
        #expect(throws: Origin.InvalidURL.self) { try ForgeRockBench(baseURL: url) }
    }
}
