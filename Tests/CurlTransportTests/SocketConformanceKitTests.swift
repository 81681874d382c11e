import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The kit itself on real sockets: what a transport must not do there is found.
@Suite(.timeLimit(.minutes(30)))
struct SocketConformanceKitTests {
    private static let offences: [(Offence, String)] = [
        (.resends, "faults/reset-after-request/POST/new"), (.resends, "faults/closed-after-request/GET/reused"),
        (.resends, "faults/reset-in-request/POST/new"), (.resends, "tls/closed-in-handshake/POST"),
        (.claimsNeverSent, "faults/reset-after-request/POST/new"),
        (.claimsNeverSent, "faults/short-body/GET/reused"), (.claimsNeverSent, "faults/never-answered/POST/new"),
        (.claimsNotProcessed, "faults/closed-after-request/POST-once/new"),
        (.admitsNothing, "connect/refused/POST"), (.admitsNothing, "tls/closed-in-handshake/POST"),
        (.hidesErrors, "faults/short-body/GET/new"), (.endsTooEarly, "faults/never-answered/GET/new"),
    ]

    @Test(arguments: offences)
    func isFound(offence: Offence, id: String) async throws {
        let check = try #require(TransportConformance.checks.first { $0.id == id })
        try await check(CurlConformance.http1)
        let count = Locked(0)
        await #expect(throws: ConformanceFailure.self) { try await check(Self.subject(offence, count)) }
        // What meets its time limit may do so before there is anything to tell, on a busy machine.
        let isLimited = id.hasPrefix("faults/never-answered")
        #expect(isLimited || count.withLock { $0 } == 1, "it is not tried again")
    }

    /// A request that leaves when most of its time is over is nobody's offence: it is given more.
    @Test(arguments: ["faults/never-answered/POST/new", "timeouts/in-the-body"])
    func whatIsTooLateIsTriedAgain(id: String) async throws {
        let check = try #require(TransportConformance.checks.first { $0.id == id })
        let count = Locked(0)
        try await check(Self.subject(.hesitates, count))
        #expect(count.withLock { $0 } > 1)
    }

    private static func subject(_ offence: Offence, _ count: Locked<Int>) -> TransportUnderTest {
        TransportUnderTest(name: "\(offence)", abilities: [.enforcesTimeouts, .keepsSendLimits]) { options in
            count.withLock { $0 += 1 }
            let curl = try CurlConformance.http1.makeTransport(options)
            return OffendingTransport(transport: curl, offence: offence)
        }
    }
}

/// What a transport must not do.
enum Offence: Sendable {
    case resends, claimsNeverSent, claimsNotProcessed, admitsNothing, hidesErrors, endsTooEarly
    /// No offence, but slow.
    case hesitates
}

private struct OffendingTransport: HTTPTransport {
    let transport: any HTTPTransport
    let offence: Offence

    var name: String { "offending" }
    var enforcesTimeouts: Bool { transport.enforcesTimeouts }
    var keepsSendLimits: Bool { transport.keepsSendLimits }

    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        do {
            if offence == .hesitates { try await Task.sleep(for: .milliseconds(600)) }
            var options = options
            // So early that no machine is busy enough to hide it.
            if offence == .endsTooEarly, request.path == "/fault" { options.timeout = .milliseconds(10) }
            let response = try await transport.send(request, body: body, options: options)
            // Read to its end, so that its errors are this one's.
            return TransportResponse(
                head: response.head,
                body: MessageBody(try await response.body.collect(upTo: 1 << 20))
            )
        } catch let error as TransportError {
            switch offence {
            case .resends: return try await transport.send(request, body: body, options: options)
            case .claimsNeverSent: throw TransportError(error.code, .neverSent)
            case .claimsNotProcessed: throw TransportError(error.code, .notProcessed)
            case .admitsNothing: throw TransportError(error.code, .unknown)
            case .hidesErrors: return TransportResponse(head: HTTPResponse(status: .ok))
            case .endsTooEarly, .hesitates: throw error
            }
        }
    }

    func shutdown() async { await transport.shutdown() }
}
