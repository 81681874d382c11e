extension ClerkWorld {
    /// Refuses while the account is locked; a lock that has run out is taken away.
    mutating func checkLock(_ id: String, context: SandboxContext) throws(ClerkFailure) {
        guard let account = accounts[id] else { return }
        let format = lockout(of: account, context.settings).format
        switch account.lock {
        case .open: return
        case .indefinite: throw .locked(milliseconds: nil, format: format)
        case .until(let time) where time > context.now:
            throw .locked(milliseconds: time - context.now, format: format)
        case .until: unlock(id)
        }
    }

    /// Counts a failure.
    ///
    /// The answer is the failure itself, with a warning perhaps, or that the account is locked now.
    mutating func noteFailure(
        _ id: String,
        _ failure: ClerkFailure,
        context: inout SandboxContext
    ) -> ClerkFailure {
        guard let account = accounts[id] else { return failure }
        let lockout = lockout(of: account, context.settings)
        guard lockout.threshold > 0 else { return failure }
        let failures = account.failures + 1
        accounts[id]?.failures = failures
        let left = lockout.threshold - failures
        if left <= 0 {
            accounts[id]?.lock = lockout.duration.map { .until(context.now + $0) } ?? .indefinite
            context.log.append("locked \(account.user.identifier) after \(failures) failures")
            if !lockout.warns { return .locked(milliseconds: lockout.duration, format: lockout.format) }
        }
        return lockout.warns && left <= 2 ? failure.warning(attemptsLeft: max(0, left)) : failure
    }

    /// Opens an account and forgets its failures.
    mutating func unlock(_ id: String) {
        accounts[id]?.lock = .open
        accounts[id]?.failures = 0
    }

    func lockout(of account: ClerkAccount, _ settings: SandboxSettings) -> SandboxSettings.Lockout {
        account.user.lockout ?? settings.lockout
    }
}
