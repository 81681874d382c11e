import HTTPRecovery

// What stands beside the forms of the identity engine's answers: what is used, and what could be.
extension OktaWorld {
    /// The objects beside the forms: what is used, and what could be.
    func objects(_ flow: OktaFlow, _ exchange: OktaExchange) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue) {
            members.append(JSONValue.Member(name, ["type": value.array == nil ? "object" : "array", "value": value]))
        }
        let held = reachable(flow)
        add("authenticatorEnrollments", .array(held.map { Self.view($0, isEnrolled: true) }))
        let open = account(of: flow)?.enrollments.map(\.type) ?? []
        add("authenticators", .array(open.map { Self.view(OktaFactor(id: "", setup: .init($0)), isEnrolled: false) }))
        switch flow.step {
        case .channel:
            let chosen = flow.step == .channel("email") ? "email" : flow.step == .channel("sms") ? "sms" : nil
            let view = Self.view(OktaFactor(id: "", setup: .init("push")), isEnrolled: false)
            let context: JSONValue = .present(["selectedChannel": chosen.map(JSONValue.string)])
            add("currentAuthenticator", view.adding("contextualData", context))
        case .profile(.registration):
            let settings: JSONValue = ["complexity": policyView(exchange)["complexity"] ?? [:]]
            let view: JSONValue = ["type": "password", "key": "okta_password", "settings": settings]
            add("enrollmentAuthenticator", view)
        case .probe:
            let probe = OktaTransaction.Challenge(factor: OktaFactor(id: "", setup: .init("signed_nonce")))
            add("authenticatorChallenge", device(probe, flow, exchange).adding("cancel", stop(flow, exchange)))
        case .identify where exchange.okta.wantsCaptcha: add("captcha", Self.captchaView)
        case .consent: add("app", ["name": "oidc_client", "label": .string(flow.request.client)])
        case .password:
            let view: JSONValue = [
                "type": "password", "key": "okta_password", "id": "lae1", "methods": [["type": "password"]],
                "recover": action("recover", "recover", flow, exchange),
            ]
            add("currentAuthenticatorEnrollment", view)
        case .newPassword:
            let complexity = policyView(exchange)["complexity"] ?? [:]
            let settings: JSONValue = ["daysToExpiry": 5, "complexity": complexity]
            let view: JSONValue = [
                "type": "password", "key": "okta_password", "id": "aut_password", "settings": settings,
            ]
            add("currentAuthenticator", view)
        case .verify, .activate:
            guard let challenge = flow.transaction.challenge else { break }
            let isEnrolling = flow.step == .activate
            var view = Self.view(challenge.factor, isEnrolled: !isEnrolling)
            if let context = contextual(challenge, isEnrolling, flow, exchange) {
                view = view.adding("contextualData", context)
            }
            if challenge.factor.type == "signed_nonce" { view = view.adding("cancel", stop(flow, exchange)) }
            let isShown = isEnrolling && challenge.channel == "qrcode"
            if challenge.factor.setup.isSent || challenge.factor.type == "push" && !isShown {
                view = view.adding("resend", action("resend", "challenge/resend", flow, exchange))
            }
            if challenge.factor.type == "email", exchange.okta.pollsEmail {
                view = view.adding("poll", form("poll", "challenge/poll", [], flow, exchange, refresh: 4000))
            }
            add(isEnrolling ? "currentAuthenticator" : "currentAuthenticatorEnrollment", view)
        default: break
        }
        return members
    }

    /// How Okta Verify is reached on the device: by a page at first, then by an address.
    private func device(
        _ challenge: OktaTransaction.Challenge,
        _ flow: OktaFlow,
        _ exchange: OktaExchange
    ) -> JSONValue {
        guard challenge.isOpened else {
            return [
                "challengeMethod": "LOOPBACK", "challengeRequest": .string(flow.id), "domain": "http://localhost",
                "ports": ["2000", "6511"], "probeTimeoutMillis": 100,
            ]
        }
        let address = "com-okta-authenticator:/deviceChallenge?challengeRequest=\(flow.id)"
        return ["challengeMethod": "CUSTOM_URI", "href": .string(address)]
    }

    /// What tells the server that nobody speaks to the device.
    private func stop(_ flow: OktaFlow, _ exchange: OktaExchange) -> JSONValue {
        action("cancel-polling", "authenticators/poll/cancel", flow, exchange)
    }

    private static func view(_ factor: OktaFactor, isEnrolled: Bool) -> JSONValue {
        var view: JSONValue = [
            "type": .string(sort(factor.type)), "key": .string(authenticatorKey(factor.type)),
            "id": .string(isEnrolled ? factor.id : authenticatorID(factor)),
            "displayName": .string(factor.setup.name ?? authenticatorName(factor.type)),
            "methods": method(factor.type).map { [["type": .string($0)]] } ?? [],
        ]
        guard isEnrolled else { return view }
        switch factor.type {
        case "sms", "call":
            view = view.adding("profile", ["phoneNumber": .string(masked(phone: factor.setup.destination ?? ""))])
        case "email": view = view.adding("profile", ["email": .string(masked(email: factor.setup.destination ?? ""))])
        case "webauthn": view = view.adding("credentialId", .string(factor.credential))
        default: break
        }
        return view
    }

    private static func sort(_ type: String) -> String {
        switch type {
        case "sms", "call": "phone"
        case "question": "security_question"
        case "push", "token:software:totp", "signed_nonce", "web": "app"
        case "webauthn": "security_key"
        default: type
        }
    }

    private func contextual(
        _ challenge: OktaTransaction.Challenge,
        _ isEnrolling: Bool,
        _ flow: OktaFlow,
        _ exchange: OktaExchange
    ) -> JSONValue? {
        let factor = challenge.factor
        switch factor.type {
        case "push" where isEnrolling: return Self.shown(challenge)
        case "signed_nonce":
            return ["challenge": ["type": "object", "value": device(challenge, flow, exchange)]]
        case "web": return Self.duoPage(challenge.nonce)
        case "push": return factor.setup.number.map { ["correctAnswer": .string($0)] }
        case "token:software:totp" where isEnrolling: return ["sharedSecret": .optional(factor.secret)]
        case "question" where !isEnrolling:
            return ["enrolledQuestion": ["questionKey": "pet", "question": .string(factor.setup.question)]]
        case "webauthn" where isEnrolling:
            let account = account(of: flow)
            return [
                "activationData": [
                    "rp": ["name": "auth-sandbox"], "challenge": .optional(challenge.nonce), "attestation": "none",
                    "user": [
                        "id": .optional(account.map { Base64.encodeForURL(Array($0.id.utf8)) }),
                        "name": .optional(account?.login), "displayName": .optional(account?.login),
                    ],
                    "pubKeyCredParams": [["type": "public-key", "alg": -7]], "excludeCredentials": [],
                    "authenticatorSelection": ["userVerification": "preferred"],
                ]
            ]
        case "webauthn":
            return ["challengeData": ["challenge": .optional(challenge.nonce), "userVerification": "preferred"]]
        default: return nil
        }
    }
}
