import HTTPRecovery
import HTTPRecoveryTesting

/// What the sockets ask the world.
struct SandboxHandler: Sendable {
    /// What is to be done about a request.
    let receive: @Sendable (SandboxRequest) -> SandboxAction
    /// What the client is answered after the upstream was asked.
    let complete: @Sendable (ForwardedCall, UpstreamOutcome) -> SandboxReply
    /// Where requests are forwarded to: what to try, in this order; empty where nothing is forwarded.
    var addresses: [SocketAddress] = []
    /// How long the upstream may take, in milliseconds.
    var timeout: Int64 = 30_000

    /// Serves a connection to its end.
    func serve(_ connection: FaultServer.Connection, until stopping: FaultServer.Gate) {
        var reader = RequestReader(connection, maximumBodyLength: 16 * 1024 * 1024)
        while true {
            let reply: FaultServer.Reply
            switch reader.request() {
            case .request(let head, let body):
                let request = SandboxRequest(
                    method: head.method,
                    target: head.target,
                    headers: head.headers,
                    body: body,
                    peer: connection.peer,
                    connection: connection.id + 1,
                    arrival: connection.arrival
                )
                reply = answer(request, until: stopping).steps(
                    keepAlive: head.keepAlive,
                    omitBody: head.method == "HEAD"
                )
            case .invalid(let status, let reason):
                let refusal = SandboxReply(
                    response: .text(reason + "\n", status: status),
                    now: Timestamp.system().milliseconds
                )
                reply = refusal.steps(keepAlive: false, omitBody: false)
            default: return
            }
            guard connection.perform(reply) else { return }
        }
    }

    private func answer(_ request: SandboxRequest, until stopping: FaultServer.Gate) -> SandboxReply {
        switch receive(request) {
        case .reply(let reply): return reply
        case .forward(let call):
            var exchange = UpstreamExchange(call, timeout: timeout)
            return complete(call, exchange.run(addresses, until: stopping))
        }
    }
}
