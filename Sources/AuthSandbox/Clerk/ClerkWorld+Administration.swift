import HTTPRecovery

// What an administrator does behind the back of the clients.
extension ClerkWorld {
    /// The account that an id, an e-mail address, a phone or a user name stands for.
    func account(named name: String) -> ClerkAccount? {
        accounts[name] ?? accountsByIdentifier[name.lowercased()].flatMap { accounts[$0] }
    }

    /// Ends sessions: those of a person, those of a client, or a single one.
    ///
    /// Tells their ids.
    mutating func endSessions(_ order: RevokeOrder, now: Int64) -> [String] {
        let account = order.user.flatMap { self.account(named: $0)?.id }
        var ended: [String] = []
        for session in sessions.values where session.isLive {
            guard order.user == nil || session.account == account, order.client ?? session.client == session.client,
                order.session ?? session.id == session.id
            else { continue }
            finish(session.id, as: order.status ?? "revoked", now: now)
            sessions[session.id]?.endedCode = order.answer
            ended.append(session.id)
        }
        return ended.sorted()
    }

    /// The TOTP code that somebody's authenticator shows; the next one where the present one was used up.
    func currentTOTP(_ account: ClerkAccount, settings: SandboxSettings, now: Int64) -> String? {
        guard let secret = account.user.totpSecret.flatMap(Base32.decode) else { return nil }
        var step = TOTP.step(atMilliseconds: now)
        if settings.isTOTPSingleUse, let last = account.lastTOTPStep, last >= step { step = last + 1 }
        return TOTP.code(secret: secret, step: step)
    }

    /// Everybody's state, without secrets.
    func usersView(_ settings: SandboxSettings, now: Int64) -> JSONValue {
        .array(
            accountOrder.compactMap { accounts[$0] }.map { account in
                let live = sessions.values.filter { $0.account == account.id && $0.isLive }
                return [
                    "id": .string(account.id),
                    "identifier": .string(account.user.identifier),
                    "emails": .array(account.emails.map { .string($0.address) }),
                    "phones": .array(account.phones.map { .string($0.address) }),
                    "state": .string(account.user.state),
                    "password_state": .string(account.user.passwordState),
                    "first_factors": .array(account.firstFactors.map(JSONValue.string)),
                    "second_factors": .array(account.secondFactors.map(JSONValue.string)),
                    "failures": .int(account.failures),
                    "locked_s": account.lock.json(now: now),
                    "sessions": .array(live.map(\.id).sorted().map(JSONValue.string)),
                ]
            }
        )
    }
}
