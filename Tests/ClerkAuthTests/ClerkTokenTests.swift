import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct ClerkTokenTests {
    @Test func theTokenGoesOutRawAndItsReplacementIsKeptBeforeTheAnswerIsUsed() async throws {
        let bench = try ClerkBench([
            .signIn("needs_second_factor", second: ClerkJSON.totp, token: "T1"), .complete(token: "Bearer T2"),
            .client(["sess_1"]),
        ])
        _ = try await bench.signIn("hunter2", Person([.totp: "1"]))
        _ = try await bench.clerk.currentClient()
        #expect(bench.sentTokens == ["T0", "T1", "T2"])
    }

    @Test func aReplacementIsKeptEvenIfTheBodyBreaksOff() async throws {
        let bench = try ClerkBench([
            .run { _ in
                var response = TransportResponse.scripted(200, ["authorization": "T1"])
                response.body = MessageBody(
                    once: AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
                        continuation.finish(throwing: TransportError(.connectionLost, .answered))
                    }
                )
                return response
            }
        ])
        await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(try await bench.credentials.clientToken == "T1")
    }

    @Test func withoutATokenTheFieldIsThereAndEmpty() async throws {
        let bench = try ClerkBench([.complete()], credentials: Credentials())
        _ = try await bench.signIn()
        #expect(bench.sentTokens == [""])
        #expect(try await bench.credentials.clientToken == "T1")
    }

    @Test(arguments: [400, 401, 403, 404, 422, 500, 502])
    func aReplacementCountsOnErrorsToo(status: Int) async throws {
        let bench = try ClerkBench([.status(status, ["authorization": "T1"], body: #"{"errors":[]}"#)])
        await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(try await bench.credentials.clientToken == "T1")
    }

    @Test(arguments: ["", " ", "Bearer", "bearer", "BEARER ", "\tBearer\t", "Bearer  "])
    func aBlankTokenIsAnExplicitClear(field: String) async throws {
        let credentials = Credentials(accessToken: "a", clientToken: "T0", sessionID: "s", others: [.init("x", 1)])
        let bench = try ClerkBench(
            [.status(200, ["authorization": field], body: #"{"response":null,"client":null}"#)],
            credentials: credentials
        )
        #expect(try await bench.clerk.currentClient() == nil)
        #expect(try await bench.credentials == Credentials(others: [.init("x", 1)]))
        #expect(bench.events.words.contains("clear client"))
    }

    @Test(
        arguments: [
            (408, "{}"), (429, #"{"errors":[{"code":"too_many_requests"}]}"#), (500, ""), (502, "<html>"),
            (503, #"{"errors":[{"code":"service_unavailable"}]}"#), (200, "<html>"), (401, "<html>"),
            (403, "Forbidden"),
        ]
    )
    func aBlankFieldOfAnAnswerThatDecidesNothingClearsNothing(status: Int, body: String) async throws {
        let bench = try ClerkBench([.status(status, ["authorization": ""], body: body)]) { Recovery(maxAttempts: 1) }
        await #expect(throws: RecoveryError.self) { try await bench.clerk.currentClient() }
        #expect(try await bench.credentials == Credentials(clientToken: "T0"))
        #expect(!bench.events.words.contains("clear client"))
    }

    @Test func aBlankFieldClearsNothingIfTheBodyBreaksOff() async throws {
        let bench = try ClerkBench([
            .run { _ in
                var response = TransportResponse.scripted(200, ["authorization": ""])
                response.body = MessageBody(
                    once: AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
                        continuation.finish(throwing: TransportError(.connectionLost, .answered))
                    }
                )
                return response
            }
        ])
        await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(try await bench.credentials.clientToken == "T0")
    }

    @Test func aBlankFieldOfARefusalClears() async throws {
        let bench = try ClerkBench([.error("signed_out", status: 401, ["authorization": "Bearer"])]) {
            Recovery(maxAttempts: 1)
        }
        await #expect(throws: RecoveryError.self) { try await bench.clerk.currentClient() }
        #expect(try await bench.credentials.clientToken == nil)
        #expect(bench.events.words.contains("clear client"))
    }

    @Test func ofSeveralFieldsATokenCountsMoreThanABlank() async throws {
        for values in [["", "T1"], ["T1", ""], ["Bearer", "T1"], ["T9", "T1"]] {
            let bench = try ClerkBench([
                .run { _ in
                    var response = TransportResponse.scripted(200, [:], body: #"{"response":null}"#)
                    for value in values {
                        response.head.headerFields.append(HTTPField(name: .authorization, value: value))
                    }
                    return response
                }
            ])
            _ = try await bench.clerk.currentClient()
            #expect(try await bench.credentials.clientToken == "T1")
        }
    }

    @Test(arguments: [400, 401, 403, 404, 408, 422, 425, 429, 500, 502, 503, 504])
    func noStatusAndNoCodeClearsTheToken(status: Int) async throws {
        let codes = [
            "signed_out", "authentication_invalid", "client_not_found", "resource_not_found", "session_revoked",
            "user_banned", "deprovisioned", "native_api_disabled", "form_password_incorrect", "unheard_of",
        ]
        let bodies = codes.map { #"{"errors":[{"code":"\#($0)"}]}"# } + ["", "<html>", "null", #"{"error":"x"}"#]
        for body in bodies {
            let bench = try ClerkBench([.status(status, [:], body: body)]) { Recovery(maxAttempts: 1) }
            await #expect(throws: RecoveryError.self) { try await bench.clerk.currentClient() }
            #expect(try await bench.credentials == Credentials(clientToken: "T0"), "\(status) \(body)")
        }
    }

    @Test func aLateRotationDoesNotOverwriteANewerToken() async throws {
        let tokens = InMemoryTokenStore(Credentials(clientToken: "T0"))
        for late in ["T-late", "", "Bearer"] {
            try await tokens.update { $0.clientToken = "T0" }
            let bench = try ClerkBench(
                [
                    .run { _ in
                        try await tokens.update { $0.clientToken = "T-new" }
                        return .scripted(200, ["authorization": late], body: #"{"response":null}"#)
                    }
                ],
                tokens: tokens
            )
            _ = try await bench.clerk.currentClient()
            #expect(await tokens.read().credentials.clientToken == "T-new")
            #expect(!bench.events.words.contains("clear client"))
        }
    }

    @Test func aChangeOfSomethingElseMeanwhileIsKept() async throws {
        let tokens = InMemoryTokenStore(Credentials(clientToken: "T0"))
        let bench = try ClerkBench(
            [
                .run { _ in
                    try await tokens.update { $0.sessionID = "sess_9" }
                    return .scripted(200, ["authorization": "T1"], body: #"{"response":null}"#)
                }
            ],
            tokens: tokens
        )
        _ = try await bench.clerk.currentClient()
        #expect(await tokens.read().credentials == Credentials(clientToken: "T1", sessionID: "sess_9"))
    }

    @Test func manyCallsAtATimeEndWithATokenThatTheServerGave() async throws {
        let bench = try ClerkBench()
        bench.transport.append(
            (1...40).map { number in
                .status(200, ["authorization": "T\(number)"], body: #"{"response":null}"#)
            }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...40 { group.addTask { _ = try await bench.clerk.currentClient() } }
            try await group.waitForAll()
        }
        let token = try #require(try await bench.credentials.clientToken?.reveal())
        #expect(token != "T0")
        #expect(Set(bench.sentTokens.compactMap(\.self)).allSatisfy { $0.hasPrefix("T") })
    }

    @Test func aStoreThatCannotKeepTheNewTokenFailsTheCall() async throws {
        let bench = try ClerkBench([.complete()], tokens: BrokenStore())
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.cause is Credentials.StoreError)
    }

    @Test(arguments: ["a.b.c", "..", "a.!!!.c", "a.e30.c", "a.eyJpZCI6N30.c", "é", String(repeating: "x.", count: 9)])
    func aTokenOfAnyFormIsSentAndRepeated(token: String) async throws {
        let bench = try ClerkBench([.status(429), .complete()], credentials: Credentials(clientToken: Secret(token)))
        _ = try await bench.signIn()
        #expect(bench.transport.received.count == 2)
    }
}

/// A store that can be read but not written.
private struct BrokenStore: TokenStore {
    func read() async -> Credentials.Stored { Credentials.Stored(Credentials(clientToken: "T0"), version: 1) }

    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        throw Credentials.StoreError("the disk is full")
    }

    func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? { nil }
}
