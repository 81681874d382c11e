import HTTPRecovery

// Links in e-mails, and tickets.
extension ClerkWorld {
    /// Sends a link in place of a code.
    mutating func sendLink(to address: String?, for id: String, _ call: ClerkCall) throws(ClerkFailure) -> ClerkProof {
        let challenge = call.field("code_challenge")
        let method = call.field("code_challenge_method") ?? ""
        if challenge != nil, method != "S256" { throw .invalidValue("code_challenge_method", method) }
        let target = try call.required(challenge == nil ? "redirect_url" : "redirect_uri")
        let token = call.context.random.letters(40)
        let end = call.now + call.settings.codeLife
        links[token] = ClerkLink(
            flow: call.context.random.identifier("mlf_"),
            signIn: id,
            step: call.step,
            target: target,
            codeChallenge: challenge,
            expiresAt: end
        )
        if let address { call.send("http://\(call.host)/v1/verify?token=\(token)", to: address, for: id) }
        return ClerkProof(strategy: "email_link", expireAt: end, sentAt: call.now)
    }

    /// A browser opens a link: it is sent back to the app.
    mutating func openLink(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let token = call.request.queryItem("token") ?? ""
        guard let link = links[token] else { throw .linkInvalid }
        guard link.expiresAt > call.now else { throw .linkExpired }
        links[token]?.isOpened = true
        let isBound = link.codeChallenge != nil
        if !isBound { signIns[link.signIn]?.proofs[link.step]?.status = "verified" }
        let result = isBound ? "flow_id=\(link.flow)&approval_token=\(token)" : "__clerk_status=verified"
        call.redirect = link.target + (link.target.contains("?") ? "&" : "?") + result
        return .null
    }

    /// Goes on with a sign-in whose link was opened somewhere else.
    mutating func followOpenedLink(_ signIn: ClerkSignIn, _ call: ClerkCall) {
        let steps: [String: ClerkStep] = [
            "needs_first_factor": .first, "needs_second_factor": .second, "needs_client_trust": .second,
        ]
        guard let step = steps[signIn.status], let proof = signIn.proofs[step], proof.strategy == "email_link",
            proof.status == "verified"
        else { return }
        after(step, of: signIn.id, call)
    }

    /// The client that asked for a link proves that it did, and gets a ticket.
    mutating func completeLink(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let (flow, token) = (try call.required("flow_id"), try call.required("approval_token"))
        let verifier = try call.required("code_verifier")
        guard let link = links[token], link.flow == flow, let challenge = link.codeChallenge else {
            throw ClerkFailure(422, "approval_token_invalid", "The approval is invalid.")
        }
        let isProved = Base64.encodeForURL(SHA256.hash(Array(verifier.utf8))) == challenge
        let rules = [
            (!link.isUsed, "approval_token_consumed", "The approval has been used."),
            (link.expiresAt > call.now, "approval_token_expired", "The approval is too old."),
            (link.isOpened, "flow_not_approved", "The link has not been opened."),
            (isProved, "pkce_verification_failed", "The verifier does not belong to the challenge."),
        ]
        if let broken = rules.first(where: { !$0.0 }) { throw ClerkFailure(422, broken.1, broken.2) }
        links[token]?.isUsed = true
        guard let account = signIns[link.signIn]?.account else {
            throw ClerkFailure(422, "approval_token_invalid", "The sign-in is gone.")
        }
        let ticket = make(ClerkTicket(account: account, expiresAt: call.now + 300_000), &call.context.random)
        return wrapped(["flow_id": .string(flow), "ticket": .string(ticket)], call.client)
    }

    // MARK: Tickets

    /// Notes a ticket and tells its text.
    mutating func make(_ ticket: ClerkTicket, _ random: inout SplitMix64) -> String {
        let text = random.identifier("tkt_") + random.letters(16)
        tickets[text] = ticket
        return text
    }

    /// Takes the ticket of a form, which cannot be taken again.
    mutating func takeTicket(_ call: ClerkCall) throws(ClerkFailure) -> ClerkTicket {
        let text = try call.required("ticket")
        guard let ticket = tickets[text] else { throw .ticketInvalid("The ticket is invalid.") }
        if ticket.isUsed { throw .ticketUsed }
        if ticket.expiresAt <= call.now { throw .ticketExpired }
        tickets[text]?.isUsed = true
        return ticket
    }

    /// The account that the ticket of a form signs in.
    mutating func redeemTicket(_ call: ClerkCall) throws(ClerkFailure) -> String {
        guard let account = try takeTicket(call).account, accounts[account] != nil else { throw .ticketOfNobody }
        try checkLock(account, call)
        return account
    }
}
