import HTTPRecovery

// Nodes that bind a key of the device and have it sign. What is signed is looked at; the signature has to be of the right
// length alone: the sandbox has no public-key cryptography.
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
        let parts = answers.text(0).split(separator: ".", omittingEmptySubsequences: false)
            .map { Base64.decode($0.utf8) ?? [] }
        guard let id = run.account, let account = accounts[id], parts.count == 3, parts[2].count == 64,
            let header = try? JSONValue(parsing: parts[0]), let claims = try? JSONValue(parsing: parts[1]),
            let key = header["kid"]?.string, !key.isEmpty, claims["challenge"]?.string == run.state,
            claims["sub"]?.string == account.universalID(realm: exchange.realm),
            claims["exp"]?.int.map({ $0 > exchange.now / 1000 }) == true
        else { return "failure" }
        guard isBinding else { return account.deviceKey == key ? "success" : "ClientNotRegistered" }
        guard header["jwk"]?["kid"]?.string == key, !answers.text(0, 2).isEmpty else { return "failure" }
        accounts[id]?.deviceKey = key
        return "success"
    }
}
