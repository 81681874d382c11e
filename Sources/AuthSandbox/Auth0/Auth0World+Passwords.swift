import HTTPRecovery

// How a new password is set: by a link that is mailed.
extension Auth0World {
    /// How long a link can be used: five days.
    private static let resetLife: Int64 = 432_000_000
    private static let gone = "This link has been used, or is too old."

    /// Has a link mailed; the answer is the same to everybody.
    mutating func mailReset(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> SandboxResponse {
        let address = try exchange.required("email")
        guard exchange.settings.connections.contains(try exchange.required("connection")) else {
            var failure = Auth0Failure.noConnection
            failure.isOfDatabase = true
            throw failure
        }
        try admit(to: "reset \(exchange.address) \(address.lowercased())", .resets, exchange)
        if let person = person(named: address) {
            let ticket = random.letters(24)
            resets[ticket] = Reset(person: person.id, endsAt: exchange.now + Self.resetLife)
            let link = "\(context.origin)\(Self.base)/reset?ticket=\(ticket)"
            context.send(message(to: address, "email", "change_password", link, of: person, exchange.now))
        }
        return .text("We've just sent you an email to reset your password.", status: 200, type: Self.html)
    }

    /// The page that a link leads to, as often as it is opened.
    func resetPage(_ exchange: Auth0Exchange) throws(Auth0Failure) -> SandboxResponse {
        guard let ticket = exchange.request.queryItem("ticket"), reset(ticket, exchange) != nil else {
            return .text(Self.gone, status: 400, type: Self.html)
        }
        return .text(
            """
            <!doctype html><title>A new password</title><form method="post">\
            <input type="hidden" name="ticket" value="\(ticket)">\
            <input type="password" name="password"> <button>Set</button></form>
            """,
            status: 200,
            type: Self.html
        )
    }

    /// Sets the password that was typed there; one that was leaked, is weak or was used before is none.
    ///
    /// It ends the blocks of all the person's names.
    mutating func setPassword(_ exchange: Auth0Exchange) throws(Auth0Failure) -> SandboxResponse {
        let ticket = try exchange.required("ticket")
        guard var person = reset(ticket, exchange).flatMap({ people[$0.person] }) else {
            return .text(Self.gone, status: 400, type: Self.html)
        }
        let password = try exchange.required("password")
        guard !Self.isLeaked(password) else {
            return .text("This password is known from a leak. Choose another one.", status: 400, type: Self.html)
        }
        if let weak = exchange.settings.weakness(of: password) {
            return .text("This password is too weak: \(weak.policy)", status: 400, type: Self.html)
        }
        let used = ([person.user.password].compactMap(\.self) + person.oldPasswords)
            .prefix(max(0, Int(clamping: exchange.settings.passwordHistory)))
        guard !used.contains(password) else {
            return .text("This password has been used before. Choose another one.", status: 400, type: Self.html)
        }
        resets[ticket] = nil
        if let old = person.user.password { person.oldPasswords = Array(([old] + person.oldPasswords).prefix(24)) }
        person.user.password = password
        person.user.passwordState = "ok"
        people[person.id] = person
        liftBlocks(of: person)
        return .text("Your password has been changed.", status: 200, type: Self.html)
    }

    /// Mails a link that lifts the blocks of a name, at most once an hour because of one address.
    mutating func mailUnblocking(_ name: String, _ exchange: Auth0Exchange, _ context: inout SandboxContext) {
        guard let person = person(named: name), let email = person.user.emails.first,
            lastBlockMail[exchange.address].map({ exchange.now - $0 >= 3_600_000 }) ?? true
        else { return }
        lastBlockMail[exchange.address] = exchange.now
        let ticket = random.letters(24)
        unblocking[ticket] = person.id
        let link = "\(exchange.tenant)/unblock?ticket=\(ticket)"
        context.send(message(to: email, "email", "blocked_account", link, of: person, exchange.now))
    }

    /// What that link leads to.
    mutating func unblockPage(_ exchange: Auth0Exchange) throws(Auth0Failure) -> SandboxResponse {
        let ticket = exchange.request.queryItem("ticket") ?? ""
        guard let person = unblocking.removeValue(forKey: ticket).flatMap({ people[$0] }) else {
            return Self.page(Self.gone, "", status: 400)
        }
        liftBlocks(of: person)
        return Self.page("Your account has been unblocked.", "")
    }

    /// Whether it is one that a test can take for leaked, whoever has it.
    static func isLeaked(_ password: String) -> Bool { password.hasPrefix("AUTH0-TEST-") }

    private func reset(_ ticket: String, _ exchange: Auth0Exchange) -> Reset? {
        resets[ticket].flatMap { $0.endsAt > exchange.now ? $0 : nil }
    }

    private static let html = "text/html; charset=utf-8"
}
