import HTTPRecovery
import HTTPTypes

/// What each call of a check came to, beside how often servers have seen it.
///
/// A call is known by a field that is added to its request, and taken away from what checks look at. So every check,
/// whatever it is about, fails when a request was seen twice, when an answer came to one that was never seen, or when an
/// error claims of one that was seen that it was never sent.
final class CallLedger: Sendable {
    /// The field's name, in lower case.
    static let field = "x-conformance-call"
    static let fieldName = HTTPField.Name(field)

    private enum End {
        case open, answered, neverSent
    }

    private struct Call {
        let request: String
        var end = End.open
    }

    private let calls = Locked<[Call]>([])

    /// A transport whose calls are written down.
    func watching(_ transport: any HTTPTransport) -> any HTTPTransport {
        Watched(transport: transport, ledger: self)
    }

    /// Compares what was written down with how often servers have seen each call, by the field's value.
    func settle(_ seen: [String: Int]) throws {
        for (index, call) in calls.withLock({ $0 }).enumerated() {
            let times = seen[String(index)] ?? 0
            let what = "\(call.request) (call \(index) of the check)"
            if times > 1 { throw ConformanceFailure("\(what) was seen \(times) times") }
            if times == 0, call.end == .answered {
                throw ConformanceFailure("\(what) was answered, and no server has seen it")
            }
            if times > 0, call.end == .neverSent {
                throw ConformanceFailure("\(what) was seen, and its error claims that it was never sent")
            }
        }
    }

    private func begin(_ request: inout HTTPRequest) -> Int {
        let index = calls.withLock { calls in
            calls.append(Call(request: "\(request.method) \(request.path ?? "")"))
            return calls.count - 1
        }
        if let name = Self.fieldName { request.headerFields[name] = String(index) }
        return index
    }

    private func end(_ index: Int, _ end: End) { calls.withLock { $0[index].end = end } }

    private struct Watched: HTTPTransport {
        let transport: any HTTPTransport
        let ledger: CallLedger

        var name: String { transport.name }
        var enforcesTimeouts: Bool { transport.enforcesTimeouts }
        var keepsSendLimits: Bool { transport.keepsSendLimits }

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            var request = request
            let index = ledger.begin(&request)
            do {
                let response = try await transport.send(request, body: body, options: options)
                ledger.end(index, .answered)
                return response
            } catch {
                if (error as? TransportError)?.certainty == .neverSent { ledger.end(index, .neverSent) }
                throw error
            }
        }

        func shutdown() async { await transport.shutdown() }
    }
}
