import HTTPRecovery

// Proving oneself again within a session.
extension ClerkWorld {
    mutating func beginVerification(
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let session = try liveSession(exchange, context.settings)
        let level = try exchange.required("level")
        guard ["first_factor", "second_factor", "multi_factor"].contains(level) else {
            throw .invalidValue("level", level)
        }
        let hasSecond = accounts[session.account]?.secondFactors.isEmpty == false
        let verification = ClerkSignIn(
            id: context.random.identifier("svr_"),
            client: session.client,
            createdAt: context.now,
            abandonAt: context.now + context.settings.codeLife,
            identifier: accounts[session.account]?.user.identifier,
            account: session.account,
            status: level == "second_factor" && hasSecond ? "needs_second_factor" : "needs_first_factor",
            reverification: .init(session: session.id, level: level)
        )
        signIns[verification.id] = verification
        sessions[session.id]?.verification = verification.id
        return wrapped(verificationView(of: verification.id), session.client)
    }

    /// The verification that is under way for the session in the path.
    private func currentVerification(
        _ exchange: ClerkExchange,
        isSecond: Bool,
        context: SandboxContext
    ) throws(ClerkFailure) -> ClerkSignIn {
        let session = try liveSession(exchange, context.settings)
        guard let verification = session.verification.flatMap({ signIns[$0] }) else { throw .verificationMissing }
        if verification.status == "complete" { throw .verificationAlreadyVerified }
        if verification.abandonAt <= context.now { throw .verificationExpired }
        guard verification.status == (isSecond ? "needs_second_factor" : "needs_first_factor") else {
            throw .clientStateInvalid("This step is not possible in status \(verification.status).")
        }
        return verification
    }

    mutating func prepareVerification(
        _ exchange: ClerkExchange,
        isSecond: Bool,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let verification = try currentVerification(exchange, isSecond: isSecond, context: context)
        let strategy = try exchange.required("strategy")
        try prepare(verification.id, strategy: strategy, isSecond: isSecond, exchange, context: &context)
        return wrapped(verificationView(of: verification.id), verification.client)
    }

    mutating func attemptVerification(
        _ exchange: inout ClerkExchange,
        isSecond: Bool,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let verification = try currentVerification(exchange, isSecond: isSecond, context: context)
        let id = verification.id
        let strategy = try exchange.required("strategy")
        let offered = isSecond ? offeredSecondFactors(verification) : offeredFirstFactors(verification)
        guard offered.contains(strategy) else { throw .strategyInvalid }
        switch strategy {
        case "password":
            _ = try exchange.required("password")
            try attemptPassword(id, &exchange, context: &context)
            return wrapped(verificationView(of: id), verification.client)
        case "passkey": try attemptPasskey(id, exchange, context: &context)
        case "totp", "backup_code": try attemptDevice(verification, strategy: strategy, exchange, context: &context)
        default: try attemptCode(id, strategy: strategy, isSecond: isSecond, exchange, context: &context)
        }
        afterVerifiedFactor(id, isSecond: isSecond, context: context)
        return wrapped(verificationView(of: id), verification.client)
    }

    /// Goes on after a factor of a session's verification has been proved.
    mutating func afterVerifiedFactor(_ id: String, isSecond: Bool, context: SandboxContext) {
        guard let verification = signIns[id], let purpose = verification.reverification else { return }
        if isSecond {
            sessions[purpose.session]?.secondFactorAt = context.now
        } else {
            sessions[purpose.session]?.firstFactorAt = context.now
        }
        let wantsSecond = !isSecond && purpose.level == "multi_factor" && !offeredSecondFactors(verification).isEmpty
        signIns[id]?.status = wantsSecond ? "needs_second_factor" : "complete"
        sessions[purpose.session]?.lastActiveAt = context.now
        if !wantsSecond { accounts[verification.account ?? ""]?.failures = 0 }
    }

    private func verificationView(of id: String) -> JSONValue {
        guard let verification = signIns[id], let purpose = verification.reverification else { return .null }
        let account = verification.account.flatMap { accounts[$0] }
        let first = offeredFirstFactors(verification).filter { !$0.hasPrefix("reset_password") && $0 != "email_link" }
        let isOver = verification.status == "complete"
        let hasSecond = verification.status == "needs_second_factor"
        return [
            "object": "session_verification",
            "status": .string(verification.status),
            "level": .string(purpose.level),
            "session": sessionView(purpose.session),
            "supported_first_factors": isOver ? .null : .array(first.map { factor($0, account) }),
            "supported_second_factors": hasSecond
                ? .array(offeredSecondFactors(verification).map { factor($0, account) }) : .null,
            "first_factor_verification": verificationView(verification.first),
            "second_factor_verification": verificationView(verification.second),
        ]
    }

    /// Something sensitive: a new password, for somebody who has proved themselves of late.
    mutating func changePassword(
        _ exchange: ClerkExchange,
        context: SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let session = try speakingSession(exchange, context: context)
        guard let account = accounts[session.account] else { throw .notFound("user") }
        let hasSecond = !account.secondFactors.isEmpty
        let proved = (hasSecond ? session.secondFactorAt : session.firstFactorAt) ?? .min / 4
        guard context.now - proved < context.settings.freshFor else {
            throw ClerkFailure(
                403,
                "session_reverification_required",
                "Additional verification required",
                long: "You need to verify your session again for this.",
                meta: [
                    "reverification": [
                        "level": hasSecond ? "second_factor" : "first_factor",
                        "afterMinutes": .int(context.settings.freshFor / 60_000),
                    ]
                ]
            )
        }
        let password = try exchange.required("new_password")
        try check(password, account, context.settings.passwordPolicy)
        accounts[account.id]?.user.password = password
        return wrapped(userView(account.id), exchange.client)
    }
}
