import HTTPRecovery
import HTTPRecoveryTesting

// Nodes that send people to an identity provider, the provider, and the way back; and those that look at the device.
extension ForgeRockWorld {
    /// Sends the browser to the provider; the cookie finds the journey when it comes back.
    mutating func visitPage(_ run: inout ForgeRockRun, isSAML: Bool, _ exchange: ForgeRockExchange) -> ForgeRockPage {
        run.state = random.letters(20)
        let target = exchange.settings.redirectURI
        let fields =
            isSAML
            ? [("SAMLRequest", random.letters(40)), ("RelayState", run.state), ("acs", target)]
            : [
                ("client_id", "sandbox"), ("response_type", "code"), ("scope", "openid"), ("redirect_uri", target),
                ("state", run.state),
            ]
        let url = "\(exchange.deployment)/idp/\(isSAML ? "saml" : "authorize")"
        let isPosted = exchange.settings.redirectMethod == "POST"
        var redirect = ForgeRockCallback(
            "RedirectCallback",
            [
                "redirectUrl": .string(isPosted ? url : "\(url)?\(Self.query(fields))"),
                "redirectMethod": .string(exchange.settings.redirectMethod), "trackingCookie": true,
            ]
        )
        if isPosted {
            let data = fields.map { JSONValue.Member($0.0, .string($0.1)) }
            redirect.outputs.append(JSONValue.Member("redirectData", .object(data)))
        }
        return ForgeRockPage("Visit", [redirect])
    }

    private static func query(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0)=\(FormEncoding.encode($0.1))" }.joined(separator: "&")
    }

    /// The identity provider: it knows whoever comes, and sends them back.
    mutating func visit(_ exchange: ForgeRockExchange, isSAML: Bool) throws(ForgeRockFailure) -> SandboxResponse {
        let request = exchange.request
        let isPosted = request.method == "POST"
        let asked = isPosted ? FormEncoding.fields(request.body) : request.query
        func item(_ name: String) -> String? { asked.first { $0.name == name }?.value }
        guard isPosted || request.method == "GET", let target = item(isSAML ? "acs" : "redirect_uri"),
            target.contains("://"), !isSAML || item("SAMLRequest") != nil
        else { throw ForgeRockFailure(400, "The request for a sign-in, or its redirect URI, is missing") }
        let name = item("login_hint") ?? exchange.settings.providerUser
        let answer = Self.answers[item("response_type") ?? "code"] ?? ("code", "authorization_code")
        var fields: [(String, String)] = []
        if let account = account(named: name) {
            let key = random.letters(24)
            visits[key] = ForgeRockVisit(account: account.name.lowercased(), kind: answer.kind)
            fields.append((isSAML ? "responsekey" : answer.name, key))
            if exchange.settings.providerWantsUser, !isSAML {
                let user: JSONValue = ["name": ["firstName": .string(account.name)], "email": .string(account.name)]
                fields.append(("user", user.description))
            }
        } else {
            fields.append(("error", "access_denied"))
        }
        let state = isSAML ? "RelayState" : "state"
        if let value = item(state) { fields.append((state, value)) }
        // Tokens come behind the fragment's mark (OAuth 2.0 Multiple Response Types, section 5), codes in the query.
        let mark = answer.name != "code" ? "#" : target.contains("?") ? "&" : "?"
        let location = "\(target)\(mark)\(Self.query(fields))"
        // Browsers come back with a GET, however they have come.
        return SandboxResponse(status: isPosted ? 303 : 302, headers: [.init(name: "Location", value: location)])
    }

    /// The outcome of a visit: what the browser has brought along stands in the query of the step.
    mutating func comeBack(
        _ run: inout ForgeRockRun,
        isSAML: Bool,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> String? {
        let request = exchange.request
        guard exchange.cookie(Self.trackingCookie) == run.id else { throw .badSignature }
        if request.queryItem("error") != nil { return "error" }
        guard let key = request.queryItem(isSAML ? "responsekey" : "code") else { return nil }
        guard isSAML || request.queryItem("state") == run.state, let visit = visits.removeValue(forKey: key) else {
            return "error"
        }
        run.account = visit.account
        return "done"
    }

    /// What the provider answers with, by what it was asked for, and how the server calls that.
    private static let answers: [String: (name: String, kind: String)] = [
        "code": ("code", "authorization_code"), "id_token": ("id_token", "id_token"),
        "token": ("access_token", "access_token"),
    ]

    static let trackingCookie = "reentry"

    // MARK: Devices

    static var deviceProfilePage: ForgeRockPage {
        ForgeRockPage(
            "DeviceProfile",
            [
                ForgeRockCallback(
                    "DeviceProfileCallback",
                    ["metadata": true, "location": true, "message": "Collecting profile ..."],
                    input: ""
                )
            ]
        )
    }

    /// Nothing is asked for again; what is too large, or names no device, ends the journey.
    func checkDeviceProfile(_ text: String) throws(ForgeRockFailure) -> String? {
        if text.isEmpty { return nil }
        guard text.utf8.count <= 3072, let profile = try? JSONValue(parsing: text),
            profile["identifier"]?.string?.isEmpty == false
        else { throw .loginFailure }
        return "done"
    }
}
