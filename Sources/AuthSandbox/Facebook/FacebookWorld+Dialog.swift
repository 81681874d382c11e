import HTTPRecovery

// The login dialog, and what its codes are exchanged for.
extension FacebookWorld {
    /// The login dialog: a page with a form, whose answer leads back to the app.
    ///
    /// A `user` in the query agrees at once, and `decision=deny` refuses, for tests without a browser.
    mutating func dialog(_ exchange: FacebookExchange) -> SandboxResponse {
        // Whoever is not known to be the app's is sent nobody.
        guard exchange.value("client_id") == exchange.settings.appID else { return Self.problem("Invalid App ID") }
        guard let redirectURI = exchange.value("redirect_uri"),
            exchange.settings.redirectURIs.isEmpty || exchange.settings.redirectURIs.contains(redirectURI)
        else {
            return Self.problem("URL blocked: this redirect URI is not among the app's valid OAuth redirect URIs.")
        }
        let isPosted = exchange.method == "POST"
        if exchange.value("decision") == "deny" { return redirect(to: redirectURI, Self.denial, exchange) }
        guard let person = exchange.value("user").flatMap({ person(named: $0) }) else {
            return Self.page(exchange, isPosted ? "Nobody is known by this name." : nil)
        }
        if isPosted, person.user.password == nil || exchange.value("password") != person.user.password {
            return Self.page(exchange, "Name or password is wrong.")
        }
        if exchange.settings.loginFault == "unknown_error" { return redirect(to: redirectURI, Self.fault, exchange) }
        let asked = askedScopes(exchange, of: person)
        let agreed = isPosted ? exchange.values("grant") : asked.filter { !person.user.facebook.declines.contains($0) }
        for scope in asked where scope != "public_profile" && scope != "openid" {
            people[person.id]?.set(scope, agreed.contains(scope) ? "granted" : "declined")
        }
        let granted = Self.scopes(exchange).filter { scope in
            ["public_profile", "openid"].contains(scope) || people[person.id]?.has(scope) == true
        }
        var answer = [("code", makeCode(person.id, redirectURI, granted, exchange))]
        if exchange.value("return_scopes") == "true", exchange.settings.loginFault != "no_scopes" {
            let denied = Self.scopes(exchange).filter { !granted.contains($0) }
            answer += [("granted_scopes", granted.joined(separator: ","))]
            answer += [("denied_scopes", denied.joined(separator: ","))]
        }
        return redirect(to: redirectURI, answer, exchange)
    }

    /// What a person is asked for: what they have declined before is skipped, unless the app asks again.
    private func askedScopes(_ exchange: FacebookExchange, of person: FacebookPerson) -> [String] {
        let isAgain = exchange.value("auth_type")?.split(separator: ",").contains("rerequest") == true
        return Self.scopes(exchange).filter { scope in
            isAgain || !person.permissions.contains { $0.name == scope && $0.status == "declined" }
        }
    }

    private static let denial = [
        ("error", "access_denied"), ("error_code", "200"), ("error_description", "Permissions error"),
        ("error_reason", "user_denied"),
    ]

    private static let fault = [
        ("error", "server_error"), ("error_code", "99999"), ("error_message", "The sandbox was told to fail."),
    ]

    /// The way back to the app; the fragment is what Facebook puts there.
    private func redirect(
        to uri: String,
        _ parameters: [(String, String)],
        _ exchange: FacebookExchange
    ) -> SandboxResponse {
        let state = exchange.value("state").map { exchange.settings.loginFault == "other_state" ? "\($0)x" : $0 }
        let all = parameters + (state.map { [("state", $0)] } ?? [])
        let query = all.map { "\($0.0)=\(FormEncoding.encode($0.1))" }.joined(separator: "&")
        var response = SandboxResponse(status: 302)
        response.setHeader("Location", uri + (uri.contains("?") ? "&" : "?") + query + "#_=_")
        return response
    }

    private mutating func makeCode(
        _ person: String,
        _ redirectURI: String,
        _ scopes: [String],
        _ exchange: FacebookExchange
    ) -> String {
        let code = addCode(person, redirectURI, scopes, exchange.settings, now: exchange.now)
        codes[code]?.challenge = exchange.value("code_challenge")
        let nonce = exchange.value("nonce").map { String($0.prefix(500)) }
        codes[code]?.nonce = exchange.settings.loginFault == "other_nonce" ? nonce.map { $0 + "x" } : nonce
        return code
    }

    /// A code, as the login dialog would issue one.
    mutating func makeCode(
        _ person: String,
        _ redirectURI: String,
        _ scopes: [String],
        _ settings: SandboxFacebookSettings,
        now: Int64
    ) -> String {
        addCode(person, redirectURI, grant(scopes, to: person), settings, now: now)
    }

