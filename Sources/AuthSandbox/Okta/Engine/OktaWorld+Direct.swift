import HTTPRecovery
import HTTPRecoveryTesting

/// A sign-in by Direct Authentication whose first factor was right.
struct OktaDirectProof: Sendable {
    let account: String
    let client: String
    let scope: String
    /// How strong the proof has to be, as it was asked for.
    let acrValues: String?
    let base: String
    var expiresAt: Int64
    /// What a WebAuthn credential has to sign.
    var nonce: String?
}

/// An out-of-band transaction of one.
struct OktaDirectTransaction: Sendable {
    /// The proof that it belongs to; nil as the first factor.
    let proof: String?
    let account: String
    /// What it was begun for; nil for a sign-in.
    let intent: String?
    let acrValues: String?
    var challenge: OktaTransaction.Challenge
    let expiresAt: Int64
    var interval: Int64 = 5000
    var polledAt: Int64?
}

// Direct Authentication: the grants of the token endpoint, and the endpoints that begin a challenge.
extension OktaWorld {
    private static let second = "http://auth0.com/oauth/grant-type/mfa-"
    private static let first = "urn:okta:params:oauth:grant-type:"
    private static let code = "oob_code"

    private static func fields(_ request: SandboxRequest) -> [String: String] {
        Dictionary(FormEncoding.fields(request.body).map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// Answers a request for tokens with a person's own proofs; nil for other grants, and for a success, which leaves as
    /// the exchange of a code.
    mutating func direct(
        _ request: inout SandboxRequest,
        base: String,
        context: inout SandboxContext
    ) -> SandboxResponse? {
        var form = Self.fields(request)
        let named = form["client_id"]
        form["client_id"] = Self.clientID(of: request, form)
        guard context.settings.okta.isIdentityEngine, let grant = form["grant_type"],
            grant == "password" || grant.hasPrefix(Self.first) || grant.hasPrefix(Self.second)
        else { return nil }
        if let failure = context.settings.okta.failure(ofGrant: grant) { return failure.response }
        do throws(OAuthFailure) {
            let account: OktaAccount
            if grant == "password" {
                account = try direct(password: form, context: &context)
                if !account.factors.isEmpty {
                    let grants = form["grant_types_supported"]
                    guard grants.map({ $0.holds("mfa-") }) ?? true else {
                        throw OAuthFailure(
                            "access_denied",
                            "The grant_types_supported are not sufficient to satisfy the policy.",
                            status: 403
                        )
                    }
                    return secondFactor(account, form, base, context)
                }
            } else {
                let proof = try proof(grant, form, base, context)
                let name = proof?.account ?? form["login_hint"] ?? ""
                if grant.hasSuffix("otp") {
                    account = try direct(otp: form, name, context: &context)
                } else if grant.hasSuffix("webauthn") {
                    account = try direct(key: form, context: &context)
                } else {
                    account = try direct(oob: form, context: &context)
                }
                accounts[account.id]?.factorFailures = 0
                if let token = form["mfa_token"] { directProofs[token] = nil }
            }
            if form["intent"] == "recovery" { return try recover(account, form, context) }
            leave(&request, as: account, form, named: named, context: &context)
            return nil
        } catch {
            return error.response
        }
    }

    /// Lets a request go on as the exchange of a code, which the token endpoint knows.
    private mutating func leave(
        _ request: inout SandboxRequest,
        as account: OktaAccount,
        _ form: [String: String],
        named client: String?,
        context: inout SandboxContext
    ) {
        let code = "da_" + random.letters(32)
        context.interactionCodes[code] = OAuthCode(
            grant: OAuthGrant(
                client: form["client_id"] ?? "",
                subject: account.id,
                scope: (form["scope"] ?? "openid").split(separator: " ").map(String.init),
                authentication: OAuthAuthentication(
                    time: context.now,
                    acr: form["acr_values"]?.split(separator: " ").first.map(String.init),
                    nonce: nil
                )
            ),
            redirectURI: nil,
            challenge: nil,
            challengeMethod: "S256",
            expiresAt: context.now + 60_000
        )
        var fields = "grant_type=interaction_code&interaction_code=\(code)"
        if let client { fields += "&client_id=\(FormEncoding.encode(client))" }
        for name in ["client_secret", "client_assertion", "client_assertion_type"] {
            if let value = form[name] { fields += "&\(name)=\(FormEncoding.encode(value))" }
        }
        request.body = Array(fields.utf8)
    }

    private func refused(_ text: String) -> OAuthFailure { OAuthFailure("invalid_grant", text) }

    private mutating func direct(
        password form: [String: String],
        context: inout SandboxContext
    ) throws(OAuthFailure) -> OktaAccount {
        counters.passwordAttempts += 1
        let wrong = refused("The credentials provided were invalid.")
        guard let account = account(named: form["username"] ?? ""), let secret = account.user.password,
            !isLocked(account.id, now: context.now)
        else { throw wrong }
        guard form["password"] == secret, account.user.state == "active" else {
            if form["password"] != secret { _ = notePasswordFailure(account.id, &context) }
            throw wrong
        }
        noteRightPassword(of: account.id)
        if account.passwordStatus == "expired" { throw refused("The password has expired.") }
        return account
    }

    private mutating func secondFactor(
        _ account: OktaAccount,
        _ form: [String: String],
        _ base: String,
        _ context: SandboxContext
    ) -> SandboxResponse {
        let token = "fw" + random.letters(20)
        directProofs[token] = OktaDirectProof(
            account: account.id,
            client: form["client_id"] ?? "",
            scope: form["scope"] ?? "",
            acrValues: form["acr_values"],
            base: base,
            expiresAt: context.now + context.settings.okta.transactionLife
        )
        return .json(
            [
                "error": "mfa_required", "error_description": "MFA is required.", "mfa_token": .string(token),
                "supported_challenge_types": .string("\(Self.second)otp \(Self.second)oob \(Self.first)mfa-webauthn"),
            ],
            status: 403
        )
    }

    /// The proof of a second factor; nil as the first factor.
    private func proof(
        _ grant: String,
        _ form: [String: String],
        _ base: String,
        _ context: SandboxContext
    ) throws(OAuthFailure) -> OktaDirectProof? {
        guard grant.hasPrefix(Self.second) || grant == Self.first + "mfa-webauthn" else { return nil }
        guard let proof = directProofs[form["mfa_token"] ?? ""], proof.expiresAt > context.now else {
            throw OAuthFailure("access_denied", "The 'mfa_token' has expired.", status: 403)
        }
        guard proof.scope == form["scope"] ?? "", proof.base == base, proof.client == form["client_id"] ?? "",
            proof.acrValues == form["acr_values"]
        else {
            throw OAuthFailure("invalid_request", "The request differs from the original request.")
        }
        return proof
    }

    /// Whether somebody is locked, so that nothing which they prove is taken; it looks like a wrong proof.
    ///
    /// A recovery is for the locked too, but for those who were locked by wrong codes: they would be guessed on in it.
    mutating func isHeld(_ account: OktaAccount, _ form: [String: String], _ context: SandboxContext) -> Bool {
        guard isLocked(account.id, now: context.now) else { return false }
        return form["intent"] != "recovery" || account.factorFailures >= context.settings.okta.factorAttempts
    }

    private mutating func direct(
        otp form: [String: String],
        _ name: String,
        context: inout SandboxContext
    ) throws(OAuthFailure) -> OktaAccount {
        counters.codeAttempts += 1
        let wrong = refused("The 'otp' provided was incorrect.")
        guard let account = account(named: name),
            let factor = account.factors.first(where: { $0.type == "token:software:totp" })
        else { throw wrong }
        guard !isHeld(account, form, context) else { throw wrong }
        guard let step = Self.step(of: form["otp"] ?? "", factor, now: context.now, within: 1),
            !context.settings.isTOTPSingleUse || step > account.lastTOTPStep ?? -1
        else {
            _ = noteFactorFailure(account.id, &context)
            throw wrong
        }
        accounts[account.id]?.lastTOTPStep = step
        return account
    }

    /// A poll, or the code that was sent.
    private mutating func direct(
        oob form: [String: String],
        context: inout SandboxContext
    ) throws(OAuthFailure) -> OktaAccount {
        let handle = form[Self.code] ?? ""
        guard var transaction = directTransactions[handle], transaction.expiresAt > context.now else {
            throw OAuthFailure("access_denied", "The 'oob_code' has expired.", status: 403)
        }
        guard transaction.intent == form["intent"] else {
            throw .invalidRequest("The 'intent' differs from that of the original request.")
        }
        guard transaction.acrValues == form["acr_values"] else {
            throw .invalidRequest("The 'acr_values' differ from those of the original request.")
        }
        guard transaction.proof == form["mfa_token"], let account = accounts[transaction.account] else {
            throw .invalidRequest("The 'oob_code' and the 'mfa_token' are not associated with each other.")
        }
        if let code = form["binding_code"] {
            counters.codeAttempts += 1
            let wrong = refused("The 'otp' provided was incorrect.")
            guard !isHeld(account, form, context) else { throw wrong }
            guard code == transaction.challenge.code else {
                _ = noteFactorFailure(account.id, &context)
                throw wrong
            }
            directTransactions[handle] = nil
            return account
        }
        if let last = transaction.polledAt, context.now - last < transaction.interval {
            transaction.interval += 5000
            directTransactions[handle] = transaction
            throw OAuthFailure("slow_down", "The client polls too often.")
        }
        transaction.polledAt = context.now
        let script = transaction.challenge.factor.setup.script
        transaction.challenge.polls += 1
        let result = transaction.challenge.decision ?? script[min(transaction.challenge.polls, script.count) - 1]
        directTransactions[handle] = transaction
        switch result {
        case "SUCCESS":
            guard !isHeld(account, form, context) else { throw refused("The credentials provided were invalid.") }
            directTransactions[handle] = nil
            return account
        case "REJECTED": throw refused("The user rejected the out-of-band authentication.")
        // Whatever else there is: nobody has answered, until the handle has expired.
        default: throw OAuthFailure("authorization_pending", "Nobody has answered yet.")
        }
    }

    // MARK: Challenges

    /// Begins a challenge: every success sends something to a person.
    mutating func challengeDirectly(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse {
        let form = Self.fields(request)
        let isSecond = request.path.hasSuffix("/challenge")
        let denied = OAuthFailure("access_denied", "The required authenticator cannot be used.", status: 403)
        let proof = directProofs[form["mfa_token"] ?? ""]
        if isSecond, proof.map({ $0.expiresAt <= context.now }) ?? true {
            return OAuthFailure("access_denied", "The 'mfa_token' has expired.", status: 403).response
        }
        guard proof.map({ $0.acrValues == form["acr_values"] }) ?? true else {
            return OAuthFailure("invalid_request", "The 'acr_values' differ from the original request.").response
        }
        guard let account = account(named: proof?.account ?? form["login_hint"] ?? "") else { return denied.response }
        let sort = form[isSecond ? "challenge_types_supported" : "challenge_hint"] ?? ""
        if sort.hasSuffix("webauthn") {
            let keys = account.factors.filter { $0.type == "webauthn" }
            return keys.isEmpty ? denied.response : challenge(keys, of: account, form, isSecond)
        }
        let sorts = ["push": "push", "sms": "sms", "voice": "call"]
        guard let channel = form["channel_hint"], let sort = sorts[channel],
            let factor = reachable(account, form["intent"]).first(where: { $0.type == sort })
        else { return denied.response }
        var challenge = OktaTransaction.Challenge(factor: factor)
        let handle = "ft" + random.letters(24)
        var answer: JSONValue = [
            "oob_code": .string(handle), "expires_in": .int(context.settings.okta.pushLife / 1000),
            "channel": .string(channel),
        ]
        if sort == "push" {
            counters.pushes += 1
            accounts[account.id]?.pushesSent += 1
            answer = answer.adding("interval", 5)
                .adding("binding_method", .string(factor.setup.number == nil ? "none" : "transfer"))
            if let number = factor.setup.number { answer = answer.adding("binding_code", .string(number)) }
        } else {
            let code = Self.code(for: factor.setup.destination, &context)
            challenge.code = code
            counters.codes += 1
            answer = answer.adding("binding_method", "prompt")
            context.send(
                SandboxMessage(
                    to: factor.setup.destination ?? "",
                    channel: "phone",
                    strategy: "okta_\(sort)",
                    code: code,
                    sentAt: context.now,
                    signIn: Masking.fingerprint(handle)
                )
            )
        }
        directTransactions[handle] = OktaDirectTransaction(
            proof: form["mfa_token"],
            account: account.id,
            intent: form["intent"],
            acrValues: form["acr_values"],
            challenge: challenge,
            expiresAt: context.now + context.settings.okta.pushLife
        )
        return .json(isSecond ? answer.adding("challenge_type", .string(Self.second + "oob")) : answer)
    }
}

extension SandboxOktaSettings {
    /// Why an app may not use a grant; nil if it may.
    func failure(ofGrant grant: String) -> OAuthFailure? {
        guard !appGrants.isEmpty, !appGrants.contains(grant) else { return nil }
        let text = "The client is not authorized to use the provided grant type. Configured grant types:"
        return OAuthFailure("unauthorized_client", "\(text) [\(appGrants.joined(separator: ", "))].")
    }
}
