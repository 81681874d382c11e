import HTTPRecovery
import HTTPRecoveryTesting

// What people prove at the identity engine, and what they set up.
extension OktaWorld {
    /// An authenticator is chosen.
    mutating func challenge(
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        guard flow.step == .select || flow.step == .verify || flow.step == .password else { throw .expired }
        if flow.goal == .unlock, let name = exchange.text("identifier") {
            self.name(name, in: &flow)
        }
        let chosen = exchange.body["authenticator"]?["id"]?.string ?? ""
        let method = exchange.body["authenticator"]?["methodType"]?.string
        let held = reachable(flow)
        let id = exchange.body["authenticator"]?["enrollmentId"]?.string
        let found = held.filter { Self.authenticatorID($0) == chosen && (id == nil || $0.id == id) }
        guard var factor = found.first(where: { method == Self.method($0.type) }) ?? found.first else {
            throw .expired
        }
        guard id != nil || held.count(where: { $0.type == factor.type }) == 1 else { throw .ambiguous }
        if factor.type == "sms", method == "voice" { factor.setup.type = "call" }
        var challenge = OktaTransaction.Challenge(factor: factor)
        switch factor.type {
        case "push": sendPush(&challenge, flow, exchange, context: &context)
        case "webauthn", "web": challenge.nonce = makeNonce()
        case "signed_nonce": (challenge.result, challenge.pushedAt) = ("WAITING", exchange.now)
        case "sms", "call", "email": try send(&challenge, flow, exchange, context: &context)
        default: break
        }
        flow.failures = 0
        flow.transaction.challenge = challenge
        flow.step = .verify
    }

    private mutating func sendPush(
        _ challenge: inout OktaTransaction.Challenge,
        _ flow: OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) {
        guard let account = account(of: flow) else { return }
        sendPush(&challenge, account, exchange, context: &context)
    }

    /// Sends a code, which takes the place of the one before.
    private mutating func send(
        _ challenge: inout OktaTransaction.Challenge,
        _ flow: OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        do {
            try sendCode(&challenge, account(of: flow), flow.transaction, exchange, in: flow, context: &context)
        } catch {
            throw OktaEngineFailure(error)
        }
    }

    mutating func resend(
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        guard var challenge = flow.transaction.challenge else { throw .expired }
        if let channel = challenge.channel {
            guard channel != "qrcode" else { throw .expired }
            send(link: challenge, channel, flow, exchange, context: &context)
        } else if challenge.factor.type == "push" {
            sendPush(&challenge, flow, exchange, context: &context)
        } else {
            try send(&challenge, flow, exchange, context: &context)
        }
        flow.transaction.challenge = challenge
    }

    mutating func poll(_ flow: inout OktaFlow, _ exchange: OktaExchange) throws(OktaEngineFailure) {
        if flow.step == .verify, flow.goal == .signIn, let id = flow.transaction.account,
            isLocked(id, now: exchange.now)
        {
            throw .suspended
        }
        if let challenge = flow.transaction.challenge, challenge.factor.type == "email", exchange.okta.pollsEmail {
            guard challenge.isLinkOpened else { return }
            guard challenge.codeEnds > exchange.now else {
                throw OktaEngineFailure(400, "idx.return.link.expired", "This link has expired.")
            }
            return flow.step == .activate ? activated(&flow, challenge.factor, nil) : verified(&flow, challenge.factor)
        }
        guard var challenge = flow.transaction.challenge, challenge.result == "WAITING",
            challenge.factor.type == "push" || challenge.factor.type == "signed_nonce"
        else { throw .expired }
        // Before it is opened nobody answers.
        if challenge.factor.type == "push" || challenge.isOpened { poll(&challenge, exchange) }
        flow.transaction.challenge = challenge
        switch challenge.result {
        case "WAITING": break
        case "SUCCESS" where flow.step == .activate: activated(&flow, challenge.factor, nil)
        case "SUCCESS": verified(&flow, challenge.factor)
        case "REJECTED": throw .rejected
        default: throw OktaEngineFailure(400, "core.system.transaction_resource_not_found", "The push has run out.")
        }
    }

