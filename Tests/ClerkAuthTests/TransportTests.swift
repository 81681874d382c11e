import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The same sign-in over transports that have nothing in common.
@Suite struct TransportTests {
    private func signIn(over transport: any HTTPTransport) async throws -> (Person, InMemoryTokenStore) {
        let clock = ManualClock()
        let tokens = InMemoryTokenStore()
        let client = RecoveringClient(
            transport: transport,
            runtime: .manual(clock)
        ) { Recovery() }
        let clerk = try Clerk(frontendAPI: "https://clerk.example.com", client: client, tokens: tokens)
        let person = Person([
            .emailCode: [.text("000000"), .text("424242")], .totp: [.text("123456")], .newPassword: [.text("n3w")],
        ])
        let session = try await clock.skippingWaits {
            try await clerk.signIn(identifier: "ada@example.com", password: "hunter2", answering: person)
        }
        #expect(session.id == "sess_1")
        return (person, tokens)
    }

    private func check(_ person: Person, _ tokens: InMemoryTokenStore) async {
        #expect(person.keys == [.emailCode, .emailCode, .totp, .newPassword])
        let held = await tokens.read().credentials
        #expect(held.clientToken == "T9" && held.sessionID == "sess_1")
    }

    @Test func overAScript() async throws {
        let server = SmallClerk()
        let transport = ScriptedTransport(then: .run { received in server.answer(received.request, received.text) })
        let (person, tokens) = try await signIn(over: transport)
        await check(person, tokens)
        #expect(server.passwords == 1)
    }

    @Test func overATransportOfTwentyLines() async throws {
        let server = SmallClerk()
        let (person, tokens) = try await signIn(over: TrickleTransport(server: server))
        await check(person, tokens)
        #expect(server.passwords == 1)
    }
}

/// A transport that delivers its answers byte by byte.
private struct TrickleTransport: HTTPTransport {
    let server: SmallClerk

    var name: String { "trickle" }

    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        let text = String(decoding: try await body?.collect(upTo: 1 << 16) ?? [], as: UTF8.self)
        let answer = server.answer(request, text)
        let bytes = answer.body.bytesInMemory.map { Array($0) } ?? []
        let (stream, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
        for byte in bytes { continuation.yield([byte]) }
        continuation.finish()
        return TransportResponse(head: answer.head, body: MessageBody(once: stream))
    }
}

/// A Clerk in miniature: it is busy at first, then finds the password compromised, and then wants all it can think of.
private final class SmallClerk: Sendable {
    private struct State {
        var requests = 0
        var passwords = 0
        var isPrepared = false
        var stage = "needs_first_factor"
    }

    private let state = Locked(State())

    /// How often a password was judged.
    var passwords: Int { state.withLock { $0.passwords } }

    func answer(_ request: HTTPRequest, _ form: String) -> TransportResponse {
        state.withLock { state in
            state.requests += 1
            if state.requests == 1 { return error("too_many_requests", 429, ["retry-after": "2"]) }
            switch request.pathWithoutQuery.split(separator: "/").last {
            case "sign_ins":
                guard form.contains("password=") else { return signIn(state) }
                state.passwords += 1
                return error("form_password_compromised", 422)
            case "prepare_first_factor":
                state.isPrepared = true
                return signIn(state)
            case "attempt_first_factor":
                guard state.isPrepared else { return error("verification_missing", 400) }
                guard form.hasSuffix("code=424242") else { return error("form_code_incorrect", 422) }
                state.stage = "needs_second_factor"
                return signIn(state)
            case "attempt_second_factor":
                state.stage = "needs_new_password"
                return signIn(state)
            case "reset_password":
                state.stage = "complete"
                return signIn(state)
            default:
                return error("resource_not_found", 404)
            }
        }
    }

    private func error(_ code: String, _ status: Int, _ fields: [String: String] = [:]) -> TransportResponse {
        .scripted(status, fields, body: #"{"errors":[{"code":"\#(code)"}]}"#)
    }

    private func signIn(_ state: State) -> TransportResponse {
        let body = """
            {"response":{"object":"sign_in_attempt","id":"sia_1","status":"\(state.stage)",\
            "supported_first_factors":[\(ClerkJSON.password),\(ClerkJSON.email)],\
            "supported_second_factors":[\(ClerkJSON.totp)],\
            "created_session_id":\(state.stage == "complete" ? "\"sess_1\"" : "null")},\
            "client":\(ClerkJSON.client(state.stage == "complete" ? ["sess_1"] : []))}
            """
        return .scripted(200, ["Authorization": "T\(state.stage == "complete" ? 9 : state.requests)"], body: body)
    }
}
