import HTTPRecovery

// The identity engine's answers as they go over the wire (ION).
extension OktaWorld {
    /// The answer to a step: where the flow stands, and what was refused.
    func ion(of failure: OktaEngineFailure?, _ flow: OktaFlow?, _ exchange: OktaExchange) -> SandboxResponse {
        var body: JSONValue = ["version": "1.0.0"]
        if let flow {
            body = body.adding("stateHandle", .string(flow.handle))
                .adding("expiresAt", exchange.time(flow.transaction.expiresAt))
                .adding("intent", .string(flow.goal.rawValue))
            if let code = code(of: flow), flow.step == .done {
                body = body.adding("successWithInteractionCode", success(code, flow, exchange))
            } else {
                let forms = forms(flow, failure, exchange)
                body = body.adding("remediation", ["type": "array", "value": .array(forms)])
            }
            body = body.adding("cancel", action("cancel", "cancel", flow, exchange))
            for member in objects(flow, exchange) { body = body.adding(member.key, member.value) }
            if let account = account(of: flow) {
                let user: JSONValue = ["id": .string(account.id), "identifier": .string(account.login)]
                body = body.adding("user", ["type": "object", "value": user])
            }
        }
        if let failure, failure.field == nil || flow == nil {
            body = body.adding("messages", Self.messages(failure.key, failure.text, "ERROR"))
        }
        var response = SandboxResponse.json(body, status: failure?.status ?? 200)
        response.setHeader("Content-Type", "application/ion+json; okta-version=1.0.0")
        return response
    }

    /// The end of an unlock: nobody is signed in with that.
    func unlocked(_ flow: OktaFlow, _ exchange: OktaExchange) -> SandboxResponse {
        let text = "Account Successfully Unlocked! Verify your account with a security method to continue."
        return .json([
            "version": "1.0.0",
            "stateHandle": .string(flow.handle),
            "messages": Self.messages("oie.selfservice.unlock_user.success.message", text, "INFO"),
        ])
    }

    private static func messages(_ key: String, _ text: String, _ severity: String) -> JSONValue {
        let message: JSONValue = [
            "message": .string(text), "i18n": ["key": .string(key), "params": []], "class": .string(severity),
        ]
        return ["type": "array", "value": [message]]
    }

    private func success(_ code: String, _ flow: OktaFlow, _ exchange: OktaExchange) -> JSONValue {
        [
            "rel": ["create-form"], "name": "issue", "method": "POST",
            "href": .string("\(exchange.origin)\(flow.request.base)/v1/token"),
            "accepts": "application/x-www-form-urlencoded",
            "value": [
                ["name": "grant_type", "required": true, "value": "interaction_code"],
                ["name": "interaction_code", "required": true, "value": .string(code)],
                ["name": "client_id", "required": true, "value": .string(flow.request.client)],
                ["name": "client_secret", "required": true],
                ["name": "code_verifier", "required": true],
            ],
        ]
    }

    // MARK: Forms

    func form(
        _ name: String,
        _ path: String,
        _ fields: [JSONValue],
        _ flow: OktaFlow,
        _ exchange: OktaExchange,
        refresh: Int? = nil
    ) -> JSONValue {
        let handle: JSONValue = [
            "name": "stateHandle", "required": true, "value": .string(flow.handle), "visible": false, "mutable": false,
        ]
        let form: JSONValue = [
            "rel": ["create-form"], "name": .string(name), "href": .string("\(exchange.origin)/idp/idx/\(path)"),
            "method": "POST", "produces": "application/ion+json; okta-version=1.0.0",
            // A path that leads nowhere, as real answers have them.
            "relatesTo": ["$.nothingThere.value[7]"],
            "value": .array(fields + [handle]), "accepts": "application/json; okta-version=1.0.0",
        ]
        return refresh.map { form.adding("refresh", .int($0)) } ?? form
    }

    func action(_ name: String, _ path: String, _ flow: OktaFlow, _ exchange: OktaExchange) -> JSONValue {
        form(name, path, [], flow, exchange)
    }

    static func field(
        _ name: String,
        _ label: String,
        isSecret: Bool = false,
        isRequired: Bool = true,
        _ failure: OktaEngineFailure? = nil
    ) -> JSONValue {
        let field: JSONValue = [
            "name": .string(name), "label": .string(label), "required": .bool(isRequired), "secret": .bool(isSecret),
        ]
        guard let failure, failure.field == name else { return field }
        return field.adding("messages", messages(failure.key, failure.text, "ERROR"))
    }

