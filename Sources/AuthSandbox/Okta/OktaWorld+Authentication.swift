import HTTPRecovery

// The Authentication API: which step a request is, and how a transaction begins, goes on and ends.
extension OktaWorld {
    mutating func authenticate(
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) -> SandboxResponse {
        let (step, id) = exchange.route.pattern
        guard Self.steps.contains(step) else { throw .path }
        guard exchange.request.method == "POST" else { throw .method }
        switch step {
        case "": return try primary(exchange, context: &context)
        case "recovery/password", "recovery/unlock": return try recover(exchange, context: &context)
        case "recovery/token": return try redeem(exchange)
        default: break
        }
        let token = try exchange.required("stateToken")
        guard var transaction = transactions[token], transaction.expiresAt > exchange.now else {
            transactions[token] = nil
            throw .token
        }
        transaction.expiresAt = exchange.now + exchange.okta.transactionLife
        transactions[token] = transaction
        switch step {
        case "cancel":
            transactions[token] = nil
            return .json(["relayState": .string(transaction.relayState ?? "")])
        case "previous": try goBack(&transaction)
        case "skip": try skip(&transaction, exchange)
        case "credentials/change_password": try changePassword(&transaction, exchange)
        case "credentials/reset_password": try resetPassword(&transaction, exchange)
        case "recovery/answer": try answerQuestion(&transaction, exchange)
        case "factors": try enroll(&transaction, exchange, context: &context)
        case "factors/{id}/verify": try verify(id, &transaction, exchange, context: &context)
        case "factors/{id}/verify/resend":
            try resend(id, &transaction, exchange, context: &context)
            if exchange.okta.isResendQuiet { return quiet(transaction) }
        case "factors/{id}/lifecycle/duoCallback":
            try takeDuo(id, &transaction, exchange, context: &context)
            return .json([:])
        case "factors/{id}/lifecycle/activate": try activate(id, &transaction, exchange)
        case "factors/{id}/lifecycle/activate/poll": try pollActivation(id, &transaction, exchange)
        case "factors/{id}/lifecycle/activate/sms", "factors/{id}/lifecycle/activate/email":
            try sendActivation(id, &transaction, exchange, context: &context)
        case "factors/{id}/lifecycle/resend":
            try resendActivation(id, &transaction, exchange, context: &context)
            if exchange.okta.isResendQuiet { return quiet(transaction) }
        default:
            // recovery/factors/{sort}/verify and …/resend
            let isResend = step.hasSuffix("resend")
            try recoveryFactor(&transaction, isResend: isResend, exchange, context: &context)
            if isResend, exchange.okta.isResendQuiet { return quiet(transaction) }
        }
        return answer(transaction, exchange)
    }

    private static let steps: Set<String> = {
        var steps: Set<String> = [
            "", "cancel", "previous", "skip", "credentials/change_password", "credentials/reset_password",
            "recovery/password", "recovery/unlock", "recovery/token", "recovery/answer", "factors",
            "factors/{id}/verify", "factors/{id}/verify/resend", "factors/{id}/lifecycle/activate",
            "factors/{id}/lifecycle/activate/poll", "factors/{id}/lifecycle/activate/sms",
            "factors/{id}/lifecycle/activate/email", "factors/{id}/lifecycle/resend",
            "factors/{id}/lifecycle/duoCallback",
        ]
        for sort in ["sms", "call", "SMS", "CALL"] {
            steps.insert("recovery/factors/\(sort)/verify")
            steps.insert("recovery/factors/\(sort)/resend")
        }
        return steps
    }()

    /// Remembers where a transaction stands, and tells it.
    mutating func answer(_ transaction: OktaTransaction, _ exchange: OktaExchange) -> SandboxResponse {
        guard transaction.status != "SUCCESS" else {
            transactions[transaction.token] = nil
            return .json(success(transaction, exchange))
        }
        transactions[transaction.token] = transaction
        return .json(view(transaction, exchange))
    }

    private mutating func quiet(_ transaction: OktaTransaction) -> SandboxResponse {
        transactions[transaction.token] = transaction
        return .json([:])
    }

    // MARK: Beginning

