import HTTPRecovery

// The steps of a sign-in, and of a session that is verified again.
extension ClerkWorld {
    private static let preparable = [
        "email_code", "phone_code", "reset_password_email_code", "reset_password_phone_code", "email_link", "passkey",
    ]

    /// The strategies that a step offers; somebody who does not exist is offered what everybody has.
    func offered(_ signIn: ClerkSignIn, _ step: ClerkStep) -> [String] {
        guard let account = account(of: signIn) else {
            if step == .second { return [] }
            guard signIn.signsUp else { return ["password", "email_code"] }
            return signIn.identifier?.contains("@") == true ? ["email_code"] : ["phone_code"]
        }
        if step == .first { return account.firstFactors }
        return signIn.status == "needs_client_trust" ? account.clientTrustFactors : account.secondFactors
    }

    private func view(of signIn: ClerkSignIn) -> JSONValue {
        let isSignIn = signIn.reverification == nil
        return wrapped(isSignIn ? signInView(signIn.id) : verificationView(of: signIn.id), signIn.client)
    }

    // MARK: Sending codes

    /// Sends a code, a link or a challenge and remembers it.
    @discardableResult
    mutating func prepare(_ signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let strategy = call.strategy
        // Whoever has begun with a passkey is known by that alone, and may try again.
        let isAnybodys = strategy == "passkey" && signIn.account == nil && signIn.proofs[.first]?.strategy == strategy
        let isOffered = isAnybodys || offered(signIn, call.step).contains(strategy)
        let isVisit = Self.isVisit(strategy)
        guard isOffered, isVisit || Self.preparable.contains(strategy) else { throw .strategyInvalid }
        let proof: ClerkProof
        if strategy == "passkey" {
            proof = challenge(call, account: signIn.account)
        } else if isVisit {
            try checkConnection(signIn, call)
            proof = try beginVisit(strategy, signIn: signIn.id, call)
        } else {
            try checkLock(signIn.account, call)
            if let former = signIn.proofs[call.step], former.strategy == strategy { try former.checkResend(call) }
            let (address, id) = (try address(for: signIn, call), signIn.id)
            let isLink = strategy == "email_link"
            proof = isLink ? try sendLink(to: address, for: id, call) : sendCode(to: address, for: id, call)
        }
        signIns[signIn.id]?.proofs[call.step] = proof
        return view(of: signIn)
    }

    /// Each `enterprise_sso` among somebody's first factors is a connection of its own.
    static func connection(_ number: Int) -> String { "ec_\(number)" }

    /// Refuses the visit of an enterprise's provider if it is not said which of several.
    private func checkConnection(_ signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) {
        let count = offered(signIn, call.step).count { $0 == "enterprise_sso" }
        guard call.strategy == "enterprise_sso", count > 0 else { return }
        let parameter = "enterprise_connection_id"
        guard let wanted = call.field(parameter) else {
            if count == 1 { return }
            throw ClerkFailure(parameter, "\(parameter)_is_required_with_multiple_connections", "is required")
        }
        guard (1...count).contains(where: { Self.connection($0) == wanted }) else {
            throw .invalidValue(parameter, wanted)
        }
    }

    /// Sends a code, if there is somebody to send it to.
    func sendCode(to address: String?, for id: String, _ call: ClerkCall) -> ClerkProof {
        let code = Self.isTestAddress(address) ? "424242" : call.context.codes.sixDigits()
        let leavesAt = call.now + (call.strategy.hasSuffix("phone_code") ? call.settings.smsDelay : 0)
        if let address { call.send(code, to: address, for: id, at: leavesAt) }
        let end = call.now + call.settings.codeLife
        return ClerkProof(strategy: call.strategy, expireAt: end, code: code, sentAt: call.now, leavesAt: leavesAt)
    }

    /// Where a code goes: the address that the form names, or the first one; nil for somebody who does not exist.
    private func address(for signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) -> String? {
        guard let contacts = account(of: signIn)?.contacts(for: call.strategy) else {
            return signIn.signsUp ? signIn.identifier : nil
        }
        let parameter = call.strategy.hasSuffix("phone_code") ? "phone_number_id" : "email_address_id"
        guard let wanted = call.field(parameter), !wanted.isEmpty else {
            guard let first = contacts.first else { throw .strategyInvalid }
            return first.address
        }
        guard let found = contacts.first(where: { $0.id == wanted }) else { throw .invalidValue(parameter, wanted) }
        return found.address
    }

    /// The provider's test identities: `+clerk_test` addresses and the 555 numbers 0100 to 0199.
    static func isTestAddress(_ address: String?) -> Bool {
        guard let address else { return false }
        if address.lowercased().contains("+clerk_test@") { return true }
        let digits = address.filter(\.isNumber)
        return address.hasPrefix("+1") && digits.count == 11 && digits.dropFirst(4).hasPrefix("55501")
    }

    // MARK: Taking proofs

    mutating func attempt(_ signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let (strategy, step) = (call.strategy, call.step)
        let offered = offered(signIn, step)
        let isSignIn = signIn.reverification == nil
        if isSignIn, step == .second, offered.isEmpty { throw .noSecondFactors }
        // A sign-in looks at what a password or a passkey is before it says that the person has none.
        let isForAnybody = isSignIn && step == .first && ["password", "passkey", "trusted_device"].contains(strategy)
        guard isForAnybody || offered.contains(strategy) else { throw .strategyInvalid }
        switch strategy {
        case "password": try attemptPassword(signIn, call)
        case "passkey": try attemptPasskey(signIn, call)
        case "trusted_device": try attemptDeviceKey(signIn, call)
        case "totp", "backup_code": try attemptDevice(signIn, call)
        default: try attemptCode(signIn, call)
        }
        if strategy != "password" { after(step, of: signIn.id, call) }
        return view(of: signIn)
    }