    private mutating func addCode(
        _ person: String,
        _ redirectURI: String,
        _ scopes: [String],
        _ settings: SandboxFacebookSettings,
        now: Int64
    ) -> String {
        let code = "AQ" + random.letters(40)
        let end = now + settings.codeLife
        codes[code] = FacebookCode(person: person, redirectURI: redirectURI, scopes: scopes, expiresAt: end)
        return code
    }

    // MARK: The exchange

    mutating func redeem(_ exchange: FacebookExchange) throws(FacebookFailure) -> JSONValue {
        let text = try exchange.required("code")
        let redirectURI = try exchange.required("redirect_uri")
        guard let code = codes.removeValue(forKey: text), let person = people[code.person] else {
            throw .parameter("This authorization code has been used.")
        }
        guard code.expiresAt > exchange.now else { throw .parameter("This authorization code has expired.") }
        guard code.redirectURI == redirectURI else {
            throw .parameter(
                "Error validating verification code. Please make sure your redirect_uri is identical to the one you used."
            )
        }
        let proof = exchange.value("code_verifier").map { Base64.encodeForURL(SHA256.hash(Array($0.utf8))) }
        guard proof == code.challenge else { throw .parameter("Invalid code_verifier parameter.") }
        counters.codes += 1
        let settings = exchange.settings
        let token = issue(
            person.id,
            behaviour: person.user.facebook.behaviour,
            scopes: code.scopes,
            expiresAt: exchange.now + settings.tokenLife,
            now: exchange.now
        )
        let answer: JSONValue = [
            "access_token": .string(token), "token_type": "bearer", "expires_in": .int(settings.tokenLife / 1000),
            "data_access_expiration_time": .int(exchange.now / 1000 + 7_776_000),
        ]
        guard code.scopes.contains("openid") else { return answer }
        return answer.adding("id_token", .string(idToken(person, nonce: code.nonce, settings, now: exchange.now)))
    }

    /// Who has signed in, as Facebook attests it for one hour.
    private func idToken(
        _ person: FacebookPerson,
        nonce: String?,
        _ settings: SandboxFacebookSettings,
        now: Int64
    ) -> String {
        let fault = settings.loginFault
        let claims: JSONValue = .present([
            "iss": fault == "other_issuer" ? "https://facebook.example" : "https://www.facebook.com",
            "aud": .string(fault == "other_audience" ? "1\(settings.appID)" : settings.appID),
            "sub": .string(person.id), "nonce": nonce.map(JSONValue.string), "iat": .int(now / 1000),
            "exp": .int(now / 1000 + (fault == "ended_token" ? -3600 : 3600)),
        ])
        if fault == "secret_key" {
            return OAuthJWT.make(type: "JWT", claims: claims, key: Array(settings.appSecret.utf8))
        }
        return RSASigning.token(type: "JWT", claims: claims)
    }

    // MARK: Pages

    /// A page, where Facebook would send nobody on.
    private static func problem(_ text: String) -> SandboxResponse {
        .text(
            "<!DOCTYPE html>\n<html><head><title>Facebook | Error</title></head><body><p>\(text)</p></body></html>\n",
            status: 400,
            type: "text/html; charset=utf-8"
        )
    }

    /// The form: its answer goes to the address of the page itself, which holds what the app has asked for.
    private static func page(_ exchange: FacebookExchange, _ message: String?) -> SandboxResponse {
        let scopes = Self.scopes(exchange).filter { $0 != "public_profile" && $0 != "openid" }
        let boxes = scopes.map { scope in
            let name = HTML.escaped(scope)
            return "<p><label><input type=\"checkbox\" name=\"grant\" id=\"grant-\(name)\" value=\"\(name)\" checked> "
                + "\(name)</label></p>"
        }
        let html = """
            <!DOCTYPE html>
            <html><head><title>Log in with Facebook</title></head>
            <body><h1>Log in with Facebook</h1><p id="message">\(message ?? "Sandbox wants to know who you are.")</p>
            <form method="post">
            <p><label>E-mail <input name="user" id="user"></label></p>
            <p><label>Password <input name="password" id="password" type="password"></label></p>
            \(boxes.joined(separator: "\n"))
            <p><button name="decision" id="continue" value="approve">Continue</button>
            <button name="decision" id="cancel" value="deny">Cancel</button></p>
            </form></body></html>

            """
        return .text(html, status: message == nil ? 200 : 400, type: "text/html; charset=utf-8")
    }
}
