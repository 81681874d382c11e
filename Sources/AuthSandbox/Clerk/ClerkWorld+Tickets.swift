import HTTPRecovery

/// What a backend, an invitation or an opened link has given somebody to sign in with, once.
struct ClerkTicket: Sendable {
    /// Who signs in with it; nil for an invitation.
    let account: String?
    /// Who signs up with it.
    let email: String?
    let expiresAt: Int64
    var isUsed = false
}

extension ClerkWorld {
    /// Makes a ticket.
    mutating func makeTicket(
        account: String?,
        email: String? = nil,
        life: Int64,
        now: Int64,
        random: inout SplitMix64
    ) -> String {
        let ticket = random.identifier("tkt_") + random.letters(16)
        tickets[ticket] = ClerkTicket(account: account, email: email, expiresAt: now + life)
        return ticket
    }

    /// Takes the ticket of a form, which cannot be taken again.
    mutating func takeTicket(_ exchange: ClerkExchange, now: Int64) throws(ClerkFailure) -> ClerkTicket {
        let text = try exchange.required("ticket")
        guard let ticket = tickets[text] else {
            throw ClerkFailure(400, "ticket_invalid_code", "Ticket is invalid", long: "The ticket is invalid.")
        }
        if ticket.isUsed {
            throw ClerkFailure(
                400,
                "sign_in_token_already_used_code",
                "Already used",
                long: "This ticket has already been used."
            )
        }
        if ticket.expiresAt <= now {
            throw ClerkFailure(400, "ticket_expired_code", "Ticket expired", long: "The ticket has expired.")
        }
        tickets[text]?.isUsed = true
        return ticket
    }

    /// The account that the ticket of a form signs in.
    mutating func redeemTicket(_ exchange: ClerkExchange, context: SandboxContext) throws(ClerkFailure) -> String {
        let ticket = try takeTicket(exchange, now: context.now)
        guard let account = ticket.account, accounts[account] != nil else {
            throw ClerkFailure(
                400,
                "sign_in_identification_or_user_deleted",
                "User deleted",
                long: "The account of this ticket does not exist."
            )
        }
        try checkLock(account, context: context)
        return account
    }
}
