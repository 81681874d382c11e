package import HTTPRecovery

/// A server's part of a device login.
package protocol DeviceLoginServer: ClientBound, Sendable {
    /// What a finished login gives.
    associatedtype Session: Sendable

    /// What tells its logins from those of others.
    var rules: DeviceLoginRules { get }
    /// What is asked for, as far as it is not the same for all logins at this server.
    var wish: JSONValue { get set }

    /// Begins a login.
    func begin() async throws -> OAuthClient.DeviceAuthorization
    /// Asks once whether the person has entered the code.
    func poll(_ device: OAuthClient.DeviceAuthorization) async throws -> RecoveredResponse
    /// Stores what the person's consent has brought, before anyone uses it.
    func finish(_ response: RecoveredResponse) async throws -> Session
}

extension DeviceLoginServer {
    /// Asks until the person has entered the code.
    package func wait(for device: OAuthClient.DeviceAuthorization, in operation: RecoveryOperation) async throws
        -> Session
    {
        let response = try await operation.run(DevicePolling(device, rules)) { _, operation in
            try await within(operation).poll(device)
        }
        return try await within(operation).finish(response)
    }
}

/// A device login as a machine: the person enters a code elsewhere, and the server is asked until they have.
package struct DeviceSignInMachine<Server: DeviceLoginServer>: SignInMachine {
    private var server: Server
    private var context: SignInContext?
    private var device: OAuthClient.DeviceAuthorization?
    private var polling: DevicePolling?

    package init(_ server: Server) {
        self.server = server
    }

    package var openingFactor: Factor? { nil }

    package mutating func enter(_ context: SignInContext) {
        self.context = context
        server = server.within(context.operation)
    }

    package mutating func begin() async throws -> SignInStep<Server.Session> {
        let device = try await server.begin()
        self.device = device
        polling = DevicePolling(device, server.rules)
        return try await goOn(after: .begun)
    }

    /// Nothing but the next poll tells how the login stands.
    package mutating func resync() async throws -> SignInStep<Server.Session> {
        device == nil ? try await begin() : try await goOn(after: .begun)
    }

    package mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<Server.Session> {
        try await goOn(after: bound.map { .notPaused($0) } ?? .paused)
    }

    package mutating func choose(_ factor: Factor) async throws -> SignInStep<Server.Session> { try await resync() }

    package mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<Server.Session> {
        try await resync()
    }

    /// Another code.
    package mutating func resend(
        _ factor: Factor,
        waitingAtMost limit: Duration?
    ) async throws -> SignInStep<Server.Session> {
        try await begin()
    }

    package mutating func replace(
        _ factor: Factor,
        after refusal: RecoveryError?
    ) async throws -> SignInStep<Server.Session> {
        if let refusal { throw refusal }
        return .choose([])
    }

    private mutating func goOn(after event: RecoveryOperation.Event<RecoveredResponse>) async throws -> SignInStep<
        Server.Session
    > {
        guard var plan = polling, let device, let context else { return try await begin() }
        polling = nil
        let server = server
        let stop = try await context.operation.advance(&plan, after: event) { _, operation in
            try await server.within(operation).poll(device)
        }
        switch stop {
        case .finished(let response): return .finished(try await server.finish(response))
        case .pausing(let duration, let reason):
            polling = plan
            return .pending(device.challenge, SignInContext.Pause(duration, reason: reason))
        }
    }
}

extension DeviceSignInMachine: RecalledFields {
    package var memory: JSONValue { ["device": recalled] }

    /// Takes up again what was written down; nil if it is none.
    package init?(_ server: Server, from memory: JSONValue) {
        self.init(server)
        guard let recalled = memory["device"], recall(recalled) else { return nil }
    }

    package static var fields: [RememberedField<DeviceSignInMachine>] {
        [.init("wish", \.server.wish), .init("device", \.deviceMemory), .init("polling", \.pollingMemory)]
    }

    private var deviceMemory: DeviceMemory? {
        get { device.map { DeviceMemory($0, server.time) } }
        set { device = newValue?.device(server.time) }
    }

    private var pollingMemory: DevicePolling.Memory? {
        get { polling?.remembered }
        set {
            guard let newValue, let device else { return polling = nil }
            polling = DevicePolling(device, server.rules)
            polling?.remembered = newValue
        }
    }
}

/// A login as it is written down: its end by the clock on the wall, which all machines share.
private struct DeviceMemory: RememberedFields {
    var deviceCode: Secret = ""
    var userCode = ""
    var uri = ""
    var completeURI: String?
    var interval = Duration.zero
    var expiresAt = Timestamp(secondsSinceEpoch: 0)

    init() {}

    init(_ device: OAuthClient.DeviceAuthorization, _ time: TimeSource) {
        deviceCode = device.deviceCode
        userCode = device.userCode
        uri = device.verificationURI
        completeURI = device.verificationURIComplete
        interval = device.interval
        expiresAt = time.wallTime(at: device.expiresAt)
    }

    func device(_ time: TimeSource) -> OAuthClient.DeviceAuthorization {
        OAuthClient.DeviceAuthorization(
            deviceCode: deviceCode,
            userCode: userCode,
            verificationURI: uri,
            verificationURIComplete: completeURI,
            interval: interval,
            expiresAt: time.now.advanced(by: expiresAt.elapsed(since: time.wallTime))
        )
    }

    static var fields: [RememberedField<DeviceMemory>] {
        [
            .init("device_code", \.deviceCode), .init("user_code", \.userCode), .init("uri", \.uri),
            .init("complete_uri", \.completeURI), .init("interval", \.interval), .init("expires_at", \.expiresAt),
        ]
    }
}

extension OAuthClient.DeviceAuthorization {
    /// What is shown to the person.
    package var challenge: Challenge {
        Challenge(
            factor: Factor(key: .push, providerName: "device_login", destination: verificationURI),
            hint: verificationURIComplete,
            prompt: "Open \(verificationURI) and enter the code \(userCode).",
            number: userCode
        )
    }
}
