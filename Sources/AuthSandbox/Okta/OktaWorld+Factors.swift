import HTTPRecovery

// Verifying factors.
extension OktaWorld {
    mutating func verify(
        _ id: String,
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        guard let account = transaction.account.flatMap({ accounts[$0] }) else { throw .state }
        switch transaction.status {
        case "MFA_REQUIRED", "UNAUTHENTICATED":
            guard let factor = account.factors.first(where: { $0.id == id || $0.type == id }) else {
                throw .notFound("\(String(id.prefix(64))) (UserFactor)")
            }
            var challenge = OktaTransaction.Challenge(factor: factor, isByType: factor.type == id)
            try proceed(&challenge, account, &transaction, exchange, context: &context)
        case "MFA_CHALLENGE":
            guard var challenge = transaction.challenge, challenge.factor.id == id || challenge.factor.type == id else {
                throw .state
            }
            try proceed(&challenge, account, &transaction, exchange, context: &context)
        default: throw .state
        }
    }

    /// Begins the verification of a factor, or goes on with it.
    private mutating func proceed(
        _ challenge: inout OktaTransaction.Challenge,
        _ account: OktaAccount,
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        switch challenge.factor.type {
        case "push":
            if challenge.result == "WAITING" {
                poll(&challenge, exchange)
                if challenge.result == "SUCCESS" { return verified(&transaction, account, exchange) }
            } else {
                // Also after a no: whoever posts the link has another push sent.
                sendPush(&challenge, account, exchange, context: &context)
            }
        case "sms", "call", "email":
            if let code = exchange.text("passCode") {
                try check(code, of: challenge, account, transaction, exchange, context: &context)
                return verified(&transaction, account, exchange)
            }
            try sendCode(&challenge, account, transaction, exchange, context: &context)
        case "question":
            if let answer = exchange.text("answer") {
                counters.codeAttempts += 1
                guard answer.lowercased() == challenge.factor.setup.answer.lowercased() else {
                    throw wrongAnswer(account, transaction, context: &context)
                }
                return verified(&transaction, account, exchange)
            }
        case "web":
            // Duo's page is polled for like a push; its own answer goes to the link of the challenge.
            if challenge.result == "SUCCESS" { return verified(&transaction, account, exchange) }
            challenge.nonce = challenge.nonce ?? makeNonce()
            challenge.result = "WAITING"
        case "webauthn", "u2f":
            if let signed = exchange.text("clientData") {
                counters.codeAttempts += 1
                let isOld = challenge.factor.type == "u2f"
                let signature = exchange.text("signatureData")
                let isMade =
                    isOld
                    ? signature != nil
                    : challenge.factor.hasMade(signature, over: exchange.text("authenticatorData"), signed)
                let type = isOld ? "navigator.id.getAssertion" : "webauthn.get"
                guard isMade, Self.isFor(type, challenge.nonce, signed) else {
                    throw wrongAnswer(account, transaction, context: &context)
                }
                return verified(&transaction, account, exchange)
            }
            challenge.nonce = makeNonce()
            challenge.result = "CHALLENGE"
        default:
            if let code = exchange.text("passCode") {
                try checkTOTP(code, challenge.factor, account, transaction, exchange, context: &context)
                return verified(&transaction, account, exchange)
            }
        }
        transaction.status = "MFA_CHALLENGE"
        transaction.challenge = challenge
    }

    /// What Duo's page has answered.
    mutating func takeDuo(
        _ id: String,
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        guard transaction.status == "MFA_CHALLENGE", let challenge = transaction.challenge, challenge.factor.id == id,
            challenge.factor.type == "web", let account = transaction.account.flatMap({ accounts[$0] })
        else { throw .state }
        counters.codeAttempts += 1
        guard exchange.text("id") == id, exchange.text("sig_response") == Self.duoAnswer(challenge.nonce) else {
            throw wrongAnswer(account, transaction, context: &context)
        }
        transaction.challenge?.result = "SUCCESS"
        transactions[transaction.token] = transaction
    }

    /// What Duo's page is given, and what it answers.
    static func duoPage(_ nonce: String?) -> JSONValue {
        [
            "host": "api-sandbox.duosecurity.com", "signedToken": .string("TX|\(nonce ?? ""):APP|\(nonce ?? "")"),
            "script": "https://sandbox.example.com/Duo-Web-v2.js", "integrationType": "IFRAME",
        ]
    }

    static func duoAnswer(_ nonce: String?) -> String? { nonce.map { "AUTH|\($0):APP|\($0)" } }

    private mutating func verified(
        _ transaction: inout OktaTransaction,
        _ account: OktaAccount,
        _ exchange: OktaExchange
    ) {
        accounts[account.id]?.factorFailures = 0
        if exchange.request.queryItem("rememberDevice") == "true", let device = transaction.device {
            accounts[account.id]?.rememberedDevices.insert(device)
        }
        transaction.hasVerified = true
        goOn(&transaction)
    }

    /// Counts a wrong code or answer; too many of them lock the account and end the transaction.
    mutating func wrongAnswer(
        _ account: OktaAccount,
        _ transaction: OktaTransaction,
        context: inout SandboxContext
    ) -> OktaFailure {
        guard noteFactorFailure(account.id, &context) else { return .factorAnswer }
        transactions[transaction.token] = nil
        return .factorLock
    }

