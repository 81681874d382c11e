import HTTPRecovery

// Universal login: a page in a browser, and a code for the app that has sent the person there.
extension Auth0World {
    /// A code that the app is called back with.
    struct Authorization: Sendable {
        let person: String
        let grant: Auth0Grant
        let redirectURI: String
        let endsAt: Int64
        var challenge: String?
        var nonce: String?
        /// The session of the browser; nil for a link, which makes none.
        var session: String?
    }

    private static let codeLife: Int64 = 600_000
    /// What the page carries from the request to the answer.
    private static let carried = [
        "client_id", "redirect_uri", "scope", "audience", "state", "nonce", "code_challenge", "code_challenge_method",
        "response_type",
    ]

    mutating func authorize(_ exchange: Auth0Exchange) throws(Auth0Failure) -> SandboxResponse {
        let query = exchange.request.queryItem
        let fields = Self.carried.compactMap { name in query(name).map { (name, $0) } }
        guard let redirectURI = try callback(Dictionary(fields) { one, _ in one }, exchange) else {
            return Self.mismatch
        }
        guard query("response_type") == "code" else {
            return refuse("unsupported_response_type", "Only code is served here.", redirectURI, query("state"))
        }
        // Whoever is signed in there is not asked again.
        if query("prompt") != "login", let browser = browser(of: exchange), let person = people[browser.person] {
            let grant = try exchange.grant(scope: query("scope"), audience: query("audience"))
            let authorization = authorization(of: person, grant, redirectURI, browser.session, exchange, query)
            return callBack(authorization, state: query("state"))
        }
        if query("prompt") == "none" {
            return refuse("login_required", "Login required", redirectURI, query("state"))
        }
        if query("screen_hint") == "signup" { return loginPage(fields, name: "", "Sign up", action: "signup") }
        return loginPage(fields, name: query("login_hint") ?? "", "Log in")
    }

    private static let mismatch = page("Callback URL mismatch.", "", status: 403)

    /// What the page's form has carried along, and where the browser goes back to; nil if it may not go there.
    private func visit(_ exchange: Auth0Exchange) throws(Auth0Failure) -> ([(String, String)], String)? {
        let fields = Self.carried.compactMap { name in exchange[name].map { (name, $0) } }
        return try callback(Dictionary(fields) { one, _ in one }, exchange).map { (fields, $0) }
    }

