import HTTPRecovery

// Nodes that bind a key of the device and have it sign, by ES256.
extension ForgeRockWorld {
    mutating func deviceKeyPage(
        _ run: inout ForgeRockRun,
        _ exchange: ForgeRockExchange,
        isBinding: Bool
    ) -> ForgeRockPage {
        run.state = random.letters(43)
        let user = account(of: run).map { $0.universalID(realm: exchange.realm) } ?? ""
        var outputs: KeyValuePairs<String, JSONValue> = [
            "userId": .string(user), "challenge": .string(run.state), "title": "Authentication required",
            "subtitle": "Cryptography device binding", "description": "Please complete with biometric to proceed",
            "timeout": 60,
        ]
        if isBinding {
            outputs = [
                "userId": .string(user), "username": .string(account(of: run)?.name ?? ""),
                "authenticationType": "NONE", "challenge": .string(run.state), "title": "Authentication required",
                "subtitle": "Cryptography device binding", "description": "Please complete with biometric to proceed",
                "timeout": 60, "attestation": false,
            ]
        }
        let callback = ForgeRockCallback(
            isBinding ? "DeviceBindingCallback" : "DeviceSigningVerifierCallback",
            outputs,
            inputs: isBinding
                ? ["jws": "", "deviceName": "", "deviceId": "", "clientError": ""] : ["jws": "", "clientError": ""]
        )
        return ForgeRockPage(isBinding ? "DeviceBinding" : "DeviceSigning", [callback])
    }

    /// The outcome: the client's own word, or what its signed claims are worth.
    mutating func checkDeviceKey(
        _ run: ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ exchange: ForgeRockExchange,
        isBinding: Bool
    ) -> String? {
        let word = answers.text(0, isBinding ? 3 : 1)
        if !word.isEmpty { return word }
        let text = answers.text(0).split(separator: ".", omittingEmptySubsequences: false)
        let parts = text.map { Base64.decode($0.utf8) ?? [] }
        guard let id = run.account, let account = accounts[id], parts.count == 3,
            let header = try? JSONValue(parsing: parts[0]), let claims = try? JSONValue(parsing: parts[1]),
            let name = header["kid"]?.string, !name.isEmpty, header["alg"]?.string == "ES256",
            claims["challenge"]?.string == run.state,
            claims["sub"]?.string == account.universalID(realm: exchange.realm),
            claims["exp"]?.int.map({ $0 > exchange.now / 1000 }) == true
        else { return "failure" }
        let content = Array("\(text[0]).\(text[1])".utf8)
        guard isBinding else {
            guard let bound = account.deviceKey, bound.id == name else { return "ClientNotRegistered" }
            return bound.key.hasSigned(content, raw: parts[2]) ? "success" : "failure"
        }
        // A new key has signed itself.
        guard let new = header["jwk"], new["kid"]?.string == name, let key = P256Key(jwk: new),
            key.hasSigned(content, raw: parts[2]), !answers.text(0, 2).isEmpty
        else { return "failure" }
        accounts[id]?.deviceKey = (name, key)
        return "success"
    }
}