    /// A password, a code, an answer, a key or a new password.
    mutating func answer(
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        let credentials = exchange.body["credentials"]
        let code = credentials?["passcode"]?.string ?? credentials?["totp"]?.string ?? ""
        switch flow.step {
        case .password:
            try check(password: code, &flow, context: &context)
            goOn(&flow)
        case .newPassword(let form): try change(to: code, form, &flow, exchange)
        case .verify, .activate:
            guard let challenge = flow.transaction.challenge else { throw .expired }
            let isEnrolling = flow.step == .activate
            // What proves somebody who signs in counts with them; what is set up, or lifts a lockout, with the flow.
            let holder = isEnrolling || flow.goal != .signIn ? nil : flow.transaction.account
            let threshold = exchange.okta.factorAttempts
            let isHeld =
                holder.map { isLocked($0, now: exchange.now) || isSuspended(challenge.factor, of: $0, context) }
                ?? (flow.failures >= threshold)
            guard !isHeld else { throw .suspended }
            counters.codeAttempts += 1
            guard try isRight(code, credentials, challenge, isEnrolling, flow, exchange) else {
                flow.failures += 1
                let isLast =
                    holder.map { noteFailure(of: challenge.factor, $0, context) } ?? (flow.failures >= threshold)
                if isLast { throw .suspended }
                throw challenge.factor.type == "question" ? .answer : .passcode
            }
            if isEnrolling { return activated(&flow, challenge.factor, credentials) }
            verified(&flow, challenge.factor)
        default: throw .expired
        }
    }

    private mutating func isRight(
        _ code: String,
        _ credentials: JSONValue?,
        _ challenge: OktaTransaction.Challenge,
        _ isEnrolling: Bool,
        _ flow: OktaFlow,
        _ exchange: OktaExchange
    ) throws(OktaEngineFailure) -> Bool {
        let factor = challenge.factor
        switch factor.type {
        case "sms", "call", "email": return code == challenge.code && challenge.codeEnds > exchange.now
        case "question":
            let answer = credentials?["answer"]?.string?.lowercased() ?? ""
            return isEnrolling ? answer.count >= 4 : answer == factor.setup.answer.lowercased()
        case "webauthn":
            let data = credentials?["clientData"]?.string ?? ""
            func text(_ name: String) -> String? { credentials?[name]?.string }
            return isEnrolling
                ? text("attestation") != nil && Self.isFor("webauthn.create", challenge.nonce, data)
                : factor.hasMade(text("signatureData"), over: text("authenticatorData"), data)
                    && Self.isFor("webauthn.get", challenge.nonce, data)
        case "web": return credentials?["signatureData"]?.string == Self.duoAnswer(challenge.nonce)
        case "push", "signed_nonce": return false
        default:
            guard let step = Self.step(of: code, factor, now: exchange.now, within: 1) else { return false }
            let id = flow.transaction.account ?? ""
            if exchange.settings.isTOTPSingleUse, step <= accounts[id]?.lastTOTPStep ?? -1 { throw .replayed }
            accounts[id]?.lastTOTPStep = step
            return true
        }
    }

    /// Goes on with a factor that was proved: for a sign-in, for a new password, or to unlock the account.
    private mutating func verified(_ flow: inout OktaFlow, _ factor: OktaFactor) {
        flow.transaction.challenge = nil
        switch flow.goal {
        case .signIn, .registration:
            if let id = flow.transaction.account { accounts[id]?.engineFailures[factor.id] = nil }
            flow.transaction.hasVerified = true
            goOn(&flow)
        case .recovery: flow.step = .newPassword("reset-authenticator")
        case .unlock:
            if let id = flow.transaction.account { unlock(id) }
            flow.step = .done
        }
    }

    private mutating func change(
        to password: String,
        _ form: String,
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange
    ) throws(OktaEngineFailure) {
        guard let account = account(of: flow) else { throw .expired }
        do {
            try set(password, of: account, exchange)
        } catch {
            throw OktaEngineFailure(error)
        }
        if flow.goal == .recovery { unlock(account.id) }
        if let token = flow.request.linkToken { recoveryTokens[token]?.isUsed = true }
        flow.goal = .signIn
        flow.hasPassword = true
        goOn(&flow)
    }

    // MARK: Setting up

