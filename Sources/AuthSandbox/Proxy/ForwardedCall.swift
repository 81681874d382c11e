/// What a sandbox does about a request.
enum SandboxAction: Sendable {
    case reply(SandboxReply)
    /// Ask the upstream first; what comes of it goes back to the world.
    case forward(ForwardedCall)
}

/// A request on its way to the upstream, with what the world wants to know when the answer is there.
struct ForwardedCall: Sendable {
    /// The whole request as it is sent.
    var bytes: [UInt8]
    /// What arrived, without its body.
    var request: SandboxRequest
    /// Whether it asks for tokens, which decides what a refusal looks like that a fault makes up.
    let asksForToken: Bool
    /// What happens to the answer.
    let fault: SandboxFault?
    /// Where it stands in the log.
    let entry: RequestLog.Entry
}