    static func object(_ name: String, _ fields: [JSONValue]) -> JSONValue {
        [
            "name": .string(name), "type": "object", "required": true, "form": ["value": .array(fields)],
        ]
    }

    private func forms(
        _ flow: OktaFlow,
        _ failure: OktaEngineFailure?,
        _ exchange: OktaExchange
    ) -> [JSONValue] {
        let other = select("select-authenticator-authenticate", "challenge", flow, exchange)
        switch flow.step {
        case .probe: return [form("device-challenge-poll", "authenticators/poll", [], flow, exchange, refresh: 2000)]
        case .consent where exchange.okta.isConsentGranular:
            return [form("granular-consent", "consent", Self.optedScopes(flow), flow, exchange)]
        case .consent: return [form("consent", "consent", [Self.scopes(flow)], flow, exchange)]
        case .identify:
            let name = Self.field("identifier", "Username", failure)
            var fields = [flow.request.loginHint.map { name.adding("value", .string($0)) } ?? name]
            if exchange.okta.identifiesWithPassword {
                fields.append(Self.object("credentials", [Self.field("passcode", "Password", isSecret: true, failure)]))
            }
            fields.append(["name": "rememberMe", "type": "boolean", "label": "Remember this device"])
            if exchange.okta.wantsCaptcha { fields.append(Self.captchaField(failure)) }
            let link = exchange.okta.identityProvider == "off" ? [] : [providerLink(flow, exchange)]
            if exchange.okta.identityProvider == "only" { return link }
            return [
                form("identify", "identify", fields, flow, exchange),
                form("unlock-account", "unlock-account", [], flow, exchange),
            ] + registration(flow, exchange) + link
        case .select where flow.goal == .unlock:
            return [select("select-authenticator-unlock-account", "challenge", flow, exchange)]
        case .select: return [other]
        case .password:
            let field = Self.field("passcode", "Password", isSecret: true, failure)
            let others = [form("unlock-account", "unlock-account", [], flow, exchange)]
            return [challenge([field], flow, exchange)] + others + registration(flow, exchange)
        case .verify:
            guard let factor = flow.transaction.challenge?.factor else { return [] }
            if factor.type == "push" || factor.type == "signed_nonce" {
                let path = factor.type == "push" ? "challenge/poll" : "authenticators/poll"
                return [form("challenge-poll", path, [], flow, exchange, refresh: 4000), other]
            }
            return [challenge(fields(of: factor, failure), flow, exchange), other]
        case .newPassword(let name):
            let field = Self.field("passcode", "New password", isSecret: true, failure)
            let main = form(name, "challenge/answer", [Self.object("credentials", [field])], flow, exchange)
            return isSkippable(flow) ? [main, action("skip", "skip", flow, exchange)] : [main]
        case .enroll:
            let main = select("select-authenticator-enroll", "credential/enroll", flow, exchange)
            return isSkippable(flow) ? [main, action("skip", "skip", flow, exchange)] : [main]
        case .phone(let type):
            let method: JSONValue = [
                "name": "methodType", "required": true, "value": .string(type == "call" ? "voice" : "sms"),
                "mutable": false,
            ]
            let id: JSONValue = [
                "name": "id", "required": true, "value": .string(Self.authenticatorID(type: type)), "mutable": false,
            ]
            let inner = Self.object("authenticator", [id, method, Self.field("phoneNumber", "Phone", failure)])
            return [form("authenticator-enrollment-data", "credential/enroll", [inner], flow, exchange)]
        case .activate:
            guard let factor = flow.transaction.challenge?.factor else { return [] }
            if factor.type == "push" {
                return [form("enroll-poll", "challenge/poll", [], flow, exchange, refresh: 4000)]
                    + channels(flow, exchange)
            }
            let inner =
                factor.type == "question"
                ? questionChoice() : Self.object("credentials", fields(of: factor, failure, isEnrolling: true))
            return [form("enroll-authenticator", "challenge/answer", [inner], flow, exchange)]
        case .channel(nil): return channels(flow, exchange)
        case .channel(let channel?): return [address(of: channel, failure, flow, exchange)] + channels(flow, exchange)
        case .profile(let sort): return profile(sort, failure, flow, exchange)
        case .done: return []
        }
    }

