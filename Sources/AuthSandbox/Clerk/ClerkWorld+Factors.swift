import HTTPRecovery

extension ClerkWorld {
    private static let codeStrategies = [
        "email_code", "phone_code", "reset_password_email_code", "reset_password_phone_code",
    ]
    private static let preparable = codeStrategies + ["email_link", "passkey"]

    // MARK: First factor

    mutating func prepareFirst(
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let signIn = try currentSignIn(exchange)
        let strategy = try exchange.required("strategy")
        try checkState(signIn, ["needs_first_factor"], proof: signIn.first)
        try prepare(signIn.id, strategy: strategy, isSecond: false, exchange, context: &context)
        return wrapped(signInView(signIn.id), signIn.client)
    }

    mutating func attemptFirst(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        try limit(context.settings.rateLimits.attemptSignIn, "attempt_sign_in", exchange, now: context.now)
        let signIn = try currentSignIn(exchange)
        let strategy = try exchange.required("strategy")
        try checkState(signIn, ["needs_first_factor"], proof: signIn.first)
        if strategy == "password" {
            _ = try exchange.required("password")
            try attemptPassword(signIn.id, &exchange, context: &context)
        } else if strategy == "passkey" {
            try attemptPasskey(signIn.id, exchange, context: &context)
            afterFirstFactor(signIn.id, &exchange, context: &context)
        } else {
            guard offeredFirstFactors(signIn).contains(strategy) else { throw .strategyInvalid }
            try attemptCode(signIn.id, strategy: strategy, isSecond: false, exchange, context: &context)
            afterFirstFactor(signIn.id, &exchange, context: &context)
        }
        return wrapped(signInView(signIn.id), signIn.client)
    }

    /// The strategies that a sign-in offers; somebody who does not exist is offered what everybody has.
    func offeredFirstFactors(_ signIn: ClerkSignIn) -> [String] {
        guard let account = signIn.account.flatMap({ accounts[$0] }) else { return ["password", "email_code"] }
        return account.firstFactors
    }

    /// Checks the password in the form and, if it is right, goes on.
    mutating func attemptPassword(
        _ id: String,
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) {
        guard let signIn = signIns[id] else { throw .notFound("sign-in") }
        let password = exchange.field("password") ?? ""
        if password.isEmpty { throw .null("password") }
        guard let accountID = signIn.account, let account = accounts[accountID] else {
            throw .passwordOrIdentifierIncorrect
        }
        try checkLock(accountID, context: context)
        guard account.firstFactors.contains("password"), let secret = account.user.password else {
            throw .strategyInvalid
        }
        guard password == secret else {
            let isProtected = context.settings.protectsAgainstEnumeration
            throw noteFailure(
                accountID,
                isProtected ? .passwordOrIdentifierIncorrect : .passwordIncorrect,
                context: &context
            )
        }
        switch account.user.passwordState {
        case "compromised":
            let hasAlternative = account.firstFactors.contains { $0 == "email_code" || $0 == "phone_code" }
            throw hasAlternative ? .passwordCompromised : .passwordPwned
        case "pwned": throw .passwordPwned
        case "reset_required": throw .passwordResetRequired
        case "too_long": throw .passwordTooLong
        default: break
        }
        signIns[id]?.first = .init(strategy: "password", status: "verified", attempts: 1)
        afterFirstFactor(id, &exchange, context: &context)
    }

    // MARK: Second factor

    mutating func prepareSecond(
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let signIn = try currentSignIn(exchange)
        let strategy = try exchange.required("strategy")
        try checkState(signIn, ["needs_second_factor", "needs_client_trust"], proof: signIn.second)
        try prepare(signIn.id, strategy: strategy, isSecond: true, exchange, context: &context)
        return wrapped(signInView(signIn.id), signIn.client)
    }

    mutating func attemptSecond(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        try limit(context.settings.rateLimits.attemptSignIn, "attempt_sign_in", exchange, now: context.now)
        let signIn = try currentSignIn(exchange)
        let strategy = try exchange.required("strategy")
        try checkState(signIn, ["needs_second_factor", "needs_client_trust"], proof: signIn.second)
        let offered = offeredSecondFactors(signIn)
        if offered.isEmpty { throw .noSecondFactors }
        guard offered.contains(strategy) else { throw .strategyInvalid }
        if strategy == "totp" || strategy == "backup_code" {
            try attemptDevice(signIn, strategy: strategy, exchange, context: &context)
        } else {
            try attemptCode(signIn.id, strategy: strategy, isSecond: true, exchange, context: &context)
        }
        complete(signIn.id, &exchange, context: &context)
        return wrapped(signInView(signIn.id), signIn.client)
    }

    /// The strategies that a sign-in demands one of, in the second step.
    func offeredSecondFactors(_ signIn: ClerkSignIn) -> [String] {
        guard let account = signIn.account.flatMap({ accounts[$0] }) else { return [] }
        return signIn.status == "needs_client_trust" ? account.clientTrustFactors : account.secondFactors
    }

    /// A code that the person's own device or paper shows.
    mutating func attemptDevice(
        _ signIn: ClerkSignIn,
        strategy: String,
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) {
        guard let accountID = signIn.account, let account = accounts[accountID] else { throw .strategyInvalid }
        try checkLock(accountID, context: context)
        let code = try exchange.required("code")
        var proof = signIn.second?.strategy == strategy ? signIn.second : nil
        proof = proof ?? .init(strategy: strategy)
        proof?.attempts += 1
        signIns[signIn.id]?.second = proof
        let isRight: Bool
        if strategy == "totp" {
            let step = matchingStep(code, account, context: context)
            isRight = step != nil
            if let step { accounts[accountID]?.lastTOTPStep = step }
        } else {
            isRight = account.backupCodes.contains(code)
            accounts[accountID]?.backupCodes.removeAll { $0 == code }
        }
        guard isRight else { throw noteFailure(accountID, .codeIncorrect, context: &context) }
        signIns[signIn.id]?.second?.status = "verified"
    }

