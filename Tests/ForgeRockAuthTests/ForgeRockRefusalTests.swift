import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("What a 401 means for the session")
struct ForgeRockRefusalTests {
    typealias Step = ScriptedTransport.Step

    private static let held = Credentials(ssoToken: "S1")
    private static let asking = "sessions?_action=getSessionInfo"
    /// Of AM's own API, and of an application beside it.
    private static let paths = ["/json/pay", "/app/pay"]

    @Test(arguments: paths)
    func aBare401IsAskedAboutAndASessionThatLivesStays(path: String) async throws {
        let bench = try ForgeRockBench([.status(401), .information], credentials: Self.held)
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.send(path: path) }
        #expect(error?.kind == .credentialRejected && error?.outcome.status == 401)
        #expect(bench.sent.count == 2 && bench.sent.last == Self.asking)
        #expect(try await bench.credentials == Self.held)
        #expect(!bench.events.words.contains("clear session"))
    }

    @Test(arguments: paths, [(401, ""), (401, Exchanged.error(401, "Access Denied")), (200, #"{"valid":false}"#)])
    func aBare401OfASessionThatIsOverEndsIt(path: String, answer: (status: Int, body: String)) async throws {
        let all = Credentials(accessToken: "A1", refreshToken: "R1", ssoToken: "S1")
        let bench = try ForgeRockBench(
            [.status(401), .status(answer.status, [:], body: answer.body)],
            credentials: all
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.send(path: path) }
        #expect(error?.kind == .reauthenticationRequired && error?.remedies == [.reauthenticate])
        #expect(bench.sent.count == 2 && bench.sent.last == Self.asking)
        #expect(try await bench.credentials == Credentials(accessToken: "A1", refreshToken: "R1"))
        #expect(bench.events.words.contains("clear session"))
    }

    @Test(arguments: [
        ("/json/pay", Exchanged.error(401, "Access Denied")), ("/json/sessions?_action=validate", ""),
        ("/json/sessions?_action=validate", Exchanged.error(401, "Zugriff verweigert")),
    ])
    func whereTheAnswerIsDefiniteNobodyIsAsked(path: String, body: String) async throws {
        let bench = try ForgeRockBench([.status(401, [:], body: body)], credentials: Self.held)
        let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.send(.post, path: path) }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(bench.transport.received.count == 1)
        #expect(try await bench.credentials == Credentials())
    }

    @Test(arguments: [
        Step.status(500), .status(503), .status(502, [:], body: "<html>"), .status(429), .status(408), .status(403),
        .status(404), .status(401, [:], body: "<html>"), .status(200), .status(200, [:], body: "<html>"),
        .fail(.connectionLost, .unknown), .fail(.cannotConnect, .neverSent),
    ])
    func anOutageWhileAskingEndsNothing(step: Step) async throws {
        let bench = try ForgeRockBench(
            [.status(401)] + Array(repeating: step, count: 12),
            credentials: Self.held
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingPauses { try await bench.forgeRock.send(path: "/json/pay") }
        }
        // It is the answer to the request that is told.
        #expect(error?.kind == .credentialRejected && error?.outcome.status == 401)
        #expect(bench.sent.dropFirst().allSatisfy { $0 == Self.asking } && bench.sent.count > 1)
        #expect(try await bench.credentials == Self.held)
    }

    @Test func anotherSessionThanTheRefusedOneStays() async throws {
        let tokens = InMemoryTokenStore(Self.held)
        let signIn = Step.run { _ in
            // Somebody signs in while the answer is on its way.
            _ = try? await tokens.update { $0.ssoToken = "S2" }
            return .scripted(401)
        }
        let bench = try ForgeRockBench([signIn, .error(401, "Access Denied")], tokens: tokens)
        await #expect(throws: RecoveryError.self) { try await bench.forgeRock.send(path: "/json/pay") }
        #expect(try await bench.credentials.ssoToken == "S2")
    }

    @Test func aGatewayIsAskedToAdviseInAField() async throws {
        let name = try #require(HTTPField.Name("x-authenticate-response"))
        let bench = try ForgeRockBench([.status(200), .status(200), .success()], credentials: Self.held)
        _ = try await bench.forgeRock.send(path: "https://id.example.com/pay")
        _ = try await bench.forgeRock.send(path: "/pay", headerFields: [name: "none"])
        _ = try await bench.signIn()
        let sent = bench.transport.received.map { $0.request.headerFields[values: name] }
        #expect(sent == [["header"], ["none"], []])
    }

    /// A gateway that looks at the field: without it, it would redirect to a page.
    @Test func anAdviceInAFieldIsFollowed() async throws {
        let name = try #require(HTTPField.Name("x-authenticate-response"))
        let advice = Base64.encode(#"{"TransactionConditionAdvice":["tx1"]}"#.utf8)
        let gateway = Step.run { received in
            guard received.request.headerFields[name] == "header" else {
                return .scripted(307, ["location": "https://id.example.com/am/UI/Login"])
            }
            let challenge = #"SSOADVICE realm="/",advices="\#(advice)",am_uri="https://id.example.com/am/""#
            return .scripted(401, ["www-authenticate": challenge])
        }
        let bench = try ForgeRockBench(
            [gateway, .session(of: "ada"), .success("S2"), .session(of: "ada"), .status(200)],
            credentials: Self.held
        )
        let response = try await bench.forgeRock.send(path: "https://id.example.com/pay", answering: Person())
        #expect(response.status == .ok)
        #expect(bench.transport.received.last?.request.path == "/pay?_txid=tx1")
    }
}