    private func challenge(_ fields: [JSONValue], _ flow: OktaFlow, _ exchange: OktaExchange) -> JSONValue {
        form("challenge-authenticator", "challenge/answer", [Self.object("credentials", fields)], flow, exchange)
    }

    private func fields(
        of factor: OktaFactor,
        _ failure: OktaEngineFailure?,
        isEnrolling: Bool = false
    ) -> [JSONValue] {
        switch factor.type {
        case "question":
            let key: JSONValue = ["name": "questionKey", "required": true, "value": "pet", "mutable": false]
            return [key, Self.field("answer", factor.setup.question, isSecret: true, failure)]
        case "webauthn":
            let names =
                isEnrolling ? ["clientData", "attestation"] : ["authenticatorData", "clientData", "signatureData"]
            return names.map { Self.field($0, $0) }
        case "web":
            return [
                ["name": "signatureData", "label": "Assertion From Duo", "required": true, "visible": false]
            ]
        default: return [Self.field("passcode", "Enter code", failure)]
        }
    }

    private func questionChoice() -> JSONValue {
        let questions: [JSONValue] = Self.questions.map { ["label": .string($0.value), "value": .string($0.key)] }
        let fields: [JSONValue] = [
            ["name": "questionKey", "type": "string", "required": true, "options": .array(questions)],
            Self.field("answer", "Answer", isSecret: true),
        ]
        let option: JSONValue = [
            "label": "Choose a security question", "value": ["form": ["value": .array(fields)]],
        ]
        return ["name": "credentials", "type": "object", "required": true, "options": [option]]
    }

    private func select(_ name: String, _ path: String, _ flow: OktaFlow, _ exchange: OktaExchange) -> JSONValue {
        let isEnrolling = name.hasSuffix("enroll")
        let held = isEnrolling ? [] : reachable(flow)
        let types = isEnrolling ? account(of: flow)?.enrollments.map(\.type) ?? [] : held.map(\.type)
        let place = isEnrolling ? "authenticators" : "authenticatorEnrollments"
        let options: [JSONValue] = types.enumerated().map { index, type in
            var fields: [JSONValue] = [
                [
                    "name": "id", "required": true, "value": .string(Self.authenticatorID(type: type)),
                    "mutable": false,
                ]
            ]
            if type == "sms", !isEnrolling {
                let methods: JSONValue = [
                    ["label": "SMS", "value": "sms"], ["label": "Voice call", "value": "voice"],
                ]
                fields.append(["name": "methodType", "type": "string", "required": false, "options": methods])
            } else if type == "push", isEnrolling {
                fields.append(channelField(isRequired: false, exchange))
            } else if let method = Self.method(type) {
                fields.append(["name": "methodType", "required": false, "value": .string(method), "mutable": false])
            }
            // Of one authenticator somebody may have several, each phone by itself.
            if !isEnrolling, Self.isNamed(held[index], among: held) {
                fields.append([
                    "name": "enrollmentId", "required": true, "value": .string(held[index].id), "mutable": false,
                ])
            }
            return [
                "label": .string(type), "value": ["form": ["value": .array(fields)]],
                "relatesTo": .string("$.\(place).value[\(index)]"),
            ]
        }
        var fields: [JSONValue] = [["name": "authenticator", "type": "object", "options": .array(options)]]
        if flow.goal == .unlock { fields.insert(Self.field("identifier", "Username"), at: 0) }
        return form(name, path, fields, flow, exchange)
    }

    /// What a person consents to.
    private static func scopes(_ flow: OktaFlow) -> JSONValue {
        let options: [JSONValue] = flow.request.scope.map { scope in
            ["name": .string(scope), "label": .string("Use \(scope)"), "value": .string(scope)]
        }
        return ["name": "scopes", "type": "object", "required": true, "options": .array(options)]
    }

    static func method(_ type: String) -> String? {
        switch type {
        case "push", "signed_nonce": type
        case "web": "duo"
        case "token:software:totp": "otp"
        case "question": "security_question"
        case "call": "voice"
        case "sms": "sms"
        default: type == "email" || type == "webauthn" ? type : nil
        }
    }
}