    /// Checks the password in the form and, if it is right, goes on.
    mutating func attemptPassword(_ signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) {
        let password = try call.required("password")
        guard let account = account(of: signIn) else { throw .nameOrPasswordIncorrect }
        try checkLock(account.id, call)
        guard account.firstFactors.contains("password"), let secret = account.user.password else {
            throw .strategyInvalid
        }
        guard password == secret else {
            let isProtected = call.settings.protectsAgainstEnumeration
            let failure: ClerkFailure = isProtected ? .nameOrPasswordIncorrect : .passwordIncorrect
            throw noteFailure(account.id, failure, call)
        }
        if let refusal = ClerkFailure.passwordStates[account.user.passwordState] {
            let hasAlternative = account.firstFactors.contains { $0 == "email_code" || $0 == "phone_code" }
            throw refusal == .passwordCompromised && !hasAlternative ? .passwordPwned : refusal
        }
        signIns[signIn.id]?.proofs[.first] = .verified("password")
        after(.first, of: signIn.id, call)
    }

    /// A code that the person's own device or paper shows.
    private mutating func attemptDevice(_ signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) {
        let strategy = call.strategy
        guard let account = account(of: signIn) else { throw .strategyInvalid }
        try checkLock(account.id, call)
        let code = try call.required("code")
        var proof = signIn.proofs[.second].flatMap { $0.strategy == strategy ? $0 : nil } ?? .init(strategy: strategy)
        proof.attempts += 1
        defer { signIns[signIn.id]?.proofs[.second] = proof }
        let isRight: Bool
        if strategy == "totp" {
            let step = matchingStep(code, account, call)
            isRight = step != nil
            if let step { accounts[account.id]?.lastTOTPStep = step }
        } else {
            isRight = account.backupCodes.contains(code)
            accounts[account.id]?.backupCodes.removeAll { $0 == code }
        }
        guard isRight else { throw noteFailure(account.id, .codeIncorrect, call) }
        proof.status = "verified"
    }

    /// The step that a time-based code belongs to: the present one or one of its neighbours.
    private func matchingStep(_ code: String, _ account: ClerkAccount, _ call: ClerkCall) -> Int64? {
        guard let secret = account.user.totpSecret.flatMap(Base32.decode) else { return nil }
        let present = TOTP.step(atMilliseconds: call.now)
        return (present - 1...present + 1).first { step in
            let isUsed = call.settings.isTOTPSingleUse && step <= account.lastTOTPStep ?? -1
            return !isUsed && TOTP.code(secret: secret, step: step) == code
        }
    }

    private mutating func attemptCode(_ signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) {
        try checkLock(signIn.account, call)
        guard var proof = signIn.proofs[call.step] else { throw .verificationMissing }
        guard proof.strategy == call.strategy else { throw .verificationStrategyInvalid }
        let code = try call.required("code")
        defer { signIns[signIn.id]?.proofs[call.step] = proof }
        guard try proof.attempt(signIn.account == nil && !signIn.signsUp ? nil : code, call) else {
            throw noteFailure(signIn.account, proof.failure, call)
        }
        if signIn.signsUp {
            (proof.status, proof.visitor) = ("transferable", signIn.identifier)
            throw .signUpIfMissingTransfer
        }
    }

    // MARK: Lockout

    /// Refuses while the account is locked; a lock that has run out is taken away.
    mutating func checkLock(_ id: String?, _ call: ClerkCall) throws(ClerkFailure) {
        guard let id, let account = accounts[id] else { return }
        let format = (account.user.lockout ?? call.settings.lockout).format
        switch account.lock {
        case .open: return
        case .indefinite: throw .locked(milliseconds: nil, format: format)
        case .until(let time) where time > call.now: throw .locked(milliseconds: time - call.now, format: format)
        case .until: unlock(id)
        }
    }

    /// Counts a failure.
    ///
    /// The answer is the failure itself, with a warning perhaps, or that the account is locked now.
    private mutating func noteFailure(_ id: String?, _ failure: ClerkFailure, _ call: ClerkCall) -> ClerkFailure {
        guard let id, let account = accounts[id] else { return failure }
        let lockout = account.user.lockout ?? call.settings.lockout
        guard lockout.threshold > 0 else { return failure }
        let failures = account.failures + 1
        accounts[id]?.failures = failures
        let left = lockout.threshold - failures
        if left <= 0 {
            accounts[id]?.lock = lockout.duration.map { .until(call.now + $0) } ?? .indefinite
            call.context.log.append("locked \(account.user.identifier) after \(failures) failures")
            if !lockout.warns { return .locked(milliseconds: lockout.duration, format: lockout.format) }
        }
        return lockout.warns && left <= 2 ? failure.warning(attemptsLeft: max(0, left)) : failure
    }

    /// Opens an account and forgets its failures.
    mutating func unlock(_ id: String) {
        accounts[id]?.lock = .open
        accounts[id]?.failures = 0
    }
}
