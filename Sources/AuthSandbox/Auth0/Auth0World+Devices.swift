import HTTPRecovery

// Devices without a browser (RFC 8628).
extension Auth0World {
    /// A device login.
    struct Device: Sendable {
        enum Decision: Sendable {
            case pending, denied
            case approved(person: String)
            case used
        }

        let number: Int
        let userCode: String
        let grant: Auth0Grant
        let endsAt: Int64
        var interval: Int64
        var lastPoll: Int64?
        var decision = Decision.pending
        /// Whether it was told that it is over: that is told once.
        var isToldOver = false
    }

    private static let unknownDevice = Auth0Failure(403, "invalid_grant", "Invalid or expired device code.")

    mutating func authorizeDevice(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        try exchange.checkClient()
        lastDevice += 1
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        let word = String((0..<8).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
        let device = Device(
            number: lastDevice,
            userCode: "\(word.prefix(4))-\(word.suffix(4))",
            grant: try exchange.grant(),
            endsAt: exchange.now + exchange.settings.deviceLifetime,
            interval: exchange.settings.deviceInterval
        )
        let code = random.letters(24)
        devices[code] = device
        let uri = "\(exchange.tenant)/activate"
        return [
            "device_code": .string(code), "user_code": .string(device.userCode), "verification_uri": .string(uri),
            "verification_uri_complete": .string("\(uri)?user_code=\(device.userCode)"),
            "expires_in": .int(max(1, exchange.settings.deviceLifetime / 1000)),
            "interval": .seconds(exchange.settings.deviceInterval),
        ]
    }

    mutating func pollDevice(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        let code = try exchange.required("device_code")
        guard var device = devices[code], !device.isToldOver else { throw Self.unknownDevice }
        defer { devices[code] = device }
        guard device.endsAt > exchange.now else {
            device.isToldOver = true
            throw Auth0Failure(403, "expired_token", "The device_code has expired.")
        }
        let isEarly = device.lastPoll.map { (exchange.now - $0) * 100 < device.interval * 99 } ?? false
        device.lastPoll = exchange.now
        switch device.decision {
        case .pending where isEarly: throw .slowDown
        case .pending: throw Auth0Failure(403, "authorization_pending", "User has yet to authorize device code.")
        case .denied:
            device.isToldOver = true
            throw Auth0Failure(403, "access_denied", "User cancelled the confirmation prompt.")
        case .used: throw Self.unknownDevice
        case .approved(let person):
            device.decision = .used
            guard let person = people[person] else { throw Self.unknownDevice }
            try admit(person)
            return tokens.issue(to: person, device.grant, exchange, &random)
        }
    }

    /// Decides about a device that waits.
    ///
    /// - Returns: Its user code.
    mutating func decide(_ decision: DeviceDecision, now: Int64) throws(SandboxError) -> String {
        guard let code = waitingDevice(decision.userCode, now), let device = devices[code] else {
            throw SandboxError(.invalidInput, "no device waits")
        }
        if decision.decision == "deny" {
            devices[code]?.decision = .denied
            return device.userCode
        }
        guard let name = decision.user else { throw SandboxError(.invalidInput, "user is missing") }
        let person = try known(name)
        devices[code]?.decision = .approved(person: person.id)
        return device.userCode
    }

    private func waitingDevice(_ userCode: String?, _ now: Int64) -> String? {
        let waiting = devices.filter { _, device in
            guard case .pending = device.decision, device.endsAt > now else { return false }
            return userCode.map { $0.uppercased() == device.userCode } ?? true
        }
        return waiting.max { $0.value.number < $1.value.number }?.key
    }

    /// The page where the person enters the code, their name and their password.
    mutating func activate(_ exchange: Auth0Exchange) throws(Auth0Failure) -> SandboxResponse {
        let isSent = exchange.request.method == "POST"
        let userCode = (isSent ? exchange["user_code"] : exchange.request.queryItem("user_code")) ?? ""
        guard isSent else { return devicePage(userCode, "A device wants to sign in.") }
        guard let code = waitingDevice(userCode, exchange.now), !userCode.isEmpty else {
            return devicePage(userCode, "No device waits with this code.", status: 400)
        }
        if exchange["decision"] == "deny" {
            devices[code]?.decision = .denied
            return Self.page("The device was refused.", "")
        }
        guard let person = exchange["username"].flatMap({ person(named: $0) }), person.user.state == "active",
            let password = person.user.password, exchange["password"] == password
        else { return devicePage(userCode, "Wrong email or password.", status: 400) }
        devices[code]?.decision = .approved(person: person.id)
        return Self.page("The device is signed in.", "")
    }

    private func devicePage(_ userCode: String, _ text: String, status: Int = 200) -> SandboxResponse {
        Self.page(
            text,
            """
            <form method="post"><p><label>Code <input name="user_code" value="\(HTML.escaped(userCode))"></label></p>\
            <p><label>E-mail <input name="username"></label></p>\
            <p><label>Password <input name="password" type="password"></label></p>\
            <p><button name="decision" value="approve">Approve</button> \
            <button name="decision" value="deny">Deny</button></p></form>
            """,
            status: status
        )
    }
}
