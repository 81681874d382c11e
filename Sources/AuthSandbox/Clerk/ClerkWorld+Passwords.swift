import HTTPRecovery

extension ClerkWorld {
    mutating func resetPassword(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let signIn = try currentSignIn(exchange)
        guard signIn.status == "needs_new_password", let accountID = signIn.account, let account = accounts[accountID]
        else {
            throw .clientStateInvalid("A password can be set only while the sign-in is in status needs_new_password.")
        }
        try checkLock(accountID, context: context)
        let password = try exchange.required("password")
        try check(password, account, context.settings.passwordPolicy)
        accounts[accountID]?.user.password = password
        accounts[accountID]?.user.passwordState = "ok"
        if ["true", "1"].contains(exchange.field("sign_out_of_other_sessions")?.lowercased()) {
            for session in sessions.values where session.account == accountID && session.isLive {
                finish(session.id, as: "revoked", now: context.now)
            }
        }
        afterPassword(signIn.id, &exchange, context: &context)
        return wrapped(signInView(signIn.id), signIn.client)
    }

    /// Holds a new password against the policy; every rule that it breaks has an entry.
    func check(
        _ password: String,
        _ account: ClerkAccount,
        _ policy: SandboxSettings.PasswordPolicy
    ) throws(ClerkFailure) {
        var items: [ClerkFailure.Item] = []
        func complain(_ code: String, _ long: String, meta: [JSONValue.Member] = []) {
            let name = JSONValue.Member("param_name", "password")
            items.append(.init(code: code, message: long, longMessage: long, meta: .object([name] + meta)))
        }
        if Int64(password.count) < policy.minimumLength {
            complain(
                "form_password_length_too_short",
                "Passwords must be \(policy.minimumLength) characters or more."
            )
        }
        if password.utf8.count > 72 {
            complain("form_password_length_too_long", "Passwords must be 72 bytes or less.")
        }
        if policy.requiresNumber, !password.contains(where: \.isNumber) {
            complain("form_password_no_number", "Passwords must contain a number.")
        }
        if policy.requiresUppercase, !password.contains(where: \.isUppercase) {
            complain("form_password_no_uppercase", "Passwords must contain an uppercase letter.")
        }
        if policy.requiresSpecial, password.allSatisfy({ $0.isLetter || $0.isNumber }) {
            complain("form_password_no_special_char", "Passwords must contain a special character.")
        }
        let names = account.emails.map(\.address) + account.phones.map(\.address) + [account.user.username ?? ""]
        if names.contains(where: { $0.lowercased() == password.lowercased() }) {
            complain("form_password_matches_identifier", "Password must not match your identifier.")
        }
        let isOld = account.user.passwordState != "ok" && password == account.user.password
        if isOld || policy.breached.contains(password.lowercased()) {
            var pwned = ClerkFailure.passwordPwned
            pwned.items = items + pwned.items
            throw pwned
        }
        if items.isEmpty, Set(password).count < 4 {
            let suggestion: JSONValue = ["code": "anotherWord", "message": "Add another word that is less common."]
            complain(
                "form_password_not_strong_enough",
                "Given password is not strong enough.",
                meta: [.init("zxcvbn", ["suggestions": [suggestion]])]
            )
        }
        guard let first = items.first else { return }
        var failure = ClerkFailure(422, first.code, first.message)
        failure.items = items
        throw failure
    }
}
