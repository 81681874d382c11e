import HTTPRecovery

// Device login: the device shows a code, and somebody enters it on the page below `/device`.
extension FacebookWorld {
    mutating func beginDeviceLogin(
        _ exchange: FacebookExchange,
        context: inout SandboxContext
    ) throws(FacebookFailure) -> JSONValue {
        guard exchange.method == "POST" else { throw .method }
        try checkApp(exchange)
        counters.devices += 1
        lastDevice += 1
        let code = random.letters(32)
        let device = FacebookDevice(
            number: lastDevice,
            userCode: makeUserCode(),
            scopes: Self.scopes(exchange),
            expiresAt: exchange.now + exchange.settings.deviceLife,
            interval: exchange.settings.deviceInterval
        )
        devices[code] = device
        let uri = "http://\(exchange.host)/device"
        context.log.append("code \(device.userCode) for a device at \(uri)")
        return [
            "code": .string(code), "user_code": .string(device.userCode), "verification_uri": .string(uri),
            "expires_in": .int(max(1, exchange.settings.deviceLife / 1000)),
            "interval": .seconds(exchange.settings.deviceInterval),
        ]
    }

    private func checkApp(_ exchange: FacebookExchange) throws(FacebookFailure) {
        switch try principal(of: exchange) {
        case .app, .client: return
        case .person, nil: throw FacebookFailure(190, nil, "Device login needs the app's client token.")
        }
    }

    private mutating func makeUserCode() -> String {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return String((0..<8).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
    }

    mutating func pollDeviceLogin(_ exchange: FacebookExchange) throws(FacebookFailure) -> JSONValue {
        guard exchange.method == "POST" else { throw .method }
        try checkApp(exchange)
        counters.polls += 1
        let code = try exchange.required("code")
        guard var device = devices[code], device.decision != .used else { throw .parameter("Invalid code") }
        guard device.expiresAt > exchange.now else {
            throw .device(463, 1_349_152, "Code Expired", "The code you entered has expired. Please get a new one.")
        }
        // A hundredth of the interval is let pass: two clocks measure it.
        let isEarly = device.lastPoll.map { (exchange.now - $0) * 100 < device.interval * 99 } ?? false
        device.lastPoll = exchange.now
        if let script = exchange.settings.device, device.decision == .pending, device.polls >= script.polls {
            if script.decision == "deny" {
                device.decision = .declined
            } else if let person = person(named: script.user) {
                device.decision = .approved(person: person.id)
            }
        }
        device.polls += 1
        defer { devices[code] = device }
        switch device.decision {
        case .pending where isEarly:
            device.interval += 5000
            counters.earlyPolls += 1
            throw .device(17, 1_349_172, "User request limit reached", "Please ask less often.")
        case .pending, .used:
            throw .device(
                31,
                1_349_174,
                "Device Login Authorization Pending",
                "Your device login authorization is pending."
            )
        case .declined:
            throw .device(31, 1_349_173, "Device Login Authorization Declined", "You have declined the login.")
        case .approved(let id):
            device.decision = .used
            let scopes = grant(device.scopes, to: id)
            let token = issue(
                id,
                behaviour: people[id]?.user.facebook.behaviour ?? .good,
                scopes: scopes,
                expiresAt: exchange.now + exchange.settings.tokenLife,
                now: exchange.now
            )
            return [
                "access_token": .string(token), "expires_in": .int(exchange.settings.tokenLife / 1000),
                "data_access_expiration_time": .int(exchange.now / 1000 + 7_776_000),
            ]
        }
    }

    /// Decides about a device that waits.
    ///
    /// - Parameters:
    ///   - userCode: The code that it shows; nil for the newest that waits.
    ///   - user: Who signs in on it; nil where nobody does.
    ///   - now: The sandbox's time.
    mutating func decide(userCode: String?, user: String?, now: Int64) throws(SandboxError) -> String {
        let person = try user.map { name throws(SandboxError) in try known(name) }
        guard let (code, device) = pendingDevice(userCode, now: now) else {
            throw SandboxError(.invalidInput, "no such device waits")
        }
        devices[code]?.decision = person.map { .approved(person: $0.id) } ?? .declined
        return device.userCode
    }

    private func pendingDevice(_ userCode: String?, now: Int64) -> (code: String, device: FacebookDevice)? {
        let waiting = devices.filter { _, device in
            device.decision == .pending && device.expiresAt > now
                && (userCode == nil || device.userCode == userCode?.uppercased())
        }
        return waiting.max { $0.value.number < $1.value.number }.map { ($0.key, $0.value) }
    }

    // MARK: The page for the person

    mutating func devicePage(_ exchange: FacebookExchange) throws(FacebookFailure) -> SandboxResponse {
        let userCode = (exchange.value("user_code") ?? "").prefix(20).filter {
            $0.isASCII && ($0.isLetter || $0.isNumber)
        }
        guard exchange.method == "POST" else { return Self.page(userCode, "A device wants to sign in.") }
        guard let (code, _) = pendingDevice(String(userCode), now: exchange.now) else {
            return Self.page(userCode, "No device waits with this code.", status: 400)
        }
        if exchange.value("decision") == "deny" {
            devices[code]?.decision = .declined
            return Self.page("", "The device was refused.")
        }
        guard let person = exchange.value("user").flatMap({ person(named: $0) }), let password = person.user.password,
            exchange.value("password") == password
        else { return Self.page(userCode, "Name or password is wrong.", status: 400) }
        devices[code]?.decision = .approved(person: person.id)
        return Self.page("", "The device is signed in.")
    }

    private static func page(_ userCode: String, _ message: String, status: Int = 200) -> SandboxResponse {
        let html = """
            <!DOCTYPE html>
            <html><head><title>Log in on a device</title></head>
            <body><h1>Log in on a device</h1><p>\(message)</p>
            <form method="post">
            <p><label>Code <input name="user_code" value="\(userCode)"></label></p>
            <p><label>E-mail <input name="user"></label></p>
            <p><label>Password <input name="password" type="password"></label></p>
            <p><button name="decision" value="approve">Continue</button>
            <button name="decision" value="deny">Cancel</button></p>
            </form></body></html>

            """
        return .text(html, status: status, type: "text/html; charset=utf-8")
    }
}