    /// The step that a time-based code belongs to: the present one or one of its neighbours.
    private func matchingStep(_ code: String, _ account: ClerkAccount, context: SandboxContext) -> Int64? {
        guard let secret = account.user.totpSecret.flatMap(Base32.decode) else { return nil }
        let present = TOTP.step(atMilliseconds: context.now)
        return (present - 1...present + 1).first { step in
            let isUsed = context.settings.isTOTPSingleUse && step <= account.lastTOTPStep ?? -1
            return !isUsed && TOTP.code(secret: secret, step: step) == code
        }
    }

    // MARK: Codes by e-mail and phone

    private func checkState(
        _ signIn: ClerkSignIn,
        _ statuses: [String],
        proof: ClerkSignIn.Verification?
    ) throws(ClerkFailure) {
        if statuses.contains(signIn.status) { return }
        if proof?.status == "verified" { throw .verificationAlreadyVerified }
        throw .clientStateInvalid("This step is not possible while the sign-in is in status \(signIn.status).")
    }

    /// Sends a code and remembers it.
    mutating func prepare(
        _ id: String,
        strategy: String,
        isSecond: Bool,
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) {
        guard let signIn = signIns[id] else { throw .notFound("sign-in") }
        let offered = isSecond ? offeredSecondFactors(signIn) : offeredFirstFactors(signIn)
        guard Self.preparable.contains(strategy), offered.contains(strategy) else { throw .strategyInvalid }
        if strategy == "passkey" {
            let proof = challenge(exchange, account: signIn.account, context: &context)
            if isSecond { signIns[id]?.second = proof } else { signIns[id]?.first = proof }
            return
        }
        if let accountID = signIn.account { try checkLock(accountID, context: context) }
        let former = isSecond ? signIn.second : signIn.first
        let window = context.settings.resendWindow
        if let former, former.strategy == strategy, former.sentAt > context.now - window, former.sentAt > 0 {
            throw .resendTooSoon(milliseconds: former.sentAt + window - context.now)
        }
        let contact = try contact(for: strategy, signIn, exchange)
        if strategy == "email_link" {
            return try sendLink(id, to: contact, isSecond: isSecond, exchange, context: &context)
        }
        let code = Self.isTestAddress(contact?.address) ? "424242" : context.codes.sixDigits()
        let proof = ClerkSignIn.Verification(
            strategy: strategy,
            expireAt: context.now + context.settings.codeLife,
            code: code,
            sentAt: context.now,
            contact: contact?.id
        )
        if isSecond { signIns[id]?.second = proof } else { signIns[id]?.first = proof }
        guard let contact else { return }
        let channel = strategy.hasSuffix("phone_code") ? "phone" : "email"
        context.send(
            SandboxMessage(
                to: contact.address,
                channel: channel,
                strategy: strategy,
                code: code,
                sentAt: context.now,
                signIn: id
            )
        )
    }

    /// Where a code goes: the address that the form names, or the first one.
    ///
    /// Nil for somebody who does not exist.
    private func contact(
        for strategy: String,
        _ signIn: ClerkSignIn,
        _ exchange: ClerkExchange
    ) throws(ClerkFailure) -> ClerkAccount.Contact? {
        guard let account = signIn.account.flatMap({ accounts[$0] }) else { return nil }
        let isPhone = strategy.hasSuffix("phone_code")
        let parameter = isPhone ? "phone_number_id" : "email_address_id"
        let contacts = isPhone ? account.phones : account.emails
        guard let wanted = exchange.field(parameter), !wanted.isEmpty else {
            guard let first = contacts.first else { throw .strategyInvalid }
            return first
        }
        guard let found = contacts.first(where: { $0.id == wanted }) else { throw .invalidValue(parameter, wanted) }
        return found
    }

    /// The provider's test identities: `+clerk_test` addresses and the 555 numbers 0100 to 0199.
    static func isTestAddress(_ address: String?) -> Bool {
        guard let address else { return false }
        if address.lowercased().contains("+clerk_test@") { return true }
        let digits = address.filter(\.isNumber)
        return address.hasPrefix("+1") && digits.count == 11 && digits.dropFirst(4).hasPrefix("55501")
    }

    mutating func attemptCode(
        _ id: String,
        strategy: String,
        isSecond: Bool,
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) {
        guard let signIn = signIns[id] else { throw .notFound("sign-in") }
        if let accountID = signIn.account { try checkLock(accountID, context: context) }
        guard var proof = isSecond ? signIn.second : signIn.first else { throw .verificationMissing }
        guard proof.strategy == strategy else { throw .verificationStrategyInvalid }
        let code = try exchange.required("code")
        defer { if isSecond { signIns[id]?.second = proof } else { signIns[id]?.first = proof } }
        if proof.status == "verified" { throw .verificationAlreadyVerified }
        if proof.status == "failed" { throw .verificationFailed }
        if let expireAt = proof.expireAt, expireAt <= context.now {
            proof.status = "expired"
            throw .verificationExpired
        }
        proof.attempts += 1
        if signIn.account != nil, code == proof.code {
            proof.status = "verified"
            return
        }
        if proof.attempts >= context.settings.codeAttempts { proof.status = "failed" }
        let failure: ClerkFailure = proof.status == "failed" ? .verificationFailed : .codeIncorrect
        guard let accountID = signIn.account else { throw failure }
        throw noteFailure(accountID, failure, context: &context)
    }
}
