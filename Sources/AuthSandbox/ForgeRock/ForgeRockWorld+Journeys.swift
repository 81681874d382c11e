import HTTPRecovery
import HTTPRecoveryTesting

// The authenticate endpoint: beginning, going on with, and resuming journeys.
extension ForgeRockWorld {
    mutating func authenticate(
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> SandboxResponse {
        let request = exchange.request
        guard request.method == "POST" else { throw ForgeRockFailure(405, "Method Not Allowed") }
        var body: JSONValue = [:]
        if !request.body.isEmpty {
            let type = request.header("content-type")?.lowercased() ?? ""
            guard type.hasPrefix("application/json") else { throw ForgeRockFailure(415, "Unsupported Media Type") }
            guard let parsed = try? JSONValue(parsing: request.body), case .object = parsed else {
                throw ForgeRockFailure(400, "The body is not a JSON object")
            }
            body = parsed
        }
        var response: SandboxResponse
        if body["authId"] != nil {
            response = try goOn(body, exchange, context: &context)
        } else if let id = request.queryItem("suspendedId") {
            response = try resume(id, exchange, context: &context)
        } else {
            response = try begin(exchange, context: &context)
        }
        response.headers.append(.init(name: "Set-Cookie", value: "amlbcookie=01; Path=/"))
        response.setHeader("Cache-Control", "no-store")
        response.setHeader("Content-API-Version", "resource=\(exchange.version ?? "2.1")")
        return response
    }

    // MARK: Beginning

    private mutating func begin(
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> SandboxResponse {
        let request = exchange.request
        let type = request.queryItem("authIndexType") ?? ""
        let value = request.queryItem("authIndexValue") ?? ""
        let token = request.queryItem("sessionUpgradeSSOTokenId") ?? exchange.sessionToken
        let held = use(token, exchange)
        var run: ForgeRockRun
        switch type {
        case "", "service":
            let name = type.isEmpty ? exchange.settings.defaultJourney : value
            run = try makeRun(tree: name, type, value, exchange)
            let isUpgrade = request.queryItem("sessionUpgradeSSOTokenId") != nil
            if isUpgrade, let held, held.realm == exchange.realm {
                run.upgraded = token
                run.account = held.account
            } else if let held, let token, held.realm == exchange.realm, held.journeys.contains(name) || type.isEmpty,
                request.queryItem("ForceAuth") != "true"
            {
                return success(token: token, realm: held.realm)
            }
        case "composite_advice":
            run = try makeRun(advice: value, held, token, exchange)
        default:
            throw .noJourney
        }
        run.makesSession = request.queryItem("noSession") != "true"
        counters.journeys += 1
        return try show(run, exchange, context: &context)
    }

    private mutating func makeRun(
        tree name: String,
        _ type: String,
        _ value: String,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> ForgeRockRun {
        guard let tree = ForgeRockTree.all[name] else { throw .noJourney }
        return ForgeRockRun(
            id: random.letters(24),
            tree: name,
            realm: exchange.realm,
            indexType: type,
            indexValue: value,
            node: tree.start
        )
    }

    /// The journey that an advice leads to, for the session that comes along.
    private mutating func makeRun(
        advice text: String,
        _ held: ForgeRockSession?,
        _ token: String?,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> ForgeRockRun {
        guard let advice = ForgeRockAdvice(parsing: text) else {
            throw ForgeRockFailure(400, "The advice cannot be read")
        }
        guard let held, let token else { throw .accessDenied }
        var name = exchange.settings.stepUpJourney
        switch advice {
        case .transaction(let id):
            guard let transaction = transactions[id], transaction.account == held.account,
                transaction.expiresAt > exchange.now, !transaction.isConfirmed
            else { throw ForgeRockFailure(400, "Unable to read transaction") }
        case .journey(let wanted):
            // The name stands behind its realm: `/alpha:StepUp`.
            name = wanted.split(separator: ":").last.map(String.init) ?? wanted
        }
        var run = try makeRun(tree: name, "composite_advice", text, exchange)
        run.account = held.account
        run.upgraded = token
        if case .transaction(let id) = advice { run.transaction = id }
        return run
    }

    // MARK: Going on

    private mutating func goOn(
        _ body: JSONValue,
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> SandboxResponse {
        var run: ForgeRockRun
        do {
            run = try proven(body["authId"]?.string ?? "", exchange)
        } catch {
            counters.refusedProofs += 1
            throw error
        }
        // One answer, whatever comes of it.
        runs[run.id] = nil
        counters.steps += 1
        if case .httpCredential? = ForgeRockTree.all[run.tree]?.places[run.node]?.node {
            return try goOn(&run, without: body, exchange, context: &context)
        }
        let answers = try ForgeRockAnswers(body, to: run.callbacks)
        return try advance(&run, try evaluate(&run, answers, exchange, context: &context), exchange, context: &context)
    }

    /// Goes on where a credential of HTTP was wanted: it comes along now, or something else takes over.
    private mutating func goOn(
        _ run: inout ForgeRockRun,
        without body: JSONValue,
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> SandboxResponse {
        let hasFailed = body["reason"]?.string == Self.credentialFailure
        guard hasFailed || authorize(&run, exchange) else { throw .badCallbacks }
        return try advance(&run, hasFailed ? "false" : "true", exchange, context: &context)
    }

    /// The journey whose next step the proof belongs to.
    private mutating func proven(_ text: String, _ exchange: ForgeRockExchange) throws(ForgeRockFailure) -> ForgeRockRun
    {
        guard let jwt = OAuthJWT(text) else { throw .unreadableProof }
        guard jwt.signature == HMAC.sha256(Array(jwt.content.utf8), key: signingKey),
            jwt.header["alg"]?.string == "HS256", let id = jwt.claims["sessionId"]?.string
        else { throw .badSignature }
        if let end = jwt.claims["exp_ms"]?.int, end <= exchange.now {
            runs[id] = nil
            throw .expiredJourney(exchange.settings.expiredForm)
        }
        guard let run = runs[id], run.key == jwt.claims["otk"]?.string, run.realm == exchange.realm,
            !exchange.settings.isSticky || exchange.cookie("amlbcookie") == "01"
        else { throw .badSignature }
        return run
    }

    private mutating func resume(
        _ id: String,
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> SandboxResponse {
        guard let jwt = OAuthJWT(id), jwt.signature == HMAC.sha256(Array(jwt.content.utf8), key: signingKey),
            let key = jwt.claims["suspended"]?.string, let held = suspended.removeValue(forKey: key),
            held.expiresAt > exchange.now
        else { throw .deadLink }
        var run = held.run
        return try advance(&run, "done", exchange, context: &context)
    }

    /// Follows the outcome of a node; nil shows the same node again.
    private mutating func advance(
        _ run: inout ForgeRockRun,
        _ outcome: String?,
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> SandboxResponse {
        if let outcome {
            run.node = ForgeRockTree.all[run.tree]?.places[run.node]?.next[outcome] ?? ForgeRockTree.failure
            run.attempts = 0
        }
        return try show(run, exchange, context: &context)
    }

    /// Shows the page of the node under way; nodes that have none are passed through.
    private mutating func show(
        _ run: ForgeRockRun,
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) throws(ForgeRockFailure) -> SandboxResponse {
        var run = run
        while true {
            switch run.node {
            case ForgeRockTree.success: return try finish(run, exchange)
            case ForgeRockTree.failure: throw .loginFailure
            default: break
            }
            guard let place = ForgeRockTree.all[run.tree]?.places[run.node] else { throw .loginFailure }
            if case .suspend = place.node { return suspend(run, exchange, context: &context) }
            if case .httpCredential = place.node, !authorize(&run, exchange) { return demandCredential(&run, exchange) }
            switch try present(&run, place.node, exchange, context: &context) {
            case .page(let page): return step(&run, page, exchange)
            case .outcome(let outcome):
                run.node = place.next[outcome] ?? ForgeRockTree.failure
                run.attempts = 0
            }
        }
    }

    private mutating func step(
        _ run: inout ForgeRockRun,
        _ page: ForgeRockPage,
        _ exchange: ForgeRockExchange
    ) -> SandboxResponse {
        var page = page
        if let notice = run.notice { page.callbacks.append(.text(notice, kind: "1")) }
        run.notice = nil
        let proof = proof(&run, for: page.callbacks, exchange)
        var body: JSONValue = ["authId": .string(proof), "template": ""]
        if let stage = page.stage { body = body.adding("stage", .string(stage)) }
        body = body.adding("header", .string(page.header)).adding("description", .string(page.description))
        body = body.adding("callbacks", .array(page.callbacks.enumerated().map { $1.json($0) }))
        for member in page.others { body = body.adding(member.key, member.value) }
        var response = SandboxResponse.json(body)
        if page.callbacks.contains(where: { $0.type == "RedirectCallback" }) {
            response.headers.append(
                .init(name: "Set-Cookie", value: "\(Self.trackingCookie)=\(run.id); Path=/; HttpOnly")
            )
        }
        return response
    }

    /// The proof that the next answer has to come with.
    mutating func proof(
        _ run: inout ForgeRockRun,
        for callbacks: [ForgeRockCallback],
        _ exchange: ForgeRockExchange
    ) -> String {
        run.key = random.letters(26)
        run.callbacks = callbacks
        run.shownAt = exchange.now
        runs[run.id] = run
        let end = exchange.now + exchange.settings.stepLifetime
        return OAuthJWT.make(
            type: "JWT",
            claims: [
                "otk": .string(run.key), "realm": .string(run.realm), "sessionId": .string(run.id),
                "authIndexType": .string(run.indexType), "authIndexValue": .string(run.indexValue),
                "iat": .int(exchange.now / 1000), "exp": .int(end / 1000), "exp_ms": .int(end),
            ],
            key: signingKey
        )
    }

    // MARK: The end

    private mutating func finish(
        _ run: ForgeRockRun,
        _ exchange: ForgeRockExchange
    ) throws(ForgeRockFailure) -> SandboxResponse {
        guard let id = run.account, var account = accounts[id] else { throw .loginFailure }
        if account.lock.isClosed(now: exchange.now) { throw lockedFailure(account, exchange) }
        switch account.state {
        case "inactive": throw .inactive
        case "expired": throw .expiredAccount
        default: break
        }
        account.failures = 0
        accounts[id] = account
        // Somebody else who has answered gets a session of their own, and leaves the first person's as it is.
        let upgraded = run.upgraded.flatMap { sessions[$0]?.account == id ? $0 : nil }
        if let transaction = run.transaction, let token = upgraded {
            transactions[transaction]?.isConfirmed = true
            counters.transactions += 1
            return success(token: token, realm: run.realm)
        }
        guard run.makesSession else {
            return .json([
                "message": "Authentication Successful", "successUrl": "/am/console", "realm": .string(run.realm),
            ])
        }
        let quota = exchange.settings.sessionQuota
        let live = sessions.values.count { $0.account == id && isLive($0, exchange) }
        if quota > 0, upgraded == nil, live >= quota { throw .sessionLimit }
        var journeys: Set<String> = [run.completes]
        if let old = upgraded, let session = sessions[old] {
            journeys.formUnion(session.journeys)
            sessions[old]?.isOver = true
        }
        let token = makeSession(account: id, realm: run.realm, journeys: journeys, now: exchange.now)
        var response = success(token: token, realm: run.realm)
        response.headers.append(
            .init(name: "Set-Cookie", value: "\(exchange.settings.cookieName)=\(token); Path=/; HttpOnly")
        )
        return response
    }

    private func success(token: String, realm: String) -> SandboxResponse {
        .json(["tokenId": .string(token), "successUrl": "/am/console", "realm": .string(realm)])
    }

    private mutating func suspend(
        _ run: ForgeRockRun,
        _ exchange: ForgeRockExchange,
        context: inout SandboxContext
    ) -> SandboxResponse {
        let key = random.letters(24)
        suspended[key] = ForgeRockSuspended(run: run, expiresAt: exchange.now + exchange.settings.suspendedLifetime)
        let id = OAuthJWT.make(
            type: "JWT",
            claims: ["suspended": .string(key), "realm": .string(run.realm), "otk": .string(random.letters(26))],
            key: signingKey
        )
        if let address = run.account.flatMap({ accounts[$0]?.user.emails.first }) {
            let query =
                "realm=\(FormEncoding.encode(run.realm))&authIndexType=service"
                + "&authIndexValue=\(FormEncoding.encode(run.tree))&suspendedId=\(FormEncoding.encode(id))"
            context.send(
                SandboxMessage(
                    to: address,
                    channel: "email",
                    strategy: "suspended_journey",
                    code: "\(exchange.deployment)/?\(query)",
                    sentAt: exchange.now,
                    signIn: run.id
                )
            )
        }
        let message = "An email has been sent to you. Click on the link in that email to proceed."
        let callback = ForgeRockCallback(
            "SuspendedTextOutputCallback",
            ["message": .string(message), "messageType": "0"]
        )
        return .json(["callbacks": [callback.json(0)], "header": "", "description": ""])
    }
}
