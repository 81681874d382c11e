import HTTPRecovery

// What each node of a journey shows.
extension ForgeRockWorld {
    /// What becomes of a node before anybody has answered it.
    enum Presentation {
        case page(ForgeRockPage)
        /// Nothing is to be asked.
        case outcome(String)
    }

    mutating func present(
        _ run: inout ForgeRockRun,
        _ node: ForgeRockTree.Node,
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> Presentation {
        switch node {
        case .credentials: return try credentialsPage(&run, exchange)
        case .username:
            if let login = exchange.login(of: run) {
                run.account = account(named: login.name, realm: run.realm)?.name.lowercased()
                return .outcome("done")
            }
            return .page(
                ForgeRockPage("UsernamePage", header: "Sign in", [.name(exchange.settings.namePrompt)])
            )
        case .password:
            guard account(of: run).map({ $0.password != nil }) ?? true else { return .outcome("none") }
            let text = run.transaction == nil ? "Enter your password" : "Confirm the transaction with your password"
            return .page(ForgeRockPage("PasswordPage", [.text(text), .password("Password")]))
        case .emailCode: return .page(codePage(&run, exchange, context: &context))
        case .authenticatorCode:
            guard account(of: run)?.user.totpSecret != nil else { return .outcome("none") }
            return .page(
                ForgeRockPage(
                    "OneTimePassword",
                    [.name("Enter verification code"), .confirmation(["Submit", "Use Recovery Code"])]
                )
            )
        case .recoveryCode:
            return .page(
                ForgeRockPage(
                    "RecoveryCode",
                    [.text("Recovery Code - This code can only be used once"), .name("Recovery Code")]
                )
            )
        case .registerCredential: return .page(registrationPage(&run, exchange))
        case .proveCredential:
            var page = authenticationPage(&run, exchange)
            if exchange.settings.offersRecoveryCode {
                page.callbacks.append(.confirmation(["Use Recovery Code"], preset: 100))
            }
            return .page(page)
        case .registerAuthenticator: return .page(authenticatorPage(&run))
        case .recoveryCodes: return .page(recoveryCodesPage(run))
        case .poll:
            guard run.polls < exchange.settings.pollCount else { return .outcome("done") }
            return .page(Self.waitPage(exchange))
        case .push:
            guard run.polls < exchange.settings.pollCount else { return .outcome("done") }
            return .page(Self.waitPage(exchange, choosing: send(&run, exchange).number))
        case .newPassword: return .page(passwordPage(run, context.settings.passwordPolicy))
        case .choice(let prompt, let choices):
            return .page(ForgeRockPage("Choice", [.choice(prompt, choices)]))
        case .confirmation(let prompt, let options):
            return .page(ForgeRockPage("Confirmation", [.confirmation(options, prompt: prompt)]))
        case .profile: return .page(profilePage(run, exchange))
        case .unknown: return .page(Self.unknownPage)
        case .hologram: return .page(ForgeRockPage("Hologram", [Self.hologram]))
        case .redirect(let isSAML): return .page(visitPage(&run, isSAML: isSAML, exchange))
        case .deviceProfile: return .page(Self.deviceProfilePage)
        case .bindDevice: return .page(deviceKeyPage(&run, exchange, isBinding: true))
        case .signByDevice: return .page(deviceKeyPage(&run, exchange, isBinding: false))
        case .hologramLogin:
            return .page(
                ForgeRockPage("Hologram", [.name(exchange.settings.namePrompt), .password("Password"), Self.hologram])
            )
        case .captcha: return .page(captchaPage(exchange))
        case .selectProvider: return .page(selectionPage(exchange))
        case .identityProvider: return .page(providerPage(exchange))
        case .language: return .page(Self.languagePage(exchange))
        case .certificate: return try certificate(&run, exchange)
        case .protect(let evaluates): return .page(Self.protectPage(evaluates: evaluates))
        case .integrity: return .page(integrityPage())
        case .registerPush:
            guard run.polls < exchange.settings.pollCount else { return .outcome("done") }
            _ = send(&run, exchange)
            return .page(pushPage(run, exchange))
        // What comes with the request, and what nothing is shown for.
        case .httpCredential: return .outcome(authorize(&run, exchange) ? "true" : "false")
        case .suspend: return .outcome("done")
        }
    }

    func account(of run: ForgeRockRun) -> ForgeRockAccount? {
        run.account.flatMap { accounts[$0] }
    }

    /// Name and password; both may come with the first request already, in headers.
    private mutating func credentialsPage(
        _ run: inout ForgeRockRun,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> Presentation {
        if let login = exchange.login(of: run) {
            run.attempts = exchange.settings.loginAttempts
            if let outcome = try check(name: login.name, login.password, &run, loops: false, exchange) {
                return .outcome(outcome)
            }
        }
        let name = ForgeRockCallback.name(exchange.settings.namePrompt)
        return .page(ForgeRockPage("Login", header: "Sign in", [name, .password("Password")]))
    }

    /// Sends a code where none is under way, and asks for it.
    private mutating func codePage(
        _ run: inout ForgeRockRun,
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) -> ForgeRockPage {
        let address = account(of: run)?.user.emails.first
        if run.code == nil {
            let code = exchange.settings.fixedCode ?? context.codes.sixDigits()
            run.code = (code, exchange.now + exchange.settings.codeLifetime)
            if let address {
                context.send(
                    SandboxMessage(
                        to: address,
                        channel: "email",
                        strategy: "one_time_password",
                        code: code,
                        sentAt: exchange.now,
                        signIn: run.id
                    )
                )
            }
        }
        // Somebody who is not there is told the same.
        let shown = address.map { "\($0.prefix(1))***@\($0.split(separator: "@").last ?? "")" } ?? "your address"
        return ForgeRockPage(
            "OneTimePassword",
            [
                .text("A one time password was sent by email to \(shown)"), .password("One Time Password"),
                .confirmation(["Submit", "Resend"]),
            ]
        )
    }

    private func passwordPage(_ run: ForgeRockRun, _ policy: SandboxSettings.PasswordPolicy) -> ForgeRockPage {
        var rules: [JSONValue] = [
            [
                "policyRequirements": ["MIN_LENGTH"], "policyId": "minimum-length",
                "params": ["minLength": .int(policy.minimumLength)],
            ],
            ["policyRequirements": ["DICTIONARY"], "policyId": "not-published", "params": .null],
            ["policyRequirements": ["IS_NEW"], "policyId": "is-new", "params": .null],
        ]
        if policy.requiresNumber {
            rules.append(["policyRequirements": ["AT_LEAST_X_NUMBERS"], "params": ["numNums": 1]])
        }
        if policy.requiresUppercase {
            rules.append(["policyRequirements": ["AT_LEAST_X_CAPITAL_LETTERS"], "params": ["numCaps": 1]])
        }
        if policy.requiresSpecial {
            rules.append(["policyRequirements": ["AT_LEAST_X_SPECIAL_CHARS"], "params": .null])
        }
        let callback = ForgeRockCallback(
            "ValidatedCreatePasswordCallback",
            [
                "echoOn": false, "policies": ["name": "password", "policies": .array(rules)],
                // Each broken rule is a JSON text of its own.
                "failedPolicies": .array(run.failedPolicies.map { .string($0.text) }), "validateOnly": false,
                "prompt": "New Password",
            ],
            inputs: ["": "", "validateOnly": false]
        )
        return ForgeRockPage("ChangePassword", header: "Choose a new password", [callback])
    }

    private func profilePage(_ run: ForgeRockRun, _ exchange: ForgeRockExchange) -> ForgeRockPage {
        func attribute(_ type: String, _ name: String, _ prompt: String, _ value: JSONValue) -> ForgeRockCallback {
            let failed = run.failedPolicies.filter { $0["property"]?.string == name }
            return ForgeRockCallback(
                type,
                [
                    "name": .string(name), "prompt": .string(prompt), "required": true, "policies": [:],
                    "failedPolicies": .array(failed.map { .string($0.text) }), "validateOnly": false, "value": value,
                ],
                inputs: ["": value, "validateOnly": false]
            )
        }
        return ForgeRockPage(
            "Profile",
            header: "Tell about yourself",
            [
                attribute("StringAttributeInputCallback", "city", "City", ""),
                attribute("NumberAttributeInputCallback", "age", "Age", .null),
                attribute("BooleanAttributeInputCallback", "newsletter", "Send me news", false),
                securityQuestion(exchange),
                ForgeRockCallback(
                    "TermsAndConditionsCallback",
                    ["version": "1.0", "terms": "Be nice to one another.", "createDate": "2026-01-01T00:00:00Z"],
                    input: false
                ),
            ]
        )
    }

    static let securityQuestions = ["What is your favorite color?", "Who was your first employer?"]

    /// A question to set; older servers say nothing about questions of one's own.
    private func securityQuestion(_ exchange: ForgeRockExchange) -> ForgeRockCallback {
        var callback = ForgeRockCallback(
            "KbaCreateCallback",
            [
                "prompt": "Select a security question",
                "predefinedQuestions": .array(Self.securityQuestions.map(JSONValue.string)),
            ],
            inputs: ["question": "", "answer": ""]
        )
        if exchange.settings.allowsOwnQuestions {
            callback.outputs.append(.init("allowUserDefinedQuestions", true))
        }
        return callback
    }

    /// A callback of a type, and with members, that no client knows.
    static var hologram: ForgeRockCallback {
        var strange = ForgeRockCallback("HologramCallback", ["angle": 42, "colors": ["red", "green"]], input: "")
        strange.others = [.init("hologram", ["depth": 3, "layers": [1, .number(JSONValue.Number(2.5)), .null]])]
        return strange
    }

    /// A page with such a callback behind the name and the password, and with such a member.
    static var unknownPage: ForgeRockPage {
        var page = ForgeRockPage(
            "Hologram",
            header: "Look here",
            [.name("User Name"), .password("Password"), hologram, .text("Look at the hologram")]
        )
        page.others = [.init("futureMember", ["version": 7, "flags": [true, false]])]
        return page
    }
}
