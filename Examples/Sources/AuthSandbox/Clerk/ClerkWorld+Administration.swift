// What an administrator does behind the back of the clients.
extension ClerkWorld {
    /// The account that an id, an e-mail address, a phone or a user name stands for.
    func account(named name: String) -> ClerkAccount? {
        accounts[name] ?? accountsByIdentifier[name.lowercased()].flatMap { accounts[$0] }
    }

    /// Ends sessions: those of a person, those of a client, or a single one.
    ///
    /// Tells their ids.
    mutating func endSessions(
        user: String?,
        client: String?,
        session: String?,
        as status: String,
        answer: String?,
        now: Int64
    ) -> [String] {
        let account = user.flatMap { self.account(named: $0)?.id }
        let chosen = sessions.values.filter { candidate in
            candidate.isLive
                && (user == nil || candidate.account == account)
                && (client == nil || candidate.client == client)
                && (session == nil || candidate.id == session)
        }
        for candidate in chosen {
            finish(candidate.id, as: status, now: now)
            sessions[candidate.id]?.endedCode = answer
        }
        return chosen.map(\.id).sorted()
    }

    /// Locks somebody for a time, or until somebody unlocks.
    mutating func lock(_ id: String, until time: Int64?) {
        accounts[id]?.lock = time.map { .until($0) } ?? .indefinite
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
                let lock: JSONValue =
                    switch account.lock {
                    case .open: .null
                    case .indefinite: "indefinite"
                    case .until(let time): time > now ? .seconds(time - now) : .null
                    }
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
                    "locked_s": lock,
                    "sessions": .array(live.map(\.id).sorted().map(JSONValue.string)),
                ]
            }
        )
    }
}
