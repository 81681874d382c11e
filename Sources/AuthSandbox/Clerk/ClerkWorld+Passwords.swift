import HTTPRecovery

extension ClerkWorld {
    mutating func resetPassword(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let signIn = try currentSignIn(call)
        guard signIn.status == "needs_new_password", let account = account(of: signIn) else {
            throw .clientStateInvalid("A password can be set only while the sign-in is in status needs_new_password.")
        }
        try checkLock(account.id, call)
        let password = try call.required("password")
        try check(password, of: account.user, call)
        accounts[account.id]?.user.password = password
        accounts[account.id]?.user.passwordState = "ok"
        if ["true", "1"].contains(call.field("sign_out_of_other_sessions")?.lowercased()) {
            for session in sessions.values where session.account == account.id && session.isLive {
                finish(session.id, as: "revoked", now: call.now)
            }
        }
        afterPassword(signIn.id, call)
        return wrapped(signInView(signIn.id), signIn.client)
    }

    mutating func changePassword(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        guard let account = accounts[session.account] else { throw .notFound("user") }
        let password = try call.required("new_password")
        try check(password, of: account.user, call)
        accounts[account.id]?.user.password = password
        accounts[account.id]?.user.passwordState = "ok"
        finish(task: "reset-password", of: session.id)
        return wrapped(userView(account.id), call.client)
    }

    /// Holds a new password against the policy; every rule that it breaks has an entry.
    func check(_ password: String, of user: SandboxUser, _ call: ClerkCall) throws(ClerkFailure) {
        let policy = call.settings.passwordPolicy
        let isShort = Int64(password.count) < policy.minimumLength
        let isPlain = password.allSatisfy { $0.isLetter || $0.isNumber }
        let lacksNumber = policy.requiresNumber && !password.contains(where: \.isNumber)
        let lacksUppercase = policy.requiresUppercase && !password.contains(where: \.isUppercase)
        let isName = user.names.contains { $0.lowercased() == password.lowercased() }
        let rules = [
            (isShort, "length_too_short", "Passwords must be \(policy.minimumLength) characters or more."),
            (password.utf8.count > 72, "length_too_long", "Passwords must be 72 bytes or less."),
            (lacksNumber, "no_number", "Passwords must contain a number."),
            (lacksUppercase, "no_uppercase", "Passwords must contain an uppercase letter."),
            (policy.requiresSpecial && isPlain, "no_special_char", "Passwords must contain a special character."),
            (isName, "matches_identifier", "Password must not match your identifier."),
        ]
        var broken = rules.filter { $0.0 }.map { ClerkFailure("password", "form_password_\($0.1)", $0.2) }
        if user.passwordState != "ok" && password == user.password || policy.breached.contains(password.lowercased()) {
            broken.append(.passwordPwned)
        } else if broken.isEmpty, Set(password).count < 4 {
            let suggestion: JSONValue = ["code": "anotherWord", "message": "Add another word that is less common."]
            let text = "Given password is not strong enough."
            var failure = ClerkFailure(422, "form_password_not_strong_enough", text)
            failure.meta = ["param_name": "password", "zxcvbn": ["suggestions": [suggestion]]]
            broken = [failure]
        }
        guard var failure = broken.first else { return }
        failure.more = broken.dropFirst().flatMap(\.items)
        throw failure
    }
}
