import HTTPRecovery
import HTTPRecoveryTesting

// Applications behind an Identity Gateway: `/ig/txn`, `/ig/journey`, `/ig/app`, `/ig/portal` and `/ig/api`; and one that asks
// the policy by itself: `/ig/rest/txn` and `/ig/rest/journey`.
extension ForgeRockWorld {
    mutating func gateway(
        _ exchange: ForgeRockExchange,
        _ rest: [String],
        context: inout SandboxContext
    ) -> SandboxResponse {
        switch rest.first {
        case "api": return protected(exchange, context: &context)
        case "app", "txn", "journey": break
        case "rest": return service(exchange, rest)
        // An application that looks at its own session alone.
        case "portal":
            return SandboxResponse(
                status: 302,
                headers: [.init(name: "Location", value: "\(exchange.origin)/portal/login")]
            )
        default: return .json(["error": "not_found"], status: 404)
        }
        let token = exchange.sessionToken
        guard let token, let session = use(token, exchange), let account = accounts[session.account] else {
            return signInRedirect(exchange, session: nil, advice: nil)
        }
        switch rest.first {
        case "txn":
            let path = String(exchange.request.path.prefix(500))
            if let id = exchange.request.queryItem("_txid"), spend(id, account, path, exchange) { break }
            let id = makeTransaction(account, path, exchange)
            return demand(.transaction(id), rest, session, exchange)
        case "journey":
            let name = exchange.settings.stepUpJourney
            if session.journeys.contains(name) { break }
            return demand(.journey("\(session.realm):\(name)"), rest, session, exchange)
        default: break
        }
        return content(account, session, exchange)
    }

    /// What stands behind the gateway.
    private func content(
        _ account: ForgeRockAccount,
        _ session: ForgeRockSession,
        _ exchange: ForgeRockExchange
    ) -> SandboxResponse {
        .json([
            "resource": .string(String(exchange.request.path.prefix(500))), "method": .string(exchange.request.method),
            "user": .string(account.name), "realm": .string(session.realm),
        ])
    }

    /// A service without a gateway, which asks the policy by itself and hands on its decision.
    ///
    /// What was followed stands in fields: `X-TxID` or `X-Tree`, and `X-IdToken` for whom it was.
    private mutating func service(_ exchange: ForgeRockExchange, _ rest: [String]) -> SandboxResponse {
        guard let session = use(exchange.sessionToken, exchange), let account = accounts[session.account] else {
            return .json(["error": "unauthorized"], status: 401)
        }
        let request = exchange.request
        let jwt = request.header("x-idtoken").flatMap { OAuthJWT($0) }
        let isTheirs = jwt.map { oauth.hasSigned($0) && $0.claims["sub"]?.string == account.name } ?? false
        let path = String(request.path.prefix(500))
        switch rest.dropFirst().first {
        case "txn":
            if isTheirs, let id = request.header("x-txid"), spend(id, account, path, exchange) { break }
            return decision(.transaction(makeTransaction(account, path, exchange)), exchange)
        case "journey":
            let name = exchange.settings.stepUpJourney
            let advice = ForgeRockAdvice.journey("\(session.realm):\(name)")
            if isTheirs, session.journeys.contains(name), request.header("x-tree") == advice.value { break }
            return decision(advice, exchange)
        default: return .json(["error": "not_found"], status: 404)
        }
        return content(account, session, exchange)
    }

    /// A policy's decision that allows nothing and says what would help.
    private func decision(_ advice: ForgeRockAdvice, _ exchange: ForgeRockExchange) -> SandboxResponse {
        .json([
            "resource": .string(exchange.origin + String(exchange.request.path.prefix(500))), "actions": [:],
            "attributes": [:], "advices": advice.json, "ttl": 0,
        ])
    }

    private mutating func makeTransaction(
        _ account: ForgeRockAccount,
        _ resource: String,
        _ exchange: ForgeRockExchange
    ) -> String {
        func part(_ count: Int, _ random: inout SplitMix64) -> String { random.letters(count).lowercased() }
        let id = [8, 4, 4, 4, 12].map { part($0, &random) }.joined(separator: "-")
        transactions[id] = ForgeRockTransaction(
            account: account.name.lowercased(),
            resource: resource,
            expiresAt: exchange.now + exchange.settings.transactionLifetime
        )
        return id
    }

    /// Uses a transaction: once, by the person who has confirmed it, and for its resource alone.
    private mutating func spend(
        _ id: String,
        _ account: ForgeRockAccount,
        _ resource: String,
        _ exchange: ForgeRockExchange
    ) -> Bool {
        guard let transaction = transactions[id], transaction.isConfirmed, !transaction.isUsed,
            transaction.account == account.name.lowercased(), transaction.resource == resource,
            transaction.expiresAt > exchange.now
        else { return false }
        transactions[id]?.isUsed = true
        counters.transactionsUsed += 1
        return true
    }

    /// Tells an advice by one of its carriers: that of the path, else that of the request, else that of the settings.
    private func demand(
        _ advice: ForgeRockAdvice,
        _ rest: [String],
        _ session: ForgeRockSession,
        _ exchange: ForgeRockExchange
    ) -> SandboxResponse {
        let named = rest.dropFirst().first.flatMap { ["redirect", "header", "body"].contains($0) ? $0 : nil }
        let asked = exchange.request.header("x-authenticate-response")?.lowercased() == "header" ? "header" : nil
        switch named ?? asked ?? exchange.settings.adviceCarrier {
        case "header":
            let text = Self.base64(Array(advice.json.text.utf8))
            var response = SandboxResponse(status: 401)
            response.setHeader(
                "WWW-Authenticate",
                "SSOADVICE realm=\"\(session.realm)\",advices=\"\(text)\",am_uri=\"\(exchange.deployment)/\""
            )
            return response
        case "body":
            return decision(advice, exchange)
        default:
            return signInRedirect(exchange, session: session, advice: advice)
        }
    }

    /// The way to the sign-in, or with an advice to a stronger one.
    private func signInRedirect(
        _ exchange: ForgeRockExchange,
        session: ForgeRockSession?,
        advice: ForgeRockAdvice?
    ) -> SandboxResponse {
        let goto = FormEncoding.encode(exchange.origin + String(exchange.request.path.prefix(500)))
        var location = "\(exchange.deployment)/?goto=\(goto)&realm=\(FormEncoding.encode(session?.realm ?? "/"))"
        if let advice {
            let isXML = exchange.settings.adviceEncoding == "xml"
            let value = isXML ? FormEncoding.encode(advice.xml) : Base64.encodeForURL(Array(advice.xml.utf8))
            location += "&authIndexType=composite_advice&authIndexValue=\(value)"
        }
        return SandboxResponse(status: 307, headers: [.init(name: "Location", value: location)])
    }

    /// A resource that an access token of the OAuth 2 side opens.
    private mutating func protected(
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) -> SandboxResponse {
        answerOAuth(exchange, as: .resource, request: exchange.request, context: &context)
    }
}
