import HTTPRecovery
import HTTPRecoveryTesting

// What the identity engine wants beside proofs: another provider's word, a captcha, consent, the link of a mail.
extension OktaWorld {
    // MARK: Other providers

    private static let provider = "0oasandboxidp"

    /// The link to the other provider's page, as it stands among the forms.
    func providerLink(_ flow: OktaFlow, _ exchange: OktaExchange) -> JSONValue {
        let isCard = exchange.okta.providerType == "X509"
        return [
            "name": "redirect-idp", "type": .string(exchange.okta.providerType), "method": "GET",
            "idp": ["id": .string(Self.provider), "name": .string(isCard ? "Smart card" : "Sandbox provider")],
            "href": .string("\(exchange.origin)/sso/idps/\(Self.provider)?stateToken=02.\(flow.id)"),
        ]
    }

    /// A browser at the other provider, which knows whoever comes: it is sent back to the app with the code of the flow, or
    /// told that more is wanted.
    mutating func visit(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse {
        guard request.method == "GET", context.settings.okta.identityProvider != "off",
            request.path.hasSuffix("/\(Self.provider)"),
            var flow = request.queryItem("stateToken").flatMap(OktaFlow.id).flatMap({ flows[$0] }),
            flow.transaction.expiresAt > context.now, flow.step == .identify
        else { return .text("This sign-in is over, or not for this provider.\n", status: 404) }
        func back(_ fields: [(String, String)]) -> SandboxResponse {
            let target = flow.request.redirectURI
            let all = fields + [("state", flow.request.state)]
            let query = all.map { "\($0.0)=\(FormEncoding.encode($0.1))" }.joined(separator: "&")
            return .redirect(to: target + (target.contains("?") ? "&" : "?") + query)
        }
        let name = request.queryItem("login_hint") ?? context.settings.okta.providerUser
        guard let name, let account = account(named: name), account.user.state == "active" else {
            return back([("error", "access_denied"), ("error_description", "The person is not known here.")])
        }
        self.name(name, in: &flow)
        // The other provider's word stands in the place of the password.
        flow.hasPassword = true
        goOn(&flow)
        if flow.step == .done { issueCode(for: flow, context: &context) }
        flows[flow.id] = flow
        guard let code = code(of: flow) else { return back([("error", "interaction_required")]) }
        return back([("interaction_code", code)])
    }

    // MARK: Captchas

    private static let captcha = "capsandbox"

    /// What a page needs to show the captcha.
    static var captchaView: JSONValue {
        ["id": .string(captcha), "name": "hCaptcha", "siteKey": "sandbox-key", "type": "HCAPTCHA"]
    }

    /// The field that takes the captcha's proof, which no page shows.
    static func captchaField(_ failure: OktaEngineFailure?) -> JSONValue {
        let id: JSONValue = [
            "name": "captchaId", "required": true, "value": .string(captcha), "visible": false, "mutable": false,
        ]
        let token = field("captchaToken", "Captcha", failure).adding("visible", false).adding("hint", "captcha")
        return ["name": "captchaVerify", "form": ["value": [id, token]], "relatesTo": "$.captcha"]
    }

    /// Takes the proof of the captcha, which cannot be taken again.
    mutating func checkCaptcha(_ exchange: OktaExchange) throws(OktaEngineFailure) {
        guard exchange.okta.wantsCaptcha else { return }
        let proof = exchange.body["captchaVerify"]
        guard proof?["captchaId"]?.string == Self.captcha, let token = proof?["captchaToken"]?.string, !token.isEmpty,
            !token.hasPrefix("wrong"), captchas.insert(token).inserted
        else {
            throw OktaEngineFailure(400, "errors.E0000001", "The captcha was not solved.", field: "captchaToken")
        }
    }

    // MARK: Consent

    /// The fields by which each scope is given by itself; the person is who they are whatever they give.
    static func optedScopes(_ flow: OktaFlow) -> [JSONValue] {
        let scopes: [JSONValue] = flow.request.scope.map { scope in
            [
                "name": .string(scope), "label": .string("Use \(scope)"), "type": "boolean", "required": true,
                "value": true, "mutable": .bool(scope != "openid"),
            ]
        }
        let consent: JSONValue = ["name": "consent", "type": "boolean", "visible": false, "required": true]
        return [consent, ["name": "optedScopes", "form": ["value": .array(scopes)]]]
    }

    // MARK: Links in mails

    /// What a mail holds: the code, or a link to the app with the code and the state of the sign-in that wanted it.
    static func mailed(_ code: String, _ flow: OktaFlow, _ exchange: OktaExchange) -> String {
        guard exchange.okta.emailLink != "off" else { return code }
        let target = flow.request.redirectURI
        let state = exchange.okta.emailLink == "other_state" ? flow.request.state + "x" : flow.request.state
        return "\(target)\(target.contains("?") ? "&" : "?")otp=\(code)&state=\(FormEncoding.encode(state))"
    }
}
