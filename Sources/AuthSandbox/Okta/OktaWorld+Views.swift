import HTTPRecovery

// Transactions as they go over the wire.
extension OktaWorld {
    /// A link.
    func link(_ href: String, name: String? = nil, method: String = "POST") -> JSONValue {
        let link: JSONValue = name.map { ["name": .string($0)] } ?? [:]
        return link.adding("href", .string(href)).adding("hints", ["allow": [.string(method)]])
    }

    /// The transaction, with the links to its next steps.
    func view(_ transaction: OktaTransaction, _ exchange: OktaExchange) -> JSONValue {
        var body: JSONValue = [
            "stateToken": .string(transaction.token),
            "expiresAt": exchange.time(transaction.expiresAt),
            "status": .string(transaction.status),
        ]
        if let state = transaction.relayState { body = body.adding("relayState", .string(state)) }
        if let type = transaction.recoveryType {
            body = body.adding("recoveryType", .string(type)).adding(
                "factorType",
                .optional(transaction.recoveryFactor)
            )
        }
        if let type = transaction.type { body = body.adding("type", .string(type)) }
        if let result = transaction.challenge?.result, transaction.status == "MFA_CHALLENGE" {
            body = body.adding("factorResult", .string(result))
                .adding("challengeType", transaction.challenge?.isByType == true ? "FACTOR_TYPE" : "FACTOR")
        }
        return body.adding("_embedded", embedded(transaction, exchange)).adding("_links", links(transaction, exchange))
    }

    /// The end of a transaction.
    mutating func success(_ transaction: OktaTransaction, _ exchange: OktaExchange) -> JSONValue {
        var body: JSONValue = [
            "expiresAt": exchange.time(exchange.now + exchange.okta.sessionTokenLife), "status": "SUCCESS",
        ]
        if let state = transaction.relayState { body = body.adding("relayState", .string(state)) }
        if let type = transaction.type {
            // The browser holds the session; it goes on where it is sent.
            let href = "\(exchange.origin)/login/step-up/redirect?stateToken=\(transaction.token)"
            body = body.adding("stateToken", .string(transaction.token)).adding("type", .string(type))
                .adding("_links", ["next": link(href, name: "redirect", method: "GET")])
        } else if transaction.recoveryType == "UNLOCK" {
            // The account is open again, and nobody is signed in with that.
            body = body.adding("recoveryType", "UNLOCK")
        } else if let account = transaction.account {
            let token = "20111" + random.letters(40)
            sessionTokens[token] = OktaOneTimeToken(
                account: account,
                expiresAt: exchange.now + exchange.okta.sessionTokenLife,
                methods: transaction.hasVerified ? ["pwd", "mfa"] : ["pwd"]
            )
            body = body.adding("sessionToken", .string(token))
        }
        return body.adding("_embedded", ["user": userView(transaction, exchange)])
    }

    private func userView(_ transaction: OktaTransaction, _ exchange: OktaExchange) -> JSONValue {
        guard let account = transaction.account.flatMap({ accounts[$0] }) else { return [:] }
        var view: JSONValue = [
            "id": .string(account.id),
            "passwordChanged": exchange.time(account.passwordChangedAt),
            "profile": [
                "login": .string(account.login),
                "firstName": .optional(account.user.firstName),
                "lastName": .optional(account.user.lastName),
                "locale": "en",
                "timeZone": "UTC",
            ],
        ]
        if transaction.status == "RECOVERY", let question = account.user.okta.recoveryQuestion {
            view = view.adding("recovery_question", ["question": .string(question)])
        }
        return view
    }

    private func embedded(_ transaction: OktaTransaction, _ exchange: OktaExchange) -> JSONValue {
        let account = transaction.account.flatMap { accounts[$0] }
        // Somebody whom the org does not know looks like anybody else.
        let isReached = transaction.status != "RECOVERY_CHALLENGE"
        var view: JSONValue = isReached ? ["user": userView(transaction, exchange)] : [:]
        switch transaction.status {
        case "PASSWORD_WARN":
            view = view.adding("policy", policyView(exchange).adding("expiration", ["passwordExpireDays": 5]))
        case "PASSWORD_EXPIRED", "PASSWORD_RESET": view = view.adding("policy", policyView(exchange))
        case "MFA_REQUIRED", "UNAUTHENTICATED":
            let factors = (account?.factors ?? []).map { factor in
                factorView(factor).adding(
                    "_links",
                    ["verify": link(exchange.url("factors/\(factor.id)/verify"))]
                )
            }
            view = view.adding("factors", .array(factors))
                .adding("policy", ["allowRememberDevice": true, "factorsPolicyInfo": [:]])
        case "MFA_ENROLL":
            view = view.adding("factors", .array(enrollmentViews(account, exchange)))
        case "MFA_CHALLENGE": view = challengeView(view, transaction, exchange)
        case "MFA_ENROLL_ACTIVATE":
            guard let challenge = transaction.challenge else { break }
            let factor = factorView(challenge.factor)
                .adding("_embedded", ["activation": activationView(challenge, account, exchange)])
            view = view.adding("factor", factor)
        default: break
        }
        return view
    }

