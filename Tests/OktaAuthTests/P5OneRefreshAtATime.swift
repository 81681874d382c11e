import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite struct P5OneRefreshAtATime {
    private static let held = Credentials(accessToken: "old", refreshToken: "r1")
    private static let configuration = OktaConfiguration(
        app: OktaApp(clientID: "app", redirectURI: "com.example.app:/callback")
    )

    private static let renewed = #"{"access_token":"new","refresh_token":"r2","token_type":"Bearer","expires_in":3600}"#

    /// A bench whose server takes the new token alone, and answers the token endpoint with the function.
    private func bench(
        token: @escaping @Sendable (ScriptedTransport.Received) async throws -> TransportResponse
    ) throws -> OktaBench {
        let bench = try OktaBench([], credentials: Self.held, configuration: Self.configuration)
        let step = ScriptedTransport.Step.run { received in
            if received.request.path?.hasSuffix("/token") == true { return try await token(received) }
            let isNew = received.request.headerFields[.authorization] == "Bearer new"
            return .scripted(isNew ? 200 : 401, ["www-authenticate": "Bearer error=\"invalid_token\""], body: "{}")
        }
        bench.transport.append(Array(repeating: step, count: 200))
        return bench
    }

    private static func grant() -> TransportResponse {
        .scripted(200, ["content-type": "application/json"], body: renewed)
    }

    /// What was presented to the token endpoint.
    private func presented(_ bench: OktaBench) -> [String] {
        bench.transport.received.filter { $0.request.path?.hasSuffix("/token") == true }.map(\.text)
    }

    @Test func fiftyRefusalsCauseOneRefresh() async throws {
        let gate = Gate()
        let bench = try bench { _ in
            await gate.wait()
            return Self.grant()
        }
        async let opened: Void = {
            // Nobody is answered before all have been refused.
            await bench.transport.waitForRequests(51)
            gate.open()
        }()
        try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<50 { group.addTask { try await bench.okta.send(path: "/api/v1/users/me").status } }
            for try await status in group { #expect(status == .ok) }
        }
        await opened
        #expect(presented(bench).count == 1)
        #expect(presented(bench).first?.contains("refresh_token=r1") == true)
        #expect(try await bench.credentials.refreshToken == "r2")
    }

    @Test func aRefusalThatComesLateTakesTheNewToken() async throws {
        let bench = try bench { _ in Self.grant() }
        _ = try await bench.okta.send(path: "/api/v1/users/me")
        _ = try await bench.okta.send(path: "/api/v1/users/me")
        #expect(presented(bench).count == 1)
        #expect(bench.transport.received.count == 4)
    }

    @Test func whoStopsWaitingStopsNobodyElse() async throws {
        let gate = Gate()
        let bench = try bench { _ in
            await gate.wait()
            return Self.grant()
        }
        let first = Task { try await bench.okta.send(path: "/api/v1/users/me").status }
        await bench.transport.waitForRequests(2)
        let second = Task { try await bench.okta.send(path: "/api/v1/users/me").status }
        await bench.transport.waitForRequests(3)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == .ok)
        #expect(presented(bench).count == 1)
    }

    @Test func aFailureDoesNotStick() async throws {
        let isDown = Locked(true)
        let bench = try bench { _ in
            let limit = #"{"error":"invalid_grant"}"#
            if isDown.withLock({ $0 }) { return .scripted(429, ["retry-after": "61"], body: limit) }
            return Self.grant()
        }
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.okta.send(path: "/api/v1/users/me") }
        }
        #expect(error?.kind == .rateLimited)
        #expect(try await bench.credentials.refreshToken == "r1")
        #expect(error?.retryAfter == .seconds(61))
        isDown.withLock { $0 = false }
        bench.clock.advance(by: .seconds(70))
        let status = try await bench.skippingWaits { try await bench.okta.send(path: "/api/v1/users/me").status }
        #expect(status == .ok)
    }

    @Test func aLoopIsImpossible() async throws {
        let bench = try bench { _ in
            let body = #"{"access_token":"other","refresh_token":"r2","token_type":"Bearer","expires_in":3600}"#
            return .scripted(200, ["content-type": "application/json"], body: body)
        }
        await #expect(throws: RecoveryError.self) { try await bench.okta.send(path: "/api/v1/users/me") }
        #expect(presented(bench).count == 1)
        #expect(bench.transport.received.count == 3)
    }
}

/// Holds whoever waits until it is opened.
private final class Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}
