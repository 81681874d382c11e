import HTTPRecovery

// Setting factors up.
extension OktaWorld {
    private static let activationAttempts: Int64 = 5

    mutating func enroll(
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        guard transaction.status == "MFA_ENROLL", let account = transaction.account.flatMap({ accounts[$0] }) else {
            throw .state
        }
        let type = try exchange.required("factorType").lowercased()
        guard account.enrollments.contains(where: { $0.type == type }) else {
            throw .validation("factorType", "The factor cannot be enrolled")
        }
        var setup = SandboxOktaUser.Factor(type)
        let profile = exchange.body["profile"]
        switch type {
        case "sms", "call":
            let number = profile?["phoneNumber"]?.string ?? ""
            let digits = number.dropFirst().filter(\.isNumber)
            guard number.hasPrefix("+"), (8...15).contains(digits.count) else { throw .phone }
            setup.destination = number
        case "question":
            guard let question = profile?["question"]?.string, let text = Self.questions[question] else {
                throw .validation("question", "The question is not one of the list")
            }
            guard let answer = profile?["answer"]?.string, answer.count >= 4 else {
                throw .validation("answer", "The security question answer must be at least 4 characters in length")
            }
            (setup.question, setup.answer) = (text, answer)
        default: break
        }
        if type == "push" {
            setup.script = account.user.okta.factors?.first { $0.type == "push" }?.script ?? ["WAITING", "SUCCESS"]
        }
        var factor = makeFactor(setup, account.user)
        if type == "token:software:totp", factor.secret == nil {
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
            factor.secret = String((0..<16).map { _ in alphabet[Int.random(in: 0..<32, using: &random)] })
        }
        var challenge = OktaTransaction.Challenge(factor: factor)
        if type == "question" {
            return activated(factor, &transaction, account)
        } else if factor.setup.isSent {
            try sendCode(&challenge, account, transaction, exchange, context: &context)
        } else if type == "push" {
            challenge.result = "WAITING"
            challenge.pushedAt = exchange.now
        } else if type == "webauthn" {
            challenge.nonce = makeNonce()
        }
        transaction.activations = 0
        transaction.challenge = challenge
        transaction.status = "MFA_ENROLL_ACTIVATE"
    }

    /// The questions to choose from.
    static let questions: KeyValuePairs<String, String> = [
        "disliked_food": "What is the food you least liked as a child?",
        "name_of_first_plush_toy": "What is the name of your first stuffed animal?",
        "first_award": "What did you earn your first medal or award for?",
    ]

    /// The factor under activation that an id stands for.
    private func activation(
        _ id: String,
        _ transaction: OktaTransaction
    ) throws(OktaFailure) -> (OktaTransaction.Challenge, OktaAccount) {
        guard transaction.status == "MFA_ENROLL_ACTIVATE", let challenge = transaction.challenge,
            challenge.factor.id == id, let account = transaction.account.flatMap({ accounts[$0] })
        else { throw .state }
        return (challenge, account)
    }

    mutating func activate(
        _ id: String,
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange
    ) throws(OktaFailure) {
        let (challenge, account) = try activation(id, transaction)
        if challenge.factor.type == "push" {
            // What the person had to scan has run out, and is made anew.
            guard challenge.result != "WAITING" else { throw .state }
            transaction.challenge?.result = "WAITING"
            transaction.challenge?.pushedAt = exchange.now
            return
        }
        guard transaction.activations < Self.activationAttempts else { throw .limit }
        transaction.activations += 1
        transactions[transaction.token]?.activations += 1
        counters.codeAttempts += 1
        let isRight: Bool
        switch challenge.factor.type {
        case "token:software:totp":
            let code = try exchange.required("passCode")
            isRight = Self.step(of: code, challenge.factor, now: exchange.now, within: 1) != nil
        case "webauthn":
            let isAttested = exchange.text("attestation") != nil
            let data = try exchange.required("clientData")
            isRight = isAttested && Self.isFor("webauthn.create", challenge.nonce, data)
        default:
            let code = try exchange.required("passCode")
            isRight = code == challenge.code && challenge.codeEnds > exchange.now
        }
        guard isRight else { throw .factorAnswer }
        var factor = challenge.factor
        factor.adopt(attestation: exchange.text("attestation"))
        activated(factor, &transaction, account)
    }

    mutating func pollActivation(
        _ id: String,
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange
    ) throws(OktaFailure) {
        var (challenge, account) = try activation(id, transaction)
        guard challenge.factor.type == "push" else { throw .state }
        poll(&challenge, exchange)
        transaction.challenge = challenge
        if challenge.result == "SUCCESS" { activated(challenge.factor, &transaction, account) }
    }

    mutating func sendActivation(
        _ id: String,
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        let (challenge, account) = try activation(id, transaction)
        guard challenge.factor.type == "push" else { throw .state }
        let isPhone = exchange.route.parts.last == "sms"
        let number = exchange.body["profile"]?["phoneNumber"]?.string
        guard let destination = isPhone ? number ?? account.user.phones.first : account.user.emails.first else {
            throw .phone
        }
        counters.codes += 1
        context.send(
            SandboxMessage(
                to: destination,
                channel: isPhone ? "phone" : "email",
                strategy: "okta_push_activation",
                code: random.letters(20),
                sentAt: exchange.now,
                signIn: Masking.fingerprint(transaction.token)
            )
        )
    }

    mutating func resendActivation(
        _ id: String,
        _ transaction: inout OktaTransaction,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaFailure) {
        var (challenge, account) = try activation(id, transaction)
        guard challenge.factor.setup.isSent else { throw .state }
        try sendCode(&challenge, account, transaction, exchange, context: &context)
        transaction.challenge = challenge
    }

    /// The person has the factor now, and has proved it with that.
    private mutating func activated(
        _ factor: OktaFactor,
        _ transaction: inout OktaTransaction,
        _ account: OktaAccount
    ) {
        accounts[account.id]?.factors.append(factor)
        accounts[account.id]?.enrollments.removeAll { $0.type == factor.type }
        transaction.hasVerified = true
        goOn(&transaction)
    }
}

extension KeyValuePairs where Key == String, Value == String {
    fileprivate subscript(name: String) -> String? { first { $0.key == name }?.value }
}
