import HTTPRecovery
import HTTPRecoveryTesting

// Nodes that want what no person knows by heart: a captcha's proof, another provider's word, a certificate, signals.
extension ForgeRockWorld {
    // MARK: Captchas

    func captchaPage(_ exchange: ForgeRockExchange) -> ForgeRockPage {
        let isEnterprise = exchange.settings.captchaForm == "enterprise"
        let callback =
            isEnterprise
            ? ForgeRockCallback(
                "ReCaptchaEnterpriseCallback",
                ["recaptchaSiteKey": "sandbox-key"],
                inputs: ["token": "", "action": "", "clientError": "", "payload": ""]
            )
            : ForgeRockCallback(
                "ReCaptchaCallback",
                [
                    "recaptchaSiteKey": "sandbox-key", "captchaApiUri": "https://www.google.com/recaptcha/api.js",
                    "captchaDivClass": "g-recaptcha", "reCaptchaV3": false,
                ],
                input: ""
            )
        return ForgeRockPage("Captcha", [callback])
    }

    func checkCaptcha(_ answers: ForgeRockAnswers, _ exchange: ForgeRockExchange) -> String? {
        let settings = exchange.settings
        guard answers.text(0) == settings.captchaProof else { return "false" }
        guard settings.captchaForm == "enterprise", let action = settings.captchaAction else { return "true" }
        // The assessment fails whose proof was solved for something else.
        return answers.text(0, 1) == action ? "true" : "false"
    }

    // MARK: Identity providers that the app asks by itself

    static let localAuthentication = "localAuthentication"
    static let providerName = "sandbox"

    func selectionPage(_ exchange: ForgeRockExchange) -> ForgeRockPage {
        let names = [Self.providerName, Self.localAuthentication]
        let selection = ForgeRockCallback(
            "SelectIdPCallback",
            [
                "providers": .array(
                    names.map { ["provider": .string($0), "uiConfig": ["buttonDisplayName": .string($0)]] }
                )
            ],
            input: ""
        )
        return ForgeRockPage("Select", [selection, .name(exchange.settings.namePrompt), .password("Password")])
    }

    mutating func providerPage(_ exchange: ForgeRockExchange) -> ForgeRockPage {
        ForgeRockPage(
            "Provider",
            [
                ForgeRockCallback(
                    "IdPCallback",
                    [
                        "provider": .string(Self.providerName), "clientId": "sandbox-app",
                        "redirectUri": .string(exchange.settings.redirectURI), "scopes": ["openid", "profile"],
                        "nonce": .string(random.letters(20)), "acrValues": [], "request": "", "requestUri": "",
                        "acceptsJSON": true,
                    ],
                    inputs: ["token": "", "token_type": ""]
                )
            ]
        )
    }

    /// Somebody is who the provider has said, by a token of the kind that is stated.
    mutating func checkProvider(
        _ run: inout ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ exchange: ForgeRockExchange
    ) -> String? {
        var (token, kind) = (answers.text(0), answers.text(0, 1))
        if exchange.settings.providerWantsUser || kind == "JSON" {
            // Both in one, as Apple's own answer has them.
            guard kind == "JSON", let told = try? JSONValue(parsing: token),
                told["user"]?["name"]?["firstName"]?.string?.isEmpty == false,
                let name = ["id_token", "code"].first(where: { told[$0]?.string != nil })
            else { return "error" }
            (token, kind) = (told[name]?.string ?? "", name == "code" ? "authorization_code" : name)
        }
        guard let visit = visits.removeValue(forKey: token), visit.kind == kind else { return "error" }
        run.account = visit.account
        return "done"
    }

    // MARK: Languages

    /// The language and the country that the request prefers.
    static func languagePage(_ exchange: ForgeRockExchange) -> ForgeRockPage {
        let wanted = exchange.request.header("accept-language")?.split { ",;".contains($0) }.first ?? "en-US"
        let parts = wanted.split(separator: "-").map(String.init)
        let country = parts.count > 1 ? parts[1] : ""
        let callback = ForgeRockCallback(
            "LanguageCallback",
            [:],
            inputs: ["Language": .string(parts.first ?? "en"), "Country": .string(country)]
        )
        return ForgeRockPage("Language", [callback])
    }

    func checkLanguage(_ run: ForgeRockRun, _ answers: ForgeRockAnswers) throws(ForgeRockFailure) -> String? {
        let shown = run.callbacks.first?.inputs.map(\.value) ?? []
        guard shown == [answers.value(0, 0), answers.value(0, 1)] else { throw .badCallbacks }
        return "done"
    }

