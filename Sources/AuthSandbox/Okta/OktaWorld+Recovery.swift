import HTTPRecovery

// Forgotten passwords and locked accounts.
extension OktaWorld {
    private static let codeAttempts: Int64 = 5

    mutating func recover(
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) -> SandboxResponse {
        let isUnlock = exchange.route.parts.last == "unlock"
        let name = try exchange.required("username")
        let way = try exchange.required("factorType").uppercased()
        guard (isUnlock ? ["EMAIL", "SMS"] : ["EMAIL", "SMS", "CALL"]).contains(way) else {
            throw .validation("factorType", "The factor type is not supported")
        }
        let account = account(named: name)
        if let account {
            if isUnlock, !account.user.okta.mayUnlock { throw .unlockForbidden }
            if !isUnlock, !account.user.okta.mayRecover { throw .forgotForbidden }
        }
        var transaction = begin(account?.id, login: account?.login ?? name, exchange)
        transaction.status = "RECOVERY_CHALLENGE"
        transaction.recoveryType = isUnlock ? "UNLOCK" : "PASSWORD"
        transaction.recoveryFactor = way
        if way == "EMAIL" {
            if let account { try mail(account, transaction, exchange, context: &context) }
            return .json([
                "status": "RECOVERY_CHALLENGE", "factorResult": "WAITING",
                "relayState": .string(transaction.relayState ?? ""), "factorType": "EMAIL",
                "recoveryType": .optional(transaction.recoveryType),
            ])
        }
        var setup = SandboxOktaUser.Factor(way.lowercased())
        setup.destination = account?.user.phones.first
        var challenge = OktaTransaction.Challenge(factor: OktaFactor(id: "", setup: setup))
        let reached = setup.destination == nil ? nil : account
        try sendCode(&challenge, reached, transaction, exchange, context: &context)
        transaction.challenge = challenge
        return answer(transaction, exchange)
    }

    /// Sends a mail with a one-time token, which stands in the outbox like a code.
    private mutating func mail(
        _ account: OktaAccount,
        _ transaction: OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        if let sent = account.sentAt["email"], exchange.now - sent < exchange.okta.emailWindow {
            throw .justSent("email", until: sent + exchange.okta.emailWindow)
        }
        guard let address = account.user.emails.first else { return }
        let token = "re" + random.letters(18)
        recoveryTokens[token] = OktaOneTimeToken(
            account: account.id,
            expiresAt: exchange.now + 3_600_000,
            recoveryType: transaction.recoveryType
        )
        accounts[account.id]?.sentAt["email"] = exchange.now
        counters.codes += 1
        context.send(
            SandboxMessage(
                to: address,
                channel: "email",
                strategy: transaction.recoveryType == "UNLOCK" ? "okta_unlock_link" : "okta_recovery_link",
                code: token,
                sentAt: exchange.now,
                signIn: Masking.fingerprint(transaction.token)
            )
        )
    }

    /// The link of a mail is followed.
    mutating func redeem(_ exchange: OktaExchange) throws(OktaFailure) -> SandboxResponse {
        try redeem(link: exchange.required("recoveryToken"), "recovery_token", or: .token, exchange)
    }

    /// The token of a link is presented, which is good once.
    mutating func redeem(
        link token: String,
        _ sort: String,
        or unknown: OktaFailure,
        _ exchange: OktaExchange
    ) throws(OktaFailure) -> SandboxResponse {
        guard let held = recoveryTokens[token], held.link == sort, let account = accounts[held.account] else {
            throw unknown
        }
        guard !held.isUsed, held.expiresAt > exchange.now else { throw .recoveryUsed }
        guard leadsOn(held, now: exchange.now) else { throw .alreadyActive }
        recoveryTokens[token]?.isUsed = true
        var transaction = begin(account.id, login: account.login, exchange)
        transaction.recoveryType = held.recoveryType
        proved(&transaction)
        return answer(transaction, exchange)
    }

    /// Whether a link is of use: it is good once, and for activation until the account is active.
    func leadsOn(_ held: OktaOneTimeToken, now: Int64) -> Bool {
        let isActive = accounts[held.account]?.awaitsActivation == false
        return !held.isUsed && held.expiresAt > now && !(held.isOfActivation && isActive)
    }

    /// Verifies the code of a recovery, or sends it again.
    mutating func recoveryFactor(
        _ transaction: inout OktaTransaction,
        isResend: Bool,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        let sort = exchange.route.parts.dropFirst(2).first?.uppercased()
        guard transaction.status == "RECOVERY_CHALLENGE", transaction.recoveryFactor == sort,
            var challenge = transaction.challenge
        else { throw .state }
        if isResend {
            let account = transaction.account.flatMap { accounts[$0] }
            let reached = challenge.factor.setup.destination == nil ? nil : account
            try sendCode(&challenge, reached, transaction, exchange, context: &context)
            transaction.challenge = challenge
            return
        }
        let code = try exchange.required("passCode")
        try countAttempt(&transaction)
        guard code == challenge.code, challenge.codeEnds > exchange.now else { throw .factorAnswer }
        proved(&transaction)
    }

    mutating func answerQuestion(
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange
    ) throws(OktaFailure) {
        guard transaction.status == "RECOVERY", let account = transaction.account.flatMap({ accounts[$0] }) else {
            throw .state
        }
        let answer = try exchange.required("answer")
        try countAttempt(&transaction)
        guard answer.lowercased() == account.user.okta.recoveryAnswer?.lowercased() else { throw .recoveryAnswer }
        finishRecovery(&transaction)
    }

    private mutating func countAttempt(_ transaction: inout OktaTransaction) throws(OktaFailure) {
        guard transaction.activations < Self.codeAttempts else { throw .limit }
        transaction.activations += 1
        transactions[transaction.token]?.activations += 1
        counters.codeAttempts += 1
    }

    /// The person was reached: they answer their question, where they have one.
    private mutating func proved(_ transaction: inout OktaTransaction) {
        transaction.challenge = nil
        transaction.activations = 0
        if transaction.account.flatMap({ accounts[$0] })?.user.okta.recoveryQuestion != nil {
            transaction.status = "RECOVERY"
        } else {
            finishRecovery(&transaction)
        }
    }

    private mutating func finishRecovery(_ transaction: inout OktaTransaction) {
        if let account = transaction.account { unlock(account) }
        transaction.status = transaction.recoveryType == "UNLOCK" ? "SUCCESS" : "PASSWORD_RESET"
    }
}
