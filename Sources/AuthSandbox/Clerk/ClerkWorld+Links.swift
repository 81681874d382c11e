import HTTPRecovery

/// A link in an e-mail.
struct ClerkLink: Sendable {
    let flow: String
    let signIn: String
    let isSecond: Bool
    /// Where it leads.
    let target: String
    /// What only the client that asked for it can answer; nil where any browser may open it.
    let codeChallenge: String?
    let expiresAt: Int64
    var isOpened = false
    var isUsed = false
}

extension ClerkWorld {
    /// Sends a link in place of a code.
    mutating func sendLink(
        _ id: String,
        to contact: ClerkAccount.Contact?,
        isSecond: Bool,
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) {
        let challenge = exchange.field("code_challenge")
        if challenge != nil, exchange.field("code_challenge_method") != "S256" {
            throw .invalidValue("code_challenge_method", exchange.field("code_challenge_method") ?? "")
        }
        let target = try exchange.required(challenge == nil ? "redirect_url" : "redirect_uri")
        let token = context.random.letters(40)
        let link = ClerkLink(
            flow: context.random.identifier("mlf_"),
            signIn: id,
            isSecond: isSecond,
            target: target,
            codeChallenge: challenge,
            expiresAt: context.now + context.settings.codeLife
        )
        links[token] = link
        let proof = ClerkSignIn.Verification(
            strategy: "email_link",
            expireAt: link.expiresAt,
            sentAt: context.now,
            contact: contact?.id,
            codeChallenge: challenge
        )
        if isSecond { signIns[id]?.second = proof } else { signIns[id]?.first = proof }
        guard let contact else { return }
        let host = exchange.request.header("host") ?? "sandbox.invalid"
        context.send(
            SandboxMessage(
                to: contact.address,
                channel: "email",
                strategy: "email_link",
                code: "http://\(host)/v1/verify?token=\(token)",
                sentAt: context.now,
                signIn: id
            )
        )
    }

    /// A browser opens a link: it is sent back to the app.
    mutating func openLink(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let token = exchange.request.queryItem("token") ?? ""
        guard let link = links[token] else {
            throw ClerkFailure(400, "verification_link_token_invalid", "Invalid link", long: "This link is invalid.")
        }
        guard link.expiresAt > context.now else {
            throw ClerkFailure(400, "verification_link_token_expired", "Expired link", long: "This link has expired.")
        }
        links[token]?.isOpened = true
        let mark = link.target.contains("?") ? "&" : "?"
        if link.codeChallenge != nil {
            exchange.redirect = "\(link.target)\(mark)flow_id=\(link.flow)&approval_token=\(token)"
        } else {
            if link.isSecond {
                signIns[link.signIn]?.second?.status = "verified"
            } else {
                signIns[link.signIn]?.first?.status = "verified"
            }
            exchange.redirect = "\(link.target)\(mark)__clerk_status=verified"
        }
        return .null
    }

    /// Goes on with a sign-in whose link was opened somewhere else.
    mutating func followOpenedLink(_ id: String, _ exchange: inout ClerkExchange, context: inout SandboxContext) {
        guard let signIn = signIns[id] else { return }
        if signIn.status == "needs_first_factor", signIn.first?.strategy == "email_link",
            signIn.first?.status == "verified"
        {
            afterFirstFactor(id, &exchange, context: &context)
        } else if ["needs_second_factor", "needs_client_trust"].contains(signIn.status),
            signIn.second?.strategy == "email_link", signIn.second?.status == "verified"
        {
            complete(id, &exchange, context: &context)
        }
    }

    /// The client that asked for a link proves that it did, and gets a ticket.
    mutating func completeLink(
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let (flow, token) = (try exchange.required("flow_id"), try exchange.required("approval_token"))
        let verifier = try exchange.required("code_verifier")
        guard let link = links[token], link.flow == flow, let challenge = link.codeChallenge else {
            throw Self.dead("approval_token_invalid", "The approval is invalid.")
        }
        if link.isUsed { throw Self.dead("approval_token_consumed", "The approval has been used.") }
        guard link.expiresAt > context.now else {
            throw Self.dead("approval_token_expired", "The approval is too old.")
        }
        guard link.isOpened else { throw Self.dead("flow_not_approved", "The link has not been opened.") }
        guard Base64.encodeForURL(SHA256.hash(Array(verifier.utf8))) == challenge else {
            throw Self.dead("pkce_verification_failed", "The verifier does not belong to the challenge.")
        }
        links[token]?.isUsed = true
        guard let account = signIns[link.signIn]?.account else {
            throw Self.dead("approval_token_invalid", "The sign-in is gone.")
        }
        let ticket = makeTicket(account: account, life: 300_000, now: context.now, random: &context.random)
        return wrapped(["flow_id": .string(flow), "ticket": .string(ticket)], exchange.client)
    }

    private static func dead(_ code: String, _ long: String) -> ClerkFailure {
        ClerkFailure(422, code, long, long: long)
    }
}
