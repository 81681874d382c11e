import HTTPRecovery

// The end of a browser's session: by Auth0's own endpoint, and by that of OpenID Connect (RP-Initiated Logout 1.0).
extension Auth0World {
    /// The session of a browser.
    struct Browser: Sendable {
        let person: String
        /// What ID tokens call it.
        let session: String
    }

    /// The session of the browser that has sent the request; nil for none.
    func browser(of exchange: Auth0Exchange) -> Browser? { exchange.browser.flatMap { browsers[$0] } }

    /// Ends the session of a browser, and sends it on.
    mutating func logOut(_ exchange: Auth0Exchange) -> SandboxResponse {
        if let browser = exchange.browser { browsers[browser] = nil }
        let client = exchange.request.queryItem("client_id")
        // The tenant has a list of its own for who names no app, and nothing stands on it.
        let urls = client == nil ? [] : exchange.settings.logoutURLs
        guard client == nil || client == exchange.settings.clientID else {
            return Self.page("Unknown client.", "", status: 400)
        }
        guard let target = exchange.request.queryItem("returnTo") ?? urls.first else {
            return ended(Self.page("OK", ""))
        }
        guard Auth0Exchange.isOne(of: urls, target) else {
            return Self.page("The \"returnTo\" URL is none of the app's.", "", status: 400)
        }
        return ended(.redirect(to: target))
    }

    /// Ends the session of a browser that is named, or whose owner says so, and sends it on.
    mutating func endSession(_ exchange: Auth0Exchange) -> SandboxResponse {
        let names = ["id_token_hint", "logout_hint", "client_id", "post_logout_redirect_uri", "state"]
        let isForm = exchange.request.method == "POST"
        let fields = names.reduce(into: [String: String]()) { fields, name in
            fields[name] = isForm ? exchange[name] : exchange.request.queryItem(name)
        }
        let claims = fields["id_token_hint"].map { Auth0Tokens.claims(ofIdentity: $0, exchange) ?? .null }
        let client = claims?["aud"]?.string ?? fields["client_id"]
        // Whatever is said twice has to be the same.
        guard claims != .null, client == nil || client == exchange.settings.clientID,
            fields["client_id"] == nil || fields["client_id"] == client,
            fields["logout_hint"] == nil || claims == nil || fields["logout_hint"] == claims?["sid"]?.string
        else { return Self.page("The request is not valid.", "", status: 400) }
        let urls = client == nil ? [] : exchange.settings.logoutURLs
        let wanted = fields["post_logout_redirect_uri"]
        guard wanted.map({ Auth0Exchange.isOne(of: urls, $0) }) ?? true else {
            return Self.page("The \"post_logout_redirect_uri\" is none of the app's.", "", status: 400)
        }
        let named = claims?["sid"]?.string ?? fields["logout_hint"]
        let isTheirs = named != nil && named == browser(of: exchange)?.session
        guard isTheirs || isForm && exchange["decision"] == "confirm" else { return logoutPage(fields) }
        if let browser = exchange.browser { browsers[browser] = nil }
        guard let target = wanted ?? urls.first else { return ended(Self.page("Signed out", "")) }
        return ended(redirect(target, [:], fields["state"]))
    }

    /// Forgets the session in the browser, too.
    private func ended(_ response: SandboxResponse) -> SandboxResponse {
        var response = response
        response.setHeader("Set-Cookie", "\(Auth0Exchange.cookie)=; Path=\(Self.base); Max-Age=0")
        return response
    }

    private func logoutPage(_ fields: [String: String]) -> SandboxResponse {
        let hidden = fields.sorted { $0.key < $1.key }.map { name, value in
            #"<input type="hidden" name="\#(name)" value="\#(HTML.escaped(value))">"#
        }
        return Self.page(
            "Do you want to log out?",
            """
            <form method="post" action="\(Self.base)/oidc/logout">\(hidden.joined())\
            <p><button name="decision" value="confirm">Log out</button></p></form>
            """
        )
    }
}

extension Auth0Exchange {
    /// What a browser shows that somebody is signed in with.
    static let cookie = "auth0"

    /// The session of the browser that has sent the request; nil for none.
    var browser: String? {
        let pairs = (request.header("cookie") ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        return pairs.first { $0.hasPrefix("\(Self.cookie)=") }.map { String($0.dropFirst(Self.cookie.count + 1)) }
    }
}