    /// A factor without its links.
    private func factorView(_ factor: OktaFactor) -> JSONValue {
        var profile: JSONValue = [:]
        switch factor.type {
        case "sms", "call": profile = ["phoneNumber": .string(Self.masked(phone: factor.setup.destination ?? ""))]
        case "email": profile = ["email": .string(Self.masked(email: factor.setup.destination ?? ""))]
        case "question": profile = ["question": "name_of_first_pet", "questionText": .string(factor.setup.question)]
        case "push":
            profile = ["credentialId": "phone", "deviceType": "SmartPhone_IPhone", "platform": "IOS"]
            profile = profile.adding("name", .string(factor.setup.name ?? "phone"))
        case "webauthn":
            profile = ["credentialId": .string(factor.credential)]
            profile = profile.adding("authenticatorName", .string(factor.setup.name ?? "key"))
        case "u2f":
            profile = ["credentialId": .string(factor.credential), "version": "U2F_V2"]
        default: profile = ["credentialId": "app"]
        }
        return [
            "id": .string(factor.id),
            "factorType": .string(factor.type),
            "provider": .string(factor.setup.provider),
            "vendorName": .string(factor.setup.provider),
            "profile": profile,
        ]
    }

    private func challengeView(
        _ view: JSONValue,
        _ transaction: OktaTransaction,
        _ exchange: OktaExchange
    ) -> JSONValue {
        guard let challenge = transaction.challenge else { return view }
        var inner: JSONValue?
        if challenge.factor.type == "web" {
            let complete = link(exchange.url("factors/\(challenge.factor.id)/lifecycle/duoCallback"))
            var page = Self.duoPage(challenge.nonce)
            page = page.adding("signature", page["signedToken"] ?? .null).adding("factorResult", "WAITING")
            let verification: JSONValue = ["verification": page.adding("_links", ["complete": complete])]
            return view.adding("factor", factorView(challenge.factor).adding("_embedded", verification))
        }
        if challenge.factor.type == "u2f", let nonce = challenge.nonce {
            inner = ["nonce": .string(nonce), "timeoutSeconds": 20]
        } else if let nonce = challenge.nonce {
            inner = ["challenge": .string(nonce), "userVerification": "preferred", "extensions": [:]]
        } else if let number = challenge.factor.setup.number, challenge.result == "WAITING", challenge.polls > 0 {
            inner = ["correctAnswer": .string(number)]
        }
        let factor = factorView(challenge.factor)
        if challenge.isByType, challenge.factor.type == "webauthn" {
            let view = view.adding("factor", [factor])
            return inner.map { view.adding("challenge", $0) } ?? view
        }
        return view.adding("factor", inner.map { factor.adding("_embedded", ["challenge": $0]) } ?? factor)
    }

    private func enrollmentViews(_ account: OktaAccount?, _ exchange: OktaExchange) -> [JSONValue] {
        let held = (account?.factors ?? []).map { factor in
            factorView(factor).adding("status", "ACTIVE").adding("enrollment", "OPTIONAL")
        }
        let open = (account?.enrollments ?? []).map { enrollment -> JSONValue in
            var links: JSONValue = [:]
            if enrollment.type == "question" {
                let url = "\(exchange.origin)/api/v1/users/\(account?.id ?? "")/factors/questions"
                links = links.adding("questions", link(url, method: "GET"))
            }
            links = links.adding("enroll", link(exchange.url("factors")))
            return [
                "factorType": .string(enrollment.type),
                "provider": .string(SandboxOktaUser.Factor(enrollment.type).provider),
                "vendorName": .string(SandboxOktaUser.Factor(enrollment.type).provider),
                "_links": links,
                "status": "NOT_SETUP",
                "enrollment": enrollment.isRequired ? "REQUIRED" : "OPTIONAL",
            ]
        }
        return held + open
    }

