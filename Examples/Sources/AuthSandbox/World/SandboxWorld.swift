/// Everything that a sandbox is, without its sockets: a value that turns a request into a reply.
struct SandboxWorld: Sendable {
    let scenario: SandboxScenario
    let seed: UInt64
    var settings: SandboxSettings
    var clerk: ClerkWorld
    var faults = FaultTable()
    var log = RequestLog()
    var outbox = Outbox()
    var random: SeededGenerator
    var codes: SeededGenerator
    /// How far the sandbox's clock is ahead of the machine's.
    var clockOffset: Int64 = 0

    /// A world at its beginning.
    ///
    /// - Parameters:
    ///   - scenario: Who and what is there.
    ///   - seed: What all ids and codes follow from.
    ///   - wallNow: The machine's time in milliseconds since 1970.
    init(scenario: SandboxScenario, seed: UInt64, wallNow: Int64) {
        self.scenario = scenario
        self.seed = seed
        settings = scenario.settings
        random = SeededGenerator(seed: seed)
        codes = SeededGenerator(seed: ~seed)
        clerk = ClerkWorld(users: scenario.users, now: wallNow, random: &random)
        for fault in scenario.faults { faults.add(fault) }
    }

    /// Answers one request.
    ///
    /// - Parameters:
    ///   - request: What arrived.
    ///   - wallNow: The machine's time in milliseconds since 1970.
    /// - Returns: The reply, and lines for the log.
    mutating func handle(_ request: SandboxRequest, wallNow: Int64) -> (reply: SandboxReply, log: [String]) {
        let now = now(wallNow: wallNow)
        if request.path == "/_sandbox" || request.path.hasPrefix("/_sandbox/") {
            let response = control(request, wallNow: wallNow)
            return (SandboxReply(response: response, now: self.now(wallNow: wallNow)), [])
        }
        let fault = faults.take(for: request)
        var lines: [String] = []
        var response = SandboxResponse(status: 0)
        if fault?.processes ?? true {
            response = process(request, now: now, rotatesToken: fault?.kind == .rotateToken, log: &lines)
        }
        var reply = SandboxReply(response: response, now: now)
        if let fault {
            reply = fault.applied(
                to: response,
                now: now,
                client: clerk.clientJSON(for: request, settings: settings, now: now)
            )
        }
        let isAnswered = ![.reset, .close, .hang].contains(reply.delivery)
        let isError = isAnswered && reply.response.status >= 400
        let code = isError ? reply.response.jsonBody?["errors"]?[0]?["code"]?.string : nil
        let record = log.note(
            request,
            at: now,
            processed: fault?.processes ?? true,
            fault: fault?.kind.name,
            status: isAnswered ? reply.response.status : 0,
            errorCode: code
        )
        lines.append(Self.line(record))
        return (reply, lines)
    }

    /// The time on the sandbox's clock.
    func now(wallNow: Int64) -> Int64 {
        wallNow.addingReportingOverflow(clockOffset).overflow ? .max / 4 : min(wallNow + clockOffset, .max / 4)
    }

    private mutating func process(
        _ request: SandboxRequest,
        now: Int64,
        rotatesToken: Bool,
        log: inout [String]
    ) -> SandboxResponse {
        var context = SandboxContext(now: now, settings: settings, random: random, codes: codes, outbox: outbox)
        let response = clerk.handle(request, context: &context, rotatesToken: rotatesToken)
        random = context.random
        codes = context.codes
        outbox = context.outbox
        log += context.log
        return response
    }

    private static func line(_ record: SandboxRequestRecord) -> String {
        var line = "\(record.method) \(record.path) -> "
        line += record.status == 0 ? "no answer" : String(record.status)
        if let code = record.errorCode { line += " \(code)" }
        if let fault = record.fault { line += " (fault \(fault), \(record.isProcessed ? "" : "not ")processed)" }
        return line
    }
}
