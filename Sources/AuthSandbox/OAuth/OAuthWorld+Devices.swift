import HTTPRecovery

// Devices without a browser (RFC 8628).
extension OAuthWorld {
    mutating func authorizeDevice(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        exchange.client = try authenticate(exchange)
        let client = exchange.client
        guard client.mayUse(.deviceCode) else { throw .unauthorized("The client may not use this grant.") }
        let scope = try personScopes(exchange)
        lastDevice += 1
        let code = "dc_" + random.letters(40)
        let device = OAuthDevice(
            number: lastDevice,
            userCode: makeUserCode(),
            client: client.id,
            scope: scope,
            acr: exchange.acr,
            expiresAt: exchange.now + exchange.settings.deviceLifetime,
            interval: exchange.settings.deviceInterval
        )
        devices[code] = device
        let uri = exchange.url(of: .activate)
        exchange.log.append("device code \(device.userCode) for \(client.id): \(uri)")
        return [
            "device_code": .string(code), "user_code": .string(device.userCode),
            "verification_uri": .string(uri),
            "verification_uri_complete": .string("\(uri)?user_code=\(device.userCode)"),
            "expires_in": .int(max(1, exchange.settings.deviceLifetime / 1000)),
            "interval": .seconds(exchange.settings.deviceInterval),
        ]
    }

    /// Eight consonants, so that no word comes out (RFC 8628 section 6.1).
    private mutating func makeUserCode() -> String {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        let code = (0..<8).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }
        return String(code[..<4]) + "-" + String(code[4...])
    }

    mutating func pollDevice(_ exchange: OAuthExchange) throws(OAuthFailure) -> JSONValue {
        let code = try exchange.form.required("device_code")
        guard var device = devices[code], device.client == exchange.client.id, device.decision != .used else {
            throw .invalidGrant("The device code is invalid.")
        }
        if device.expiresAt <= exchange.now { throw OAuthFailure("expired_token", "The device code has expired.") }
        // A hundredth of the interval is let pass: two clocks measure it.
        let isEarly = device.lastPoll.map { (exchange.now - $0) * 100 < device.interval * 99 } ?? false
        device.lastPoll = exchange.now
        device.polls += 1
        defer { devices[code] = device }
        switch device.decision {
        case .pending where isEarly:
            device.interval += 5000
            device.slowDowns += 1
            throw OAuthFailure("slow_down", "Polls come too fast: five seconds more from now on.")
        case .pending, .used: throw OAuthFailure("authorization_pending", "The person has not decided yet.")
        case .denied: throw OAuthFailure("access_denied", "The person said no.")
        case .approved(let subject, let time):
            device.decision = .used
            var grant = OAuthGrant(client: device.client, subject: subject, scope: device.scope)
            grant.authentication = .init(time: time, acr: device.acr)
            return signIn(grant, exchange).answer
        }
    }

    /// The device that a user code stands for, whatever its case and hyphens; without one the newest that waits.
    func pendingDevice(userCode: String?, now: Int64) -> (code: String, device: OAuthDevice)? {
        let wanted = userCode.map(Self.plainUserCode)
        let waiting = devices.filter { _, device in
            device.decision == .pending && device.expiresAt > now
                && (wanted == nil || Self.plainUserCode(device.userCode) == wanted)
        }
        return waiting.max { $0.value.number < $1.value.number }.map { ($0.key, $0.value) }
    }

    private static func plainUserCode(_ text: String) -> String {
        text.prefix(100).uppercased().filter { $0.isLetter || $0.isNumber }
    }

    // MARK: The page for the person

    /// A page that asks for the code and for the person's name and password, and what comes of it.
    mutating func activate(_ exchange: OAuthExchange) throws(OAuthFailure) -> SandboxResponse {
        guard exchange.request.method == "POST" else {
            return page(userCode: exchange.request.queryItem("user_code") ?? "", message: "A device wants to sign in.")
        }
        let form = try OAuthForm(exchange.request)
        let userCode = form.value("user_code") ?? ""
        guard let (code, _) = pendingDevice(userCode: userCode, now: exchange.now) else {
            return page(userCode: userCode, message: "No device waits with this code.", status: 400)
        }
        if form.value("decision") == "deny" {
            devices[code]?.decision = .denied
            return page(userCode: "", message: "The device was refused.")
        }
        guard let person = form.value("user").flatMap({ person(named: $0) }), person.user.state == "active",
            let password = person.user.password, form.value("password") == password
        else { return page(userCode: userCode, message: "Name or password is wrong.", status: 400) }
        devices[code]?.decision = .approved(subject: person.id, at: exchange.now)
        return page(userCode: "", message: "The device is signed in.")
    }

    private func page(userCode: String, message: String, status: Int = 200) -> SandboxResponse {
        let shown = userCode.prefix(20).filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        let html = """
            <!DOCTYPE html>
            <html><head><title>Sign in a device</title></head>
            <body><h1>Sign in a device</h1><p>\(message)</p>
            <form method="post">
            <p><label>Code <input name="user_code" value="\(shown)"></label></p>
            <p><label>E-mail <input name="user"></label></p>
            <p><label>Password <input name="password" type="password"></label></p>
            <p><button name="decision" value="approve">Approve</button>
            <button name="decision" value="deny">Deny</button></p>
            </form></body></html>

            """
        return .text(html, status: status, type: "text/html; charset=utf-8")
    }
}