    private func activationView(
        _ challenge: OktaTransaction.Challenge,
        _ account: OktaAccount?,
        _ exchange: OktaExchange
    ) -> JSONValue {
        let step = exchange.url("factors/\(challenge.factor.id)")
        let picture: JSONValue = ["href": .string("\(exchange.origin)/qr/\(challenge.factor.id)"), "type": "image/png"]
        switch challenge.factor.type {
        case "token:software:totp":
            return [
                "timeStep": 30, "sharedSecret": .optional(challenge.factor.secret), "encoding": "base32",
                "keyLength": 6, "_links": ["qrcode": picture],
            ]
        case "push":
            var send: [JSONValue] = [link("\(step)/lifecycle/activate/email", name: "email")]
            send.append(link("\(step)/lifecycle/activate/sms", name: "sms"))
            return [
                "expiresAt": exchange.time(challenge.pushedAt + exchange.okta.pushLife),
                "factorResult": .optional(challenge.result),
                "_links": ["send": .array(send), "qrcode": picture],
            ]
        case "webauthn":
            return [
                "attestation": "none",
                "authenticatorSelection": ["userVerification": "preferred"],
                "challenge": .optional(challenge.nonce),
                "excludeCredentials": [],
                "pubKeyCredParams": [["type": "public-key", "alg": -7], ["type": "public-key", "alg": -257]],
                "rp": ["name": "auth-sandbox"],
                "user": [
                    // The handle is bytes, written as base64url.
                    "id": .string(Base64.encodeForURL(Array((account?.id ?? "").utf8))),
                    "name": .string(account?.login ?? ""), "displayName": .string(account?.login ?? ""),
                ],
            ]
        default: return [:]
        }
    }

    private func links(_ transaction: OktaTransaction, _ exchange: OktaExchange) -> JSONValue {
        var links: JSONValue = [:]
        func add(_ name: String, _ link: JSONValue) { links = links.adding(name, link) }
        let factor = transaction.challenge?.factor
        let step = "factors/\(factor?.id ?? "")"
        switch transaction.status {
        case "PASSWORD_WARN":
            add("next", link(exchange.url("credentials/change_password"), name: "changePassword"))
            add("skip", link(exchange.url("skip"), name: "skip"))
        case "PASSWORD_EXPIRED":
            add("next", link(exchange.url("credentials/change_password"), name: "changePassword"))
        case "PASSWORD_RESET":
            add("next", link(exchange.url("credentials/reset_password"), name: "resetPassword"))
        case "RECOVERY": add("next", link(exchange.url("recovery/answer"), name: "answer"))
        case "RECOVERY_CHALLENGE":
            let sort = transaction.recoveryFactor ?? "SMS"
            add("next", link(exchange.url("recovery/factors/\(sort)/verify"), name: "verify"))
            // In a recovery it is a single object.
            add("resend", link(exchange.url("recovery/factors/\(sort)/resend"), name: sort.lowercased()))
        case "MFA_ENROLL":
            let account = transaction.account.flatMap { accounts[$0] }
            if account?.enrollments.contains(where: \.isRequired) == false {
                add("skip", link(exchange.url("skip"), name: "skip"))
            }
        case "MFA_ENROLL_ACTIVATE":
            let isPush = factor?.type == "push"
            let isPolled = isPush && transaction.challenge?.result == "WAITING"
            let path = "\(step)/lifecycle/activate" + (isPolled ? "/poll" : "")
            add("next", link(exchange.url(path), name: isPolled ? "poll" : "activate"))
            add("prev", link(exchange.url("previous")))
            if factor?.setup.isSent == true {
                add("resend", [link(exchange.url("\(step)/lifecycle/resend"), name: factor?.type)])
            }
        case "MFA_CHALLENGE":
            let isPolled = transaction.challenge?.result == "WAITING"
            add("next", link(exchange.url("\(step)/verify"), name: isPolled ? "poll" : "verify"))
            add("prev", link(exchange.url("previous")))
            if factor?.setup.isSent == true || factor?.type == "push" {
                add("resend", [link(exchange.url("\(step)/verify/resend"), name: factor?.type)])
            }
        default: break
        }
        add("cancel", link(exchange.url("cancel")))
        return links
    }

    static func masked(phone: String) -> String {
        "\(phone.prefix(2)) XXX-XXX-\(phone.suffix(4))"
    }

    static func masked(email: String) -> String {
        guard let at = email.lastIndex(of: "@") else { return "***" }
        return "\(email[..<at].prefix(1))...\(email[..<at].suffix(1))\(email[at...])"
    }
}
