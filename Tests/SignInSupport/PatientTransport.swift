package import HTTPRecovery
package import HTTPTypes

/// A transport over sockets in a test whose time is a manual clock's: attempts end by nothing but what happens.
///
/// The limits of attempts are counted by the machine's clock below it, and a machine that is busy enough meets any of them.
package struct PatientTransport: HTTPTransport {
    private let transport: any HTTPTransport

    /// Creates the transport.
    package init(_ transport: any HTTPTransport) {
        self.transport = transport
    }

    package var name: String { transport.name }
    // Nobody else is to count the time instead.
    package var enforcesTimeouts: Bool { true }
    package var keepsSendLimits: Bool { transport.keepsSendLimits }

    package func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        var options = options
        options.timeout = nil
        return try await transport.send(request, body: body, options: options)
    }

    package func shutdown() async { await transport.shutdown() }
}
