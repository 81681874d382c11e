import HTTPRecovery

// Flows of PingOne, and the same behind DaVinci, which wraps what PingOne says: for the people and the lockouts of PingAM.
extension ForgeRockWorld {
    /// A password, or a new one, for a flow.
    mutating func flow(
        _ exchange: ForgeRockExchange,
        _ id: String,
        isWrapped: Bool,
        context: inout SandboxContext
    ) -> SandboxResponse {
        guard exchange.request.method == "POST" else {
            return Self.state(id, flows[id].map { $0.isDone ? "COMPLETED" : "MUST_CHANGE_PASSWORD" })
        }
        guard let body = try? JSONValue(parsing: exchange.request.body), case .object = body else {
            return Self.refusal("INVALID_REQUEST", nil, isWrapped)
        }
        if let new = body["newPassword"]?.string {
            return replacePassword(id, new, context.settings.passwordPolicy, isWrapped)
        }
        guard let name = body["username"]?.string, let password = body["password"]?.string else {
            return Self.refusal("INVALID_DATA", ["code": "INVALID_VALUE", "target": "username"], isWrapped)
        }
        guard let account = account(named: name, realm: "/") else {
            return Self.refusal("NOT_FOUND", nil, isWrapped, status: 404)
        }
        let key = account.name.lowercased()
        var run = ForgeRockRun(id: id, tree: "Login", realm: "/", indexType: "", indexValue: "", node: "login")
        do throws(ForgeRockFailure) {
            let outcome = try check(name: name, password, &run, loops: false, exchange)
            flows[id] = ForgeRockFlow(account: key, isDone: outcome == "true")
            return Self.state(id, outcome == "true" ? "COMPLETED" : "MUST_CHANGE_PASSWORD")
        } catch {
            let now = accounts[key]
            if now?.lock.isClosed(now: exchange.now) == true {
                var inner: JSONValue = [:]
                if case .until(let end)? = now?.lock {
                    inner = ["secondsUntilUnlock": .int(max(1, (end - exchange.now + 999) / 1000))]
                }
                return Self.refusal("INVALID_DATA", ["code": "PASSWORD_LOCKED_OUT", "innerError": inner], isWrapped)
            }
            let left = max(0, exchange.settings.lockout.threshold - (now?.failures ?? 0))
            let detail: JSONValue = [
                "code": "INVALID_VALUE", "target": "password", "message": "The provided password did not match",
                "innerError": ["failuresRemaining": .int(left)],
            ]
            return Self.refusal("INVALID_DATA", detail, isWrapped)
        }
    }

    private mutating func replacePassword(
        _ id: String,
        _ text: String,
        _ policy: SandboxSettings.PasswordPolicy,
        _ isWrapped: Bool
    ) -> SandboxResponse {
        guard let flow = flows[id], let account = accounts[flow.account] else {
            return Self.refusal("NOT_FOUND", nil, isWrapped, status: 404)
        }
        let broken = Self.brokenRules(text, policy, isNew: text != account.password)
        guard broken.isEmpty else {
            let rules = broken.map { $0["policyRequirement"] ?? .null }
            let detail: JSONValue = [
                "code": "INVALID_VALUE", "target": "newPassword",
                "innerError": ["unsatisfiedRequirements": .array(rules)],
            ]
            return Self.refusal("INVALID_DATA", detail, isWrapped)
        }
        accounts[flow.account]?.password = text
        accounts[flow.account]?.mustChangePassword = false
        flows[id]?.isDone = true
        return Self.state(id, "COMPLETED")
    }

    private static func state(_ id: String, _ state: String?) -> SandboxResponse {
        .json(["id": .string(id), "status": .string(state ?? "USERNAME_PASSWORD_REQUIRED")])
    }

    /// PingOne's envelope, or DaVinci's around it.
    private static func refusal(
        _ code: String,
        _ detail: JSONValue?,
        _ isWrapped: Bool,
        status: Int = 400
    ) -> SandboxResponse {
        let inner: JSONValue = [
            "id": "00000000-0000-4000-8000-00000000f10e", "code": .string(code),
            "message": "The request could not be completed. There was an issue with the data.",
            "details": .array([detail].compactMap(\.self)),
        ]
        guard isWrapped else { return .json(inner, status: status) }
        return .json(
            [
                "id": "00000000-0000-4000-8000-00000000da71", "code": "invalidInput",
                "message": "The request could not be completed.", "connectorId": "pingOneSSOConnector",
                "details": [["statusCode": .int(Int64(status)), "rawResponse": inner]],
            ],
            status: status
        )
    }
}
