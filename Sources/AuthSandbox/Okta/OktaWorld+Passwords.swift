import HTTPRecovery

// New passwords.
extension OktaWorld {
    mutating func changePassword(
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange
    ) throws(OktaFailure) {
        guard ["PASSWORD_WARN", "PASSWORD_EXPIRED"].contains(transaction.status), let id = transaction.account,
            let account = accounts[id]
        else { throw .state }
        let old = try exchange.required("oldPassword")
        let new = try exchange.required("newPassword")
        guard old == account.user.password else { throw .oldPassword() }
        try set(new, of: account, exchange)
        goOn(&transaction)
    }

    mutating func resetPassword(
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange
    ) throws(OktaFailure) {
        guard transaction.status == "PASSWORD_RESET", let id = transaction.account, let account = accounts[id] else {
            throw .state
        }
        try set(try exchange.required("newPassword"), of: account, exchange)
        goOn(&transaction)
    }

    mutating func set(
        _ password: String,
        of account: OktaAccount,
        _ exchange: OktaExchange
    ) throws(OktaFailure) {
        let policy = exchange.settings.passwordPolicy
        var causes: [String] = []
        if Int64(password.count) < policy.minimumLength {
            causes.append("Password requirements were not met: at least \(policy.minimumLength) characters.")
        }
        if policy.requiresNumber, !password.contains(where: \.isNumber) {
            causes.append("Password requirements were not met: a number.")
        }
        if policy.requiresUppercase, !password.contains(where: \.isUppercase) {
            causes.append("Password requirements were not met: an uppercase letter.")
        }
        if policy.requiresSpecial, password.allSatisfy({ $0.isLetter || $0.isNumber }) {
            causes.append("Password requirements were not met: a symbol.")
        }
        if policy.breached.contains(password.lowercased()) {
            causes.append("This password was found in a list of commonly used passwords.")
        }
        if password == account.user.password { causes.append("Password has been used too recently.") }
        if password.lowercased().contains(account.login.prefix { $0 != "@" }.lowercased()) {
            causes.append("Password requirements were not met: no parts of your username.")
        }
        guard causes.isEmpty else { throw .policy(causes) }
        accounts[account.id]?.user.password = password
        accounts[account.id]?.passwordStatus = "ok"
        accounts[account.id]?.awaitsActivation = false
        accounts[account.id]?.passwordChangedAt = exchange.now
        if exchange.body["revokeSessions"]?.bool == true {
            sessions = sessions.filter { $0.value.account != account.id }
        }
    }

    /// The rules for passwords as they go over the wire.
    func policyView(_ exchange: OktaExchange) -> JSONValue {
        let policy = exchange.settings.passwordPolicy
        return [
            "complexity": [
                "minLength": .int(policy.minimumLength),
                "minLowerCase": 0,
                "minUpperCase": .int(policy.requiresUppercase ? 1 : 0),
                "minNumber": .int(policy.requiresNumber ? 1 : 0),
                "minSymbol": .int(policy.requiresSpecial ? 1 : 0),
                "excludeUsername": exchange.okta.writesPolicyAsText ? "true" : true,
            ],
            "age": ["minAgeMinutes": 0, "historyCount": 1],
        ]
    }
}