    mutating func resend(
        _ id: String,
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        guard transaction.status == "MFA_CHALLENGE", var challenge = transaction.challenge,
            challenge.factor.id == id || challenge.factor.type == id,
            let account = transaction.account.flatMap({ accounts[$0] })
        else { throw .state }
        if challenge.factor.type == "push" {
            sendPush(&challenge, account, exchange, context: &context)
        } else if challenge.factor.setup.isSent {
            try sendCode(&challenge, account, transaction, exchange, context: &context)
        } else {
            throw .state
        }
        transaction.challenge = challenge
    }

    // MARK: Push

    /// Sends a push to the person's phone.
    mutating func sendPush(
        _ challenge: inout OktaTransaction.Challenge,
        _ account: OktaAccount,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) {
        counters.pushes += 1
        accounts[account.id]?.pushesSent += 1
        challenge.result = "WAITING"
        challenge.polls = 0
        challenge.decision = nil
        challenge.pushedAt = exchange.now
        context.log.append("push for \(account.login)")
    }

    /// Answers whether the person has answered.
    func poll(_ challenge: inout OktaTransaction.Challenge, _ exchange: OktaExchange) {
        let script = challenge.factor.setup.script
        challenge.polls += 1
        let scripted = script.isEmpty ? "WAITING" : script[min(challenge.polls, script.count) - 1]
        let result = challenge.decision ?? scripted
        let isLate = exchange.now - challenge.pushedAt >= exchange.okta.pushLife
        challenge.result = result == "WAITING" && isLate ? "TIMEOUT" : result
    }

    // MARK: Codes

    /// The code that goes to an address or a number; test numbers get the fixed one, after which the next is the same as ever.
    static func code(for destination: String?, _ context: inout SandboxContext) -> String {
        let drawn = context.codes.sixDigits()
        return ClerkWorld.isTestAddress(destination) ? "424242" : drawn
    }

    /// Sends a code and remembers it.
    mutating func sendCode(
        _ challenge: inout OktaTransaction.Challenge,
        _ account: OktaAccount?,
        _ transaction: OktaTransaction,
        _ exchange: OktaExchange,
        in flow: OktaFlow? = nil,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        let type = challenge.factor.type
        let window = type == "email" ? exchange.okta.emailWindow : exchange.okta.phoneWindow
        if let sent = account?.sentAt[type], exchange.now - sent < window {
            throw .justSent(type, until: sent + window)
        }
        let destination = challenge.factor.setup.destination
        // For nobody too, so that the next one does not tell whether somebody exists.
        let code = Self.code(for: destination, &context)
        challenge.code = account == nil ? nil : code
        challenge.codeEnds = exchange.now + exchange.okta.codeLife
        guard let account, let destination else { return }
        counters.codes += 1
        accounts[account.id]?.sentAt[type] = exchange.now
        context.send(
            SandboxMessage(
                to: destination,
                channel: type == "email" ? "email" : "phone",
                strategy: "okta_\(type)",
                code: type == "email" ? flow.map { Self.mailed(code, $0, exchange) } ?? code : code,
                sentAt: exchange.now,
                signIn: Masking.fingerprint(transaction.token)
            )
        )
    }

    private mutating func check(
        _ code: String,
        of challenge: OktaTransaction.Challenge,
        _ account: OktaAccount,
        _ transaction: OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        counters.codeAttempts += 1
        guard code == challenge.code, challenge.codeEnds > exchange.now else {
            throw wrongAnswer(account, transaction, context: &context)
        }
    }

    private mutating func checkTOTP(
        _ code: String,
        _ factor: OktaFactor,
        _ account: OktaAccount,
        _ transaction: OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        counters.codeAttempts += 1
        guard let step = Self.step(of: code, factor, now: exchange.now, within: 10) else {
            throw wrongAnswer(account, transaction, context: &context)
        }
        guard abs(step - TOTP.step(atMilliseconds: exchange.now)) <= 1 else { throw .otherWindow }
        if exchange.settings.isTOTPSingleUse, step <= account.lastTOTPStep ?? -1 { throw .replayed }
        accounts[account.id]?.lastTOTPStep = step
    }

    /// The step that a time-based code belongs to, near the present one.
    static func step(of code: String, _ factor: OktaFactor, now: Int64, within steps: Int64) -> Int64? {
        guard let secret = factor.secret.flatMap(Base32.decode) else { return nil }
        let present = TOTP.step(atMilliseconds: now)
        return (present - steps...present + steps).first { TOTP.code(secret: secret, step: $0) == code }
    }

    // MARK: WebAuthn

    /// 32 bytes to be signed.
    mutating func makeNonce() -> String {
        Base64.encodeForURL((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// Whether the data that a credential has signed is for this ceremony.
    static func isFor(_ type: String, _ nonce: String?, _ clientData: String) -> Bool {
        guard let nonce, let bytes = Base64.decode(clientData.utf8), let json = try? JSONValue(parsing: bytes) else {
            return false
        }
        return json["type"]?.string == type && json["challenge"]?.string == nonce
    }
}