    private mutating func primary(
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) -> SandboxResponse {
        if exchange.text("username") == nil, let token = exchange.text("stateToken") {
            guard var transaction = transactions[token], transaction.expiresAt > exchange.now else {
                transactions[token] = nil
                throw .token
            }
            transaction.expiresAt = exchange.now + exchange.okta.transactionLife
            return answer(transaction, exchange)
        }
        if let token = exchange.text("token") {
            return try redeem(link: token, "activation_token", or: .authentication, exchange)
        }
        let name = try exchange.required("username")
        try admit(signInOf: name, exchange)
        if exchange.text("password") == nil, exchange.okta.allowsPasswordless,
            let account = account(named: name), !account.factors.isEmpty, !isLocked(account.id, now: exchange.now)
        {
            // Another factor stands in the place of the password.
            return answer(begin(account.id, login: account.login, exchange), exchange)
        }
        let password = try exchange.required("password")
        counters.passwordAttempts += 1
        guard let account = account(named: name), let secret = account.user.password else { throw .authentication }
        if isLocked(account.id, now: exchange.now) { return try lockedOut(account, exchange) }
        guard password == secret, account.user.state == "active" else {
            if password != secret, notePasswordFailure(account.id, &context) {
                return try lockedOut(account, exchange)
            }
            throw .authentication
        }
        noteRightPassword(of: account.id)
        var transaction = begin(account.id, login: account.login, exchange)
        let options = exchange.body["options"]
        transaction.device = exchange.cookie("DT")
        transaction.enrollsOptional = options?["multiOptionalFactorEnroll"]?.bool ?? false
        switch account.passwordStatus {
        case "expired": transaction.status = "PASSWORD_EXPIRED"
        case "reset": transaction.status = "PASSWORD_RESET"
        case "warn" where options?["warnBeforePasswordExpired"]?.bool == true: transaction.status = "PASSWORD_WARN"
        default: goOn(&transaction)
        }
        return answer(transaction, exchange)
    }

    /// A step-up of a session that a browser holds, which it is sent to a login page with; nil if there is nobody to ask.
    mutating func beginStepUp(of account: OktaAccount, now: Int64, life: Int64) -> String {
        counters.transactions += 1
        let token = "00" + random.letters(40)
        var transaction = OktaTransaction(
            token: token,
            account: account.id,
            login: account.login,
            status: "MFA_REQUIRED",
            expiresAt: now + life
        )
        transaction.type = "SESSION_STEP_UP"
        transactions[token] = transaction
        return token
    }

    /// A new transaction.
    mutating func begin(_ account: String?, login: String, _ exchange: OktaExchange) -> OktaTransaction {
        counters.transactions += 1
        return OktaTransaction(
            token: "00" + random.letters(40),
            account: account,
            login: login,
            status: "UNAUTHENTICATED",
            expiresAt: exchange.now + exchange.okta.transactionLife,
            relayState: exchange.text("relayState").map { String($0.prefix(2048)) }
        )
    }

    /// Goes on behind the password: to a factor, to what has to be set up, or to the end.
    mutating func goOn(_ transaction: inout OktaTransaction) {
        transaction.challenge = nil
        guard let account = transaction.account.flatMap({ accounts[$0] }) else {
            transaction.status = "SUCCESS"
            return
        }
        if let status = account.user.statusAfterFirstFactor {
            transaction.status = status
        } else if !account.factors.isEmpty, !transaction.hasVerified,
            transaction.device.map(account.rememberedDevices.contains) != true
        {
            transaction.status = "MFA_REQUIRED"
        } else if hasOpenEnrollment(account, transaction) {
            transaction.status = "MFA_ENROLL"
        } else {
            transaction.status = "SUCCESS"
        }
    }

    private func hasOpenEnrollment(_ account: OktaAccount, _ transaction: OktaTransaction) -> Bool {
        account.enrollments.contains { $0.isRequired || (transaction.enrollsOptional && !transaction.hasSkipped) }
    }

    // MARK: Going back and past

    private mutating func goBack(_ transaction: inout OktaTransaction) throws(OktaFailure) {
        switch transaction.status {
        case "MFA_CHALLENGE": transaction.status = "MFA_REQUIRED"
        case "MFA_ENROLL_ACTIVATE": transaction.status = "MFA_ENROLL"
        default: throw .state
        }
        transaction.challenge = nil
    }

