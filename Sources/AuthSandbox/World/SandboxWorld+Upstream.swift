// What a sandbox does that stands before another server: it forwards, and does harm on the way.
extension SandboxWorld {
    /// Takes one request.
    ///
    /// - Parameters:
    ///   - request: What arrived.
    ///   - wallNow: The machine's time in milliseconds since 1970.
    /// - Returns: The reply, or what to ask the upstream first, and lines for the log.
    mutating func receive(_ request: SandboxRequest, wallNow: Int64) -> (action: SandboxAction, log: [String]) {
        guard let upstream, !request.isControl else {
            let (reply, lines) = handle(request, wallNow: wallNow)
            return (.reply(reply), lines)
        }
        var request = request
        request.isForUpstream = true
        context.now = now(wallNow: wallNow)
        let now = context.now
        let fault = context.faults.take(for: request)
        let entry = log.begin(request, at: now, fault: fault?.kind.name)
        var call = ForwardedCall(
            bytes: [],
            request: request,
            asksForToken: request.grant != nil,
            fault: fault,
            entry: entry
        )
        // The log has what it wants to know of the body.
        call.request.body = []
        guard fault?.processes ?? true else {
            let (reply, lines) = conclude(call, SandboxResponse(status: 0), wasSent: false, now: now)
            return (.reply(reply), lines)
        }
        upstreamTokens.restore(&request.headers)
        switch UpstreamRequest.bytes(of: request, to: upstream) {
        case .success(let bytes):
            call.bytes = bytes
            return (.forward(call), [])
        case .failure(let failure):
            let (reply, lines) = conclude(call, failure.response, wasSent: false, now: now)
            return (.reply(reply), lines)
        }
    }

    /// Answers a request for which the upstream was asked.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - outcome: What came of it.
    ///   - wallNow: The machine's time in milliseconds since 1970.
    /// - Returns: The reply, and lines for the log.
    mutating func complete(
        _ call: ForwardedCall,
        _ outcome: UpstreamOutcome,
        wallNow: Int64
    ) -> (reply: SandboxReply, log: [String]) {
        var response: SandboxResponse
        switch outcome.result {
        case .success(let answer):
            response = answer
            if call.fault?.kind == .rotateToken {
                upstreamTokens.rotate(&response, for: call.request, random: &context.random)
            }
        case .failure(let failure): response = failure.response
        }
        return conclude(call, response, wasSent: outcome.wasSent, now: now(wallNow: wallNow))
    }

    /// Lets the fault have its way with the answer, and notes what became of the request.
    private mutating func conclude(
        _ call: ForwardedCall,
        _ response: SandboxResponse,
        wasSent: Bool,
        now: Int64
    ) -> (reply: SandboxReply, log: [String]) {
        var reply = SandboxReply(response: response, now: now)
        if let fault = call.fault {
            reply = fault.applied(to: response, now: now) { status in
                OAuthFailure(fault, status: status, isResource: !call.asksForToken).response
            }
        }
        let record = log.finish(
            call.entry,
            processed: wasSent,
            status: reply.isAnswered ? reply.response.status : 0,
            errorCode: reply.errorCode
        )
        return (reply, record.map { [$0.line] } ?? [])
    }
}