    mutating func enroll(
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        guard let account = account(of: flow) else { throw .expired }
        let chosen = exchange.body["authenticator"]
        if case .phone(let type) = flow.step {
            let number = chosen?["phoneNumber"]?.string ?? ""
            guard number.hasPrefix("+"), (8...15).contains(number.dropFirst().count) else {
                throw OktaEngineFailure(
                    400,
                    "api.factors.error.sms.invalid_phone",
                    "Invalid Phone Number.",
                    field: "phoneNumber"
                )
            }
            var setup = SandboxOktaUser.Factor(type)
            setup.destination = number
            var challenge = OktaTransaction.Challenge(factor: makeFactor(setup, account.user))
            try send(&challenge, flow, exchange, context: &context)
            flow.transaction.challenge = challenge
            flow.step = .activate
            return
        }
        let id = chosen?["id"]?.string ?? ""
        if try choose(channel: chosen?["channel"]?.string, of: id, &flow, exchange) { return }
        guard flow.step == .enroll,
            let type = account.enrollments.map(\.type).first(where: { Self.authenticatorID(type: $0) == id })
        else { throw .expired }
        if type == "sms" || type == "call" { return flow.step = .phone(type) }
        var factor = makeFactor(SandboxOktaUser.Factor(type), account.user)
        if type == "token:software:totp", factor.secret == nil { factor.secret = "JBSWY3DPEHPK3PXP" }
        var challenge = OktaTransaction.Challenge(factor: factor)
        switch type {
        case "webauthn", "web": challenge.nonce = makeNonce()
        case "email": try send(&challenge, flow, exchange, context: &context)
        default: break
        }
        flow.transaction.challenge = challenge
        flow.step = .activate
        flow.failures = 0
    }

    private mutating func activated(_ flow: inout OktaFlow, _ factor: OktaFactor, _ credentials: JSONValue?) {
        var factor = factor
        if factor.type == "question" {
            factor.setup.answer = credentials?["answer"]?.string ?? factor.setup.answer
        }
        factor.adopt(attestation: credentials?["attestation"]?.string)
        if let id = flow.transaction.account {
            accounts[id]?.factors.append(factor)
            accounts[id]?.enrollments.removeAll { $0.type == factor.type }
        }
        flow.transaction.hasVerified = true
        goOn(&flow)
    }

    // MARK: Authenticators

    /// What can be proved now: the person's factors, or what reaches somebody who has forgotten something.
    func reachable(_ flow: OktaFlow) -> [OktaFactor] {
        let account = account(of: flow)
        guard flow.goal != .signIn else { return account?.factors ?? [] }
        var factors: [OktaFactor] = []
        var mail = SandboxOktaUser.Factor("email")
        mail.destination = account?.user.emails.first
        factors.append(OktaFactor(id: "emfrecovery", setup: mail))
        if let phone = account?.user.phones.first {
            var setup = SandboxOktaUser.Factor("sms")
            setup.destination = phone
            factors.append(OktaFactor(id: "mblrecovery", setup: setup))
        }
        return factors
    }

    /// Whether a factor is named by itself where it is chosen: a phone, and one of several of a sort.
    static func isNamed(_ factor: OktaFactor, among held: [OktaFactor]) -> Bool {
        authenticatorKey(factor.type) == "phone_number" || held.count { $0.type == factor.type } > 1
    }

    static func authenticatorID(_ factor: OktaFactor) -> String { authenticatorID(type: factor.type) }

    /// The org's authenticator of a sort.
    static func authenticatorID(type: String) -> String { "aut_" + authenticatorKey(type) }

    /// What people call the authenticator of a factor.
    static func authenticatorName(_ type: String) -> String {
        switch authenticatorKey(type) {
        case "phone_number": "Phone"
        case "okta_email": "Email"
        case "okta_verify": "Okta Verify"
        case "duo": "Duo Security"
        case "security_question": "Security Question"
        case "webauthn": "Security Key or Biometric Authenticator"
        case "okta_password": "Password"
        default: "Google Authenticator"
        }
    }

    static func authenticatorKey(_ type: String) -> String {
        switch type {
        case "sms", "call": "phone_number"
        case "email": "okta_email"
        case "push", "signed_nonce": "okta_verify"
        case "web": "duo"
        case "question": "security_question"
        case "webauthn": "webauthn"
        case "password": "okta_password"
        default: "google_otp"
        }
    }
}