    /// What the page's form leads to: back to the app.
    mutating func logIn(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> SandboxResponse {
        guard let (fields, redirectURI) = try visit(exchange) else { return Self.mismatch }
        if exchange["decision"] == "deny" {
            return refuse("access_denied", "User did not authorize the request", redirectURI, exchange["state"])
        }
        let name = exchange["username"] ?? ""
        let person: Person
        do throws(Auth0Failure) {
            person = try checkPassword(exchange["password"] ?? "", of: name, exchange, &context)
        } catch {
            return loginPage(fields, name: name, error.text, status: 400)
        }
        guard person.user.state == "active" else {
            return refuse("unauthorized", "user is blocked", redirectURI, exchange["state"])
        }
        if let refusal = person.user.auth0.refusal {
            return refuse("access_denied", refusal, redirectURI, exchange["state"])
        }
        if person.user.auth0Factors.contains("otp") {
            let step = TOTP.step(atMilliseconds: exchange.now)
            let key = person.user.totpSecret.flatMap(Base32.decode) ?? []
            let isRight = (step - 1...step + 1).contains { TOTP.code(secret: key, step: $0) == exchange["otp"] }
            guard isRight else { return loginPage(fields, name: name, "Enter the code of your app", asksCode: true) }
        }
        return try welcome(person, redirectURI, exchange)
    }

    /// What the page's form leads to that makes an account: back to the app, or to the page with what is wrong.
    mutating func signUpOnPage(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> SandboxResponse {
        guard let (fields, redirectURI) = try visit(exchange) else { return Self.mismatch }
        let (name, password) = (exchange["username"] ?? "", exchange["password"] ?? "")
        let isGood =
            exchange.settings.allowsSignUp && name.contains("@") && person(named: name) == nil
            && exchange.settings.weakness(of: password) == nil && !Self.isLeaked(password)
        if isGood { add(SandboxUser(email: name, password: password), context: &context) }
        guard isGood, let person = person(named: name) else {
            return loginPage(fields, name: name, "Something went wrong", status: 400, action: "signup")
        }
        return try welcome(person, redirectURI, exchange)
    }

    /// Begins a session of the browser, and sends it back to the app.
    private mutating func welcome(
        _ person: Person,
        _ redirectURI: String,
        _ exchange: Auth0Exchange
    ) throws(Auth0Failure) -> SandboxResponse {
        let grant = try exchange.grant()
        let (cookie, session) = (random.letters(32), random.letters(32))
        browsers[cookie] = Browser(person: person.id, session: session)
        let authorization = authorization(of: person, grant, redirectURI, session, exchange) { exchange[$0] }
        var response = callBack(authorization, state: exchange["state"])
        response.setHeader("Set-Cookie", "\(Auth0Exchange.cookie)=\(cookie); Path=\(Self.base); HttpOnly")
        return response
    }

    private func authorization(
        of person: Person,
        _ grant: Auth0Grant,
        _ redirectURI: String,
        _ session: String,
        _ exchange: Auth0Exchange,
        _ field: (String) -> String?
    ) -> Authorization {
        Authorization(
            person: person.id,
            grant: grant,
            redirectURI: redirectURI,
            endsAt: exchange.now + Self.codeLife,
            challenge: field("code_challenge"),
            nonce: field("nonce"),
            session: session
        )
    }

    /// Sends the browser back to the app with a code.
    mutating func callBack(_ authorization: Authorization, state: String?) -> SandboxResponse {
        let code = random.letters(43)
        authorizations[code] = authorization
        return redirect(authorization.redirectURI, ["code": code], state)
    }

    /// Takes a code that an app was called back with, once.
    mutating func exchangeCode(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        let code = try exchange.required("code")
        spend("code", code)
        guard let authorization = authorizations.removeValue(forKey: code), authorization.endsAt > exchange.now,
            let person = people[authorization.person]
        else { throw Auth0Failure(403, "invalid_grant", "Invalid authorization code") }
        guard exchange["redirect_uri"] == authorization.redirectURI else {
            throw Auth0Failure(403, "invalid_grant", "The redirect URI is wrong.")
        }
        let proof = exchange["code_verifier"].map { Base64.encodeForURL(SHA256.hash(Array($0.utf8))) }
        guard proof == authorization.challenge else {
            throw Auth0Failure(403, "invalid_grant", "Failed to verify code verifier")
        }
        try admit(person)
        return tokens.issue(
            to: person,
            authorization.grant,
            exchange,
            nonce: authorization.nonce,
            session: authorization.session,
            &random
        )
    }

    /// Where the app wants to be called back; nil where it may not.
    private func callback(
        _ fields: [String: String],
        _ exchange: Auth0Exchange
    ) throws(Auth0Failure) -> String? {
        guard fields["client_id"] == exchange.settings.clientID else {
            throw Auth0Failure(403, "invalid_request", "Unknown client: \(fields["client_id"]?.prefix(100) ?? "")")
        }
        return fields["redirect_uri"].flatMap { exchange.isCallback($0) ? $0 : nil }
    }

    private func refuse(_ error: String, _ text: String, _ redirectURI: String, _ state: String?) -> SandboxResponse {
        redirect(redirectURI, ["error": error, "error_description": text], state)
    }

    func redirect(
        _ uri: String,
        _ parameters: KeyValuePairs<String, String>,
        _ state: String?
    ) -> SandboxResponse {
        let all = parameters.map { ($0.key, $0.value) } + (state.map { [("state", $0)] } ?? [])
        guard !all.isEmpty else { return .redirect(to: uri) }
        let query = all.map { "\($0.0)=\(FormEncoding.encode($0.1))" }.joined(separator: "&")
        return .redirect(to: "\(uri)\(uri.contains("?") ? "&" : "?")\(query)")
    }

    private func loginPage(
        _ fields: [(String, String)],
        name: String,
        _ text: String,
        asksCode: Bool = false,
        status: Int = 200,
        action: String = "login"
    ) -> SandboxResponse {
        let hidden = fields.map { name, value in
            #"<input type="hidden" name="\#(name)" value="\#(HTML.escaped(value))">"#
        }
        let code = asksCode ? #"<p><label>Code <input name="otp"></label></p>"# : ""
        return Self.page(
            text,
            """
            <form method="post" action="\(Self.base)/u/\(action)">\(hidden.joined())\
            <p><label>E-mail <input name="username" value="\(HTML.escaped(name))"></label></p>\
            <p><label>Password <input name="password" type="password"></label></p>\(code)\
            <p><button name="decision" value="continue">Continue</button> \
            <button name="decision" value="deny">Decline</button></p></form>
            """,
            status: status
        )
    }
}

extension Auth0Exchange {
    /// Whether the app may be called back there: at a loopback address at any port.
    func isCallback(_ uri: String) -> Bool { Self.isOne(of: settings.callbacks, uri) }

    /// Whether an address is one of those that are registered: on a loopback interface at any port.
    static func isOne(of addresses: [String], _ uri: String) -> Bool {
        addresses.contains { $0 == uri || withoutLoopbackPort(uri) == $0 }
    }

    private static func withoutLoopbackPort(_ uri: String) -> String? {
        let loopback = "http://127.0.0.1"
        guard uri.hasPrefix(loopback + ":") else { return nil }
        return loopback + uri.dropFirst(loopback.utf8.count + 1).drop { $0.isNumber }
    }
}
