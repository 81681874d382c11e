import HTTPRecovery

// What the answers to each node's page lead to.
extension ForgeRockWorld {
    /// The outcome of a node; nil where it asks again.
    mutating func evaluate(
        _ run: inout ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> String? {
        guard let place = ForgeRockTree.all[run.tree]?.places[run.node] else { throw .badCallbacks }
        switch place.node {
        case .credentials(let loops):
            return try check(name: answers.text(0), answers.text(1), &run, loops: loops, exchange)
        case .username:
            // Whether there is such a person is not told before something was proved.
            run.account = account(named: answers.text(0), realm: run.realm)?.name.lowercased()
            return "done"
        case .password:
            guard let account = account(of: run) else { return "false" }
            return try check(account, password: answers.text(1), &run, loops: false, exchange)
        case .emailCode: return try checkEmailCode(&run, answers, exchange)
        case .authenticatorCode:
            if answers.number(1) == 1 { return "recovery" }
            return try checkCode(&run, exchange, notice: "The code is wrong. Please try again.") { account in
                guard let secret = account.user.totpSecret.flatMap(Base32.decode) else { return false }
                let step = TOTP.step(atMilliseconds: exchange.now)
                return (step - 1...step + 1).contains { TOTP.code(secret: secret, step: $0) == answers.text(0) }
            }
        case .recoveryCode:
            return try checkCode(&run, exchange, notice: "The recovery code is wrong.") { account in
                let code = answers.text(1)
                return account.user.backupCodes.contains(code) && account.usedRecoveryCodes.insert(code).inserted
            }
        case .registerCredential: return try register(&run, answers, exchange)
        case .proveCredential: return try prove(&run, answers, exchange)
        case .poll: return poll(&run, answers, exchange)
        case .push: return push(&run, answers, exchange)
        case .registerAuthenticator, .recoveryCodes: return "done"
        case .newPassword: return replacePassword(&run, answers, context.settings.passwordPolicy)
        case .choice(_, let choices):
            guard let index = answers.number(0), choices.indices.contains(Int(clamping: index)) else {
                throw .badCallbacks
            }
            return String(index)
        case .confirmation(_, let options):
            guard let index = answers.number(0), options.indices.contains(Int(clamping: index)) else {
                throw .badCallbacks
            }
            return String(index)
        case .profile: return checkProfile(&run, answers, exchange)
        case .unknown:
            try checkUntouched(answers)
            return try check(name: answers.text(0), answers.text(1), &run, loops: false, exchange)
        case .hologram: return answers.text(0) == "seen" ? "done" : nil
        case .redirect(let isSAML): return try comeBack(&run, isSAML: isSAML, exchange)
        case .deviceProfile: return try checkDeviceProfile(answers.text(0))
        case .bindDevice: return checkDeviceKey(run, answers, exchange, isBinding: true)
        case .signByDevice: return checkDeviceKey(run, answers, exchange, isBinding: false)
        case .hologramLogin:
            // Without its answer the page is shown again, and nothing else on it is looked at.
            guard answers.text(2) == "seen" else { return nil }
            return try check(name: answers.text(0), answers.text(1), &run, loops: false, exchange)
        case .captcha: return checkCaptcha(answers, exchange)
        case .selectProvider:
            switch answers.text(0) {
            case Self.localAuthentication:
                return try check(name: answers.text(1), answers.text(2), &run, loops: false, exchange)
            case Self.providerName: return "social"
            default: throw .badCallbacks
            }
        case .identityProvider: return checkProvider(&run, answers, exchange)
        case .language: return try checkLanguage(run, answers)
        case .protect(let evaluates): return checkSignals(answers, evaluates: evaluates)
        case .integrity: return answers.text(0, 1).isEmpty ? "failure" : answers.text(0, 1)
        case .registerPush: return push(&run, answers, exchange)
        case .certificate: throw .badCallbacks
        case .httpCredential: return "false"
        case .suspend: return "done"
        }
    }

    // MARK: Passwords and lockouts

    mutating func check(
        name: String,
        _ password: String,
        _ run: inout ForgeRockRun,
        loops: Bool,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> String? {
        guard let account = account(named: name, realm: run.realm) else {
            counters.passwordAttempts += 1
            return try refused(&run, loops: loops, exchange, .loginFailure)
        }
        run.account = account.name.lowercased()
        return try check(account, password: password, &run, loops: loops, exchange)
    }

    private mutating func check(
        _ present: ForgeRockAccount,
        password: String,
        _ run: inout ForgeRockRun,
        loops: Bool,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> String? {
        var account = present
        counters.passwordAttempts += 1
        if account.lock.isClosed(now: exchange.now) { throw lockedFailure(account, exchange) }
        if account.lock != .open {
            account.lock = .open
            account.failures = 0
        }
        if let own = account.password, own == password {
            account.failures = 0
            accounts[account.name.lowercased()] = account
            return account.mustChangePassword ? "expired" : "true"
        }
        account.failures += 1
        let lockout = lockout(of: account, exchange.settings)
        var failure = ForgeRockFailure.loginFailure
        if lockout.threshold > 0, account.failures >= lockout.threshold {
            account.lock = lockout.duration.map { .until(exchange.now + $0) } ?? .indefinite
            counters.lockouts += 1
            failure = lockedFailure(account, exchange)
        } else if lockout.threshold > 0, lockout.warnAt > 0, account.failures >= lockout.warnAt {
            failure = .lockoutWarning(left: lockout.threshold - account.failures)
        }
        accounts[account.name.lowercased()] = account
        if account.lock != .open { throw failure }
        return try refused(&run, loops: loops, exchange, failure)
    }

    /// A wrong password ends the journey, or is asked for again.
    private func refused(
        _ run: inout ForgeRockRun,
        loops: Bool,
        _ exchange: ForgeRockExchange,
        _ failure: ForgeRockFailure
    ) throws(ForgeRockFailure) -> String? {
        run.attempts += 1
        guard loops, run.attempts < exchange.settings.loginAttempts else { throw failure }
        run.notice = failure.message == "Login failure" ? "Wrong user name or password" : failure.message
        return nil
    }

    /// The rule that holds for somebody: their own threshold and duration, if they have some.
    private func lockout(
        of account: ForgeRockAccount,
        _ settings: SandboxForgeRockSettings
    ) -> SandboxForgeRockSettings.Lockout {
        var lockout = settings.lockout
        if let own = account.user.lockout { (lockout.threshold, lockout.duration) = (own.threshold, own.duration) }
        return lockout
    }

    func lockedFailure(_ account: ForgeRockAccount, _ exchange: ForgeRockExchange) -> ForgeRockFailure {
        var failure = ForgeRockFailure.locked
        if exchange.settings.lockout.statesTime, case .until(let end) = account.lock {
            failure.message += " Try again in \(max(1, (end - exchange.now + 999) / 1000)) seconds."
        }
        return failure
    }

    // MARK: Codes

    private mutating func checkEmailCode(
        _ run: inout ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> String? {
        if answers.number(2) == 1 {
            run.code = nil
            return nil
        }
        let sent = run.code
        let isLive = sent.map { $0.expiresAt > exchange.now } ?? false
        if !isLive {
            // The next page sends another one.
            run.code = nil
            run.notice = "The code has expired. A new one was sent."
            run.attempts += 1
            counters.codeAttempts += 1
            return run.attempts >= exchange.settings.codeAttempts ? "false" : nil
        }
        return try checkCode(&run, exchange, notice: "The code is wrong. Please try again.") { _ in
            sent?.text == answers.text(1)
        }
    }

    /// Compares a code; a wrong one is asked for again until there were too many.
    private mutating func checkCode(
        _ run: inout ForgeRockRun,
        _ exchange: ForgeRockExchange,
        notice: String,
        isRight: (inout ForgeRockAccount) -> Bool
    ) throws(ForgeRockFailure) -> String? {
        counters.codeAttempts += 1
        if let id = run.account, var account = accounts[id] {
            if account.lock.isClosed(now: exchange.now) { throw lockedFailure(account, exchange) }
            let hasPassed = isRight(&account)
            accounts[id] = account
            if hasPassed {
                run.code = nil
                return "true"
            }
        }
        run.attempts += 1
        if run.attempts >= exchange.settings.codeAttempts { return "false" }
        run.notice = notice
        return nil
    }

    // MARK: The rest

    private mutating func replacePassword(
        _ run: inout ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ policy: SandboxSettings.PasswordPolicy
    ) -> String? {
        guard let id = run.account, let account = accounts[id] else { return ForgeRockTree.failure }
        let text = answers.text(0)
        run.failedPolicies = Self.brokenRules(text, policy, isNew: text != account.password)
        if !run.failedPolicies.isEmpty || answers.flag(0, 1) { return nil }
        accounts[id]?.password = text
        accounts[id]?.mustChangePassword = false
        return "done"
    }

    static func brokenRules(
        _ text: String,
        _ policy: SandboxSettings.PasswordPolicy,
        isNew: Bool
    ) -> [JSONValue] {
        var broken: [JSONValue] = []
        func add(_ rule: String, _ parameters: JSONValue = .null) {
            broken.append(["policyRequirement": .string(rule), "params": parameters])
        }
        if text.isEmpty { add("REQUIRED") }
        if text.count < policy.minimumLength { add("MIN_LENGTH", ["minLength": .int(policy.minimumLength)]) }
        if policy.requiresNumber, !text.contains(where: \.isNumber) { add("AT_LEAST_X_NUMBERS", ["numNums": 1]) }
        if policy.requiresUppercase, !text.contains(where: \.isUppercase) {
            add("AT_LEAST_X_CAPITAL_LETTERS", ["numCaps": 1])
        }
        if policy.requiresSpecial, text.allSatisfy({ $0.isLetter || $0.isNumber }) { add("AT_LEAST_X_SPECIAL_CHARS") }
        if policy.breached.contains(text) { add("DICTIONARY") }
        if !isNew { add("IS_NEW") }
        return broken
    }

    private func checkProfile(
        _ run: inout ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ exchange: ForgeRockExchange
    ) -> String? {
        run.failedPolicies = []
        func fail(_ property: String, _ rule: String) {
            run.failedPolicies.append([
                "policyRequirement": .string(rule), "params": .null, "property": .string(property),
            ])
        }
        if answers.text(0).isEmpty { fail("city", "REQUIRED") }
        switch answers.value(1).number?.double {
        case let age? where (0...150).contains(age): break
        case nil: fail("age", "REQUIRED")
        default: fail("age", "MAXIMUM_NUMBER_VALUE")
        }
        let isOwn = !Self.securityQuestions.contains(answers.text(3, 0))
        let isMissing =
            answers.text(3, 0).isEmpty || answers.text(3, 1).isEmpty
            || (isOwn && !exchange.settings.allowsOwnQuestions)
        if isMissing { run.notice = "A question and its answer are needed." }
        if !answers.flag(4) { run.notice = "The terms have to be accepted." }
        return run.failedPolicies.isEmpty && !isMissing && answers.flag(4) ? "done" : nil
    }

    /// What no client knows has to come back as it went.
    private func checkUntouched(_ answers: ForgeRockAnswers) throws(ForgeRockFailure) {
        let page = Self.unknownPage
        guard let came = answers.body["callbacks"]?[2], came == page.callbacks[2].json(2),
            page.others.allSatisfy({ answers.body[$0.key] == $0.value })
        else { throw .badCallbacks }
    }
}