    // MARK: What comes with the request

    /// The certificate's subject stands in a field that a proxy adds; it is never asked for.
    func certificate(
        _ run: inout ForgeRockRun,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> Presentation {
        guard let subject = exchange.request.header("x-client-cert") else {
            throw ForgeRockFailure(
                400,
                "The X509Certificate has to come with the initial request; it has no JSON representation."
            )
        }
        run.account = account(named: subject, realm: run.realm)?.name.lowercased()
        return .outcome(run.account == nil ? "false" : "true")
    }

    static let credentialFailure = "http-auth-failed"

    /// Whether the request brings a credential of somebody; the sandbox takes a name in Base64 for a ticket.
    func authorize(_ run: inout ForgeRockRun, _ exchange: ForgeRockExchange) -> Bool {
        let parts = exchange.request.header("authorization")?.split(separator: " ") ?? []
        guard parts.count == 2, parts[0].lowercased() == "negotiate", let bytes = Base64.decode(parts[1].utf8),
            let account = account(named: String(decoding: bytes, as: UTF8.self), realm: run.realm)
        else { return false }
        run.account = account.name.lowercased()
        return true
    }

    /// No credential came along: the journey waits for one, or for word that there is none.
    mutating func demandCredential(_ run: inout ForgeRockRun, _ exchange: ForgeRockExchange) -> SandboxResponse {
        var response = SandboxResponse.json(
            [
                "failure": true, "reason": .string(Self.credentialFailure),
                "authId": .string(proof(&run, for: [], exchange)),
            ],
            status: 401
        )
        response.setHeader("WWW-Authenticate", "Negotiate")
        return response
    }

    // MARK: What is told of the device

    static func protectPage(evaluates: Bool) -> ForgeRockPage {
        guard evaluates else {
            let callback = ForgeRockCallback(
                "PingOneProtectInitializeCallback",
                ["envId": "sandbox", "consoleLogEnabled": false, "deviceAttributesToIgnore": []],
                inputs: ["clientError": ""]
            )
            return ForgeRockPage("ProtectInitialize", [callback])
        }
        // As a page of a newer server tells it, by data and hidden values.
        let data: JSONValue = ["_type": "PingOneProtect", "_action": "protect_risk_evaluation", "envId": "sandbox"]
        return ForgeRockPage(
            "ProtectEvaluation",
            [
                ForgeRockCallback("MetadataCallback", ["data": data]),
                ForgeRockCallback(
                    "HiddenValueCallback",
                    ["value": "", "id": "pingone_risk_evaluation_signals"],
                    input: ""
                ),
                ForgeRockCallback("HiddenValueCallback", ["value": "", "id": "clientError"], input: ""),
            ]
        )
    }

    /// Signals are good enough; an error has an outcome of its own, and with neither the page is shown again.
    func checkSignals(_ answers: ForgeRockAnswers, evaluates: Bool) -> String? {
        guard evaluates else { return "done" }
        if !answers.text(2).isEmpty { return "error" }
        return answers.text(1).isEmpty ? nil : "low"
    }

    mutating func integrityPage() -> ForgeRockPage {
        ForgeRockPage(
            "Integrity",
            [
                ForgeRockCallback(
                    "AppIntegrityCallback",
                    ["requestType": "CLASSIC", "nonce": .string(random.letters(20))],
                    inputs: ["token": "", "clientError": ""]
                )
            ]
        )
    }

    /// A phone that is set up by the address in the code; the page polls until it is.
    func pushPage(_ run: ForgeRockRun, _ exchange: ForgeRockExchange) -> ForgeRockPage {
        let name = FormEncoding.encode(account(of: run)?.name ?? "")
        let uri = "pushauth://push/Sandbox:\(name)?l=c2FuZGJveA&issuer=Sandbox&m=REGISTER:\(run.id)&s=c2VjcmV0"
        return ForgeRockPage(
            "RegisterPush",
            [
                .text("Scan the barcode image below with your authenticator app"),
                .text("window.QRCodeReader.createCode({ id: 'callback_0', text: '\(uri)' });", kind: "4"),
                .hidden("mfaDeviceRegistration", uri),
                ForgeRockCallback(
                    "PollingWaitCallback",
                    ["waitTime": .string(String(exchange.settings.pollWait)), "message": "Waiting for your phone"]
                ),
            ]
        )
    }
}