    private mutating func skip(_ transaction: inout OktaTransaction, _ exchange: OktaExchange) throws(OktaFailure) {
        let account = transaction.account.flatMap { accounts[$0] }
        switch transaction.status {
        case "PASSWORD_WARN": break
        case "MFA_ENROLL" where account?.enrollments.contains(where: \.isRequired) == false:
            transaction.hasSkipped = true
        default: throw .state
        }
        goOn(&transaction)
    }

    // MARK: Lockouts

    /// Whether an account is locked; a lock that has run out is taken away.
    mutating func isLocked(_ id: String, now: Int64) -> Bool {
        switch accounts[id]?.lock {
        case nil, .open: return false
        case .indefinite: return true
        case .until(let time):
            if time > now { return true }
            unlock(id)
            return false
        }
    }

    /// Whoever has signed in by a password is active, and nothing counts against them.
    mutating func noteRightPassword(of id: String) {
        accounts[id]?.failures = 0
        accounts[id]?.awaitsActivation = false
    }

    /// Opens an account and forgets its failures.
    mutating func unlock(_ id: String) {
        accounts[id]?.lock = .open
        accounts[id]?.failures = 0
        accounts[id]?.factorFailures = 0
        accounts[id]?.engineFailures = [:]
    }

    /// Locks an account as the settings say.
    mutating func lock(_ id: String, _ context: inout SandboxContext) {
        guard let account = accounts[id] else { return }
        let lockout = account.user.lockout ?? context.settings.lockout
        accounts[id]?.lock = lockout.duration.map { .until(context.now + $0) } ?? .indefinite
        context.log.append("locked \(account.login) at Okta")
    }

    /// Counts a wrong password; tells whether it has locked the account.
    mutating func notePasswordFailure(_ id: String, _ context: inout SandboxContext) -> Bool {
        guard let account = accounts[id] else { return false }
        accounts[id]?.failures += 1
        let threshold = (account.user.lockout ?? context.settings.lockout).threshold
        guard threshold > 0, account.failures + 1 >= threshold else { return false }
        lock(id, &context)
        return true
    }

    /// Counts a wrong code or answer, whichever sign-in it was given in; tells whether it has locked the account.
    mutating func noteFactorFailure(_ id: String, _ context: inout SandboxContext) -> Bool {
        guard let account = accounts[id] else { return false }
        accounts[id]?.factorFailures += 1
        guard account.factorFailures + 1 >= context.settings.okta.factorAttempts else { return false }
        lock(id, &context)
        return true
    }

    /// Whether the identity engine takes no codes of a factor any more, in any sign-in, as long as a lockout lasts.
    func isSuspended(_ factor: OktaFactor, of id: String, _ context: SandboxContext) -> Bool {
        guard let account = accounts[id], let failures = account.engineFailures[factor.id],
            failures.count >= context.settings.okta.factorAttempts
        else { return false }
        let lockout = account.user.lockout ?? context.settings.lockout
        return lockout.duration.map { context.now < failures.last + $0 } ?? true
    }

    /// Counts a wrong code of a factor at the identity engine; tells whether it has suspended the factor.
    mutating func noteFailure(of factor: OktaFactor, _ id: String, _ context: SandboxContext) -> Bool {
        let threshold = context.settings.okta.factorAttempts
        let before = accounts[id]?.engineFailures[factor.id]?.count ?? 0
        // A suspension that is over has cleared the count.
        accounts[id]?.engineFailures[factor.id] = ((before >= threshold ? 0 : before) + 1, context.now)
        return isSuspended(factor, of: id, context)
    }

    /// What a locked account is answered with: the truth, or what looks like a wrong password.
    private func lockedOut(_ account: OktaAccount, _ exchange: OktaExchange) throws(OktaFailure) -> SandboxResponse {
        guard account.user.okta.showsLockout ?? exchange.okta.showsLockout else { throw .authentication }
        return .json([
            "status": "LOCKED_OUT",
            "_embedded": [:],
            "_links": [
                "next": link(exchange.url("recovery/unlock"), name: "unlock"),
                "cancel": link(exchange.url("cancel")),
            ],
        ])
    }
}
